"""Petrichor: Fiori (Flowers): the flower tiles.

The rules for five players are in the files of the rules that they change.
"""

from __future__ import annotations

from tests.reference import clouds
from tests.reference.table import Player, Steps, Table, Tile, choose_tile


def flower(table: Table, crop: str) -> Tile | None:
    """The one tile of a kind, if it is on the Fields."""
    for tile in table.tiles.values():
        if tile.crop == crop:
            return tile
    return None


# --- Bucaneve (Snowdrop) ---------------------------------------------------------------------------------------------


def open_snowdrop(table: Table) -> None:
    """Right after Frost weather is resolved, put the bloom token on the tile."""
    snowdrop = flower(table, "snowdrop")
    if snowdrop is not None:
        snowdrop.blooms = 1
        clouds.look_at_tile(table, snowdrop)


def close_snowdrop(table: Table) -> None:
    """During the Harvest Phase remove the bloom token, even if the Snowdrop has not grown."""
    snowdrop = flower(table, "snowdrop")
    if snowdrop is not None:
        snowdrop.blooms = 0


# --- Dente di Leone (Dandelion) --------------------------------------------------------------------------------------


def pods_left(table: Table) -> int:
    return table.printed.pieces("pods") - sum(tile.pod for tile in table.tiles.values())


def tiles_for_pods(table: Table) -> list[Tile]:
    """Crop tiles without a pod; not the Dandelion, the Primrose, the Lake or a Snowdrop without its bloom token."""
    return [
        tile
        for tile in table.tiles.values()
        if not tile.pod and tile.crop not in ("dandelion", "primrose", "lake") and not tile.closed
    ]


def place_pods(table: Table) -> Steps[None]:
    """After Wind weather, if the Dandelion is growing: every player with a drop on it, in turn order, places two pods
    on two different tiles without one. With fewer than two pods or two such tiles a player places none.

    The two are named in reading order.
    """
    dandelion = flower(table, "dandelion")
    if dandelion is None or dandelion.growing == "none":
        return
    for player in table.turn_order():
        tiles = tiles_for_pods(table)
        if dandelion.drops[player.seat] and pods_left(table) >= 2 and len(tiles) >= 2:
            first = yield from choose_tile("pod_tile", player, tiles[:-1])
            assert first is not None
            first.pod = True
            second = yield from choose_tile("pod_tile", player, tiles[tiles.index(first) + 1 :])
            assert second is not None
            second.pod = True


def pods_on_other_tiles(table: Table, dandelion: Tile) -> int:
    return sum(tile.pod for tile in table.tiles.values() if tile is not dandelion)


def remove_pods(table: Table) -> None:
    """After the Harvest's points are counted all pods go back."""
    for tile in table.tiles.values():
        tile.pod = False


# --- Primula (Primrose) ----------------------------------------------------------------------------------------------


def look_at_primrose(table: Table, primrose: Tile) -> None:
    """Who controls the Primrose, whenever drops on it have changed.

    The first player with a drop there takes control. If several come at once, the one with most drops does; ties go
    clockwise from the first player. Later a player with more drops than the controller takes over: of several, the
    nearest clockwise. The previous controller's drops go back. Then control is checked again. A controller without
    drops stays in control until somebody has more.
    """
    if table.controller is None and primrose.total:
        table.controller = max(table.turn_order(), key=lambda player: primrose.drops[player.seat])
        score_primrose(table, primrose, table.controller)
    while table.controller is not None:
        controller = table.controller
        followers = table.clockwise(controller)[1:]
        ahead = [player for player in followers if primrose.drops[player.seat] > primrose.drops[controller.seat]]
        if not ahead:
            return
        table.controller = ahead[0]
        score_primrose(table, primrose, ahead[0])
        controller.supply += primrose.drops[controller.seat]
        primrose.drops[controller.seat] = 0
        if "primrose_passes_once" in table.config.readings:
            return


def score_primrose(table: Table, primrose: Tile, controller: Player) -> None:
    """The new controller scores for each bloom token, and one point more on Fertilizer (Promos, Fertilizer tokens)."""
    controller.gain(table.printed.bloom_points * primrose.blooms + primrose.fertilizer, "primrose")


def primrose_blooms_again(table: Table) -> None:
    """At the end of a Harvest Phase the Primrose gets a new bloom token, up to the most."""
    primrose = flower(table, "primrose")
    if primrose is not None:
        primrose.blooms = min(primrose.blooms + 1, table.printed.pieces("primrose_blooms"))
