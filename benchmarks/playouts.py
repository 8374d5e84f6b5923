"""Random playouts inside the compiled rules, on one core, as search does them: no observations, no masks."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.games import Measured
from benchmarks.measure import Result, compare
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch

TARGET = 3_000_000
_GAMES = 2000


def playouts(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Decisions a second on one core, by configuration."""
    results = []
    for name, config in game.playouts.items():
        results += compare("playouts", {name: _playout(config)}, "decisions/s", repeats, seconds, target=TARGET)
    return results


def _playout(config: Config) -> Callable[[], int]:
    batch = Batch(config, _GAMES, seed=0, num_threads=1)

    def run() -> int:
        states = batch.states.copy()
        return int(batch.game.kernels.playout(states, batch.tables))

    return run
