"""Stable-Baselines3's VecEnv on the native batch: N games at a time, without a process or a loop per game."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from tabletop.batch import Batch, Seed
from tabletop.envs.arguments import check_options, observation_box, preparation
from tabletop.errors import ConfigError
from tabletop.game import Config
from tabletop.scores import others_points, win_shares
from tabletop.versus import Prepare, VersusBatch


@dataclass(frozen=True)
class Ended:
    """K ended games in the order of their ends, as the learner sees them."""

    won: np.ndarray  # (K,) float64, its share of the victory: 1 alone, 1/k with k winners, else 0
    points: np.ndarray  # (K,) int64
    others_points: np.ndarray  # (K,) float64, the mean of all others who have points
    returns: np.ndarray  # (K,) float64, sums of the scaled rewards
    lengths: np.ndarray  # (K,) int64, its decisions
    seats: np.ndarray  # (K,) int64
    lineups: np.ndarray  # (K, players - 1) int64, who played the other seats, as in `VersusBatch`
    configs: list[Config]  # what was played

    def __len__(self) -> int:
        return len(self.won)

    @property
    def margins(self) -> np.ndarray:
        """(K,) float64: the learner's points less the mean of the others'."""
        return np.asarray(self.points - self.others_points, np.float64)

    @classmethod
    def join(cls, parts: list[Ended], players: int) -> Ended:
        """Join the parts. `players` gives the shape of `lineups` if there are no parts."""
        floats, ints = np.zeros(0), np.zeros(0, np.int64)
        nothing = cls(floats, ints, floats, floats, ints, ints, np.zeros((0, players - 1), np.int64), [])
        columns = {
            name: np.concatenate([getattr(part, name) for part in (nothing, *parts)])
            for name in ("won", "points", "others_points", "returns", "lengths", "seats", "lineups")
        }
        return cls(**columns, configs=[config for part in parts for config in part.configs])


class Tally:
    """Steps a `VersusBatch`, adds up the learner's rewards in its games, and collects ended games.

    Attributes (N games): `returns` (N,) float64 and `lengths` (N,) int64 of the running games.

    Arguments:
        games: with autoreset="same_step" or "next_step".
        reward_scale: the factor of the rewards.
        win_bonus: w. The last reward of a game is increased by w × (2 × share of the victory - 1).
    """

    def __init__(self, games: VersusBatch, reward_scale: float = 1.0, win_bonus: float = 0.0) -> None:
        self.games = games
        self.reward_scale = reward_scale
        self.win_bonus = win_bonus
        self.returns = np.zeros(games.num_games)
        self.lengths = np.zeros(games.num_games, np.int64)
        self._ended: list[Ended] = []

    def reset(self, seed: Seed = None, prepare: Prepare | None = None) -> None:
        """Start all games anew; the arguments are those of `VersusBatch.reset`. Ended games stay counted."""
        self.games.reset(seed, prepare=prepare)
        self.returns[:] = 0
        self.lengths[:] = 0

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, Ended | None]:
        """Play the learner's action in every game. Returns rewards (N,) float64, which games ended, and `Ended`."""
        games = self.games
        played = ~games.over
        games.step(actions)
        rewards = games.rewards * self.reward_scale
        self.returns += rewards
        self.lengths += played
        over = np.flatnonzero(games.terminations)
        if not len(over):
            return rewards, over, None
        ended = self._end(over, rewards)
        self._ended.append(ended)
        self.returns[over] = 0
        self.lengths[over] = 0
        return rewards, over, ended

    def _end(self, over: np.ndarray, rewards: np.ndarray) -> Ended:
        """The ended games; `over` are their indices. Adds the bonus to `rewards` and `returns`."""
        games = self.games
        final = games.final_states[over]
        seats, rows = games.final_seats[over], np.arange(len(over))
        points = final["points"][:, : games.config.owners].astype(np.int64)
        won = win_shares(games.batch.places(final))[rows, seats]
        bonus = self.win_bonus * (2 * won - 1)
        rewards[over] += bonus
        self.returns[over] += bonus
        return Ended(
            won=won,
            points=points[rows, seats],
            others_points=others_points(points)[rows, seats],
            returns=self.returns[over],
            lengths=self.lengths[over],
            seats=seats,
            lineups=games.final_lineups[over],
            configs=[games.final_configs[game] for game in over],
        )

    def take_ended(self) -> Ended:
        """The games that ended since the last call."""
        parts, self._ended = self._ended, []
        return Ended.join(parts, self.games.config.players)


