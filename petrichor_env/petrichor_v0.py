"""Petrichor for 2 to 5 players as a PettingZoo AEC environment.

```python
from petrichor_env import petrichor_v0

env = petrichor_v0.env(num_players=3)
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    action = None if termination or truncation else env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
```

Or through PettingZoo's registry, after `import petrichor_env`: `pettingzoo.make("aec", "petrichor/petrichor-v0",
num_players=3)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pettingzoo import AECEnv

from petrichor_env.config import Config
from tabletop.envs.aec import Observation, SeatsAEC, wrapped
from tabletop.errors import ConfigError

__all__ = ["env", "raw_env"]


def env(**kwargs: Any) -> AECEnv[str, Observation, int | None]:
    """`raw_env(**kwargs)` in PettingZoo's wrappers, which refuse actions outside the space and out of turn."""
    return wrapped(raw_env(**kwargs))


class raw_env(SeatsAEC):  # noqa: N801
    """
    ## Description

    The game for 2 to 5 players, optionally with promos and modules of the Flowers expansion. The agents are `player_0`,
    `player_1` and so on, in clockwise order. A turn has several small decisions. An agent that has several decisions in
    a row stays selected.

    ## Observation Space

    `Dict(observation=Box(0, 20, (OBSERVATION_SIZE,), float32), action_mask=Box(0, 1, (143,), int8))`. The first is
    what this agent may know, seen from its seat, in the named blocks of `petrichor_env.observation.LAYOUT`, the same
    for every configuration. The mask has ones for the legal actions of the selected agent, zeros for the other agents,
    and ones for all when the game is over. `infos[agent]["action_mask"]` is the same.

    With the module `forecasts`, only agents who hold a forecast card that can be played now are asked for one. The
    others' observations don't show who that is: their blocks `decision` and `actor` are zeros during this decision.
    But the selected agent can't be hidden. A policy that looks at `agent_selection`, or observes between its own
    decisions, knows more than a player at the table.

    ## Action Space

    `Discrete(143)`, the ranges of `petrichor_env.actions`. `action_name(action)` is the name of an action.

    ## Rewards

    - `win` (default): at the end of a game with n players and k winners, the winners share 1 and the others share -1;
      0 if all win;
    - `margin`: the change of the agent's points minus the mean of the others' points, at every step;
    - `points`: the change of the agent's points, at every step.

    All rewards of a game sum to its result: the first ones also count the points at the first decision.

    ## Starting State

    A random set-up. `reset(seed=n)` sets up the same game as `Batch(config, 1, seed=n)`. `reset()` continues the random
    stream of the previous game. `reset(options={"scenario": {...}})` starts from a described position
    (`petrichor_env.scenario`).

    ## Episode End

    The end of the last round terminates all agents, and so does an illegal action with `illegal_action="lose"`. The
    latter also sets their truncations, as PettingZoo's `TerminateIllegalWrapper` does. Nothing else truncates. The last
    infos have `points` (int), `won` (bool) and `illegal` (bool, whether the game ended by an illegal action of this
    agent).

    ## Arguments

    - `num_players`: 2, 3, 4 or 5;
    - `rounds`: 4 (short form) or 6 (long form);
    - `drafting`: the Official Drafting Variant;
    - `modules`: any of `fertilizer`, `cactus`, `lake`, `flower_tiles`, `powers`, `forecasts` (promos and Flowers);
    - `powers`: with the module `powers`, one for each agent in their order, all different: `frost`, `sun`, `wind`,
      `rain`, `harvest`; `()` deals them at random;
    - `readings`: unclear rules read in another way (docs/rules.md): any of `forecasts_end_actions`, which needs the
      module `forecasts`, and `primrose_passes_once`, which needs `flower_tiles`;
    - `reward`: `"win"`, `"margin"` or `"points"`;
    - `illegal_action`: the effect of an action that the mask forbids. `"lose"` (default): the agent loses and the game
      ends. Its reward is then -1 with `win`; with `margin` or `points` it brings the sum of its rewards to -100 or 0.
      `"raise"`: `IllegalAction` is raised and nothing changes. `"random"`: a random legal action is played instead, and
      the agent's `info["illegal"]` is true until its next action;
    - `action_mask`: `"observation"` (default), or `"info"`: masks are only in the infos, and observations are the plain
      arrays of a `Box`;
    - `components`, `observation_dtype`, `render_mode` and `render_size`: as in `petrichor_env.envs.SoloEnv`. Text and
      pictures show all hands.

    Raises the errors of `SoloEnv`, `IllegalAction` for a value outside the action space, and `GameOver` from `step`
    when no agent is left.

    ## Version History

    - v0: first version.
    """

    def __init__(
        self,
        num_players: int = 2,
        rounds: int = 4,
        drafting: bool = False,
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        readings: Sequence[str] = (),
        components: Any = None,
        **arguments: Any,
    ):
        if num_players not in (2, 3, 4, 5):
            wanted = "2, 3, 4 or 5; the solo game is Gymnasium's Petrichor/Solo-v0"
            raise ConfigError(f"num_players={num_players!r}: must be {wanted}")
        names: dict[str, Any] = {"modules": modules, "powers": powers, "readings": readings}
        config = Config(players=num_players, rounds=rounds, drafting=drafting, components=components, **names)
        super().__init__("petrichor_v0", config, **arguments)
