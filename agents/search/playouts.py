"""Flat Monte Carlo: what every action leads to on average, when all go on as the one-turn walk says."""

from __future__ import annotations

import numpy as np

from agents.search.one_turn import MAX_DEPTH, best_action, is_settled, next_legal
from agents.search.position_value import position_value
from agents.search.utility import utility
from petrichor_env import rules
from petrichor_env.compiled import kernel, rule
from petrichor_env.rules.chance import random_below
from petrichor_env.state import NOBODY, State

_RESOLUTION = 1 << 30


@kernel
def mean_utilities(
    root: np.ndarray,
    tables: np.ndarray,
    weights: np.ndarray,
    settings: np.ndarray,
    stack: np.ndarray,
    playouts: int,
    chances: np.ndarray,
    values: np.ndarray,
) -> None:
    """Write the mean utility of every legal action of `root` (1,) for its actor into `values` (NUM_ACTIONS,).

    `chances` (playouts,) uint64 seed what is hidden and what happens, the same for every action.
    """
    seat = int(root[0].actor)
    following = np.zeros(stack.shape[0], np.int64)
    for playout in range(playouts):
        action = next_legal(root[0], 0)
        while action >= 0:
            stack[0] = root[0]
            rules.sample_hidden(stack[0], tables[0], seat, chances[playout])
            rules.step(stack[0], tables[0], action)
            play_on(stack, following, tables[0], weights[0], int(settings[0].horizon), int(settings[0].max_nodes))
            margin = position_value(stack[0], tables[0], weights[0], seat)
            values[action] += utility(stack[0], settings[0], seat, margin) / playouts
            action = next_legal(root[0], action + 1)


@rule
def play_on(stack: np.ndarray, following: np.ndarray, t: State, w: State, decisions: int, max_nodes: int) -> None:
    """Let everybody play `stack[0]` on by the one-turn walk.

    So many decisions, more until the last one's action is done, or to the end.
    """
    seat = int(stack[0].actor)
    for decision in range(decisions + MAX_DEPTH):
        if stack[0].actor == NOBODY or (decision >= decisions and is_settled(stack[0], seat)):
            return
        seat = int(stack[0].actor)
        chance = random_below(stack[0], _RESOLUTION) / _RESOLUTION
        rules.step(stack[0], t, best_action(stack, following, t, w, chance, max_nodes))
