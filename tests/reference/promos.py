"""Petrichor: Kickstarter Promos. Fertilizer tokens and the Lake; the Maltese Cactus is in clouds.py and harvest.py."""

from __future__ import annotations

from tests.reference.clouds import add_drops
from tests.reference.table import Player, Steps, Table, Tile, choose_tile

# --- Fertilizer tokens -----------------------------------------------------------------------------------------------


def place_fertilizer(table: Table) -> Steps[None]:
    """With all tiles face down, players place tokens in turn order until all are on the board.

    No two of them are orthogonally adjacent, and every token must leave room for the others.
    """
    tokens = table.printed.pieces("fertilizer_tokens")
    for placed in range(tokens):
        player = table.turn_order()[placed % len(table.players)]
        tiles = [tile for tile in free_tiles(table) if rest_fits(table, tile, tokens - placed - 1)]
        tile = yield from choose_tile("fertilizer_tile", player, tiles)
        assert tile is not None
        tile.fertilizer = True


def free_tiles(table: Table) -> list[Tile]:
    """Tiles without a token and not orthogonally adjacent to one."""
    return [
        tile
        for tile in table.tiles.values()
        if not tile.fertilizer and not any(neighbour.fertilizer for neighbour in table.neighbours(tile))
    ]


def rest_fits(table: Table, tile: Tile, number: int) -> bool:
    """Whether that many more tokens find a place after one was placed on this tile."""
    if number == 0:
        return True
    tile.fertilizer = True
    fits = any(rest_fits(table, other, number - 1) for other in free_tiles(table))
    tile.fertilizer = False
    return fits


# --- The Lake --------------------------------------------------------------------------------------------------------

EVAPORATED_DROPS = 3


def evaporate(player: Player, lake: Tile) -> None:
    """A Wind action has moved a cloud onto the Lake: its player adds three own drops, or what the supply has."""
    assert lake.cloud is not None
    add_drops(lake.cloud, player, min(EVAPORATED_DROPS, player.supply))


def ways_from_lake(table: Table, lake: Tile) -> list[Tile]:
    """Where a cloud that leaves the Lake can end: it moves on any number of times, until it merges with a cloud, and
    can't come back to the Lake."""
    ends: list[Tile] = []
    moving = [lake]
    while moving:
        for tile in table.neighbours(moving.pop()):
            if tile is not lake and tile not in ends:
                ends.append(tile)
                if not tile.cloud:
                    moving.append(tile)
    return [tile for tile in table.tiles.values() if tile in ends]
