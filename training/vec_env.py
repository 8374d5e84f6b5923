"""Stable-Baselines3's VecEnv on the native batch: the solo game, N at a time, no process and no loop a game."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.batch import Batch
from petrichor_env.config import Config
from petrichor_env.errors import ConfigError
from petrichor_env.observation import HIGH, LOW, OBSERVATION_SIZE

Indices = int | Iterable[int] | None


class PetrichorVecEnv(VecEnv):
    """`num_envs` solo games stepped together.

    A game that ends is reset in the same step, as Stable-Baselines3 wants it; the step's `infos` then hold

    - `terminal_observation`: (OBSERVATION_SIZE,) float32, the finished game as the player sees it,
    - `TimeLimit.truncated`: always False,
    - `episode`: `r` the return, `l` the number of decisions, `t` seconds since the start,
    - `points`, `neutral_points`: the final score, `won`: whether the player has more.

    `env_method("action_masks")` is one (num_envs, NUM_ACTIONS) bool array, which MaskablePPO asks for.

    Arguments:
        num_envs: number of games.
        config: what is played, the base solo game if None. Raises ConfigError if it is not solo.
        reward: "win", "margin" or "points", as in `Batch`.
        reward_scale: what rewards are multiplied with.
        seed: as in `Batch`; `seed()` sets it for the next reset.
        illegal_action: "raise", "lose" or "random", as in `Batch`.
    """

    render_mode: str | None = None

    def __init__(
        self,
        num_envs: int,
        config: Config | None = None,
        *,
        reward: str = "win",
        reward_scale: float = 1.0,
        seed: int | Sequence[int] | None = None,
        illegal_action: str = "raise",
        num_threads: int | None = None,
    ) -> None:
        config = Config() if config is None else config
        if not config.solo:
            raise ConfigError(f"players={config.players}: a VecEnv has one agent a game; players=1, the solo game")
        self.batch = Batch(
            config,
            num_envs,
            seed,
            autoreset="same_step",
            illegal_action=illegal_action,
            reward=reward,
            num_threads=num_threads,
            new_observations=True,
        )
        self.reward_scale = reward_scale
        self._actions = np.zeros(num_envs, np.int64)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._start = time.time()
        super().__init__(
            num_envs,
            spaces.Box(LOW, HIGH, (OBSERVATION_SIZE,), np.float32),
            spaces.Discrete(NUM_ACTIONS),
        )

    def reset(self) -> np.ndarray:
        """Start all games anew; (num_envs, OBSERVATION_SIZE) float32."""
        self.batch.reset(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return self.batch.observations

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = np.asarray(actions, np.int64).reshape(self.num_envs)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards (float32), dones (bool), infos; the arrays are the caller's to keep."""
        batch = self.batch
        batch.step(self._actions)
        rewards = (batch.rewards[:, 0] * self.reward_scale).astype(np.float32)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in np.flatnonzero(batch.terminations):
            infos[game] = self._final_info(int(game))
        self._returns[batch.terminations] = 0
        self._lengths[batch.terminations] = 0
        return batch.observations, rewards, batch.terminations.copy(), infos

    def _final_info(self, game: int) -> dict[str, Any]:
        final = self.batch.final_states[game]
        points, neutral_points = (int(final["points"][seat]) for seat in (0, 1))
        return {
            "terminal_observation": self.batch.final_observations[game].copy(),
            "TimeLimit.truncated": False,
            "episode": {
                "r": float(self._returns[game]),
                "l": int(self._lengths[game]),
                "t": round(time.time() - self._start, 6),
            },
            "points": points,
            "neutral_points": neutral_points,
            "won": bool(final["forfeited"] < 0 and points > neutral_points),
        }

    def action_masks(self) -> np.ndarray:
        """(num_envs, NUM_ACTIONS) bool: the legal actions of every game."""
        return self.batch.action_masks.astype(bool)

    def close(self) -> None:
        """Nothing to free."""

    def has_attr(self, attr_name: str) -> bool:
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The attribute, which all games share, once for each of the games. Raises AttributeError."""
        value = getattr(self, attr_name)
        return [value] * len(self._games(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute, for all games at once. Raises ValueError for only some of them."""
        if len(set(self._games(indices))) != self.num_envs:
            raise ValueError(f"set_attr({attr_name!r}): the games share their attributes; leave indices=None")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> Any:
        """`action_masks`: (len(indices), NUM_ACTIONS) bool. Raises AttributeError for any other method."""
        if method_name != "action_masks":
            raise AttributeError(f"env_method({method_name!r}): the games have one method, action_masks")
        masks = self.action_masks()
        return masks if indices is None else masks[self._games(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """No game is wrapped in anything."""
        return [False] * len(self._games(indices))

    def _games(self, indices: Indices) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [indices] if isinstance(indices, (int, np.integer)) else list(indices)
