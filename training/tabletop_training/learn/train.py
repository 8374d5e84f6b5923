"""`train`: a run of learning by settings, with a folder that holds its policies, logs and state."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from tabletop_agents import check_trusted, checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint, versions
from tabletop_agents.networks import Network
from tabletop_engine.checks import checked
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.files import make_folder, read_limited, whole_file
from tabletop_engine.game import Game
from tabletop_engine.text.words import shown
from tabletop_training.files.job import Bar, Interruptions, Job, refuse_with_resume
from tabletop_training.files.provenance import agent_hashes, installed
from tabletop_training.files.settings import Settings, from_table, read_settings, section_of, shipped_settings
from tabletop_training.files.tables import OnResult, new_table, plain, unheard
from tabletop_training.learn.devices import check_device
from tabletop_training.learn.group import ALONE, Group, started_by_torchrun
from tabletop_training.learn.learner import BEST, POLICY, RESUME, Learner, Plan
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.parallel import Progress, Watcher, Work, check_address, in_processes, on_ray
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings, run_budget

RUN = "run.json"
TABLES: dict[str, type[Any]] = {
    "learning": Settings,
    "games": GamesSettings,
    "opponents": OpponentSettings,
    "evaluation": EvaluationSettings,
}
"""The tables of a settings file, beside `[budget]`."""
SOLO, SELFPLAY, GENERAL = "solo", "selfplay", "general"
KINDS = (SOLO, SELFPLAY, GENERAL)
"""Names of settings that every game has, whether or not it ships files for them."""


class Run(NamedTuple):
    """What `run.json` says of a run. `kind` is the name of its settings; `checkpoints` are pairs of `agent_hashes`."""

    kind: str
    plan: Plan
    budget: Budget
    seed: int = 0
    start: str | None = None
    rival: str | None = None
    checkpoints: tuple[tuple[str, str], ...] = ()


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
        settings: path of a settings file, or name of a shipped one, as for `settings_file`.
        minutes, steps: replace the file's budget; steps are decisions of the learner.
        seed: of the network and the games; None means 0.
        output: as in `Job`; None means `runs/` and the name of the settings.
        device: torch's.
        start: a checkpoint, or a shipped policy's name, to start from. Its layers replace the file's.
        rival: a checkpoint, or a shipped policy's name, that has all other seats of every game. The games are those
            that it was trained for. A learner trained in this way finds the rival's weaknesses.
        resume: the folder of a run to resume. It keeps its settings, except the budget, the device and the workers.
            `settings` may be one of KINDS, if the run is of that kind.
        trust: agents of your own that the settings in this folder may name.
        evaluate: False leaves out `best.zip` and the evaluations.
        workers: processes that learn together, of this machine or the cluster; None means 1, and with `ray` as many as
            `parallel.on_ray` says.
        ray: the address of a cluster to learn on, as for `parallel.on_ray`; None learns on this machine.
        on_result: called with the results of the run: steps, seconds, evaluations, the league.
        changes: values of the table `[games]`, such as `players=(2, 3)`; None keeps those of the file.

    Raises ConfigError, CheckpointError.
    """
    asked: dict[str, Any] = {"minutes": minutes, "steps": steps, "seed": seed, "output": output, "start": start}
    asked |= {"rival": rival, "resume": resume, "trust": trust, "evaluate": evaluate}
    with started_by_torchrun(device) as (group, own):
        if ray is not None:
            check_address(ray)
        else:
            check_device(own)
        if group is not ALONE:
            if workers is not None or ray is not None:
                raise ConfigError("workers, ray: not with torchrun, which starts the processes")
            asked |= {"workers": group.size, "goes_on": True}
        else:
            asked["workers"] = workers
        order = group.led(lambda: _prepared(game, settings, changes, **asked))
        if not group.leads:
            with Interruptions() as wishes:
                learn_order(order, group, own, _Asked(wishes))
            return order.folder
        if ray is not None:
            do_all: Callable[..., Any] = partial(on_ray, address=ray, workers=workers, device=device)
        elif workers is not None and workers > 1:
            do_all = partial(in_processes, workers=workers, device=device)
        else:
            do_all = partial(_here, group=group, device=own)
        options = ["--ray", ray] if ray is not None else []
        options += ["--workers", str(workers)] if workers is not None else []
        with Job(order.folder, resume=True) as job:
            with ExitStack() as stack:
                screen = _Screen(job, stack)
                try:
                    end: End = do_all(partial(learn_order, order), watcher=screen)
                except KeyboardInterrupt:
                    stack.close()
                    _say_what_is_kept(job, game, options, screen.saved_steps)
                    raise
            if end.fraction < 1:
                _say_what_is_kept(job, game, options, end.saved_steps)
            if end.results["league"]:
                job.console.print(league_table(end.results["league"]))
            if end.best:
                job.console.print(end.best)
            on_result(plain({"game": game.name, "kind": order.run.kind, **end.results}))
    return order.folder


