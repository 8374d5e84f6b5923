"""A run of learning in a folder: what makes it again is in `run.json`, what it goes on from in `resume.zip`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabletop.errors import CheckpointError, ConfigError
from tabletop.files import read_limited
from tabletop.game import Game
from tabletop_training.job import Job
from tabletop_training.learning import RESUME, Budget, Learner
from tabletop_training.settings import from_table, section_of

RUN = "run.json"


def write_run(folder: Path, game: Game, kind: str, seed: int, budget: Budget, **sections: Any) -> None:
    """Write what `read_run` needs; `sections` are dataclasses."""
    run = {
        "kind": kind,
        "game": game.name,
        "package": game.version,
        "seed": seed,
        "budget": asdict(budget),
        **{name: one.table() if hasattr(one, "table") else asdict(one) for name, one in sections.items()},
    }
    (folder / RUN).write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


def read_run(folder: Path, game: Game, kind: str, **sections: type[Any]) -> tuple[int, Budget, dict[str, Any]]:
    """Seed, budget and sections of a run's `run.json`.

    Raises CheckpointError where it is missing, damaged, of another kind of run or of another game.
    """
    path = folder / RUN
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; --resume wants the folder that a run left")
    try:
        run = json.loads(read_limited(path))
        command = str(run.get("game", game.name)), str(run["kind"])
        if command == (game.name, kind):
            made = {name: section_of(section, game, run[name]) for name, section in sections.items()}
            return int(run["seed"]), from_table(Budget, run["budget"]), made
    except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(f"{path}: is damaged or of another version ({error})") from None
    other, other_kind = command
    raise CheckpointError(f"{path}: is a run of `{other} train {other_kind}`, not of {kind}")


def run_budget(budget: Budget, steps: int | None, minutes: float | None) -> Budget:
    """The budget, or that of the steps or minutes given. Raises ConfigError for both of them, and for 0."""
    if steps is not None or minutes is not None:
        budget = Budget(steps, minutes)
    for name, value in asdict(budget).items():
        if value == 0:
            raise ConfigError(f"{name}={value}: more than 0")
    return budget


def run_in_folder(
    job: Job, command: str, make: Callable[[], Learner], write: Callable[[], None], before: Budget | None
) -> Learner:
    """Make a learner, write `run.json`, and learn.

    With `before`, the budget until now, go on with what the job's folder has. `command` is that of runs of this kind.
    Ctrl-C ends it after its update, a second one at once, with KeyboardInterrupt. Either way it is said what is kept.
    Raises ConfigError for a run to resume whose budget is used up.
    """
    learner: Learner | None = None
    try:
        with job.console.status("preparing the games"):
            made = make()
            if before is not None:
                made.resume()
                _check_unfinished(made, before)
        learner = made
        write()
        with job.bar("learning", 1.0) as bar:
            learner.should_stop = job.should_stop
            learner.on_progress = lambda learner: bar.show(learner.text, learner.fraction)
            learner.run()
    except KeyboardInterrupt:
        _say_what_is_kept(job, command, learner)
        raise
    if learner.fraction < 1:
        _say_what_is_kept(job, command, learner)
    return learner


def _check_unfinished(learner: Learner, before: Budget) -> None:
    """Raises ConfigError where a resumed run has nothing left to do. `before`: the budget that it had until now."""
    if learner.fraction < 1:
        return
    if learner.budget != before:
        given = next(f"{name}={value}" for name, value in asdict(learner.budget).items() if value is not None)
        raise ConfigError(
            f"{given}: {learner.folder} has used that up already, by {learner.steps:,} steps in "
            f"{learner.seconds / 60:.1f} minutes; give more"
        )
    if learner.is_evaluated:
        raise ConfigError(
            f"{learner.folder}: already finished after {learner.steps:,} steps; to go on give more --steps or --minutes"
        )


def _say_what_is_kept(job: Job, command: str, learner: Learner | None) -> None:
    again = f"{command} --resume {job.folder}"
    if not (job.folder / RESUME).is_file():
        text = "Stopped before anything was saved: nothing was kept."
    elif learner is not None and not learner.saved_steps:
        text = f"Stopped before an update was saved: nothing was kept but the untrained network. To start: {again}"
    else:
        text = f"Stopped. What was saved last is kept; to go on: {again}"
    job.console.print(text, soft_wrap=True)
