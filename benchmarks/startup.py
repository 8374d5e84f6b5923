"""From `python` to the first step: once with nothing compiled, then from the cache."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.games import Measured
from benchmarks.measure import Result

FIRST_TARGET = 90.0
LATER_TARGET = 2.0
_PROGRAM = """
import gymnasium
env = gymnasium.make("{solo}")
_, info = env.reset(seed=0)
env.step(env.action_space.sample(info["action_mask"]))
"""


def startup(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Seconds of a new process that makes a solo environment and steps it once."""
    del seconds
    with tempfile.TemporaryDirectory() as folder:
        first = _run(game, folder)
        later = [_run(game, folder) for _ in range(repeats)]
    return [
        Result("startup", "first start", first, "s", FIRST_TARGET, f"at most {FIRST_TARGET:.0f}", True, [first]),
        Result(
            "startup",
            "later start",
            statistics.median(later),
            "s",
            LATER_TARGET,
            f"at most {LATER_TARGET:.0f}",
            True,
            later,
        ),
    ]


def _run(game: Measured, cache_folder: str) -> float:
    start = time.perf_counter()
    environment = {**os.environ, "TABLETOP_CACHE_DIR": cache_folder}
    subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("{solo}", game.solo)],
        env=environment,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start