def _here(work: Work, group: Group, device: str, watcher: Watcher) -> Any:
    return work(group, device, watcher)


class _Screen(Watcher):
    """A job's terminal."""

    def __init__(self, job: Job, stack: ExitStack) -> None:
        self.saved_steps: int | None = None
        self._job, self._stack = job, stack
        self._status = stack.enter_context(job.console.status("preparing the games"))
        self._bar: Bar | None = None

    def should_stop(self) -> bool:
        return self._job.should_stop()

    def show(self, progress: Progress) -> None:
        if self._bar is None:
            self._status.stop()
            self._bar = self._stack.enter_context(self._job.bar("learning", 1.0))
        self._bar.show(progress.text, progress.fraction)
        self.saved_steps = progress.saved_steps

    def tell(self, text: str) -> None:
        self._job.console.print(text, markup=False)


class _Asked(Watcher):
    """For a process that does not lead: it shows nothing, but may be asked to stop."""

    def __init__(self, interruptions: Interruptions) -> None:
        self._interruptions = interruptions

    def should_stop(self) -> bool:
        return self._interruptions.wanted()


# --- what every process does ---


class Order(NamedTuple):
    """A run as all processes that learn it need it.

    `network` is what it starts from. `before` is the earlier budget of a run that its user resumes.
    """

    game: Game
    folder: Path
    run: Run
    network: Network | None
    before: Budget | None
    evaluate: bool


class End(NamedTuple):
    """The results of a run: `best` in words, `results` as in `how_good`."""

    fraction: float
    saved_steps: int
    best: str
    results: dict[str, Any]


def learn_order(order: Order, group: Group, device: str, watcher: Watcher) -> End:
    """Do a run, or what is left of it, as one of the group. Raises ConfigError, CheckpointError."""
    game, run = order.game, order.run
    here = {**versions(game), "state_version": game.state_version}
    if any(there != here for there in group.shared(here)):
        raise ConfigError(f"the processes have different versions of {game.name}; this one has {here['package']}")
    goes_on = group.led(partial(_has_state, order.folder))
    notes = {"start": run.start, "rival": run.rival}
    options: dict[str, Any] = {"device": device, "start": order.network, "evaluate": order.evaluate, "notes": notes}
    learner = Learner(game, run.plan, run.budget, order.folder, run.seed, group=group, **options)
    if goes_on or order.before is not None:
        learner.resume()
    if order.before is not None:
        group.led(partial(_check_unfinished, learner, order.before))
    if group.leads:
        write_run(order.folder, game, run, learner.threads)

    def show(learner: Learner) -> None:
        watcher.show(Progress(learner.text, learner.fraction, learner.saved_steps))

    show(learner)
    learner.should_stop, learner.on_progress = watcher.should_stop, show
    learner.run()
    show(learner)
    if group.leads:  # the number of threads is chosen while learning
        write_run(order.folder, game, run, learner.threads)
    return End(learner.fraction, learner.saved_steps, _best_text(learner), how_good(learner))


