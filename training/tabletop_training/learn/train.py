"""`train`: a run of learning by settings, with a folder that holds its policies, logs and state."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from tabletop_agents import check_trusted, checkpoint_path
from tabletop_agents.checkpoint import read_checkpoint, versions
from tabletop_agents.networks import Network
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.files import make_folder
from tabletop_engine.game import Game
from tabletop_training.files.job import Bar, Interruptions, Job, refuse_with_resume
from tabletop_training.files.tables import AGENT, PLAYED, Column, OnResult, Table, ignore, plain
from tabletop_training.learn.devices import check_device
from tabletop_training.learn.group import ALONE, Group, started_by_torchrun
from tabletop_training.learn.learner import BEST, POLICY, RESUME, Learner
from tabletop_training.learn.parallel import Progress, check_address, in_processes, on_ray
from tabletop_training.learn.plan import KINDS, RUN, Plan, new_plan, read_plan, write_plan
from tabletop_training.learn.task import Budget, run_budget
from tabletop_training.measure.evaluation import number_of_teams


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
    on_result: OnResult = ignore,
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
    if ray is not None:
        check_address(ray)
    with started_by_torchrun(device) as (group, own):
        if ray is None:
            check_device(own)
        by_torchrun = group is not ALONE
        if by_torchrun and (workers is not None or ray is not None):
            raise ConfigError("workers, ray: not with torchrun, which starts the processes")

        def prepared() -> tuple[Plan, Path, Network | None, Budget | None]:
            """What `learn_run` needs."""
            if resume is None:
                plan = new_plan(game, settings, changes, seed=seed or 0, start=start, rival=rival)
                folder = Path(output or f"runs/{plan.kind}")
                first = None if start is None else checkpoint_path(start, game)
                budget = run_budget(plan.budget, steps, minutes)
            else:
                given = {"settings": None if settings in KINDS else settings, "seed": seed, "start": start}
                given |= {"rival": rival, "output": output, **changes}
                refuse_with_resume("minutes, steps, device or workers", **given)
                folder = Path(resume)
                plan = read_plan(folder, game, settings)
                names = [*plan.evaluation.against, *plan.opponents.scripted, *plan.opponents.agents]
                check_trusted(folder, [name for name in names if name != f"policy:{plan.rival}"], trust)
                first = None if plan.start is None else folder / POLICY  # its weights are replaced by the state's
                budget = run_budget(plan.budget, steps, minutes)
            before, plan = plan.budget, replace(plan, budget=budget)
            number, games = group.size if by_torchrun else workers, plan.learning.num_envs
            if number is not None and not 1 <= number <= games:
                raise ConfigError(f"workers={number}: must be from 1 to the games that they share, num_envs={games}")
            network = None if first is None else read_checkpoint(game, first, start=True)[0]
            if resume is None:
                # The same command again, by torchrun, means the same run, not another one in a folder of its own.
                continues = by_torchrun and (folder / RUN).is_file()
                if continues and replace(read_plan(folder, game), budget=budget) != plan:
                    raise ConfigError(f"{folder}: has a run with other settings; give another --output")
                folder = make_folder(folder, new=not continues)
            return plan, folder, network, None if resume is None else before

        plan, folder, network, before = group.led(prepared)
        learn = partial(learn_run, game, plan, folder, network, before, evaluate)
        if not group.leads:
            with Interruptions() as wishes:
                learn(group, own, wishes.wanted, lambda progress: None)
            return folder
        with Job(folder, resume=True) as job:
            screen, options = _Screen(job), ["--ray", ray] if ray is not None else []
            options += ["--workers", str(workers)] if workers is not None else []
            try:
                with screen:
                    hooks: dict[str, Any] = {"should_stop": job.should_stop, "show": screen.show, "tell": screen.tell}
                    if ray is not None:
                        end = on_ray(learn, folder, ray, workers, device, **hooks)
                    elif workers is not None and workers > 1:
                        end = in_processes(learn, folder, workers, device, **hooks)
                    else:
                        end = learn(group, own, job.should_stop, screen.show)
            except KeyboardInterrupt:
                _say_what_is_kept(job, game, options, screen.saved_steps)
                raise
            if end.fraction < 1:
                _say_what_is_kept(job, game, options, end.saved_steps)
            assert end.results is not None  # only progress before the end has none
            if end.results["league"]:
                job.console.print(league_table(end.results["league"]).screen())
            if end.best:
                job.console.print(end.best)
            on_result(plain({"game": game.name, "kind": plan.kind, **end.results}))
    return folder


class _Screen:
    """The progress of a run on a job's terminal. It is a context manager."""

    def __init__(self, job: Job) -> None:
        self.saved_steps: int | None = None  # as in `Progress`; None before there is any
        self._job, self._stack = job, ExitStack()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        self._status = self._stack.enter_context(self._job.console.status("preparing the games"))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def show(self, progress: Progress) -> None:
        if self._bar is None:
            self._status.stop()
            self._bar = self._stack.enter_context(self._job.bar("learning", 1.0))
        self._bar.show(progress.text, progress.fraction)
        self.saved_steps = progress.saved_steps

    def tell(self, text: str) -> None:
        self._job.console.print(text, markup=False)


