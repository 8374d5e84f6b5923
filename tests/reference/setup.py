"""Setup: the Fields, cards, dice, first clouds; the changes of the solo game and the modules."""

from __future__ import annotations

from collections import Counter

from tests.reference import cards, forecasts, powers, promos
from tests.reference.cleanup import roll_dice
from tests.reference.clouds import create_cloud
from tests.reference.printed import BASE_CROPS
from tests.reference.southern_winds import ALL_CARDS, roll_die
from tests.reference.table import Player, Steps, Table, Tile, choose_tile


def set_up(table: Table) -> Steps[None]:
    """Fields, First Player, cards, Harvest dice, clouds; then powers and forecast cards."""
    config = table.config
    if config.powers:
        for player, power in zip(table.players, config.powers, strict=True):
            player.power = power
    lay_out_fields(table)
    if "fertilizer" in config.modules:
        choose_first_player(table)
        yield from promos.place_fertilizer(table)
        turn_up_tiles(table)
    else:
        turn_up_tiles(table)
        choose_first_player(table)
    if config.solo:
        roll_first_clouds(table)
        table.southern_winds = set(ALL_CARDS)
    cards.shuffle_new_deck(table)
    yield from first_cards(table)
    if not config.solo:
        for player in reversed(table.turn_order()):
            yield from place_first_cloud(table, player)
    if "powers" in config.modules:
        powers.deal_powers(table)
    if "forecasts" in config.modules:
        forecasts.deal_forecasts(table)


# --- The Fields ------------------------------------------------------------------------------------------------------

GRIDS = {1: (2, 3), 2: (3, 3), 3: (3, 3), 4: (4, 3), 5: (4, 4)}
"""Columns and rows by number of players (Setup; Southern Winds, Setup 3; Flowers, five players)."""
EMPTY_CORNERS = ("a1", "c3")
"""Two players leave two opposing corners empty."""


def lay_out_fields(table: Table) -> None:
    """The positions of the Fields, with tiles that lie face down."""
    columns, rows = GRIDS[table.config.players]
    for row in range(rows):
        for column in range(columns):
            name = f"{'abcd'[column]}{row + 1}"
            if table.config.players != 2 or name not in EMPTY_CORNERS:
                table.tiles[name] = Tile(name, column, row)


def pile(table: Table) -> Counter[str]:
    """The tiles that the Fields are drawn from.

    Two players remove Corn. Promo and flower tiles join, one of each (Promos, New tiles; Flowers, Le tessere Fiori).
    """
    config = table.config
    tiles = Counter({crop: table.printed.copies(crop) for crop in BASE_CROPS})
    if config.players == 2:
        del tiles["corn"]
    tiles += Counter(crop for crop in ("cactus", "lake") if crop in config.modules)
    if "flower_tiles" in config.modules:
        tiles += Counter(["snowdrop", "dandelion", "primrose"])
    return tiles


def solo_pile(table: Table) -> dict[str, list[float]]:
    """The priorities of the tiles with a compass, by crop; "No More Tricks" removes Wheat and Potato."""
    removed = ("wheat", "potato") if "no_more_tricks" in table.config.variants else ()
    return {crop: table.printed.priorities(crop) for crop in pile(table) if crop not in removed}


def turn_up_tiles(table: Table) -> None:
    """Flip the tiles face up. The Primrose begins with one bloom token (Flowers, Primula)."""
    left = pile(table)
    priorities = solo_pile(table) if table.config.solo else {}
    last = 0.0
    for tile in table.tiles.values():
        tile.crop = table.chance.tile(tile.name)
        assert left[tile.crop] > 0, f"no {tile.crop} left"
        left[tile.crop] -= 1
        if tile.crop == "primrose":
            tile.blooms = 1
        if table.config.solo:
            higher = [priority for priority in priorities[tile.crop] if priority > last]
            assert higher, f"{tile.name}: no {tile.crop} has a priority above {last}"
            last = higher[0]


# --- First Player, cards, clouds -------------------------------------------------------------------------------------


def choose_first_player(table: Table) -> None:
    """The marker is not used in solo."""
    if not table.config.solo:
        table.first_player = table.players[table.chance.first_player()]


def first_cards(table: Table) -> Steps[None]:
    """Deal or draft; the second of two players gets one card more, after a draft directly into the hand.

    The Harvest dice are rolled when the cards are dealt, before a draft.
    """
    cards.deal(table, "pack" if table.config.drafting else "hand")
    if table.config.players == 2 and not table.config.drafting:
        cards.deal_card(table, table.turn_order()[1], "hand")
    table.dice = []
    roll_dice(table)
    if table.config.drafting:
        yield from cards.draft(table)
        if table.config.players == 2:
            cards.deal_card(table, table.turn_order()[1], "hand")


def place_first_cloud(table: Table, player: Player) -> Steps[None]:
    """From the last player counter-clockwise, everybody places a cloud with a drop on an empty tile."""
    tile = yield from choose_tile("setup_cloud", player, table.tiles_without_clouds())
    assert tile is not None
    create_cloud(table, tile, player, 1)


def roll_first_clouds(table: Table) -> None:
    """Solo: two neutral clouds and one of yours, on rolled positions that are free (Southern Winds, Setup 4 and 5)."""
    positions = list(table.tiles.values())
    for owner in (table.neutral, table.neutral, table.players[0]):
        tile = positions[roll_die(table) - 1]
        while tile.cloud:
            tile = positions[roll_die(table) - 1]
        create_cloud(table, tile, owner, 1)
