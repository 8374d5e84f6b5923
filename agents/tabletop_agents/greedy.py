"""A one-turn planner: it tries every way to finish the action at hand and takes the best-looking position.

It looks on copies whose hidden parts were redrawn; `tabletop_agents.search.position_value` says what looks good.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from petrichor_env.state import STATE
from tabletop.agents import Decisions
from tabletop.threads import in_threads
from tabletop_agents.search.one_turn import MAX_DEPTH, choose_best_actions
from tabletop_agents.search.position_value import DEFAULT_WEIGHTS, new_memo, weights_record
from tabletop_agents.search.warm_up import warm_up

MIN_GAMES_A_THREAD = 16


class GreedyAgent:
    """Plays for the best position at the end of its own action.

    Arguments:
        weights: replaces some of `tabletop_agents.search.position_value.DEFAULT_WEIGHTS`. Raises ConfigError for an
            unknown name.
        max_nodes: how many positions one decision may look at.
        num_threads: threads that share the games of one call; None for as many as there are cores.
    """

    name = "greedy"

    def __init__(
        self, weights: Mapping[str, float] | None = None, *, max_nodes: int = 600, num_threads: int | None = None
    ) -> None:
        self._weights = weights_record(weights)
        self.weights = {name: float(self._weights[name][0]) for name in DEFAULT_WEIGHTS}
        self.max_nodes = max_nodes
        self.num_threads = num_threads

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions; equally good ones are equally likely."""
        warm_up()
        actions = np.zeros(len(decisions), np.int64)
        states = decisions.sample_states(generator)
        ties = generator.random(len(decisions))

        def choose(part: slice) -> None:
            memo, stack = new_memo(), np.zeros(MAX_DEPTH + 1, STATE)
            choose_best_actions(
                states[part], decisions.tables, self._weights, memo, stack, ties[part], self.max_nodes, actions[part]
            )

        in_threads(choose, len(decisions), MIN_GAMES_A_THREAD, self.num_threads)
        return actions
