"""`python -m benchmarks.parallel`: decisions learned a second by one worker on one core, and by two on two cores.

Both learn the same game with the same settings, in turns, in runs as users start them. The rate comes from a run's
learning curve. So it includes all that a run does except its start: playing, updates, averaging gradients, logs,
saving. `docs/cluster.md` shows the results, which are in `docs/parallel.json`.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks.measure import on_cores, options, write_figures
from petrichor_env import GAME
from tabletop_training.learn.logs import CURVE
from tabletop_training.learn.train import main as train

RUNS = {
    "2 to 5 players, `general`": "",
    "the solo game, a small network": "[learning]\nthreads = 1\n[games]\nplayers = [1]\ncurriculum = true\n",
}
"""What is learned, and the text of the settings file; empty for the shipped one."""


def learned(settings: str, workers: int, minutes: float) -> float:
    """Decisions learned a second in a run with so many workers, each on one core, after the first update."""
    with tempfile.TemporaryDirectory() as folder, on_cores(workers):
        file = Path(folder, "settings.toml")
        file.write_text(settings, encoding="utf-8")
        how: dict[str, Any] = {"minutes": minutes, "workers": workers, "evaluate": False}
        run = train(GAME, file if settings else None, output=Path(folder, "run"), **how)
        with (run / CURVE).open(encoding="utf-8") as curve:
            rows = [(int(row["steps"]), float(row["seconds"])) for row in csv.DictReader(curve)]
    (first, start), *_, (last, end) = rows
    return (last - first) / (end - start)


def measure(rounds: int, minutes: float, most: int) -> list[dict[str, Any]]:
    """A row for each kind of run and number of workers: the median rate, and the median ratio to one worker's."""
    rows = []
    for what, settings in RUNS.items():
        rates: dict[int, list[float]] = {workers: [] for workers in range(1, most + 1)}
        for number in range(rounds):
            for workers, measured in rates.items():
                measured.append(learned(settings, workers, minutes))
                print(f"{number + 1}/{rounds} {what}, {workers}: {measured[-1]:,.0f} decisions/s", flush=True)
        for workers, measured in rates.items():
            ratio = median(one / alone for one, alone in zip(measured, rates[1], strict=True))
            figures = {"decisions_per_second": round(median(measured)), "times_one": round(ratio, 2)}
            rows.append({"what": what, "workers": workers, **figures, "runs": measured})
    return rows


def main() -> None:
    given = options(
        __doc__,
        rounds=(3, "each contender learns so often"),
        minutes=(0.35, "of each run"),
        workers=(2, "the most; each needs a core"),
    )
    rows = measure(given.rounds, given.minutes, given.workers)
    for row in rows:
        print(row)
    write_figures(given.json, torch=torch.__version__, rounds=given.rounds, rows=rows)


if __name__ == "__main__":
    main()
