"""`petrichor bench`, `evergreen bench`: all benchmarks of a game, and one table."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from datetime import date

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.environments import aec, single, vec_solo, vec_solo_int8
from benchmarks.games import GAMES, Measured
from benchmarks.measure import Result
from benchmarks.parts import parts
from benchmarks.playouts import playouts
from benchmarks.rendering import rendering
from benchmarks.scans import scans
from benchmarks.search import search
from benchmarks.small_games import card_games, connect_four, gem_market
from benchmarks.startup import startup
from tabletop_engine.errors import ConfigError

BENCHMARKS: dict[str, Callable[[Measured, int, float], list[Result]]] = {
    "vec_solo": vec_solo,
    "vec_solo_int8": vec_solo_int8,
    "connect_four": connect_four,
    "gem_market": gem_market,
    "card_games": card_games,
    "scans": scans,
    "single": single,
    "aec": aec,
    "playouts": playouts,
    "search": search,
    "rendering": rendering,
    "startup": startup,
    "parts": parts,
}

SMALL_GAMES = ("connect_four", "gem_market", "card_games")
"""Benchmarks that are not about the requested game."""


def main(
    name: str,
    *,
    quick: bool = False,
    only: str | None = None,
    on_result: Callable[[object], None] = lambda content: None,
) -> list[Result]:
    """Run the benchmarks and print their medians.

    Arguments:
        name: of the game, one of `GAMES`.
        quick: few and short runs, to see that everything works; its figures are not for publishing.
        only: the name of one benchmark. Raises ConfigError for an unknown one.
        on_result: called with the figures, versions and machine.
    """
    if only is not None and only not in BENCHMARKS:
        raise ConfigError(f"no benchmark is called {only!r}; there are {', '.join(BENCHMARKS)}")
    repeats, seconds = (2, 0.3) if quick else (7, 1.5)
    results: list[Result] = []
    console = Console()
    for what, benchmark in BENCHMARKS.items():
        if only == what or (only is None and (what not in SMALL_GAMES or GAMES[name].with_small_games)):
            with console.status(f"measuring {what}"):
                results += benchmark(GAMES[name], repeats, seconds)
    console.print(_table(results))
    on_result(report(name, results, repeats))
    return results


def report(name: str, results: list[Result], repeats: int) -> dict[str, object]:
    """The figures, with versions and machine."""
    return {
        "date": date.today().isoformat(),
        f"{name}_env": GAMES[name].playouts["solo"].game.version,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "cores": os.cpu_count(),
        "repeats": repeats,
        "results": [result.as_dict() for result in results],
    }


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _table(results: list[Result]) -> Table:
    table = Table(title="medians of several runs")
    for column in ("benchmark", "what", "measured", "unit", "target", "met"):
        table.add_column(column, justify="right" if column == "measured" else "left")
    for result in results:
        met = {None: "", True: "yes", False: "no"}[result.met]
        table.add_row(result.name, result.what, shown(result.value), result.unit, result.target_text, met)
    return table
