"""Wrappers that put the action mask beside the observation, in a dictionary, as many libraries expect it."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike, NDArray

from tabletop_engine.errors import ConfigError

_KINDS = "biuf"
"""The kinds of NumPy dtypes that a mask may have: bool, int, unsigned int and float."""
_MASK = "action_mask"


class Entries(NamedTuple):
    """The entries of a dictionary of observation and mask: their names, and the dtype of the mask."""

    key: str
    mask_key: str
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, key: str, mask_key: str, dtype: DTypeLike) -> Entries:
        """The entries of these arguments. Raises `ConfigError` for equal names and a dtype that can't hold 0 and 1."""
        if key == mask_key:
            raise ConfigError(f"key={key!r}, mask_key={mask_key!r}: must be two different names")
        try:
            wanted = np.dtype(dtype)
        except TypeError:
            wanted = np.dtype(object)
        if wanted.kind not in _KINDS:
            raise ConfigError(f"dtype={dtype!r}: must be the dtype of a number, such as np.float32, or bool")
        return cls(key, mask_key, wanted)

    def space(self, observations: spaces.Space[Any], actions: spaces.Space[Any]) -> spaces.Dict:
        """The space of the dictionaries of one game. Raises `ConfigError` if the actions are not `Discrete`."""
        if not isinstance(actions, spaces.Discrete):
            raise ConfigError(f"an environment with a Discrete action space has masks, not one with {actions}")
        mask = spaces.Box(0, 1, (int(actions.n),), self.dtype.type)
        return spaces.Dict({self.key: observations, self.mask_key: mask})

    def both(self, observation: Any, mask: NDArray[Any]) -> dict[str, Any]:
        """The dictionary of observation and mask, of one game or of many."""
        return {self.key: observation, self.mask_key: mask.astype(self.dtype)}


class MaskInObservation(gymnasium.Wrapper[dict[str, Any], np.int64, Any, np.int64], RecordConstructorArgs):
    """A wrapper whose observations are `{key: observation, mask_key: action mask}`. The infos keep their mask.

    The defaults are PettingZoo's convention. RLlib's masking module needs `key="observations", dtype=np.float32`, and
    TorchRL needs `dtype=np.bool_`. When the game is over the mask is all ones, as in the info.

    Arguments:
        env: an environment whose infos have `action_mask`, (actions,), with ones for legal actions.
        key: the name of the observation in the dictionary.
        mask_key: the name of the mask in the dictionary.
        dtype: the dtype of the mask.

    Raises `ConfigError` for two equal names and for a dtype that can't hold 0 and 1.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, np.int64],
        key: str = "observation",
        mask_key: str = _MASK,
        dtype: DTypeLike = np.int8,
    ):
        self._entries = Entries.of(key, mask_key, dtype)
        RecordConstructorArgs.__init__(self, key=key, mask_key=mask_key, dtype=self._entries.dtype.name)  # for the spec
        super().__init__(env)
        self.observation_space = self._entries.space(env.observation_space, env.action_space)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the environment. Returns the dictionary and the info."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._entries.both(observation, info[_MASK]), info

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Step the environment. Returns the dictionary, reward, terminated, truncated and info."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._entries.both(observation, info[_MASK]), float(reward), terminated, truncated, info


class VectorMaskInObservation(VectorWrapper):
    """`MaskInObservation` for a vector environment: `{key: (N, …) observations, mask_key: (N, actions) masks}`.

    With `AutoresetMode.SAME_STEP` each entry of `infos["final_obs"]` is such a dictionary of one game too.

    Arguments and errors are those of `MaskInObservation`.

    Attributes:
        autoreset_mode: the mode of the environment, for TorchRL, which looks for it here.
    """

    def __init__(
        self, env: VectorEnv[Any, Any, Any], key: str = "observation", mask_key: str = _MASK, dtype: DTypeLike = np.int8
    ):
        super().__init__(env)
        self._entries = Entries.of(key, mask_key, dtype)
        self.autoreset_mode = env.metadata["autoreset_mode"]
        self.single_observation_space = self._entries.space(env.single_observation_space, env.single_action_space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the environment. Returns the dictionary and the infos."""
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]  # as ours take it
        return self._entries.both(observations, infos[_MASK]), infos

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[dict[str, Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Step the environment. Returns the dictionary, rewards, terminations, truncations and infos."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if "final_obs" in infos:
            infos = {**infos, "final_obs": infos["final_obs"].copy()}
            for game in np.flatnonzero(infos["_final_obs"]):
                mask = infos["final_info"][_MASK][game]
                infos["final_obs"][game] = self._entries.both(infos["final_obs"][game], mask)
        return self._entries.both(observations, infos[_MASK]), rewards, terminations, truncations, infos
