"""The solo game's sets of variants, and a summary of one agent's games of one: a row of `difficulty.csv`."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from pathlib import Path

import petrichor_env
from petrichor_env.config import VARIANTS, Config
from petrichor_env.state import RULES_VERSION
from tabletop_training.evaluation import Results, decimals, mean_interval, wilson_interval

ALL_VARIANTS: tuple[tuple[str, ...], ...] = tuple(
    chosen for number in range(len(VARIANTS) + 1) for chosen in combinations(VARIANTS, number)
)
"""The 16 combinations of the difficulty variants, the base game first, then by how many there are."""


@dataclass(frozen=True)
class Summary:
    """One agent against the Southern Winds with one set of variants and modules: a row of `difficulty.csv`."""

    variants: str
    modules: str
    agent: str
    games: int
    seed: int
    wins: int
    win_rate: float
    win_rate_low: float
    win_rate_high: float
    margin: float
    margin_low: float
    margin_high: float
    points: float
    neutral_points: float
    decisions: float
    package_version: str
    state_version: int

    @property
    def variant_names(self) -> tuple[str, ...]:
        return tuple(self.variants.split("+")) if self.variants != "base" else ()


def set_name(variants: Iterable[str]) -> str:
    """A set of variants in files: `double_card+one_more_turn`, `base` for none."""
    return "+".join(variants) or "base"


def summarize(results: Results) -> Summary:
    """Win rate, margin, scores and length of solo games, with 95 % intervals."""
    games = len(results.lengths)
    wins = int(results.won[:, 0].sum())
    win_rate_low, win_rate_high = wilson_interval(wins, games)
    margin_low, margin_high = mean_interval(results.margins)
    config = results.config
    assert isinstance(config, Config)
    return Summary(
        variants=set_name(config.variants),
        modules="+".join(config.module_names),
        agent=results.agents[0],
        games=games,
        seed=results.seed,
        wins=wins,
        win_rate=wins / games,
        win_rate_low=win_rate_low,
        win_rate_high=win_rate_high,
        margin=float(results.margins.mean()),
        margin_low=margin_low,
        margin_high=margin_high,
        points=float(results.points[:, 0].mean()),
        neutral_points=float(results.points[:, 1].mean()),
        decisions=float(results.lengths.mean()),
        package_version=petrichor_env.__version__,
        state_version=RULES_VERSION,
    )


def write_csv(path: Path, summaries: Iterable[Summary]) -> None:
    """One line a summary, numbers to six decimals, nothing for ends that an interval has not."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Summary)])
        writer.writeheader()
        for summary in summaries:
            row = asdict(summary)
            writer.writerow({key: decimals(value) for key, value in row.items()})
