"""End of Round, End of Season, End of Game."""

from __future__ import annotations

import numpy as np

from evergreen_env.rules.planet import largest_forest, light_points, trees_and_bushes
from evergreen_env.state import NO_CARD, NOBODY, NUM_BIOMES, NUM_POWERS, NUM_SUNS, Season, Source, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import count_bits
from tabletop_engine.parts.sets import only
from tabletop_engine.parts.turns import seat_after

_0 = np.uint64(0)


@rule
def end_round(s: State) -> None:
    """After all turns: show the planets, and put the cards aside until the season ends."""
    for seat in range(s.players):
        show(s, seat)
        score(s, seat, Source.BUDS, s.earned[seat])
        s.earned[seat] = 0
        s.finished[seat] = 0
        if s.card[seat] != NO_CARD:
            s.collected |= only(s.card[seat])
        s.card[seat] = NO_CARD


@rule
def show(s: State, seat: int) -> None:
    """Make the player's turn public."""
    s.shown_sprouts[seat] = s.sprouts[seat]
    s.shown_small_trees[seat] = s.small_trees[seat]
    s.shown_big_trees[seat] = s.big_trees[seat]
    s.shown_bushes[seat] = s.bushes[seat]
    s.shown_lakes[seat] = s.lakes[seat]
    for power in range(NUM_POWERS):
        s.shown_level[seat, power] = s.level[seat, power]


@rule
def score(s: State, seat: int, source: int, points: int) -> None:
    """Add points of this source."""
    s.points[seat] += points
    s.scored[seat, source] += points


@rule
def begin_round(s: State, t: Tables) -> None:
    """The player who took the marked card is first; if nobody did, the first player stays, or with a flag the next."""
    s.round += 1
    if s.next_first != NOBODY:
        s.first_player = s.next_first
    elif t.next_player_first == 1:
        s.first_player = seat_after(s, s.first_player, 1)


@rule
def is_last_round_of_season(s: State, t: Tables) -> bool:
    """Whether the season ends with this round."""
    rounds = 0
    for season in range(s.season + 1):
        rounds += int(t.season_rounds[season])
    return s.round == rounds


@rule
def end_season(s: State, t: Tables) -> None:
    """Points for light and for the largest forest; the collected cards are discarded, and the sun moves on."""
    for seat in range(s.players):
        score(s, seat, Source.LIGHT, light_points(s.small_trees[seat], s.big_trees[seat], s.sun))
        score(s, seat, Source.FOREST, count_bits(largest_forest(trees_and_bushes(s, seat))))
    s.discards |= s.collected
    s.collected = _0
    if t.reshuffles_each_season == 1:
        s.deck |= s.discards
        s.discards = _0
    if s.season < Season.WINTER:
        s.season += 1
        s.sun = (s.sun + 1) % NUM_SUNS


@rule
def score_fertility(s: State, t: Tables) -> None:
    """At the end each big tree brings the fertility of its biome."""
    for seat in range(s.players):
        score(s, seat, Source.FERTILITY, fertility_points(s, t, s.big_trees[seat]))


@rule
def fertility_points(s: State, t: Tables, big_trees: np.uint64) -> int:
    """For each big tree the fertility of its biome."""
    points = 0
    for biome in range(NUM_BIOMES):
        points += s.fertility[biome] * count_bits(big_trees & t.biome[biome])
    return points


@rule
def ranks(s: State, out: np.ndarray) -> None:
    """The most points win; of players with equal points, the earlier one in the last round's order."""
    players = min(int(s.players), out.shape[0])
    for seat in range(players):
        out[seat] = 1
        for other in range(players):
            out[seat] += is_ahead(s, other, seat)


@rule
def is_ahead(s: State, seat: int, other: int) -> bool:
    """Whether a finished game puts one seat before another: by points, then by the last round's order."""
    if s.points[seat] == s.points[other]:
        return order_of(s, seat) < order_of(s, other)
    return bool(s.points[seat] > s.points[other])


@rule
def order_of(s: State, seat: int) -> int:
    """The seat's place in this round's order, from 0."""
    return (seat - s.first_player) % s.players
