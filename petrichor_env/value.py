"""The evaluation of positions for searches: points, and points to expect from drops, clouds and votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from petrichor_env.rules.fields import drops_in_cloud, drops_on, takes_drops
from petrichor_env.rules.forecasts import forecasts_held
from petrichor_env.rules.points import place
from petrichor_env.rules.scoring import tile_points
from petrichor_env.rules.voting import votes_on
from petrichor_env.state import (
    MAX_PLAYERS,
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
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import points_margin

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

_SPACE_CHANCES = np.array([0.95, 0.8, 0.3, 0.1])  # that a weather space is resolved, by spaces with more votes
_NO_GUESS = 0.3
_MAX_LEAD = 3


@rule
def position_value(s: State, t: Tables, w: Any, seat: int, memo: np.ndarray) -> float:
    """The expected margin of `seat`: its points minus the mean of the others', with the points that all can expect.

    `memo` comes from `new_memo`. It serves all positions of games with the same weights and the same tables of
    editions.
    """
    margin = points_margin(s, seat)
    if s.phase == Phase.OVER:
        return margin
    promise = votes_promise(s, t, w, seat, memo[0])
    margin += field_value(s, t, w, seat, promise, memo[0]) + promise.wins + hand_value(s, w, seat)
    margin += w.forecast * max(0, forecasts_held(s, seat) - 1)
    if s.players == 1 and s.decision == Decision.OPTIONAL_ACTION:
        margin -= w.neutral_turn
    return margin


@rule
def field_value(s: State, t: Tables, w: Any, seat: int, promise: Any, memo: Any) -> float:
    """The points to expect from the tiles as they are, and with the drops that may fall from the clouds above."""
    value = 0.0
    most_own = 0
    others_doubled = 0.0
    alone = s.players == 1
    whose = (np.uint64(seat) << np.uint64(3) | np.uint64(s.owners)) << np.uint64(56)
    edition = np.uint64(s.edition) << np.uint64(48)
    # for all tiles first, without a branch: so the processor does many at once
    for tile in range(NUM_TILES):
        memo.about[tile] = about_tile(s, tile)
        memo.falling[tile] = int(s.cloud[tile]) * int(takes_drops(s, tile))
    for tile in range(NUM_TILES):
        if s.crop[tile] < 0:
            continue
        dry, wet = tile_values(s, t, w, tile, seat, memo, whose, edition)
        # a table and not a branch: clouds are practically random, so the processor would often guess wrong
        cloud = memo.falling[tile]
        chance = promise.falls[cloud]
        value += (1.0 - chance) * dry + chance * wet
        most_own = max(most_own, int(s.cloud_drops[tile, seat]) * int(cloud > 0))
        if alone and cloud > 0:  # the neutral player doubles all its clouds, any other player only one
            others_doubled += drops_in_cloud(s, tile) - s.cloud_drops[tile, seat]
    value += w.doubled * promise.sun * (min(most_own, int(s.supply[seat])) - others_doubled)
    for _ in range(s.rounds - s.round):
        value *= w.later
    return value


# Positions in a search have most of their tiles in common, so the values of tiles are kept in a table.
TILE = np.dtype([("first", np.uint64), ("second", np.uint64), ("dry", np.float64), ("wet", np.float64)])
_TILES_BITS = 13
# The same for the votes, which most decisions don't change.
VOTES = np.dtype(
    [
        ("key", np.uint64, (6,)),
        ("falls", np.float64, (len(Cloud),)),  # chance that the drops of such a cloud come down; 0 where there is none
        ("sun", np.float64),  # chance of Sun weather
        ("wins", np.float64),  # what the votes promise in Voting Wins
    ]
)
_VOTES_BITS = 9
MEMO = np.dtype(
    [
        ("tiles", TILE, (1 << _TILES_BITS,)),
        ("votes", VOTES, (1 << _VOTES_BITS,)),
        # of the position that is valued
        ("about", np.int16, (NUM_TILES,)),  # `about_tile`
        ("falling", np.uint8, (NUM_TILES,)),  # the Cloud whose drops would stay on the tile, or NONE
    ]
)
_MIX = np.uint64(0x9E3779B97F4A7C15)


def new_memo() -> np.ndarray:
    """An empty memo for `position_value`."""
    return np.zeros(1, MEMO)  # no tile and no votes have a key of zeros


@rule
def tile_values(
    s: State, t: Tables, w: Any, tile: int, seat: int, memo: Any, whose: np.uint64, edition: np.uint64
) -> tuple[float, float]:
    """`tile_value` of the tile as it is, and with the drops of the cloud above if there is one.

    The key is all that they depend on, with a byte for each owner's drops. `whose` and `edition` are its parts that all
    tiles share.
    """
    if s.crop[tile] == Crop.DANDELION:  # its points depend on other tiles
        return new_tile_values(s, t, w, tile, seat)
    first = whose | np.uint64(memo.about[tile]) << np.uint64(40) | by_owner(s.drops[tile])
    second = edition | by_owner(s.cloud_drops[tile])
    # counts are small: moved by four bits, those of the cloud lie beside those of the tile
    entry = memo.tiles[((first ^ second << np.uint64(4)) * _MIX) >> np.uint64(64 - _TILES_BITS)]
    if entry.first != first or entry.second != second:
        entry.dry, entry.wet = new_tile_values(s, t, w, tile, seat)
        entry.first = first
        entry.second = second
    return entry.dry, entry.wet


@rule
def about_tile(s: State, tile: int) -> int:
    """Everything on a tile but drops, as one number."""
    kind = int(s.crop[tile]) << 9 | int(s.blooms[tile]) << 6 | int(s.cloud[tile]) << 2 | int(s.growing[tile])
    return kind | int(s.pods[tile]) << 5 | int(s.fertilizer[tile]) << 4


@rule
def by_owner(counts: np.ndarray) -> np.uint64:
    """The counts as the bytes of one number. Written out, it compiles to two loads."""
    return (
        one_byte(counts[0])
        | one_byte(counts[1]) << np.uint64(8)
        | one_byte(counts[2]) << np.uint64(16)
        | one_byte(counts[3]) << np.uint64(24)
    ) | one_byte(counts[4]) << np.uint64(32)


@rule
def one_byte(count: int) -> np.uint64:
    """A count as one byte."""
    return np.uint64(count) & np.uint64(0xFF)


@rule
def new_tile_values(s: State, t: Tables, w: Any, tile: int, seat: int) -> tuple[float, float]:
    """`tile_values`, computed without the memo."""
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
        if other != seat and s.drops[tile, other] > 0:
            margin -= expected_points(s, t, w, tile, other) / (s.owners - 1)
            strongest = max(strongest, int(s.drops[tile, other]))
    missing = max(0, int(t.drops_to_grow[s.crop[tile]]) - total)
    margin *= w.short**missing
    return margin + w.lead * max(-_MAX_LEAD, min(_MAX_LEAD, int(s.drops[tile, seat]) - strongest))


@rule
def expected_points(s: State, t: Tables, w: Any, tile: int, owner: int) -> float:
    """The points of `owner` for a Harvest of this tile, with guesses for Wheat tokens and for unfinished growing."""
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
def votes_promise(s: State, t: Tables, w: Any, seat: int, memo: Any) -> Any:
    """A record of VOTES: the chances and points to expect from the votes on the weather wheel."""
    when = (np.uint64(s.phase) << np.uint64(8) | np.uint64(s.round)) << np.uint64(8) | np.uint64(seat) + np.uint64(1)
    wins = np.uint64(s.edition) << np.uint64(40) | by_owner(s.voting_wins)
    frost, sun, wind, rain = by_owner(s.votes[0]), by_owner(s.votes[1]), by_owner(s.votes[2]), by_owner(s.votes[3])
    mixed = (((frost * _MIX ^ sun) * _MIX ^ wind) * _MIX ^ rain) * _MIX
    promise = memo.votes[((mixed ^ wins ^ when) * _MIX) >> np.uint64(64 - _VOTES_BITS)]
    key = promise.key
    if key[0] != frost or key[1] != sun or key[2] != wind or key[3] != rain or key[4] != wins or key[5] != when:
        key[0], key[1], key[2], key[3], key[4], key[5] = frost, sun, wind, rain, wins, when
        chances = space_chances(s)
        falls = w.falls if s.round < s.rounds else 0.0
        frozen = chances[3] * chances[0]
        promise.falls[Cloud.LIGHT] = frozen + (1.0 - frozen) * falls
        promise.falls[Cloud.THUNDER] = chances[3] + (1.0 - chances[3]) * falls
        promise.sun = chances[1]
        promise.wins = vote_value(s, t, w, seat, chances)
    return promise


@rule
def space_chances(s: State) -> tuple[float, float, float, float]:
    """The chances of the weather spaces to be resolved in this round, guessed from the votes so far."""
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
    """The chance of one space with `own` votes, by the number of spaces with more votes. `last` is the final round."""
    if last and own > 0:
        return 1.0
    above = 0
    for other in votes:
        if other > own:
            above += 1
    return float(_SPACE_CHANCES[above])


@rule
def vote_value(s: State, t: Tables, w: Any, seat: int, chances: tuple[float, float, float, float]) -> float:
    """The points to expect from Voting Wins by the weather votes."""
    value = 0.0
    for space in range(NUM_KINDS):
        strongest = 0
        rival = seat
        for other in range(MAX_PLAYERS):
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
    """The value of a Voting Win: its points on the track, and more because later wins are worth more."""
    last = t.voting_wins.shape[0] - 1
    wins = int(s.voting_wins[seat])
    return w.win + t.voting_wins[min(wins + 1, last)] - t.voting_wins[min(wins, last)]


@rule
def hand_value(s: State, w: Any, seat: int) -> float:
    """The value of cards in hand. Future rounds count as many as solo deals, so a new hand is no reason to pass."""
    value = 8 * w.card * (s.rounds - s.round)
    if s.players == 1 and s.passed == seat:
        return value
    for kind in range(NUM_KINDS):
        value += w.card * s.hand[seat, kind]
        value += w.kind if s.hand[seat, kind] > 0 else 0.0
    return value


@rule
def is_settled(s: State, seat: int) -> bool:
    """Whether the action is complete: next is a new choice of what to play, another player's decision, or the end."""
    return bool(
        s.phase == Phase.OVER
        or s.actor != seat
        or s.decision == Decision.TURN
        or s.decision == Decision.OPTIONAL_ACTION
    )
