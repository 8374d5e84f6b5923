"""Merging and Overflowing; Growing Crops: what happens to clouds and tiles after each effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from tests.reference import flowers
from tests.reference.table import Cloud, Drops, Player, Steps, Table, Tile, choose_drop, choose_neighbour

GROWS_AT = 4
"""A light cloud with so many drops grows into a thundercloud (Merging and Overflowing)."""
OVERFLOWS_AT = 8
"""A thundercloud with so many drops overflows (Merging and Overflowing)."""


def create_cloud(table: Table, tile: Tile, player: Player, drops: int) -> None:
    """A new light cloud with a player's drops from the supply."""
    assert tile.cloud is None and table.clouds_left() > 0
    tile.cloud = Cloud(Counter())
    add_drops(tile.cloud, player, drops)


def add_drops(cloud: Cloud, player: Player, drops: int) -> None:
    """Drops from a player's supply into a cloud."""
    assert player.supply >= drops
    player.supply -= drops
    cloud.drops[player.seat] += drops


def move_cloud(start: Tile, end: Tile) -> None:
    """Move a cloud; two clouds in the same space merge and become one thundercloud (Merging and Overflowing)."""
    assert start.cloud is not None
    if end.cloud is None:
        end.cloud = start.cloud
    else:
        end.cloud = Cloud(end.cloud.drops + start.cloud.drops, thunder=True)
    start.cloud = None


def look_at_clouds(table: Table) -> None:
    """At the end of an effect: clouds grow and overflow, empty ones are removed (Merging and Overflowing).

    A cloud with eight drops pours out even if it was a light one before.
    """
    for tile in table.tiles_with_clouds():
        cloud = tile.cloud
        assert cloud is not None
        if cloud.total >= GROWS_AT:
            cloud.thunder = True
        if cloud.total >= OVERFLOWS_AT:
            pour_out(table, tile)
            look_at_tile(table, tile)
        elif cloud.total == 0:
            tile.cloud = None


def pour_out(table: Table, tile: Tile) -> None:
    """All drops of a cloud fall onto the tile below it, and the empty cloud is removed."""
    assert tile.cloud is not None
    drops = tile.cloud.drops
    tile.cloud = None
    land(table, tile, drops)


def rain_drop(table: Table, tile: Tile, owner: int) -> None:
    """One drop falls from a cloud onto the tile below it; an empty cloud is removed."""
    assert tile.cloud is not None and tile.cloud.drops[owner] > 0
    tile.cloud.drops[owner] -= 1
    if tile.cloud.total == 0:
        tile.cloud = None
    land(table, tile, Counter([owner]))


def land(table: Table, tile: Tile, drops: Drops) -> None:
    """Drops come onto a tile. The caller looks at the tile when all drops of the effect are there.

    Drops that land on the Lake return to their owners (Promos, The Lake), and so do those that fall on a closed
    Snowdrop (Flowers, Bucaneve: no drops can be placed on it).
    """
    if tile.crop == "lake" or tile.closed:
        for owner, number in drops.items():
            table.owners[owner].supply += number
    else:
        tile.drops += drops


def take_from_tile(table: Table, tile: Tile, owner: int) -> None:
    """One drop leaves a tile, which dries out at once if too few are left (Growing Crops).

    The caller gives it to somebody.
    """
    assert tile.drops[owner] > 0
    tile.drops[owner] -= 1
    look_at_tile(table, tile)


def blow(table: Table, start: Tile, end: Tile, owner: int) -> None:
    """A drop moves from a tile to another one; crops there may dry out and grow."""
    take_from_tile(table, start, owner)
    land(table, end, Counter([owner]))
    look_at_tile(table, end)


def blow_chosen_drop(
    table: Table, cause: str, player: Player, drops: Iterable[tuple[Tile, int]], allowed: Callable[[Tile], bool]
) -> Steps[None]:
    """A player moves one of these drops to an adjacent tile that may take it. `cause` names the questions."""
    chosen = yield from choose_drop(table, f"{cause}_drop", player, drops)
    assert chosen is not None
    start, owner = chosen
    end = yield from choose_neighbour(f"{cause}_direction", table, player, start, allowed)
    blow(table, start, end, owner)


def look_at_tile(table: Table, tile: Tile) -> None:
    """Drops on a tile have changed: its crop may grow or dry out, the Primrose may change hands."""
    tile.growing = growing_with(table, tile, tile.total)
    if tile.crop == "primrose":
        flowers.look_at_primrose(table, tile)


def growing_with(table: Table, tile: Tile, drops: int) -> str:
    """The growing token of a tile with this number of drops (Growing Crops).

    With enough drops it gets a token: on Rice and Coffee the sprouting side first, on all others the developed one.
    With too few the token is removed, whichever side is showing. The Maltese Cactus drowns when it reaches 4 drops, and
    stays drowned until it loses its token (Promos, The Maltese Cactus). A closed Snowdrop does not grow (Flowers,
    Bucaneve).
    """
    assert tile.crop is not None
    needed = table.printed.drops_to_grow(tile.crop)
    if needed is None or tile.closed or drops < needed:
        return "none"
    if tile.crop == "cactus" and drops >= table.printed.drops_to_drown:
        return "drowned"
    if tile.growing != "none":
        return tile.growing
    return "sprouting" if tile.crop in ("coffee", "rice") else "developed"
