"""Card Actions Explained: Frost, Sun, Rain and Wind, from the played card to its finished effect.

A card that cannot be resolved is skipped; the vote follows in any case. After a function that finishes an effect no
decision is pending. If the supply is too short, the player may take drops from tiles, or skip the action (`decline`).
"""

from __future__ import annotations

from petrichor_env.actions import DECLINE, DIRECTION, DROP, TILE
from petrichor_env.rules.asking import drop_action, seat_of
from petrichor_env.rules.clouds import add_to_cloud, clouds_left, move_cloud, new_cloud, settle_clouds
from petrichor_env.rules.fields import (
    can_rain,
    fall,
    has_cloud,
    has_own_cloud,
    is_free,
    neighbour,
    own_drops_on_tiles,
    rains_on,
)
from petrichor_env.rules.growing import check_growing
from petrichor_env.rules.powers import (
    allow_rain_power,
    can_use_frost_power,
    can_use_rain_power,
    moves_far,
    use_rain_power,
)
from petrichor_env.rules.promos import draw_from_lake
from petrichor_env.state import MAX_PLAYERS, NO_TILE, NOBODY, NUM_TILES, Decision, State, Weather
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing

FROST_DROPS = 1
SUN_DROPS = 2


@rule
def start_action(s: State, t: Tables) -> None:
    """Ask for the first choice of the action `s.card`; ask nothing if it cannot be resolved."""
    seat = s.actor
    ask_nothing(s)
    if s.card == Weather.FROST:
        if can_supply(s, seat, FROST_DROPS):
            ask_frost(s, t, seat)
    elif s.card == Weather.RAIN:
        if can_rain(s, seat) or can_use_rain_power(s, seat):
            ask(s, Decision.RAIN_DROP, seat)
    elif not has_own_cloud(s, seat):
        return
    elif s.card == Weather.WIND:
        ask(s, Decision.WIND_CLOUD, seat)
    elif can_supply(s, seat, SUN_DROPS):
        ask(s, Decision.SUN_CLOUD, seat)


@rule
def can_supply(s: State, seat: int, drops: int) -> bool:
    """Whether the supply has that many drops, together with own drops on tiles."""
    return bool(s.supply[seat] + own_drops_on_tiles(s, seat) >= drops)


@rule
def has_free_tile(s: State) -> bool:
    """Whether a new cloud can be placed on any tile."""
    for tile in range(NUM_TILES):
        if is_free(s, tile):
            return True
    return False


@rule
def allow_own_clouds(s: State) -> None:
    """Clouds with an own drop."""
    for tile in range(NUM_TILES):
        if s.cloud_drops[tile, s.actor] > 0:
            allow(s, TILE + tile)


# --- Taking drops from tiles -----------------------------------------------------------------------------------------


@rule
def allow_take_drop(s: State) -> None:
    """Tiles with an own drop."""
    for tile in range(NUM_TILES):
        if s.drops[tile, s.actor] > 0:
            allow(s, TILE + tile)


# --- Frost -----------------------------------------------------------------------------------------------------------


@rule
def ask_frost(s: State, t: Tables, seat: int) -> None:
    """Ask for the new cloud's tile. With no cloud left, five players add to one (Flowers, Gioco in 5 giocatori)."""
    if clouds_left(s, t) > 0:
        if has_free_tile(s):
            ask(s, Decision.FROST_TILE, seat)
    elif s.players == 5 and has_foreign_cloud(s, seat):
        ask(s, Decision.FROST_CLOUD, seat)


@rule
def has_foreign_cloud(s: State, seat: int) -> bool:
    """Whether there is a cloud without a drop of this player."""
    for tile in range(NUM_TILES):
        if is_foreign_cloud(s, tile, seat):
            return True
    return False


@rule
def is_foreign_cloud(s: State, tile: int, seat: int) -> bool:
    """Whether there is a cloud here without a drop of this player."""
    return has_cloud(s, tile) and s.cloud_drops[tile, seat] == 0


@rule
def allow_frost_cloud(s: State) -> None:
    """Clouds without an own drop; a player whose supply is too short may decline."""
    if s.supply[s.actor] < FROST_DROPS:
        allow(s, DECLINE)
    for tile in range(NUM_TILES):
        if is_foreign_cloud(s, tile, s.actor):
            allow(s, TILE + tile)


@rule
def allow_frost_tile(s: State) -> None:
    """Tiles without a cloud; a player whose supply is too short may decline."""
    if s.supply[s.actor] < FROST_DROPS:
        allow(s, DECLINE)
    for tile in range(NUM_TILES):
        if is_free(s, tile):
            allow(s, TILE + tile)


