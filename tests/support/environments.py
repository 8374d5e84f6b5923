"""Playing environments as their users do: shared by the tests of several environments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np

from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.observation import HIGH, LOW, OBSERVATION_SIZE
from tabletop_engine.play.kernels import sample_actions


def legal_action(masked: dict[str, Any], generator: np.random.Generator) -> int:
    """A random action that `masked["action_mask"]` allows: Gymnasium's `info`, PettingZoo's observation."""
    return int(sample_actions(masked["action_mask"][None], generator)[0])


def play_out(env: gymnasium.Env[Any, Any], info: dict[str, Any], seed: int = 0) -> tuple[float, dict[str, Any], int]:
    """Random legal actions to the end: the return, the last info and the number of steps."""
    generator = np.random.default_rng(seed)
    total, steps, terminated = 0.0, 0, False
    while not terminated:
        observation, reward, terminated, truncated, info = env.step(legal_action(info, generator))
        total, steps = total + float(reward), steps + 1
        assert env.observation_space.contains(observation) and type(reward) is float and truncated is False
    return total, info, steps


def check_docstring(env: gymnasium.Env[Any, Any], names: Iterable[str]) -> None:
    """An environment's docstring, which is its page, has its spaces and these names."""
    page = env.unwrapped.__doc__ or ""
    assert f"`Discrete({NUM_ACTIONS})`" in page
    assert f"`Box({LOW:g}, {HIGH:g}, ({OBSERVATION_SIZE},), float32)`" in page
    assert env.action_space == gymnasium.spaces.Discrete(NUM_ACTIONS)
    assert env.observation_space == gymnasium.spaces.Box(LOW, HIGH, (OBSERVATION_SIZE,), np.float32)
    for name in names:
        assert f"`{name}`" in page
