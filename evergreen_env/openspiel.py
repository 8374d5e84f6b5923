"""Evergreen as a game of OpenSpiel. Importing this module registers `python_evergreen` (docs/openspiel.md).

```python
import pyspiel

import evergreen_env.openspiel

game = pyspiel.load_game("python_evergreen(players=3)")
```
"""

from __future__ import annotations

from evergreen_env.game import GAME
from evergreen_env.limits import limits
from tabletop_engine.envs.openspiel import register

__all__ = ["NAME", "limits"]

NAME = register(GAME)
"""The name of the game for `pyspiel.load_game`."""
