"""The files that evaluations and tournaments leave, and how they write an estimate."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import petrichor_env
from petrichor_env.config import Config
from petrichor_env.state import SOURCE_NAMES, STATE_VERSION
from petrichor_env.words import NEUTRAL
from training.evaluation import Estimate, Results


class GamesFile:
    """`games.csv`: a line for every seat of every game, added block by block, so that nothing that is done is lost.

    Columns: game, seed, seat, agent, points, won (the part of the victory), place, margin, decisions, length, then
    the points by where they came from. Solo games have a second line with the neutral player's points.
    """

    COLUMNS = (
        "game", "seed", "seat", "agent", "points", "won", "place", "margin", "decisions", "length", *SOURCE_NAMES
    )  # fmt: skip

    def __init__(self, path: Path) -> None:
        self._path = path
        self._games = 0

    def add(self, results: Results, labels: Sequence[str]) -> None:
        """Append these games; `labels` are the agents' names in the file."""
        new = self._games == 0
        with self._path.open("w" if new else "a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(self.COLUMNS)
            shares, margins = results.win_shares, results.margins_by_seat
            for game in range(len(results)):
                for seat in range(results.points.shape[1]):
                    agent, won, place, margin, decisions = NEUTRAL, "", "", "", ""
                    if seat < results.config.players:
                        agent = labels[results.lineups[game, seat]]
                        won, margin = f"{shares[game, seat]:.4g}", f"{margins[game, seat]:.4g}"
                        place, decisions = results.places[game, seat], results.decisions[game, seat]
                    start = (self._games, results.seeds[game], seat, agent, results.points[game, seat])
                    rest = (won, place, margin, decisions, results.lengths[game], *results.scored[game, seat])
                    writer.writerow([*start, *rest])
                self._games += 1


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """A CSV file with numbers to four decimals; its columns are the first row's keys."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.4f}" if isinstance(value, float) else value for key, value in row.items()})


def provenance(config: Config, seed: int, labels: Iterable[str]) -> dict[str, Any]:
    """What a result holds for: versions, configuration, first seed, agents."""
    return {
        "package_version": petrichor_env.__version__,
        "state_version": STATE_VERSION,
        "config": asdict(config),
        "first_seed": seed,
        "agents": list(labels),
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Indented, with a newline at the end."""
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def flat(**estimates: Estimate) -> dict[str, float]:
    """For each estimate its value, `_low` and `_high`, as columns of a CSV file."""
    columns: dict[str, float] = {}
    for name, estimate in estimates.items():
        columns |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return columns


def percent(estimate: Estimate) -> str:
    """`63.1 % (59.0–67.1)`."""
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f}–{100 * estimate.high:.1f})"


def plus_minus(estimate: Estimate, signed: bool = False, digits: int = 1) -> str:
    """`+3.2 ± 1.1`; the greater of both distances where the interval is not symmetric."""
    half = max(estimate.high - estimate.value, estimate.value - estimate.low)
    return f"{estimate.value:{'+' if signed else ''}.{digits}f} ± {half:.{digits}f}"
