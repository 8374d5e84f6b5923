"""One seat of one game as a Gymnasium environment. Agents play the other seats, if there are any."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tabletop.drawing.raster import WIDTH
from tabletop.envs.arguments import check_action, check_options, observation_box, preparation, seat_games
from tabletop.envs.rendering import Frame, Rendering, Shown
from tabletop.errors import GameOver
from tabletop.game import Game
from tabletop.versus import VersusBatch


class SeatEnv(gymnasium.Env[NDArray[Any], np.int64]):
    """A Gymnasium environment of one seat of a game, the learner's. A solo game has no other seats.

    `info` always has `action_mask`, (actions,) int8. At the end of a game it also has `points` (int), `others_points`
    (float, the mean of the others' points), `won` (bool, also for a shared victory), `seat` (int) and `illegal` (bool).
    `illegal` is also there when another action was played in place of an illegal one.

    Arguments:
        game: a `Game`, or the name of the module that has it as `GAME`.
        render_mode: "ansi", "rgb_array", "human" or None.
        render_size: the width and height of pictures, in pixels.
        **arguments: the fields of the game's configuration, and these:

            - `opponents`: agents, or names for `tabletop_agents.make_agent`. One opponent plays every other seat;
              several sit clockwise from the learner, one on each seat. () in a solo game.
            - `seat`: the learner's seat, from 0, or "random": drawn for every game.
            - `reward`: "win", "margin" or "points", as in `tabletop.batch.Batch`.
            - `illegal_action`: "lose", "raise" or "random", as in `Batch`.
            - `observation_dtype`: "float32", or "int8" for plain counts.

    Raises `ConfigError` for a bad argument or option and for an opponent that is unknown or can't play this game,
    `CheckpointError` for a trained opponent that can't be read, `ComponentsError` for bad numbers, `ScenarioError` for
    a bad scenario, `TabletopError` for a picture without the extra `render` and a window without a screen, and
    `GameOver` from `step` after the end.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array", "human"],
        "render_fps": 2,
    }

    def __init__(self, game: Game | str, *, render_mode: str | None = None, render_size: int = WIDTH, **arguments: Any):
        self.batch: VersusBatch = seat_games(game, arguments, autoreset="disabled", new_observations=False)
        game = self.batch.game
        self._rendering = Rendering(game, render_mode, render_size, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.observation_space = observation_box(game, self.batch.observations.dtype)
        self.action_space = gymnasium.spaces.Discrete(game.num_actions)
        self._started = False
        self._actions = np.zeros(1, np.int64)

    @property
    def seat(self) -> int:
        """The learner's seat in the current game."""
        return int(self.batch.seats[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start a random game, or the position `options["scenario"]`. Returns the observation and the info."""
        given = check_options(options, ("scenario",))
        prepare = preparation(given, self.batch.config)
        super().reset(seed=seed)
        if seed is None and not self._started:
            seed = int(self.np_random.integers(2**63))
        self.batch.reset(seed, prepare=prepare)
        self._started = True
        self._rendering.started()
        if self.render_mode == "human":
            self.render()
        return self.batch.observations[0].copy(), {"action_mask": self.batch.action_masks[0].copy()}

    def step(self, action: int | np.int64) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Play one action, then the others' until the learner has a decision again or the game is over.

        Returns observation, reward, terminated, truncated (always False) and info.
        """
        batch = self.batch
        self._actions[0] = check_action(action, batch.game.num_actions)
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        self._rendering.step(batch, self._actions)
        info: dict[str, Any] = {"action_mask": batch.action_masks[0].copy()}
        terminated = batch.terminations.item()
        if terminated:
            info.update({key: values.item() for key, values in batch.results().items()})
        if terminated or batch.illegal.item():
            info["illegal"] = batch.illegal.item()
        if self.render_mode == "human":
            self.render()
        return batch.observations[0].copy(), batch.rewards.item(), terminated, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Whether each action is legal, (actions,) bool. sb3-contrib's MaskablePPO calls this method."""
        return self.batch.action_masks[0].astype(np.bool_)

    @property
    def state(self) -> Any:
        """A copy of the whole game, one record."""
        return self.batch.batch.states[0].copy()

    def render(self) -> Frame | None:
        """The game as this seat sees it: text with `render_mode="ansi"`, pixels with `"rgb_array"`.

        Pixels are (render_size, render_size, 3) uint8. With `"human"` a window shows them, and None is returned.
        """
        return self._rendering.frame(self._shown(), self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        self._rendering.close()

    def _shown(self) -> Shown:
        games = self.batch.batch
        return Shown(games.states[0], self.seat, games.tables)
