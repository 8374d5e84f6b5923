"""Evergreen as a game of OpenSpiel. Importing this module registers `python_evergreen` (docs/openspiel.md).

```python
import pyspiel

import evergreen_env.openspiel

game = pyspiel.load_game("python_evergreen(players=3)")
```
"""

from __future__ import annotations

from evergreen_env.config import Config
from evergreen_env.game import GAME
from evergreen_env.state import NUM_CARDS
from tabletop_engine.envs.openspiel import Limits, register

__all__ = ["NAME", "limits"]

_TURN = 1 + 2 + 3
"""The most decisions of one turn without those of its power: the card, the order of action and power, three spaces."""
_USE = 1 + 2
"""The most decisions for one use of a power: a space, and for a lake two more spaces beside it."""


def limits(config: Config) -> Limits:
    """Upper bounds for OpenSpiel, counted from the rules. Games are much shorter (docs/openspiel.md)."""
    rounds = int(GAME.load_tables(config.components)["season_rounds"].sum())
    uses = rounds * (rounds + 1) // 2  # the level of a power rises at most once in a round
    return Limits(
        decisions=config.players * (rounds * _TURN + uses * _USE),
        draws=1 + NUM_CARDS + rounds * (config.players + 1),
        outcomes=NUM_CARDS,
    )


NAME = register(GAME, limits)
"""The name of the game for `pyspiel.load_game`."""
