"""Phase 2: Weather Phase."""

from __future__ import annotations

from collections.abc import Callable

from tests.reference import flowers, forecasts, southern_winds, voting
from tests.reference.actions import take_drops
from tests.reference.clouds import add_drops, blow_chosen_drop, look_at_clouds, look_at_tile, pour_out
from tests.reference.table import (
    Player,
    Question,
    Steps,
    Table,
    Tile,
    choose_tile,
    owners_of,
)
from tests.reference.words import WEATHERS


def weather_phase(table: Table) -> Steps[None]:
    """Select the Weather spaces, resolve them in clockwise order from Frost; winners advance, votes return."""
    table.phase = "weather"
    yield from forecasts.window(table, "start_of_weather")
    selected = yield from select_spaces(table)
    for weather in WEATHERS:
        if weather in selected or (table.final_round and voting.total_votes(table, weather)):
            yield from EFFECTS[weather](table)
            if weather in selected:
                voting.win_vote(table, weather)
            voting.return_votes(table, weather)
    if len(table.players) == 2:
        voting.change_first_player_of_two(table)


def select_spaces(table: Table) -> Steps[list[str]]:
    """The two spaces with most votes; the First Player chooses among tied ones, one at a time (Resolving Weather
    Spaces).

    Spaces without votes count as tied. In the final round every space with a vote is resolved; these two are the ones
    that count for Voting Wins, and a space without votes is never selected.
    """
    left = [weather for weather in WEATHERS if voting.total_votes(table, weather) or not table.final_round]
    selected: list[str] = []
    while left and len(selected) < 2:
        most = max(voting.total_votes(table, weather) for weather in left)
        tied = [weather for weather in left if voting.total_votes(table, weather) == most]
        if len(selected) + len(tied) <= 2:
            chosen = tied
        else:
            answer = yield Question("choose_weather", table.first_player.seat, tuple(f"weather {w}" for w in tied))
            chosen = [answer.removeprefix("weather ")]
        selected += chosen
        left = [weather for weather in left if weather not in chosen]
    return selected


# --- Weather Effects Explained ---------------------------------------------------------------------------------------


def frost_weather(table: Table) -> Steps[None]:
    """All light clouds become thunderclouds. Then the Snowdrop opens (Flowers, Bucaneve)."""
    for tile in table.tiles_with_clouds():
        assert tile.cloud is not None
        tile.cloud.thunder = True
    flowers.open_snowdrop(table)
    yield from ()


def sun_weather(table: Table) -> Steps[None]:
    """From the First Player clockwise, everybody doubles their drops in one cloud. In the end sprouting Coffee
    develops.

    In solo the neutral player comes first (Weather phase differences).
    """
    if table.config.solo:
        southern_winds.sun_weather(table)
    for player in table.turn_order():
        instead = yield from forecasts.window(table, "sun_turn", [player])
        if not instead:
            yield from double_cloud(table, player)
            look_at_clouds(table)
    develop(table, "coffee")


def double_cloud(table: Table, player: Player) -> Steps[None]:
    """Double the own drops in a cloud, with drops from the supply, then from tiles: all of them or none.

    A player who can double a cloud from the supply alone must double one; others may decline.
    """
    own = {tile.name: tile.cloud.drops[player.seat] for tile in table.tiles.values() if tile.cloud}
    within_reach = player.supply + table.drops_on_tiles(player)
    tiles = [tile for tile in table.tiles_with_own_clouds(player) if own[tile.name] <= within_reach]
    if not tiles:
        return
    must = any(own[tile.name] <= player.supply for tile in tiles)
    tile = yield from choose_tile("sun_weather_cloud", player, tiles, may_decline=not must)
    if tile is None:
        return
    yield from take_drops(table, player, own[tile.name])
    assert tile.cloud is not None
    add_drops(tile.cloud, player, own[tile.name])


def wind_weather(table: Table) -> Steps[None]:
    """From the last player anti-clockwise, everybody moves any drop that lies on a tile to an adjacent one.

    Drops can't be put on a closed Snowdrop (Flowers, Bucaneve). Then the southern wind blows in solo, and a growing
    Dandelion spreads its pods.
    """
    yield from forecasts.window(table, "before_wind")
    for player in reversed(table.turn_order()):
        yield from move_drop(table, player)
    if table.config.solo:
        southern_winds.wind_weather(table)
    yield from flowers.place_pods(table)


def move_drop(table: Table, player: Player) -> Steps[None]:
    def allowed(end: Tile) -> bool:
        return not end.closed

    drops = [
        (tile, owner)
        for tile in table.tiles.values()
        if any(allowed(end) for end in table.neighbours(tile))
        for owner in owners_of(tile.drops)
    ]
    if not drops:
        return
    yield from blow_chosen_drop(table, "wind_weather", player, drops, allowed)


def rain_weather(table: Table) -> Steps[None]:
    """All thunderclouds pour out and are removed. Then sprouting Rice develops."""
    yield from forecasts.window(table, "before_rain")
    tiles = [tile for tile in table.tiles_with_clouds() if tile.cloud and tile.cloud.thunder]
    for tile in tiles:
        pour_out(table, tile)
    for tile in tiles:
        look_at_tile(table, tile)
    develop(table, "rice")


def develop(table: Table, crop: str) -> None:
    """Flip the growing token of a sprouting crop (Scoring, Coffee and Rice)."""
    for tile in table.tiles.values():
        if tile.crop == crop and tile.growing == "sprouting":
            tile.growing = "developed"


EFFECTS: dict[str, Callable[[Table], Steps[None]]] = {
    "frost": frost_weather,
    "sun": sun_weather,
    "wind": wind_weather,
    "rain": rain_weather,
}
