"""The positions of tiles, and questions about tiles and clouds."""

from __future__ import annotations

import numpy as np

from petrichor_env.state import MAX_PLAYERS, NO_TILE, NUM_TILES, Cloud, Crop, State
from tabletop_engine.compiling.compiled import rule

_SIDE = 4
_OFF_FIELD = -1

# for each position its neighbour to the north, east, south and west, or _OFF_FIELD
NEIGHBOURS = np.full((NUM_TILES, 4), _OFF_FIELD, np.int8)
for _row in range(_SIDE):
    for _column in range(_SIDE):
        for _direction, (_down, _right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
            if 0 <= _row + _down < _SIDE and 0 <= _column + _right < _SIDE:
                NEIGHBOURS[_row * _SIDE + _column, _direction] = (_row + _down) * _SIDE + _column + _right


@rule
def neighbour(s: State, tile: int, direction: int) -> int:
    """The orthogonally adjacent tile, or -1 beyond the Fields."""
    other = int(NEIGHBOURS[tile, direction])
    if other >= 0 and s.crop[other] >= 0:
        return other
    return _OFF_FIELD


@rule
def has_cloud(s: State, tile: int) -> bool:
    """Whether a cloud is above this tile."""
    return bool(s.cloud[tile] != Cloud.NONE)


@rule
def is_free(s: State, tile: int) -> bool:
    """Whether a new cloud can be placed there."""
    return bool(s.crop[tile] >= 0 and s.cloud[tile] == Cloud.NONE)


@rule
def tile_of(s: State, crop: int) -> int:
    """The first tile of this crop, or NO_TILE."""
    for tile in range(NUM_TILES):
        if s.crop[tile] == crop:
            return tile
    return NO_TILE


@rule
def is_closed(s: State, tile: int) -> bool:
    """Whether it is a Snowdrop that does not bloom: no drop is put there (Flowers, Bucaneve)."""
    return bool(s.crop[tile] == Crop.SNOWDROP and s.blooms[tile] == 0)


@rule
def takes_drops(s: State, tile: int) -> bool:
    """Whether drops stay on this tile: not on the Lake (Promos, The Lake), not on a closed Snowdrop."""
    return bool(s.crop[tile] != Crop.LAKE and not is_closed(s, tile))


@rule
def land(s: State, tile: int, owner: int, drops: int) -> None:
    """Put drops on a tile. If it takes none, they go back to their owner's supply."""
    if takes_drops(s, tile):
        s.drops[tile, owner] += drops
    else:
        s.supply[owner] += drops


@rule
def fall(s: State, tile: int, owner: int) -> None:
    """Move one drop from the cloud onto the tile below."""
    s.cloud_drops[tile, owner] -= 1
    land(s, tile, owner, 1)


@rule
def drops_on(s: State, tile: int) -> int:
    """All drops on this tile."""
    total = 0
    for owner in range(MAX_PLAYERS):  # faster than `s.owners`, which are no more: the loop is unrolled
        total += int(s.drops[tile, owner])
    return total


@rule
def drops_in_cloud(s: State, tile: int) -> int:
    """All drops in the cloud above this tile."""
    total = 0
    for owner in range(MAX_PLAYERS):
        total += int(s.cloud_drops[tile, owner])
    return total


@rule
def own_drops_on_tiles(s: State, seat: int) -> int:
    """All drops of this player on tiles."""
    total = 0
    for tile in range(NUM_TILES):
        total += int(s.drops[tile, seat])
    return total


@rule
def has_own_cloud(s: State, seat: int) -> bool:
    """Whether a drop of this player is in any cloud."""
    for tile in range(NUM_TILES):
        if s.cloud_drops[tile, seat] > 0:
            return True
    return False


@rule
def rains_on(s: State, tile: int, seat: int) -> bool:
    """Whether a drop of the cloud can be chosen to fall: an own one is in it, and no closed Snowdrop is below."""
    return bool(s.cloud_drops[tile, seat] > 0 and not is_closed(s, tile))


@rule
def can_rain(s: State, seat: int) -> bool:
    """Whether this player can choose a drop of any cloud to fall."""
    for tile in range(NUM_TILES):
        if rains_on(s, tile, seat):
            return True
    return False
