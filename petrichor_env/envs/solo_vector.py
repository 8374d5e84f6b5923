"""`Petrichor/Solo-v0` as a native batch: N games stepped together, as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from petrichor_env.batch import Batch
from petrichor_env.envs.arguments import (
    check_action,
    check_options,
    check_render_mode,
    check_seeds,
    scenario_of,
    solo_config,
    start_from,
    warn_of_no_render_mode,
)
from petrichor_env.errors import ConfigError, GameOver
from petrichor_env.observation import HIGH, LOW
from petrichor_env.render.text import render_text

Observations = NDArray[np.float32]


def autoreset_mode_of(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode by member, name (`"NEXT_STEP"`, in any case) or value (`"NextStep"`). Raises `ConfigError` otherwise."""
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if isinstance(mode, str) and (mode == known.value or mode.upper() == known.name):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ConfigError(f"autoreset_mode={mode!r}: a gymnasium.vector.AutoresetMode or one of the names {names}")


class SoloVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """N games of `Petrichor/Solo-v0` in one process, stepped by compiled code on `num_threads` threads.

    ```python
    import gymnasium
    from petrichor_env.kernels import sample_actions

    envs = gymnasium.make_vec("petrichor_env:Petrichor/Solo-v0", num_envs=1024)
    observations, infos = envs.reset(seed=1)
    for _ in range(1000):
        actions = sample_actions(infos["action_mask"], envs.np_random)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```

    Game i equals the single environment reset with `seed + i`, in each autoreset mode, and `infos` is what
    `gymnasium.vector.SyncVectorEnv` would put together, except that `infos["action_mask"]`, (num_envs, 143) int8, has
    every game's row after a `reset` of some games too. `action_masks()` is the same as bool.

    Arguments, beyond those of `SoloEnv`:

    - `num_envs`: number of games;
    - `autoreset_mode`: a `gymnasium.vector.AutoresetMode` or its name. `NEXT_STEP` (default): the step after the end
      ignores the action and starts the next game, with reward 0. `SAME_STEP`: the next game starts within the step;
      `infos["final_obs"]` and `infos["final_info"]` have the end of the one before. `DISABLED`: finished games are
      reset with `reset(options={"reset_mask": mask})`, and stepping them raises `GameOver`;
    - `num_threads`: threads to step on, None for as many as there are cores to use;
    - `copy`: True (default) returns new observations and masks at every step. False returns the batch's own arrays,
      which the next `step` or `reset` writes over, for learners that copy them into a rollout buffer
      of their own.

    Raises `ConfigError` for a bad argument, option or seed, `IllegalAction` (nothing has changed) for a bad action.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi"],
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        variants: Sequence[str] = (),
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        reward: str = "win",
        illegal_action: str = "lose",
        components: str | None = None,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int | None = None,
        copy: bool = True,
    ):
        mode = autoreset_mode_of(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": mode}  # type: ignore[misc]
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        self.batch = Batch(
            solo_config(variants, modules, powers, components),
            num_envs,
            autoreset=mode.name.lower(),
            illegal_action=illegal_action,
            reward=reward,
            num_threads=num_threads,
            new_observations=copy,
        )
        self.num_envs = num_envs
        self.copy = copy
        self.autoreset_mode = mode
        self.single_observation_space = gymnasium.spaces.Box(LOW, HIGH, self.batch.observations.shape[1:], np.float32)
        self.single_action_space = gymnasium.spaces.Discrete(self.batch.action_masks.shape[1])
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Start all games, or those of `options["reset_mask"]`, (num_envs,) bool. Returns observations and infos.

        A game is a random one, or `options["scenario"]`. An int `seed` seeds game i with seed + i, a sequence gives
        each game its own; without one, and where it is None in the sequence, a game goes on with its random stream.
        """
        given = check_options(options, ("scenario", "reset_mask"))
        state = scenario_of(given, self.batch.config)
        which = self._reset_mask(given.get("reset_mask"))
        self._start_games(seed, which)
        if state is not None:
            start_from(self.batch, state, given, which)
        return self.batch.observations, self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action in every game: observations, rewards, terminations, truncations (all False), infos."""
        batch = self.batch
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        self._check_range(actions)
        batch.step(actions)
        terminations = batch.terminations.copy()
        infos = self._infos()
        if batch.illegal.any() or terminations.any():
            self._add_ends(infos, terminations, batch.illegal.copy())
        return batch.observations, batch.rewards[:, 0].copy(), terminations, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal in each game: a new (num_envs, NUM_ACTIONS) bool array."""
        return self.batch.action_masks.astype(np.bool_)

    def render(self) -> tuple[str, ...] | None:
        """Every game as text with `render_mode="ansi"`."""
        if self.render_mode is None:
            warn_of_no_render_mode()
            return None
        return tuple(render_text(state, viewer=0, tables=self.batch.tables) for state in self.batch.states)

    def _infos(self) -> dict[str, Any]:
        masks = self.batch.action_masks
        return {"action_mask": masks.copy() if self.copy else masks, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _add_ends(self, infos: dict[str, Any], ended: NDArray[np.bool_], illegal: NDArray[np.bool_]) -> None:
        """What the single environment says at the end of a game, and of a replaced illegal action."""
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            if ended.any():
                self._add_results(infos, ended)
            _add(infos, "illegal", illegal, ended | illegal)
            return
        if (illegal & ~ended).any():
            _add(infos, "illegal", illegal & ~ended, illegal & ~ended)
        if not ended.any():
            return
        final_info: dict[str, Any] = {}
        masks = np.zeros_like(self.batch.action_masks)
        masks[ended] = 1
        _add(final_info, "action_mask", masks, ended)
        self._add_results(final_info, ended)
        _add(final_info, "illegal", illegal & ended, ended)
        final_obs = np.full(self.num_envs, None, object)
        for game in np.flatnonzero(ended):
            final_obs[game] = self.batch.final_observations[game].copy()
        _add(infos, "final_obs", final_obs, ended)
        _add(infos, "final_info", final_info, ended)

    def _add_results(self, info: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        final = self.batch.final_states[ended]
        for key, values in (
            ("points", final["points"][:, 0]),
            ("neutral_points", final["points"][:, 1]),
            ("won", self.batch.winners(final)[:, 0]),
        ):
            of_all: NDArray[Any] = np.zeros(self.num_envs, np.bool_ if key == "won" else np.int64)
            of_all[ended] = values
            _add(info, key, of_all, ended)

    def _start_games(self, seed: int | Sequence[int | None] | None, which: NDArray[np.bool_]) -> None:
        if isinstance(seed, int | np.integer):
            check_seeds([seed], 1)
            super().reset(seed=int(seed))
            self.batch.reset(int(seed), which)
        elif seed is not None:
            seeds = check_seeds(seed, self.num_envs)
            known = np.array([one is not None for one in seeds])
            self.batch.reset([0 if one is None else one for one in seeds], which & known)
            self.batch.reset(None, which & ~known)
        elif self._started:
            self.batch.reset(None, which)
        else:  # Gymnasium wants a random start to come from np_random; no game has been shown yet, so all start
            self.batch.reset(self.np_random.integers(2**63, size=self.num_envs))
        self._started = True

    def _reset_mask(self, mask: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        wanted = f"a bool array of shape ({self.num_envs},) with at least one True"
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ConfigError(f"options: reset_mask: {wanted}, not {mask!r:.80}")
        if not mask.any():
            raise ConfigError(f"options: reset_mask: {wanted}, not all False")
        return mask

    def _check_range(self, actions: NDArray[np.int64]) -> None:
        """Actions outside the space are errors, except for games that wait for their reset and ignore them."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            return  # the batch says what is wrong
        outside = (given < 0) | (given >= self.batch.action_masks.shape[1])
        if outside.any() and (outside & (self.batch.actors >= 0)).any():
            game = int(np.flatnonzero(outside & (self.batch.actors >= 0))[0])
            check_action(given[game], self.batch.action_masks.shape[1], f"game {game}: ")


def _add(info: dict[str, Any], key: str, values: Any, which: NDArray[np.bool_]) -> None:
    """Gymnasium's pair of keys: the values, and which games have one."""
    info[key], info[f"_{key}"] = values, which.copy()
