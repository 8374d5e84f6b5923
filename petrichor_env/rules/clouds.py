"""Merging and Overflowing."""

from __future__ import annotations

from petrichor_env.rules.fields import drops_in_cloud, has_cloud, land
from petrichor_env.rules.growing import check_growing
from petrichor_env.state import MAX_PLAYERS, NUM_TILES, Cloud, State
from petrichor_env.tables import Tables
from tabletop_engine.compiling.compiled import rule

GROWS_AT = 4
"""Drops at which a light cloud becomes a thundercloud."""
OVERFLOWS_AT = 8
"""Drops at which a thundercloud pours out."""


@rule
def clouds_left(s: State, t: Tables) -> int:
    """Clouds in the general supply."""
    left = t.clouds
    for tile in range(NUM_TILES):
        if has_cloud(s, tile):
            left -= 1
    return left


@rule
def new_cloud(s: State, tile: int, owner: int, drops: int) -> None:
    """A light cloud with this many drops from the owner's supply."""
    s.cloud[tile] = Cloud.LIGHT
    s.cloud_drops[tile, owner] = drops
    s.supply[owner] -= drops


@rule
def add_to_cloud(s: State, tile: int, owner: int, drops: int) -> None:
    """Put drops from the owner's supply into a cloud."""
    s.cloud_drops[tile, owner] += drops
    s.supply[owner] -= drops


@rule
def move_cloud(s: State, tile: int, to: int) -> None:
    """Two clouds in one space merge into one thundercloud."""
    if has_cloud(s, to):
        s.cloud[to] = Cloud.THUNDER
    else:
        s.cloud[to] = s.cloud[tile]
    s.cloud[tile] = Cloud.NONE
    for owner in range(MAX_PLAYERS):
        s.cloud_drops[to, owner] += s.cloud_drops[tile, owner]
        s.cloud_drops[tile, owner] = 0


@rule
def pour(s: State, t: Tables, tile: int) -> None:
    """All drops of the cloud fall onto the tile; the empty cloud goes."""
    for owner in range(s.owners):
        land(s, tile, owner, int(s.cloud_drops[tile, owner]))
        s.cloud_drops[tile, owner] = 0
    s.cloud[tile] = Cloud.NONE
    check_growing(s, t, tile)


@rule
def settle_clouds(s: State, t: Tables) -> None:
    """The checks at the end of an effect: empty clouds go, full light clouds grow, full thunderclouds overflow."""
    for tile in range(NUM_TILES):
        if s.cloud[tile] == Cloud.NONE:
            continue
        total = drops_in_cloud(s, tile)
        if total == 0:
            s.cloud[tile] = Cloud.NONE
        elif total >= OVERFLOWS_AT:
            pour(s, t, tile)
        elif total >= GROWS_AT:
            s.cloud[tile] = Cloud.THUNDER
