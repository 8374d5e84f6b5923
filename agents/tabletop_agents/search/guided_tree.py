"""A search tree guided by a network: its policy gives the priors, its win and margin heads value positions.

Selection is PUCT (Rosin 2011; Silver and others 2017); each player maximises its own utility. The network is evaluated
in compiled code, one position at a time (`forward`), so one game is searched as fast as many. The policy is asked only
when a node is reached for the second time: a third to a half of the nodes never are. A closed tree keeps what the trunk
said at the first time.

A game for one is searched in a closed tree. Chance is drawn anew for each simulation, and its outcomes differ if the
player sees a difference. The more often an action was tried, the more outcomes it may have (progressive widening;
Couëtoux and others 2011). With several players the tree is open, and everything hidden from the searcher is drawn anew
for each simulation (single-observer ISMCTS; Cowling, Powley and Whitehouse 2012).

A search that exploits the policy knows that all others play it: at their decisions the policy's likeliest action is
played, and only the searcher chooses. It tends to a best answer to the policy (Timbers and others 2022).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tabletop_agents.search.forward import (
    MARGIN_UNIT,
    POLICY,
    TRUNK,
    WIN_MARGIN,
    FlatNetwork,
    Similar,
    forward,
    forward_trunk,
    new_similar,
)
from tabletop_agents.search.one_turn import MAX_NODES, Walk, find_shortfalls, new_walk
from tabletop_agents.search.tree import (
    EDGES,
    MAX_PATH,
    NODES,
    OWNERS,
    Tree,
    add_edges,
    back_up,
    begin_tree,
    bytes_of,
    draw_root,
    outcome,
)
from tabletop_agents.search.utility import count_teams, write_win_shares
from tabletop_engine.chance import random_below, random_bits
from tabletop_engine.compiling.compiled import kernel_template, rule_template, rules
from tabletop_engine.defaults import points_margin
from tabletop_engine.editions import edition_of
from tabletop_engine.game import Game
from tabletop_engine.legal import count_legal, is_legal, next_legal
from tabletop_engine.record import NOBODY

SETTINGS = np.dtype(
    [
        ("exploration", np.float64),  # PUCT constant: weight of the prior against the value
        ("temperature", np.float64),  # of the softmax that gives the priors: above 1 they are flatter
        ("widening", np.float64),  # progressive widening: outcomes of an action tried n times, as a multiple of √n
        ("margin", np.float64),  # utility of a point of margin; a win has 1
        ("exploits", np.int8),  # 1: all others play the policy's likeliest actions
    ]
)
"""The parameters of the search."""

WALK_NODES = 60
"""How many positions the walk of one node may look at.

With ten times as many, a search of 200 simulations took 1.7 times as long and won as often.
"""


class Guide(NamedTuple):
    """Scratch space of one thread, and how observations are read: D numbers, of a game with A actions."""

    walk: Walk  # its stack holds the position that a simulation has reached
    raw_stack: np.ndarray  # the bytes of that stack, one axis more
    rng_at: int  # which of a record's bytes is the random stream's first
    factors: np.ndarray  # (D,) uint64 random odd numbers, always the same, for `hash_view`
    counts: np.ndarray  # (D,) int16, an observation before it is scaled
    divisors: np.ndarray  # (D,) float32, what it is divided by
    inputs: np.ndarray  # (D,) float32, an observation as a network takes it
    outputs: np.ndarray  # (L, the widest layer) float32, as `forward` takes it
    similar: Similar  # where `forward_trunk` begins
    hidden: np.ndarray  # (R, H) float32, the trunk's outputs at the nodes of a closed tree, else (0, H)
    shortfalls: np.ndarray  # (A,) float32, for a network that weighs them


def new_guide(game: Game, network: FlatNetwork, nodes: int) -> Guide:
    """Scratch space for a search with a network of this shape, and room for the trunk's outputs at so many nodes."""
    walk, size = new_walk(game), game.observation.size
    trunk = network.layers[: network.parts[TRUNK, 1]]
    return Guide(
        walk=walk,
        raw_stack=bytes_of(walk.stack),
        rng_at=int(game.state.fields["rng"][1]),  # type: ignore[index]
        factors=_factors(size),
        counts=np.zeros(size, np.int16),
        divisors=game.observation.divisors,
        inputs=np.zeros(size, np.float32),
        outputs=np.zeros((len(network.layers), network.layers["outputs"].max()), np.float32),
        similar=new_similar(network, game.players[-1], size),
        hidden=np.zeros((nodes, trunk[-1]["outputs"] if len(trunk) else size), np.float32),
        shortfalls=np.zeros(game.num_actions, np.float32),
    )


