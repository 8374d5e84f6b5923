"""Southern Winds – the Solo Game: you, and the neutral player."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tests.reference import actions, cards, voting
from tests.reference.clouds import (
    add_drops,
    blow,
    create_cloud,
    land,
    look_at_clouds,
    look_at_tile,
    move_cloud,
    take_from_tile,
)
from tests.reference.table import Player, Steps, Table, Tile
from tests.reference.words import HARVEST, WEATHERS

RESHUFFLE = 9
ALL_CARDS = range(1, 10)


def you(table: Table) -> Player:
    return table.players[0]


# --- One Round of Play -----------------------------------------------------------------------------------------------


def action_phase(table: Table) -> Steps[None]:
    """A neutral turn, then your turn, until you pass and discard all cards. Your first turn can't be a pass.

    With "One More Turn" the neutral player takes another turn after you have passed.
    """
    first = True
    while True:
        neutral_turn(table)
        passed = yield from actions.turn(table, you(table), first=first)
        if passed:
            break
        first = False
    table.passed = you(table)
    cards.discard_hand(table, you(table))
    if "one_more_turn" in table.config.variants:
        neutral_turn(table)


def neutral_turn(table: Table) -> None:
    """Reveal a card, perform its ability, place its votes, decrease a die for its Harvest icon (Neutral Turn).

    In the double card variant another card comes before it, and its icons are ignored.
    """
    if "double_card" in table.config.variants:
        perform(table, reveal(table))
    card = reveal(table)
    perform(table, card)
    place_votes(table, card)
    if HARVEST in table.printed.icons(card):
        decrease_die(table)


def reveal(table: Table) -> int:
    """The top card; "Reshuffle & Redraw" shuffles all nine cards, and another one is drawn."""
    while True:
        card = table.chance.southern_winds_card()
        assert card in table.southern_winds, f"Southern Winds card {card} is not in the deck"
        table.southern_winds.remove(card)
        if card != RESHUFFLE:
            return card
        table.southern_winds = set(ALL_CARDS)


def perform(table: Table, card: int) -> None:
    """The card's ability on its target. Without a valid target the neutral player gets 1 point instead."""
    targets = valid_targets(table, card)
    if "non_random_targets" in table.config.variants:
        target = select_target(table, card, targets)
    else:
        target = roll_target(table, targets) if targets else None
    if target is None:
        table.neutral.gain(1, "cards")
    else:
        ABILITIES[card](table, target)


def place_votes(table: Table, card: int) -> None:
    """Neutral votes on the spaces of the card's icons, in the weather sequence; 1 point for each missing vote."""
    for weather in WEATHERS:
        for _ in range(table.printed.icons(card).count(weather)):
            if table.neutral.votes:
                table.neutral.votes -= 1
                table.votes[weather][table.neutral.seat] += 1
            else:
                table.neutral.gain(1, "cards")


def decrease_die(table: Table) -> None:
    """A Harvest icon decreases a die: first one that shows 1, then 4, 3, 2."""
    for votes in (1, 4, 3, 2):
        if votes in table.dice:
            voting.decrease_die(table, table.neutral, votes)
            return


# --- Targets ---------------------------------------------------------------------------------------------------------


def valid_targets(table: Table, card: int) -> list[Tile]:
    """The tiles where the card changes anything on the Fields, from P1 to P6.

    If it places neutral water and the supply has none, there are none.
    """
    neutral = table.neutral
    if card in (1, 2, 4, 5, 6) and neutral.supply == 0:
        return []
    if card in (1, 2):
        return list(table.tiles.values())
    if card == 3:
        return table.tiles_with_own_drops(you(table))
    if card == 4:
        return table.tiles_without_clouds() if table.clouds_left() else []
    if card in (5, 6):
        return table.tiles_with_clouds()
    tiles = table.tiles_with_own_clouds(neutral)
    if card == 7:
        mixed = [tile for tile in tiles if tile.cloud and tile.cloud.drops[you(table).seat]]
        return [tile for tile in mixed if north_west(table, tile) is not tile]
    pure = [tile for tile in tiles if tile.cloud and not tile.cloud.drops[you(table).seat]]
    return [tile for tile in pure if south_east(table, tile) is not tile]


def roll_target(table: Table, targets: list[Tile]) -> Tile:
    """The tile that the numeric die shows, or the next position, circling, that is a valid target."""
    roll = roll_die(table)
    positions = list(table.tiles.values())
    for tile in positions[roll - 1 :] + positions[: roll - 1]:
        if tile in targets:
            return tile
    raise AssertionError("there is a target")


