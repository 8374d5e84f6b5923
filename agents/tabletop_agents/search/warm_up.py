"""Compiling the searches, once, with a word about it."""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.state import STATE
from tabletop.batch import Batch
from tabletop.compiled import JIT
from tabletop.warm_up import compile_all, is_cached
from tabletop_agents.search.one_turn import MAX_DEPTH, choose_best_actions
from tabletop_agents.search.playouts import mean_utilities
from tabletop_agents.search.position_value import new_memo, weights_record
from tabletop_agents.search.tree import NODE, read_root, search_tree
from tabletop_agents.search.utility import SETTINGS

_warm = False


def warm_up() -> None:
    """Compile what the agents that look ahead need and the cache lacks. Does nothing the second time."""
    global _warm
    if _warm or not JIT:
        return
    _warm = True
    if is_cached(read_root):
        return
    batch = Batch(num_games=1, seed=0)
    root, tables, weights = batch.states.copy(), batch.tables, weights_record()
    settings, stack, nodes = np.ones(1, SETTINGS), np.zeros(MAX_DEPTH + 1, STATE), np.zeros(40, NODE)
    actions, values = np.zeros(1, np.int64), np.zeros(NUM_ACTIONS)
    chances, memo = np.ones(1, np.uint64), new_memo()
    compile_all(
        "the agents' searches, once, up to a minute",
        [
            ("one turn", choose_best_actions, (root, tables, weights, memo, stack, np.zeros(1), 20, actions)),
            ("playouts", mean_utilities, (root, tables, weights, settings, memo, stack, chances, values)),
            ("tree search", search_tree, (root, tables, weights, settings, memo, nodes, 1, stack, 1)),
            ("its result", read_root, (nodes, values, values.copy())),
        ],
    )
