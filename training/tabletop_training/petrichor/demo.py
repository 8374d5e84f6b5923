"""`make demo`: learn the solo game with all its variants in some minutes, then measure each set of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.config import Config
from petrichor_env.game import GAME
from tabletop_agents import Agent, Decisions, GreedyAgent
from tabletop_engine.checks import checked
from tabletop_engine.play.batch import Batch
from tabletop_training.files.job import Job, Stopped
from tabletop_training.files.plots import plot_learning_curve
from tabletop_training.files.tables import OnResult, ignore, plain
from tabletop_training.learn.learner import Learner
from tabletop_training.learn.plan import QUICK, new_plan
from tabletop_training.learn.task import Budget
from tabletop_training.measure.evaluation import EVALUATION_SEED
from tabletop_training.measure.results import Results
from tabletop_training.petrichor.difficulty import difficulty_tables
from tabletop_training.petrichor.report_plots import plot_difficulty
from tabletop_training.petrichor.study import by_set, summaries_of
from tabletop_training.petrichor.summaries import ALL_VARIANTS, Summary, rows_of, set_name, write_summaries
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import play_cells


@checked
def main(
    minutes: float = 3.0,
    output: str | Path = "runs/demo",
    games: int = 400,
    seed: int = 0,
    settings: str | Path = QUICK,
    on_result: OnResult = ignore,
) -> Path:
    """Train, evaluate and print a table; returns the folder with all files.

    Ctrl-C during learning starts the evaluation. Ctrl-C during the evaluation prints the table of finished games. Two
    at once end the program; files written so far stay. `games` is the number for each agent and each set of variants,
    from `seed + EVALUATION_SEED` on. `seed` and `settings`, a file or a shipped name, are those of the training.
    `on_result` gets the rows of `difficulty.csv`.
    """
    with Job(output) as job:
        try:
            _run(job, minutes, games, seed, settings, on_result)
        except KeyboardInterrupt:
            job.console.print("Stopped.")
    return job.folder


def _run(job: Job, minutes: float, games: int, seed: int, settings: str | Path, on_result: OnResult) -> None:
    with job.console.status("compiling the greedy agent, about half a minute"):
        GreedyAgent().act(Decisions.of(Batch(Config(), 1, 0)), np.random.default_rng(0))
    plan = replace(new_plan(GAME, settings, {}, seed=seed), budget=Budget(minutes=minutes))
    options: dict[str, Any] = {"resumable": False, "tensorboard": False, "evaluate": False}
    learner = Learner(GAME, plan, job.folder, **options)
    with job.bar("learning", 1.0) as bar:
        learner.should_stop = job.should_stop
        learner.on_progress = lambda now: bar.show(now.text, now.fraction)
        learner.run()
        bar.show(learner.text, learner.fraction)
    if job.should_stop():
        job.console.print("Learning stopped early; Ctrl-C again stops the evaluation, too.")
        job.interruptions.clear()
    plot_learning_curve(
        job.folder / "learning_curve.png",
        learner.curve,
        title="Learning to beat the Southern Winds, all sets of variants together",
        margin="Margin: points ahead of the neutral player",
    )
    agents: list[Agent] = [GreedyAgent(), learner.agent("trained")]
    summaries = _evaluate(job, agents, games, seed + EVALUATION_SEED)
    if not summaries:
        return
    plot_difficulty(job.folder / "difficulty.png", summaries)
    for _, table in difficulty_tables(summaries, job.console.width, "One network learned all sets."):
        job.console.print(table)
    on_result(plain({"game": GAME.name, "seed": seed, "sets": rows_of(summaries)}))


def _evaluate(job: Job, agents: Sequence[Agent], games: int, seed: int) -> list[Summary]:
    """Play all agents with all sets of variants, the base game first. Writes the CSV file after each set."""
    cells = [
        Cell(f"{agent.name} {set_name(variants)}", [agent], Config(variants=variants), games, seed)
        for variants in ALL_VARIANTS
        for agent in agents
    ]
    played: list[Results] = []
    summaries: list[Summary] = []
    try:
        for _, result, _ in play_cells(job, cells):
            played.append(result)
            summaries = summaries_of(by_set(played, None), [agent.name for agent in agents])
            if len(played) % len(agents) == 0:
                write_summaries(job.folder, summaries)
    except Stopped:
        job.console.print("Evaluation stopped early.")
        if summaries:
            write_summaries(job.folder, summaries)
    return summaries
