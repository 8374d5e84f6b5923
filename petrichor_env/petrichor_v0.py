"""Petrichor for 2 to 5 players as a PettingZoo AEC environment: `env()`, or `raw_env()` without wrappers.

`pettingzoo.make("aec", "petrichor/petrichor-v0", num_players=3)` makes it, too, after `import petrichor_env`.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from petrichor_env.game import GAME
from tabletop_engine.envs.aec import GameAEC, Observation, wrapped

__all__ = ["env", "raw_env"]


class raw_env(GameAEC, game=GAME):  # noqa: N801
    """The game for 2 to 5 players, optionally with promos and modules of the Flowers expansion.

    A turn has several small decisions.

    ## Observation Space

    With the module `forecasts`, only agents who hold a forecast card that can be played now are asked for one. The
    others' observations don't show who that is: their blocks `decision` and `actor` are zeros during this decision.
    But the selected agent can't be hidden. A policy that looks at `agent_selection`, or observes between its own
    decisions, knows more than a player at the table.
    """


def env(**kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """`raw_env(**kwargs)` in PettingZoo's wrappers, which refuse actions outside the space and out of turn."""
    return wrapped(raw_env(**kwargs))
