"""Flowers, Poteri dei giocatori: the effects of the player powers. A player without one has Power.NONE."""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import DECLINE, POWER, TILE
from petrichor_env.rules.asking import clockwise
from petrichor_env.rules.clouds import add_to_cloud
from petrichor_env.rules.fields import can_rain, has_cloud, takes_drops
from petrichor_env.rules.growing import check_growing, put_drop
from petrichor_env.rules.promos import allow_tiles_from_lake
from petrichor_env.state import NO_TILE, NOBODY, NUM_KINDS, NUM_TILES, Crop, Decision, Module, Power, State, Weather
from petrichor_env.tables import Tables
from tabletop_engine.chance import draw_from
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing

KEPT_DROPS = 3
"""Tiles on which the Harvest power keeps a drop."""

_NUM_POWERS = len(Power) - 1

PRICES = np.full((len(Power), NUM_KINDS), 2, np.int8)
"""Cards of other kinds that stand for one card, by the player's power and the card's kind."""
PRICES[Power.SUN, Weather.SUN] = 1


@rule
def deal_powers(s: State) -> None:
    """Deal a random power to each player, from the first player, unless the configuration has chosen them."""
    if s.modules[Module.POWERS] == 0 or s.chosen_power[0] != 0:
        return
    left = np.ones(_NUM_POWERS, np.int8)
    for i in range(s.players):
        s.power[clockwise(s, i)] = draw_from(s, left) + 1


# --- Frost -----------------------------------------------------------------------------------------------------------


@rule
def can_use_frost_power(s: State) -> bool:
    """Whether the actor may put a second drop into the cloud just created."""
    return bool(s.power[s.actor] == Power.FROST and s.supply[s.actor] > 0)


@rule
def allow_frost_power(s: State) -> None:
    """To use the power, or not."""
    allow(s, POWER)
    allow(s, DECLINE)


@rule
def use_frost_power(s: State, action: int) -> None:
    """Answers FROST_POWER."""
    if action == POWER:
        add_to_cloud(s, s.target, s.actor, 1)
    s.target = NO_TILE
    ask_nothing(s)


# --- Sun -------------------------------------------------------------------------------------------------------------


@rule
def price_of_another_card(s: State, kind: int) -> int:
    """Cards of other kinds that stand for one card of the actor's: two, but any one is a Sun for the Sun power."""
    return int(PRICES[s.power[s.actor], kind])


# --- Wind ------------------------------------------------------------------------------------------------------------


@rule
def moves_far(s: State, tile: int) -> bool:
    """Whether a Wind action takes the cloud further than to a neighbour: with the power, or away from the Lake."""
    return bool(s.power[s.actor] == Power.WIND or s.crop[tile] == Crop.LAKE)


@rule
def allow_wind_tile(s: State) -> None:
    """Any other tile: with the power a cloud passes over clouds, and merges only where it ends."""
    if s.power[s.actor] != Power.WIND:
        allow_tiles_from_lake(s, s.target)
        return
    for tile in range(NUM_TILES):
        if s.crop[tile] >= 0 and tile != s.target:
            allow(s, TILE + tile)


# --- Rain ------------------------------------------------------------------------------------------------------------


@rule
def can_water(s: State, tile: int) -> bool:
    """Whether this is a crop tile that takes drops, without a cloud above it."""
    return bool(s.crop[tile] >= 0 and not has_cloud(s, tile) and takes_drops(s, tile))


@rule
def can_use_rain_power(s: State, seat: int) -> bool:
    """Whether the player can put an own drop on a tile by the Rain power."""
    if s.power[seat] != Power.RAIN or s.supply[seat] == 0:
        return False
    for tile in range(NUM_TILES):
        if can_water(s, tile):
            return True
    return False


@rule
def allow_rain_power(s: State) -> None:
    """An own drop on a tile; a player who could not rain without the power may decline."""
    if s.power[s.actor] != Power.RAIN or s.supply[s.actor] == 0:
        return
    if not can_rain(s, s.actor):
        allow(s, DECLINE)
    for tile in range(NUM_TILES):
        if can_water(s, tile):
            allow(s, TILE + tile)


@rule
def use_rain_power(s: State, t: Tables, action: int) -> None:
    """Answers RAIN_DROP with an own drop on a tile, or with no rain at all."""
    if action != DECLINE:
        put_drop(s, t, action - TILE, s.actor)
    ask_nothing(s)


# --- Harvest ---------------------------------------------------------------------------------------------------------


@rule
def has_scored_drop(s: State, tile: int, seat: int) -> bool:
    """Whether an own drop lay on this tile when it was harvested; drops that only counted from a cloud did not."""
    in_cloud = int(s.cloud_drops[tile, seat]) if s.counts_clouds[seat] == 1 else 0
    return bool(s.scored_drops[tile, seat] > in_cloud)


@rule
def start_keeping_drops(s: State) -> None:
    """After scoring, one own drop may stay on each of three harvested tiles."""
    if holder_of(s, Power.HARVEST) != NOBODY:
        s.choices_left = KEPT_DROPS


@rule
def continue_keeping_drops(s: State) -> bool:
    """Ask the power's holder for the next tile, if there is one."""
    if s.choices_left > 0:
        seat = holder_of(s, Power.HARVEST)
        for tile in range(s.target + 1, NUM_TILES):
            if has_scored_drop(s, tile, seat):
                ask(s, Decision.KEEP_DROP, seat)
                return True
    stop_keeping_drops(s)
    return False


@rule
def stop_keeping_drops(s: State) -> None:
    """No more drops are kept."""
    s.choices_left = 0
    s.target = NO_TILE


@rule
def holder_of(s: State, power: int) -> int:
    """The seat with this power, or NOBODY."""
    for seat in range(s.players):
        if s.power[seat] == power:
            return seat
    return NOBODY


@rule
def allow_keep_drop(s: State) -> None:
    """The tiles are named in their order."""
    allow(s, DECLINE)
    for tile in range(s.target + 1, NUM_TILES):
        if has_scored_drop(s, tile, s.actor):
            allow(s, TILE + tile)


@rule
def keep_drop(s: State, t: Tables, action: int) -> None:
    """Answers KEEP_DROP. A Snowdrop that has just closed keeps its drop too, since the drop is not put there."""
    ask_nothing(s)
    if action == DECLINE:
        stop_keeping_drops(s)
        return
    s.target = action - TILE
    s.choices_left -= 1
    s.supply[s.actor] -= 1
    s.drops[s.target, s.actor] += 1
    check_growing(s, t, s.target)
