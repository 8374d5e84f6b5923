"""The figures of a difficulty study as CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.state import SOURCE_NAMES
from tabletop_training.evaluation import mean_estimate
from tabletop_training.evaluation_files import write_rows
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
    return [
        {
            "agent": sets.agent,
            "variants": set_name(variants),
            "side": who,
            "source": SOURCE_NAMES[source],
            **dict(zip(("points", "low", "high"), mean_estimate(sets.scored[index, :, side, source]), strict=True)),
        }
        for index, variants in enumerate(ALL_VARIANTS)
        for side, who in enumerate(("player", "neutral"))
        for source in sources_of([sets])
    ]


def write_tables(folder: Path, sets: Sequence[Sets]) -> None:
    """`effects.csv`, `pairs.csv` and `sources.csv`, numbers to five digits, nothing where an interval has no ends."""
    for name, of_agent in (("effects", _effect_rows), ("pairs", _pair_rows), ("sources", _source_rows)):
        write_rows(folder / f"{name}.csv", [row for one in sets for row in of_agent(one)], form=".5g")


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
