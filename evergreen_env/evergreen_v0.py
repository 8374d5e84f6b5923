"""Evergreen for 2 to 4 players as a PettingZoo AEC environment: `env()`, or `raw_env()` without wrappers.

`pettingzoo.make("aec", "evergreen/evergreen-v0", num_players=3)` makes it, too, after `import evergreen_env`.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from evergreen_env.game import GAME
from tabletop_engine.envs.aec import GameAEC, Observation, wrapped

__all__ = ["env", "raw_env"]


class raw_env(GameAEC, game=GAME):  # noqa: N801
    """The game for 2 to 4 players. A turn has several small decisions. All players take their turns of a round at the
    same time: the agents are selected one after another, in the order of the draft, and none sees what the others have
    done before the round ends.

    ## Observation Space

    The observation and the mask of an agent don't depend on what others have done since the round's draft. But the
    number of steps of an agent can't be hidden: a policy that counts them knows more than a player at the table.

    ## Rewards

    There is always one winner. Points change when a round ends, for all agents at once.
    """


def env(**kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """`raw_env(**kwargs)` in PettingZoo's wrappers, which refuse actions outside the space and out of turn."""
    return wrapped(raw_env(**kwargs))
