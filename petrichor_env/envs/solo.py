"""`Petrichor/Solo-v0`: one solo game as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from petrichor_env.batch import Batch
from petrichor_env.envs.arguments import (
    check_action,
    check_options,
    check_render_mode,
    scenario_of,
    solo_config,
    start_from,
    warn_of_no_render_mode,
)
from petrichor_env.errors import GameOver
from petrichor_env.observation import HIGH, LOW
from petrichor_env.render.text import render_text
from petrichor_env.state import State


class SoloEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """
    ## Description

    The solo game of Petrichor: four rounds against the Southern Winds, who place clouds, drops and votes of a neutral
    player. You play cards to place your own, vote for the weather, and score the crops at each Harvest. You win with
    more points than the neutral player. A game is some 55 decisions, each a small one: which card, which tile, which
    vote. Promos and modules of the Flowers expansion can be added.

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
    `petrichor_env.observation.LAYOUT` (the documentation's page on observations is made from it), the same for every
    configuration.

    ## Action Space

    `Discrete(143)`, the ranges of `petrichor_env.actions`; `action_name(action)` says in words what one does. The
    legal ones are `info["action_mask"]` (int8, 1 for legal, as `action_space.sample` takes it) and `action_masks()`
    (bool, as sb3-contrib takes it). When the game is over, all are 1.

    ## Rewards

    - `win` (default): 1 for a won and -1 for a lost game, at its end;
    - `margin`: the change of your points less the neutral player's, at every step;
    - `points`: the change of your points, at every step.

    ## Starting State

    A random set-up (Southern Winds, Setup): tiles, cards, and the neutral player's first clouds. `reset(seed=n)` sets
    up the same game as `Batch(Config(variants=variants, modules=modules, powers=powers), 1, seed=n)`; `reset()` goes
    on with the random stream of the game before. `reset(options={"scenario": {...}})` starts from a described position
    instead (`petrichor_env.scenario`). What the description leaves out of `variants`, `modules`, `powers` and `random`
    is the environment's.

    ## Episode End

    The game's own end after four rounds terminates the episode, and so does an illegal action with
    `illegal_action="lose"`. Nothing truncates it. The last `info` also has `points` and `neutral_points` (int), `won`
    and `illegal` (bool).

    ## Arguments

    - `variants`: any of `double_card`, `non_random_targets`, `no_more_tricks`, `one_more_turn` (Increasing the
      Difficulty);
    - `modules`: any of `fertilizer`, `cactus`, `powers`, `forecasts` (promos and Flowers); the Lake and the flower
      tiles are not for solo;
    - `powers`: with the module `powers`, the one that you have, such as `("rain",)`: `frost`, `sun`, `wind`, `rain` or
      `harvest`; `()` draws it at random;
    - `reward`: `"win"`, `"margin"` or `"points"`;
    - `illegal_action`: what an action does that the mask forbids. `"lose"` (default): the game is lost and ends; the
      reward is -1 with `win`, and with `margin` or `points` what brings the margin to -100 or the points to 0.
      `"raise"`: `IllegalAction`, nothing changes. `"random"`: a random legal action is played instead, and
      `info["illegal"]` is true. What isn't an integer from 0 to 142 raises `IllegalAction` in all three;
    - `components`: path of an overlay TOML file with other numbers on the pieces, or None;
    - `render_mode`: `"ansi"` (`render()` returns the game as text), `"human"` (it is printed after every step) or
      None.

    Raises `ConfigError` for a bad argument or option, `ComponentsError` for a bad overlay, `ScenarioError` for a bad
    scenario, and `GameOver` from `step` after the end.

    ## Version History

    - v0: first version.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "human"], "render_fps": 2}  # type: ignore[misc]

    def __init__(
        self,
        variants: Sequence[str] = (),
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        reward: str = "win",
        illegal_action: str = "lose",
        components: str | None = None,
        render_mode: str | None = None,
    ):
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        config = solo_config(variants, modules, powers, components)
        self.batch = Batch(config, 1, autoreset="disabled", illegal_action=illegal_action, reward=reward)
        self.observation_space = gymnasium.spaces.Box(LOW, HIGH, self.batch.observations.shape[1:], np.float32)
        self._num_actions = self.batch.action_masks.shape[1]
        self.action_space = gymnasium.spaces.Discrete(self._num_actions)
        self._started = False
        self._actions = np.zeros(1, np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a game: a random one, or `options["scenario"]`. Returns the observation and `{"action_mask": …}`."""
        given = check_options(options, ("scenario",))
        state = scenario_of(given, self.batch.config)
        super().reset(seed=seed)
        if seed is None and not self._started:
            seed = int(self.np_random.integers(2**63))
        self._started = True
        self.batch.reset(seed)
        if state is not None:
            start_from(self.batch, state, given, slice(None))
        if self.render_mode == "human":
            self.render()
        return self.batch.observations[0].copy(), {"action_mask": self.batch.action_masks[0].copy()}

    def step(self, action: int | np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play one action. Returns observation, reward, terminated, truncated (always False) and info."""
        self._actions[0] = check_action(action, self._num_actions)
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        batch = self.batch
        batch.step(self._actions)
        info: dict[str, Any] = {"action_mask": batch.action_masks[0].copy()}
        terminated = batch.terminations.item()
        if terminated:
            points = batch.states["points"][0]
            info["points"], info["neutral_points"] = int(points[0]), int(points[1])
            info["won"] = bool(batch.winners()[0, 0])
        if terminated or batch.illegal.item():
            info["illegal"] = batch.illegal.item()
        if self.render_mode == "human":
            self.render()
        return batch.observations[0].copy(), batch.rewards.item(), terminated, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal: (NUM_ACTIONS,) bool, as sb3-contrib's MaskablePPO asks for it."""
        return self.batch.action_masks[0].astype(np.bool_)

    @property
    def state(self) -> State:
        """A copy of the whole game, one record of `petrichor_env.state.STATE`; `petrichor_env.describe` reads it."""
        return self.batch.states[0].copy()

    def render(self) -> str | None:
        """The game as text with `render_mode="ansi"`; with `"human"` it is printed."""
        if self.render_mode is None:
            warn_of_no_render_mode()
            return None
        text = render_text(self.batch.states[0], viewer=0, tables=self.batch.tables)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None
