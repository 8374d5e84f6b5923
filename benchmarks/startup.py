"""From `python` to the first step: once with nothing compiled, then from the cache, then with shipped machine code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.games import Measured
from benchmarks.measure import Result
from tabletop_engine.compiling.shipped import CONTENTS, FOLDER, SWITCH

FIRST_TARGET = 90.0
LATER_TARGET = 2.0
SHIPPED_TARGET = 0.6
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
        first = _run(game, folder, "1")
        later = [_run(game, folder, "1") for _ in range(repeats)]
    results = [_result("first start", [first], FIRST_TARGET), _result("later start", later, LATER_TARGET)]
    if (FOLDER / CONTENTS).exists():  # `make machine-code` was run
        with tempfile.TemporaryDirectory() as folder:
            shipped = [_run(game, folder, "0") for _ in range(repeats)]
        results.append(_result("with machine code", shipped, SHIPPED_TARGET))
    return results


def _result(what: str, seconds: list[float], target: float) -> Result:
    return Result("startup", what, "s", seconds, target, f"at most {target:g}", at_most=True)


def _run(game: Measured, cache_folder: str, compiled: str) -> float:
    start = time.perf_counter()
    environment = {**os.environ, "TABLETOP_CACHE_DIR": cache_folder, SWITCH: compiled}
    subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("{solo}", game.solo)],
        env=environment,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start
