"""`Petrichor/Versus-v0` as a native batch: one seat of N games, as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from agents.base import Agent
from agents.versus import Prepare, VersusBatch
from agents.versus_env import preparation, versus_config
from petrichor_env.batch import Seed
from petrichor_env.envs.arguments import (
    check_action,
    check_options,
    check_render_mode,
    check_seeds,
    warn_of_no_render_mode,
)
from petrichor_env.envs.solo_vector import autoreset_mode_of
from petrichor_env.errors import ConfigError, GameOver
from petrichor_env.observation import HIGH, LOW
from petrichor_env.render.text import render_text

Observations = NDArray[np.float32]


class VersusVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """N games of `Petrichor/Versus-v0` in one process. Each opponent answers for all games in one call.

    ```python
    import gymnasium
    from petrichor_env.kernels import sample_actions

    envs = gymnasium.make_vec("petrichor_env:Petrichor/Versus-v0", num_envs=256, opponents=("greedy",))
    observations, infos = envs.reset(seed=1)
    for _ in range(100):
        actions = sample_actions(infos["action_mask"], envs.np_random)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```

    Game i is set up as in the single environment reset with `seed + i`. What is drawn besides (seats, opponents'
    moves) comes from one generator for all games: the same seed and the same actions give the same games, but not
    those of N single environments. `infos` are as in `petrichor_env.envs.SoloVectorEnv`, with the single
    environment's results. `action_masks()` is (num_envs, 143) bool.

    Arguments, beyond those of `VersusEnv`:

    - `num_envs`: number of games;
    - `autoreset_mode`: a `gymnasium.vector.AutoresetMode` or its name. `NEXT_STEP` (default): the step after the end
      ignores the action and starts the next game, with reward 0. `SAME_STEP`: the next game starts within the step;
      `infos["final_obs"]` and `infos["final_info"]` have the end of the one before. `DISABLED`: finished games are
      reset with `reset(options={"reset_mask": mask})`, and stepping them raises `GameOver`;
    - `num_threads`: threads to step on, None for as many as there are cores to use;
    - `copy`: True (default) returns new observations and masks at every step. False returns the batch's own arrays,
      which the next `step` or `reset` writes over.

    Raises what `VersusEnv` does, and `ConfigError` for a bad list of seeds or mask.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi"],
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
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
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int | None = None,
        copy: bool = True,
    ):
        mode = autoreset_mode_of(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": mode}  # type: ignore[misc]
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        self.batch = VersusBatch(
            versus_config(players, rounds, drafting, modules, powers, components),
            num_envs,
            opponents,
            seat=seat,
            reward=reward,
            illegal_action=illegal_action,
            autoreset=mode.name.lower(),
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
        The opponents' generator is seeded where all games are.
        """
        given = check_options(options, ("scenario", "reset_mask"))
        prepare = preparation(given, self.batch.config)
        which = self._reset_mask(given.get("reset_mask"))
        if isinstance(seed, int | np.integer):
            check_seeds([seed], 1)
            super().reset(seed=int(seed))
            self._start(int(seed), which, prepare)
        elif seed is not None:
            seeds = check_seeds(seed, self.num_envs)
            known = np.array([one is not None for one in seeds])
            self._start([0 if one is None else one for one in seeds], which & known, prepare)
            self._start(None, which & ~known, prepare)
        elif self._started:
            self._start(None, which, prepare)
        else:  # Gymnasium wants a random start to come from np_random; no game has been shown yet, so all start
            self._start(self.np_random.integers(2**63, size=self.num_envs), np.ones(self.num_envs, np.bool_), prepare)
        self._started = True
        return self.batch.observations, self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action in every game, then the others'.

        Returns observations, rewards, terminations, truncations (all False) and infos.
        """
        batch = self.batch
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        self._check_range(actions)
        batch.step(actions)
        ended, illegal = batch.terminations.copy(), batch.illegal.copy()
        infos = self._infos()
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._add_results(infos, ended)
            _add(infos, "illegal", illegal, ended | illegal)
        else:
            _add(infos, "illegal", illegal & ~ended, illegal & ~ended)
            self._add_ends(infos, ended, illegal)
        return batch.observations, batch.rewards.copy(), ended, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal in each game: a new (num_envs, NUM_ACTIONS) bool array."""
        return self.batch.action_masks.astype(np.bool_)

    def render(self) -> tuple[str, ...] | None:
        """Every game as text with `render_mode="ansi"`, as the learner's seat sees it."""
        if self.render_mode is None:
            warn_of_no_render_mode()
            return None
        games = self.batch.batch
        return tuple(
            render_text(state, viewer=int(seat), tables=games.tables)
            for state, seat in zip(games.states, self.batch.seats, strict=True)
        )

    def _infos(self) -> dict[str, Any]:
        masks = self.batch.action_masks
        return {"action_mask": masks.copy() if self.copy else masks, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _add_ends(self, infos: dict[str, Any], ended: NDArray[np.bool_], illegal: NDArray[np.bool_]) -> None:
        """The last observations and infos of games that have been followed by others in the same step."""
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
        if not ended.any():
            return
        for key, values in self.batch.results().items():
            of_all = np.zeros(self.num_envs, values.dtype)
            of_all[ended] = values
            _add(info, key, of_all, ended)

    def _start(self, seed: Seed, which: NDArray[np.bool_], prepare: Prepare | None) -> None:
        if which.any():
            self.batch.reset(seed, None if which.all() else which, prepare)

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
        num_actions = self.batch.action_masks.shape[1]
        outside = ((given < 0) | (given >= num_actions)) & ~self.batch.over
        if outside.any():
            game = int(outside.argmax())
            check_action(given[game], num_actions, f"game {game}: ")


def _add(info: dict[str, Any], key: str, values: Any, which: NDArray[np.bool_]) -> None:
    """Gymnasium's pair of keys, the values and which games have one, if any has."""
    if which.any():
        info[key], info[f"_{key}"] = values, which.copy()
