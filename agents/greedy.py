"""A one-turn planner: it tries every way to finish the action at hand and takes the best-looking position.

The search is a depth-first walk through the agent's own decisions (card, payment, tiles, vote) on copies whose
hidden parts were redrawn, up to the next turn, the offer of an optional action, or somebody else's decision.
What a position looks like is `position_value`: points, and points that drops, clouds and votes promise.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from agents.base import Decisions
from petrichor_env import rules
from petrichor_env.batch import Batch
from petrichor_env.compiled import kernel, rule
from petrichor_env.errors import ConfigError
from petrichor_env.rules.asking import count_bits, count_legal
from petrichor_env.rules.fields import drops_in_cloud, drops_on, takes_drops
from petrichor_env.rules.forecasts import forecasts_held
from petrichor_env.rules.points import place
from petrichor_env.rules.scoring import tile_points
from petrichor_env.rules.voting import votes_on
from petrichor_env.state import (
    LEGAL_WORDS,
    NUM_KINDS,
    NUM_TILES,
    STATE,
    Cloud,
    Crop,
    Decision,
    Growing,
    Phase,
    State,
    Weather,
)

DEFAULT_WEIGHTS: dict[str, float] = {
    "later": 0.85,  # what a drop promises fades by this factor with every round still to come
    "short": 0.5,  # of its points, what a tile promises that is one drop short of growing
    "token": 6.0,  # a Wheat token, on the way to the bonus for most of them
    "develops": 0.4,  # chance that sprouting Coffee or Rice still develops
    "lead": 0.15,  # a drop more than the strongest other player on a tile, counted up to three
    "falls": 0.75,  # chance that a cloud's drops come down otherwise than by this round's weather
    "doubled": 0.5,  # a drop that Sun weather would add
    "win": 1.5,  # a Voting Win, beyond its points on the track so far
    "card": 0.5,  # a card in hand
    "kind": 0.3,  # a kind of card in hand, besides
    "forecast": 1.5,  # a forecast card that can still be played
    "neutral_turn": 1.0,  # what a turn of the Southern Winds costs
}
"""The evaluation's weights, in points."""

WEIGHTS = np.dtype([(name, np.float64) for name in DEFAULT_WEIGHTS])

_SPACE_CHANCES = np.array([0.95, 0.8, 0.3, 0.1])  # that a weather space is resolved, by spaces with more votes
_MAX_LEAD = 3
_SAME = 1e-9
_MAX_DEPTH = 16
_COFFEE, _RICE, _WHEAT, _CACTUS = int(Crop.COFFEE), int(Crop.RICE), int(Crop.WHEAT), int(Crop.CACTUS)
_DEVELOPED, _SPROUTING, _DROWNED = int(Growing.DEVELOPED), int(Growing.SPROUTING), int(Growing.DROWNED)
_TURN, _OPTIONAL_ACTION = int(Decision.TURN), int(Decision.OPTIONAL_ACTION)
_OVER, _ACTION = int(Phase.OVER), int(Phase.ACTION)
_NO_CLOUD, _THUNDER = int(Cloud.NONE), int(Cloud.THUNDER)
_FROST, _SUN, _RAIN = int(Weather.FROST), int(Weather.SUN), int(Weather.RAIN)
_1 = np.uint64(1)


