"""Action masks where libraries look for them: beside the observation, in a dictionary."""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike, NDArray

from tabletop.errors import ConfigError

_KINDS = "biuf"
"""Of NumPy's dtypes: bool, int, unsigned and float."""
_MASK = "action_mask"


class Entries(NamedTuple):
    """How a dictionary of observation and mask is made: the two names, and the mask's dtype."""

    key: str
    mask_key: str
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, key: str, mask_key: str, dtype: DTypeLike) -> Entries:
        """Raises `ConfigError` for two equal names and a dtype that holds no 0 and 1."""
        if key == mask_key:
            raise ConfigError(f"key={key!r}, mask_key={mask_key!r}: two different names")
        try:
            wanted = np.dtype(dtype)
        except TypeError:
            wanted = np.dtype(object)
        if wanted.kind not in _KINDS:
            raise ConfigError(f"dtype={dtype!r}: a number's, such as np.float32, or bool")
        return cls(key, mask_key, wanted)

    def space(self, observations: spaces.Space[Any], actions: spaces.Space[Any]) -> spaces.Dict:
        """The space of one game's dictionaries. Raises `ConfigError` for actions that aren't `Discrete`."""
        if not isinstance(actions, spaces.Discrete):
            raise ConfigError(f"an environment with a Discrete action space has masks, not one with {actions}")
        mask = spaces.Box(0, 1, (int(actions.n),), self.dtype.type)
        return spaces.Dict({self.key: observations, self.mask_key: mask})

    def both(self, observation: Any, mask: NDArray[Any]) -> dict[str, Any]:
        """The dictionary, of one game or of many."""
        return {self.key: observation, self.mask_key: mask.astype(self.dtype)}


class MaskInObservation(gymnasium.Wrapper[dict[str, Any], np.int64, Any, np.int64], RecordConstructorArgs):
    """Observations become `{key: observation, mask_key: action mask}`; the infos keep their mask.

    RLlib's masking module takes `key="observations", dtype=np.float32`; TorchRL takes `dtype=np.bool_`, and
    PettingZoo's convention is what the defaults say. Of a game that is over all actions are legal, as in the info.

    Arguments:
        env: an environment whose infos have `action_mask`, (actions,) with ones for what is legal.
        key, mask_key: the names of observation and mask in the dictionary.
        dtype: of the mask.

    Raises `ConfigError` for two equal names and a dtype that holds no 0 and 1.
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
        """As of the environment; returns the dictionary and the info."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._entries.both(observation, info[_MASK]), info

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """As of the environment; the first of what it returns is the dictionary."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._entries.both(observation, info[_MASK]), float(reward), terminated, truncated, info


class VectorMaskInObservation(VectorWrapper):
    """`MaskInObservation` for a vector environment: `{key: (N, …) observations, mask_key: (N, actions) masks}`.

    With `AutoresetMode.SAME_STEP` each of `infos["final_obs"]` is such a dictionary, too, of one game. `autoreset_mode`
    is the environment's, where TorchRL looks for it.

    Arguments, and what it raises, are those of `MaskInObservation`.
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
        """As of the environment; returns the dictionary and the infos."""
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]  # as ours take it
        return self._entries.both(observations, infos[_MASK]), infos

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[dict[str, Any], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """As of the environment; the first of what it returns is the dictionary."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if "final_obs" in infos:
            infos = {**infos, "final_obs": infos["final_obs"].copy()}
            for game in np.flatnonzero(infos["_final_obs"]):
                mask = infos["final_info"][_MASK][game]
                infos["final_obs"][game] = self._entries.both(infos["final_obs"][game], mask)
        return self._entries.both(observations, infos[_MASK]), rewards, terminations, truncations, infos
