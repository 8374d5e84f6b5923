"""`train`: a run of learning by settings, with a folder that holds its policies, logs and state."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabletop.checks import checked
from tabletop.errors import CheckpointError, ConfigError
from tabletop.files import read_limited
from tabletop.game import Game
from tabletop_agents import check_trusted, checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint
from tabletop_training.evaluation_files import OnResult, plain, unheard
from tabletop_training.job import Job, make_folder, refuse_with_resume
from tabletop_training.learn.devices import check_device
from tabletop_training.learn.learner import BEST, RESUME, Learner, Plan
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings, run_budget
from tabletop_training.settings import Settings, from_table, read_settings, section_of, shipped_settings

if TYPE_CHECKING:
    from tabletop_training.learning import BaseLearner

RUN = "run.json"
TABLES: dict[str, type[Any]] = {
    "learning": Settings,
    "games": GamesSettings,
    "opponents": OpponentSettings,
    "evaluation": EvaluationSettings,
}
"""The tables of a settings file, beside `[budget]`."""
WITHOUT_FILE = Plan(games=GamesSettings(variety=True), opponents=OpponentSettings(league=0.25))
"""What is learned without a settings file."""


@checked
def main(
    game: Game,
    settings: str | Path | None = None,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    output: str | Path | None = None,
    device: str = "cpu",
    start: str | None = None,
    rival: str | None = None,
    resume: str | Path | None = None,
    trust: Sequence[str] = (),
    evaluate: bool = True,
    on_result: OnResult = unheard,
    **changes: Any,
) -> Path:
    """Learn a game; returns the folder of the run.

    Arguments:
        settings: name or path of a settings file; None means `general`, and WITHOUT_FILE for a game without it.
        minutes, steps: replace the file's budget; steps are decisions of the learner.
        seed: of the network and the games; None means 0.
        output: as in `Job`; None means `runs/general`.
        device: torch's.
        start: a checkpoint, or a shipped policy's name, to start from. Its layers replace the file's.
        rival: a checkpoint, or a shipped policy's name, that has all other seats of every game. The games are those
            that it was trained for. A learner trained in this way finds the rival's weaknesses.
        resume: the folder of a run to resume. It keeps its settings, except the budget and the device.
        trust: agents of your own that the settings in this folder may name.
        evaluate: False leaves out `best.zip` and the evaluations.
        on_result: called with what the run has come to: steps, seconds, evaluations, the league.
        changes: values of the table `[games]`, such as `players=(2, 3)`; None keeps those of the file.

    Raises ConfigError, CheckpointError.
    """
    told: dict[str, Any]
    if resume is not None:
        given = {"config": settings, "seed": seed, "start": start, "rival": rival, "output": output, **changes}
        refuse_with_resume("minutes, steps or device", **given)
        folder = Path(resume)
        plan, before, told = read_run(folder, game)
        names = [*plan.evaluation.against, *plan.opponents.scripted, *plan.opponents.agents]
        check_trusted(folder, [name for name in names if name != f"policy:{told['rival']}"], trust)
        budget = run_budget(before, steps, minutes)
    else:
        name = settings or ("general" if "general" in shipped_settings(game) else None)
        sections = read_settings(name, game, **TABLES, budget=Budget)
        budget = run_budget(sections.pop("budget"), steps, minutes)
        plan = WITHOUT_FILE if name is None else Plan(**sections)
        plan = replace(plan, games=plan.games.changed(game, changes))
        if rival is not None:
            plan = against_rival(plan, game, rival, changes.get("players"))
        told = {"seed": seed or 0, "start": start, "rival": rival}
    check_device(device)
    network = None
    if told["start"] is not None and resume is None:
        network, _ = read_checkpoint(game, checkpoint_path(told["start"], game))
    elif told["start"] is not None:
        network, _ = read_checkpoint(game, folder / "policy.zip")  # of the same layers; its weights are replaced
    if resume is None:
        folder = make_folder(output or "runs/general", new=True)
    learner: Learner | None = None
    with Job(folder, resume=True) as job:
        try:
            with job.console.status("preparing the games"):
                notes = {"start": told["start"], "rival": told["rival"]}
                options: dict[str, Any] = {"device": device, "start": network, "evaluate": evaluate, "notes": notes}
                made = Learner(game, plan, budget, folder, told["seed"], **options)
                if resume is not None:
                    made.resume()
                    check_unfinished(made, before)
            learner = made
            write_run(folder, game, plan, budget, told)
            with job.bar("learning", 1.0) as bar:
                learner.should_stop = job.should_stop
                learner.on_progress = lambda one: bar.show(one.text, one.fraction)
                learner.run()
        except KeyboardInterrupt:
            say_what_is_kept(job, f"{game.name} train general --resume", learner)
            raise
        if learner.fraction < 1:
            say_what_is_kept(job, f"{game.name} train general --resume", learner)
        _say_how_good(job, learner)
        on_result(plain({"game": game.name, **how_good(learner)}))
    return folder


def against_rival(plan: Plan, game: Game, rival: str, players: Sequence[int] | None) -> Plan:
    """The plan of games in which a trained policy has all other seats, as it was trained to play them."""
    path = checkpoint_path(rival, game)
    _, notes = read_checkpoint(game, path)
    training = notes.get("training", {})
    known = [config for config in configs_of(game, training, path) if config.players > 1]
    numbers = tuple(
        dict.fromkeys(config.players for config in known if config.players in (players or (config.players,)))
    )
    if not numbers:
        raise ConfigError(f"rival={rival!r}: it was not trained for these numbers of players, or for no other seat")
    switches = {key: value for key, value in training["config"].items() if key != "players"}
    table = {**switches, "players": numbers, "variety": bool(training.get("general"))}
    name = f"policy:{rival}"
    return replace(
        plan,
        games=GamesSettings.of_table(game, table),
        opponents=replace(plan.opponents, league=0.0, agents={name: 1.0}),
        evaluation=replace(plan.evaluation, against=(name,)),
    )


def write_run(folder: Path, game: Game, plan: Plan, budget: Budget, told: dict[str, Any]) -> None:
    """Write a run's `run.json` for `read_run`."""
    tables = {name: getattr(plan, name) for name in TABLES}
    run: dict[str, Any] = {"game": game.name, "package": game.version, **told, "budget": asdict(budget)}
    run |= {name: one.table() if hasattr(one, "table") else asdict(one) for name, one in tables.items()}
    (folder / RUN).write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


