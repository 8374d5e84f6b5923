"""`benchmarks.learning_curve`: what it measures, and what the published curve shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import learning_curve
from benchmarks.learning_curve import CONTENDERS, GREEDY, LOOKS, NOTHING, SB3, SHORTFALLS, Look, curve, runs_of
from docs.generate import DOCS
from tabletop_agents import RandomAgent

PUBLISHED = learning_curve.read(DOCS / learning_curve.FILE)


def test_shortfalls_bring_ninety_percent_within_half_a_minute() -> None:
    """In every seed; from nothing, as many decisions bring less than the level of `greedy`."""
    (greedy,) = (row["won"] for row in PUBLISHED if row["what"] == GREEDY)
    for what in CONTENDERS:
        assert runs_of(PUBLISHED, what).shape == (3, len(LOOKS), 3)
    for run in runs_of(PUBLISHED, SHORTFALLS):
        assert run[run[:, 2] >= 0.9][0, 1] <= 30
    for what in (NOTHING, SB3):
        assert runs_of(PUBLISHED, what)[:, -1, 2].max() < greedy


def test_a_run_is_looked_at_after_so_many_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first look after each number of decisions counts, and evaluating takes none of the run's time."""
    monkeypatch.setattr(learning_curve, "LOOKS", (100, 200))
    clock = iter(range(100))
    monkeypatch.setattr(
        learning_curve.time, "process_time", lambda: next(clock)
    )  # a second passes between two readings

    def learn(seed: int, look: Look) -> None:
        for decisions in (0, 90, 120, 150, 230, 300):
            look(decisions, RandomAgent)

    first, second = curve(learn, 7, games=4)
    assert [row["decisions"] for row in (first, second)] == [120, 230]
    assert [row["seconds"] for row in (first, second)] == [1, 2]  # the second between them is that of learning
    assert first["seed"] == 7 and first["games"] == 4 and first["won"] == 0.0 > first["margin"]


def test_the_picture_has_a_line_for_each_contender(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"what": GREEDY, "won": 0.8}]
    for what in CONTENDERS:
        rows += [
            {"what": what, "seed": seed, "decisions": at, "seconds": at / 1000, "won": 0.5}
            for seed in (0, 1)
            for at in LOOKS
        ]
    assert np.array_equal(runs_of(rows, SB3)[1, :, 0], LOOKS)
    learning_curve.plot(tmp_path / "curve.png", rows)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
