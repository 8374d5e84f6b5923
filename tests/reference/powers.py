"""Petrichor: Fiori (Flowers), Poteri dei giocatori: what each player power changes."""

from __future__ import annotations

from collections import Counter

from tests.reference import cards
from tests.reference.clouds import add_drops, land, look_at_tile
from tests.reference.table import Player, Question, Steps, Table, Tile, choose_tile


def deal_powers(table: Table) -> None:
    """At the end of setup every player takes a power at random, from the First Player (Setup)."""
    if table.config.powers:
        return
    for player in table.turn_order():
        player.power = table.chance.power(player.seat)
    assert len({player.power for player in table.players}) == len(table.players)
    assert all(player.power in ("frost", "sun", "wind", "rain", "harvest") for player in table.players)


def frost(table: Table, player: Player, tile: Tile) -> Steps[None]:
    """Gelo: one more drop from the supply in the cloud that the Frost action has created, optionally."""
    if player.power != "frost" or not player.supply:
        return
    answer = yield Question("frost_power", player.seat, ("power", "decline"))
    if answer == "power":
        assert tile.cloud is not None
        add_drops(tile.cloud, player, 1)


def cards_as_suns(player: Player, optional: bool) -> list[cards.CardSet]:
    """Sole: any card is played as a Sun, in the optional action too.

    Sets of Suns alone are left out; in the others a Sun comes first.
    """
    sets = cards.card_sets(player.hand, 2 if optional else 1)
    return [tuple(sorted(named, key=lambda kind: kind != "sun")) for named in sets if set(named) != {"sun"}]


def wind(table: Table, start: Tile) -> list[Tile]:
    """Vento: the cloud moves on as far as the player likes, also through other clouds; only the end counts."""
    return [tile for tile in table.tiles.values() if tile is not start]


def rain_tiles(table: Table, player: Player) -> list[Tile]:
    """Pioggia: crop tiles without a cloud, for a drop from the supply. The Lake is no crop, the Snowdrop must be
    open."""
    if player.power != "rain" or not player.supply:
        return []
    return [tile for tile in table.tiles_without_clouds() if tile.crop != "lake" and not tile.closed]


def choose_rain(
    table: Table, player: Player, drops: list[tuple[Tile, int]], power_tiles: list[Tile]
) -> Steps[Tile | tuple[Tile, int] | None]:
    """The first drop of a Rain action: from a cloud, or by the power onto a tile.

    Using a power is optional: if no normal Rain is possible, the player may decline.
    """
    named: dict[str, Tile | tuple[Tile, int]] = {}
    for tile, owner in drops:
        named[f"drop {tile.name} {table.owner_name(player, owner)}"] = (tile, owner)
    for tile in power_tiles:
        named[f"tile {tile.name}"] = tile
    answer = yield Question("rain_drop", player.seat, (*named, *(["decline"] if not drops else [])))
    return named.get(answer)


def rain(table: Table, player: Player, tile: Tile) -> None:
    """Pioggia: an own drop from the supply onto the tile, in place of the normal action. The vote is as usual."""
    player.supply -= 1
    land(table, tile, Counter([player.seat]))
    look_at_tile(table, tile)


KEPT_DROPS = 3


def harvest(table: Table) -> Steps[None]:
    """Raccolto: at the end of the Harvest keep one own drop on each of up to three harvested tiles.

    They are named in reading order. All drops have gone back to their owners; a kept one is put on its tile again.
    """
    for player in table.turn_order():
        if player.power != "harvest":
            continue
        tiles = [tile for tile in table.tiles.values() if table.harvested_drops.get(tile.name, Counter())[player.seat]]
        for _ in range(KEPT_DROPS):
            if not tiles:
                break
            tile = yield from choose_tile("keep_drop", player, tiles, may_decline=True)
            if tile is None:
                break
            player.supply -= 1
            tile.drops[player.seat] += 1
            look_at_tile(table, tile)
            tiles = tiles[tiles.index(tile) + 1 :]
