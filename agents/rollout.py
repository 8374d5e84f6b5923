"""Flat Monte Carlo as an agent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agents.base import Decisions
from agents.search.one_turn import MAX_DEPTH
from agents.search.playouts import mean_utilities
from agents.search.position_value import weights_record
from agents.search.threads import in_threads
from agents.search.utility import settings_record
from petrichor_env.state import STATE

DEFAULT_SETTINGS = {
    "scale": 10.0,
    "scale_a_round": 0.0,
    "win": 0.0,
    "exploration": 0.0,
    "prior_visits": 0.0,
    "max_nodes": 0,
    "rounds": 6,
    "playout_nodes": 20,
}


class RolloutAgent:
    def __init__(
        self,
        playouts: int = 16,
        *,
        settings: Mapping[str, float] | None = None,
        weights: Mapping[str, float] | None = None,
        num_threads: int | None = None,
        name: str | None = None,
    ) -> None:
        self.playouts = playouts
        self.num_threads = num_threads
        self._settings = settings_record({**DEFAULT_SETTINGS, **(settings or {})})
        self._weights = weights_record(weights)
        self.name = name or f"rollout-{playouts}"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        actions = np.zeros(len(decisions), np.int64)
        roots = decisions.sample_states(generator)
        chances = generator.integers(0, 2**64, (len(decisions), self.playouts), dtype=np.uint64)

        def choose(part: slice) -> None:
            stack = np.zeros(MAX_DEPTH + 1, STATE)
            for game in range(part.start, part.stop):
                values = np.where(decisions.action_masks[game] == 1, 0.0, -1.0)
                mean_utilities(
                    roots[game : game + 1],
                    decisions.tables,
                    self._weights,
                    self._settings,
                    stack,
                    self.playouts,
                    chances[game],
                    values,
                )
                actions[game] = values.argmax()

        in_threads(choose, len(decisions), 1, self.num_threads)
        return actions
