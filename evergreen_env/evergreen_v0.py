"""Evergreen for 2 to 4 players as a PettingZoo AEC environment: `env()`, or `raw_env()` without wrappers.

`pettingzoo.make("aec", "evergreen/evergreen-v0", num_players=3)` makes it, too, after `import evergreen_env`.
"""

from __future__ import annotations

from typing import Any, Unpack

from pettingzoo import AECEnv

from evergreen_env.game import GAME
from tabletop_engine.envs.aec import Observation, SeatsAEC, wrapped
from tabletop_engine.envs.arguments import AECArguments, check_num_players

__all__ = ["env", "raw_env"]


class raw_env(SeatsAEC):  # noqa: N801
    """Evergreen for 2 to 4 players, all seats. What holds for every environment of all seats is in
    `tabletop_engine.envs.aec.SeatsAEC`.

    ## Description

    A turn has several small decisions. All players take their turns of a round at the same time: the agents are
    selected one after another, in the order of the draft, and none sees what the others have done before the round
    ends. The agents are `player_0`, `player_1` and so on, in clockwise order.

    ```python
    from evergreen_env.evergreen_v0 import env as make_env

    env = make_env(num_players=4)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        action = None if termination or truncation else env.action_space(agent).sample(observation["action_mask"])
        env.step(action)
    ```

    ## Observation Space

    `Dict(observation=Box(0, 20, (1472,), float32), action_mask=Box(0, 1, (52,), int8))`, in the named blocks of
    `evergreen_env.observation.LAYOUT`.

    The observation and the mask of an agent don't depend on what others have done since the round's draft. But the
    number of steps of an agent can't be hidden: a policy that counts them knows more than a player at the table.

    ## Action Space

    `Discrete(52)`, with the names of `evergreen_env.actions.ACTION_NAMES`.

    ## Rewards

    `win` (default), `margin` or `points`: as in `SeatsAEC`. There is always one winner. Points change when a round
    ends, for all agents at once.

    ## Starting State

    The deck and the first flowers of the fertility zone are random, and the first player is drawn.
    `reset(options={"scenario": {...}})` starts from a position that `evergreen_env.scenario` takes.

    ## Episode End

    The end of the fourth season, or an illegal action. The last infos have `points`, `won` and `illegal`.

    ## Arguments

    - `num_players`: 2, 3 or 4.
    - `components`: a board, a deck and flags that replace the shipped ones, as in `evergreen_env.Config`.
    - `reward`, `illegal_action`, `action_mask`, `observation_dtype`, `editions`, `observe_numbers` (605 more values),
      `render_mode` and `render_size`: as in `SeatsAEC`.

    ## Errors

    Those of `SeatsAEC`, and `ConfigError` for what can't be played.

    ## Version History

    - v0: first version.
    """

    def __init__(self, num_players: int = 2, *, components: Any = None, **arguments: Unpack[AECArguments]):
        config = GAME.config(players=check_num_players(GAME, num_players), components=components)
        super().__init__("evergreen_v0", config, **arguments)


def env(**kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """`raw_env(**kwargs)` in PettingZoo's wrappers, which refuse actions outside the space and out of turn."""
    return wrapped(raw_env(**kwargs))
