"""Cells: games that are played and kept together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabletop_agents import Agent
from tabletop_engine.game import Config
from tabletop_training.measure.evaluation import GameBlock, blocks_of
from tabletop_training.measure.matches import rotations, seeds_for

SEARCH_AGENTS = ("rollout", "ismcts", "openspiel", "search")
"""The first words of agents' names that should play fewer games: their decisions take thousands of times longer."""
ANEW = "start anew, with another --output"
"""What to do about games that are no use."""


@dataclass(frozen=True, eq=False)
class Cell:
    """Games that are played and kept together: the same agents and configuration, on consecutive seeds.

    Attributes:
        key: its name, different from that of all other cells of a study.
        agents: one for each seat.
        games: how many, rounded up to whole rotations of the seats.
        seed: of the first game.
        boxes: the seeds of K boxes; a game with seed s has box s mod K. None for the numbers of `config`.
        rotate: whether each seed is played in every rotation of the seats; otherwise once, with agent i in seat i.
    """

    key: str
    agents: Sequence[Agent]
    config: Config
    games: int
    seed: int
    boxes: Sequence[int] | None = None
    rotate: bool = True

    @property
    def lineups(self) -> np.ndarray:
        """(n, players) int64: each seed is played once with each."""
        return rotations(self.config.players)[: None if self.rotate else 1]

    @property
    def blocks(self) -> list[GameBlock]:
        """The games in blocks, as `play_rounds` plays them.

        Games of one box stand together, because agents reuse what they computed from the same numbers.
        """
        seeds = np.arange(self.seed, self.seed + seeds_for(self.games, len(self.lineups)))
        if self.boxes is not None:
            seeds = seeds[np.argsort(seeds % len(self.boxes), kind="stable")]
        return blocks_of(self.agents, self.config, seeds, self.lineups, self.boxes)


def is_search(agent: str) -> bool:
    """Whether an agent of this name is a search, which should play fewer games."""
    return agent.startswith(SEARCH_AGENTS)
