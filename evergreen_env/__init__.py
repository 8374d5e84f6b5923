"""Evergreen, the solo game for points and the game for 2 to 4 players, as environments for programs.

Importing this package registers `Evergreen/Solo-v0` and `Evergreen/Versus-v0` with Gymnasium and
`evergreen/evergreen-v0` with PettingZoo. The compiled rules are loaded when the first game is made, not here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from evergreen_env.config import Config
from tabletop_engine import errors
from tabletop_engine.registration import register_environments

if TYPE_CHECKING:
    from evergreen_env import evergreen_v0
    from evergreen_env.envs import picture
    from evergreen_env.game import GAME
    from evergreen_env.scenarios import describe, scenario
    from tabletop_engine.play.batch import Batch

__all__ = ["GAME", "Batch", "Config", "describe", "errors", "evergreen_v0", "picture", "scenario"]

__version__ = "0.4.0"

SOLO_ID = "Evergreen/Solo-v0"
"""The Gymnasium id of the solo game, in `gymnasium.make` and `gymnasium.make_vec`."""

VERSUS_ID = "Evergreen/Versus-v0"
"""The Gymnasium id of the game for 2 to 4 players, seen from one seat. Agents play the other seats."""

AEC_ID = "evergreen/evergreen-v0"
"""The PettingZoo id of the game for 2 to 4 players, in `pettingzoo.make("aec", …)`."""

_LAZY = {
    "Batch": "tabletop_engine.play.batch",
    "describe": "evergreen_env.scenarios",
    "evergreen_v0": "evergreen_env.evergreen_v0",
    "GAME": "evergreen_env.game",
    "picture": "evergreen_env.envs",
    "scenario": "evergreen_env.scenarios",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_LAZY[name])
    value = getattr(module, name, module)  # `evergreen_v0` is a module itself
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_environments(__name__, SOLO_ID, VERSUS_ID, AEC_ID)
