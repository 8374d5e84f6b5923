"""`train`: a run of learning by settings, with a folder that holds its policies, logs and state."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tabletop.checks import checked
from tabletop.errors import CheckpointError, ConfigError
from tabletop.files import read_limited
from tabletop.game import Game
from tabletop_agents import check_trusted, checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint, versions
from tabletop_agents.networks import Network
from tabletop_training.evaluation_files import OnResult, plain, unheard
from tabletop_training.job import Bar, Interruptions, Job, make_folder, refuse_with_resume
from tabletop_training.learn.devices import check_device
from tabletop_training.learn.group import ALONE, Group, started_by_torchrun
from tabletop_training.learn.learner import BEST, POLICY, RESUME, Learner, Plan
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.parallel import Progress, Watcher, Work, check_address, in_processes, on_ray
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
    workers: int | None = None,
    ray: str | None = None,
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
        resume: the folder of a run to resume. It keeps its settings, except the budget, the device and the workers.
        trust: agents of your own that the settings in this folder may name.
        evaluate: False leaves out `best.zip` and the evaluations.
        workers: processes that learn together, of this machine or the cluster; None means 1, and with `ray` as many as
            `parallel.on_ray` says.
        ray: the address of a cluster to learn on, as for `parallel.on_ray`; None learns on this machine.
        on_result: called with what the run has come to: steps, seconds, evaluations, the league.
        changes: values of the table `[games]`, such as `players=(2, 3)`; None keeps those of the file.

    Raises ConfigError, CheckpointError.
    """
    options = {"minutes": minutes, "steps": steps, "seed": seed, "output": output, "start": start, "rival": rival}
    options |= {"resume": resume, "trust": trust, "evaluate": evaluate}
    with started_by_torchrun(device) as (group, own):
        by_torchrun = group is not ALONE
        if by_torchrun and (workers is not None or ray is not None):
            raise ConfigError("workers, ray: not with torchrun, which starts the processes")
        if ray is not None:
            check_address(ray)
        else:
            check_device(own)
        ranks = group.size if by_torchrun else workers
        run = group.led(lambda: new_run(game, settings, workers=ranks, goes_on=by_torchrun, **options, **changes))
        if not group.leads:
            with Interruptions() as asked:
                learn(run, group, own, _Asked(asked))
            return run.folder
        if ray is not None:
            start_all: Callable[..., Any] = partial(on_ray, address=ray, workers=workers, device=device)
        elif workers is not None and workers > 1:
            start_all = partial(in_processes, workers=workers, device=device)
        else:
            start_all = partial(_alone, group=group, device=own)
        again = [game.name, "train", "general", *(["--ray", ray] if ray is not None else [])]
        again += ["--workers", str(workers)] if workers is not None else []
        with Job(run.folder, resume=True) as job:
            with ExitStack() as stack:
                screen = _Screen(job, stack)
                try:
                    end: End = start_all(partial(learn, run), watcher=screen)
                except KeyboardInterrupt:
                    stack.close()
                    say_what_is_kept(job, " ".join([*again, "--resume"]), screen.saved_steps)
                    raise
            if end.fraction < 1:
                say_what_is_kept(job, " ".join([*again, "--resume"]), end.saved_steps)
            if end.best:
                job.console.print(end.best)
            on_result(plain({"game": game.name, **end.results}))
    return run.folder


class Run(NamedTuple):
    """A run as all processes that learn it need it.

    `told` has `seed`, `start` and `rival`, as `main` takes them; `start` is the network to start from. `before` is the
    budget until now of a run that is to be resumed.
    """

    game: Game
    folder: Path
    plan: Plan
    budget: Budget
    told: dict[str, Any]
    start: Network | None
    before: Budget | None
    evaluate: bool


def new_run(
    game: Game,
    settings: str | Path | None,
    *,
    minutes: float | None,
    steps: int | None,
    seed: int | None,
    output: str | Path | None,
    start: str | None,
    rival: str | None,
    resume: str | Path | None,
    trust: Sequence[str],
    evaluate: bool,
    workers: int | None,
    goes_on: bool,
    **changes: Any,
) -> Run:
    """The run that these arguments of `main` mean. It makes the folder.

    With `goes_on` the same arguments once more mean the same run, not another one in a folder of its own.
    """
    told: dict[str, Any]
    before: Budget | None = None
    network: Network | None = None
    if resume is not None:
        given = {"config": settings, "seed": seed, "start": start, "rival": rival, "output": output, **changes}
        refuse_with_resume("minutes, steps, device or workers", **given)
        folder = Path(resume)
        plan, before, told = read_run(folder, game)
        names = [*plan.evaluation.against, *plan.opponents.scripted, *plan.opponents.agents]
        check_trusted(folder, [name for name in names if name != f"policy:{told['rival']}"], trust)
        budget = run_budget(before, steps, minutes)
        check_workers(workers, plan.learning.num_envs)
        if told["start"] is not None:
            network, _ = read_checkpoint(game, folder / POLICY)  # of the same layers; its weights are replaced
        return Run(game, folder, plan, budget, told, network, before, evaluate)
    name = settings or ("general" if "general" in shipped_settings(game) else None)
    sections = read_settings(name, game, **TABLES, budget=Budget)
    budget = run_budget(sections.pop("budget"), steps, minutes)
    plan = WITHOUT_FILE if name is None else Plan(**sections)
    plan = replace(plan, games=plan.games.changed(game, changes))
    if rival is not None:
        plan = against_rival(plan, game, rival, changes.get("players"))
    told = {"seed": seed or 0, "start": start, "rival": rival}
    check_workers(workers, plan.learning.num_envs)
    if start is not None:
        network, _ = read_checkpoint(game, checkpoint_path(start, game))
    folder = Path(output or "runs/general")
    goes_on = goes_on and (folder / RUN).is_file()
    if goes_on and read_run(folder, game)[::2] != (plan, told):
        raise ConfigError(f"{folder}: has a run with other settings; give another --output")
    return Run(game, make_folder(folder, new=not goes_on), plan, budget, told, network, None, evaluate)


