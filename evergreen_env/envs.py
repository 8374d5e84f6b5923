"""`Evergreen/Solo-v0` and `Evergreen/Versus-v0`: one seat of the game as Gymnasium environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evergreen_env.game import GAME
from tabletop.agents import Agent
from tabletop.envs import SeatEnv, SeatVectorEnv
from tabletop.errors import ConfigError


class SoloEnv(SeatEnv):
    """
    ## Description

    The solo game of Evergreen, played for points: fourteen rounds in four seasons. Each round you take one of two
    cards, and the other one changes the fertility of a biome. Your card is an action in its biome and a power that
    grows with every use: plant sprouts, let them grow into trees, place bushes and lakes. At the end of each season
    trees in the light and the largest forest score. At the end of the game big trees score the fertility of their
    biome. A game has 60 to 100 small decisions: a card, an action, a space.

    ```python
    import gymnasium

    env = gymnasium.make("evergreen_env:Evergreen/Solo-v0")
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (OBSERVATION_SIZE,), float32)`: what the player may know, in the named blocks of
    `evergreen_env.observation.LAYOUT`, the same for every configuration. Planets are planes of 7 x 7.

    ## Action Space

    `Discrete(52)`, the ranges of `evergreen_env.actions`. `action_name(action)` is the name of an action. The legal
    actions are in `info["action_mask"]` (int8, 1 for legal, as `action_space.sample` takes it) and in `action_masks()`
    (bool, as sb3-contrib takes it). When the game is over, all are 1.

    ## Rewards

    `points`: the change of your points, which change when a round ends. There is nobody to win against, so there are no
    other rewards. All rewards of a game sum to the final points.

    ## Starting State

    A random set-up: the deck, and the first flowers of the fertility zone. `reset(seed=n)` sets up the same game as
    `Batch(Config(), 1, seed=n)`. `reset()` continues the random stream of the previous game.
    `reset(options={"scenario": {...}})` starts from a described position instead (`evergreen_env.scenario`). Without
    the key `random` in it, the environment's random stream continues.

    ## Episode End

    The end of the last round terminates the episode, and so does an illegal action with `illegal_action="lose"`.
    An episode is never truncated. The last `info` also has `points` (int), `others_points` (0.0), `won` (bool: not lost
    by an illegal action), `seat` (0) and `illegal` (bool).

    ## Arguments

    - `reward`: `"points"`;
    - `illegal_action`: the effect of an action that the mask forbids. `"lose"` (default): the game ends, and the reward
      brings the sum of all rewards to 0. `"raise"`: `IllegalAction` is raised and nothing changes. `"random"`: a random
      legal action is played instead, and `info["illegal"]` is true. Anything but an integer from 0 to 51 raises
      `IllegalAction` in all three cases;
    - `components`: another board, deck or flags: the path of an overlay TOML file, its keys and values, or None;
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
    """N games of `Evergreen/Solo-v0` in one process, stepped by compiled code on `num_threads` threads.

    ```python
    import gymnasium
    from tabletop.kernels import sample_actions

    envs = gymnasium.make_vec("evergreen_env:Evergreen/Solo-v0", num_envs=1024)
    observations, infos = envs.reset(seed=1)
    for _ in range(1000):
        actions = sample_actions(infos["action_mask"], envs.np_random)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```

    In each autoreset mode, game i equals the single environment that is reset with `seed + i`. `infos` are as
    `gymnasium.vector.SyncVectorEnv` would combine them, with one exception: `infos["action_mask"]`, (num_envs, 52)
    int8, has the rows of all games also after a `reset` of some games. `action_masks()` is the same as bool.

    Arguments, beyond those of `SoloEnv`, are those of `tabletop.envs.vector.SeatVectorEnv`: `num_envs`,
    `autoreset_mode`, `num_threads`, `copy`.

    Raises `ConfigError` for a bad argument, option or seed, and `IllegalAction` for a bad action; nothing changes then.
    """

    def __init__(self, num_envs: int = 1, **arguments: Any):
        super().__init__(GAME, num_envs, **_solo(arguments))


