"""A one-turn planner: it tries every way to finish the current action and chooses the best-looking position.

It tries them on copies of the state in which everything hidden is drawn anew. The game's value function (`rules.value`)
says how good a position looks.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabletop_agents.search.lookahead import LooksAhead, search_for
from tabletop_agents.search.one_turn import MAX_NODES, new_walk
from tabletop_engine.checks import checked
from tabletop_engine.play.agents import Assessment, Decisions
from tabletop_engine.play.threads import in_threads

MIN_GAMES_A_THREAD = 16


class GreedyAgent(LooksAhead):
    """Plays towards the best position at the end of its own action.

    Arguments:
        weights: replaces some of the game's (`Game.weights`). `check` raises ConfigError for an unknown name.
        max_nodes: how many positions one decision may look at.
        num_threads: threads that share the games of one call; None for as many as there are cores.
    """

    name = "greedy"

    @checked
    def __init__(
        self, weights: Mapping[str, float] | None = None, *, max_nodes: int = MAX_NODES, num_threads: int | None = None
    ) -> None:
        super().__init__(weights)
        self.max_nodes = max_nodes
        self.num_threads = num_threads

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions; equally good ones are equally likely."""
        return self._look(decisions, generator)[0]

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        """An action's value is that of the best-looking position that it leads to."""
        actions, values = self._look(decisions, generator, valued=True)
        return Assessment(
            actions=actions,
            values=values,
            value=np.nanmax(values, axis=1),
            estimated=self.words_of_points(decisions),
        )

    def _look(
        self, decisions: Decisions, generator: np.random.Generator, valued: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The actions (N,), and if `valued` the values of all legal ones (N, A), else NaN."""
        search = search_for(decisions.game)
        actions = np.zeros(len(decisions), np.int64)
        values = np.full(decisions.action_masks.shape, np.nan)
        states = decisions.sample_states(generator)
        ties = generator.random(len(decisions))

        def choose(part: slice) -> None:
            fixed = (states[part], decisions.tables, new_walk(decisions.game, self.weights))
            search.choose_best_actions(*fixed, ties[part], self.max_nodes, actions[part])
            if valued:
                search.values_of_actions(*fixed, self.max_nodes, values[part])

        in_threads(choose, len(decisions), MIN_GAMES_A_THREAD, self.num_threads)
        return actions, values
