"""The solo game's sets of variants, and a summary of one agent's games of one: a row of `difficulty.csv`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import petrichor_env
from petrichor_env.config import VARIANTS, Config
from petrichor_env.state import RULES_VERSION
from tabletop_training.evaluation import Estimate, Results, mean_estimate, wilson_interval
from tabletop_training.evaluation_files import flat, write_rows

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
        return variants_of(self.variants)

    @property
    def won(self) -> Estimate:
        """The win rate with its interval."""
        return Estimate(self.win_rate, self.win_rate_low, self.win_rate_high)

    @property
    def ahead(self) -> Estimate:
        """The margin with its interval."""
        return Estimate(self.margin, self.margin_low, self.margin_high)


def set_name(variants: Iterable[str]) -> str:
    """A set of variants in files: `double_card+one_more_turn`, `base` for none."""
    return "+".join(variants) or "base"


def variants_of(name: str) -> tuple[str, ...]:
    """The set of variants of a `set_name`."""
    return () if name == "base" else tuple(name.split("+"))


def summarize(results: Results) -> Summary:
    """Win rate, margin, scores and length of solo games, with 95 % intervals."""
    games = len(results.lengths)
    wins = int(results.won[:, 0].sum())
    won = Estimate(wins / games, *wilson_interval(wins, games))
    config = results.config
    assert isinstance(config, Config)
    return Summary(
        variants=set_name(config.variants),
        modules="+".join(config.module_names),
        agent=results.agents[0],
        games=games,
        seed=results.seed,
        wins=wins,
        **flat({"win_rate": won, "margin": mean_estimate(results.margins)}),
        points=float(results.points[:, 0].mean()),
        neutral_points=float(results.points[:, 1].mean()),
        decisions=float(results.lengths.mean()),
        package_version=petrichor_env.__version__,
        state_version=RULES_VERSION,
    )


def write_summaries(folder: Path, summaries: Iterable[Summary]) -> None:
    """Write `difficulty.csv`, one line a summary."""
    write_rows(folder / "difficulty.csv", [asdict(summary) for summary in summaries])