class End(NamedTuple):
    """What a run has come to; `best` says it in words, `results` as `how_good` does."""

    fraction: float
    saved_steps: int
    best: str
    results: dict[str, Any]


def learn(run: Run, group: Group, device: str, watcher: Watcher) -> End:
    """Do a run, or what is left of it, as one of the group. Raises ConfigError, CheckpointError."""
    here = {**versions(run.game), "state_version": run.game.state_version}
    if any(there != here for there in group.shared(here)):
        raise ConfigError(f"the processes have different versions of {run.game.name}: {group.shared(here)}")
    notes = {"start": run.told["start"], "rival": run.told["rival"]}
    options: dict[str, Any] = {"device": device, "start": run.start, "evaluate": run.evaluate, "notes": notes}
    learner = Learner(run.game, run.plan, run.budget, run.folder, run.told["seed"], group=group, **options)
    if group.led(partial(has_state, run.folder)) or run.before is not None:
        learner.resume()
    if run.before is not None:
        group.led(partial(check_unfinished, learner, run.before))
    if group.leads:
        write_run(run.folder, run.game, run.plan, run.budget, run.told)

    def show(learner: Learner) -> None:
        watcher.show(Progress(learner.text, learner.fraction, learner.saved_steps))

    show(learner)
    learner.should_stop, learner.on_progress = watcher.should_stop, show
    learner.run()
    show(learner)
    return End(learner.fraction, learner.saved_steps, _best_text(learner), how_good(learner))


def has_state(folder: Path) -> bool:
    """Whether there is something to resume. Raises ConfigError if this machine does not see the folder."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: {platform.node()} does not see this folder; give one that all machines share")
    return (folder / RESUME).is_file()


def _alone(work: Work, group: Group, device: str, watcher: Watcher) -> Any:
    return work(group, device, watcher)


class _Screen(Watcher):
    """A job's terminal."""

    def __init__(self, job: Job, stack: ExitStack) -> None:
        self.saved_steps: int | None = None
        self.should_stop = job.should_stop
        self._job, self._stack = job, stack
        self._status = stack.enter_context(job.console.status("preparing the games"))
        self._bar: Bar | None = None

    def show(self, progress: Progress) -> None:
        if self._bar is None:
            self._status.stop()
            self._bar = self._stack.enter_context(self._job.bar("learning", 1.0))
        self._bar.show(progress.text, progress.fraction)
        self.saved_steps = progress.saved_steps

    def tell(self, text: str) -> None:
        self._job.console.print(text)


class _Asked(Watcher):
    """For a process that does not lead: it shows nothing, but may be asked to stop."""

    def __init__(self, interruptions: Interruptions) -> None:
        self.should_stop = interruptions.wanted


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


def check_workers(workers: int | None, games: int) -> None:
    """Raise ConfigError if each worker cannot have at least one of the games."""
    if workers is not None and not 1 <= workers <= games:
        raise ConfigError(f"workers={workers}: must be from 1 to the games that they share, num_envs={games}")


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


def _best_text(learner: Learner) -> str:
    """How good the best policy is, in words; empty without an evaluation."""
    if not learner.evaluations:
        return ""
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
    return (
        f"Best policy ({BEST}): after {steps:,} steps, {told} "
        "(in the games that chose it; for a figure to publish play other games)"
    )


def say_what_is_kept(job: Job, command: str, saved_steps: int | None) -> None:
    """Tell how a run that was stopped goes on: by this command and the folder. `saved_steps` are as in `Progress`."""
    again = f"{command} {shlex.quote(str(job.folder))}"
    if not (job.folder / RESUME).is_file():
        text = "Stopped before anything was saved: nothing was kept."
    elif saved_steps == 0:
        text = f"Stopped before an update was saved: nothing was kept but the untrained network. To start: {again}"
    else:
        text = f"Stopped. What was saved last is kept. To continue: {again}"
    job.console.print(text, soft_wrap=True)