def read_run(folder: Path, game: Game) -> tuple[Plan, Budget, dict[str, Any]]:
    """Read plan, budget, and `seed`, `start` and `rival` of a run's `run.json`.

    Raises CheckpointError if it is missing, damaged, or of another game.
    """
    path = folder / RUN
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; --resume needs the folder of a run")
    try:
        run = json.loads(read_limited(path))
        if str(run["game"]) == game.name:
            plan = Plan(**{name: section_of(kind, game, run[name]) for name, kind in TABLES.items()})
            told = {"seed": int(run["seed"]), "start": run["start"], "rival": run["rival"]}
            return plan, from_table(Budget, run["budget"]), told
    except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(f"{path}: is damaged or of another version ({error})") from None
    raise CheckpointError(f"{path}: is a run of `{run['game']} train`, not of {game.name}")


def check_unfinished(learner: Learner | BaseLearner, before: Budget) -> None:
    """Raise ConfigError if a resumed run has nothing left to do. `before` is the budget that it had until now."""
    if learner.fraction < 1:
        return
    done = f"{learner.steps:,} steps"
    if learner.budget != before:
        given = next(f"{name}={value}" for name, value in asdict(learner.budget).items() if value is not None)
        raise ConfigError(
            f"{given}: {learner.folder} has used that up already: {done} in {learner.seconds / 60:.1f} minutes. "
            "Give more"
        )
    if learner.is_evaluated:
        raise ConfigError(f"{learner.folder}: already finished after {done}; give more --steps or --minutes")


def how_good(learner: Learner) -> dict[str, Any]:
    """What a run has come to: steps, all evaluations, and the rows of the league, if there is one."""
    return {
        "steps": learner.steps,
        "seconds": round(learner.seconds, 1),
        "evaluations": [{"steps": steps, "score": one.score, **one.numbers} for steps, one in learner.evaluations],
        "league": learner.opponents.rows(learner.steps) if learner.opponents.has_league else [],
    }


def _say_how_good(job: Job, learner: Learner) -> None:
    if not learner.evaluations:
        return
    steps, best = max(learner.evaluations, key=lambda pair: pair[1].score)
    rates = {name: value for name, value in best.numbers.items() if name.endswith("win_rate")}
    told = ", ".join(
        f"{name.removesuffix('win_rate').rstrip('_')} {value:.1%}".strip() for name, value in rates.items()
    )
    if all(config.owners == 1 for config in learner.configs):
        told = f"{best.numbers['margin']:.1f} points"
    elif learner.judge is not None and learner.judge.rivals:
        told = f"won {told} against {', '.join(learner.judge.rivals)}"
    else:
        told = f"won {told}, margin {best.numbers['margin']:+.1f}"
    job.console.print(
        f"Best policy ({BEST}): after {steps:,} steps, {told} "
        "(in the games that chose it; for a figure to publish play other games)"
    )


def say_what_is_kept(job: Job, command: str, learner: Learner | BaseLearner | None) -> None:
    """Tell how a run that was stopped goes on: by this command and the folder."""
    again = f"{command} {shlex.quote(str(job.folder))}"
    if not (job.folder / RESUME).is_file():
        text = "Stopped before anything was saved: nothing was kept."
    elif learner is not None and not learner.saved_steps:
        text = f"Stopped before an update was saved: nothing was kept but the untrained network. To start: {again}"
    else:
        text = f"Stopped. What was saved last is kept. To continue: {again}"
    job.console.print(text, soft_wrap=True)
