"""`make fuzz`: random games of both games in random configurations, played by both implementations, until Ctrl-C.

    python -m tests.fuzz [--seed N] [--games N] [--workers N]

On all cores, with a line of progress. A difference is printed in full, and ends the program with exit code 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from typing import Any, TypeAlias

import evergreen_env
import petrichor_env
from petrichor_env.component_files import COMPONENTS, KEYS, load_components
from petrichor_env.config import MODULE_OF_READING, MODULES, POWERS, READINGS, VARIANTS, Config
from tabletop_engine.errors import ComponentsError
from tabletop_engine.play.warm_up import warm_up
from tabletop_training.measure.workers import serve_parent, without_ctrl_c
from tests.evergreen.random_games import play as play_evergreen
from tests.support.configurations import SOLO_MODULES
from tests.support.differential import compare_game

OVERLAYS = 0.25
"""The share of the games that are played with a random overlay file."""


# --- Random configurations of Petrichor -----------------------------------------------------------------------------


def random_config(draw: random.Random, components: str | None = None) -> Config:
    """Any players, length, draft, variants, modules, and powers chosen or dealt."""

    def some(names: tuple[str, ...], share: float) -> tuple[str, ...]:
        return tuple(name for name in names if draw.random() < share)

    players = draw.randint(1, 5)
    modules = some(SOLO_MODULES if players == 1 else MODULES, draw.choice([0, 0.5, 0.9]))
    chosen = "powers" in modules and draw.random() < 0.3
    return Config(
        players=players,
        rounds=6 if players > 1 and draw.random() < 0.5 else 4,
        drafting=players > 1 and draw.random() < 0.3,
        variants=some(VARIANTS, 0.5) if players == 1 else (),
        modules=modules,
        powers=tuple(draw.sample(POWERS, players)) if chosen else (),
        readings=some(tuple(name for name in READINGS if MODULE_OF_READING[name] in modules), 0.3),
        components=components,
    )


def random_overlay(draw: random.Random) -> str:
    """The text of an overlay file that replaces some numbers: any that the file format allows.

    It leaves out the numbers of tiles and their priorities, because these must fit each other.
    """
    while True:
        share = draw.choice([0.1, 0.5])
        keys = [key for key in KEYS if draw.random() < share and not key.endswith((".copies", ".solo_priorities"))]
        text = "".join(f"{key} = {_toml(random_value(draw, key))}\n" for key in keys)
        try:
            COMPONENTS.read(text, "random.toml", load_components())
        except ComponentsError:
            continue
        return text


def random_value(draw: random.Random, name: str) -> int | list[Any]:
    key = KEYS[name]

    def one() -> int | str:
        return draw.choice([*key.words, *range(key.low, key.high + 1)])

    if name.endswith(".drops_to_grow"):  # mostly few, or nothing would grow
        return key.low + int((key.high - key.low + 1) * draw.random() ** 3)
    if key.places is None:
        return int(one())
    values = [one() for _ in range(draw.randint(key.fewest, len(key.places)))]
    return sorted(values, key=int) if name == "voting_wins_track.points" else values


def _toml(value: int | list[Any]) -> str:
    return repr(value).replace("'", '"')


# --- Playing ---------------------------------------------------------------------------------------------------------


def play_any(seed: int) -> tuple[str, int]:
    """Petrichor for even seeds, Evergreen for odd ones."""
    name, decisions = (play if seed % 2 == 0 else play_evergreen)(seed)
    return f"{'petrichor' if seed % 2 == 0 else 'evergreen'} {name}", decisions


def play(seed: int) -> tuple[str, int]:
    """The game of a seed: the configuration's name and the number of decisions. Raises what `compare_game` raises."""
    draw = random.Random(seed)
    if draw.random() >= OVERLAYS:
        config = random_config(draw)
        return config.name, compare_game(config, seed)
    with tempfile.TemporaryDirectory(prefix="petrichor-fuzz-") as folder:
        overlay = Path(folder) / "overlay.toml"
        overlay.write_text(random_overlay(draw))
        config = random_config(draw, str(overlay))
        return config.name + "+overlay", compare_game(config, seed)


@dataclass(frozen=True)
class Report:
    """What a worker says after each game; `failure` is the text of a difference or of an error."""

    seed: int
    config: str = ""
    decisions: int = 0
    failure: str = ""


Reports: TypeAlias = "Queue[Report]"


def _work(seeds: range, reports: Reports) -> None:
    """Play the games of these seeds, in a process of its own."""
    serve_parent()
    for seed in seeds:
        try:
            config, decisions = play_any(seed)
        except Exception as error:
            text = str(error) if type(error).__name__ == "Difference" else traceback.format_exc()
            reports.put(Report(seed, failure=text))
            return
        reports.put(Report(seed, config, decisions))


# --- The command -----------------------------------------------------------------------------------------------------


class Progress:
    """Counts, and a line that tells them."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.games = 0
        self.decisions = 0
        self.configs: set[str] = set()
        self.shown = 0.0

    def add(self, report: Report) -> None:
        self.games += 1
        self.decisions += report.decisions
        self.configs.add(report.config)

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self.start, 1e-9)
        return (
            f"{self.games:,} games of {len(self.configs):,} configurations, {self.decisions:,} decisions, "
            f"{self.games / seconds:.1f} games/s, {seconds:.0f} s"
        )

    def show(self) -> None:
        """On a terminal one line that changes; else a line now and then."""
        terminal, now = sys.stdout.isatty(), time.monotonic()
        if now - self.shown > (0.5 if terminal else 30):
            self.shown = now
            print(self, end="\033[K\r" if terminal else "\n", flush=True)


@contextmanager
def _workers(number: int, seeds: range, reports: Reports) -> Iterator[list[BaseProcess]]:
    context = multiprocessing.get_context("spawn")
    workers: list[BaseProcess] = [
        context.Process(target=_work, args=(seeds[worker::number], reports), daemon=True) for worker in range(number)
    ]
    with without_ctrl_c():
        for worker in workers:
            worker.start()
    try:
        yield workers
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def fuzz(seed: int, games: int | None, number: int) -> int:
    """Play games from this seed on; the exit code."""
    warm_up(petrichor_env.GAME)
    warm_up(evergreen_env.GAME)
    seeds = range(seed, seed + (games if games is not None else sys.maxsize - seed))
    print(f"Comparing random games from seed {seed} in {number} processes; Ctrl-C ends it.", flush=True)
    progress = Progress()
    reports: Reports = multiprocessing.get_context("spawn").Queue()
    with _workers(number, seeds, reports) as workers:
        try:
            while progress.games < len(seeds):
                try:
                    report = reports.get(timeout=1)
                except Empty:
                    if any(worker.exitcode for worker in workers):
                        print("\nA process has died.")
                        return 1
                    continue
                if report.failure:
                    print(f"\nDIFFERENCE in the game of seed {report.seed}:\n{report.failure}\n")
                    print(f"Once more: python -m tests.fuzz --seed {report.seed} --games 1\n{progress}")
                    return 1
                progress.add(report)
                progress.show()
        except KeyboardInterrupt:
            print()
    print(f"No difference: {progress}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=None, help="of the first game; each game has the next one")
    parser.add_argument("--games", type=int, default=None, help="how many; without it, until Ctrl-C")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes; as many as cores")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    return fuzz(seed, given.games, given.workers)


if __name__ == "__main__":
    sys.exit(main())
