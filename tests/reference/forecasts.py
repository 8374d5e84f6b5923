"""Petrichor: Fiori (Flowers), Carte Previsione: the sixteen forecast cards, and when they are played.

A card is playable only if it changes something: it has a target, its drops are in the supply, and there is a cloud for
a new one. Forecast cards are not used on the Lake: they neither move, fill nor pour out its cloud, and put nothing on
it. No player can choose to put drops on a closed Snowdrop (Bucaneve).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

from tests.reference import voting
from tests.reference.clouds import (
    add_drops,
    blow_chosen_drop,
    create_cloud,
    land,
    look_at_clouds,
    look_at_tile,
    move_cloud,
    pour_out,
    rain_drop,
)
from tests.reference.table import (
    Player,
    Question,
    Steps,
    Table,
    Tile,
    choose_drop,
    choose_tile,
    owners_of,
)
from tests.reference.words import HARVEST, WEATHERS

NUM_CARDS = 16
CARDS_EACH = 3

# --- Holding and playing forecast cards ------------------------------------------------------------------------------


def deal_forecasts(table: Table) -> None:
    """At the end of setup everybody gets three forecast cards (Setup)."""
    dealt: set[int] = set()
    for player in table.turn_order():
        player.forecasts = set(table.chance.forecast_cards(player.seat))
        assert len(player.forecasts) == CARDS_EACH and not player.forecasts & dealt
        assert all(1 <= card <= NUM_CARDS for card in player.forecasts)
        dealt |= player.forecasts


def can_play(table: Table, player: Player, card: int) -> bool:
    return card in player.forecasts and CARDS[card].playable(table, player)


def instead_of_turn(table: Table, player: Player) -> list[str]:
    """Cards without a timeline are played in place of a turn's action cards: no vote, no optional action after them."""
    cards = [card for card in CARDS if CARDS[card].timing == "turn" and can_play(table, player, card)]
    return [f"forecast {card}" for card in cards]


def window(table: Table, timing: str, players: Iterable[Player] | None = None) -> Steps[bool]:
    """A point of the timeline: the holders of playable cards are asked, once each from the First Player; a player who
    has played is asked again for another card.

    Returns:
        Whether anybody has played a card.
    """
    anybody = False
    for player in table.turn_order() if players is None else players:
        answer = ""
        while answer != "decline":
            cards = [card for card in CARDS if CARDS[card].timing == timing and can_play(table, player, card)]
            if not cards:
                break
            answer = yield Question("forecast", player.seat, (*(f"forecast {card}" for card in cards), "decline"))
            if answer != "decline":
                anybody = True
                yield from play(table, player, int(answer.removeprefix("forecast ")))
    return anybody


def play(table: Table, player: Player, card: int) -> Steps[None]:
    """The card leaves the game.

    When a player's second card is played, the third is discarded. Then the card takes effect.
    """
    player.forecasts.remove(card)
    table.forecasts_played.add(card)
    if len(player.forecasts) == 1:
        table.forecasts_played |= player.forecasts
        player.forecasts = set()
    yield from CARDS[card].effect(table, player)


# --- Where forecast cards can be used --------------------------------------------------------------------------------


def clouds_off_lake(table: Table) -> list[Tile]:
    return [tile for tile in table.tiles_with_clouds() if tile.crop != "lake"]


def takes_drops(tile: Tile) -> bool:
    """Whether a forecast card can put a drop on this tile by choice."""
    return tile.crop != "lake" and not tile.closed


# --- 1 Before the Harvest: 1 point for each tile with an own drop on it ----------------------------------------------


def can_score_presence(table: Table, player: Player) -> bool:
    return bool(table.tiles_with_own_drops(player))


def score_presence(table: Table, player: Player) -> Steps[None]:
    player.gain(len(table.tiles_with_own_drops(player)), "cards")
    yield from ()


# --- 2 After the Harvest: choose a tile of it, 1 point for each own drop beyond the third ----------------------------

FREE_DROPS = 3


def big_harvests(table: Table, player: Player) -> list[Tile]:
    return [table.tiles[name] for name, drops in table.scored.items() if drops[player.seat] > FREE_DROPS]


def score_big_harvest(table: Table, player: Player) -> Steps[None]:
    tile = yield from choose_tile("forecast_tile", player, big_harvests(table, player))
    assert tile is not None
    player.gain(table.scored[tile.name][player.seat] - FREE_DROPS, "cards")


# --- 3 Before the Harvest: own drops in clouds count as if they lay on the tile, for growing too ---------------------


def can_count_clouds(table: Table, player: Player) -> bool:
    tiles = table.tiles_with_own_clouds(player)
    return any(takes_drops(tile) and tile.crop != "primrose" for tile in tiles)


def count_clouds(table: Table, player: Player) -> Steps[None]:
    table.counts_clouds.add(player.seat)
    yield from ()


# --- 4 After the Harvest, 16 instead of the turn: a new cloud with own drops on a tile without one -------------------


