"""Processes that learn one network together, as torchrun starts them."""

from __future__ import annotations

import csv
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tabletop_training.learn.learner import BEST, LEAGUE, POLICY, RESUME
from tabletop_training.learn.logs import CURVE

PROGRAM = """
import hashlib, json, shutil, sys
from pathlib import Path

from petrichor_env import GAME
from tabletop_training.learn.group import started_by_torchrun
from tabletop_training.learn.learner import RESUME, Learner
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings
from tabletop_training.files.settings import Settings

settings = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1, evaluate_every=2000)
league = OpponentSettings(league=0.5, scripted=("random",), snapshots=3, snapshot_steps=500)
plan = Plan(settings, GamesSettings((2,)), league, EvaluationSettings(("random",), 4), Budget(steps=6000), 3)
with started_by_torchrun("cpu") as (group, device):
    for number, (name, updates) in enumerate(json.loads(sys.argv[1])):
        folder = Path(name)
        learner = Learner(GAME, plan, folder, device=device, group=group, tensorboard=False)
        if (folder / RESUME).exists():
            learner.resume()
        left = iter([False] * updates)
        learner.should_stop = lambda: next(left, True)
        learner.run()
        weights = b"".join(one.detach().numpy().tobytes() for one in learner.network.parameters())
        members = [[one.name, one.active, one.games] for one in learner.opponents.members]
        told = [learner.steps, len(learner.curve), members, hashlib.sha256(weights).hexdigest()]
        (folder.parent / f"{number}-rank-{group.rank}.json").write_text(json.dumps(told))
        if group.size > 1 and group.leads and updates < 1000:
            shutil.copytree(folder, folder.with_name("alone"))
"""


def learned_by_two(folder: Path, *parts: tuple[Path, int]) -> list[list[Any]]:
    """The results of both processes after each part: steps, rollouts, the league, a hash of the weights.

    Each part is a run's folder and the number of updates to make there. The same two processes make all of them,
    because starting takes longer than learning.
    """
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program)]
    paths = os.pathsep.join(path for path in sys.path if path)
    ended = subprocess.run(
        [*command, told(*parts)],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stderr.decode()[-3000:]
    return [[read(folder, number, rank) for rank in range(2)] for number in range(len(parts))]


def told(*parts: tuple[Path, int]) -> str:
    return json.dumps([(str(folder), updates) for folder, updates in parts])


def read(folder: Path, number: int, rank: int) -> Any:
    return json.loads((folder / f"{number}-rank-{rank}.json").read_text())


def curve_of(folder: Path) -> list[dict[str, str]]:
    with (folder / CURVE).open(encoding="utf-8") as file:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def test_two_processes_learn_one_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stay equal, write one process's files, and resume exactly. One alone can resume, too, with new games.

    Between the two parts another run draws other numbers and has other weights.
    """
    whole, parts, alone = tmp_path / "whole", tmp_path / "parts", tmp_path / "alone"
    stopped, ends, ends_in_parts = learned_by_two(tmp_path, (parts, 3), (whole, 1000), (parts, 1000))
    first, second = ends
    assert first == second and first[0] >= 6000
    assert any(name.startswith("snapshot-") and games > 0 for name, _, games in first[2])
    names = {POLICY, BEST, RESUME, CURVE, LEAGUE, "league.csv", "evaluations.csv"}
    assert {path.name for path in whole.iterdir()} == names

    assert stopped[0][1] == 3 < first[1]
    assert ends_in_parts == ends
    assert curve_of(parts) == curve_of(whole)

    monkeypatch.setattr(sys, "argv", ["program.py", told((alone, 1))])
    runpy.run_path(str(tmp_path / "program.py"))
    last = read(tmp_path, 0, 0)
    assert last[1] == 4 and last[0] > stopped[0][0] and last[3] != stopped[0][3]
