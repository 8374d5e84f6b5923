"""Random playouts inside the compiled rules, on one core, as search does them: no observations, no masks."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.measure import Result, compare
from petrichor_env.config import MODULES, VARIANTS, Config
from tabletop.batch import Batch

TARGET = 3_000_000
_GAMES = 2000
CONFIGS = {
    "solo": Config(),
    "solo, all variants": Config(variants=VARIANTS),
    "solo, all its modules": Config(modules=("fertilizer", "cactus", "powers", "forecasts")),
    **{f"{players}p": Config(players=players) for players in (2, 3, 4, 5)},
    **{f"{players}p, all modules": Config(players=players, modules=MODULES) for players in (2, 5)},
}


def playouts(repeats: int, seconds: float) -> list[Result]:
    """Decisions a second on one core, by configuration."""
    results = []
    for name, config in CONFIGS.items():
        results += compare("playouts", {name: _playout(config)}, "decisions/s", repeats, seconds, target=TARGET)
    return results


def _playout(config: Config) -> Callable[[], int]:
    batch = Batch(config, _GAMES, seed=0, num_threads=1)

    def run() -> int:
        states = batch.states.copy()
        return int(batch.game.kernels.playout(states, batch.tables))

    return run
