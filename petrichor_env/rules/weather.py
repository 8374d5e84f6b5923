"""Phase 2: which weather spaces are resolved, their effects, the first player of two."""

from __future__ import annotations

from petrichor_env.actions import DECLINE, DIRECTION, DROP, TILE, WEATHER
from petrichor_env.rules.asking import anticlockwise, clockwise, drop_action, seat_of
from petrichor_env.rules.card_actions import frost, sun
from petrichor_env.rules.clouds import add_to_cloud, pour, settle_clouds
from petrichor_env.rules.fields import is_closed, neighbour, own_drops_on_tiles
from petrichor_env.rules.flower_tiles import continue_flowers
from petrichor_env.rules.forecasts import continue_forecasts, continue_sun_forecast
from petrichor_env.rules.growing import develop, move_drop, take_drop
from petrichor_env.rules.southern_winds import neutral_sun_weather, southern_wind_weather
from petrichor_env.rules.voting import return_votes, votes_on, win_vote
from petrichor_env.state import (
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NUM_KINDS,
    NUM_TILES,
    SELECTING,
    Cloud,
    Crop,
    Decision,
    Phase,
    State,
    Timing,
    Weather,
)
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing

RESOLVED_SPACES = 2
"""Weather spaces that are resolved in a round, and that count for Voting Wins in the final one."""


@rule
def is_final_round(s: State) -> bool:
    """Whether this is the last round."""
    return bool(s.round == s.rounds)


@rule
def continue_weather_phase(s: State, t: Tables) -> bool:
    """`s.weather` is the space being resolved."""
    if s.weather == SELECTING:
        if continue_forecasts(s, t, Timing.START_OF_WEATHER) or continue_selection(s):
            return True
        s.weather = 0
    while s.weather < NUM_KINDS:
        space = s.weather
        if is_resolved(s, space):
            if continue_weather(s, t) or continue_flowers(s, t, space):
                return True
            if s.selected[space] == 1:
                win_vote(s, space)
            return_votes(s, space)
        s.weather += 1
        s.turn_index = 0
        s.pod_turns = 0
    if s.players == 2:
        change_first_player(s)
    for space in range(NUM_KINDS):
        s.selected[space] = 0
    s.weather = SELECTING
    s.phase = Phase.HARVEST
    return False


# --- Resolving Weather Spaces ----------------------------------------------------------------------------------------


@rule
def is_resolved(s: State, space: int) -> bool:
    """Whether this space takes effect: it is selected or, in the final round, has votes."""
    if is_final_round(s):
        return votes_on(s, space) > 0
    return bool(s.selected[space] == 1)


@rule
def most_votes_unselected(s: State) -> int:
    """The most votes on a space that is not selected yet; -1 if all are."""
    most = -1
    for space in range(NUM_KINDS):
        if s.selected[space] == 0:
            most = max(most, votes_on(s, space))
    return most


@rule
def is_tied_for_selection(s: State, space: int, most: int) -> bool:
    """Whether this space is not selected yet and has that many votes."""
    return bool(s.selected[space] == 0 and votes_on(s, space) == most)


@rule
def continue_selection(s: State) -> bool:
    """Select the two spaces with the most votes; the first player chooses among tied ones, one at a time."""
    for _ in range(NUM_KINDS):
        open_places = RESOLVED_SPACES
        for space in range(NUM_KINDS):
            open_places -= int(s.selected[space])
        most = most_votes_unselected(s)
        # in the final round a space without votes neither happens nor counts
        if open_places == 0 or (is_final_round(s) and most == 0):
            return False
        tied = 0
        for space in range(NUM_KINDS):
            if is_tied_for_selection(s, space, most):
                tied += 1
        if tied > open_places:
            ask(s, Decision.CHOOSE_WEATHER, s.first_player)
            return True
        for space in range(NUM_KINDS):
            if is_tied_for_selection(s, space, most):
                s.selected[space] = 1
    return False


@rule
def allow_choose_weather(s: State) -> None:
    """The spaces that are tied for selection."""
    most = most_votes_unselected(s)
    for space in range(NUM_KINDS):
        if is_tied_for_selection(s, space, most):
            allow(s, WEATHER + space)


@rule
def choose_weather(s: State, action: int) -> None:
    """Answers CHOOSE_WEATHER."""
    s.selected[action - WEATHER] = 1
    ask_nothing(s)


# --- Weather Effects Explained ---------------------------------------------------------------------------------------


@rule
def continue_weather(s: State, t: Tables) -> bool:
    """The effect of the space being resolved."""
    if s.weather == Weather.FROST:
        frost_weather(s)
    elif s.weather == Weather.SUN:
        return continue_sun_weather(s, t)
    elif s.weather == Weather.WIND:
        return continue_forecasts(s, t, Timing.BEFORE_WIND) or continue_wind_weather(s, t)
    elif continue_forecasts(s, t, Timing.BEFORE_RAIN):
        return True
    else:
        rain_weather(s, t)
    return False


@rule
def frost_weather(s: State) -> None:
    """All light clouds become thunderclouds."""
    for tile in range(NUM_TILES):
        if s.cloud[tile] == Cloud.LIGHT:
            s.cloud[tile] = Cloud.THUNDER