def tiles_for_cloud(table: Table) -> list[Tile]:
    return [tile for tile in table.tiles_without_clouds() if tile.crop != "lake"]


def can_create(drops: int) -> Callable[[Table, Player], bool]:
    def playable(table: Table, player: Player) -> bool:
        return player.supply >= drops and table.clouds_left() > 0 and bool(tiles_for_cloud(table))

    return playable


def create(drops: int) -> Callable[[Table, Player], Steps[None]]:
    def effect(table: Table, player: Player) -> Steps[None]:
        tile = yield from choose_tile("forecast_tile", player, tiles_for_cloud(table))
        assert tile is not None
        create_cloud(table, tile, player, drops)
        look_at_clouds(table)

    return effect


# --- 5 At the beginning of the Weather Phase: add a vote to any weather ----------------------------------------------


def spaces_for_vote(table: Table, player: Player) -> list[str]:
    return [weather for weather in WEATHERS if voting.can_vote(table, player, weather)]


def can_add_vote(table: Table, player: Player) -> bool:
    return bool(spaces_for_vote(table, player))


def add_vote(table: Table, player: Player) -> Steps[None]:
    spaces = spaces_for_vote(table, player)
    answer = yield Question("forecast_vote", player.seat, tuple(f"vote {weather}" for weather in spaces))
    yield from voting.place_vote(table, player, answer.removeprefix("vote "))


# --- 6 Before Rain weather: pour out any cloud -----------------------------------------------------------------------


def clouds_to_pour(table: Table) -> list[Tile]:
    return [tile for tile in clouds_off_lake(table) if not tile.closed]


def can_pour(table: Table, player: Player) -> bool:
    return bool(clouds_to_pour(table))


def pour(table: Table, player: Player) -> Steps[None]:
    tile = yield from choose_tile("forecast_tile", player, clouds_to_pour(table))
    assert tile is not None
    pour_out(table, tile)
    look_at_tile(table, tile)


# --- 7 In the own turn of Sun weather: instead of doubling add two drops to every own cloud --------------------------

SUN_DROPS = 2


def own_clouds(table: Table, player: Player) -> list[Tile]:
    return [tile for tile in table.tiles_with_own_clouds(player) if tile.crop != "lake"]


def can_fill_own_clouds(table: Table, player: Player) -> bool:
    clouds = len(own_clouds(table, player))
    return clouds > 0 and player.supply >= SUN_DROPS * clouds


def fill_own_clouds(table: Table, player: Player) -> Steps[None]:
    for tile in own_clouds(table, player):
        assert tile.cloud is not None
        add_drops(tile.cloud, player, SUN_DROPS)
    look_at_clouds(table)
    yield from ()


# --- 8 Before Wind weather: move an own drop to an adjacent tile -----------------------------------------------------


def tiles_to_leave(table: Table, player: Player) -> list[Tile]:
    tiles = table.tiles_with_own_drops(player)
    return [tile for tile in tiles if any(takes_drops(end) for end in table.neighbours(tile))]


def can_move_own_drop(table: Table, player: Player) -> bool:
    return bool(tiles_to_leave(table, player))


def move_own_drop(table: Table, player: Player) -> Steps[None]:
    drops = [(tile, player.seat) for tile in tiles_to_leave(table, player)]
    yield from blow_chosen_drop(table, "forecast", player, drops, takes_drops)


# --- 9 Before Rain weather: place a drop from the supply on a tile ---------------------------------------------------


def tiles_for_drop(table: Table) -> list[Tile]:
    return [tile for tile in table.tiles.values() if takes_drops(tile)]


def can_place_drop(table: Table, player: Player) -> bool:
    return player.supply >= 1 and bool(tiles_for_drop(table))


def place_drop(table: Table, player: Player) -> Steps[None]:
    tile = yield from choose_tile("forecast_tile", player, tiles_for_drop(table))
    assert tile is not None
    player.supply -= 1
    land(table, tile, Counter([player.seat]))
    look_at_tile(table, tile)


# --- 10 Instead of the turn: move any cloud to any other tile and add an own drop to it ------------------------------


def can_carry(table: Table, player: Player) -> bool:
    return player.supply >= 1 and bool(clouds_off_lake(table))


def carry(table: Table, player: Player) -> Steps[None]:
    start = yield from choose_tile("forecast_tile", player, clouds_off_lake(table))
    assert start is not None
    ends = [tile for tile in table.tiles.values() if tile is not start and tile.crop != "lake"]
    end = yield from choose_tile("forecast_tile", player, ends)
    assert end is not None
    move_cloud(start, end)
    assert end.cloud is not None
    add_drops(end.cloud, player, 1)
    look_at_clouds(table)


# --- 11 Instead of the turn: exactly three drops, of any owners, from a tile to the cloud above it -------------------

RISING_DROPS = 3


