"""The tree that both searches grow: its layout, and what they do with it alike.

At each node a simulation chooses an edge, which is an action, and so comes to one of the edge's outcomes, which is a
node again. What it finds at its end is added to all nodes and edges on its path. `ismcts_tree` and `guided_tree` have
rules of their own for the rest: which edge is chosen, when a node gets edges, and what the end is worth.

In an open tree a node stands for the decisions that led to it from the root, whatever chance and the hidden cards were,
and an edge has one outcome. In a closed tree a node is a position, and chance may lead an edge to several.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.chance import random_bits
from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.game import Game

NODE = np.dtype(
    [
        ("total", np.float64),  # utilities of the simulations through it, for its actor
        ("view_hash", np.uint64),  # tells it from other outcomes of the same edge; 0 in an open tree
        ("visits", np.int32),
        ("draws", np.int32),  # how often chance led to it
        ("edge", np.int32),  # first edge, 0 for none yet
        ("sibling", np.int32),  # next outcome of the same edge, 0 for none
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("total", np.float64),  # utilities of the simulations through it, for who chose it
        ("won", np.float64),  # the part of them that is wins
        ("prior", np.float64),
        ("visits", np.int32),
        ("available", np.int32),  # simulations in which it could be chosen
        ("node", np.int32),  # its last new outcome, 0 for none yet
        ("outcomes", np.int32),
        ("sibling", np.int32),  # next edge of the same node, 0 for none
        ("action", np.int16),
        ("mover", np.int8),  # seat that was the first that could choose it
        ("certain", np.int8),  # 1: nothing that follows it depends on chance
    ],
    align=True,
)
SIZE = np.dtype([("nodes", np.int64), ("edges", np.int64), ("low", np.float64), ("high", np.float64)])
"""How many nodes and edges a tree has, and the lowest and highest mean utility of an edge in it.

Number 0 of the nodes is the root, number 0 of the edges is none.
"""

MAX_PATH = 256
"""Decisions of one simulation; few go down further than twenty."""
NODES, EDGES, OWNERS = 0, 1, 2
"""Rows of `Tree.path`: nodes, the edges chosen at them, and the owners for whom the edges are valued."""


class Tree(NamedTuple):
    """A search tree with space for R nodes and E edges, and scratch space for simulations of a game with K owners."""

    size: np.ndarray  # (1,) SIZE, zero for a new tree
    nodes: np.ndarray  # (R,) NODE
    edges: np.ndarray  # (E,) EDGE
    states: np.ndarray  # (R,) records, the nodes' positions, if `closed`, else (1,)
    raw_states: np.ndarray  # their bytes, one axis more
    closed: bool  # whether nodes are positions
    path: np.ndarray  # (3, MAX_PATH) int64
    utilities: np.ndarray  # (K,) of a simulation's end, for each owner
    wins: np.ndarray  # (K,) the part of them that is wins


def new_tree(game: Game, nodes: int, edges: int, closed: bool) -> Tree:
    """A new tree with space for so many nodes and edges."""
    states, owners = np.zeros(nodes if closed else 1, game.state), game.max_owners
    return Tree(
        size=np.zeros(1, SIZE),
        nodes=np.zeros(nodes, NODE),
        edges=np.zeros(edges, EDGE),
        states=states,
        raw_states=bytes_of(states),
        closed=closed,
        path=np.zeros((3, MAX_PATH), np.int64),
        utilities=np.zeros(owners),
        wins=np.zeros(owners),
    )


def bytes_of(records: np.ndarray) -> np.ndarray:
    """The bytes of records, on one axis more. They share the records' memory."""
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)


@kernel_template
def read_root(tree: Tree, visits: np.ndarray, utilities: np.ndarray, wins: np.ndarray) -> None:
    """Write, for each action (A,) of the root: its simulations, their mean utility, and the part that is wins."""
    edge = tree.nodes[0].edge
    while edge != 0:
        e = tree.edges[edge]
        visits[e.action] = e.visits
        if e.visits > 0:
            utilities[e.action] = e.total / e.visits
            wins[e.action] = e.won / e.visits
        edge = e.sibling