def _has_state(folder: Path) -> bool:
    """Whether there is something to resume. Raises ConfigError if this machine does not see the folder."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: {platform.node()} does not see this folder; give one that all machines share")
    return (folder / RESUME).is_file()


def _prepared(
    game: Game,
    settings: str | Path | None,
    changes: dict[str, Any],
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
    goes_on: bool = False,
) -> Order:
    """The order that these arguments of `main` describe. Makes the folder.

    With `goes_on`, giving the same arguments again means the same run, not another one in a folder of its own.
    """
    if resume is None:
        run = new_run(game, settings, changes, rival)._replace(seed=seed or 0, start=start, rival=rival)
        used = [f"policy:{name}" for name in (start, rival) if name is not None]
        hashes = agent_hashes([*used, *run.plan.opponents.agents], game)
        run = run._replace(checkpoints=tuple(hashes.items()))
        first = "" if start is None else checkpoint_path(start, game)
        folder = Path(output or f"runs/{run.kind}")
    else:
        given = {"settings": None if settings in KINDS else settings, "seed": seed, "start": start, "rival": rival}
        refuse_with_resume("minutes, steps, device or workers", **given, output=output, **changes)
        folder = Path(resume)
        run = read_run(folder, game, settings)
        first = folder / POLICY  # it has the same layers, and its weights are replaced
        names = [*run.plan.evaluation.against, *run.plan.opponents.scripted, *run.plan.opponents.agents]
        check_trusted(folder, [name for name in names if name != f"policy:{run.rival}"], trust)
    before, run = run.budget, run._replace(budget=run_budget(run.budget, steps, minutes))
    games = run.plan.learning.num_envs
    if workers is not None and not 1 <= workers <= games:
        raise ConfigError(f"workers={workers}: must be from 1 to the games that they share, num_envs={games}")
    network = None if run.start is None else read_checkpoint(game, first, start=True)[0]
    if resume is None:
        goes_on = goes_on and (folder / RUN).is_file()
        if goes_on and read_run(folder, game)._replace(budget=run.budget) != run:
            raise ConfigError(f"{folder}: has a run with other settings; give another --output")
        folder = make_folder(folder, new=not goes_on)
    return Order(game, folder, run, network, None if resume is None else before, evaluate)


# --- what is learned ---


def new_run(game: Game, settings: str | Path | None, changes: dict[str, Any], rival: str | None) -> Run:
    """The run that these arguments of `main` ask for."""
    players = changes.get("players") or ()
    players = (players,) if isinstance(players, int) else tuple(players)
    kind, file = settings_file(game, settings, players, bool(changes.get("curriculum")))
    sections = read_settings(file, game, **TABLES, budget=Budget)
    budget = sections.pop("budget")
    plan = Plan(**sections) if file is not None else _plan_without_file(game, kind)
    if rival is not None:
        plan = _against_rival(plan, game, rival, players)
        changes = {**changes, "players": None}
    return Run(kind, replace(plan, games=plan.games.changed(game, changes)), budget)


def settings_file(
    game: Game, settings: str | Path | None, players: Sequence[int] = (), curriculum: bool = False
) -> tuple[str, str | Path | None]:
    """The name of a run's settings, and its file; None where the game ships none for this name.

    `selfplay` has a file for each number of players. If one is missing, that of the next smaller number is taken. With
    a curriculum, `solo` is `solo_curriculum`. Without a name it is `solo` for one player or a curriculum, `selfplay`
    for one other number of players, and otherwise `general`. The only number of players of a game need not be given. A
    note on stderr says which file is taken.

    Raises ConfigError for `selfplay` with one player.
    """
    named = settings
    if settings is None:
        numbers = list(players) or (list(game.players) if len(game.players) == 1 else [])
        settings = SOLO if curriculum or numbers == [1] else SELFPLAY if len(numbers) == 1 else GENERAL
    elif settings not in KINDS or Path(settings).is_file():
        return Path(settings).stem, settings
    kind = file = str(settings)
    shipped = shipped_settings(game)
    if kind == SOLO and curriculum:
        file = "solo_curriculum"
    elif kind == SELFPLAY:
        if 1 in players or game.players == (1,):
            raise ConfigError(
                f"players=1: self-play is for two players or more; for one it is `{game.command} train solo`"
            )
        numbers = [number for number in game.players if f"selfplay_{number}p" in shipped]
        smaller = [number for number in numbers if number <= min(players, default=0)]
        file = f"selfplay_{max(smaller, default=min(numbers, default=0))}p"
    if file not in shipped:
        return kind, None
    if file != named:
        print(f"Settings: {file}", file=sys.stderr)
    return kind, file


def _plan_without_file(game: Game, kind: str) -> Plan:
    """The plan of settings that a game has no file for."""
    if kind == SOLO:
        return Plan(games=GamesSettings((1,)))
    least = min((number for number in game.players if number > 1), default=1)
    games = GamesSettings((least,)) if kind == SELFPLAY else GamesSettings(variety=True)
    return Plan(games=games, opponents=OpponentSettings(league=0.25))


def _against_rival(plan: Plan, game: Game, rival: str, players: Sequence[int]) -> Plan:
    """The plan of games in which a trained policy has all other seats, as it was trained to play them."""
    path = checkpoint_path(rival, game)
    _, notes = read_checkpoint(game, path)
    training = notes.get("training", {})
    known = dict.fromkeys(config.players for config in configs_of(game, training, path) if config.players > 1)
    numbers = tuple(number for number in known if number in (players or known))
    if not numbers:
        raise ConfigError(f"rival={rival!r}: it was not trained for these numbers of players, or for no other seat")
    table = {**training["config"], "players": numbers, "variety": bool(training.get("general"))}
    name = f"policy:{rival}"
    return replace(
        plan,
        games=GamesSettings.of_table(game, table),
        opponents=replace(plan.opponents, league=0.0, agents={name: 1.0}),
        evaluation=replace(plan.evaluation, against=(name,)),
    )


# --- run.json ---


def write_run(folder: Path, game: Game, run: Run, threads: int | None = None) -> None:
    """Write a run's `run.json` for `read_run`. `threads` are torch's; None before they are chosen."""
    tables = {name: getattr(run.plan, name) for name in TABLES}
    told: dict[str, Any] = {"game": game.name, "package": game.version, "settings": run.kind, "seed": run.seed}
    told |= {"start": run.start, "rival": run.rival, "checkpoints": dict(run.checkpoints)}
    told |= {**installed(), "threads": threads, "budget": asdict(run.budget)}
    told |= {name: one.table() if hasattr(one, "table") else asdict(one) for name, one in tables.items()}
    with whole_file(folder / RUN) as unfinished:
        unfinished.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def read_run(folder: Path, game: Game, settings: object = None) -> Run:
    """Read a run's `run.json`.

    Raises CheckpointError if it is missing, damaged, of another game, or of another kind than `settings` says.
    """
    path = folder / RUN
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; --resume needs the folder of a run")
    try:
        told = json.loads(read_limited(path))
        kind = str(told["settings"])
        named = settings if settings and kind in KINDS else kind
        if str(told["game"]) == game.name and named == kind:
            plan = Plan(**{name: section_of(table, game, told[name]) for name, table in TABLES.items()})
            budget, seed, hashes = from_table(Budget, told["budget"]), int(told["seed"]), told.get("checkpoints", {})
            return Run(kind, plan, budget, seed, told["start"], told["rival"], tuple(hashes.items()))
    except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(f"{path}: is damaged or of another version ({error})") from None
    raise CheckpointError(f"{path}: is a run of `{told['game']} train {kind}`, not of `{game.name} train {named}`")


# --- what is said ---


def how_good(learner: Learner) -> dict[str, Any]:
    """The results of a run: steps, all evaluations, and the rows of the league, if there is one."""
    return {
        "steps": learner.steps,
        "seconds": round(learner.seconds, 1),
        "evaluations": [{"steps": steps, "score": one.score, **one.numbers} for steps, one in learner.evaluations],
        "league": learner.opponents.rows(learner.steps) if learner.opponents.has_league else [],
    }


def league_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The league by rating."""
    caption = "Rating: mu ± 1.96 sigma, random is 25.\nLearner ahead: share of its last games."
    table = new_table("The league", ["player"], ["rating", "games", "learner ahead", "share of seats"], caption)
    for row in sorted(rows, key=lambda row: -row["rating"]):
        table.add_row(
            shown(row["player"]),
            f"{row['rating']:.1f} ± {row['high'] - row['rating']:.1f}",
            f"{row['games']:,}",
            *("" if row[key] == "" else f"{row[key]:.0%}" for key in ("learner_ahead", "share")),
        )
    return table


