"""`Petrichor/Versus-v0`: one seat of the game for 2 to 5 as a Gymnasium environment; agents play the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from petrichor_env.config import Config
from tabletop.agents import Agent
from tabletop.batch import Batch
from tabletop.drawing.raster import WIDTH
from tabletop.envs.arguments import Prepare
from tabletop.envs.single import GameEnv
from tabletop.errors import ConfigError
from tabletop.versus import VersusBatch


class VersusEnv(GameEnv):
    """
    ## Description

    The game for 2 to 5 players, seen from one seat. Agents of the package play the other seats inside `step` and
    `reset`, so that a learner for single-agent environments can train against them. A turn is several small decisions:
    which card, which tile, which vote.

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
    `petrichor_env.observation.LAYOUT`. Seats are counted clockwise from the player there, so that a policy need not
    know which one it has. The last observation of a game is this seat's too.

    ## Action Space

    `Discrete(143)`, the ranges of `petrichor_env.actions`; `action_name(action)` says in words what one does. The
    legal ones are `info["action_mask"]` (int8, 1 for legal, as `action_space.sample` takes it) and `action_masks()`
    (bool, as sb3-contrib takes it). When the game is over, all are 1.

    ## Rewards

    Those of this seat, summed up over a step: its own action and what the others do until it is asked again.

    - `win` (default): at the end of the game; k winners of n share 1, the others share -1, and 0 if all n win;
    - `margin`: the change of your points less the mean of the others';
    - `points`: the change of your points.

    What changes while others play before your first decision counts to the first step, so that the return with
    `margin` is the final margin.

    ## Starting State

    A random set-up, with the others' moves up to your first decision. `reset(seed=n)` sets up the same game as
    `Batch(config, 1, seed=n)`, and the seat drawn and all that the opponents do at random follow from the seed too;
    `reset()` goes on with the random streams of the game before. `reset(options={"scenario": {...}})` starts from a
    described position instead (`petrichor_env.scenario`).

    ## Episode End

    The end of the last round terminates the episode, and so does an illegal action with `illegal_action="lose"`.
    Nothing truncates it. The last `info` also has `points` (int), `best_other_points` (int, the most that another
    player has), `won` (bool, also for a shared victory), `illegal` (bool) and `seat` (int).

    ## Arguments

    - `opponents`: names that `agents.make_agent` knows, such as `"random"`, `"greedy"`, `"ismcts-200"` or
      `"policy:PATH"`, or agents. One plays every other seat; with several there is one for each of the other seats,
      clockwise from yours;
    - `players`: 2, 3, 4 or 5;
    - `seat`: yours, from 0, or `"random"` (default): drawn for every game. The first player is drawn in any case;
    - `rounds`: 4 (short form) or 6 (long form);
    - `drafting`: the Official Drafting Variant;
    - `modules`: any of `fertilizer`, `cactus`, `lake`, `flower_tiles`, `powers`, `forecasts` (promos and Flowers);
    - `powers`: with the module `powers`, one for each seat from seat 0, all different: `frost`, `sun`, `wind`, `rain`,
      `harvest`; `()` deals them at random;
    - `reward`: `"win"`, `"margin"` or `"points"`;
    - `illegal_action`: what an action of yours does that the mask forbids. `"lose"` (default): you lose and the game
      ends; the reward is -1 with `win`, and with `margin` or `points` what brings the margin to -100 or the points to
      0. `"raise"`: `IllegalAction`, nothing changes. `"random"`: a random legal action is played instead, and
      `info["illegal"]` is true. What isn't an integer from 0 to 142 raises `IllegalAction` in all three;
    - `components`: path of an overlay TOML file with other numbers on the pieces, or None;
    - `render_mode`: `"ansi"` (`render()` returns the game as text, as your seat sees it), `"rgb_array"` (as a picture:
      pixels), `"human"` (a window shows the picture after every step) or None;
    - `render_size`: width and height of the picture in pixels, 16 to 4096.

    Raises `ConfigError` for a bad argument or option and for an opponent that is unknown or can't play this game,
    `CheckpointError` for a trained opponent that can't be read, `ComponentsError` for a bad overlay, `ScenarioError`
    for a bad scenario, `PetrichorError` for a picture without the extra `render` and a window without a screen, and
    `GameOver` from `step` after the end.

    ## Version History

    - v0: first version.
    """

    batch: VersusBatch

    def __init__(
        self,
        opponents: Sequence[Agent | str] = ("greedy",),
        players: int = 2,
        seat: int | str = "random",
        rounds: int = 4,
        drafting: bool = False,
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        reward: str = "win",
        illegal_action: str = "lose",
        components: str | None = None,
        render_mode: str | None = None,
        render_size: int = WIDTH,
    ):
        batch = VersusBatch(
            versus_config(players, rounds, drafting, modules, powers, components),
            1,
            opponents,
            seat=seat,
            reward=reward,
            illegal_action=illegal_action,
            autoreset="disabled",
        )
        super().__init__(batch, render_mode, render_size)

    @property
    def seat(self) -> int:
        """The seat that is played from here in the running game."""
        return int(self.batch.seats[0])

    def _start(self, seed: int | None, prepare: Prepare | None) -> None:
        self.batch.reset(seed, prepare=prepare)

    def _results(self) -> dict[str, Any]:
        return {key: values.item() for key, values in self.batch.results().items()}

    def _all_seats(self) -> Batch:
        return self.batch.batch

    def _viewer(self) -> int:
        return self.seat


def versus_config(
    players: int, rounds: int, drafting: bool, modules: Sequence[str], powers: Sequence[str], components: str | None
) -> Config:
    """The game for several with these names, in lists as well as in tuples. Raises `ConfigError` as `Config` does."""
    if isinstance(players, int | np.integer) and players == 1:
        raise ConfigError("players=1: 2, 3, 4 or 5; the solo game is Petrichor/Solo-v0")
    names: dict[str, Any] = {"modules": modules, "powers": powers}
    return Config(players=players, rounds=rounds, drafting=drafting, components=components, **names)
