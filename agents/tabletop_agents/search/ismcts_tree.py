"""Information-set Monte Carlo tree search: one open tree, from one player's point of view.

Everything hidden from that player is drawn anew for every simulation (single-observer ISMCTS; Cowling, Powley and
Whitehouse 2012). A simulation gives edges to the first node on its way that has none, and ends one step further, or at
the end of the game. The prior of an edge is the one-turn walk's value of its action; the edge with the highest upper
confidence bound is chosen. The end is valued by a playout.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tabletop_agents.search.one_turn import Walk, value_after
from tabletop_agents.search.playouts import last_round, play_on
from tabletop_agents.search.tree import (
    EDGES,
    MAX_PATH,
    NODES,
    OWNERS,
    Tree,
    add_edges,
    back_up,
    begin_tree,
    draw_root,
    outcome,
)
from tabletop_agents.search.utility import expected_utility, par, utility
from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.editions import edition_of
from tabletop_engine.legal import count_legal, is_legal
from tabletop_engine.record import NOBODY


@kernel_template
def search_tree(
    root: np.ndarray, tables: np.ndarray, settings: np.ndarray, walk: Walk, tree: Tree, simulations: int
) -> int:
    """Add simulations from `root` (1,) to an open tree. A new tree is first given its root.

    The root's own random stream seeds what is hidden and what happens; the stream advances. Returns 1 if all
    playouts came to an end, else 0; it stops at the first that did not.
    """
    size, nodes, edges, path = tree.size, tree.nodes, tree.edges, tree.path
    utilities, wins = tree.utilities, tree.wins  # (K,)
    stack, lines, memo = walk.stack, walk.lines, walk.memo
    s, t, w, p, r = stack[0], tables[edition_of(root[0], tables)], walk.weights[0], settings[0], size[0]
    start, last = par(root[0], t, w, memo), last_round(root[0], p)
    begin_tree(tree, root)
    for _ in range(simulations):
        draw_root(root, stack, t)
        node, depth, expanded = 0, 0, False
        while s.actor != NOBODY and depth < MAX_PATH and node >= 0 and not expanded:
            expanded = nodes[node].edge == 0
            first = add_edges(s, r, nodes, edges, node)
            if first < r.edges:
                actor, budget = int(s.actor), int(p.max_nodes) // count_legal(s)
                for new in range(first, int(r.edges)):
                    margin = value_after(stack, lines, memo, t, w, actor, int(edges[new].action), budget)
                    edges[new].prior = expected_utility(s, p, margin - start)
            chosen = highest_confidence(s, p, nodes, edges, node)
            if chosen == 0:
                break  # no room for edges
            edge = edges[chosen]
            # Hidden cards may decide who is asked at a node. An edge is always valued for the same player.
            path[NODES, depth], path[EDGES, depth] = node, chosen
            path[OWNERS, depth] = rules.team(s, int(edge.mover))
            depth += 1
            rules.step(s, t, edge.action)
            node = outcome(edge, r, nodes, np.uint64(0))
        if not play_on(stack, lines, memo, t, w, last, int(p.playout_nodes)):
            return 0
        # An owner's utility costs an evaluation, so only those on the path are asked for. None is below 0.
        utilities[:] = -1.0
        for i in range(depth):
            owner = path[OWNERS, i]
            if utilities[owner] < 0.0:
                utilities[owner] = utility(s, p, owner, rules.value(s, t, w, owner, memo) - start)
        back_up(r, nodes, edges, path, depth, utilities, wins)
    return 1


@rule_template
def highest_confidence(s: Any, p: Any, nodes: np.ndarray, edges: np.ndarray, node: int) -> int:
    """The legal edge with the highest upper confidence bound; 0 if the node has none.

    An edge's prior counts as `prior_visits` simulations that had this utility.
    """
    best, best_bound = 0, -np.inf
    exploration = p.exploration * (p.below if node > 0 else 1.0)
    edge = int(nodes[node].edge)
    while edge != 0:
        e = edges[edge]
        if is_legal(s, int(e.action)):
            e.available += 1
            visits = e.visits + p.prior_visits
            mean = (e.total + p.prior_visits * e.prior) / visits
            bound = mean + exploration * math.sqrt(math.log(e.available + p.prior_visits) / visits)
            if bound > best_bound:
                best, best_bound = edge, bound
        edge = int(e.sibling)
    return best
