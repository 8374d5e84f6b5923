"""The program that measures learners in the suite's tasks."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra train")

from benchmarks import baselines
from tabletop_training.petrichor.tasks import TASKS
from tabletop_training.suite import play, runs

SOLO = next(task for task in TASKS if task.name == "solo-v1")


@pytest.mark.parametrize("learner", ["nothing", "numbers", "MaskablePPO", pytest.param("jax", marks=pytest.mark.slow)])
def test_a_learner_is_measured_and_measured_once(learner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if learner == "jax":
        pytest.importorskip("jax", reason="needs the extra jax")
    monkeypatch.setattr(baselines, "TASKS", (replace(SOLO, steps=32_768),))
    monkeypatch.setattr(play, "GAMES", 20)
    given = Namespace(runs=f"solo-v1:{learner}", seeds=2, output=str(tmp_path / "runs"))
    found = baselines.measured(given)
    assert {(row.task, row.learner, row.seed) for row in found} == {
        ("petrichor/solo-v1", learner, seed) for seed in (0, 1)
    }
    assert f"`{learner}` | 2 |" in baselines.table(found, given.runs)
    files = {file: file.read_bytes() for file in (tmp_path / "runs").rglob("policy.zip")}
    assert len(files) == 2 and baselines.measured(given) == found
    assert {file: file.read_bytes() for file in files} == files


def test_scores_take_the_place_of_those_of_the_same_learner(tmp_path: Path) -> None:
    def scores(task: str, learner: str, score: float) -> list[runs.Row]:
        return [runs.Row(f"petrichor/{task}", "1", learner, seed, "new", 10, score) for seed in range(2)]

    file = tmp_path / "scores.csv"
    baselines.add(file, scores("solo-v1", "jax", 0.5) + scores("solo-v1", "shortfalls", 0.25))
    baselines.add(file, scores("solo-v1", "jax", 0.75) + scores("hardest-v1", "jax", 0.125))
    found = runs.read_scores(file)
    kept = {(row.task, row.learner): row.score for row in found}
    assert kept == {
        ("petrichor/solo-v1", "jax"): 0.75,
        ("petrichor/hardest-v1", "jax"): 0.125,
        ("petrichor/solo-v1", "shortfalls"): 0.25,
    }
    assert len(found) == 6
    told = baselines.table(found, "solo-v1:jax budget-v1:jax")
    assert "| `solo-v1` | `jax` | 2 | 75.0 % (75.0–75.0) | 75.0, 75.0 |" in told
    assert "| `budget-v1` | `jax` | not run |" in told
