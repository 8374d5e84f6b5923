"""Stable-Baselines3's VecEnv on the native batch: N games at a time, without a process or a loop per game."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from tabletop_engine.checks import checked, coerced
from tabletop_engine.envs.arguments import check_options, observation_box, preparation
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.learner_games import LearnerGames
from tabletop_engine.play.scores import others_points, win_shares
from tabletop_engine.record import exact_points


class SeatsVecEnv(VecEnv):
    """`LearnerGames`, stepped together: games for one, or against agents that play inside.

        SeatsVecEnv(learner_games(Config(), 128, reward="margin", seed=0))

    A game that ends is reset in the same step. The step's `infos` then have these keys:

    - `terminal_observation` (D,): the finished game as the learner sees it;
    - `TimeLimit.truncated`: always False;
    - `episode`: `r` the return, `l` the number of decisions, `t` seconds since the start;
    - `points`, those of the learner, `others_points`, the mean of all others who have points, and `won`, its share of
      the victory: 1 alone, 1/k with k winners, else 0.

    Observations are float32 or int8, like those of the batch. `env_method("action_masks")` returns one (num_envs, A)
    bool array, which MaskablePPO asks for. `reset_infos` has the `action_mask`, (A,) int8, at each game's last start.

    Arguments:
        games: from `learner_games`, with autoreset="same_step" and new_observations=True, because Stable-Baselines3
            reads the last observations after the step. Raises ValueError otherwise.
        reward_scale: the factor of the rewards.
        win_bonus: w. The last reward of a game is increased by w × (2 × share of the victory - 1).
    """

    render_mode: str | None = None

    @checked
    def __init__(self, games: LearnerGames, *, reward_scale: float = 1.0, win_bonus: float = 0.0) -> None:
        if games.autoreset != "same_step" or not games.new_observations:
            raise ValueError("a VecEnv needs games with autoreset='same_step' and new_observations=True")
        self.games = games
        self.reward_scale, self.win_bonus = reward_scale, win_bonus
        num_envs = games.num_games
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._actions = np.zeros(num_envs, np.int64)
        self._start = time.time()
        box = observation_box(games.game, games.observations.dtype, games.observe_numbers)
        super().__init__(num_envs, box, spaces.Discrete(games.game.num_actions))

    def set_options(self, options: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None) -> None:
        """Options of the next `reset`, for all games or for each of them.

        The only option is `scenario`, the position that a game starts from, as in the Gymnasium environments. Raises
        ConfigError for others, and for a list that does not have an entry for each game.
        """
        coerced("options", options, Sequence | Mapping | None)
        each = [options] * self.num_envs if options is None or isinstance(options, Mapping) else list(options)
        if len(each) != self.num_envs:
            raise ConfigError(f"options: {len(each)} of them for {self.num_envs} games")
        self._options = copy.deepcopy([dict(check_options(one, ("scenario",))) for one in each])

    def reset(self) -> np.ndarray:
        """Start all games anew, from the positions of `set_options` if there are any; (num_envs, D).

        Raises ScenarioError for a bad position. The seeds and options are used up all the same.
        """
        seed, options = self._seeds[0], self._options
        self._reset_seeds()
        self._reset_options()
        self.games.reset(seed, prepare=preparation([one.get("scenario") for one in options], self.games.config))
        self._returns[:] = 0
        self._lengths[:] = 0
        for game in range(self.num_envs):
            self._note_start(game)
        return self.games.observations

    def _note_start(self, game: int) -> None:
        self.reset_infos[game] = {"action_mask": self.games.action_masks[game].copy()}

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions, (num_envs,) ints, for `step_wait`."""
        self._actions = np.asarray(actions, np.int64).reshape(self.num_envs)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards (float32), dones (bool), infos; the arrays are the caller's to keep."""
        games = self.games
        games.step(self._actions)
        rewards = games.rewards * self.reward_scale
        over = np.flatnonzero(games.terminations)
        final, seats, rows = games.final_states[over], games.final_seats[over], np.arange(len(over))
        owners = games.game.owners_of_seats(final, seats, games.config.players)
        won = win_shares(games.batch.places(final))[rows, owners]
        rewards[over] += self.win_bonus * (2 * won - 1)
        self._returns += rewards
        self._lengths += 1
        points = exact_points(final["points"][:, : games.config.owners])
        others = others_points(points)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i, game in enumerate(over.tolist()):
            seconds = round(time.time() - self._start, 6)
            infos[game] = {
                "terminal_observation": games.final_observations[game].copy(),
                "TimeLimit.truncated": False,
                "episode": {"r": float(self._returns[game]), "l": int(self._lengths[game]), "t": seconds},
                "points": points[i, owners[i]].item(),
                "others_points": float(others[i, owners[i]]),
                "won": float(won[i]),
            }
            self._note_start(game)
        self._returns[over] = 0
        self._lengths[over] = 0
        return games.observations, rewards.astype(np.float32), games.terminations.copy(), infos

    def action_masks(self) -> np.ndarray:
        """(num_envs, A) bool: the legal actions of every game."""
        return self.games.action_masks.astype(bool)

    def close(self) -> None:
        """Nothing to free."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """The attribute, which all games share, once for each of the games. Raises AttributeError."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute, for all games at once. Raises ValueError for only some of them."""
        if len(set(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"set_attr({attr_name!r}): the games share their attributes; leave indices=None")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> Any:
        """`action_masks`: (len(indices), A) bool. Raises AttributeError for any other method."""
        if method_name != "action_masks":
            raise AttributeError(f"env_method({method_name!r}): the games have one method, action_masks")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """No game is wrapped in anything."""
        return [False for _ in self._get_indices(indices)]
