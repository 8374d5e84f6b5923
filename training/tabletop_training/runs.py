"""Runs of learning. Each has a folder with `run.json`, which describes it, and `resume.zip`, from which it resumes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabletop.batch import choice
from tabletop.checks import checked
from tabletop.errors import CheckpointError, ConfigError
from tabletop.files import read_limited
from tabletop.game import Game
from tabletop_agents import check_trusted
from tabletop_training.evaluation_files import OnResult, plain, unheard
from tabletop_training.job import Job, make_folder, refuse_with_resume
from tabletop_training.league import LeagueSettings
from tabletop_training.learn.task import run_budget
from tabletop_training.learn.train import check_unfinished, say_what_is_kept
from tabletop_training.learning import BaseLearner, Budget
from tabletop_training.selfplay import SelfPlaySettings, SoloSettings, how_good, new_learner, say_how_good
from tabletop_training.settings import Settings, from_table, read_settings, section_of, shipped_settings

RUN = "run.json"

KINDS: dict[str, dict[str, type[Any]]] = {
    "solo": {"learning": Settings, "solo": SoloSettings},
    "selfplay": {"learning": Settings, "selfplay": SelfPlaySettings, "league": LeagueSettings},
}
"""The kinds of training, and the tables of their settings files."""


def write_run(folder: Path, game: Game, kind: str, seed: int, budget: Budget, **sections: Any) -> None:
    """Write a run's `run.json` for `read_run`; `sections` are dataclasses."""
    run = {"kind": kind, "game": game.name, "package": game.version, "seed": seed, "budget": asdict(budget)}
    run |= {name: one.table() if hasattr(one, "table") else asdict(one) for name, one in sections.items()}
    (folder / RUN).write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


def read_run(folder: Path, game: Game, kind: str) -> tuple[int, Budget, dict[str, Any]]:
    """Read the seed, budget and sections of a run's `run.json`.

    Raises CheckpointError if it is missing, damaged, or of another kind of run or another game.
    """
    path = folder / RUN
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; --resume needs the folder of a run")
    try:
        run = json.loads(read_limited(path))
        command = str(run.get("game", game.name)), str(run["kind"])
        if command == (game.name, kind):
            made = {name: section_of(section, game, run[name]) for name, section in KINDS[kind].items()}
            return int(run["seed"]), from_table(Budget, run["budget"]), made
    except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(f"{path}: is damaged or of another version ({error})") from None
    raise CheckpointError(f"{path}: is a run of `{' train '.join(command)}`, not of {kind}")


@checked
def main(
    game: Game,
    kind: str,
    settings: str | Path | None = None,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    trust: Sequence[str] = (),
    on_result: OnResult = unheard,
    **changes: Any,
) -> Path:
    """Learn a game, "solo" or "selfplay"; returns the folder of the run.

    Arguments:
        settings: name or path of a settings file; None means the shipped one for this kind, if there is one.
        minutes, steps: replace the file's budget.
        seed: of network, games and league; None means 0.
        output: as in `Job`; None means `runs/` and the kind.
        resume: the folder of a run to resume. It keeps its settings, except the budget.
        trust: agents of your own that the settings in this folder may name.
        on_result: called with the result of `how_good`.
        changes: values of the task's table, such as `players=3` or `curriculum=True`; None keeps those of the file.
    """
    before: Budget | None = None
    sections: dict[str, Any]
    choice("kind", kind, KINDS)
    if resume is not None:
        refuse_with_resume("minutes or steps", config=settings, **changes, seed=seed, output=output)
        folder = Path(resume)
        seed, before, sections = read_run(folder, game, kind)
        names = [*sections[kind].against, *(sections["league"].scripted if "league" in sections else ())]
        check_trusted(folder, names, trust)
        budget = run_budget(before, steps, minutes)
    else:
        given = {name: value for name, value in changes.items() if value is not None}
        name = settings or _shipped_name(game, kind, given)
        sections = read_settings(name, game, **KINDS[kind], budget=Budget)
        budget = run_budget(sections.pop("budget"), steps, minutes)
        sections[kind] = sections[kind].changed(given)
        seed = seed or 0
        folder = make_folder(output or f"runs/{kind}", new=True)
    command = f"{game.name} train {kind} --resume"
    learner: BaseLearner | None = None
    with Job(folder, resume=True) as job:
        try:
            with job.console.status("preparing the games"):
                made = new_learner(budget, folder, seed, *sections.values())
                if before is not None:
                    made.resume()
                    check_unfinished(made, before)
            learner = made
            write_run(folder, game, kind, seed, budget, **sections)
            with job.bar("learning", 1.0) as bar:
                learner.should_stop = job.should_stop
                learner.on_progress = lambda learner: bar.show(learner.text, learner.fraction)
                learner.run()
        except KeyboardInterrupt:
            say_what_is_kept(job, command, None if learner is None else learner.saved_steps)
            raise
        if learner.fraction < 1:
            say_what_is_kept(job, command, None if learner is None else learner.saved_steps)
        say_how_good(job.console, learner, sections[kind])
        on_result(plain({"game": game.name, "kind": kind, **how_good(learner)}))
    return folder


def _shipped_name(game: Game, kind: str, given: dict[str, Any]) -> str | None:
    """The shipped settings for this game, or for the next smaller number of players; None if there are none."""
    shipped = [name for name in shipped_settings(game) if name.startswith(kind)]
    if not shipped:
        return None
    if kind == "solo":
        return "solo_curriculum" if given.get("curriculum") else "solo"
    numbers = sorted(int(name.removeprefix("selfplay_").removesuffix("p")) for name in shipped)
    players = given.get("players", numbers[0])
    return f"selfplay_{max([number for number in numbers if number <= players], default=numbers[0])}p"
