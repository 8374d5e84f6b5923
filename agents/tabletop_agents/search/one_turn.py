"""A walk through all ways to finish the current action. The greedy agent plays by it, and so do playouts.

The walk is depth-first through one player's own decisions. It stops where the game's rules call the position settled:
at the end of what the player is doing, or at somebody else's decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.editions import edition_of
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Game
from tabletop_engine.legal import count_legal, next_legal

MAX_DEPTH = 16
MAX_NODES = 600
"""How many positions the walk of one decision may look at by default."""
MOST_SHORTFALL = 10.0
"""The largest shortfall, in points. Actions that look even worse have this one."""
_SAME = 1e-9


FOLLOWING, LINE, BEST = 0, 1, 2
"""Rows of `Walk.lines`.

For each depth the first action that was not tried yet; the decisions that lead to the best position after one first
action; the decisions that lead to the best position of all. The last two end with -1.
"""


class Walk(NamedTuple):
    """The evaluation that a walk compares positions by, and scratch space for one thread.

    Kernels take the tuple; rules take its arrays, because passing a tuple costs a tenth of a short walk.
    """

    weights: np.ndarray  # (1,) record of `Game.weights`
    memo: np.ndarray  # as `Game.new_memo` makes it
    stack: np.ndarray  # (MAX_DEPTH + 1,) records: the position that the walk begins at, and those after it
    lines: np.ndarray  # (3, MAX_DEPTH + 1) int64


def new_walk(game: Game, replaced: Mapping[str, float] | None = None) -> Walk:
    """A walk by the weights of the game's evaluation, some replaced. Raises ConfigError as `weights_of`."""
    weights, rows = weights_of(game, replaced or {}), MAX_DEPTH + 1
    return Walk(weights, game.new_memo(), np.zeros(rows, game.state), np.zeros((3, rows), np.int64))


def weights_of(game: Game, replaced: Mapping[str, float]) -> np.ndarray:
    """(1,) record: the weights of the game's evaluation, some replaced. Raises ConfigError for an unknown name."""
    known = game.weights
    unknown = sorted(set(replaced) - set(known))
    if unknown:
        raise ConfigError(f"weights: unknown {', '.join(unknown)}; there are {', '.join(known) or 'none'}")
    return np.array([tuple({**known, **replaced}.values()) or (0.0,)], _weights_dtype(game))


@cache
def _weights_dtype(game: Game) -> np.dtype:
    """One dtype a game: Numba needs some microseconds for each new one, and keeps it for ever."""
    return np.dtype([(name, np.float64) for name in game.weights] or [("none", np.float64)])


@kernel_template
def choose_best_actions(
    states: np.ndarray, tables: np.ndarray, walk: Walk, ties: np.ndarray, max_nodes: int, actions: np.ndarray
) -> None:
    """Write the best action of each game into `actions`. `ties` (N,) in [0, 1) decides among equally good ones."""
    stack, lines, memo, w = walk.stack, walk.lines, walk.memo, walk.weights[0]
    for game in range(states.shape[0]):
        stack[0] = states[game]
        find_best_line(stack, lines, memo, tables[edition_of(stack[0], tables)], w, ties[game], max_nodes)
        actions[game] = lines[BEST, 0]


@kernel_template
def values_of_actions(states: np.ndarray, tables: np.ndarray, walk: Walk, max_nodes: int, values: np.ndarray) -> None:
    """Write the values of each game's legal actions, which `choose_best_actions` compares, into `values` (N, A)."""
    stack, lines, memo, w = walk.stack, walk.lines, walk.memo, walk.weights[0]
    for game in range(states.shape[0]):
        stack[0] = states[game]
        find_values(stack, lines, memo, tables[edition_of(stack[0], tables)], w, max_nodes, values[game])


@kernel_template
def write_shortfalls(states: np.ndarray, tables: np.ndarray, walk: Walk, max_nodes: int, out: np.ndarray) -> None:
    """Write the shortfalls of each game's legal actions into `out`, (N, A) float32."""
    stack, lines, memo, w = walk.stack, walk.lines, walk.memo, walk.weights[0]
    for game in range(states.shape[0]):
        stack[0] = states[game]
        find_shortfalls(stack, lines, memo, tables[edition_of(stack[0], tables)], w, max_nodes, out[game])


