"""Flowers, Le tessere Fiori: Snowdrop (Bucaneve), Dandelion (Dente di Leone), Primrose (Primula). One tile of each.

`fields.land` keeps drops off a closed Snowdrop.
"""

from __future__ import annotations

from petrichor_env.actions import TILE
from petrichor_env.rules.asking import clockwise
from petrichor_env.rules.fields import is_closed, tile_of
from petrichor_env.rules.points import gain
from petrichor_env.state import NO_TILE, NOBODY, NUM_TILES, Crop, Decision, Growing, Module, Reading, State, Weather
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing

PODS_A_PLAYER = 2


@rule
def continue_flowers(s: State, t: Tables, weather: int) -> bool:
    """The effects of the flowers after a weather is resolved."""
    if s.modules[Module.FLOWER_TILES] == 0:
        return False
    if weather == Weather.FROST:
        open_snowdrop(s)
    return weather == Weather.WIND and continue_pods(s, t)


@rule
def end_harvest_of_flowers(s: State, t: Tables) -> None:
    """At the end of every Harvest Phase the Primrose blooms once more."""
    tile = tile_of(s, Crop.PRIMROSE)
    if tile != NO_TILE:
        s.blooms[tile] = min(int(s.blooms[tile]) + 1, t.primrose_blooms)


# --- Snowdrop --------------------------------------------------------------------------------------------------------


@rule
def open_snowdrop(s: State) -> None:
    """Right after Frost weather it gets its bloom token."""
    tile = tile_of(s, Crop.SNOWDROP)
    if tile != NO_TILE:
        s.blooms[tile] = 1


@rule
def close_snowdrop(s: State) -> None:
    """A Harvest takes the bloom token away, even if it has not grown."""
    tile = tile_of(s, Crop.SNOWDROP)
    if tile != NO_TILE:
        s.blooms[tile] = 0


# --- Dandelion -------------------------------------------------------------------------------------------------------


@rule
def takes_pod(s: State, tile: int) -> bool:
    """Whether a pod can be placed on this tile."""
    if s.crop[tile] < 0 or s.pods[tile] == 1 or is_closed(s, tile):
        return False
    return s.crop[tile] not in (Crop.DANDELION, Crop.PRIMROSE, Crop.LAKE)


@rule
def pods_placed(s: State) -> int:
    """Pods on tiles."""
    pods = 0
    for tile in range(NUM_TILES):
        pods += int(s.pods[tile])
    return pods


@rule
def continue_pods(s: State, t: Tables) -> bool:
    """After Wind weather each player on a grown Dandelion, in turn order, places two pods on two tiles, or none."""
    tile = tile_of(s, Crop.DANDELION)
    if tile == NO_TILE or s.growing[tile] == Growing.NONE:
        return False
    while s.pod_turns < s.players:
        seat = clockwise(s, s.pod_turns)
        if s.drops[tile, seat] > 0 and (s.choices_left > 0 or can_place_pods(s, t)):
            if s.choices_left == 0:
                s.choices_left = PODS_A_PLAYER
            ask(s, Decision.POD_TILE, seat)
            return True
        s.pod_turns += 1
    return False


@rule
def can_place_pods(s: State, t: Tables) -> bool:
    """Whether there are tiles and pods for a player's two pods."""
    free = 0
    for tile in range(NUM_TILES):
        if takes_pod(s, tile):
            free += 1
    return bool(free >= PODS_A_PLAYER and t.pods - pods_placed(s) >= PODS_A_PLAYER)


@rule
def allow_pod_tile(s: State) -> None:
    """Tiles for the next of two pods. They are named in the order of the tiles, so one must be left for the second."""
    free = 0
    for tile in range(NUM_TILES - 1, s.target, -1):
        if takes_pod(s, tile):
            free += 1
            if free >= s.choices_left:
                allow(s, TILE + tile)


@rule
def place_pod(s: State, action: int) -> None:
    """Answers POD_TILE."""
    s.pods[action - TILE] = 1
    s.target = action - TILE
    s.choices_left -= 1
    if s.choices_left == 0:
        s.target = NO_TILE
        s.pod_turns += 1
    ask_nothing(s)


@rule
def dandelion_points(s: State, place: int) -> int:
    """A point for each pod on the other tiles for the first, half of that rounded down for the second."""
    if place > 2:
        return 0
    return pods_placed(s) // place


@rule
def take_pods_back(s: State) -> None:
    """All pods go back to the supply."""
    for tile in range(NUM_TILES):
        s.pods[tile] = 0


# --- Primrose --------------------------------------------------------------------------------------------------------


@rule
def settle_control(s: State, t: Tables, tile: int) -> None:
    """Whoever exceeds the controller takes control and scores, until nobody does."""
    for _ in range(s.players + 1):
        seat = next_controller(s, tile)
        if seat == NOBODY:
            return
        if s.controller != NOBODY:
            s.supply[s.controller] += s.drops[tile, s.controller]
            s.drops[tile, s.controller] = 0
        s.controller = seat
        gain(s, seat, t.primrose_points * int(s.blooms[tile]) + int(s.fertilizer[tile]), Crop.PRIMROSE)
        if s.readings[Reading.PRIMROSE_PASSES_ONCE] == 1:
            return


@rule
def next_controller(s: State, tile: int) -> int:
    """The nearest player clockwise with more drops than the controller; without one, the player with the most drops."""
    players = s.players
    if s.controller != NOBODY:
        for i in range(1, players):
            seat = (s.controller + i) % players
            if s.drops[tile, seat] > s.drops[tile, s.controller]:
                return seat
        return NOBODY
    best, most = NOBODY, 0
    for i in range(players):
        seat = (s.first_player + i) % players
        if s.drops[tile, seat] > most:
            best, most = seat, int(s.drops[tile, seat])
    return best