@rule
def rain_weather(s: State, t: Tables) -> None:
    """All thunderclouds pour out; then Rice develops."""
    for tile in range(NUM_TILES):
        if s.cloud[tile] == Cloud.THUNDER:
            pour(s, t, tile)
    develop(s, Crop.RICE)


# --- Sun weather -----------------------------------------------------------------------------------------------------


@rule
def continue_sun_weather(s: State, t: Tables) -> bool:
    """Each player in turn doubles one cloud; in solo the neutral player does before. Coffee develops after all."""
    if s.players == 1 and s.turn_index == 0:
        neutral_sun_weather(s, t)
        s.turn_index = 1
    while s.turn_index < s.owners:
        seat = 0 if s.players == 1 else clockwise(s, s.turn_index)
        if continue_sun_forecast(s, t, seat):
            return True
        within_reach = int(s.supply[seat]) + own_drops_on_tiles(s, seat)
        for tile in range(NUM_TILES):
            if 0 < s.cloud_drops[tile, seat] <= within_reach:
                ask(s, Decision.SUN_WEATHER_CLOUD, seat)
                return True
        s.turn_index += 1
    develop(s, Crop.COFFEE)
    return False


@rule
def allow_sun_weather_cloud(s: State) -> None:
    """Any own cloud within reach; a player whose supply alone can double none may decline."""
    supply = int(s.supply[s.actor])
    within_reach = supply + own_drops_on_tiles(s, s.actor)
    must_double = False
    for tile in range(NUM_TILES):
        own = int(s.cloud_drops[tile, s.actor])
        if 0 < own <= within_reach:
            allow(s, TILE + tile)
            must_double = must_double or own <= supply
    if not must_double:
        allow(s, DECLINE)


@rule
def choose_sun_weather_cloud(s: State, t: Tables, action: int) -> None:
    """Answers SUN_WEATHER_CLOUD."""
    if action == DECLINE:
        s.turn_index += 1
        ask_nothing(s)
    else:
        s.target = action - TILE
        double_cloud(s, t)


@rule
def take_missing_drop(s: State, t: Tables, action: int) -> None:
    """Answers TAKE_DROP: a drop from a tile for a short supply; then the effect that needs it goes on."""
    take_drop(s, t, action - TILE, s.actor)
    if s.phase == Phase.WEATHER:
        double_cloud(s, t)
    elif s.card == Weather.FROST:
        frost(s, t)
    else:
        sun(s, t)


@rule
def double_cloud(s: State, t: Tables) -> None:
    """Double the actor's drops in the chosen cloud; ask for drops from tiles if the supply is too short."""
    own = int(s.cloud_drops[s.target, s.actor])
    if s.supply[s.actor] < own:
        ask(s, Decision.TAKE_DROP, s.actor)
        return
    add_to_cloud(s, s.target, s.actor, own)
    s.target = NO_TILE
    s.turn_index += 1
    settle_clouds(s, t)
    ask_nothing(s)


# --- Wind weather ----------------------------------------------------------------------------------------------------


@rule
def continue_wind_weather(s: State, t: Tables) -> bool:
    """Each player, from the last one anticlockwise, moves a drop; in solo the southern wind blows after."""
    while s.turn_index < s.players:
        for tile in range(NUM_TILES):
            for owner in range(s.owners):
                if s.drops[tile, owner] > 0:
                    ask(s, Decision.WIND_WEATHER_DROP, anticlockwise(s, s.turn_index))
                    return True
        s.turn_index += 1
    if s.players == 1:
        southern_wind_weather(s, t)
    return False


@rule
def allow_wind_weather_drop(s: State) -> None:
    """Any drop on a tile."""
    for tile in range(NUM_TILES):
        for seat in range(s.owners):
            if s.drops[tile, seat] > 0:
                allow(s, drop_action(s, DROP, tile, seat))


@rule
def allow_wind_weather_direction(s: State) -> None:
    """To a neighbour, but not onto a closed Snowdrop."""
    for direction in range(4):
        to = neighbour(s, s.target, direction)
        if to != NO_TILE and not is_closed(s, to):
            allow(s, DIRECTION + direction)


@rule
def choose_wind_weather_drop(s: State, action: int) -> None:
    """Answers WIND_WEATHER_DROP."""
    s.target = (action - DROP) // MAX_PLAYERS
    s.target_owner = seat_of(s, (action - DROP) % MAX_PLAYERS)
    ask(s, Decision.WIND_WEATHER_DIRECTION, s.actor)


@rule
def choose_wind_weather_direction(s: State, t: Tables, action: int) -> None:
    """Answers WIND_WEATHER_DIRECTION."""
    to = neighbour(s, s.target, action - DIRECTION)
    move_drop(s, t, s.target, s.target_owner, to)
    s.target = NO_TILE
    s.target_owner = NOBODY
    s.turn_index += 1
    ask_nothing(s)


# --- Changing the First Player, two players --------------------------------------------------------------------------


@rule
def change_first_player(s: State) -> None:
    """The first player keeps the marker only with more votes left on the board than the other."""
    other = 1 - s.first_player
    first_votes, other_votes = 0, 0
    for space in range(NUM_KINDS):
        first_votes += int(s.votes[space, s.first_player])
        other_votes += int(s.votes[space, other])
    if first_votes <= other_votes:
        s.first_player = other
