"""The action space: one `Discrete(NUM_ACTIONS)` for every configuration, made of named ranges.

| range | actions | answers |
|---|---|---|
| draft k | 5 | draft: take the card of slot k, 1 is the leftmost |
| plant three, grow two, plant and grow, anywhere | 4 | turn: begin that action |
| power | 1 | turn: raise the card's power by a level, and use it |
| done | 1 | turn: end it, without what is still open; other decisions: no more spaces |
| space k | 41 | the k-th space of the planet, in reading order, to plant, grow or place something in |
"""

from __future__ import annotations

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

_TURN = ("plant three", "grow two", "plant and grow", "anywhere", "power", "done")

ACTION_NAMES = (
    *(f"draft {slot}" for slot in range(1, MAX_MARKET + 1)),
    *_TURN,
    *(f"space {number}" for number in range(1, MAX_SPACES + 1)),
)
"""One distinct name an action, by index."""

ACTIONS = {name: action for action, name in enumerate(ACTION_NAMES)}
"""The action of a name."""


def action_name(action: int) -> str:
    """What `action` (0 to NUM_ACTIONS - 1) does, in words. Raises IndexError outside."""
    if not 0 <= action < NUM_ACTIONS:
        raise IndexError(f"action {action}: 0 to {NUM_ACTIONS - 1}")
    return ACTION_NAMES[action]
