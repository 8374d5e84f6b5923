"""The games of `evergreen balance`: of many editions and of changed numbers, kept so that a study can go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evergreen_env.config import Config
from tabletop_agents import Agent
from tabletop_engine.checks import whole
from tabletop_engine.editions import MOST_EDITIONS
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.batch import Batch
from tabletop_engine.seeds import EVALUATION, edition_seeds
from tabletop_training.measure.changes import Changes
from tabletop_training.measure.evaluation import MAX_GAMES_AT_ONCE
from tabletop_training.measure.results import Results
from tabletop_training.measure.shapley import Set
from tabletop_training.measure.spread import by_edition
from tabletop_training.study.cells import Cell

ORDINALS = ("first", "second", "third", "fourth")
FIELDS = ("level",)
"""What is recorded of the games beside their results."""

SIZES = ("decisions", "points", "lead", "spread")


def places(players: int) -> list[str]:
    """The names of the figures that are shares of games: one for each place in the first round's order."""
    return [f"won, {name} in order" for name in ORDINALS[:players]]


def figures(results: Results) -> dict[str, np.ndarray]:
    """The figures of K editions' games, G of each, by name, (K, G) float64: `places`, then `SIZES`."""
    players = results.config.players
    order = (_first_players(results)[:, None] + np.arange(players)) % players
    won = np.take_along_axis(results.win_shares, order, axis=1)
    points = np.sort(results.points[:, :players], axis=1)
    best, last = points[:, -1], points[:, 0]
    sizes = (results.lengths, points.mean(axis=1), best - points[:, -2], best - last)
    named = zip((*places(players), *SIZES), (*won.T, *sizes), strict=True)
    return {name: by_edition(results, values.astype(float)) for name, values in named}


def _first_players(results: Results) -> np.ndarray:
    """(games,) int64: the seat that was first in the first round."""
    found = []
    for start in range(0, len(results), MAX_GAMES_AT_ONCE):
        seeds = results.seeds[start : start + MAX_GAMES_AT_ONCE]
        batch = Batch(results.config, len(seeds), seeds, editions=results.editions or None)
        if results.editions:
            batch.reset(seeds, editions=results.edition_of_games[start : start + MAX_GAMES_AT_ONCE])
        found.append(batch.states["first_player"].astype(np.int64))
    return np.concatenate(found)


@dataclass(frozen=True)
class Study:
    """What is played. `settings.json` holds it, and resuming checks it.

    Attributes:
        agent: it has every seat.
        players: the numbers of players.
        editions, edition_games: how many editions are drawn, and the games of each edition and number of players.
        effect_games: how many games with each number of players and each set of an overlay file's changes; 0 for none.
        seed: of the first game.
        components: as in `Config`.

    Raises ConfigError for other values.
    """

    agent: str
    players: tuple[int, ...]
    editions: int
    edition_games: int
    effect_games: int
    seed: int
    components: Any

    def __post_init__(self) -> None:
        whole("editions", self.editions, 2, MOST_EDITIONS)
        whole("edition_games", self.edition_games, 1)
        whole("effect_games", self.effect_games, 0)
        whole("seed", self.seed, 0, 2**32 - 1)
        if not isinstance(self.agent, str):
            raise ConfigError(f"agent={self.agent!r:.80}: must be a text")
        if not self.players or any(config.players < 2 for config in self.configs):
            raise ConfigError(f"players={list(self.players)!r:.80}: must be numbers of at least 2")

    @property
    def configs(self) -> list[Config]:
        """The configurations that are played over editions, by numbers of players."""
        return [Config(number, self.components) for number in self.players]

    def cells(self, agent: Agent, config: Config, changes: Changes) -> dict[Set | None, Cell]:
        """The games of one configuration: over editions (the key is None), and with each set of the changes."""
        seeds = edition_seeds(EVALUATION, self.editions)
        games = self.editions * self.edition_games
        found: dict[Set | None, Cell] = {
            None: cell_of(f"{config.players} editions", agent, config, games, self.seed, seeds)
        }
        if changes.plan is not None:
            for chosen in (frozenset[int](), changes.whole, *changes.parts):
                overlay = changes.overlay(chosen)
                own = Config(config.players, overlay or None)
                name = f"{config.players} {'+'.join(overlay) or 'shipped'}"
                found[chosen] = cell_of(name, agent, own, self.effect_games, self.seed)
        return found


def cell_of(
    name: str, agent: Agent, config: Config, games: int, seed: int, editions: Sequence[int] | None = None
) -> Cell:
    """Games with this agent in every seat; game i has edition i mod the number of editions."""
    everybody = [agent] * config.players
    return Cell(name, everybody, config, games, seed, editions, np.arange(config.players)[None], actions=True)
