"""Where the time of a vectorised step goes: nanoseconds a game, from the rules alone to Gymnasium's interface."""

from __future__ import annotations

from collections.abc import Callable

import gymnasium
import numpy as np

from benchmarks.environments import NUM_ENVS
from benchmarks.games import Measured
from benchmarks.measure import Result, rates
from tabletop_engine.play import kernels
from tabletop_engine.play.batch import Batch

_CALLS = 50


def parts(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Parts of a step of 1,024 solo games, on one thread where threads can be chosen. No targets."""
    batch = Batch(game.playouts["solo"], NUM_ENVS, seed=0, num_threads=1)
    threaded = Batch(game.playouts["solo"], NUM_ENVS, seed=0)
    env = gymnasium.make_vec(game.solo, num_envs=NUM_ENVS)
    env.reset(seed=0)
    generator = np.random.default_rng(0)

    def step(batch: Batch) -> None:
        batch.step(batch.random_actions())

    def gymnasium_step() -> None:
        env.step(kernels.sample_actions(env.unwrapped.action_masks(), generator))  # type: ignore[attr-defined]

    contenders: dict[str, Callable[[], int]] = {
        "masks and observations": _often(lambda: batch.refresh(check=False)),
        "choosing a random action from the mask": _often(lambda: kernels.sample_actions(batch.action_masks, generator)),
        "Batch.step with a random action, one thread": _often(lambda: step(batch)),
        f"Batch.step with a random action, {threaded.num_threads} threads": _often(lambda: step(threaded)),
        "make_vec's step with a random action": _often(gymnasium_step),
    }
    measured = rates(contenders, repeats, seconds)
    return [Result("parts", what, "ns", [1e9 / rate for rate in runs]) for what, runs in measured.items()]


def _often(call: Callable[[], object]) -> Callable[[], int]:
    def run() -> int:
        for _ in range(_CALLS):
            call()
        return _CALLS * NUM_ENVS

    return run
