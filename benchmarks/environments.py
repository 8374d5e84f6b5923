"""Our environments beside well-known ones: EnvPool's CartPole, Gymnasium's Taxi, PettingZoo's tic-tac-toe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from benchmarks.games import Measured
from benchmarks.measure import Result, compare
from tabletop_engine.play.kernels import sample_actions

NUM_ENVS = 1024
AEC_TARGET = 30_000
_STEPS = 200


def vec_solo(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """1,024 solo games through make_vec: random legal actions, observations and masks delivered, autoreset on."""
    return _against_cartpole(game, "vec_solo", "float32", 1.0, repeats, seconds)


def vec_solo_int8(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """As `vec_solo`, with observations as plain counts, a quarter of the bytes."""
    return _against_cartpole(game, "vec_solo_int8", "int8", game.int8_times, repeats, seconds)


def _against_cartpole(
    game: Measured, name: str, dtype: str, times: float, repeats: int, seconds: float
) -> list[Result]:
    what = game.solo_name if dtype == "float32" else f"{game.solo_name}, {dtype}"
    contenders: dict[str, Callable[[], int]] = {what: _vector(game, dtype)}
    try:
        contenders["EnvPool CartPole-v1"] = _envpool_cartpole()
    except ImportError:
        print("EnvPool is not installed, so there is nothing to compare with: pip install 'petrichor-env[bench]'")
    return compare(name, contenders, "steps/s", repeats, seconds, times=times)


def _vector(game: Measured, dtype: str) -> Callable[[], int]:
    env = gymnasium.make_vec(game.solo, num_envs=NUM_ENVS, observation_dtype=dtype)
    return masked_steps(env, _STEPS)


def masked_steps(envs: VectorEnv[Any, Any, Any], steps: int) -> Callable[[], int]:
    """Play this many steps of all games with random legal actions. The games continue from call to call."""
    generator = np.random.default_rng(0)
    _, info = envs.reset(seed=0)
    masks = [info["action_mask"]]

    def run() -> int:
        for _ in range(steps):
            _, _, _, _, info = envs.step(sample_actions(masks[0], generator))
            masks[0] = info["action_mask"]
        return steps * envs.num_envs

    return run


def _envpool_cartpole() -> Callable[[], int]:
    import envpool

    env = envpool.make_gymnasium("CartPole-v1", num_envs=NUM_ENVS)
    generator = np.random.default_rng(0)
    env.reset()

    def run() -> int:
        for _ in range(_STEPS):
            env.step(generator.integers(2, size=NUM_ENVS, dtype=np.int32))
        return _STEPS * NUM_ENVS

    return run


def single(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """One environment from gymnasium.make with its default wrappers, random legal actions."""
    taxi = max(name for name in gymnasium.registry if name.startswith("Taxi-v"))  # v3 in Gymnasium 1.2, v4 in 1.4
    environments = {name: gymnasium.make(name) for name in (game.solo, taxi)}
    contenders = {name.split(":")[-1]: _masked(env) for name, env in environments.items()}
    return compare("single", contenders, "steps/s", repeats, seconds)


def _masked(env: gymnasium.Env[Any, Any]) -> Callable[[], int]:
    """Random actions that `info["action_mask"]` allows, drawn in the same cheap way in both environments."""
    generator = np.random.default_rng(0)

    def run() -> int:
        _, info = env.reset()
        draws = generator.random(5000)
        for draw in draws:
            legal = info["action_mask"].nonzero()[0]
            _, _, terminated, truncated, info = env.step(legal[int(draw * len(legal))])
            if terminated or truncated:
                _, info = env.reset()
        return len(draws)

    return run


def aec(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """AEC environments with their standard wrappers, and ours also without: last(), a random legal action, step."""
    contenders = {
        f"{game.aec_name}, 2 players": _aec(game.aec(num_players=2)),
        f"{game.aec_name}, 2 players, raw_env": _aec(game.aec(num_players=2).unwrapped),
    }
    try:
        from pettingzoo.classic import chess_v6, tictactoe_v3

        contenders["tictactoe_v3"] = _aec(tictactoe_v3.env())
        contenders["chess_v6"] = _aec(chess_v6.env())
    except ImportError as error:
        print(f"no comparison with PettingZoo's classic games, which need more packages: {error}")
    return compare("aec", contenders, "decisions/s", repeats, seconds, target=AEC_TARGET)


def _aec(env: Any) -> Callable[[], int]:
    generator = np.random.default_rng(0)
    env.reset(seed=0)

    def run() -> int:
        decisions = 0
        for draw in generator.random(2000):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(draw * len(legal))])
            decisions += 1
        return decisions

    return run
