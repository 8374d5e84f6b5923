"""Phase 3: Harvest Phase."""

from __future__ import annotations

from collections import Counter

from tests.reference import flowers, forecasts, powers
from tests.reference.clouds import growing_with
from tests.reference.table import Drops, Player, Steps, Table, Tile, owners_of
from tests.reference.words import HARVEST


def harvest_phase(table: Table) -> Steps[None]:
    """In the final round, or if all three dice show Harvest, all growing crops are harvested.

    In solo also if the neutral player has no drops left at the beginning of the phase (Southern Winds, Harvest Phase).
    """
    table.phase = "harvest"
    by_dice = all(die == HARVEST for die in table.dice)
    if not (table.final_round or by_dice or (table.config.solo and table.neutral.supply == 0)):
        return
    table.harvested = True
    yield from forecasts.window(table, "before_harvest")
    score_fields(table)
    yield from powers.harvest(table)
    yield from forecasts.window(table, "after_harvest")
    flowers.primrose_blooms_again(table)
    table.counts_clouds.clear()
    table.scored.clear()
    table.harvested_drops.clear()


def score_fields(table: Table) -> None:
    """Score all tiles with a growing token; remove the token and return the drops (Scoring).

    Pods are counted before they all go back; the Snowdrop closes (Flowers).
    """
    for tile in table.tiles.values():
        drops = counted_drops(table, tile)
        growing = growing_with(table, tile, drops.total())
        if growing != "none":
            score_tile(table, tile, drops, growing)
            table.scored[tile.name] = drops
            table.harvested_drops[tile.name] = tile.drops
            clear(table, tile)
    flowers.remove_pods(table)
    flowers.close_snowdrop(table)


def counted_drops(table: Table, tile: Tile) -> Drops:
    """The drops on a tile, and for players of forecast card 3 those in the cloud above it."""
    drops = tile.drops.copy()
    if tile.cloud and not tile.closed:
        for seat in table.counts_clouds:
            drops[seat] += tile.cloud.drops[seat]
    return drops


def clear(table: Table, tile: Tile) -> None:
    """The token is removed, the drops on the tile return to their owners; drops in clouds stay."""
    for owner in owners_of(tile.drops):
        table.owners[owner].supply += tile.drops[owner]
    tile.drops = Counter()
    tile.growing = "none"


def place_of(drops: Drops, owner: int) -> int:
    """A place is the number of players with at least as many drops: tied players all get the lower rank (Ties)."""
    return sum(drops[other] >= drops[owner] for other in owners_of(drops))


def score_tile(table: Table, tile: Tile, drops: Drops, growing: str) -> None:
    """Everybody with a drop scores: 1 point more with a Fertilizer token, 1 less with a pod, never less than 0.

    A sprouting Rice scores nothing.
    """
    if tile.crop == "rice" and growing == "sprouting":
        return
    for owner in owners_of(drops):
        player = table.owners[owner]
        points = tile_points(table, tile, drops, growing, player)
        player.gain(max(0, points + tile.fertilizer - tile.pod), str(tile.crop))
        if tile.crop == "wheat" and place_of(drops, owner) == 1:
            player.wheat_tokens += 1


def tile_points(table: Table, tile: Tile, drops: Drops, growing: str, player: Player) -> int:
    """What the tile itself is worth to a player with drops on it.

    Wheat, Cotton, Grass, Potato, Coffee, Cactus and Snowdrop score by places; Corn by the number of players present; a
    developed Rice each own drop; the Dandelion for the pods on other tiles, half of them, rounded down, for second
    place.
    """
    place = place_of(drops, player.seat)
    if tile.crop == "rice":
        return table.printed.rice_points * drops[player.seat]
    if tile.crop == "corn":
        return table.printed.corn_score(len(owners_of(drops)))
    if tile.crop == "dandelion":
        pods = flowers.pods_on_other_tiles(table, tile)
        return {1: pods, 2: pods // 2}.get(place, 0)
    assert tile.crop is not None
    return table.printed.score(tile.crop, growing, place)
