"""A curriculum: several configurations that are learned level by level, the easy ones first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tabletop_engine.game import Config
from tabletop_engine.seeds import Stream, generator

_MEMORY = 200
"""About the number of latest games over which a configuration's win rate is averaged."""
_ENOUGH = 50


def by_players(configs: Sequence[Config]) -> dict[int, list[Config]]:
    """The configurations of each number of players."""
    numbers = dict.fromkeys(config.players for config in configs)
    return {number: [config for config in configs if config.players == number] for number in numbers}


class Curriculum:
    """Chooses the configurations of the next games: at first only those of the first level, at last all.

    The next level opens when the mean win rate of the open configurations reaches `threshold`; each win rate is that of
    about the last 200 games. Levels also open by time, so that all are open after the part `latest` of the budget. Half
    of the games are spread evenly over the open configurations. The other half goes to them in proportion to the share
    of their games that is lost.

    Attributes (n configurations):
        configs: all of them, level by level. levels: (n,) int64, from 0. level: the highest open one.
        games, win_rates: (n,), the number of ended games, and the share of the latest ones that was won.
    """

    def __init__(self, levels: Sequence[Sequence[Config]], threshold: float, latest: float, seed: int) -> None:
        self.configs = [config for level in levels for config in level]
        self.threshold = threshold
        self.latest = latest
        self.level = 0
        self.levels = np.repeat(np.arange(len(levels)), [len(level) for level in levels])
        self.games = np.zeros(len(self.configs), np.int64)
        self.win_rates = np.zeros(len(self.configs))
        self.generator = generator(seed, Stream.CURRICULUM, self.configs[0].players)
        self._index = {config: index for index, config in enumerate(self.configs)}

    @property
    def open(self) -> np.ndarray:
        """(n,) bool: which configurations are open."""
        return self.levels <= self.level

    @property
    def shares(self) -> np.ndarray:
        """(n,) float64: each configuration's share of the games that start now; the sum is 1."""
        lost = np.where(self.open, 1 - self.win_rates, 0.0)
        evenly = self.open / self.open.sum()
        return evenly if lost.sum() == 0 else evenly / 2 + lost / lost.sum() / 2

    def choose(self, games: np.ndarray) -> list[Config]:
        """The configurations of games that start now."""
        return [self.configs[i] for i in self.generator.choice(len(self.configs), len(games), p=self.shares)]

    def update(self, configs: Sequence[Config], won: np.ndarray, fraction: float) -> None:
        """Count ended games of these configurations, with the learner's (n,) shares of the victory, and open levels.

        `fraction` is the part of the budget that is used up.
        """
        for config, victory in zip(configs, won, strict=True):
            i = self._index[config]
            self.games[i] += 1
            self.win_rates[i] += (victory - self.win_rates[i]) / min(self.games[i], _MEMORY)
        known = (self.games[self.open] >= _ENOUGH).all()
        mastered = known and self.win_rates[self.open].mean() >= self.threshold
        last = self.levels.max()
        if self.level < last and (mastered or fraction >= self.latest * (self.level + 1) / last):
            self.level += 1

    def numbers(self) -> dict[str, float]:
        """Numbers for a log: the level, and the win rate over all open configurations."""
        rates = {f"curriculum/{self.configs[i].name}": float(self.win_rates[i]) for i in np.flatnonzero(self.open)}
        return {"curriculum/level": float(self.level), **rates}

    def get_state(self) -> dict[str, Any]:
        """The state that a resumed run needs."""
        return {
            "level": self.level,
            "games": self.games,
            "win_rates": self.win_rates,
            "generator": self.generator.bit_generator.state,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`."""
        self.level = state["level"]
        self.games[:] = state["games"]
        self.win_rates[:] = state["win_rates"]
        self.generator.bit_generator.state = state["generator"]


def curricula(configs: Sequence[Config], seed: int) -> dict[int, Curriculum]:
    """For each number of players a curriculum in which all configurations are open from the start."""
    ways = by_players(configs)
    return {number: Curriculum([of], threshold=0.0, latest=0.0, seed=seed) for number, of in ways.items()}
