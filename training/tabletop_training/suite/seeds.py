"""`train --seeds`: the same training with several seeds, and what its runs say together."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.files import make_folder
from tabletop_engine.game import Game, changed_fields
from tabletop_engine.text.screen import Screen
from tabletop_training.files.job import Job, refuse_with_resume
from tabletop_training.files.tables import OnResult, ignore
from tabletop_training.learn import train
from tabletop_training.learn.learner import POLICY, RESUME
from tabletop_training.learn.logs import CURVE
from tabletop_training.learn.plan import read_plan
from tabletop_training.study.settings import keep_settings, kept_settings
from tabletop_training.suite import play
from tabletop_training.suite.runs import SCORES, numbers_of, read_scores, rows_of_run, tell
from tabletop_training.suite.tasks import Task, task_of

MOST_SEEDS = 100
_OF_A_MACHINE = ("device", "workers", "ray", "trust")
"""The arguments that a task leaves open, beside the settings, and that may change when a run goes on."""


@checked
def main(
    game: Game,
    settings: str | None = None,
    *,
    seeds: int | None = None,
    seed: int | None = None,
    task: str | None = None,
    tasks: Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    on_result: OnResult = ignore,
    **arguments: Any,
) -> Path:
    """Learn with `seeds` seeds from `seed` on, in the folders `seed-0`, `seed-1` … of `output`; returns it.

    With a task of the suite its games and its budget are learned, and then the policies at the end of the runs play it.
    A stopped command goes on with `resume`, the folder of all runs: finished runs stay as they are.

    Arguments:
        task: the name of a task of `tasks`.
        arguments: further ones of `train.main`, the same for all runs.
    """
    names = ("settings", "seeds", "seed", "task", "arguments")
    if resume is not None:
        refuse_with_resume("the device", settings=settings, seeds=seeds, seed=seed, task=task, output=output)
        folder = Path(resume)
        kept: dict[str, Any] = kept_settings(folder, "train", game, dict)
        settings, seeds, seed, task = (kept[name] for name in names[:-1])
        arguments = {**kept["arguments"], **{name: value for name, value in arguments.items() if value is not None}}
    number = whole("seeds", seeds or 1, 1, MOST_SEEDS)
    first = whole("seed", seed or 0, 0)
    chosen = None if task is None else task_of(tasks or {}, task)
    if chosen is not None:
        given = [name for name, value in arguments.items() if value and name not in _OF_A_MACHINE]
        if given:
            raise ConfigError(f"{', '.join(given)}: not with a task, which says what is learned, and how long")
    if resume is None:
        folder = make_folder(output or f"runs/{task or settings or 'train'}", new=True)
        asked = (settings, seeds, first, task, {key: value for key, value in arguments.items() if value is not None})
        keep_settings(folder, "train", game, dict(zip(names, asked, strict=True)))
    own = [folder / f"seed-{one}" for one in range(first, first + number)]
    for one, run in enumerate(own, first):
        if not _is_finished(run, game):
            _learn(game, settings, run, one, chosen, arguments)
        if not _is_finished(run, game):
            again = f"{game.command} train --resume {shlex.quote(str(folder))}"
            Screen().print(f"To continue with all {number} seeds: {again}", soft_wrap=True, markup=False)
            raise KeyboardInterrupt
    rows = [row for run in own for row in rows_of_run(run, game, folder.name, "" if chosen is None else chosen.id)]
    if chosen is not None:
        agents = [f"policy:{run / POLICY}" for run in own]
        played = play.main(tasks or {}, task, agents, learner=folder.name, output=folder / "played")
        rows += read_scores(Path(str(played)) / SCORES)
    with Job(folder, resume=True) as job:
        on_result(tell(job, rows, game))
    return folder


def _is_finished(run: Path, game: Game) -> bool:
    """Whether a run has used up its budget."""
    if not (run / RESUME).is_file():
        return False
    points = numbers_of(run / CURVE)
    used = read_plan(run, game).budget.fraction(int(points[-1]["steps"]), points[-1]["seconds"]) if points else 0.0
    return used > 0.999  # the last moments of a budget of minutes are after the last point


def _learn(
    game: Game, settings: str | None, run: Path, seed: int, task: Task | None, arguments: Mapping[str, Any]
) -> None:
    if (run / RESUME).is_file():
        again = {name: arguments[name] for name in _OF_A_MACHINE if arguments.get(name)}
        train.main(game, resume=run, evaluate=task is None, **again)
        return
    shutil.rmtree(run, ignore_errors=True)  # nothing was learned there
    own: dict[str, Any] = {}
    if task is not None:
        own = {**games_of(task), "steps": task.steps, "minutes": task.minutes, "evaluate": False}
    train.main(game, settings, seed=seed, output=run, **{**arguments, **own})


def games_of(task: Task) -> dict[str, Any]:
    """The table `[games]` of a task."""
    each = [changed_fields(config) for config in task.learn]
    alike = all(one == each[0] for one in each)
    table = {"players": tuple(sorted({config.players for config in task.learn})), "variety": False, "curriculum": False}
    table |= {"editions": task.editions or None, **(each[0] if alike else {"each": tuple(each)})}
    return table
