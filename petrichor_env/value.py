"""What a position looks like to a player: points, and points that drops, clouds and votes promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from petrichor_env.rules.fields import drops_in_cloud, drops_on, takes_drops
from petrichor_env.rules.forecasts import forecasts_held
from petrichor_env.rules.points import place
from petrichor_env.rules.scoring import tile_points
from petrichor_env.rules.voting import votes_on
from petrichor_env.state import (
    NUM_KINDS,
    NUM_TILES,
    Cloud,
    Crop,
    Decision,
    Growing,
    Phase,
    State,
)
from petrichor_env.tables import Tables
from tabletop.compiled import rule
from tabletop.defaults import points_margin

WEIGHTS: dict[str, float] = {
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

_SPACE_CHANCES = (0.95, 0.8, 0.3, 0.1)  # that a weather space is resolved, by spaces with more votes
_NO_GUESS = 0.3
_MAX_LEAD = 3


@rule
def position_value(s: State, t: Tables, w: Any, seat: int, memo: np.ndarray) -> float:
    """How many points `seat` is ahead of the mean of the others, now and by what may be expected.

    `memo` is a `new_memo`, good for all positions of one game with the same weights.
    """
    margin = points_margin(s, seat)
    if s.phase == Phase.OVER:
        return margin
    chances = space_chances(s)
    margin += field_value(s, t, w, seat, chances, memo) + vote_value(s, t, w, seat, chances) + hand_value(s, w, seat)
    margin += w.forecast * max(0, forecasts_held(s, seat) - 1)
    if s.players == 1 and s.decision == Decision.OPTIONAL_ACTION:
        margin -= w.neutral_turn
    return margin


@rule
def field_value(
    s: State, t: Tables, w: Any, seat: int, chances: tuple[float, float, float, float], memo: np.ndarray
) -> float:
    """What the tiles promise, as they are and with what the clouds above may drop on them."""
    frost, sun, _, rain = chances
    falls = w.falls if s.round < s.rounds else 0.0
    value = 0.0
    most_own = 0
    others_doubled = 0.0
    for tile in range(NUM_TILES):
        if s.crop[tile] < 0:
            continue
        dry, wet = tile_values(s, t, w, tile, seat, memo)
        if s.cloud[tile] == Cloud.NONE or not takes_drops(s, tile):
            value += dry
            continue
        chance = rain if s.cloud[tile] == Cloud.THUNDER else rain * frost
        chance += (1.0 - chance) * falls
        value += (1.0 - chance) * dry + chance * wet
        most_own = max(most_own, int(s.cloud_drops[tile, seat]))
        others_doubled += drops_in_cloud(s, tile) - s.cloud_drops[tile, seat]
    if s.players > 1:  # each other player doubles one cloud, the neutral player all of them
        others_doubled = 0.0
    value += w.doubled * sun * (min(most_own, int(s.supply[seat])) - others_doubled)
    for _ in range(s.rounds - s.round):
        value *= w.later
    return value


# Positions that a search meets have most of their tiles in common: what a tile promises is looked up where it can be.
MEMO = np.dtype([("first", np.uint64), ("second", np.uint64), ("dry", np.float64), ("wet", np.float64)])
_MEMO_BITS = 11
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BITS_A_COUNT = 6


def new_memo() -> np.ndarray:
    """For `position_value`: nothing is known yet."""
    return np.zeros(1 << _MEMO_BITS, MEMO)  # no tile has the key 0, 0


@rule
def tile_values(s: State, t: Tables, w: Any, tile: int, seat: int, memo: np.ndarray) -> tuple[float, float]:
    """`tile_value` of the tile as it is, and with the drops of the cloud above, where there is one."""
    if s.crop[tile] == Crop.DANDELION:  # its points depend on other tiles
        return new_tile_values(s, t, w, tile, seat)
    drops, in_cloud = np.int64(0), np.int64(0)
    for owner in range(s.owners):
        drops = drops << _BITS_A_COUNT | np.int64(s.drops[tile, owner])
        in_cloud = in_cloud << _BITS_A_COUNT | np.int64(s.cloud_drops[tile, owner])
    kind = np.int64(s.crop[tile]) << 2 | np.int64(s.growing[tile])
    tokens = (np.int64(s.blooms[tile]) << 1 | np.int64(s.fertilizer[tile])) << 1 | np.int64(s.pods[tile])
    first = np.uint64(drops << 30 | in_cloud)
    second = np.uint64(
        (((tokens << 6 | kind) << 3 | np.int64(seat)) << 3 | np.int64(s.owners)) << 2 | np.int64(s.cloud[tile])
    )
    entry = memo[((first ^ (second << np.uint64(40))) * _MIX ^ second * _MIX) >> np.uint64(64 - _MEMO_BITS)]
    if entry.first != first or entry.second != second:
        entry.dry, entry.wet = new_tile_values(s, t, w, tile, seat)
        entry.first = first
        entry.second = second
    return entry.dry, entry.wet


@rule
def new_tile_values(s: State, t: Tables, w: Any, tile: int, seat: int) -> tuple[float, float]:
    """`tile_values` without looking it up."""
    dry = tile_value(s, t, w, tile, seat)
    if s.cloud[tile] == Cloud.NONE or not takes_drops(s, tile):
        return dry, dry
    for owner in range(s.owners):
        s.drops[tile, owner] += s.cloud_drops[tile, owner]
    wet = tile_value(s, t, w, tile, seat)
    for owner in range(s.owners):
        s.drops[tile, owner] -= s.cloud_drops[tile, owner]
    return dry, wet


@rule
def tile_value(s: State, t: Tables, w: Any, tile: int, seat: int) -> float:
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
def expected_points(s: State, t: Tables, w: Any, tile: int, owner: int) -> float:
    """Points that a Harvest of this tile would bring `owner`, Wheat tokens and unfinished growing guessed in points."""
    if s.drops[tile, owner] == 0:
        return 0.0
    crop = int(s.crop[tile])
    drowned = crop == Crop.CACTUS and drops_on(s, tile) >= t.drops_to_drown
    points = float(tile_points(s, t, tile, owner, Growing.DROWNED if drowned else Growing.DEVELOPED))
    if crop in (Crop.COFFEE, Crop.RICE) and s.growing[tile] != Growing.DEVELOPED:
        sprouting = float(tile_points(s, t, tile, owner, Growing.SPROUTING))
        points = w.develops * points + (1.0 - w.develops) * sprouting
    if crop == Crop.WHEAT and place(s, tile, owner) == 1:
        points += w.token
    return points


@rule
def space_chances(s: State) -> tuple[float, float, float, float]:
    """A guess from the votes so far which weather spaces will be resolved in this round."""
    if s.phase != Phase.ACTION:
        return _NO_GUESS, _NO_GUESS, _NO_GUESS, _NO_GUESS
    votes = votes_on(s, 0), votes_on(s, 1), votes_on(s, 2), votes_on(s, 3)
    last = s.round == s.rounds
    return (
        space_chance(votes, votes[0], last),
        space_chance(votes, votes[1], last),
        space_chance(votes, votes[2], last),
        space_chance(votes, votes[3], last),
    )


@rule
def space_chance(votes: tuple[int, int, int, int], own: int, last: bool) -> float:
    """The same of one space with `own` votes, by how many spaces have more; `last` is the final round."""
    if last and own > 0:
        return 1.0
    above = 0
    for other in votes:
        if other > own:
            above += 1
    return _SPACE_CHANCES[above]


@rule
def vote_value(s: State, t: Tables, w: Any, seat: int, chances: tuple[float, float, float, float]) -> float:
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
            value += chances[space] * ahead / (ahead + 1.0) * next_win(s, t, w, seat)
        elif ahead < 0:
            value += chances[space] * ahead / (1.0 - ahead) * next_win(s, t, w, rival) / (s.owners - 1)
    return value


@rule
def next_win(s: State, t: Tables, w: Any, seat: int) -> float:
    """A Voting Win: its points on the track, plus that later ones are worth more."""
    last = t.voting_wins.shape[0] - 1
    wins = int(s.voting_wins[seat])
    return w.win + t.voting_wins[min(wins + 1, last)] - t.voting_wins[min(wins, last)]


@rule
def hand_value(s: State, w: Any, seat: int) -> float:
    """Cards in hand, and as many for each round to come as solo deals, so that a new hand is no reason to pass."""
    value = 8 * w.card * (s.rounds - s.round)
    if s.players == 1 and s.passed == seat:
        return value
    for kind in range(NUM_KINDS):
        value += w.card * s.hand[seat, kind]
        if s.hand[seat, kind] > 0:
            value += w.kind
    return value


@rule
def is_settled(s: State, seat: int) -> bool:
    """Whether the action is done: a new choice of what to play, another player's decision, or the end."""
    return bool(
        s.phase == Phase.OVER
        or s.actor != seat
        or s.decision == Decision.TURN
        or s.decision == Decision.OPTIONAL_ACTION
    )
