"""Petrichor as a game of OpenSpiel. Importing this module registers `python_petrichor` (docs/openspiel.md).

```python
import pyspiel

import petrichor_env.openspiel

game = pyspiel.load_game("python_petrichor(players=3,modules=cactus+powers)")
```
"""

from __future__ import annotations

from petrichor_env.game import GAME
from petrichor_env.limits import limits
from tabletop_engine.envs.openspiel import register

__all__ = ["NAME", "limits"]

NAME = register(GAME)
"""The name of the game for `pyspiel.load_game`."""