@rule_template
def find_best_line(
    stack: np.ndarray, lines: np.ndarray, memo: np.ndarray, t: Any, w: Any, chance: float, max_nodes: int
) -> None:
    """Put the decisions that lead from `stack[0]` to the best position its actor can reach into `lines[BEST]`.

    It looks at about `max_nodes` positions, equally many behind each action. `chance` in [0, 1) decides among equals.
    The rest of `stack` is scratch space.
    """
    seat = int(stack[0].actor)
    budget = max_nodes // count_legal(stack[0])
    best_value, equal = -np.inf, 0
    action = next_legal(stack[0], 0)
    while action >= 0:
        value = value_after(stack, lines, memo, t, w, seat, action, budget)
        better = False
        if value > best_value + _SAME:
            best_value, equal, better = value, 1, True
        elif value > best_value - _SAME:
            equal += 1
            # one random number serves all ties: what a choice leaves of it is uniform again
            chance *= equal
            if chance < 1.0:
                better = True
            else:
                chance = (chance - 1.0) / (equal - 1)
        if better:
            for i in range(lines.shape[1]):  # `lines[BEST] = lines[LINE]` would compile for a second
                lines[BEST, i] = lines[LINE, i]
        action = next_legal(stack[0], action + 1)


@rule_template
def find_values(
    stack: np.ndarray, lines: np.ndarray, memo: np.ndarray, t: Any, w: Any, max_nodes: int, out: np.ndarray
) -> None:
    """Write the value of each legal action of `stack[0]` into `out`, (A,) floats.

    It looks at about `max_nodes` positions, equally many behind each action.
    """
    seat, budget = int(stack[0].actor), max_nodes // count_legal(stack[0])
    action = next_legal(stack[0], 0)
    while action >= 0:
        out[action] = value_after(stack, lines, memo, t, w, seat, action, budget)
        action = next_legal(stack[0], action + 1)


@rule_template
def find_shortfalls(
    stack: np.ndarray, lines: np.ndarray, memo: np.ndarray, t: Any, w: Any, max_nodes: int, out: np.ndarray
) -> None:
    """Write how many points each legal action of `stack[0]` falls short of the best one into `out`, (A,) float32.

    As `find_values`, but it looks at no position if there is a single action.
    """
    if count_legal(stack[0]) < 2:
        return
    find_values(stack, lines, memo, t, w, max_nodes, out)
    best = np.float32(-np.inf)
    action = next_legal(stack[0], 0)
    while action >= 0:
        best = max(best, out[action])
        action = next_legal(stack[0], action + 1)
    action = next_legal(stack[0], 0)
    while action >= 0:
        out[action] = min(np.float32(MOST_SHORTFALL), best - out[action])
        action = next_legal(stack[0], action + 1)


@rule_template
def value_after(
    stack: np.ndarray, lines: np.ndarray, memo: np.ndarray, t: Any, w: Any, seat: int, action: int, max_nodes: int
) -> float:
    """`rules.value`, for its team, of the best position `seat` can reach from `stack[0]` beginning with the action.

    The decisions that lead there are in `lines[LINE]`; `stack[depth]` is the position after `depth` of them.
    """
    best = -np.inf
    stack[1] = stack[0]
    rules.step(stack[1], t, action)
    nodes, depth = 1, 1
    lines[FOLLOWING, 0] = action + 1
    lines[FOLLOWING, 1] = 0
    while depth > 0:
        if depth == MAX_DEPTH or nodes >= max_nodes or rules.is_settled(stack[depth], seat):
            value = rules.value(stack[depth], t, w, rules.team(stack[depth], seat), memo)
            if value > best:
                best = value
                for i in range(depth):
                    lines[LINE, i] = lines[FOLLOWING, i] - 1
                lines[LINE, depth] = -1
            depth -= 1
        # go back to a position that has an action left to try, and play this action
        while depth > 0:
            answer = next_legal(stack[depth], lines[FOLLOWING, depth])
            if answer >= 0:
                lines[FOLLOWING, depth] = answer + 1
                depth += 1
                stack[depth] = stack[depth - 1]
                rules.step(stack[depth], t, answer)
                lines[FOLLOWING, depth] = 0
                nodes += 1
                break
            depth -= 1
    return best