class GreedyAgent:
    """Plays for the best position at the end of its own action.

    Arguments:
        weights: replaces some of `DEFAULT_WEIGHTS`. Raises ConfigError for an unknown name.
        max_nodes: how many positions one decision may look at.
        num_threads: threads that share the games of one call.
    """

    name = "greedy"

    def __init__(
        self, weights: Mapping[str, float] | None = None, *, max_nodes: int = 600, num_threads: int = 2
    ) -> None:
        unknown = sorted(set(weights or {}) - set(DEFAULT_WEIGHTS))
        if unknown:
            raise ConfigError(f"weights: unknown {', '.join(unknown)}; there are {', '.join(DEFAULT_WEIGHTS)}")
        self.weights = {**DEFAULT_WEIGHTS, **(weights or {})}
        self.max_nodes = max_nodes
        self.num_threads = num_threads
        self._weights = np.array([tuple(self.weights.values())], WEIGHTS)

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions; equally good ones are equally likely."""
        games = len(decisions)
        actions = np.zeros(games, np.int64)
        states = decisions.sample_states(generator)
        ties = generator.random(games)
        parts = max(1, min(self.num_threads, games // 16))
        edges = [games * part // parts for part in range(parts + 1)]

        def choose(part: int) -> None:
            here = slice(edges[part], edges[part + 1])
            stack = np.zeros(_MAX_DEPTH + 1, STATE)
            _choose_actions(
                states[here], decisions.tables, self._weights, stack, ties[here], self.max_nodes, actions[here]
            )

        if parts == 1:
            choose(0)
        else:
            with ThreadPoolExecutor(parts) as pool:
                list(pool.map(choose, range(parts)))
        return actions


# --- Search ----------------------------------------------------------------------------------------------------------


@kernel
def _choose_actions(
    states: np.ndarray,
    tables: np.ndarray,
    weights: np.ndarray,
    stack: np.ndarray,
    ties: np.ndarray,
    max_nodes: int,
    actions: np.ndarray,
) -> None:
    """Write the best action of each game into `actions`. `ties` (N,) in [0, 1) decides among equally good ones."""
    following = np.zeros(_MAX_DEPTH + 1, np.int64)
    for game in range(states.shape[0]):
        stack[0] = states[game]
        actions[game] = best_action(stack, following, tables[0], weights[0], ties[game], max_nodes)


@rule
def best_action(stack: np.ndarray, following: np.ndarray, t: State, w: State, chance: float, max_nodes: int) -> int:
    """The action that leads from `stack[0]` to the best position its actor can reach; the rest is scratch space.

    `stack[depth]` is the position after `depth` decisions, `following[depth]` the first action not tried there.
    """
    seat = int(stack[0].actor)
    budget = max_nodes // count_legal(stack[0])
    best_value, best, equal = -np.inf, -1, 0
    value, first, nodes, depth = -np.inf, -1, 0, 0
    following[0] = 0
    while True:
        if depth == 0 and first >= 0:  # all that follows the first action has been seen
            if value > best_value + _SAME:
                best_value, best, equal = value, first, 1
            elif value > best_value - _SAME:
                equal += 1
                # one random number serves all ties: what a choice leaves of it is uniform again
                chance *= equal
                if chance < 1.0:
                    best = first
                else:
                    chance = (chance - 1.0) / (equal - 1)
            value, nodes = -np.inf, 0
        action = next_legal(stack[depth], following[depth])
        if action < 0 and depth == 0:
            return best
        if action < 0:
            depth -= 1
            continue
        if depth == 0:
            first = action
        following[depth] = action + 1
        depth += 1
        stack[depth] = stack[depth - 1]
        rules.step(stack[depth], t, action)
        nodes += 1
        following[depth] = 0
        if depth == _MAX_DEPTH or nodes >= budget or is_settled(stack[depth], seat):
            value = max(value, position_value(stack[depth], t, w, seat))
            depth -= 1


@rule
def next_legal(s: State, action: int) -> int:
    """The first legal action from `action` on, or -1."""
    for i in range(action // 64, LEGAL_WORDS):
        word = s.legal[i]
        if i == action // 64:
            word = (word >> np.uint64(action % 64)) << np.uint64(action % 64)
        if word != 0:
            return 64 * i + count_bits((word ^ (word - _1)) >> _1)
    return -1


@rule
def is_settled(s: State, seat: int) -> bool:
    """Whether the action is done: a new choice of what to play, another player's decision, or the end."""
    return bool(s.phase == _OVER or s.actor != seat or s.decision == _TURN or s.decision == _OPTIONAL_ACTION)


# --- Evaluation ------------------------------------------------------------------------------------------------------


@rule
def position_value(s: State, t: State, w: State, seat: int) -> float:
    """How many points `seat` is ahead of the mean of the others, now and by what may be expected."""
    margin = float(s.points[seat])
    for other in range(s.owners):
        if other != seat:
            margin -= s.points[other] / (s.owners - 1)
    if s.phase == _OVER:
        return margin
    margin += field_value(s, t, w, seat) + vote_value(s, t, w, seat) + hand_value(s, w, seat)
    margin += w.forecast * max(0, forecasts_held(s, seat) - 1)
    if s.players == 1 and s.decision == _OPTIONAL_ACTION:
        margin -= w.neutral_turn
    return margin


