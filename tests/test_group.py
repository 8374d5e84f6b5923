"""Processes that learn one network together, as torchrun starts them."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tabletop_training.learn.learner import BEST, LEAGUE, POLICY, RESUME
from tabletop_training.learn.logs import CURVE

PROGRAM = """
import hashlib, json, sys
from pathlib import Path

from petrichor_env import GAME
from tabletop_training.learn.group import started_by_torchrun
from tabletop_training.learn.learner import RESUME, Learner, Plan
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings
from tabletop_training.files.settings import Settings

folder, updates = Path(sys.argv[1]), int(sys.argv[2])
settings = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1, evaluate_every=2000)
league = OpponentSettings(league=0.5, scripted=("random",), snapshots=3, snapshot_steps=500)
plan = Plan(settings, GamesSettings((2,)), league, EvaluationSettings(("random",), 4))
with started_by_torchrun("cpu") as (group, device):
    learner = Learner(GAME, plan, Budget(steps=6000), folder, 3, device=device, group=group, tensorboard=False)
    if (folder / RESUME).exists():
        learner.resume()
    left = iter([False] * updates)
    learner.should_stop = lambda: next(left, True)
    learner.run()
    weights = b"".join(one.detach().numpy().tobytes() for one in learner.network.parameters())
    members = [[one.name, one.active, one.games] for one in learner.opponents.members]
    told = [learner.steps, len(learner.curve), members, hashlib.sha256(weights).hexdigest()]
    (folder / f"rank-{group.rank}.json").write_text(json.dumps(told))
"""


def learned(folder: Path, processes: int, updates: int = 1000) -> list[Any]:
    """What each of the processes has come to: steps, rollouts, the league, a hash of the weights."""
    program = folder.parent / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    started = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, *(started if processes > 1 else []), str(program), str(folder), str(updates)]
    paths = os.pathsep.join(path for path in sys.path if path)
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}, capture_output=True, timeout=600
    )
    assert ended.returncode == 0, ended.stderr.decode()[-3000:]
    return [json.loads((folder / f"rank-{rank}.json").read_text()) for rank in range(processes)]


def curve_of(folder: Path) -> list[dict[str, str]]:
    with (folder / CURVE).open(encoding="utf-8") as file:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def test_two_processes_learn_one_network(tmp_path: Path) -> None:
    """They stay equal, leave what one leaves, and go on exactly; one alone can go on, too, with new games."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    first, second = learned(whole, 2)
    assert first == second and first[0] >= 6000
    assert any(name.startswith("snapshot-") and games > 0 for name, _, games in first[2])
    names = {POLICY, BEST, RESUME, CURVE, LEAGUE, "league.csv", "evaluations.csv", "rank-0.json", "rank-1.json"}
    assert {path.name for path in whole.iterdir()} == names

    stopped, _ = learned(parts, 2, updates=3)
    assert stopped[1] == 3 < first[1]
    shutil.copytree(parts, tmp_path / "alone")
    assert learned(parts, 2) == [first, second]
    assert curve_of(parts) == curve_of(whole)

    (alone,) = learned(tmp_path / "alone", 1, updates=1)
    assert alone[1] == 4 and alone[0] > stopped[0] and alone[3] != stopped[3]
