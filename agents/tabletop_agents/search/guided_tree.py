"""A search tree guided by a network: its policy gives the priors, its win and margin heads value positions.

Selection is PUCT (Rosin 2011; Silver and others 2017); each player maximises its own utility. The network is evaluated
in compiled code, one position at a time (`forward`), so one game is searched as fast as many. The policy is asked only
when a node is reached for the second time: a third to a half of the nodes never are.

A game for one is searched in a closed loop: a node is a position. Chance is drawn anew for each simulation, and its
outcomes differ if the player sees a difference. The more often an action was tried, the more outcomes it may
have (progressive widening; Couëtoux and others 2011). With several players a node stands for the decisions that led to
it, and everything hidden from the searcher is drawn anew for each simulation (single-observer ISMCTS; Cowling, Powley
and Whitehouse 2012).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tabletop_agents.search.forward import POLICY, WIN_MARGIN, FlatNetwork, forward, forward_policy
from tabletop_agents.search.one_turn import Walk, find_shortfalls
from tabletop_engine.boxes import box_of
from tabletop_engine.chance import random_below, random_bits
from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.defaults import points_margin
from tabletop_engine.legal import count_legal, is_legal, next_legal
from tabletop_engine.play.kernels import write_places
from tabletop_engine.record import NOBODY

SETTINGS = np.dtype(
    [
        ("exploration", np.float64),  # PUCT constant: weight of the prior against the value
        ("temperature", np.float64),  # of the softmax that gives the priors: above 1 they are flatter
        ("widening", np.float64),  # progressive widening: outcomes of an action tried n times, as a multiple of √n
        ("margin", np.float64),  # utility of a point of margin; a win has 1
    ]
)
"""The parameters of the search."""

NODE = np.dtype(
    [
        ("total", np.float64),  # utilities of the simulations through it, for its actor
        ("view_hash", np.uint64),  # tells it from other outcomes of the same action
        ("visits", np.int32),
        ("draws", np.int32),  # how often chance led to it
        ("edge", np.int32),  # first action, 0 for none yet
        ("sibling", np.int32),  # next outcome of the same action, 0 for none
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
        ("sibling", np.int32),  # next action of the same node, 0 for none
        ("action", np.int16),
        ("certain", np.int16),  # 1: nothing that follows it depends on chance
    ],
    align=True,
)
TREE = np.dtype([("nodes", np.int64), ("edges", np.int64), ("low", np.float64), ("high", np.float64)])
"""How many nodes and edges a tree has, and the lowest and highest mean utility of an action in it.

Number 0 of the nodes is the root, number 0 of the edges is none.
"""

WALK_NODES = 60
"""How many positions the walk of one node may look at.

With ten times as many, a search of 200 simulations took 1.7 times as long and won as often.
"""
MAX_PATH = 96
"""Decisions of one simulation; few go down further than twenty."""
_NODES, _EDGES, _ACTORS = 0, 1, 2


class Tree(NamedTuple):
    """A search tree with space for R nodes and E edges."""

    size: np.ndarray  # (1,) TREE, zero for a new tree
    nodes: np.ndarray  # (R,) NODE
    edges: np.ndarray  # (E,) EDGE
    states: np.ndarray  # (R,) records, the nodes' positions, if `closed`, else (1,)
    raw_states: np.ndarray  # their bytes, one axis more
    closed: bool  # whether nodes are positions


class Scratch(NamedTuple):
    """Scratch space of one thread, for observations of D numbers, A actions and K seats."""

    stack: np.ndarray  # (1,) record: the position that a simulation has reached
    raw_stack: np.ndarray  # its bytes, one axis more
    path: np.ndarray  # (3, MAX_PATH) int64: the nodes, edges and actors of a simulation
    counts: np.ndarray  # (D,) int16, an observation before it is scaled
    inputs: np.ndarray  # (D,) float32, an observation as a network takes it
    outputs: np.ndarray  # (L, the widest layer) float32, as `forward` takes it
    utilities: np.ndarray  # (K,) of the leaf, for each seat
    wins: np.ndarray  # (K,) the part of them that is wins
    walk: Walk  # for a network that weighs shortfalls, as is the next
    shortfalls: np.ndarray  # (A,) float32


class Layout(NamedTuple):
    """What the search needs to know of a game's records and observations."""

    rng_at: int  # which of a record's bytes is the random stream's first
    factors: np.ndarray  # (D,) `hash_factors`
    divisors: np.ndarray  # (D,) of the observation