# --- what every process does ---


def learn_run(
    game: Game,
    plan: Plan,
    folder: Path,
    network: Network | None,
    before: Budget | None,
    evaluate: bool,
    group: Group,
    device: str,
    should_stop: Callable[[], bool],
    show: Callable[[Progress], None],
) -> Progress:
    """Do a run, or what is left of it, as one of the group; returns the last progress, with the results.

    `network` is what it starts from, None for a new one. `before` is the earlier budget of a run that its user resumes.
    Raises ConfigError, CheckpointError.
    """
    here = {**versions(game), "state_version": game.state_version}
    if any(there != here for there in group.shared(here)):
        raise ConfigError(f"the processes have different versions of {game.name}; this one has {here['package']}")

    continues = group.led((folder / RESUME).is_file)
    learner = Learner(game, plan, folder, start=network, device=device, evaluate=evaluate, group=group)
    if continues or before is not None:
        learner.resume()
    if before is not None:
        group.led(partial(_check_unfinished, learner, before))
    if group.leads:
        write_plan(folder, game, plan, learner.threads)

    def progress(learner: Learner) -> Progress:
        return Progress(learner.text, learner.fraction, learner.saved_steps)

    show(progress(learner))
    learner.should_stop = should_stop
    learner.on_progress = lambda learner: show(progress(learner))
    learner.run()
    show(progress(learner))
    if group.leads:  # the number of threads is chosen while learning
        write_plan(folder, game, plan, learner.threads)
    return progress(learner)._replace(best=_best_text(learner), results=how_good(learner))


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
    columns = (
        replace(AGENT, heading="player", key="player"),
        Column("rating", "rating"),
        PLAYED,
        Column("learner ahead", "learner_ahead", "{:.0%}".format),
        Column("share of seats", "share", "{:.0%}".format),
    )
    lines = [
        {**row, "rating": f"{row['rating']:.1f} ± {row['high'] - row['rating']:.1f}"}
        for row in sorted(rows, key=lambda row: -row["rating"])
    ]
    return Table(columns, lines, "The league", caption)


def _check_unfinished(learner: Learner, before: Budget) -> None:
    """Raise ConfigError if a resumed run has nothing left to do. `before` is the budget that it had until now."""
    if learner.fraction < 1:
        return
    done = f"{learner.steps:,} steps"
    if learner.plan.budget != before:
        given = next(f"{name}={value}" for name, value in asdict(learner.plan.budget).items() if value is not None)
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
        result = f"{best.score:.1f} points"
    elif len(numbers) > 1:
        result = "won " + ", ".join(f"{best.numbers[f'{n}p_win_rate']:.1%} with {n} players" for n in numbers)
    else:
        result = f"won {best.numbers['win_rate']:.1%}"
    if learner.evaluator is not None and learner.evaluator.rivals:
        result += f" against {', '.join(learner.evaluator.rivals)}"
        result += f", an even share being {1 / number_of_teams(learner.configs[0]):.1%}" if len(numbers) == 1 else ""
    elif numbers == [1] and learner.configs[0].owners > 1:
        result += f", margin {best.numbers['margin']:+.1f}"
    return (
        f"Best policy ({BEST}): after {steps:,} steps, {result} "
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
