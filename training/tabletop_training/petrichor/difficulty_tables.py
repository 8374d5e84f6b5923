"""The figures of a difficulty study as CSV and JSON."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.state import SOURCE_NAMES
from tabletop_training.evaluation import mean_estimate
from tabletop_training.petrichor.report_plots import sources_of
from tabletop_training.petrichor.summaries import ALL_VARIANTS, set_name
from tabletop_training.petrichor.variant_effects import (
    Sets,
    compare_margins,
    compare_wins,
    effects,
    levels,
    pairing_gain,
    rank_intervals,
    win_rate_effects,
)

_SIDE_NAMES = ("player", "neutral")


def _effect_rows(sets: Sets) -> list[dict[str, Any]]:
    measures = {
        "margin": sets.margins,
        "points": sets.points[:, :, 0],
        "neutral_points": sets.points[:, :, 1],
        "decisions": sets.decisions,
    }
    return [
        {
            "agent": sets.agent,
            "measure": measure,
            "variants": "+".join(effect.variants),
            "change": effect.value,
            "low": effect.low,
            "high": effect.high,
            "p_holm": effect.p,
        }
        for measure, values in measures.items()
        for effect in effects(values)
    ]


def _pair_rows(sets: Sets) -> list[dict[str, Any]]:
    wins, margins = compare_wins(sets), compare_margins(sets)
    return [
        {
            "agent": sets.agent,
            "easier": set_name(ALL_VARIANTS[easier]),
            "harder": set_name(ALL_VARIANTS[harder]),
            "win_rate_difference": wins.differences[easier, harder],
            "p_holm_wins": wins.p[easier, harder],
            "margin_difference": margins.differences[easier, harder],
            "p_holm_margins": margins.p[easier, harder],
        }
        for easier, harder in combinations(sets.order, 2)
    ]


def _source_rows(sets: Sets) -> list[dict[str, Any]]:
    rows = []
    for index, variants in enumerate(ALL_VARIANTS):
        for side, who in enumerate(_SIDE_NAMES):
            for source in sources_of([sets]):
                points = mean_estimate(sets.scored[index, :, side, source])
                rows.append(
                    {
                        "agent": sets.agent,
                        "variants": set_name(variants),
                        "side": who,
                        "source": SOURCE_NAMES[source],
                        "points": points.value,
                        "low": points.low,
                        "high": points.high,
                    }
                )
    return rows


def write_tables(folder: Path, sets: Sequence[Sets]) -> None:
    """`effects.csv`, `pairs.csv` and `sources.csv`, numbers to five digits, nothing where an interval has no ends."""
    for name, of_agent in (("effects", _effect_rows), ("pairs", _pair_rows), ("sources", _source_rows)):
        rows = [row for one in sets for row in of_agent(one)]
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            for row in rows:
                writer.writerow({key: _cell(value) for key, value in row.items()})


def _cell(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return f"{value:.5g}" if math.isfinite(value) else ""


def as_json(sets: Sequence[Sets], seed: int) -> list[dict[str, Any]]:
    """Effects and rankings, agent by agent; `seed` is of the resampling of ranks."""
    return [
        {
            "agent": one.agent,
            "games": one.games,
            "effects": _effect_rows(one),
            "win_rate_effects": {name: effect._asdict() for name, effect in win_rate_effects(one).items()},
            "ranking": [set_name(ALL_VARIANTS[index]) for index in one.order],
            "levels": levels(one.order, compare_wins(one))[one.order].tolist(),
            "rank_intervals": rank_intervals(one, np.random.default_rng(seed))[one.order].tolist(),
            "pairing_gain": pairing_gain(one),
        }
        for one in sets
    ]
