"""Petrichor: Kickstarter Promos. Fertilizer tokens, the Maltese Cactus, the Lake.

`fields.land` gives drops that land on the Lake back to their owners.
"""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import TILE
from petrichor_env.rules.asking import clockwise
from petrichor_env.rules.fields import NEIGHBOURS, drops_on, has_cloud, neighbour
from petrichor_env.state import FACE_DOWN, NUM_TILES, Crop, Decision, Growing, Module, State
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing

LAKE_DROPS = 3
"""Own drops that the player who moves a cloud onto the Lake adds to it."""


# --- Fertilizer tokens -----------------------------------------------------------------------------------------------


@rule
def tokens_to_place(s: State, t: Tables) -> int:
    """Fertilizer tokens that are not on the Fields yet."""
    if s.modules[Module.FERTILIZER] == 0:
        return 0
    left = t.fertilizer_tokens
    for tile in range(NUM_TILES):
        left -= int(s.fertilizer[tile])
    return left


@rule
def ask_fertilizer_tile(s: State) -> None:
    """Ask for the tile of the next token, in turn order, before the tiles are turned face up."""
    ask(s, Decision.FERTILIZER_TILE, clockwise(s, s.turn_index))


@rule
def can_be_fertilized(s: State, tile: int) -> bool:
    """No two tokens are orthogonally adjacent."""
    if s.crop[tile] != FACE_DOWN or s.fertilizer[tile] == 1:
        return False
    for direction in range(4):
        other = int(NEIGHBOURS[tile, direction])
        if other >= 0 and s.fertilizer[other] == 1:
            return False
    return True


@rule
def leaves_room(s: State, tile: int, more: int) -> bool:
    """Whether `more` tokens (up to two) still find a place after a token here."""
    s.fertilizer[tile] = 1
    fits = more == 0
    for second in range(NUM_TILES):
        if fits or not can_be_fertilized(s, second):
            continue
        if more == 1:
            fits = True
            continue
        s.fertilizer[second] = 1
        for third in range(NUM_TILES):
            fits = fits or can_be_fertilized(s, third)
        s.fertilizer[second] = 0
    s.fertilizer[tile] = 0
    return fits


@rule
def allow_fertilizer_tile(s: State, t: Tables) -> None:
    """Tiles for a token that leave room for the tokens still to come."""
    more = tokens_to_place(s, t) - 1
    for tile in range(NUM_TILES):
        if can_be_fertilized(s, tile) and leaves_room(s, tile, more):
            allow(s, TILE + tile)


@rule
def place_fertilizer(s: State, action: int) -> None:
    """Answers FERTILIZER_TILE."""
    s.fertilizer[action - TILE] = 1
    s.turn_index += 1
    ask_nothing(s)


# --- The Maltese Cactus ----------------------------------------------------------------------------------------------


@rule
def check_drowning(s: State, t: Tables, tile: int) -> None:
    """A growing Cactus with too many drops drowns, and stays so until its token goes."""
    if s.growing[tile] != Growing.NONE and drops_on(s, tile) >= t.drops_to_drown:
        s.growing[tile] = Growing.DROWNED


# --- The Lake --------------------------------------------------------------------------------------------------------


@rule
def draw_from_lake(s: State, tile: int) -> None:
    """A Wind action that ends on the Lake adds three drops of its player to the cloud, or what the supply has."""
    if s.crop[tile] == Crop.LAKE:
        drops = min(LAKE_DROPS, int(s.supply[s.actor]))
        s.cloud_drops[tile, s.actor] += drops
        s.supply[s.actor] -= drops


@rule
def allow_tiles_from_lake(s: State, lake: int) -> None:
    """From the Lake a cloud goes as far as its player likes. It stops where it merges, and cannot come back."""
    reached = np.zeros(NUM_TILES, np.int8)
    stack = np.empty(NUM_TILES, np.int64)
    reached[lake] = 1
    stack[0] = lake
    size = 1
    while size > 0:
        size -= 1
        tile = stack[size]
        for direction in range(4):
            other = neighbour(s, tile, direction)
            if other < 0 or reached[other] == 1:
                continue
            reached[other] = 1
            allow(s, TILE + other)
            if not has_cloud(s, other):
                stack[size] = other
                size += 1