@rule_template
def begin_tree(tree: Tree, root: np.ndarray) -> bool:
    """Give a new tree its root (1,). Returns whether the tree is new."""
    r = tree.size[0]
    if r.nodes > 0:
        return False
    r.nodes, r.edges, r.low, r.high = 1, 1, np.inf, -np.inf
    tree.nodes[0].total, tree.nodes[0].visits, tree.nodes[0].edge = 0.0, 0, 0
    tree.states[0] = root[0]
    return True


@rule_template
def draw_root(root: np.ndarray, stack: np.ndarray, t: Any) -> None:
    """Put the root (1,) into `stack[0]`, with everything that is hidden from its actor drawn anew."""
    stack[0] = root[0]
    rules.sample_hidden(stack[0], t, int(root[0].actor), random_bits(root[0]))
    for word in range(stack[0].legal.shape[0]):
        stack[0].legal[word] = root[0].legal[word]  # `Decisions.only` may leave fewer actions


@rule_template
def add_edges(s: Any, r: Any, nodes: np.ndarray, edges: np.ndarray, node: int) -> int:
    """Give a node an edge for each legal action that has none, as long as there is room; their priors are 1.

    Returns the number of the first new edge; the others follow, up to `r.edges`.
    """
    # Hidden cards may decide what is legal, so a node of an open tree gets edges more than once.
    missing = s.legal.copy()
    edge = int(nodes[node].edge)
    while edge != 0:
        action = int(edges[edge].action)
        missing[action // 64] &= ~(np.uint64(1) << np.uint64(action % 64))
        edge = int(edges[edge].sibling)
    first = int(r.edges)
    for word in range(missing.shape[0]):
        if missing[word] == 0:
            continue
        for bit in range(64):
            if (missing[word] >> np.uint64(bit)) & np.uint64(1) == 0 or r.edges >= edges.shape[0]:
                continue
            e = edges[r.edges]
            e.total, e.won, e.prior = 0.0, 0.0, 1.0
            e.visits, e.available, e.node, e.outcomes, e.certain = 0, 0, 0, 0, 0
            e.action = 64 * word + bit
            e.mover = s.actor
            e.sibling = nodes[node].edge
            nodes[node].edge = r.edges
            r.edges += 1
    return first


@rule_template
def outcome(edge: Any, r: Any, nodes: np.ndarray, view_hash: np.uint64) -> int:
    """The node of an edge's outcome with this view, a new one if there is none; -1 if there is no room."""
    node = int(edge.node)
    while node != 0:
        if nodes[node].view_hash == view_hash:
            nodes[node].draws += 1
            return node
        node = int(nodes[node].sibling)
    new = int(r.nodes)
    if new >= nodes.shape[0]:
        return -1
    r.nodes += 1
    n = nodes[new]
    n.total, n.view_hash, n.visits, n.draws, n.edge = 0.0, view_hash, 0, 1, 0
    n.sibling = edge.node
    edge.node = new
    edge.outcomes += 1
    return new


@rule_template
def back_up(
    r: Any,
    nodes: np.ndarray,
    edges: np.ndarray,
    path: np.ndarray,
    depth: int,
    utilities: np.ndarray,
    wins: np.ndarray,
) -> None:
    """Add the utilities (K,) of a simulation's end to the first `depth` nodes and edges of its path.

    Every player maximises the utility of its team, so each node and edge gets that of its actor's team.
    """
    for i in range(depth):
        node, edge, owner = path[NODES, i], path[EDGES, i], path[OWNERS, i]
        utility = utilities[owner]
        e = edges[edge]
        e.visits += 1
        e.total += utility
        e.won += wins[owner]
        nodes[node].visits += 1
        nodes[node].total += utility
        r.low = min(r.low, e.total / e.visits)
        r.high = max(r.high, e.total / e.visits)