def threes(table: Table, player: Player) -> list[tuple[Tile, tuple[int, ...]]]:
    """Tiles with the owners of three drops, which are named clockwise from the player."""
    found = []
    for tile in clouds_off_lake(table):
        drops = [owner for owner in table.owners_from(player) for _ in range(tile.drops[owner])]
        found += [(tile, owners) for owners in dict.fromkeys(combinations(drops, RISING_DROPS))]
    return found


def can_raise(table: Table, player: Player) -> bool:
    return bool(threes(table, player))


def raise_drops(table: Table, player: Player) -> Steps[None]:
    left = threes(table, player)
    for named in range(RISING_DROPS):
        drops = [(tile, owners[named]) for tile, owners in left]
        chosen = yield from choose_drop(table, "forecast_drop", player, drops)
        assert chosen is not None
        left = [(tile, owners) for tile, owners in left if (tile, owners[named]) == chosen]
    ((tile, owners),) = left
    assert tile.cloud is not None
    tile.drops -= Counter(owners)
    tile.cloud.drops += Counter(owners)
    look_at_tile(table, tile)
    look_at_clouds(table)


# --- 12 Instead of the turn: three own drops into any cloud with four or fewer ---------------------------------------

LIGHT_ENOUGH = 4
HEAVY_DROPS = 3


def clouds_to_fill(table: Table) -> list[Tile]:
    return [tile for tile in clouds_off_lake(table) if tile.cloud and tile.cloud.total <= LIGHT_ENOUGH]


def can_fill(table: Table, player: Player) -> bool:
    return player.supply >= HEAVY_DROPS and bool(clouds_to_fill(table))


def fill(table: Table, player: Player) -> Steps[None]:
    tile = yield from choose_tile("forecast_tile", player, clouds_to_fill(table))
    assert tile is not None and tile.cloud is not None
    add_drops(tile.cloud, player, HEAVY_DROPS)
    look_at_clouds(table)


# --- 13 Instead of the turn: turn all dice to Harvest, 3 points ------------------------------------------------------


def always(table: Table, player: Player) -> bool:
    return True


def turn_dice(table: Table, player: Player) -> Steps[None]:
    table.dice = [HARVEST] * 3
    player.gain(3, "cards")
    yield from ()


# --- 14 Instead of the turn: an own drop into every cloud without the player -----------------------------------------


def clouds_without(table: Table, player: Player) -> list[Tile]:
    own = table.tiles_with_own_clouds(player)
    return [tile for tile in clouds_off_lake(table) if tile not in own]


def can_join(table: Table, player: Player) -> bool:
    clouds = len(clouds_without(table, player))
    return clouds > 0 and player.supply >= clouds


def join(table: Table, player: Player) -> Steps[None]:
    for tile in clouds_without(table, player):
        assert tile.cloud is not None
        add_drops(tile.cloud, player, 1)
    look_at_clouds(table)
    yield from ()


# --- 15 Instead of the turn: one drop rains from every cloud ---------------------------------------------------------


def can_drizzle(table: Table, player: Player) -> bool:
    return bool(clouds_off_lake(table))


def drizzle(table: Table, player: Player) -> Steps[None]:
    """The player chooses the drop of each cloud, in reading order. One that falls on a closed Snowdrop goes back."""
    for tile in clouds_off_lake(table):
        assert tile.cloud is not None
        drops = [(tile, owner) for owner in owners_of(tile.cloud.drops)]
        chosen = yield from choose_drop(table, "forecast_drop", player, drops)
        assert chosen is not None
        rain_drop(table, *chosen)
        look_at_tile(table, tile)


# --- All of them -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ForecastCard:
    """When a card is played, whether a player can play it now, and what it does."""

    timing: str
    playable: Callable[[Table, Player], bool]
    effect: Callable[[Table, Player], Steps[None]]


CARDS = {
    1: ForecastCard("before_harvest", can_score_presence, score_presence),
    2: ForecastCard("after_harvest", lambda table, player: bool(big_harvests(table, player)), score_big_harvest),
    3: ForecastCard("before_harvest", can_count_clouds, count_clouds),
    4: ForecastCard("after_harvest", can_create(2), create(2)),
    5: ForecastCard("start_of_weather", can_add_vote, add_vote),
    6: ForecastCard("before_rain", can_pour, pour),
    7: ForecastCard("sun_turn", can_fill_own_clouds, fill_own_clouds),
    8: ForecastCard("before_wind", can_move_own_drop, move_own_drop),
    9: ForecastCard("before_rain", can_place_drop, place_drop),
    10: ForecastCard("turn", can_carry, carry),
    11: ForecastCard("turn", can_raise, raise_drops),
    12: ForecastCard("turn", can_fill, fill),
    13: ForecastCard("turn", always, turn_dice),
    14: ForecastCard("turn", can_join, join),
    15: ForecastCard("turn", can_drizzle, drizzle),
    16: ForecastCard("turn", can_create(3), create(3)),
}