@cache
def _factors(size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2**63, size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@kernel_template
def search_guided_tree(
    root: np.ndarray,
    tables: np.ndarray,
    settings: np.ndarray,
    network: FlatNetwork,
    tree: Tree,
    guide: Guide,
    simulations: int,
) -> None:
    """Add simulations from `root` (1,) to a tree. A new tree is first given its root.

    The root's own random stream seeds what is hidden and what happens; the stream advances. The policy of a network
    that weighs shortfalls gives one number more than there are actions.
    """
    # Reading a tuple's member costs some nanoseconds, so members that every simulation needs are read once.
    size, nodes, edges, path = tree.size, tree.nodes, tree.edges, tree.path
    states, raw_states, closed = tree.states, tree.raw_states, tree.closed
    utilities, wins = tree.utilities, tree.wins  # (K,)
    walk, raw_stack, rng_at, factors = guide.walk, guide.raw_stack, guide.rng_at, guide.factors
    stack, lines, memo, w = walk.stack, walk.lines, walk.memo, walk.weights[0]
    counts, divisors, inputs = guide.counts, guide.divisors, guide.inputs  # (D,)
    outputs, hidden, similar, shortfalls = guide.outputs, guide.hidden, guide.similar, guide.shortfalls
    s, t, p, r = stack[0], tables[edition_of(root[0], tables)], settings[0], size[0]
    seat, actions = int(root[0].actor), shortfalls.shape[0]
    policy_layer, heads_layer = network.parts[POLICY, 1] - 1, network.parts[WIN_MARGIN, 1] - 1
    logits, weighs = outputs[policy_layer], network.layers[policy_layer].outputs > actions
    heads, most = outputs[heads_layer], network.layers[heads_layer].outputs // 2
    if begin_tree(tree, root):
        simulations += 1  # the first one only values the root
        similar.known[:] = 0
    for _ in range(simulations):
        draw_root(root, stack, t)
        node, depth = 0, 0  # the place of `s` in the tree; -1: there was no room for it
        while s.actor != NOBODY and depth < MAX_PATH and node >= 0:
            searcher = p.exploits == 0 or s.actor == seat
            if nodes[node].edge == 0:
                several = count_legal(s) > 1  # a single action needs no network: its prior is 1
                if several and nodes[node].visits == 0 and searcher:
                    break
                first = add_edges(s, r, nodes, edges, node)
                if several and searcher:
                    if closed:
                        seen = hidden[node]  # of the same position, when it was valued
                    else:
                        write_inputs(s, t, counts, divisors, inputs)
                        seen = forward_trunk(network, int(s.actor), inputs, similar, outputs)
                    forward(network, POLICY, seen, outputs)
                    if weighs:
                        find_shortfalls(stack, lines, memo, t, w, WALK_NODES, shortfalls)
                        weigh(s, logits, logits[actions], shortfalls)
                    write_priors(s, p, edges, first, int(r.edges), logits)
            elif not closed:
                # Other hidden cards may allow actions that the policy was not asked about: these get the mean prior.
                known = int(nodes[node].edge)
                first = add_edges(s, r, nodes, edges, node)
                if first < r.edges:
                    prior = mean_prior(edges, known)
                    for new in range(first, int(r.edges)):
                        edges[new].prior = prior
            if searcher:
                chosen = choose_edge(s, p, r, nodes, edges, node)
            else:  # the others' cards differ from one simulation to the next, so the policy is asked each time
                write_inputs(s, t, counts, divisors, inputs)
                seen = forward_trunk(network, int(s.actor), inputs, similar, outputs)
                forward(network, POLICY, seen, outputs)
                if weighs:
                    find_shortfalls(stack, lines, memo, t, w, MAX_NODES, shortfalls)  # as the policy's agent does
                    weigh(s, logits, logits[actions], shortfalls)
                chosen = likeliest_edge(s, nodes, edges, node, logits)
            if chosen == 0:
                break  # no room for edges
            path[NODES, depth], path[EDGES, depth], path[OWNERS, depth] = node, chosen, rules.team(s, int(s.actor))
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
                # If drawing changed nothing but the stream, and the step draws nothing, no other outcome is possible.
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
            seen = forward_trunk(network, int(s.actor), inputs, similar, outputs)
            forward(network, WIN_MARGIN, seen, outputs)
            write_prediction(s, p.margin, heads, most, utilities, wins)
            if node >= 0:
                if closed:
                    for i in range(hidden.shape[1]):  # one by one, as in `forward_trunk`
                        hidden[node, i] = seen[i]
                # No edge leads on from here, so `back_up` does not reach this node.
                nodes[node].visits += 1
                nodes[node].total += utilities[rules.team(s, int(s.actor))]
        back_up(r, nodes, edges, path, depth, utilities, wins)


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
def likeliest_edge(s: Any, nodes: np.ndarray, edges: np.ndarray, node: int, logits: np.ndarray) -> int:
    """The legal action with the highest logit, the first of equal ones; 0 if the node has no edge for it."""
    best = next_legal(s, 0)
    action = best
    while action >= 0:
        if logits[action] > logits[best]:
            best = action
        action = next_legal(s, action + 1)
    edge = int(nodes[node].edge)
    while edge != 0 and edges[edge].action != best:
        edge = int(edges[edge].sibling)
    return edge


@rule_template
def write_priors(s: Any, p: Any, edges: np.ndarray, first: int, end: int, logits: np.ndarray) -> None:
    """Write the policy's probabilities, from its logits (A,), into the edges of a node: those from `first` to `end`."""
    highest, total = -np.inf, 0.0
    action = next_legal(s, 0)
    while action >= 0:
        highest = max(highest, float(logits[action]))
        action = next_legal(s, action + 1)
    action = next_legal(s, 0)
    while action >= 0:
        total += math.exp((float(logits[action]) - highest) / p.temperature)
        action = next_legal(s, action + 1)
    for edge in range(first, end):
        edges[edge].prior = math.exp((float(logits[edges[edge].action]) - highest) / p.temperature) / total


@rule_template
def mean_prior(edges: np.ndarray, edge: int) -> float:
    """The mean prior of an edge and the siblings that follow it."""
    known, priors = 0, 0.0
    while edge != 0:
        known += 1
        priors += edges[edge].prior
        edge = int(edges[edge].sibling)
    return priors / known


@rule_template
def weigh(s: Any, logits: np.ndarray, weight: float, shortfalls: np.ndarray) -> None:
    """Lower the logits of the legal actions by their shortfalls, as `Network.logits` does."""
    points_weight = np.float32(max(0.0, weight) + math.log1p(math.exp(-abs(weight))))  # softplus
    action = next_legal(s, 0)
    while action >= 0:
        logits[action] -= points_weight * shortfalls[action]
        action = next_legal(s, action + 1)


# --- Outcomes --------------------------------------------------------------------------------------------------------


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


# --- Values ----------------------------------------------------------------------------------------------------------


@rule_template
def write_result(s: Any, margin_weight: float, utilities: np.ndarray, wins: np.ndarray) -> None:
    """Write each owner's share of the win in a finished game, and its utility: the share plus the weighted margin."""
    write_win_shares(s, wins)
    for owner in range(s.owners):
        utilities[owner] = wins[owner] + margin_weight * points_margin(s, owner)


@rule_template
def write_inputs(s: Any, t: Any, counts: np.ndarray, divisors: np.ndarray, inputs: np.ndarray) -> None:
    """Write what the actor sees into `inputs`, as a network takes it; `counts` is scratch space."""
    counts[:] = 0
    rules.observe(s, t, int(s.actor), counts)
    for i in range(counts.shape[0]):
        inputs[i] = np.float32(counts[i]) / divisors[i]


@rule_template
def write_prediction(
    s: Any, margin_weight: float, heads: np.ndarray, most: int, utilities: np.ndarray, wins: np.ndarray
) -> None:
    """Write each team's predicted win probability, and its utility: the probability plus the weighted margin.

    `heads` are `most` logits of winning and as many margins in their unit, from the actor's team on.
    """
    own, teams, weight = rules.team(s, int(s.actor)), count_teams(s), margin_weight * MARGIN_UNIT
    if teams == 1:
        wins[own] = 1.0 / (1.0 + math.exp(-float(heads[0])))
        utilities[own] = wins[own] + weight * float(heads[most])
        return
    highest, total = -np.inf, 0.0
    for i in range(teams):
        highest = max(highest, float(heads[i]))
    for i in range(teams):
        total += math.exp(float(heads[i]) - highest)
    for i in range(teams):
        team = (own + i) % teams
        wins[team] = math.exp(float(heads[i]) - highest) / total
        utilities[team] = wins[team] + weight * float(heads[most + i])
