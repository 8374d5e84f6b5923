"""The program that measures learners in the suite's tasks."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra train")

from benchmarks import baselines
from tabletop_training.petrichor.tasks import TASKS
from tabletop_training.suite import play

SOLO = next(task for task in TASKS if task.name == "solo-v1")


@pytest.mark.parametrize("learner", ["nothing", "numbers", "MaskablePPO", pytest.param("jax", marks=pytest.mark.slow)])
def test_a_learner_is_measured_and_measured_once(learner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if learner == "jax":
        pytest.importorskip("jax", reason="needs the extra jax")
    monkeypatch.setattr(baselines, "TASKS", (replace(SOLO, steps=32_768),))
    monkeypatch.setattr(play, "GAMES", 20)
    given = Namespace(runs=f"solo-v1:{learner}", seeds=2, output=str(tmp_path / "runs"))
    (row,) = found = baselines.measured(given)
    assert (row["task"], row["learner"], row["runs"]) == ("petrichor/solo-v1", learner, 2)
    assert 0 <= row["lowest"] <= row["score"][0] <= row["highest"] <= 1
    assert f"`{learner}` | 2 |" in baselines.table(found)
    files = {file: file.read_bytes() for file in (tmp_path / "runs").rglob("policy.zip")}
    assert len(files) == 2 and baselines.measured(given) == found
    assert {file: file.read_bytes() for file in files} == files
