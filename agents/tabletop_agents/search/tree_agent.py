"""What the agents that search a tree have in common: a budget for a decision, and what they make of the visits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from tabletop_engine.checks import coerced, whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.agents import Assessment, Decisions

LEAST = 10
"""The fewest simulations of an action whose mean is shown; the mean of fewer says too little."""
_SIMULATIONS_A_LOOK_AT_THE_CLOCK = 16


class TreeAgent:
    """Plays by what a tree says of each action. Subclasses have `search`, which grows the tree.

    Attributes:
        least_visits: an action is played only if it has this share of the visits that the most visited one has.
    """

    simulations: int | None
    milliseconds: float | None
    least_visits: ClassVar[float]

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions, as `best_of_visited` by their visits and mean utilities."""
        return best_of_visited(decisions, *self.search(decisions, generator), self.least_visits)

    def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N, A) float64: the shares of the simulations that began with each action."""
        visits, _ = self.search(decisions, generator)
        return np.asarray(visits / visits.sum(axis=1, keepdims=True))

    def search(self, decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Simulations that began with each action, and their mean utility: both (N, A) float64."""
        raise NotImplementedError

    def portions(self) -> Iterator[int]:
        """Yields numbers of simulations to do next, until the budget of one decision is spent."""
        if self.simulations is not None:
            yield self.simulations
            return
        assert self.milliseconds is not None
        end = time.perf_counter() + self.milliseconds / 1000
        yield 1
        while time.perf_counter() < end:
            yield _SIMULATIONS_A_LOOK_AT_THE_CLOCK


def check_budget(kind: str, simulations: int | None, milliseconds: float | None) -> str:
    """The budget as it stands in an agent's name: `800` or `2.5ms`.

    Raises ConfigError unless one of simulations (an int of at least 1) and milliseconds (above 0) is given.
    """
    if (simulations is None) == (milliseconds is None):
        raise ConfigError(f"{kind}: give either simulations or milliseconds")
    if simulations is not None:
        return f"{whole('simulations', simulations, 1)}"
    coerced("milliseconds", milliseconds, float | None)
    if milliseconds is None or not milliseconds > 0:
        raise ConfigError(f"milliseconds={milliseconds!r}: must be a number above 0")
    return f"{milliseconds:g}ms"


def best_of_visited(decisions: Decisions, visits: np.ndarray, utilities: np.ndarray, least_visits: float) -> np.ndarray:
    """(N,) int64 legal actions, from visits and mean utilities, (N, A) both.

    It is the action with the highest mean utility of those that have at least the share `least_visits` of the visits of
    the most visited one.
    """
    legal = decisions.action_masks == 1
    most = visits.max(axis=1, where=legal, initial=0)[:, None]
    return np.asarray(np.where(legal & (visits >= least_visits * most), utilities, -np.inf).argmax(axis=1), np.int64)


def assessed(actions: np.ndarray, visits: np.ndarray, results: np.ndarray, estimated: str) -> Assessment:
    """The search's assessment of N decisions: `actions` (N,) are those that it plays.

    `visits` and `results`, (N, A) float64, are the simulations through each action and their mean results. Actions
    with fewer than LEAST have no value, unless the search plays them.
    """
    each = np.arange(len(actions))
    shown = visits >= LEAST
    shown[each, actions] = True
    return Assessment(
        actions=actions,
        shares=visits / visits.sum(axis=1, keepdims=True),
        meaning="share of its simulations",
        values=np.where(shown, results, np.nan),
        value=results[each, actions],
        estimated=estimated,
    )
