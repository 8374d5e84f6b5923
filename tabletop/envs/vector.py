"""What the native vector environments share: Gymnasium's arguments, autoreset modes and infos over a batch of games."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from petrichor_env.config import Config
from petrichor_env.observation import HIGH, LOW
from tabletop.batch import Batch, Seed
from tabletop.envs.arguments import Prepare, check_action, check_mask, check_options, check_seeds, preparation
from tabletop.envs.rendering import Frame, Rendering, Shown
from tabletop.errors import ConfigError, GameOver

Observations = NDArray[np.float32]


class Games(Protocol):
    """What is asked of a batch of N games: its arrays, as `Batch` describes them, written anew by every step."""

    config: Config
    observations: NDArray[np.float32]
    action_masks: NDArray[np.int8]
    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    illegal: NDArray[np.bool_]
    final_observations: NDArray[np.float32]

    def step(self, actions: NDArray[np.int64]) -> None: ...


class GamesVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """A batch of games as a Gymnasium vector environment, for subclasses that make the batch and say how games end.

    Arguments:
        games: the batch; its games may be shown only after the first `reset`.
        num_envs, render_mode, render_size, autoreset_mode, copy: as the subclass documents them.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    batch: Games

    def __init__(
        self,
        games: Games,
        num_envs: int,
        render_mode: str | None,
        render_size: int,
        autoreset_mode: AutoresetMode,
        copy: bool,
    ):
        self.metadata = {**type(self).metadata, "autoreset_mode": autoreset_mode}  # type: ignore[misc]
        self._rendering = Rendering(render_mode, render_size, self.metadata["render_modes"], num_envs)
        self.render_mode = render_mode
        self.batch = games
        self.num_envs = num_envs
        self.copy = copy
        self.autoreset_mode = autoreset_mode
        self.single_observation_space = gymnasium.spaces.Box(LOW, HIGH, games.observations.shape[1:], np.float32)
        self.single_action_space = gymnasium.spaces.Discrete(games.action_masks.shape[1])
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False

    # --- what a subclass says ---

    @abstractmethod
    def _start(self, seed: Seed, which: NDArray[np.bool_], prepare: Prepare | None) -> None:
        """Start these games (at least one) anew; `prepare` puts positions into them."""

    @abstractmethod
    def _over(self) -> NDArray[np.bool_]:
        """(num_envs,) bool: games that wait for their reset."""

    @abstractmethod
    def _results(self) -> dict[str, NDArray[Any]]:
        """How the games ended that ended in the last step: for each key of their info an array, in their order."""

    @abstractmethod
    def _all_seats(self) -> Batch:
        """The batch with the whole games."""

    @abstractmethod
    def _viewers(self) -> NDArray[np.int64]:
        """(num_envs,) ints: the seat that is played from here."""

    # --- Gymnasium's interface ---

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
        which = check_mask(given.get("reset_mask"), self.num_envs)
        prepare = preparation(given, self.batch.config, which)
        if isinstance(seed, int | np.integer):
            check_seeds([seed], 1)
            super().reset(seed=int(seed))
            self._start(int(seed), which, prepare)
        elif seed is not None:
            seeds = check_seeds(seed, self.num_envs)
            known = np.array([one is not None for one in seeds])
            if (which & known).any():
                self._start([0 if one is None else one for one in seeds], which & known, prepare)
            if (which & ~known).any():
                self._start(None, which & ~known, prepare)
        elif self._started:
            self._start(None, which, prepare)
        else:  # Gymnasium wants a random start to come from np_random; no game has been shown yet, so all start
            self._start(self.np_random.integers(2**63, size=self.num_envs), np.ones_like(which), prepare)
        self._started = True
        self._rendering.started(which)
        return self.batch.observations, self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action in every game: observations, rewards, terminations, truncations (all False), infos."""
        batch = self.batch
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        self._check_range(actions)
        before = self._all_seats().states.copy() if self._rendering.draws else None
        batch.step(actions)
        terminations = batch.terminations.copy()
        if before is not None:
            anew = terminations if self.autoreset_mode is AutoresetMode.SAME_STEP else None
            self._rendering.stepped(before, actions, batch.illegal, anew)
        infos = self._infos()
        if batch.illegal.any() or terminations.any():
            self._add_ends(infos, terminations, batch.illegal.copy())
        rewards = batch.rewards.reshape(self.num_envs, -1)[:, 0].copy()
        return batch.observations, rewards, terminations, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal in each game: a new (num_envs, NUM_ACTIONS) bool array."""
        return self.batch.action_masks.astype(np.bool_)

    def render(self) -> tuple[Frame, ...] | None:
        """Every game as the one who is played from here sees it: text with `render_mode="ansi"`, or pixels."""
        games = self._all_seats()
        pairs = zip(games.states, self._viewers(), strict=True)
        shown = [Shown(state, int(viewer), games.tables, game) for game, (state, viewer) in enumerate(pairs)]
        return self._rendering.frames(shown)

    # --- inside ---

    def _check_range(self, actions: NDArray[np.int64]) -> None:
        """Actions outside the space are errors, except for games that wait for their reset and ignore them."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            return  # the batch says what is wrong
        num_actions = self.batch.action_masks.shape[1]
        outside = (given < 0) | (given >= num_actions)
        if outside.any() and (outside := outside & ~self._over()).any():
            game = int(outside.argmax())
            check_action(given[game], num_actions, f"game {game}: ")

    def _infos(self) -> dict[str, Any]:
        masks = self.batch.action_masks
        return {"action_mask": masks.copy() if self.copy else masks, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _add_ends(self, infos: dict[str, Any], ended: NDArray[np.bool_], illegal: NDArray[np.bool_]) -> None:
        """What the single environment says at the end of a game, and of a replaced illegal action."""
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._add_results(infos, ended)
            _add(infos, "illegal", illegal, ended | illegal)
            return
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
        if not ended.any():
            return
        for key, values in self._results().items():
            of_all = np.zeros(self.num_envs, values.dtype)
            of_all[ended] = values
            _add(info, key, of_all, ended)


def autoreset_mode_of(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode by member, name (`"NEXT_STEP"`, in any case) or value (`"NextStep"`). Raises `ConfigError` otherwise."""
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if isinstance(mode, str) and (mode == known.value or mode.upper() == known.name):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ConfigError(f"autoreset_mode={mode!r}: a gymnasium.vector.AutoresetMode or one of the names {names}")


def _add(info: dict[str, Any], key: str, values: Any, which: NDArray[np.bool_]) -> None:
    """Gymnasium's pair of keys, the values and which games have one, if any has."""
    if which.any():
        info[key], info[f"_{key}"] = values, which.copy()
