"""Petrichor and its solo game, the Southern Winds, as environments for programs.

Importing this package registers `Petrichor/Solo-v0` and `Petrichor/Versus-v0` with Gymnasium and
`petrichor/petrichor-v0` with PettingZoo. The compiled rules are loaded when the first game is made, not here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from petrichor_env.config import VARIANTS, Config
from tabletop_engine import errors
from tabletop_engine.registration import register_environments

if TYPE_CHECKING:
    from petrichor_env import petrichor_v0
    from petrichor_env.envs import picture
    from petrichor_env.game import GAME
    from petrichor_env.scenarios import describe, scenario
    from tabletop_engine.play.batch import Batch

__all__ = ["GAME", "VARIANTS", "Batch", "Config", "describe", "errors", "petrichor_v0", "picture", "scenario"]

__version__ = "0.4.0"

SOLO_ID = "Petrichor/Solo-v0"
"""The Gymnasium id of the solo game, in `gymnasium.make` and `gymnasium.make_vec`."""

VERSUS_ID = "Petrichor/Versus-v0"
"""The Gymnasium id of the game for 2 to 5 players, seen from one seat. Agents play the other seats."""

AEC_ID = "petrichor/petrichor-v0"
"""The PettingZoo id of the game for 2 to 5 players, in `pettingzoo.make("aec", …)`."""

_LAZY = {
    "Batch": "tabletop_engine.play.batch",
    "describe": "petrichor_env.scenarios",
    "petrichor_v0": "petrichor_env.petrichor_v0",
    "GAME": "petrichor_env.game",
    "picture": "petrichor_env.envs",
    "scenario": "petrichor_env.scenarios",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_LAZY[name])
    value = getattr(module, name, module)  # `petrichor_v0` is a module itself
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_environments(__name__, SOLO_ID, VERSUS_ID, AEC_ID)
