"""The action space: one `Discrete(NUM_ACTIONS)` for every configuration, made of named ranges.

| range | numbers | meaning |
|---|---|---|
| `draft k` | 0 to 4 | take the card in slot k; slot 1 is the leftmost |
| `plant three` | 5 | begin action 1: up to three sprouts in the biome of the card |
| `grow two` | 6 | begin action 2: up to two growths in the biome of the card |
| `plant and grow` | 7 | begin action 3: a sprout and a growth in the biome of the card |
| `anywhere` | 8 | begin action 4: a sprout or a growth in any biome |
| `power` | 9 | raise the level of the card's power, and use it |
| `done` | 10 | in a turn: end it, without what is still open; inside an action, a power or a lake: no more spaces |
| `space k` | 11 to 51 | plant, grow or place something in the k-th space of the planet, in reading order, from 1 |
"""

from __future__ import annotations

from bisect import bisect_right

from evergreen_env.state import MAX_MARKET, MAX_SPACES

DRAFT = 0
PLANT_THREE = DRAFT + MAX_MARKET
GROW_TWO = PLANT_THREE + 1
PLANT_AND_GROW = GROW_TWO + 1
ANYWHERE = PLANT_AND_GROW + 1
POWER = ANYWHERE + 1
DONE = POWER + 1
SPACE = DONE + 1
"""The first action that is a space of the planet."""
NUM_ACTIONS = SPACE + MAX_SPACES
"""How many actions there are, in every configuration."""
RANGES = (DRAFT, PLANT_THREE, GROW_TWO, PLANT_AND_GROW, ANYWHERE, POWER, DONE, SPACE)
"""The first action of each range."""

_TURN = ("plant three", "grow two", "plant and grow", "anywhere", "power", "done")

ACTION_NAMES = (
    *(f"draft {slot}" for slot in range(1, MAX_MARKET + 1)),
    *_TURN,
    *(f"space {number}" for number in range(1, MAX_SPACES + 1)),
)
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