class SeatsVecEnv(VecEnv):
    """The games of a `VersusBatch`, stepped together: games for one, or against agents that it contains.

        SeatsVecEnv(VersusBatch(Config(), 128, reward="margin", seed=0))

    A game that ends is reset in the same step. The step's `infos` then have these keys:

    - `terminal_observation` (D,): the finished game as the learner sees it;
    - `TimeLimit.truncated`: always False;
    - `episode`: `r` the return, `l` the number of decisions, `t` seconds since the start;
    - `points`, `others_points` and `won`, as in `Ended`.

    Observations are float32 or int8, like those of the batch. `env_method("action_masks")` returns one (num_envs, A)
    bool array, which MaskablePPO asks for. `reset_infos` has the `action_mask`, (A,) int8, at each game's last start.

    Arguments:
        games: created with autoreset="same_step" and new_observations=True, because Stable-Baselines3 reads the last
            observations after the step. Raises ValueError otherwise.
        reward_scale, win_bonus: as in `Tally`.
    """

    render_mode: str | None = None

    def __init__(self, games: VersusBatch, *, reward_scale: float = 1.0, win_bonus: float = 0.0) -> None:
        if games.autoreset != "same_step" or not games.new_observations:
            raise ValueError("a VecEnv needs a VersusBatch with autoreset='same_step' and new_observations=True")
        self.games = games
        self.tally = Tally(games, reward_scale, win_bonus)
        num_envs = games.num_games
        self._actions = np.zeros(num_envs, np.int64)
        self._start = time.time()
        box = observation_box(games.game, games.batch.observations.dtype)
        super().__init__(num_envs, box, spaces.Discrete(games.game.num_actions))

    @property
    def reward_scale(self) -> float:
        """The factor of the rewards."""
        return self.tally.reward_scale

    @reward_scale.setter
    def reward_scale(self, value: float) -> None:
        self.tally.reward_scale = value

    def set_options(self, options: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None) -> None:
        """Options of the next `reset`, for all games or for each of them.

        The only option is `scenario`, the position that a game starts from, as in the Gymnasium environments. Raises
        ConfigError for others, and for a list that does not have an entry for each game.
        """
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
        self.tally.reset(seed, self._preparation(options))
        for game in range(self.num_envs):
            self._note_start(game)
        return self.games.observations

    def _preparation(self, options: Sequence[Mapping[str, Any]]) -> Prepare | None:
        """A function that puts each game into the position that its options describe; None without such options."""
        scenarios = [one.get("scenario") for one in options]
        parts: list[Prepare] = []
        for game, scenario in enumerate(scenarios):
            if scenario is not None and scenario not in scenarios[:game]:
                wanted = np.array([one == scenario for one in scenarios])
                part = preparation({"scenario": scenario}, self.games.config, wanted)
                assert part is not None
                parts.append(part)

        def prepare(batch: Batch, which: np.ndarray) -> None:
            for part in parts:
                part(batch, which)

        return prepare if parts else None

    def _note_start(self, game: int) -> None:
        self.reset_infos[game] = {"action_mask": self.games.action_masks[game].copy()}

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions, (num_envs,) ints, for `step_wait`."""
        self._actions = np.asarray(actions, np.int64).reshape(self.num_envs)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards (float32), dones (bool), infos; the arrays are the caller's to keep."""
        games = self.games
        rewards, over, ended = self.tally.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if ended is not None:
            for i, game in enumerate(over.tolist()):
                infos[game] = self._info(ended, i, game)
                self._note_start(game)
        return games.observations, rewards.astype(np.float32), games.terminations.copy(), infos

    def _info(self, ended: Ended, i: int, game: int) -> dict[str, Any]:
        seconds = round(time.time() - self._start, 6)
        return {
            "terminal_observation": self.games.final_observations[game].copy(),
            "TimeLimit.truncated": False,
            "episode": {"r": float(ended.returns[i]), "l": int(ended.lengths[i]), "t": seconds},
            "points": int(ended.points[i]),
            "others_points": float(ended.others_points[i]),
            "won": float(ended.won[i]),
        }

    def take_ended(self) -> Ended:
        """The games that ended since the last call."""
        return self.tally.take_ended()

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