@rule
def choose_frost_tile(s: State, t: Tables, action: int) -> None:
    """Answers FROST_TILE and FROST_CLOUD."""
    ask_nothing(s)
    if action != DECLINE:
        s.target = action - TILE
        frost(s, t)


@rule
def frost(s: State, t: Tables) -> None:
    """Place a new light cloud with one own drop."""
    if s.supply[s.actor] < FROST_DROPS:
        ask(s, Decision.TAKE_DROP, s.actor)
        return
    if has_cloud(s, s.target):
        add_to_cloud(s, s.target, s.actor, FROST_DROPS)
        settle_clouds(s, t)
    else:
        new_cloud(s, s.target, s.actor, FROST_DROPS)
        if can_use_frost_power(s):
            ask(s, Decision.FROST_POWER, s.actor)
            return
    s.target = NO_TILE
    ask_nothing(s)


# --- Sun -------------------------------------------------------------------------------------------------------------


@rule
def allow_sun_cloud(s: State) -> None:
    """Clouds with an own drop; a player whose supply is too short may decline."""
    if s.supply[s.actor] < SUN_DROPS:
        allow(s, DECLINE)
    allow_own_clouds(s)


@rule
def choose_sun_cloud(s: State, t: Tables, action: int) -> None:
    """Answers SUN_CLOUD."""
    ask_nothing(s)
    if action != DECLINE:
        s.target = action - TILE
        sun(s, t)


@rule
def sun(s: State, t: Tables) -> None:
    """Put exactly two own drops into the cloud."""
    if s.supply[s.actor] < SUN_DROPS:
        ask(s, Decision.TAKE_DROP, s.actor)
        return
    add_to_cloud(s, s.target, s.actor, SUN_DROPS)
    s.target = NO_TILE
    settle_clouds(s, t)
    ask_nothing(s)


# --- Rain ------------------------------------------------------------------------------------------------------------


@rule
def allow_rain_drop(s: State) -> None:
    """Any drop of a cloud with an own drop; the second one from another cloud, or none."""
    if s.decision == Decision.RAIN_SECOND_DROP:
        allow(s, DECLINE)
    else:
        allow_rain_power(s)
    for tile in range(NUM_TILES):
        if tile == s.target or not rains_on(s, tile, s.actor):
            continue
        for seat in range(s.owners):
            if s.cloud_drops[tile, seat] > 0:
                allow(s, drop_action(s, DROP, tile, seat))


@rule
def choose_rain_drop(s: State, t: Tables, action: int) -> None:
    """Answers RAIN_DROP and RAIN_SECOND_DROP. Both drops fall together; growth is checked after."""
    if s.decision == Decision.RAIN_DROP and action < DROP:
        use_rain_power(s, t, action)
        return
    seat = s.actor
    tile, owner = NO_TILE, NOBODY
    if action != DECLINE:
        tile = (action - DROP) // MAX_PLAYERS
        owner = seat_of(s, (action - DROP) % MAX_PLAYERS)
    if s.decision == Decision.RAIN_DROP:
        for other in range(NUM_TILES):
            if other != tile and rains_on(s, other, seat):
                s.target = tile
                s.target_owner = owner
                ask(s, Decision.RAIN_SECOND_DROP, seat)
                return
    else:
        fall(s, s.target, s.target_owner)
    if tile != NO_TILE:
        fall(s, tile, owner)
        check_growing(s, t, tile)
    if s.target != NO_TILE:
        check_growing(s, t, s.target)
    s.target = NO_TILE
    s.target_owner = NOBODY
    settle_clouds(s, t)
    ask_nothing(s)


# --- Wind ------------------------------------------------------------------------------------------------------------


@rule
def choose_wind_cloud(s: State, action: int) -> None:
    """Answers WIND_CLOUD."""
    s.target = action - TILE
    ask(s, Decision.WIND_TILE if moves_far(s, s.target) else Decision.WIND_DIRECTION, s.actor)


@rule
def allow_direction(s: State) -> None:
    """Directions that stay on the Fields."""
    for direction in range(4):
        if neighbour(s, s.target, direction) != NO_TILE:
            allow(s, DIRECTION + direction)


@rule
def choose_wind_direction(s: State, t: Tables, action: int) -> None:
    """The cloud goes to an orthogonally adjacent tile."""
    wind(s, t, neighbour(s, s.target, action - DIRECTION))


@rule
def choose_wind_tile(s: State, t: Tables, action: int) -> None:
    """Answers WIND_TILE: a cloud that goes further than to a neighbour."""
    wind(s, t, action - TILE)


@rule
def wind(s: State, t: Tables, to: int) -> None:
    """Move the cloud to a tile."""
    move_cloud(s, s.target, to)
    draw_from_lake(s, to)
    s.target = NO_TILE
    settle_clouds(s, t)
    ask_nothing(s)