def hash_factors(size: int) -> np.ndarray:
    """(size,) uint64 random odd numbers, always the same, for `hash_view`."""
    return np.random.default_rng(0).integers(0, 2**63, size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@kernel_template
def search_guided_tree(
    root: np.ndarray,
    tables: np.ndarray,
    settings: np.ndarray,
    layout: Layout,
    network: FlatNetwork,
    tree: Tree,
    scratch: Scratch,
    simulations: int,
) -> None:
    """Add simulations from `root` (1,) to a tree. A new tree is first given its root.

    The root's own random stream seeds what is hidden and what happens; the stream advances. The policy of a network
    that weighs shortfalls gives one number more than there are actions.
    """
    # reading a tuple's member costs some nanoseconds, so members that every simulation needs are read once
    nodes, edges, states, closed = tree.nodes, tree.edges, tree.states, tree.closed
    stack, path, walk, shortfalls = scratch.stack, scratch.path, scratch.walk, scratch.shortfalls
    walk_stack, lines, memo, w = walk.stack, walk.lines, walk.memo, walk.weights[0]
    counts, inputs, outputs = scratch.counts, scratch.inputs, scratch.outputs
    utilities, wins, raw_stack, raw_states = scratch.utilities, scratch.wins, scratch.raw_stack, tree.raw_states
    rng_at, factors, divisors = layout.rng_at, layout.factors, layout.divisors
    s, t, p, r = stack[0], tables[box_of(root[0], tables)], settings[0], tree.size[0]
    seat, actions = int(root[0].actor), shortfalls.shape[0]
    policy_layer, heads_layer = network.parts[POLICY, 1] - 1, network.parts[WIN_MARGIN, 1] - 1
    logits, weighs = outputs[policy_layer], network.layers[policy_layer].outputs > actions
    heads, seats = outputs[heads_layer], network.layers[heads_layer].outputs // 2
    if r.nodes == 0:
        r.nodes, r.edges, r.low, r.high = 1, 1, np.inf, -np.inf
        nodes[0].total, nodes[0].visits, nodes[0].edge = 0.0, 0, 0
        states[0] = root[0]
        simulations += 1
    for _ in range(simulations):
        stack[0] = root[0]
        rules.sample_hidden(s, t, seat, random_bits(root[0]))
        for word in range(s.legal.shape[0]):
            s.legal[word] = root[0].legal[word]  # `Decisions.only` may leave fewer actions
        node, depth = 0, 0
        while s.actor != NOBODY and depth < MAX_PATH and node >= 0:
            if nodes[node].edge == 0:
                if count_legal(s) == 1:
                    add_edge(r, nodes, edges, node, next_legal(s, 0), 1.0)  # a single action needs no network
                elif nodes[node].visits == 0:
                    break
                else:
                    write_inputs(s, t, counts, divisors, inputs)
                    forward_policy(network, inputs, outputs)
                    if weighs:
                        walk_stack[0] = s
                        find_shortfalls(walk_stack, lines, memo, t, w, WALK_NODES, shortfalls)
                        weigh(s, logits, logits[actions], shortfalls)
                    add_edges(s, p, r, nodes, edges, node, logits)
            elif not closed:
                add_missing_edges(s, r, nodes, edges, node)
            chosen = choose_edge(s, p, r, nodes, edges, node)
            if chosen == 0:
                break  # no room for actions
            path[_NODES, depth], path[_EDGES, depth], path[_ACTORS, depth] = node, chosen, s.actor
            depth += 1
            edge = edges[chosen]
            if edge.certain == 1:
                node = int(edge.node)
                stack[0] = states[node]
            elif not closed:
                rules.step(s, t, edge.action)
                node = outcome(edge, r, nodes, np.uint64(0))
            elif edge.outcomes < p.widening * math.sqrt(edge.visits + 1.0):
                rules.sample_hidden(s, t, seat, random_bits(root[0]))
                certain = edge.outcomes == 0 and equal_but_rng(raw_stack[0], raw_states[node], rng_at)
                stream = s.rng
                rules.step(s, t, edge.action)
                node = outcome(edge, r, nodes, hash_view(s, t, seat, counts, factors))
                if node >= 0 and nodes[node].draws == 1:
                    states[node] = s
                    edge.certain = certain and s.rng == stream
            else:
                node = drawn_outcome(root[0], edge, nodes)
                stack[0] = states[node]
        if s.actor == NOBODY:
            write_result(s, p.margin, utilities, wins)
        else:
            write_inputs(s, t, counts, divisors, inputs)
            forward(network, WIN_MARGIN, inputs, outputs)
            write_prediction(s, p.margin, heads, seats, utilities, wins)
            if node >= 0:
                nodes[node].visits += 1
                nodes[node].total += utilities[s.actor]
        back_up_path(r, nodes, edges, path, depth, utilities, wins)


@kernel_template
def read_guided_root(
    nodes: np.ndarray, edges: np.ndarray, visits: np.ndarray, utilities: np.ndarray, wins: np.ndarray
) -> None:
    """Write, for each action (A,) of the root: its simulations, their mean utility, and the part that is wins."""
    edge = nodes[0].edge
    while edge != 0:
        e = edges[edge]
        visits[e.action] = e.visits
        if e.visits > 0:
            utilities[e.action] = e.total / e.visits
            wins[e.action] = e.won / e.visits
        edge = e.sibling


# --- Actions ---------------------------------------------------------------------------------------------------------


@rule_template
def choose_edge(s: Any, p: Any, r: Any, nodes: np.ndarray, edges: np.ndarray, node: int) -> int:
    """The legal action with the highest upper bound (PUCT); 0 if the node has none.

    Utilities are scaled to the range from the lowest to the highest mean in the tree (Schrittwieser and others 2020).
    An action that has not been tried has the mean utility of the node.
    """
    priors = 0.0
    edge = int(nodes[node].edge)
    while edge != 0:
        if is_legal(s, int(edges[edge].action)):
            priors += edges[edge].prior
        edge = int(edges[edge].sibling)
    span = r.high - r.low
    mean = nodes[node].total / max(1, nodes[node].visits)
    best, best_bound = 0, -np.inf
    edge = int(nodes[node].edge)
    while edge != 0:
        e = edges[edge]
        if is_legal(s, int(e.action)):
            e.available += 1
            utility = e.total / e.visits if e.visits > 0 else mean
            quality = (utility - r.low) / span if span > 0.0 else 0.5
            bound = quality + p.exploration * e.prior / priors * math.sqrt(float(e.available)) / (1 + e.visits)
            if bound > best_bound:
                best, best_bound = edge, bound
        edge = int(e.sibling)
    return best


@rule_template
def add_edges(s: Any, p: Any, r: Any, nodes: np.ndarray, edges: np.ndarray, node: int, logits: np.ndarray) -> None:
    """Give a node its legal actions, with the policy's probabilities."""
    highest, total = -np.inf, 0.0
    action = next_legal(s, 0)
    while action >= 0:
        highest = max(highest, float(logits[action]))
        action = next_legal(s, action + 1)
    action = next_legal(s, 0)
    while action >= 0:
        total += math.exp((float(logits[action]) - highest) / p.temperature)
        action = next_legal(s, action + 1)
    action = next_legal(s, 0)
    while action >= 0:
        add_edge(r, nodes, edges, node, action, math.exp((float(logits[action]) - highest) / p.temperature) / total)
        action = next_legal(s, action + 1)


@rule_template
def weigh(s: Any, logits: np.ndarray, weight: float, shortfalls: np.ndarray) -> None:
    """Lower the logits of the legal actions by their shortfalls, as `Network.logits` does."""
    points_weight = np.float32(max(0.0, weight) + math.log1p(math.exp(-abs(weight))))  # softplus
    action = next_legal(s, 0)
    while action >= 0:
        logits[action] -= points_weight * shortfalls[action]
        action = next_legal(s, action + 1)


@rule_template
def add_missing_edges(s: Any, r: Any, nodes: np.ndarray, edges: np.ndarray, node: int) -> None:
    """Give a node the actions that were not legal when it got the others; their prior is the mean."""
    missing = s.legal.copy()
    edge, known, priors = int(nodes[node].edge), 0, 0.0
    while edge != 0:
        action = int(edges[edge].action)
        missing[action // 64] &= ~(np.uint64(1) << np.uint64(action % 64))
        known += 1
        priors += edges[edge].prior
        edge = int(edges[edge].sibling)
    for word in range(missing.shape[0]):
        if missing[word] == 0:
            continue
        for bit in range(64):
            if (missing[word] >> np.uint64(bit)) & np.uint64(1) != 0:
                add_edge(r, nodes, edges, node, 64 * word + bit, priors / known)


@rule_template
def add_edge(r: Any, nodes: np.ndarray, edges: np.ndarray, node: int, action: int, prior: float) -> None:
    """Give a node an action, if there is room."""
    new = int(r.edges)
    if new >= edges.shape[0]:
        return
    r.edges += 1
    e = edges[new]
    e.total, e.won, e.prior = 0.0, 0.0, prior
    e.visits, e.available, e.node, e.outcomes, e.certain = 0, 0, 0, 0, 0
    e.action = action
    e.sibling = nodes[node].edge
    nodes[node].edge = new


# --- Outcomes --------------------------------------------------------------------------------------------------------


@rule_template
def outcome(edge: Any, r: Any, nodes: np.ndarray, view_hash: np.uint64) -> int:
    """The node of an action's outcome with this view, a new one if there is none; -1 if there is no room."""
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
def drawn_outcome(root: Any, edge: Any, nodes: np.ndarray) -> int:
    """One of an action's outcomes, drawn in proportion to how often chance led to it."""
    draws, node = 0, int(edge.node)
    while node != 0:
        draws += nodes[node].draws
        node = int(nodes[node].sibling)
    left, node = random_below(root, draws), int(edge.node)
    while left >= nodes[node].draws:
        left -= nodes[node].draws
        node = int(nodes[node].sibling)
    return node


@rule_template
def hash_view(s: Any, t: Any, seat: int, counts: np.ndarray, factors: np.ndarray) -> np.uint64:
    """A hash of what a seat sees. Two different views almost never have the same hash."""
    counts[:] = 0
    rules.observe(s, t, seat, counts)
    view = np.uint64(s.actor + 1)
    for i in range(counts.shape[0]):
        view += np.uint64(np.int64(counts[i])) * factors[i]
    for word in range(s.legal.shape[0]):
        view += s.legal[word] * factors[word]
    return view


@rule_template
def equal_but_rng(a: np.ndarray, b: np.ndarray, rng_at: int) -> bool:
    """Whether two records, as bytes, differ in nothing but the random stream."""
    different = 0
    for i in range(a.shape[0]):
        different += a[i] != b[i]
    for i in range(rng_at, rng_at + 8):
        different -= a[i] != b[i]
    return different == 0


# --- Up --------------------------------------------------------------------------------------------------------------


@rule_template
def write_result(s: Any, margin_weight: float, utilities: np.ndarray, wins: np.ndarray) -> None:
    """Write each seat's share of the win in a finished game, and its utility: the share plus the weighted margin."""
    places = np.zeros(s.points.shape[0], np.int8)
    write_places(s, places)
    winners = 0
    for owner in range(s.owners):
        winners += places[owner] == 1
    for seat in range(s.players):
        wins[seat] = 1.0 / winners if places[seat] == 1 else 0.0
        utilities[seat] = wins[seat] + margin_weight * points_margin(s, seat)


@rule_template
def write_inputs(s: Any, t: Any, counts: np.ndarray, divisors: np.ndarray, inputs: np.ndarray) -> None:
    """Write what the actor sees into `inputs`, as a network takes it; `counts` is scratch space."""
    counts[:] = 0
    rules.observe(s, t, int(s.actor), counts)
    for i in range(counts.shape[0]):
        inputs[i] = np.float32(counts[i]) / divisors[i]


@rule_template
def write_prediction(
    s: Any, margin_weight: float, heads: np.ndarray, seats: int, utilities: np.ndarray, wins: np.ndarray
) -> None:
    """Write each seat's predicted win probability, and its utility: the probability plus the weighted margin.

    `heads` are `seats` logits of winning and as many margins, clockwise from the actor.
    """
    actor, players = int(s.actor), int(s.players)
    if players == 1:
        wins[actor] = 1.0 / (1.0 + math.exp(-float(heads[0])))
        utilities[actor] = wins[actor] + margin_weight * float(heads[seats])
        return
    highest, total = -np.inf, 0.0
    for i in range(players):
        highest = max(highest, float(heads[i]))
    for i in range(players):
        total += math.exp(float(heads[i]) - highest)
    for i in range(players):
        seat = (actor + i) % players
        wins[seat] = math.exp(float(heads[i]) - highest) / total
        utilities[seat] = wins[seat] + margin_weight * float(heads[seats + i])


@rule_template
def back_up_path(
    r: Any,
    nodes: np.ndarray,
    edges: np.ndarray,
    path: np.ndarray,
    depth: int,
    utilities: np.ndarray,
    wins: np.ndarray,
) -> None:
    """Add the leaf's utilities to the nodes and actions of the path: to each the utility of its actor."""
    for i in range(depth):
        node, edge, actor = path[_NODES, i], path[_EDGES, i], path[_ACTORS, i]
        utility = utilities[actor]
        e = edges[edge]
        e.visits += 1
        e.total += utility
        e.won += wins[actor]
        nodes[node].visits += 1
        nodes[node].total += utility
        r.low = min(r.low, e.total / e.visits)
        r.high = max(r.high, e.total / e.visits)
