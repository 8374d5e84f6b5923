"""Playing environments as their users do: shared by the tests of several environments."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium
import numpy as np

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


def through_pickle(one: Any) -> Any:
    """A copy, as another process gets it."""
    return pickle.loads(pickle.dumps(one))


def play_all(env: Any, seed: int = 0) -> tuple[dict[str, float], dict[str, dict[str, Any]]]:
    """Random legal actions of PettingZoo's agents until every one is gone: the returns and the last infos."""
    generator = np.random.default_rng(seed)
    returns = dict.fromkeys(env.agents, 0.0)
    infos = {}
    for agent in env.agent_iter():
        _, reward, termination, truncation, info = env.last()
        returns[agent] += reward
        if termination or truncation:
            infos[agent] = info
            env.step(None)
        else:
            env.step(legal_action(info, generator))
    return returns, infos