@rule
def field_value(s: State, t: State, w: State, seat: int) -> float:
    """What the tiles promise, as they are and with what the clouds above may drop on them."""
    rain = space_chance(s, _RAIN)
    frost = space_chance(s, _FROST)
    sun = space_chance(s, _SUN)
    falls = w.falls if s["round"] < s.rounds else 0.0
    value = 0.0
    most_own = 0
    others_doubled = 0.0
    for tile in range(NUM_TILES):
        if s.crop[tile] < 0:
            continue
        dry = tile_value(s, t, w, tile, seat)
        if s.cloud[tile] == _NO_CLOUD or not takes_drops(s, tile):
            value += dry
            continue
        chance = rain if s.cloud[tile] == _THUNDER else rain * frost
        chance += (1.0 - chance) * falls
        for owner in range(s.owners):
            s.drops[tile, owner] += s.cloud_drops[tile, owner]
        value += (1.0 - chance) * dry + chance * tile_value(s, t, w, tile, seat)
        for owner in range(s.owners):
            s.drops[tile, owner] -= s.cloud_drops[tile, owner]
        most_own = max(most_own, int(s.cloud_drops[tile, seat]))
        others_doubled += drops_in_cloud(s, tile) - s.cloud_drops[tile, seat]
    if s.players > 1:  # each other player doubles one cloud, the neutral player all of them
        others_doubled = 0.0
    value += w.doubled * sun * (min(most_own, int(s.supply[seat])) - others_doubled)
    return value * w.later ** (s.rounds - s["round"])


@rule
def tile_value(s: State, t: State, w: State, tile: int, seat: int) -> float:
    """The margin that a harvest of this tile would bring `seat`, less for a tile that does not grow yet."""
    total = drops_on(s, tile)
    if total == 0:
        return 0.0
    margin = expected_points(s, t, w, tile, seat)
    strongest = 0
    for other in range(s.owners):
        if other != seat:
            margin -= expected_points(s, t, w, tile, other) / (s.owners - 1)
            strongest = max(strongest, int(s.drops[tile, other]))
    missing = max(0, int(t.drops_to_grow[s.crop[tile]]) - total)
    margin *= w.short**missing
    return margin + w.lead * max(-_MAX_LEAD, min(_MAX_LEAD, int(s.drops[tile, seat]) - strongest))


@rule
def expected_points(s: State, t: State, w: State, tile: int, owner: int) -> float:
    if s.drops[tile, owner] == 0:
        return 0.0
    crop = int(s.crop[tile])
    drowned = crop == _CACTUS and drops_on(s, tile) >= t.drops_to_drown
    points = float(tile_points(s, t, tile, owner, _DROWNED if drowned else _DEVELOPED))
    if crop in (_COFFEE, _RICE) and s.growing[tile] != _DEVELOPED:
        sprouting = float(tile_points(s, t, tile, owner, _SPROUTING))
        points = w.develops * points + (1.0 - w.develops) * sprouting
    if crop == _WHEAT and place(s, tile, owner) == 1:
        points += w.token
    return points


@rule
def space_chance(s: State, space: int) -> float:
    """A guess from the votes so far whether this weather space will be resolved in this round."""
    if s.phase != _ACTION:
        return _SPACE_CHANCES[2]
    if s["round"] == s.rounds and votes_on(s, space) > 0:
        return 1.0
    above = 0
    for other in range(NUM_KINDS):
        if votes_on(s, other) > votes_on(s, space):
            above += 1
    return _SPACE_CHANCES[above]


@rule
def vote_value(s: State, t: State, w: State, seat: int) -> float:
    """What the weather votes promise in Voting Wins."""
    value = 0.0
    for space in range(NUM_KINDS):
        strongest = 0
        rival = seat
        for other in range(s.owners):
            if other != seat and s.votes[space, other] > strongest:
                strongest, rival = int(s.votes[space, other]), other
        ahead = int(s.votes[space, seat]) - strongest
        if ahead > 0:
            value += space_chance(s, space) * ahead / (ahead + 1.0) * next_win(s, t, w, seat)
        elif ahead < 0:
            value += space_chance(s, space) * ahead / (1.0 - ahead) * next_win(s, t, w, rival) / (s.owners - 1)
    return value


@rule
def next_win(s: State, t: State, w: State, seat: int) -> float:
    """A Voting Win: its points on the track, plus that later ones are worth more."""
    last = t.voting_wins.shape[0] - 1
    wins = int(s.voting_wins[seat])
    return w.win + t.voting_wins[min(wins + 1, last)] - t.voting_wins[min(wins, last)]


@rule
def hand_value(s: State, w: State, seat: int) -> float:
    """Cards in hand, and as many for each round to come as solo deals, so that a new hand is no reason to pass."""
    value = 8 * w.card * (s.rounds - s["round"])
    if s.players == 1 and s.passed == seat:
        return value
    for kind in range(NUM_KINDS):
        value += w.card * s.hand[seat, kind]
        if s.hand[seat, kind] > 0:
            value += w.kind
    return value


def warm_up() -> None:
    """Compile the search where the cache lacks it (about half a minute, once): for what cannot wait later."""
    batch = Batch(num_games=1, seed=0)
    GreedyAgent().act(Decisions.of(batch), batch.generator)
