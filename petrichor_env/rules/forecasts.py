"""Flowers, Carte Previsione: three forecast cards a player, two of which may be played, each at its own time.

Cards 1 to 9 have a point on the timeline, at which the holders of playable cards are asked. Cards 10 to 16 are played
as a turn. `s.forecast` is the card during its effect. No card has an effect on the Lake.
"""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import DECLINE, DIRECTION, DROP, FORECAST, TILE, VOTE
from petrichor_env.rules.asking import clockwise, drop_action, owner_of, seat_of
from petrichor_env.rules.clouds import add_to_cloud, clouds_left, move_cloud, new_cloud, pour, settle_clouds
from petrichor_env.rules.fields import (
    drops_in_cloud,
    drops_on,
    fall,
    has_cloud,
    is_closed,
    is_free,
    neighbour,
    takes_drops,
)
from petrichor_env.rules.growing import check_growing, move_drop, put_drop
from petrichor_env.rules.points import gain
from petrichor_env.rules.voting import can_vote_on, cast_vote
from petrichor_env.state import (
    HARVEST,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NUM_FORECASTS,
    NUM_KINDS,
    NUM_TILES,
    PLAYED,
    Crop,
    Decision,
    Module,
    Source,
    State,
    Timing,
)
from petrichor_env.tables import Tables
from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing

DEALT = 3
"""The number of forecast cards of a player. The last one is discarded with the second one that is played."""


TIMINGS = np.zeros(NUM_FORECASTS + 1, np.int8)
"""The point of the timeline at which each card is played, by its number; from 10 on the Action Phase."""
TIMINGS[[1, 3]] = Timing.BEFORE_HARVEST
TIMINGS[[2, 4]] = Timing.AFTER_HARVEST
TIMINGS[5] = Timing.START_OF_WEATHER
TIMINGS[[6, 9]] = Timing.BEFORE_RAIN
TIMINGS[7] = Timing.SUN_TURN
TIMINGS[8] = Timing.BEFORE_WIND

DROPS_NEEDED = np.zeros(NUM_FORECASTS + 1, np.int8)
"""Drops from the supply, by card number, for the cards that need a fixed number of them."""
DROPS_NEEDED[[4, 9, 10, 12, 16]] = 2, 1, 1, 3, 3

_MOST_IN_CLOUD = 4  # card 12
MOVED_UP = 3  # card 11
_FREE_DROPS = 3  # card 2: a point for each drop beyond
_SUN_DROPS = 2  # card 7
DICE_POINTS = 3  # card 13


