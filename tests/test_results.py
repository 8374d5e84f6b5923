"""Results of measured agents: the reports and the intervals."""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np
import pytest

from petrichor_env.config import VARIANTS, Config
from tabletop_engine.text.screen import Screen
from tabletop_training.files.tables import AGENT, WIN_RATE, Column, Table, format_estimate
from tabletop_training.measure.results import NO_ESTIMATE, Estimate, Results, mean_interval, wilson_interval
from tabletop_training.petrichor.summaries import ALL_VARIANTS, summarize, variants_of


def test_all_variants_are_the_16_combinations() -> None:
    assert len(ALL_VARIANTS) == len(set(ALL_VARIANTS)) == 16
    assert ALL_VARIANTS[0] == ()
    assert ALL_VARIANTS[-1] == VARIANTS
    assert all(Config(variants=variants).variants == variants for variants in ALL_VARIANTS)


def test_wilson_interval_has_the_known_numbers() -> None:
    """By the formula of Wilson (1927): 8 of 10, and the ends."""
    assert wilson_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson_interval(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    for wins, games in ((11, 10), (-1, 10), (0, 0)):
        with pytest.raises(ValueError, match="0 to games"):
            wilson_interval(wins, games)


def test_mean_interval_has_the_known_numbers() -> None:
    """1 … 5: mean 3, standard error 1/sqrt(2), Student's quantile for 4 degrees of freedom 2.7764."""
    assert mean_interval(np.arange(1.0, 6.0)) == pytest.approx((3 - 1.9633, 3 + 1.9633), abs=1e-3)
    assert mean_interval(np.array([4.0])) == (-np.inf, np.inf)
    assert mean_interval(np.array([2.0, 2.0])) == (2, 2)


def test_summary() -> None:
    points = np.array([[30, 20], [25, 25], [10, 25], [41, 40]])
    places = np.array([[1], [2], [2], [1]])
    summary = summarize(
        Results(Config(variants=VARIANTS[:2]), ("someone",), 9, points, places, np.array([60, 70, 50, 60]))
    )
    assert (summary.variants, summary.modules) == ("double_card+non_random_targets", "")
    assert variants_of(summary.variants) == VARIANTS[:2]
    assert (summary.agent, summary.games, summary.seed, summary.wins) == ("someone", 4, 9, 2)
    assert summary.win_rate == (0.5, *wilson_interval(2, 4))
    assert (summary.margin.value, summary.points, summary.neutral_points, summary.decisions) == (-1, 26.5, 27.5, 60)
    assert summary.margin.low < -1 < summary.margin.high
    added = Config(modules=("powers", "cactus"), powers=("rain",))
    summary = summarize(Results(added, ("someone",), 9, points, places, np.array([60, 70, 50, 60])))
    assert (summary.variants, summary.modules) == ("base", "cactus+powers=rain")


# --- Estimates as text, and tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "written"),
    [
        ({"unit": "%"}, "63.1 % (59.0–67.1)"),
        ({"unit": "%", "interval": "to"}, "63.1 % (59.0 to 67.1)"),
        ({"factor": 100, "sign": "+", "interval": "to"}, "+63.1 (+59.0 to +67.1)"),
        ({"unit": "percentage points", "factor": 100, "interval": ""}, "63.1 percentage points"),
        ({"sign": "+", "interval": "±"}, "+0.6 ± 0.0"),
        ({"form": ".2f"}, "0.63 (0.59–0.67)"),
        ({"form": ".3g", "interval": "to"}, "0.631 (0.59 to 0.671)"),
    ],
)
def test_an_estimate_as_text(how: dict[str, Any], written: str) -> None:
    assert format_estimate(Estimate(0.631, 0.59, 0.671), **how) == written


def test_what_is_rounded_to_zero_has_no_minus() -> None:
    assert format_estimate(Estimate(-0.0001, -0.0004, 0.02), "%", sign="+") == "+0.0 % (+0.0–+2.0)"


def test_an_estimate_without_an_interval_as_text() -> None:
    for one in (Estimate(3.2, -math.inf, math.inf), [3.2, None, None]):  # as in a JSON file
        assert format_estimate(one, sign="+", interval="to") == "+3.2 (no interval)"
        assert format_estimate(one, interval="±") == "3.2 ± –"
    assert format_estimate(Estimate(3.0, 2.0, 5.0), interval="±") == "3.0 ± 2.0", "the larger distance"


def test_a_table_for_a_screen_and_a_page() -> None:
    """Both from the same rows; what comes from outside is code on the page, and visible on the screen."""
    style = Column("games", "games", "{:,}".format, style=lambda row: "bold" if row["games"] > 10 else "")
    rows = [
        {"agent": "a|\x1b", "win_rate": [0.5, 0.25, 0.75], "games": 1200, "other": 1},
        {"agent": "b", "win_rate": NO_ESTIMATE, "games": 2},
        {"agent": "c", "games": 3, "win_rate": "as a text"},
    ]
    table = Table((AGENT, WIN_RATE, style), rows, "Title", "Caption", blank="–")
    assert table.markdown().split("\n") == [
        "| agent | win rate | games |",
        "|---|---:|---:|",
        "| `a\\|\\x1b` | 50.0 % (25.0–75.0) | 1,200 |",
        "| `b` | – | 2 |",
        "| `c` | as a text | 3 |",
    ]
    out = io.StringIO()
    Screen(file=out, width=80, force_terminal=True, color_system="standard").print(table.screen())
    lines = re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()).split("\n")
    assert lines[0].strip() == "Title" and "Caption" in lines[-2]
    assert re.search(r"│ a\|\\x1b +│ 50.0 % \(25.0–75.0\) │ +1,200 │", "\n".join(lines))
    assert "\x1b[1m1,200" in out.getvalue().replace(" ", "") and "\x1b[1m2" not in out.getvalue().replace(" ", "")