def _check_unfinished(learner: Learner, before: Budget) -> None:
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


def _best_text(learner: Learner) -> str:
    """The best evaluation in words; empty without one."""
    if learner.logs.best is None:
        return ""
    steps, best = learner.logs.best
    numbers = list(learner.curricula)
    if all(config.owners == 1 for config in learner.configs):
        told = f"{best.score:.1f} points"
    elif len(numbers) > 1:
        told = "won " + ", ".join(f"{best.numbers[f'{n}p_win_rate']:.1%} with {n} players" for n in numbers)
    else:
        told = f"won {best.numbers['win_rate']:.1%}"
    if learner.evaluator is not None and learner.evaluator.rivals:
        told += f" against {', '.join(learner.evaluator.rivals)}"
        told += f", an even share being {1 / numbers[0]:.1%}" if len(numbers) == 1 else ""
    elif numbers == [1] and learner.configs[0].owners > 1:
        told += f", margin {best.numbers['margin']:+.1f}"
    return (
        f"Best policy ({BEST}): after {steps:,} steps, {told} "
        "(in the games that chose it; for a figure to publish play other games)"
    )


def _say_what_is_kept(job: Job, game: Game, options: Sequence[str], saved_steps: int | None) -> None:
    """Tell how to continue a stopped run, with these options. `saved_steps` are as in `Progress`."""
    again = " ".join([game.name, "train", *options, "--resume", shlex.quote(str(job.folder))])
    if not (job.folder / RESUME).is_file():
        text = "Stopped before anything was saved: nothing was kept."
    elif saved_steps == 0:
        text = f"Stopped before an update was saved: nothing was kept but the untrained network. To start: {again}"
    else:
        text = f"Stopped. What was saved last is kept. To continue: {again}"
    job.console.print(text, soft_wrap=True)
