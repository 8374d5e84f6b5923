"""Evergreen for 2 to 4 players as a PettingZoo AEC environment.

```python
from evergreen_env import evergreen_v0

env = evergreen_v0.env(num_players=3)
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    action = None if termination or truncation else env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
```

Or through PettingZoo's registry, after `import evergreen_env`: `pettingzoo.make("aec", "evergreen/evergreen-v0",
num_players=3)`.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from evergreen_env.config import Config
from tabletop.envs.aec import Observation, SeatsAEC, wrapped
from tabletop.errors import ConfigError

__all__ = ["env", "raw_env"]


def env(**kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """`raw_env(**kwargs)` in PettingZoo's wrappers, which refuse actions outside the space and out of turn."""
    return wrapped(raw_env(**kwargs))


class raw_env(SeatsAEC):  # noqa: N801
    """
    ## Description

    The game for 2 to 4 players. The agents are `player_0`, `player_1` and so on, in clockwise order. A turn has several
    small decisions. An agent that has several decisions in a row stays selected. All players take their turns of a
    round at the same time: the agents are selected one after another, in the order of the draft, and none sees what the
    others have done before the round ends.

    ## Observation Space

    `Dict(observation=Box(0, 20, (OBSERVATION_SIZE,), float32), action_mask=Box(0, 1, (52,), int8))`. The first is
    what this agent may know, seen from its seat, in the named blocks of `evergreen_env.observation.LAYOUT`, the same
    for every configuration. The mask has ones for the legal actions of the selected agent, zeros for the other agents,
    and ones for all when the game is over.

    The observation and the mask of an agent don't depend on what others have done since the round's draft. But the
    number of steps of an agent can't be hidden: a policy that counts them knows more than a player at the table.

    ## Action Space

    `Discrete(52)`, the ranges of `evergreen_env.actions`. `action_name(action)` is the name of an action.

    ## Rewards

    - `win` (default): at the end of the game, 1 for the winner; the others share -1;
    - `margin`: the change of the agent's points minus the mean of the others' points;
    - `points`: the change of the agent's points.

    Points change when a round ends, for all agents at once. All rewards of a game sum to its result: the first ones
    also count the start points.

    ## Starting State

    A random set-up. `reset(seed=n)` sets up the same game as `Batch(config, 1, seed=n)`. `reset()` continues the random
    stream of the previous game. `reset(options={"scenario": {...}})` starts from a described position
    (`evergreen_env.scenario`).

    ## Episode End

    The end of the last round terminates all agents, and so does an illegal action with `illegal_action="lose"`. The
    latter also sets their truncations, as PettingZoo's `TerminateIllegalWrapper` does. Nothing else truncates. The last
    infos have `points` (int), `won` (bool) and `illegal` (bool, whether the game ended by an illegal action of this
    agent).

    ## Arguments

    - `num_players`: 2, 3 or 4;
    - `reward`: `"win"`, `"margin"` or `"points"`;
    - `illegal_action`: the effect of an action that the mask forbids. `"lose"` (default): the agent loses and the game
      ends. Its reward is then -1 with `win`; with `margin` or `points` it brings the sum of its rewards to -100 or 0.
      `"raise"`: `IllegalAction` is raised and nothing changes. `"random"`: a random legal action is played instead, and
      the agent's `info["illegal"]` is true until its next action;
    - `components`, `observation_dtype`, `render_mode` and `render_size`: as in `evergreen_env.envs.SoloEnv`. Text and
      pictures show everything.

    Raises the errors of `SoloEnv`, `IllegalAction` for a value outside the action space, and `GameOver` from `step`
    when no agent is left.

    ## Version History

    - v0: first version.
    """

    def __init__(self, num_players: int = 2, components: Any = None, **arguments: Any):
        if num_players not in (2, 3, 4):
            wanted = "2, 3 or 4; the solo game is Gymnasium's Evergreen/Solo-v0"
            raise ConfigError(f"num_players={num_players!r}: must be {wanted}")
        super().__init__("evergreen_v0", Config(players=num_players, components=components), **arguments)
