"""`Petrichor/Solo-v0`: one solo game as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tabletop.batch import Batch
from tabletop.drawing.raster import WIDTH
from tabletop.envs.arguments import Prepare, solo_config
from tabletop.envs.single import GameEnv


class SoloEnv(GameEnv):
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
    - `render_mode`: `"ansi"` (`render()` returns the game as text), `"rgb_array"` (as a picture: pixels), `"human"` (a
      window shows the picture after every step) or None;
    - `render_size`: width and height of the picture in pixels, 16 to 4096.

    Raises `ConfigError` for a bad argument or option, `ComponentsError` for a bad overlay, `ScenarioError` for a bad
    scenario, `PetrichorError` for a picture without the extra `render` and a window without a screen, and `GameOver`
    from `step` after the end.

    ## Version History

    - v0: first version.
    """

    batch: Batch

    def __init__(
        self,
        variants: Sequence[str] = (),
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        reward: str = "win",
        illegal_action: str = "lose",
        components: str | None = None,
        render_mode: str | None = None,
        render_size: int = WIDTH,
    ):
        config = solo_config(variants, modules, powers, components)
        batch = Batch(config, 1, autoreset="disabled", illegal_action=illegal_action, reward=reward)
        super().__init__(batch, render_mode, render_size)

    def _start(self, seed: int | None, prepare: Prepare | None) -> None:
        self.batch.reset(seed)
        if prepare is not None:
            prepare(self.batch, np.ones(1, np.bool_))

    def _results(self) -> dict[str, Any]:
        points = self.batch.states["points"][0]
        won = self.batch.winners()[0, 0]
        return {"points": int(points[0]), "neutral_points": int(points[1]), "won": bool(won)}

    def _all_seats(self) -> Batch:
        return self.batch

    def _viewer(self) -> int:
        return 0
