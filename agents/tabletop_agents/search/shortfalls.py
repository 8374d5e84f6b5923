"""How far each action falls short of the best one in the walk of `greedy`, for networks that weigh this."""

from __future__ import annotations

import numpy as np

from tabletop_agents.search.greedy import MIN_GAMES_A_THREAD
from tabletop_agents.search.lookahead import search_for
from tabletop_agents.search.one_turn import MAX_NODES, new_walk
from tabletop_agents.search.one_turn import MOST_SHORTFALL as MOST_SHORTFALL
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.threads import in_threads


def shortfalls(
    decisions: Decisions,
    generator: np.random.Generator,
    max_nodes: int = MAX_NODES,
    num_threads: int | None = None,
) -> np.ndarray:
    """(N, A) float32, in points: 0 for the best action, at most `MOST_SHORTFALL`, and 0 for illegal ones.

    Everything hidden is drawn anew from the generator. The walk of one decision looks at about `max_nodes` positions.
    `num_threads` None is as many as there are cores.
    """
    search = search_for(decisions.game)
    states = decisions.sample_states(generator)
    result = np.zeros(decisions.action_masks.shape, np.float32)

    def walk(part: slice) -> None:
        search.write_shortfalls(states[part], decisions.tables, new_walk(decisions.game), max_nodes, result[part])

    in_threads(walk, len(decisions), MIN_GAMES_A_THREAD, num_threads)
    return result
