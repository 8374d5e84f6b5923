"""What the single environments share: Gymnasium's interface over a batch of one game."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from petrichor_env.observation import HIGH, LOW
from petrichor_env.state import State
from tabletop.batch import Batch
from tabletop.envs.arguments import Prepare, check_action, check_options, preparation
from tabletop.envs.rendering import Frame, Rendering, Shown
from tabletop.envs.vector import Games
from tabletop.errors import GameOver


class GameEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A batch of one game as a Gymnasium environment, for subclasses that make the batch and say how games end.

    Arguments:
        games: the batch, with autoreset="disabled"; its game may be shown only after the first `reset`.
        render_mode, render_size: as the subclass documents them.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array", "human"],
        "render_fps": 2,
    }
    batch: Games

    def __init__(self, games: Games, render_mode: str | None, render_size: int):
        self._rendering = Rendering(render_mode, render_size, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.batch = games
        self.observation_space = gymnasium.spaces.Box(LOW, HIGH, games.observations.shape[1:], np.float32)
        self._num_actions = games.action_masks.shape[1]
        self.action_space = gymnasium.spaces.Discrete(self._num_actions)
        self._started = False
        self._actions = np.zeros(1, np.int64)

    # --- what a subclass says ---

    @abstractmethod
    def _start(self, seed: int | None, prepare: Prepare | None) -> None:
        """Start the game anew; `prepare` puts a position into it."""

    @abstractmethod
    def _results(self) -> dict[str, Any]:
        """How the game ended that ended in the last step: what its info says of it."""

    @abstractmethod
    def _all_seats(self) -> Batch:
        """The batch with the whole game."""

    @abstractmethod
    def _viewer(self) -> int:
        """The seat that is played from here."""

    # --- Gymnasium's interface ---

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a game: a random one, or `options["scenario"]`. Returns the observation and `{"action_mask": …}`."""
        given = check_options(options, ("scenario",))
        prepare = preparation(given, self.batch.config)
        super().reset(seed=seed)
        if seed is None and not self._started:
            seed = int(self.np_random.integers(2**63))
        self._start(seed, prepare)
        self._started = True
        self._rendering.started()
        if self.render_mode == "human":
            self.render()
        return self.batch.observations[0].copy(), {"action_mask": self.batch.action_masks[0].copy()}

    def step(self, action: int | np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play one action, then what follows until the next one is asked for.

        Returns observation, reward, terminated, truncated (always False) and info.
        """
        self._actions[0] = check_action(action, self._num_actions)
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        batch = self.batch
        before = self._all_seats().states.copy() if self._rendering.draws else None
        batch.step(self._actions)
        if before is not None:
            self._rendering.stepped(before, self._actions, batch.illegal)
        info: dict[str, Any] = {"action_mask": batch.action_masks[0].copy()}
        terminated = batch.terminations.item()
        if terminated:
            info.update(self._results())
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
        return self._all_seats().states[0].copy()

    def render(self) -> Frame | None:
        """The game as this seat sees it: text with `render_mode="ansi"`, pixels with `"rgb_array"`.

        Pixels are (render_size, render_size, 3) uint8. With `"human"` the window shows it, and None is returned.
        """
        return self._rendering.frame(self._shown(), self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        self._rendering.close()

    def _shown(self) -> Shown:
        games = self._all_seats()
        return Shown(games.states[0], self._viewer(), games.tables)
