"""How well the shipped networks judge positions: no worse than published."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.values import CASES, measured, quality
from tabletop_engine import seeds

PUBLISHED = json.loads((Path(__file__).parents[1] / "docs" / "values.json").read_text(encoding="utf-8"))["rows"]
GAMES = 400


def test_quality_by_hand() -> None:
    """Two games of four rounds, one decision each: the first is known from its second round on, the other never."""
    rows = {
        "game": np.array([0, 1] * 4),
        "round": np.repeat(np.arange(1, 5), 2).astype(np.int8),
        "win": np.array([0.5, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5]),
        "won": np.array([1.0, 0.0] * 4),
        "margin": np.array([0.0, 0.0, 10.0, 0.0, 10.0, 0.0, 10.0, -6.0]),
        "ahead": np.array([10.0, -6.0] * 4),
    }
    unknown, half = [0.0, 1 - (10**2 + 6**2) / 2 / 8**2], [0.5, 1 - 6**2 / 2 / 8**2]
    expected = [unknown, half, half, [0.5, 1.0], [0.5, 1.0]]
    assert np.allclose(quality(rows), expected, atol=1e-3)


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=[pytest.mark.slow] * (i > 1)) for i, name in enumerate(CASES)]
)
def test_no_shipped_network_judges_worse_than_published(case: str) -> None:
    """With this many games a figure differs by less than 0.1 from that of the published table."""
    (row,) = [one for one in PUBLISHED if one["what"] == case]
    found = np.array(measured(case, GAMES, seeds.EVALUATION.first + 7_000_000))
    assert (found > np.array(row["quality"]) - 0.1).all()
