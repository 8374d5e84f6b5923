"""`Petrichor/Solo-v0` and `Petrichor/Versus-v0`: one seat of the game as Gymnasium environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from petrichor_env.game import GAME
from tabletop.agents import Agent
from tabletop.envs import SeatEnv, SeatVectorEnv
from tabletop.errors import ConfigError


class SoloEnv(SeatEnv):
    """
    ## Description

    The solo game of Petrichor: four rounds against the Southern Winds, which place clouds, drops and votes of a neutral
    player. You play cards to place your own, vote for the weather, and score the crops at each Harvest. You win with
    more points than the neutral player. A game has about 55 small decisions: a card, a tile, a vote. Promos and modules
    of the Flowers expansion can be added.

    ```python
    import gymnasium

    env = gymnasium.make("petrichor_env:Petrichor/Solo-v0", variants=("double_card",))
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (OBSERVATION_SIZE,), float32)`: what the player may know, in the named blocks of
    `petrichor_env.observation.LAYOUT`, the same for every configuration.

    ## Action Space

    `Discrete(143)`, the ranges of `petrichor_env.actions`. `action_name(action)` is the name of an action. The legal
    actions are in `info["action_mask"]` (int8, 1 for legal, as `action_space.sample` takes it) and in `action_masks()`
    (bool, as sb3-contrib takes it). When the game is over, all are 1.

    ## Rewards

    - `win` (default): 1 for a won and -1 for a lost game, at its end;
    - `margin`: the change of your points minus the neutral player's, at every step;
    - `points`: the change of your points, at every step.

    All rewards of a game sum to its result: the first one also counts the points at your first decision.

    ## Starting State

    A random set-up (Southern Winds, Setup): tiles, cards, and the neutral player's first clouds. `reset(seed=n)` sets
    up the same game as `Batch(Config(variants=variants, modules=modules, powers=powers), 1, seed=n)`. `reset()`
    continues the random stream of the previous game. `reset(options={"scenario": {...}})` starts from a described
    position instead (`petrichor_env.scenario`). If the description leaves out `variants`, `modules`, `powers` or
    `random`, the environment's own are used.

    ## Episode End

    The end of the fourth round terminates the episode, and so does an illegal action with `illegal_action="lose"`.
    An episode is never truncated. The last `info` also has `points` (int), `others_points` (float, the neutral
    player's), `won` (bool), `seat` (0) and `illegal` (bool).

    ## Arguments

    - `variants`: any of `double_card`, `non_random_targets`, `no_more_tricks`, `one_more_turn` (Increasing the
      Difficulty);
    - `modules`: any of `fertilizer`, `cactus`, `powers`, `forecasts` (promos and Flowers). The Lake and the flower
      tiles are not used in the solo game;
    - `powers`: with the module `powers`, your power, such as `("rain",)`: `frost`, `sun`, `wind`, `rain` or `harvest`.
      `()` draws it at random;
    - `readings`: unclear rules read in another way (docs/rules.md): `forecasts_end_actions`, which needs the module
      `forecasts`;
    - `reward`: `"win"`, `"margin"` or `"points"`;
    - `illegal_action`: the effect of an action that the mask forbids. `"lose"` (default): the game is lost and ends.
      The reward is then -1 with `win`; with `margin` or `points` it brings the sum of all rewards to -100 or 0.
      `"raise"`: `IllegalAction` is raised and nothing changes. `"random"`: a random legal action is played instead, and
      `info["illegal"]` is true. Anything but an integer from 0 to 142 raises `IllegalAction` in all three cases;
    - `components`: other printed numbers: the path of an overlay TOML file, its keys and values, or None;
    - `observation_dtype`: `"float32"` (default), or `"int8"` for undivided counts up to 127, which take a quarter of
      the memory and less time;
    - `starts`: positions to start from, as in `tabletop.batch.Batch`;
    - `render_mode`: `"ansi"` (`render()` returns text), `"rgb_array"` (it returns the pixels of a picture), `"human"`
      (a window shows the picture after every step) or None;
    - `render_size`: the width and height of the picture in pixels, 16 to 4096.

    Raises `ConfigError` for a bad argument or option, `ComponentsError` for a bad overlay, `ScenarioError` for a bad
    scenario, `TabletopError` for a picture without the extra `render` and a window without a screen, and `GameOver`
    from `step` after the end.

    ## Version History

    - v0: first version.
    """

    def __init__(self, **arguments: Any):
        super().__init__(GAME, **_solo(arguments))


class SoloVectorEnv(SeatVectorEnv):
    """N games of `Petrichor/Solo-v0` in one process, stepped by compiled code on `num_threads` threads.

    ```python
    import gymnasium
    from tabletop.kernels import sample_actions

    envs = gymnasium.make_vec("petrichor_env:Petrichor/Solo-v0", num_envs=1024)
    observations, infos = envs.reset(seed=1)
    for _ in range(1000):
        actions = sample_actions(infos["action_mask"], envs.np_random)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```

    In each autoreset mode, game i equals the single environment that is reset with `seed + i`. `infos` are as
    `gymnasium.vector.SyncVectorEnv` would combine them, with one exception: `infos["action_mask"]`, (num_envs, 143)
    int8, has the rows of all games also after a `reset` of some games. `action_masks()` is the same as bool.

    Arguments, beyond those of `SoloEnv`:

    - `num_envs`: the number of games;
    - `autoreset_mode`: a `gymnasium.vector.AutoresetMode` or its name. `NEXT_STEP` (default): the step after the end
      ignores the action and starts the next game, with reward 0. `SAME_STEP`: the next game starts within the step;
      `infos["final_obs"]` and `infos["final_info"]` have the end of the previous one. `DISABLED`: reset finished games
      with `reset(options={"reset_mask": mask})`; stepping them raises `GameOver`;
    - `num_threads`: the number of threads that step the games; None for all usable cores;
    - `copy`: True (default): every step returns new arrays of observations and masks. False: it returns the batch's own
      arrays, which the next `step` or `reset` overwrites, for learners that copy them into a rollout buffer.

    Raises `ConfigError` for a bad argument, option or seed, and `IllegalAction` for a bad action; nothing changes then.
    """

    def __init__(self, num_envs: int = 1, **arguments: Any):
        super().__init__(GAME, num_envs, **_solo(arguments))


class VersusEnv(SeatEnv):
    """
    ## Description

    The game for 2 to 5 players, seen from one seat. Agents of the package play the other seats inside `step` and
    `reset`, so that a learner for single-agent environments can train against them. A turn has several small decisions:
    a card, a tile, a vote.

    ```python
    import gymnasium

    env = gymnasium.make("petrichor_env:Petrichor/Versus-v0", opponents=("greedy",), players=3)
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (OBSERVATION_SIZE,), float32)`: what the player of this seat may know, in the named blocks of
    `petrichor_env.observation.LAYOUT`. Seats are counted clockwise from this player, so that a policy need not know its
    seat. The last observation of a game is this seat's too.

    ## Action Space

    `Discrete(143)`, with names and masks as in `SoloEnv`.

    ## Rewards

    The rewards of this seat, summed over a step: its own action, and the others' actions until its next decision.

    - `win` (default): at the end of a game with n players and k winners, the winners share 1 and the others share -1;
      0 if all win;
    - `margin`: the change of your points minus the mean of the others' points;
    - `points`: the change of your points.

    All rewards of a game sum to its result: the first one also counts the points at your first decision.

    ## Starting State

    A random set-up, and the others' actions up to your first decision. `reset(seed=n)` sets up the same game as
    `Batch(config, 1, seed=n)`. The seat and the random choices of the opponents follow from the seed too. `reset()`
    continues the random streams of the previous game. `reset(options={"scenario": {...}})` starts from a described
    position instead (`petrichor_env.scenario`). `options` may also have `seat`, your seat in this game, and `replies`,
    the first actions of the other seats: with those of a recorded game it is played again.

    ## Episode End

    The end of the last round terminates the episode, and so does an illegal action with `illegal_action="lose"`.
    An episode is never truncated. The last `info` also has `points` (int), `others_points` (float, the mean of the
    other players'), `won` (bool, also for a shared victory), `illegal` (bool) and `seat` (int).

    ## Arguments

    - `opponents`: agents, or names for `tabletop_agents.make_agent`, such as `"random"`, `"greedy"`, `"ismcts-200"` or
      `"policy:PATH"`. One opponent plays every other seat; several sit clockwise from you, one on each seat;
    - `players`: 2, 3, 4 or 5;
    - `seat`: your seat, from 0, or `"random"` (default): drawn for every game. The first player is always drawn;
    - `rounds`: 4 (short form) or 6 (long form);
    - `drafting`: the Official Drafting Variant;
    - `modules`: any of `fertilizer`, `cactus`, `lake`, `flower_tiles`, `powers`, `forecasts` (promos and Flowers);
    - `powers`: with the module `powers`, one for each seat from seat 0, all different: `frost`, `sun`, `wind`, `rain`,
      `harvest`; `()` deals them at random;
    - `readings`: unclear rules read in another way (docs/rules.md): any of `forecasts_end_actions`, which needs the
      module `forecasts`, and `primrose_passes_once`, which needs `flower_tiles`;
    - `reward`, `components`, `observation_dtype`, `starts`, `render_mode` and `render_size`: as in `SoloEnv`. Text and
      pictures show what your seat sees;
    - `illegal_action`: as in `SoloEnv`, for your own actions. Anything but an integer from 0 to 142 raises
      `IllegalAction`.

    Raises the errors of `SoloEnv`, `ConfigError` for an opponent that is unknown or can't play this game, and
    `CheckpointError` for a trained opponent that can't be read.

    ## Version History

    - v0: first version.
    """

    def __init__(self, opponents: Sequence[Agent | str] = ("greedy",), players: int = 2, **arguments: Any):
        super().__init__(GAME, opponents=opponents, players=_several(players), **arguments)


class VersusVectorEnv(SeatVectorEnv):
    """N games of `Petrichor/Versus-v0` in one process. Each opponent answers for all games in one call.

    Game i is set up as in a single environment that is reset with `seed + i`. One generator draws the seats and the
    opponents' random choices of all games; it is seeded when all games are. So the same seed and the same actions give
    the same games, but not those of N single environments. `infos` are as in `SoloVectorEnv`, with the entries of the
    single environment. `action_masks()` is (num_envs, 143) bool.

    Arguments are those of `VersusEnv`, and the additional ones of `SoloVectorEnv`.

    Raises the errors of `VersusEnv`, and `ConfigError` for a bad list of seeds or a bad mask.
    """

    def __init__(
        self, num_envs: int = 1, opponents: Sequence[Agent | str] = ("greedy",), players: int = 2, **arguments: Any
    ):
        super().__init__(GAME, num_envs, opponents=opponents, players=_several(players), **arguments)


_NOT_IN_SOLO = ("players", "opponents", "seat", "rounds", "drafting")


def _solo(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the solo game. Raises `ConfigError` for those of the game for several players."""
    for name in _NOT_IN_SOLO:
        if name in arguments:
            raise ConfigError(f"{name}={arguments[name]!r}: not in the solo game; use it with Petrichor/Versus-v0")
    return {"players": 1, **arguments}


def _several(players: int) -> int:
    """The number of players. Raises `ConfigError` for 1."""
    if isinstance(players, int | np.integer) and players == 1:
        raise ConfigError("players=1: must be 2, 3, 4 or 5; the solo game is Petrichor/Solo-v0")
    return players
