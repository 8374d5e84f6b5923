"""How benchmarks measure: contenders take turns in one process, and medians of several runs are compared."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from tabletop_engine.play.batch import use_cores
from tabletop_training.files.tables import write_json


@dataclass
class Result:
    """One line of the report: `runs` in `unit`; more is better unless `at_most`."""

    name: str
    what: str
    unit: str
    runs: list[float]
    target: float | None = None
    target_text: str = ""
    at_most: bool = False

    @property
    def value(self) -> float:
        return statistics.median(self.runs)

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "value": self.value, "met": self.met}


def rate(run: Callable[[], int], seconds: float) -> float:
    """Units a second: `run` returns how many it did, and is called again and again for about `seconds`."""
    done = 0
    start = time.perf_counter()
    while True:
        done += run()
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return done / elapsed


def rates(contenders: dict[str, Callable[[], int]], repeats: int, seconds: float) -> dict[str, list[float]]:
    """The rates of several contenders, taking turns so that a noisy moment hits them all; warmed up before."""
    for run in contenders.values():
        run()
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            measured[name].append(rate(run, seconds))
    return measured


def compare(
    name: str,
    contenders: dict[str, Callable[[], int]],
    unit: str,
    repeats: int,
    seconds: float,
    target: float | None = None,
    times: float = 1.0,
) -> list[Result]:
    """Results of all contenders. The first is ours; its target is `target`, or else `times` the second one's median."""
    measured = rates(contenders, repeats, seconds)
    results = [Result(name, what, unit, runs) for what, runs in measured.items()]
    if target is not None:
        results[0].target, results[0].target_text = target, f"{target:,.0f}"
    elif len(results) > 1:
        fast = "as fast as" if times == 1 else f"{times:g} times as fast as"
        results[0].target, results[0].target_text = times * results[1].value, f"{fast} {results[1].what}"
    return results


@contextmanager
def on_cores(number: int) -> Iterator[None]:
    """Restrict this process, and those that it starts, to so many of its cores."""
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_cores)[:number])
    use_cores(number)
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def options(description: str | None, file: str = "json", **usual: tuple[Any, str]) -> argparse.Namespace:
    """The options of a program by name, each with its usual value and what it is; and `file`, that for the figures."""
    parser = argparse.ArgumentParser(description=description)
    for name, (value, what) in usual.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=what)
    parser.add_argument(f"--{file}", type=Path, help="file for the figures")
    return parser.parse_args()


def write_figures(file: Path | None, **figures: Any) -> None:
    """Write a JSON file, if one is wanted, with the figures, and when and where they were measured."""
    if file is not None:
        where = {"date": date.today().isoformat(), "cores": os.cpu_count(), "python": platform.python_version()}
        write_json(file, {**where, **figures})
