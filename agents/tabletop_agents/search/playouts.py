"""Flat Monte Carlo: the mean result of every action if all players go on by the one-turn walk."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_agents.search.one_turn import BEST, Walk, find_best_line
from tabletop_agents.search.utility import par, utility
from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.editions import edition_of
from tabletop_engine.legal import next_legal
from tabletop_engine.record import NOBODY

MOST_DECISIONS = 20_000
"""A playout with more decisions has no end, or one that no search can wait for."""
_RESOLUTION = 1 << 30


@kernel_template
def mean_utilities(
    root: np.ndarray,
    tables: np.ndarray,
    settings: np.ndarray,
    walk: Walk,
    chances: np.ndarray,
    values: np.ndarray,
) -> int:
    """Add the mean utility of every legal action of `root` (1,), for its actor, to `values` (A,).

    There is a playout for each of `chances` (uint64), which seed what is hidden and what happens. Returns 1 if all
    came to an end, else 0; it stops at the first that did not.
    """
    stack, lines, memo = walk.stack, walk.lines, walk.memo
    seat, t, w, p = int(root[0].actor), tables[edition_of(root[0], tables)], walk.weights[0], settings[0]
    own = rules.team(root[0], seat)
    start, last = par(root[0], t, w, memo), last_round(root[0], p)
    for chance in chances:
        action = next_legal(root[0], 0)
        while action >= 0:
            stack[0] = root[0]
            rules.sample_hidden(stack[0], t, seat, chance)
            rules.step(stack[0], t, action)
            if not play_on(stack, lines, memo, t, w, last, int(p.playout_nodes)):
                return 0
            margin = rules.value(stack[0], t, w, own, memo) - start
            values[action] += utility(stack[0], p, own, margin) / chances.shape[0]
            action = next_legal(root[0], action + 1)
    return 1


@rule_template
def last_round(s: Any, p: Any) -> int:
    """The round at whose start playouts from this root stop; 0: they stop at the end of an action."""
    return int(s.round) + int(p.rounds) if p.rounds > 0 else 0


@rule_template
def play_on(stack: np.ndarray, lines: np.ndarray, memo: np.ndarray, t: Any, w: Any, last: int, max_nodes: int) -> bool:
    """Play on from `stack[0]` by the one-turn walk, up to the start of round `last` or the end of an action.

    `last` is counted from the root of a search: an action that ends a round must not be judged by one more round.
    Returns whether it came there.
    """
    decisions = 0
    seat = int(stack[0].actor)
    is_there = stack[0].round >= last
    while stack[0].actor != NOBODY:
        if stack[0].round >= last and (not is_there or rules.is_settled(stack[0], seat)):
            return True
        if decisions >= MOST_DECISIONS:
            return False
        chance = random_below(stack[0], _RESOLUTION) / _RESOLUTION
        find_best_line(stack, lines, memo, t, w, chance, max_nodes)
        # the whole line at once: walking anew at each of its decisions would find the same, three times slower
        decision = 0
        while lines[BEST, decision] >= 0:
            rules.step(stack[0], t, lines[BEST, decision])
            decision += 1
        decisions += decision
    return True
