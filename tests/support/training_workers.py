"""What the workers of tests do. Workers import it by its name."""

from __future__ import annotations

import csv
import os
import signal
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from petrichor_env import GAME
from tabletop_engine.errors import ConfigError
from tabletop_training.learn import learner
from tabletop_training.learn.group import Group
from tabletop_training.learn.logs import CURVE
from tabletop_training.learn.parallel import Progress
from tabletop_training.learn.plan import Plan, new_plan
from tabletop_training.learn.task import Budget
from tabletop_training.learn.train import learn_run

SETTINGS = """
[learning]
num_envs = 16
steps = 32
minibatch = 128
epochs = 1
layers = [16]
threads = 1
evaluate_every = 2000

[games]
players = [2]

[opponents]
league = 0.5
scripted = ["random"]
snapshot_steps = 1000

[evaluation]
against = ["random"]
games = 8
"""
FILES = {
    *("best.zip", "evaluations.csv", "league", "league.csv", "learning_curve.csv", "policy.zip", "resume.zip"),
    *("run.json", "tensorboard"),
}


def settings_file(folder: Path) -> Path:
    """A file with settings for very small runs."""
    path = folder / "small.toml"
    path.write_text(SETTINGS, encoding="utf-8")
    return path


def small_plan(folder: Path, steps: int) -> Plan:
    """The plan of a run in `folder/run`, which is made."""
    (folder / "run").mkdir()
    return replace(new_plan(GAME, settings_file(folder), {}), budget=Budget(steps=steps))


def learn_and_save(plan: Plan, folder: Path, group: Group, device: str, *screen: Any) -> Progress:
    """`learn_run`, but with a save after every update."""
    learner.SECONDS_BETWEEN_CHECKPOINTS = 0.0
    return learn_run(GAME, plan, folder, None, None, True, group, device, *screen)


def die(group: Group, device: str, *screen: Any) -> Progress:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def fail(group: Group, device: str, *screen: Any) -> Progress:
    """The last worker has an error, while the others wait for it."""
    if group.rank == group.size - 1:
        raise RuntimeError("a fault in the program")
    group.shared(0)
    raise AssertionError


def refuse(group: Group, device: str, *screen: Any) -> Progress:
    if group.rank == group.size - 1:
        raise ConfigError("such a setting cannot be")
    group.shared(0)
    raise AssertionError


class Telling:
    """Keeps what it is told; calls `on_progress` with everything that is shown; stops when it is told to."""

    def __init__(self, on_progress: Any = lambda progress: None) -> None:
        self.told: list[str] = []
        self.stopping = False
        self.screen: dict[str, Any] = {"should_stop": lambda: self.stopping, "show": on_progress}
        self.screen["tell"] = self.told.append


def curve_steps(folder: Path) -> list[int]:
    """The column `steps` of a run's learning curve."""
    with (folder / CURVE).open(encoding="utf-8") as file:
        return [int(row["steps"]) for row in csv.DictReader(file)]


def assert_continuous(folder: Path, steps: int, rollout: int = 16 * 32) -> None:
    """The run came to this many steps. It has a row for each of its rollouts, without a gap or a repetition."""
    curve = [0, *curve_steps(folder)]
    assert curve[-1] >= steps
    gains = [after - before for before, after in pairwise(curve)]
    assert all(0 < gain <= rollout for gain in gains), gains
    assert {path.name for path in folder.iterdir()} == FILES
