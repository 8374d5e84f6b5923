"""Random playouts inside the compiled rules, on one core, as search does them: no observations, no masks."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.measure import Result, compare
from petrichor_env import kernels
from petrichor_env.batch import Batch
from petrichor_env.config import VARIANTS, Config

TARGET = 3_000_000
_GAMES = 2000
CONFIGS = (Config(), Config(variants=VARIANTS), Config(players=2), Config(players=3), Config(players=4))


def playouts(repeats: int, seconds: float) -> list[Result]:
    """Decisions a second on one core, by configuration."""
    results = []
    for config in CONFIGS:
        name = "solo, all variants" if config.variants else config.name
        results += compare("playouts", {name: _playout(config)}, "decisions/s", repeats, seconds, target=TARGET)
    return results


def _playout(config: Config) -> Callable[[], int]:
    batch = Batch(config, _GAMES, seed=0, num_threads=1)

    def run() -> int:
        states = batch.states.copy()
        return int(kernels.playout(states, batch.tables))

    return run
