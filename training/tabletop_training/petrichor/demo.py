"""`make demo`: learn the solo game for a few minutes, then see how hard its variants are for three agents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from tabletop_agents import Agent, Decisions, GreedyAgent, RandomAgent
from tabletop_agents.policy import PolicyAgent

from petrichor_env.config import Config
from tabletop.batch import Batch
from tabletop_training.evaluation import ALL_VARIANTS, EVALUATION_SEED, Results, Summary, write_csv
from tabletop_training.learning import Progress
from tabletop_training.petrichor.difficulty import WIDE, Key, difficulty_table, measure, summaries_of
from tabletop_training.plots import plot_difficulty, plot_learning_curve
from tabletop_training.progress import Interruptions, new_folder, progress_bar
from tabletop_training.settings import Settings
from tabletop_training.solo import learn


def main(
    minutes: float = 5.0,
    output: str | Path = "runs/demo",
    games: int = 1000,
    seed: int = 0,
    settings: Settings | None = None,
) -> Path:
    """Train, evaluate, print one table; returns the folder with all that is left.

    Ctrl-C while learning goes on to the evaluation, Ctrl-C while evaluating to the table of what is done; both at
    once end the program, with what has been written so far.

    Arguments:
        minutes: of training.
        output: folder for the files; if it has some already, a new one beside it.
        games: for each agent with each of the 16 sets of variants.
        seed: of training; the evaluation plays games `seed + EVALUATION_SEED` and following.
        settings: of training.
    """
    console = Console()
    folder = new_folder(output)
    with Interruptions() as interruptions:
        try:
            _run(console, folder, minutes, games, seed, settings, interruptions)
        except KeyboardInterrupt:
            console.print("Stopped.")
    console.print(f"In [bold]{folder}[/bold]: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return folder


def _run(
    console: Console,
    folder: Path,
    minutes: float,
    games: int,
    seed: int,
    settings: Settings | None,
    interruptions: Interruptions,
) -> None:
    with console.status("compiling the greedy agent, once, about half a minute"):
        GreedyAgent().act(Decisions.of(Batch(Config(), 1, 0)), np.random.default_rng(0))
    with progress_bar(console) as bar:
        task = bar.add_task("learning", total=1.0, status="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.fraction, status=progress.text)

        model, progress = learn(
            Config(), minutes, folder, seed, settings, should_stop=interruptions.wanted, on_progress=show
        )
        bar.update(task, completed=progress.fraction, status=progress.text)
    if interruptions.wanted():
        console.print("Learning stopped early; Ctrl-C again stops the evaluation, too.")
        interruptions.clear()
    plot_learning_curve(folder / "learning_curve.png", progress.curve)

    agents: list[Agent] = [RandomAgent(), GreedyAgent(), PolicyAgent(model, name="trained")]
    summaries = _evaluate(console, folder, agents, games, seed + EVALUATION_SEED, interruptions)
    if not summaries:
        return
    base = [summary for summary in summaries if summary.variants == "base"]
    plot_learning_curve(
        folder / "learning_curve.png", progress.curve, [summary for summary in base if summary.agent != "trained"]
    )
    plot_difficulty(folder / "difficulty.png", summaries)
    note = "The trained agent learned on the first row's game alone."
    console.print(difficulty_table(summaries, console.width >= WIDE, note))


def _evaluate(
    console: Console, folder: Path, agents: Sequence[Agent], games: int, seed: int, interruptions: Interruptions
) -> list[Summary]:
    """All agents with all sets of variants, the base game first. Writes the CSV file after each set."""
    names = [agent.name for agent in agents]
    results: dict[Key, Results] = {}

    def keep(result: Results) -> None:
        if result.agents[0] == names[-1]:
            write_csv(folder / "difficulty.csv", summaries_of(results, names))

    finished = measure(
        console,
        [(agent, variants) for variants in ALL_VARIANTS for agent in agents],
        Config(),
        dict.fromkeys(names, games),
        seed,
        results,
        should_stop=interruptions.wanted,
        on_result=keep,
    )
    summaries = summaries_of(results, names)
    if not finished:
        console.print("Evaluation stopped early.")
        if summaries:
            write_csv(folder / "difficulty.csv", summaries)
    return summaries
