"""`python -m benchmarks.baselines`: what learners get in tasks of Petrichor's suite, with several training seeds.

The learners:

- `shortfalls`: the project's, with the settings `quick`. It looks one turn ahead (docs/agents.md);
- `numbers`: the same, and it reads the printed numbers;
- `nothing`: the same as `shortfalls` without looking ahead, so it learns from nothing;
- `MaskablePPO`: sb3-contrib's, with the settings of `tabletop_training.sb3_maskable_ppo`;
- `jax`: the program docs/jax/ppo.py, for the base game.

`--runs` says what is learned. All is kept in `--output`: after a stop the same command goes on there. `--scores` is a
file for `petrichor runs` (docs/suite.md): the scores of these learners replace those that it has, others stay.
`docs/suite.md` shows the table of `docs/baselines.csv`.
"""

from __future__ import annotations

import math
import os
import runpy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from stable_baselines3.common.callbacks import BaseCallback

from benchmarks.measure import options
from petrichor_env import GAME
from tabletop_agents.checkpoint import save_checkpoint
from tabletop_training.files.settings import CONFIGS
from tabletop_training.files.tables import format_estimate, markdown_table
from tabletop_training.learn.learner import POLICY
from tabletop_training.measure.results import NO_ESTIMATE
from tabletop_training.petrichor.tasks import TASKS
from tabletop_training.sb3_maskable_ppo import model_for
from tabletop_training.suite import play, runs, seeds
from tabletop_training.suite.tasks import LEARNED, NEW, Task, by_name

RUNS = (
    "budget-v1:shortfalls budget-v1:nothing budget-v1:MaskablePPO solo-v1:shortfalls solo-v1:jax hardest-v1:shortfalls "
    "editions-10-v1:shortfalls editions-10-v1:numbers editions-all-v1:shortfalls editions-all-v1:numbers "
    "variants-v1:shortfalls"
)
CHANGES = {"shortfalls": "", "numbers": "numbers = true", "nothing": "shortfall_weight = 0.0"}
"""The project's learner: lines of the table `[learning]` that differ from `quick`."""
JAX_PROGRAM = Path("docs/jax/ppo.py")


def learn_with_project(task: Task, learner: str, folder: Path, number: int) -> Path:
    """Learn a task and play it; returns the file with the scores."""
    if folder.exists():
        seeds.main(GAME, tasks=by_name(TASKS), resume=folder)
    else:
        settings = folder.with_suffix(".toml")
        settings.parent.mkdir(parents=True, exist_ok=True)
        text = (CONFIGS / GAME.name / "quick.toml").read_text(encoding="utf-8")
        changed = CHANGES[learner].partition(" =")[0]
        kept = [line for line in text.splitlines() if not changed or not line.startswith(changed)]
        kept.insert(kept.index("[learning]") + 1, CHANGES[learner])
        settings.write_text("\n".join(kept) + "\n", encoding="utf-8")
        seeds.main(GAME, str(settings), seeds=number, task=task.name, tasks=by_name(TASKS), output=folder)
    return folder / runs.SCORES


class StopAfter(BaseCallback):
    """Ends learning after so many minutes."""

    def __init__(self, minutes: float) -> None:
        super().__init__()
        self.end = time.monotonic() + 60 * minutes

    def _on_step(self) -> bool:
        return time.monotonic() < self.end


def maskable_ppo(task: Task, seed: int, file: Path) -> None:
    """Learn with MaskablePPO, and save the policy."""
    (config,) = task.learn
    torch.set_num_threads(2 if task.minutes else 1)
    model = model_for(config, (task.rival,) if task.rival else (), seed)
    model.learn(task.steps or 10**9, callback=StopAfter(task.minutes) if task.minutes else None)
    save_checkpoint(GAME, model, file, about(task, seed, model.num_timesteps))


def jax_ppo(task: Task, seed: int, file: Path) -> None:
    """Learn with the program of docs/jax, which saves the policy."""
    os.environ |= {"STEPS": str(task.steps), "SEED": str(seed), "FILE": str(file)}
    runpy.run_path(str(JAX_PROGRAM), run_name="__main__")


def about(task: Task, seed: int, steps: int) -> dict[str, Any]:
    """What a checkpoint says of its training."""
    (config,) = task.learn
    return {"players": config.players, "config": asdict(config), "steps": steps, "seed": seed}


OTHERS: Mapping[str, Callable[[Task, int, Path], None]] = {"MaskablePPO": maskable_ppo, "jax": jax_ppo}


def learn_with_others(task: Task, learner: str, folder: Path, number: int) -> Path:
    """Learn a task with another learner and play it; returns the file with the scores."""
    files = [folder / f"seed-{seed}" / POLICY for seed in range(number)]
    for seed, file in enumerate(files):
        if not file.exists():
            OTHERS[learner](task, seed, file)
    played = folder / "played"
    if not (played / runs.SCORES).exists():
        agents = [f"policy:{file}" for file in files]
        play.main(by_name(TASKS), task.name, agents, learner=learner, output=played, resumed=played.exists())
    return played / runs.SCORES


def measured(given: Any) -> list[runs.Row]:
    """The scores of all runs."""
    rows: list[runs.Row] = []
    for run in given.runs.split():
        name, _, learner = run.partition(":")
        learn = learn_with_others if learner in OTHERS else learn_with_project
        folder = Path(given.output) / name / learner
        scores = learn(by_name(TASKS)[name], learner, folder, given.seeds)
        rows += [row for row in runs.read_scores(scores) if row.part in (NEW, LEARNED)]
    return rows


def add(path: Path, rows: Sequence[runs.Row]) -> None:
    """Write scores into a file, in the place of those of the same tasks and learners."""
    new = {(row.task, row.learner) for row in rows}
    before = runs.read_scores(path) if path.exists() else []
    runs.write_scores(path, sorted([row for row in before if (row.task, row.learner) not in new] + [*rows]))


def table(scores: Sequence[runs.Row], wanted: str = RUNS) -> str:
    """The scores of these tasks and learners as a table, with those that were not run."""
    found = {(row["task"], row["learner"]): row for row in runs.by_task(runs.final_rows(scores), NEW)}

    heads = ("task", "learner", "runs", "won", "lowest and highest run", "learned games", "gap")
    cells = []
    for name, _, learner in (one.partition(":") for one in wanted.split()):
        row = found.get((f"{GAME.name}/{name}", learner))
        numbers = ("not run", "", "", "", "")
        if row is not None:
            ends = f"{100 * row['lowest']:.1f}, {100 * row['highest']:.1f}"
            estimates = (row["score"], row.get("learned", NO_ESTIMATE), row.get("gap", NO_ESTIMATE))
            won, learned, gap = ("" if math.isnan(one.value) else format_estimate(one, "%") for one in estimates)
            numbers = (str(row["runs"]), won, ends, learned, gap)
        cells.append((f"`{name}`", f"`{learner}`", *numbers))
    return markdown_table(heads, cells)


if __name__ == "__main__":
    asked = options(
        __doc__,
        file="scores",
        runs=(RUNS, "tasks and learners, such as solo-v1:jax"),
        seeds=(5, "training seeds"),
        output=("runs/baselines", "folder of the runs"),
    )
    found = measured(asked)
    print(table(found, asked.runs))
    if asked.scores:
        add(asked.scores, found)