def roll_die(table: Table) -> int:
    roll = table.chance.numeric_die()
    assert 1 <= roll <= 6
    return roll


def select_target(table: Table, card: int, targets: list[Tile]) -> Tile | None:
    """Non-random targeting variant: the valid target with the highest number, after these preferences.

    Cards 4, 7 and 8: none. Cards 5 and 6: if possible one where the neutral player has fewer drops than you, on tile
    and cloud together. Cards 1, 2 and 3: tiles where the neutral player has 2 or more drops more than you are ignored.
    """
    if card in (5, 6):
        targets = [tile for tile in targets if lead(tile, with_cloud=True) < 0] or targets
    elif card in (1, 2, 3):
        targets = [tile for tile in targets if lead(tile, with_cloud=False) < 2]
    return targets[-1] if targets else None


def lead(tile: Tile, with_cloud: bool) -> int:
    """How many drops the neutral player has more than you."""
    drops = tile.drops + (tile.cloud.drops if with_cloud and tile.cloud else Counter())
    return drops[1] - drops[0]


# --- Southern Winds Card Reference -----------------------------------------------------------------------------------


def place_on_tile(table: Table, tile: Tile, drops: int) -> None:
    """Cards 1 and 2: neutral drops from the supply directly onto the tile, as many as there are."""
    placed = min(drops, table.neutral.supply)
    table.neutral.supply -= placed
    land(table, tile, Counter({table.neutral.seat: placed}))
    look_at_tile(table, tile)


def remove_your_drop(table: Table, tile: Tile) -> None:
    """Card 3: one of your drops returns from the tile to your supply."""
    you(table).supply += 1
    take_from_tile(table, tile, you(table).seat)


def new_cloud(table: Table, tile: Tile) -> None:
    """Card 4: a new cloud with 2 neutral drops, or as many as there are."""
    create_cloud(table, tile, table.neutral, min(2, table.neutral.supply))
    look_at_clouds(table)


def place_on_cloud(table: Table, tile: Tile) -> None:
    """Cards 5 and 6: a neutral drop into the cloud."""
    assert tile.cloud is not None
    add_drops(tile.cloud, table.neutral, 1)
    look_at_clouds(table)


def move_north_west(table: Table, tile: Tile) -> None:
    """Card 7: move a mixed cloud directly to the north-west."""
    move_cloud(tile, north_west(table, tile))
    look_at_clouds(table)


def move_south_east(table: Table, tile: Tile) -> None:
    """Card 8: move a cloud with only neutral drops directly to the south-east."""
    move_cloud(tile, south_east(table, tile))
    look_at_clouds(table)


def north_west(table: Table, tile: Tile) -> Tile:
    """In the first column only north, from P2 only west; from P1 it can't move."""
    end = table.at(max(tile.column - 1, 0), max(tile.row - 1, 0))
    assert end is not None
    return end


def south_east(table: Table, tile: Tile) -> Tile:
    """In the second column only south, from P5 only east; from P6 it can't move."""
    end = table.at(min(tile.column + 1, 1), min(tile.row + 1, 2))
    assert end is not None
    return end


ABILITIES: dict[int, Callable[[Table, Tile], None]] = {
    1: lambda table, tile: place_on_tile(table, tile, 1),
    2: lambda table, tile: place_on_tile(table, tile, 2),
    3: remove_your_drop,
    4: new_cloud,
    5: place_on_cloud,
    6: place_on_cloud,
    7: move_north_west,
    8: move_south_east,
}


# --- Weather phase differences ---------------------------------------------------------------------------------------


def sun_weather(table: Table) -> None:
    """The neutral player doubles its drops in all clouds, from P6 backward; a cloud that the supply can't cover is
    skipped. All of it is one effect, before your turn."""
    neutral = table.neutral
    for tile in reversed(table.tiles_with_own_clouds(neutral)):
        assert tile.cloud is not None
        if tile.cloud.drops[neutral.seat] <= neutral.supply:
            add_drops(tile.cloud, neutral, tile.cloud.drops[neutral.seat])
    look_at_clouds(table)


def wind_weather(table: Table) -> None:
    """After your move, one of your drops on each of P3 to P6, in this order, moves to the tile to the north."""
    for start in list(table.tiles.values())[2:]:
        if start.drops[you(table).seat]:
            end = table.neighbour(start, "north")
            assert end is not None
            blow(table, start, end, you(table).seat)


# --- Game End --------------------------------------------------------------------------------------------------------


def winner(table: Table) -> Player:
    """You win only with more points than the neutral player."""
    return you(table) if you(table).points > table.neutral.points else table.neutral
