"""Information-set Monte Carlo tree search: one tree, from one player's point of view.

Everything hidden from that player is drawn anew for every simulation (single-observer ISMCTS; Cowling, Powley and
Whitehouse 2012). A node stands for the decisions that led to it from the root, whatever chance and the hidden cards
were. All players maximise their own utility. A node gets its children when it is reached for the second time, each with
the one-turn walk's value as a prior. A simulation ends at a node that had no children, or at the end of the game.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tabletop_agents.search.one_turn import Walk, value_after
from tabletop_agents.search.playouts import last_round, play_on
from tabletop_agents.search.utility import expected_utility, par, utility
from tabletop_engine.boxes import box_of
from tabletop_engine.chance import random_bits
from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.legal import count_legal, is_legal
from tabletop_engine.record import NOBODY

NODE = np.dtype(
    [
        ("total", np.float64),  # utilities of the simulations through it, for the player who chose it
        ("prior", np.float64),  # what the one-turn walk expected
        ("visits", np.int32),
        ("available", np.int32),  # simulations in which it could be chosen
        ("child", np.int32),  # first child, 0 for none
        ("sibling", np.int32),  # next child of the same parent, 0 for none
        ("action", np.int16),
        ("mover", np.int16),  # seat that chose it
    ],
    align=True,
)

MAX_PATH = 256
"""Nodes of one simulation; few go down further than ten."""


@kernel_template
def search_tree(
    root: np.ndarray,
    tables: np.ndarray,
    settings: np.ndarray,
    walk: Walk,
    nodes: np.ndarray,
    used: int,
    simulations: int,
) -> int:
    """Add simulations from `root` (1,) to the tree in `nodes`, NODE; returns how many nodes it has now.

    `used` is how many it had, 1 for a new tree with `nodes[0]` zero. The root's own random stream seeds what is hidden
    and what happens; the stream advances.
    """
    path, stack, lines, memo = np.zeros(MAX_PATH, np.int64), walk.stack, walk.lines, walk.memo
    seat, t, w, p = int(root[0].actor), tables[box_of(root[0], tables)], walk.weights[0], settings[0]
    start, last = par(root[0], t, w, memo), last_round(root[0], p)
    for _ in range(simulations):
        stack[0] = root[0]
        rules.sample_hidden(stack[0], t, seat, random_bits(root[0]))
        for word in range(stack[0].legal.shape[0]):
            stack[0].legal[word] = root[0].legal[word]  # `Decisions.only` may leave fewer actions
        used = simulate(stack, lines, memo, t, w, p, nodes, used, path, start, last)
    return used


@kernel_template
def read_root(nodes: np.ndarray, visits: np.ndarray, utilities: np.ndarray) -> None:
    """Write the simulations through each of the root's children, and their mean utility, by action (A,)."""
    child = nodes[0].child
    while child != 0:
        n = nodes[child]
        visits[n.action] = n.visits
        if n.visits > 0:
            utilities[n.action] = n.total / n.visits
        child = n.sibling


@rule_template
def simulate(
    stack: np.ndarray,
    lines: np.ndarray,
    memo: np.ndarray,
    t: Any,
    w: Any,
    p: Any,
    nodes: np.ndarray,
    used: int,
    path: np.ndarray,
    start: float,
    last: int,
) -> int:
    """One simulation from `stack[0]`: down the tree, one node's children, an evaluation, and up again."""
    s = stack[0]
    node, depth = 0, 0
    path[0] = 0
    while s.actor != NOBODY and depth + 1 < MAX_PATH:
        fresh = nodes[node].child == 0
        used = add_children(stack, lines, memo, t, w, p, nodes, used, node, start)
        chosen = choose_child(s, p, nodes, node)
        if chosen == 0:
            break  # no room for children
        rules.step(s, t, nodes[chosen].action)
        node = chosen
        depth += 1
        path[depth] = node
        if fresh:
            break
    play_on(stack, lines, memo, t, w, last, int(p.playout_nodes))
    back_up(stack[0], t, w, p, nodes, path, depth, memo, start)
    return used


@rule_template
def add_children(
    stack: np.ndarray,
    lines: np.ndarray,
    memo: np.ndarray,
    t: Any,
    w: Any,
    p: Any,
    nodes: np.ndarray,
    used: int,
    node: int,
    start: float,
) -> int:
    """Give the node a child for every legal action that has none; returns how many nodes there are now."""
    s = stack[0]
    actor = int(s.actor)
    missing = s.legal.copy()
    child = nodes[node].child
    while child != 0:
        action = int(nodes[child].action)
        missing[action // 64] &= ~(np.uint64(1) << np.uint64(action % 64))
        child = nodes[child].sibling
    budget = -1
    for word in range(missing.shape[0]):
        if missing[word] == 0:
            continue
        if budget < 0:
            budget = int(p.max_nodes) // count_legal(s)
        for bit in range(64):
            if (missing[word] >> np.uint64(bit)) & np.uint64(1) == 0 or used >= nodes.shape[0]:
                continue
            action = 64 * word + bit
            margin = value_after(stack, lines, memo, t, w, actor, action, budget)
            nodes[used].prior = expected_utility(s, p, margin - start)
            nodes[used].total = 0.0
            nodes[used].visits = 0
            nodes[used].available = 0
            nodes[used].child = 0
            nodes[used].sibling = nodes[node].child
            nodes[used].action = action
            nodes[used].mover = actor
            nodes[node].child = used
            used += 1
    return used


@rule_template
def choose_child(s: Any, p: Any, nodes: np.ndarray, node: int) -> int:
    """The legal child with the highest upper confidence bound; 0 if there is none."""
    best, best_bound = 0, -np.inf
    exploration = p.exploration * (p.below if node > 0 else 1.0)
    child = nodes[node].child
    while child != 0:
        n = nodes[child]
        if is_legal(s, int(n.action)):
            n.available += 1
            visits = n.visits + p.prior_visits
            mean = (n.total + p.prior_visits * n.prior) / visits
            bound = mean + exploration * math.sqrt(math.log(n.available + p.prior_visits) / visits)
            if bound > best_bound:
                best, best_bound = child, bound
        child = nodes[child].sibling
    return best


@rule_template
def back_up(
    s: Any, t: Any, w: Any, p: Any, nodes: np.ndarray, path: np.ndarray, depth: int, memo: np.ndarray, start: float
) -> None:
    """Add the position's utility to every node of the path, each time for the player who moved there."""
    values = np.full(s.points.shape[0], -1.0)
    for i in range(1, depth + 1):
        seat = int(nodes[path[i]].mover)
        if values[seat] < 0.0:
            values[seat] = utility(s, p, seat, rules.value(s, t, w, seat, memo) - start)
        nodes[path[i]].visits += 1
        nodes[path[i]].total += values[seat]
