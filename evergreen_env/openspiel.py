"""Evergreen as a game of OpenSpiel's: importing this module registers `python_evergreen` (docs/openspiel.md).

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
from tabletop.envs.openspiel import Limits, register
from tabletop.game import switches_of

__all__ = ["NAME", "limits"]

_TURN = 1 + 2 + 3
"""The most decisions of one turn besides the power's: the card, action and power in their order, three spaces."""
_USE = 1 + 2
"""The most decisions that one use of a power brings: a space, and for a lake two more beside it."""


def limits(config: Config) -> Limits:
    """Upper bounds, counted from the rules; games are much shorter (docs/openspiel.md)."""
    rounds = int(switches_of(config)["rounds"][0])
    uses = rounds * (rounds + 1) // 2  # a power's level rises once a round at most
    return Limits(
        decisions=config.players * (rounds * _TURN + uses * _USE),
        draws=1 + NUM_CARDS + rounds * (config.players + 1),
        outcomes=NUM_CARDS,
    )


NAME = register(GAME, limits)
"""What `pyspiel.load_game` knows it as."""
