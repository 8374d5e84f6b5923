"""One seat of many games as a Gymnasium vector environment, stepped together in one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tabletop_engine.checks import coerced, whole
from tabletop_engine.drawing.raster import WIDTH
from tabletop_engine.envs.arguments import (
    check_action,
    check_mask,
    check_options,
    check_seeds,
    observation_box,
    preparation,
    seat_games,
)
from tabletop_engine.envs.rendering import Frame, Rendering, Shown
from tabletop_engine.errors import ConfigError, GameOver
from tabletop_engine.game import Game
from tabletop_engine.play.learner_games import LearnerGames


class SeatVectorEnv(VectorEnv[NDArray[Any], NDArray[np.int64], NDArray[Any]]):
    """One seat of N games as a Gymnasium vector environment, stepped by compiled code on `num_threads` threads.

    `SeatVectorEnv(game)` plays any game, as `tabletop_engine.envs.SeatEnv` does. Spaces, rewards and starts are those
    of the single environment. The vector environments of a game derive from this class.

    ## Description

    ```python
    import gymnasium
    from tabletop_engine.play.kernels import sample_actions

    envs = gymnasium.make_vec("my_game:MyGame/Versus-v0", num_envs=1024)
    observations, infos = envs.reset(seed=1)
    for _ in range(1000):
        actions = sample_actions(infos["action_mask"], envs.np_random)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
    ```

    Game i is set up as in a single environment that is reset with `seed + i`. `infos` are as
    `gymnasium.vector.SyncVectorEnv` would combine the infos of single environments, with one exception:
    `infos["action_mask"]`, (num_envs, actions) int8, has the rows of all games also after a `reset` of some games.
    `action_masks()` is the same as bool.

    With one player a game also continues as in the single environment, in each autoreset mode. With several players
    each opponent answers for all games in one call. One generator draws the seats and the opponents' random choices of
    all games; it is seeded when all games are. So the same seed and the same actions give the same games, but not those
    of N single environments.

    ## Arguments

    - `num_envs`: the number of games.
    - `autoreset_mode`: a `gymnasium.vector.AutoresetMode` or its name. `NEXT_STEP` (default): the step after the end
      ignores the action and starts the next game, with reward 0. `SAME_STEP`: the next game starts within the step;
      `infos["final_obs"]` and `infos["final_info"]` have the end of the previous one. `DISABLED`: reset finished games
      with `reset(options={"reset_mask": mask})`; stepping them raises `GameOver`.
    - `num_threads`: the number of threads that step the games; None for all usable cores.
    - `copy`: True (default): every step returns new arrays of observations and masks. False: it returns the batch's own
      arrays, which the next `step` or `reset` overwrites, for learners that copy them into a rollout buffer.
    - All others are those of the single environment, but `render_mode` has no window.

    ## Errors

    Those of the single environment, `ConfigError` for a bad list of seeds or a bad mask, and `IllegalAction` for a bad
    action. Nothing changes then.
    """

    refused: ClassVar[tuple[str, ...]] = ()
    """Arguments of the game that a class derived from this one refuses. Messages don't offer them."""

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        render_mode: str | None = None,
        render_size: int = WIDTH,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int | None = None,
        copy: bool = True,
        **arguments: Any,
    ):
        mode = autoreset_mode_of(autoreset_mode)
        if arguments.pop("max_episode_steps", None) is not None:  # Gymnasium hands it over from a spec
            raise ConfigError(
                "max_episode_steps: every game ends by itself, and nothing cuts it short here; leave it out of "
                "make_vec and of the spec"
            )
        self.batch: LearnerGames = seat_games(
            self,
            game,
            arguments,
            whole("num_envs", num_envs, 1),
            autoreset=mode.name.lower(),
            num_threads=num_threads,
            new_observations=coerced("copy", copy, bool),
        )
        game = self.batch.game
        self.metadata = {**type(self).metadata, "autoreset_mode": mode}  # type: ignore[misc]
        self._rendering = Rendering(self.batch, render_mode, render_size, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.num_envs: int = self.batch.num_games
        self.copy: bool = copy
        self.autoreset_mode: AutoresetMode = mode
        self.single_observation_space: gymnasium.spaces.Box = observation_box(
            game, self.batch.observations.dtype, self.batch.observe_numbers
        )
        self.single_action_space: gymnasium.spaces.Discrete = gymnasium.spaces.Discrete(game.num_actions)
        self.observation_space: gymnasium.Space[Any] = batch_space(self.single_observation_space, self.num_envs)
        self.action_space: gymnasium.Space[Any] = batch_space(self.single_action_space, self.num_envs)
        self._started = False

    # --- Gymnasium's interface ---

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start all games, or those of `options["reset_mask"]`, (num_envs,) bool. Returns observations and infos.

        The games are random, or start from the position `options["scenario"]`. An int `seed` seeds game i with
        seed + i; a sequence has a seed for each game. With None, also in the sequence, a game continues its random
        stream.
        """
        given = check_options(options, ("scenario", "reset_mask"))
        which = check_mask(given.get("reset_mask"), self.num_envs)
        prepare = preparation([given.get("scenario") if one else None for one in which], self.batch.config)
        if isinstance(seed, int | np.integer):
            check_seeds([seed], 1)
            super().reset(seed=int(seed))
            seeds: list[int | None] = [int(seed) + game for game in range(self.num_envs)]
        elif seed is not None:
            seeds = check_seeds(seed, self.num_envs)
        elif self._started:
            seeds = [None] * self.num_envs
        else:  # Gymnasium wants a random start to come from np_random; no game has been shown yet, so all start
            seeds = self.np_random.integers(2**63, size=self.num_envs).tolist()
            which = np.ones_like(which)
        known = np.array([one is not None for one in seeds])
        for given_seeds, chosen in (([one or 0 for one in seeds], which & known), (None, which & ~known)):
            if chosen.any():
                self.batch.reset(given_seeds, None if chosen.all() else chosen, prepare)
        self._started = True
        return self.batch.observations, self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action in every game.

        Returns observations, rewards, terminations, truncations (all False) and infos.
        """
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        self._check_range(actions)
        batch = self.batch
        batch.step(actions)
        terminations = batch.terminations.copy()
        infos = self._infos()
        if batch.illegal.any() or terminations.any():
            self._add_ends(infos, terminations, batch.illegal.copy())
        return batch.observations, batch.rewards.copy(), terminations, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Whether each action is legal in each game: a new (num_envs, actions) bool array."""
        return self.batch.action_masks.astype(np.bool_)

    def render(self) -> tuple[Frame, ...] | None:
        """Every game as the learner's seat sees it: text with `render_mode="ansi"`, pixels with `"rgb_array"`."""
        games = self.batch.batch
        pairs = zip(games.states, self.batch.seats, strict=True)
        shown = [Shown(state, int(viewer), games.tables_of(game), game) for game, (state, viewer) in enumerate(pairs)]
        return self._rendering.frames(shown)

    # --- inside ---

    def _check_range(self, actions: NDArray[np.int64]) -> None:
        """Raise IllegalAction for actions outside the space, except in games that wait for a reset and ignore them."""
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            return  # the batch says what is wrong
        num_actions = self.batch.action_masks.shape[1]
        outside = (given < 0) | (given >= num_actions)
        if outside.any() and (outside := outside & ~self.batch.over).any():
            game = int(outside.argmax())
            check_action(given[game], num_actions, f"game {game}: ")

    def _infos(self) -> dict[str, Any]:
        masks = self.batch.action_masks
        return {"action_mask": masks.copy() if self.copy else masks, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _add_ends(self, infos: dict[str, Any], ended: NDArray[np.bool_], illegal: NDArray[np.bool_]) -> None:
        """Add the entries of a single environment's info for finished games and for replaced illegal actions."""
        same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        ends: dict[str, Any] = {} if same_step else infos
        for key, values in self.batch.results().items():
            of_all = np.zeros(self.num_envs, values.dtype)
            of_all[ended] = values
            _add(ends, key, of_all, ended)
        if not same_step:
            _add(infos, "illegal", illegal, ended | illegal)
            return
        _add(infos, "illegal", illegal & ~ended, illegal & ~ended)
        _add(ends, "illegal", illegal & ended, ended)
        masks = np.zeros_like(self.batch.action_masks)
        masks[ended] = 1
        _add(ends, "action_mask", masks, ended)
        final_obs = np.full(self.num_envs, None, object)
        for game in np.flatnonzero(ended):
            final_obs[game] = self.batch.final_observations[game].copy()
        _add(infos, "final_obs", final_obs, ended)
        _add(infos, "final_info", ends, ended)


def autoreset_mode_of(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode, given as a member, a name (`"NEXT_STEP"`, any case) or a value (`"NextStep"`).

    Raises `ConfigError` for anything else.
    """
    for known in AutoresetMode:
        if mode is known or (isinstance(mode, str) and (mode == known.value or mode.upper() == known.name)):
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ConfigError(f"autoreset_mode={mode!r}: must be a gymnasium.vector.AutoresetMode or one of the names {names}")


def _add(info: dict[str, Any], key: str, values: Any, which: NDArray[np.bool_]) -> None:
    """Add Gymnasium's pair of keys, if any game has a value: the values, and which games have one."""
    if which.any():
        info[key], info[f"_{key}"] = values, which.copy()