class VersusEnv(SeatEnv):
    """
    ## Description

    The game for 2 to 4 players, seen from one seat. Agents of the package play the other seats inside `step` and
    `reset`, so that a learner for single-agent environments can train against them. A turn has several small decisions:
    a card, an action, a space. All players take their turns at the same time: you see what the others have done when
    all are finished.

    ```python
    import gymnasium

    env = gymnasium.make("evergreen_env:Evergreen/Versus-v0", opponents=("greedy",), players=3)
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (OBSERVATION_SIZE,), float32)`: what the player of this seat may know, in the named blocks of
    `evergreen_env.observation.LAYOUT`. Seats are counted clockwise from this player, so that a policy need not know its
    seat. The last observation of a game is this seat's too.

    ## Action Space

    `Discrete(52)`, with names and masks as in `SoloEnv`.

    ## Rewards

    The rewards of this seat, summed over a step: its own action, and the others' actions until its next decision.

    - `win` (default): at the end of the game, 1 for the winner; the others share -1. There is always one winner;
    - `margin`: the change of your points minus the mean of the others' points;
    - `points`: the change of your points.

    Points change when a round ends, for all players at once. All rewards of a game sum to its result: the first one
    also counts the start points.

    ## Starting State

    A random set-up, and the others' actions up to your first decision. `reset(seed=n)` sets up the same game as
    `Batch(config, 1, seed=n)`. The seat and the random choices of the opponents follow from the seed too. `reset()`
    continues the random streams of the previous game. `reset(options={"scenario": {...}})` starts from a described
    position instead (`evergreen_env.scenario`). `options` may also have `seat`, your seat in this game, and `replies`,
    the first actions of the other seats: with those of a recorded game it is played again.

    ## Episode End

    The end of the last round terminates the episode, and so does an illegal action with `illegal_action="lose"`.
    An episode is never truncated. The last `info` also has `points` (int), `others_points` (float, the mean of the
    other players'), `won` (bool), `illegal` (bool) and `seat` (int).

    ## Arguments

    - `opponents`: agents, or names for `tabletop_agents.make_agent`, such as `"random"`, `"greedy"`, `"ismcts-200"` or
      `"policy:PATH"`. One opponent plays every other seat; several sit clockwise from you, one on each seat;
    - `players`: 2, 3 or 4;
    - `seat`: your seat, from 0, or `"random"` (default): drawn for every game. The first player is always drawn;
    - `reward`: `"win"`, `"margin"` or `"points"`;
    - `components`, `observation_dtype`, `starts`, `render_mode` and `render_size`: as in `SoloEnv`. Text and pictures
      show what your seat sees;
    - `illegal_action`: as in `SoloEnv`, for your own actions. With `"lose"` the reward is -1 with `win`; with `margin`
      or `points` it brings the sum of all rewards to -100 or 0.

    Raises the errors of `SoloEnv`, `ConfigError` for an opponent that is unknown or can't play this game, and
    `CheckpointError` for a trained opponent that can't be read.

    ## Version History

    - v0: first version.
    """

    def __init__(self, opponents: Sequence[Agent | str] = ("greedy",), players: int = 2, **arguments: Any):
        super().__init__(GAME, opponents=opponents, players=_several(players), **arguments)


class VersusVectorEnv(SeatVectorEnv):
    """N games of `Evergreen/Versus-v0` in one process. Each opponent answers for all games in one call.

    Game i is set up as in a single environment that is reset with `seed + i`. One generator draws the seats and the
    opponents' random choices of all games; it is seeded when all games are. So the same seed and the same actions give
    the same games, but not those of N single environments. `infos` are as in `SoloVectorEnv`, with the entries of the
    single environment. `action_masks()` is (num_envs, 52) bool.

    Arguments are those of `VersusEnv`, and the additional ones of `SoloVectorEnv`.

    Raises the errors of `VersusEnv`, and `ConfigError` for a bad list of seeds or a bad mask.
    """

    def __init__(
        self, num_envs: int = 1, opponents: Sequence[Agent | str] = ("greedy",), players: int = 2, **arguments: Any
    ):
        super().__init__(GAME, num_envs, opponents=opponents, players=_several(players), **arguments)


_NOT_IN_SOLO = ("players", "opponents", "seat")


def _solo(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the solo game. Raises `ConfigError` for those of the game for several players."""
    for name in _NOT_IN_SOLO:
        if name in arguments:
            raise ConfigError(f"{name}={arguments[name]!r}: not in the solo game; use it with Evergreen/Versus-v0")
    if arguments.get("reward", "points") != "points":
        raise ConfigError(f"reward={arguments['reward']!r}: must be 'points'; alone there is nobody to win against")
    return {"players": 1, "reward": "points", **arguments}


def _several(players: int) -> int:
    """The number of players. Raises `ConfigError` for 1."""
    if isinstance(players, int | np.integer) and players == 1:
        raise ConfigError("players=1: must be 2, 3 or 4; the solo game is Evergreen/Solo-v0")
    return players
