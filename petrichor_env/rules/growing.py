"""Growing Crops: when tiles get, turn and lose their growing token."""

from __future__ import annotations

import numpy as np

from petrichor_env.rules.fields import drops_on, land
from petrichor_env.rules.flower_tiles import settle_control
from petrichor_env.rules.promos import check_drowning
from petrichor_env.state import NUM_TILES, Crop, Growing, State
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule

FIRST_SIDE = np.full(len(Crop), Growing.DEVELOPED, np.int8)
"""The side that a growing token is placed on, by crop."""
FIRST_SIDE[[Crop.COFFEE, Crop.RICE]] = Growing.SPROUTING


@rule
def check_growing(s: State, t: Tables, tile: int) -> None:
    """Place the token once the tile's number is met; take it away as soon as it is not (it has dried out)."""
    if drops_on(s, tile) < t.drops_to_grow[s.crop[tile]]:
        s.growing[tile] = Growing.NONE
    elif s.growing[tile] == Growing.NONE:
        s.growing[tile] = FIRST_SIDE[s.crop[tile]]
    if s.crop[tile] == Crop.CACTUS:
        check_drowning(s, t, tile)
    elif s.crop[tile] == Crop.PRIMROSE:
        settle_control(s, t, tile)


@rule
def develop(s: State, crop: int) -> None:
    """Turn the token of every sprouting tile of this crop (Coffee after Sun weather, Rice after Rain weather)."""
    for tile in range(NUM_TILES):
        if s.crop[tile] == crop and s.growing[tile] == Growing.SPROUTING:
            s.growing[tile] = Growing.DEVELOPED


@rule
def put_drop(s: State, t: Tables, tile: int, owner: int) -> None:
    """A drop from the owner's supply onto the tile."""
    s.supply[owner] -= 1
    land(s, tile, owner, 1)
    check_growing(s, t, tile)


@rule
def take_drop(s: State, t: Tables, tile: int, owner: int) -> None:
    """A drop from the tile back to its owner's supply."""
    s.drops[tile, owner] -= 1
    s.supply[owner] += 1
    check_growing(s, t, tile)


@rule
def move_drop(s: State, t: Tables, tile: int, owner: int, to: int) -> None:
    """A drop from one tile to another."""
    s.drops[tile, owner] -= 1
    land(s, to, owner, 1)
    check_growing(s, t, tile)
    check_growing(s, t, to)
