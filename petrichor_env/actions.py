"""The action space: one `Discrete(NUM_ACTIONS)` for every configuration, made of named ranges.

| range | actions | answers |
|---|---|---|
| pass | 1 | turn |
| decline | 1 | "no", "no more": optional action, frost tile or cloud, sun cloud, rain's second drop, \
sun weather's cloud, powers, forecast cards |
| play w | 4 | turn (one card), optional action (two cards of the kind) |
| substitute w | 4 | turn, optional action: some cards stand for others; `card` actions then name them |
| card w | 4 | pay, draft, discard: several cards at once are named one by one in ascending order of kinds, \
an optional action's own kind first |
| tile t | 16 | a tile, or the cloud above it: setup cloud, frost, sun, wind, take drop, sun weather, fertilizer, pod, \
forecast, rain (the Rain power's own drop), keep drop |
| drop t o | 80 | rain: owner o's drop falls from the cloud on t; wind weather and forecast: owner o's drop on tile t |
| direction d | 4 | wind, wind weather, forecast |
| vote w | 4 | vote, forecast |
| die k | 4 | vote: decrease a Harvest die that shows k votes |
| weather w | 4 | move vote: take the vote from there; choose weather: select that space |
| forecast n | 16 | turn, forecast: play forecast card n |
| power | 1 | frost power: a second drop in the new cloud |

Owners count clockwise from the actor: 0 is the actor, in solo 1 the neutral player.
"""

from __future__ import annotations

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
"""One distinct name an action, by index."""

ACTIONS = {name: action for action, name in enumerate(ACTION_NAMES)}
"""The action of a name."""


def action_name(action: int) -> str:
    """What `action` (0 to NUM_ACTIONS - 1) does, in words. Raises IndexError outside."""
    if not 0 <= action < NUM_ACTIONS:
        raise IndexError(f"action {action}: 0 to {NUM_ACTIONS - 1}")
    return ACTION_NAMES[action]
