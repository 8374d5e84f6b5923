"""Cells: games that are played and kept together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabletop_agents import Agent
from tabletop_engine.checks import whole
from tabletop_engine.game import Config
from tabletop_training.measure import evaluation
from tabletop_training.measure.evaluation import GameBlock, blocks_of, seating, seeds_for, seeds_from

SEARCH_AGENTS = ("rollout", "ismcts", "openspiel", "search", "exploit")
"""The first words of agents' names that should play fewer games: their decisions take thousands of times longer."""
ANEW = "start anew, with another --output"
"""What to do about games that are no use."""
MOST_GAMES = 10_000_000
"""The most games of a cell, whose results are in memory together."""
FIRST_BLOCK = 64
"""About the number of games in the first block of a growing cell."""


@dataclass(frozen=True, eq=False)
class Cell:
    """Games that are played and kept together: the same agents and configuration, on consecutive seeds.

    Attributes:
        key: its name, different from that of all other cells of a study.
        agents: one for each team or seat, or more with `lineups` of one's own.
        games: how many, at most `MOST_GAMES`, rounded up to whole seeds.
        seed: of the first game.
        editions: the seeds of K editions (if games are not kept, as in `Batch`); a game with seed s has edition s mod
            K. None for the numbers of `config`.
        lineups: (n, players) int64, indices of agents: each seed is played once with each. By default those of
            `seating`.
        actions: whether the actions are kept, too.
        growing: whether the first block is small and later ones have an eighth of all so far, for results that are
            looked at after each block.
        about: what else decides the games, as JSON values. A store refuses games for which it differs.
    """

    key: str
    agents: Sequence[Agent]
    config: Config
    games: int
    seed: int
    editions: Any = None
    lineups: np.ndarray = None  # type: ignore[assignment]
    growing: bool = False
    actions: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole("games", self.games, 1, MOST_GAMES)
        if self.lineups is None:
            object.__setattr__(self, "lineups", seating(self.config, len(self.agents)))

    @property
    def seeds(self) -> int:
        """How many seeds are played."""
        return seeds_for(self.games, len(self.lineups))

    @property
    def blocks(self) -> list[GameBlock]:
        """The games in blocks, as `play_lineups` plays them. Raises ConfigError for impossible seeds."""
        seeds = seeds_from(self.seed, self.seeds)
        if self.editions is not None and not self.growing:
            # agents reuse what they computed from the same numbers, so games of one edition stand together
            seeds = seeds[np.argsort(seeds % len(self.editions), kind="stable")]
        parts = np.split(seeds, [*self._ends()]) if self.growing else [seeds]
        return [
            block for part in parts for block in blocks_of(self.agents, self.config, part, self.lineups, self.editions)
        ]

    def _ends(self) -> Iterator[int]:
        """The number of seeds that are played before each block but the first."""
        played = 0
        while (played := played + block_seeds(played, len(self.lineups))) < self.seeds:
            yield played


def block_seeds(played: int, games_a_seed: int) -> int:
    """The number of seeds in the block that follows these seeds of a growing cell; the same whoever plays."""
    first = seeds_for(FIRST_BLOCK, games_a_seed)
    return max(first, min(played // 8, evaluation.MAX_GAMES_AT_ONCE // games_a_seed))


def is_search(agent: str) -> bool:
    """Whether an agent of this name is a search, which should play fewer games."""
    return agent.startswith(SEARCH_AGENTS)