@rule
def deal_forecasts(s: State) -> None:
    """Deal three cards to each player, hidden from the others."""
    if s.modules[Module.FORECASTS] == 0:
        return
    left = NUM_FORECASTS
    for i in range(DEALT * s.players):
        skip = random_below(s, left)
        for card in range(NUM_FORECASTS):
            if s.forecast_holder[card] == NOBODY:
                if skip == 0:
                    s.forecast_holder[card] = clockwise(s, i // DEALT)
                    break
                skip -= 1
        left -= 1


@rule
def forecasts_held(s: State, seat: int) -> int:
    """Forecast cards in a player's hand."""
    if s.modules[Module.FORECASTS] == 0:
        return 0
    held = 0
    for card in range(NUM_FORECASTS):
        if s.forecast_holder[card] == seat:
            held += 1
    return held


# --- When a card can be played ---------------------------------------------------------------------------------------


@rule
def continue_forecasts(s: State, t: Tables, timing: int) -> bool:
    """Ask the next holder, from the first player on, of a card that can be played at this point of the timeline."""
    if s.modules[Module.FORECASTS] == 0:
        return False
    if s.timing < timing:
        s.timing = timing
        s.timing_index = 0
    while s.timing_index < s.players:
        seat = clockwise(s, s.timing_index)
        if has_playable_forecast(s, t, seat, timing):
            ask(s, Decision.FORECAST, seat)
            return True
        s.timing_index += 1
    return False


@rule
def continue_sun_forecast(s: State, t: Tables, seat: int) -> bool:
    """Ask the player of this Sun weather turn, until that player declines or has no card to play."""
    if s.modules[Module.FORECASTS] == 0:
        return False
    if s.timing < Timing.SUN_TURN:
        s.timing = Timing.SUN_TURN
        s.timing_index = 0
    if s.timing_index > s.turn_index:
        return False
    if has_playable_forecast(s, t, seat, Timing.SUN_TURN):
        s.timing_index = s.turn_index
        ask(s, Decision.FORECAST, seat)
        return True
    s.timing_index = s.turn_index + 1
    return False


@rule
def has_playable_forecast(s: State, t: Tables, seat: int, timing: int) -> bool:
    """Whether the player can play a forecast card at this point of the timeline."""
    for number in range(1, NUM_FORECASTS + 1):
        if can_play(s, t, seat, number, timing):
            return True
    return False


@rule
def can_play(s: State, t: Tables, seat: int, number: int, timing: int) -> bool:
    """Whether the player holds this card, it belongs here, and it changes anything."""
    return s.forecast_holder[number - 1] == seat and TIMINGS[number] == timing and is_playable(s, t, seat, number)


@rule
def allow_forecasts(s: State, t: Tables, timing: int) -> None:
    """Forecast cards that the actor can play at this point of the timeline."""
    if s.modules[Module.FORECASTS] == 0:
        return
    for number in range(1, NUM_FORECASTS + 1):
        if can_play(s, t, s.actor, number, timing):
            allow(s, FORECAST + number - 1)


@rule
def allow_forecast(s: State, t: Tables) -> None:
    """A playable forecast card, or none."""
    allow(s, DECLINE)
    allow_forecasts(s, t, s.timing)


@rule
def is_playable(s: State, t: Tables, seat: int, number: int) -> bool:
    """Whether the card changes anything: it has a target, and the supply has the drops that it asks for."""
    if number == 1:
        return tiles_with_own_drops(s, seat) > 0
    if number == 3:
        return has_counting_cloud(s, seat)
    if number == 5:
        return can_vote(s, seat)
    if number == 7:
        clouds = clouds_to_fill(s, seat, True)
        return clouds > 0 and 2 * clouds <= s.supply[seat]
    if number == 13:
        return True
    if number == 14:
        clouds = clouds_to_fill(s, seat, False)
        return 0 < clouds <= s.supply[seat]
    if s.supply[seat] < DROPS_NEEDED[number] or (number in (4, 16) and clouds_left(s, t) == 0):
        return False
    for tile in range(NUM_TILES):
        if s.crop[tile] >= 0 and is_target(s, tile, seat, number):
            return True
    return False


@rule
def is_target(s: State, tile: int, seat: int, number: int) -> bool:
    """Whether the card can be used on this tile of the field, or on the cloud above it."""
    if s.crop[tile] == Crop.LAKE:
        return False
    if number == 2:
        return bool(s.scored_drops[tile, seat] > _FREE_DROPS)
    if number in (4, 16):
        return is_free(s, tile)
    if number == 6:
        return has_cloud(s, tile) and not is_closed(s, tile)
    if number == 8:
        return bool(s.drops[tile, seat] > 0 and can_leave(s, tile))
    if number == 9:
        return takes_drops(s, tile)
    if number == 11:
        return bool(has_cloud(s, tile) and drops_on(s, tile) >= MOVED_UP)
    if number == 12:
        return bool(has_cloud(s, tile) and drops_in_cloud(s, tile) <= _MOST_IN_CLOUD)
    return has_cloud(s, tile)  # 10, 15


@rule
def can_leave(s: State, tile: int) -> bool:
    """Card 8: whether drops can leave this tile in any direction."""
    for direction in range(4):
        if is_way_out(s, tile, direction):
            return True
    return False


@rule
def is_way_out(s: State, tile: int, direction: int) -> bool:
    """Whether drops can go from this tile in that direction."""
    other = neighbour(s, tile, direction)
    return other != NO_TILE and takes_drops(s, other)


@rule
def tiles_with_own_drops(s: State, seat: int) -> int:
    """The number of tiles with a drop of this player."""
    tiles = 0
    for tile in range(NUM_TILES):
        if s.drops[tile, seat] > 0:
            tiles += 1
    return tiles


@rule
def has_counting_cloud(s: State, seat: int) -> bool:
    """Card 3: whether drops of this player in any cloud would count."""
    for tile in range(NUM_TILES):
        if s.cloud_drops[tile, seat] > 0 and counts_on(s, tile):
            return True
    return False


@rule
def can_vote(s: State, seat: int) -> bool:
    """Whether the player can vote on any weather space."""
    for space in range(NUM_KINDS):
        if can_vote_on(s, seat, space):
            return True
    return False


@rule
def clouds_to_fill(s: State, seat: int, own: bool) -> int:
    """Clouds off the Lake in which the player is present (`own`) or not."""
    clouds = 0
    for tile in range(NUM_TILES):
        if is_to_fill(s, tile, seat, own):
            clouds += 1
    return clouds


@rule
def is_to_fill(s: State, tile: int, seat: int, own: bool) -> bool:
    """Whether `fill_clouds` adds to the cloud above this tile."""
    return has_cloud(s, tile) and s.crop[tile] != Crop.LAKE and (s.cloud_drops[tile, seat] > 0) == own


# --- Playing a card --------------------------------------------------------------------------------------------------


@rule
def choose_forecast(s: State, t: Tables, action: int) -> None:
    """Answers FORECAST."""
    if action != DECLINE:
        play_forecast(s, t, action - FORECAST + 1)
        return
    s.timing_index += 1
    ask_nothing(s)


@rule
def play_forecast(s: State, t: Tables, number: int) -> None:
    """Discard the card (and, after a player's second, the third too); then apply its effect, up to a choice."""
    seat = s.actor
    s.forecast_holder[number - 1] = PLAYED
    if forecasts_held(s, seat) == 1:
        for card in range(NUM_FORECASTS):
            if s.forecast_holder[card] == seat:
                s.forecast_holder[card] = PLAYED
    s.forecast = number
    ask_nothing(s)
    if number == 1:
        gain(s, seat, tiles_with_own_drops(s, seat), Source.CARDS)
    elif number == 3:
        s.counts_clouds[seat] = 1
    elif number == 5:
        ask(s, Decision.FORECAST_VOTE, seat)
    elif number == 7:
        fill_clouds(s, t, True, _SUN_DROPS)
        s.turn_index += 1  # the card replaces this player's Sun turn
        s.timing_index = s.turn_index
    elif number in (8, 11):
        if number == 11:
            s.choices_left = MOVED_UP
        ask(s, Decision.FORECAST_DROP, seat)
    elif number == 13:
        for die in range(3):
            s.dice[die] = HARVEST
        gain(s, seat, DICE_POINTS, Source.CARDS)
    elif number == 14:
        fill_clouds(s, t, False, 1)
    elif number == 15:
        ask_next_rain(s)
    else:
        ask(s, Decision.FORECAST_TILE, seat)


@rule
def end_forecast(s: State) -> None:
    """The forecast card has had its effect."""
    s.forecast = 0
    s.target = NO_TILE
    s.target_owner = NOBODY


@rule
def fill_clouds(s: State, t: Tables, own: bool, drops: int) -> None:
    """Put own drops into each cloud with own drops (`own`), or into each cloud without, as one effect."""
    for tile in range(NUM_TILES):
        if is_to_fill(s, tile, s.actor, own):
            add_to_cloud(s, tile, s.actor, drops)
    settle_clouds(s, t)


# --- Cards that choose a tile or a cloud -----------------------------------------------------------------------------


@rule
def allow_forecast_tile(s: State) -> None:
    """Targets of the card; for card 10, then the tiles to which the cloud can go."""
    for tile in range(NUM_TILES):
        if s.crop[tile] < 0:
            continue
        if s.target != NO_TILE:  # card 10: where the cloud goes
            if tile != s.target and s.crop[tile] != Crop.LAKE:
                allow(s, TILE + tile)
        elif is_target(s, tile, s.actor, s.forecast):
            allow(s, TILE + tile)


@rule
def choose_forecast_tile(s: State, t: Tables, action: int) -> None:
    """Answers FORECAST_TILE."""
    tile, seat, number = action - TILE, s.actor, s.forecast
    if number == 10 and s.target == NO_TILE:
        s.target = tile  # and asks again
        return
    ask_nothing(s)
    if number == 2:
        gain(s, seat, int(s.scored_drops[tile, seat]) - _FREE_DROPS, Source.CARDS)
    elif number in (4, 16):
        new_cloud(s, tile, seat, int(DROPS_NEEDED[number]))
    elif number == 6:
        pour(s, t, tile)
    elif number == 9:
        put_drop(s, t, tile, seat)
    elif number == 10:
        move_cloud(s, s.target, tile)
        add_to_cloud(s, tile, seat, 1)
        settle_clouds(s, t)
    else:
        add_to_cloud(s, tile, seat, int(DROPS_NEEDED[number]))
        settle_clouds(s, t)


# --- Cards that choose drops -----------------------------------------------------------------------------------------


@rule
def allow_forecast_drop(s: State) -> None:
    """Drops that the card can be used on."""
    seat, number = s.actor, s.forecast
    if number == 15:
        tile = next_raining_cloud(s)
        for owner in range(s.owners):
            if s.cloud_drops[tile, owner] > 0:
                allow(s, drop_action(s, DROP, tile, owner))
        return
    for tile in range(NUM_TILES):
        if s.crop[tile] < 0:
            continue
        if number == 8:
            if is_target(s, tile, seat, 8):
                allow(s, drop_action(s, DROP, tile, seat))
        elif tile == s.target or (s.target == NO_TILE and is_target(s, tile, seat, 11)):
            allow_drops_to_move_up(s, tile)


@rule
def allow_drops_to_move_up(s: State, tile: int) -> None:
    """Card 11: the next drop. Drops are named in the order of owners, from the player; enough must be left to name."""
    first = 0 if s.target_owner == NOBODY else owner_of(s, s.target_owner)
    available = 0
    for owner in range(s.owners - 1, first - 1, -1):
        seat = seat_of(s, owner)
        drops = int(s.drops[tile, seat]) - int(s.chosen_drops[seat])
        available += drops
        if drops > 0 and available >= s.choices_left:
            allow(s, DROP + tile * MAX_PLAYERS + owner)


@rule
def choose_forecast_drop(s: State, t: Tables, action: int) -> None:
    """Answers FORECAST_DROP."""
    tile = (action - DROP) // MAX_PLAYERS
    owner = seat_of(s, (action - DROP) % MAX_PLAYERS)
    s.target = tile
    if s.forecast == 8:
        s.target_owner = owner
        ask(s, Decision.FORECAST_DIRECTION, s.actor)
    elif s.forecast == 11:
        s.target_owner = owner
        s.chosen_drops[owner] += 1
        s.choices_left -= 1
        if s.choices_left == 0:
            move_up(s, t, tile)
    else:
        fall(s, tile, owner)
        check_growing(s, t, tile)
        settle_clouds(s, t)
        ask_next_rain(s)


@rule
def move_up(s: State, t: Tables, tile: int) -> None:
    """Card 11: all chosen drops together from the tile into the cloud above."""
    for seat in range(s.owners):
        s.drops[tile, seat] -= s.chosen_drops[seat]
        s.cloud_drops[tile, seat] += s.chosen_drops[seat]
        s.chosen_drops[seat] = 0
    check_growing(s, t, tile)
    settle_clouds(s, t)
    ask_nothing(s)


@rule
def next_raining_cloud(s: State) -> int:
    """Card 15: the next cloud after `s.target`, off the Lake; NO_TILE after the last."""
    for tile in range(s.target + 1, NUM_TILES):
        if has_cloud(s, tile) and s.crop[tile] != Crop.LAKE:
            return tile
    return NO_TILE


@rule
def ask_next_rain(s: State) -> None:
    """Card 15: ask for a drop of the next cloud, if there is one."""
    if next_raining_cloud(s) != NO_TILE:
        ask(s, Decision.FORECAST_DROP, s.actor)
    else:
        ask_nothing(s)


@rule
def allow_forecast_direction(s: State) -> None:
    """Directions in which the drops can go."""
    for direction in range(4):
        if is_way_out(s, s.target, direction):
            allow(s, DIRECTION + direction)


@rule
def choose_forecast_direction(s: State, t: Tables, action: int) -> None:
    """Answers FORECAST_DIRECTION (card 8)."""
    move_drop(s, t, s.target, s.target_owner, neighbour(s, s.target, action - DIRECTION))
    ask_nothing(s)


# --- Card 5 ----------------------------------------------------------------------------------------------------------


@rule
def allow_forecast_vote(s: State) -> None:
    """Weather spaces that the player can vote on."""
    for space in range(NUM_KINDS):
        if can_vote_on(s, s.actor, space):
            allow(s, VOTE + space)


@rule
def choose_forecast_vote(s: State, action: int) -> None:
    """Answers FORECAST_VOTE."""
    ask_nothing(s)
    cast_vote(s, action - VOTE)


# --- Card 3 ----------------------------------------------------------------------------------------------------------


@rule
def lower_cloud_drops(s: State, t: Tables, tile: int) -> None:
    """Before the tile is scored, put the cloud's drops on it for the players who may count them."""
    if s.modules[Module.FORECASTS] == 0:
        return
    for seat in range(s.players):
        if s.counts_clouds[seat] == 1 and counts_on(s, tile):
            s.drops[tile, seat] += s.cloud_drops[tile, seat]
            check_growing(s, t, tile)


@rule
def raise_cloud_drops(s: State, tile: int) -> None:
    """After it is scored, put them back."""
    if s.modules[Module.FORECASTS] == 0:
        return
    for seat in range(s.players):
        if s.counts_clouds[seat] == 1 and counts_on(s, tile):
            s.drops[tile, seat] -= s.cloud_drops[tile, seat]


@rule
def counts_on(s: State, tile: int) -> bool:
    """Card 3: whether the drops of a cloud can count on this tile."""
    return bool(s.crop[tile] >= 0 and s.crop[tile] != Crop.PRIMROSE and takes_drops(s, tile))


@rule
def forget_harvest(s: State) -> None:
    """At the end of a Harvest, clear the fields that forecast cards and powers needed."""
    if s.modules[Module.FORECASTS] == 0 and s.modules[Module.POWERS] == 0:
        return
    for seat in range(s.owners):
        s.counts_clouds[seat] = 0
        for tile in range(NUM_TILES):
            s.scored_drops[tile, seat] = 0
