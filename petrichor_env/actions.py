"""The action space: one `Discrete(NUM_ACTIONS)` for every configuration, made of named ranges.

| range | numbers | meaning, and the decisions that it answers |
|---|---|---|
| `pass` | 0 | pass (`turn`) |
| `decline` | 1 | "no" or "no more" (`optional_action`, `frost_tile`, `frost_cloud`, `frost_power`, `sun_cloud`, \
`rain_drop`, `rain_second_drop`, `sun_weather_cloud`, `forecast`, `keep_drop`) |
| `play w` | 2 to 5 | play one card of the kind (`turn`), or two of the kind (`optional_action`) |
| `substitute w` | 6 to 9 | do the action with cards that stand for others, which `card` actions name next (`turn`, \
`optional_action`) |
| `card w` | 10 to 13 | name one card of the kind (`pay`, `draft`, `discard`); several cards are named one by one in \
ascending order of kinds, but in an optional action a card of the action's own kind comes first |
| `tile t` | 14 to 29 | choose a tile, or the cloud above it (`setup_cloud`, `fertilizer_tile`, `frost_tile`, \
`frost_cloud`, `sun_cloud`, `wind_cloud`, `wind_tile`, `take_drop`, `sun_weather_cloud`, `pod_tile`, `forecast_tile`, \
`keep_drop`); with the Rain power, the tile that gets an own drop (`rain_drop`) |
| `drop t o` | 30 to 109 | owner o's drop in the cloud above the tile falls (`rain_drop`, `rain_second_drop`, and \
`forecast_drop` of card 15); owner o's drop on the tile (`wind_weather_drop`, `forecast_drop` of cards 8 and 11) |
| `move d` | 110 to 113 | move in that direction (`wind_direction`, `wind_weather_direction`, `forecast_direction`) |
| `vote w` | 114 to 117 | vote for that weather space (`vote`, `forecast_vote`) |
| `die k` | 118 to 121 | decrease a Harvest die that shows k votes (`vote`) |
| `weather w` | 122 to 125 | take the vote from that space (`move_vote`), or select that space (`choose_weather`) |
| `forecast n` | 126 to 141 | play forecast card n (`turn`, `forecast`) |
| `power` | 142 | put a second drop into the new cloud (`frost_power`) |

Kinds of cards and weather spaces w are frost, sun, wind, rain; directions d are north, east, south, west. Owners o
count clockwise from the actor: 0 is the actor, and in solo 1 is the neutral player. The number of `drop t o` is
`DROP + 5 * tile + owner`, with tiles from 0 in the order of `tile t`.
"""

from __future__ import annotations

from bisect import bisect_right

from petrichor_env.state import DIRECTION_NAMES, MAX_PLAYERS, NUM_FORECASTS, NUM_TILES, TILE_NAMES, WEATHER_NAMES

PASS = 0
DECLINE = 1
PLAY = 2
SUBSTITUTE = PLAY + 4
CARD = SUBSTITUTE + 4
TILE = CARD + 4
DROP = TILE + NUM_TILES
DIRECTION = DROP + NUM_TILES * MAX_PLAYERS
VOTE = DIRECTION + 4
DIE = VOTE + 4
WEATHER = DIE + 4
FORECAST = WEATHER + 4
POWER = FORECAST + NUM_FORECASTS
NUM_ACTIONS = POWER + 1
"""How many actions there are, in every configuration."""
RANGES = (PASS, DECLINE, PLAY, SUBSTITUTE, CARD, TILE, DROP, DIRECTION, VOTE, DIE, WEATHER, FORECAST, POWER)
"""The first action of each range."""

_OWNERS = ("own", "1st to the left", "2nd to the left", "3rd to the left", "4th to the left")


def _names() -> tuple[str, ...]:
    names = ["pass", "decline"]
    for verb in ("play", "substitute", "card"):
        names += [f"{verb} {kind}" for kind in WEATHER_NAMES]
    names += [f"tile {tile}" for tile in TILE_NAMES]
    names += [f"drop {tile} {owner}" for tile in TILE_NAMES for owner in _OWNERS]
    names += [f"move {direction}" for direction in DIRECTION_NAMES]
    names += [f"vote {kind}" for kind in WEATHER_NAMES]
    names += [f"die {votes}" for votes in (1, 2, 3, 4)]
    names += [f"weather {kind}" for kind in WEATHER_NAMES]
    names += [f"forecast {number}" for number in range(1, NUM_FORECASTS + 1)]
    names += ["power"]
    return tuple(names)


ACTION_NAMES = _names()
"""The name of each action, by its number. No two are equal."""

ACTIONS = {name: action for action, name in enumerate(ACTION_NAMES)}
"""The number of each action, by its name."""


_STARTS = sorted(RANGES)


def range_of(action: int) -> tuple[int, int]:
    """The first action of the range that an action belongs to, and the index of the action in this range."""
    first = _STARTS[bisect_right(_STARTS, action) - 1]
    return first, action - first


def action_name(action: int) -> str:
    """The name of `action`, 0 to NUM_ACTIONS - 1. Raises IndexError for other numbers."""
    if not 0 <= action < NUM_ACTIONS:
        raise IndexError(f"action {action}: 0 to {NUM_ACTIONS - 1}")
    return ACTION_NAMES[action]
