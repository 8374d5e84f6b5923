"""The solo game's sets of variants, and the summary of an agent's games of a set: a row of `difficulty.csv`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import petrichor_env
from petrichor_env.config import VARIANTS, Config
from petrichor_env.state import RULES_VERSION
from tabletop_engine.text.words import counted
from tabletop_training.files.tables import flat, write_rows
from tabletop_training.measure.results import (
    NO_ESTIMATE,
    Estimate,
    Results,
    difference_estimate,
    mean_estimate,
    wilson_interval,
)

ALL_VARIANTS: tuple[tuple[str, ...], ...] = tuple(
    chosen for number in range(len(VARIANTS) + 1) for chosen in combinations(VARIANTS, number)
)
"""All sets of difficulty variants, 16 of four variants, sorted by their number of variants, the base game first."""


@dataclass(frozen=True)
class Summary:
    """One agent against the Southern Winds with one set of variants and modules: a row of `difficulty.csv`.

    `win_rate_change` and `margin_change` are the changes by an overlay file, paired by seed; None without one.
    """

    variants: str
    modules: str
    agent: str
    games: int
    seed: int
    wins: int
    win_rate: Estimate
    margin: Estimate
    points: float
    neutral_points: float
    decisions: float
    package_version: str
    state_version: int
    win_rate_change: Estimate | None = None
    margin_change: Estimate | None = None


def set_name(variants: Iterable[str]) -> str:
    """A set of variants in files: `double_card+one_more_turn`, `base` for none."""
    return "+".join(variants) or "base"


def variants_of(name: str) -> tuple[str, ...]:
    """The set of variants of a `set_name`."""
    return () if name == "base" else tuple(name.split("+"))


def summarize(results: Results, shipped: Results | None = None) -> Summary:
    """Win rate, margin, scores and length of solo games, with 95 % intervals.

    `shipped` are games of the same seeds with the shipped numbers, if `results` are those of an overlay file.
    """
    games = len(results.lengths)
    wins = int(results.won[:, 0].sum())
    config = results.config
    assert isinstance(config, Config)
    changes: dict[str, Any] = {}
    if shipped is not None:
        changes["win_rate_change"] = difference_estimate(results.won[:, 0].astype(float) - shipped.won[:, 0])
        changes["margin_change"] = mean_estimate(results.margins - shipped.margins)
    return Summary(
        variants=set_name(config.variants),
        modules="+".join(config.module_names),
        agent=results.agents[0],
        games=games,
        seed=results.seed,
        wins=wins,
        win_rate=Estimate(wins / games, *wilson_interval(wins, games)),
        margin=mean_estimate(results.margins),
        points=float(results.points[:, 0].mean()),
        neutral_points=float(results.points[:, 1].mean()),
        decisions=float(results.lengths.mean()),
        package_version=petrichor_env.__version__,
        state_version=RULES_VERSION,
        **changes,
    )


def games_each(summaries: Iterable[Summary]) -> str:
    """`1,000 games`, `200 to 1,000 games`."""
    fewest, *more = sorted({summary.games for summary in summaries})
    return f"{fewest:,} to {more[-1]:,} games" if more else counted(fewest, "game")


def rows_of(summaries: Iterable[Summary]) -> list[dict[str, Any]]:
    """The rows of a table. If there are changes by an overlay file, they are columns, too."""
    rows = [vars(summary) for summary in summaries]
    changes = ("win_rate_change", "margin_change") if any(row["margin_change"] for row in rows) else ()
    plain = [{key: value for key, value in row.items() if not key.endswith("_change")} for row in rows]
    return [flat(own) | {key: row[key] or NO_ESTIMATE for key in changes} for own, row in zip(plain, rows, strict=True)]


def write_summaries(folder: Path, summaries: Iterable[Summary]) -> None:
    """Write `difficulty.csv`, one line a summary."""
    write_rows(folder / "difficulty.csv", rows_of(summaries))
