"""`make demo`: learn the solo game for a few minutes, then see how hard its variants are for three agents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agents import Agent, GreedyAgent, RandomAgent, greedy
from agents.policy import PolicyAgent
from petrichor_env.config import VARIANTS, Config
from training.evaluation import ALL_VARIANTS, EvaluationStopped, Summary, play_games, summarize, write_csv
from training.learning import Progress, Settings, learn
from training.plots import plot_difficulty, plot_learning_curve
from training.progress import Interruptions, new_folder, progress_bar

EVALUATION_SEED = 1_000_000
"""Added to the seed, so that the games that are reported are none that were trained on."""

_WIDE = 120


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
        greedy.warm_up()
    with progress_bar(console) as bar:
        task = bar.add_task("learning", total=1.0, status="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.fraction, status=_status(progress))

        model, progress = learn(
            Config(), minutes, folder, seed, settings, should_stop=interruptions.wanted, on_progress=show
        )
        bar.update(task, completed=progress.fraction, status=_status(progress))
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
    console.print(difficulty_table(summaries, console.width >= _WIDE))


def _status(progress: Progress) -> str:
    text = f"{progress.steps / 1e6:.2f}M steps, {progress.steps_per_second / 1e3:.1f}k/s"
    if progress.recent is not None:
        text += f", won {progress.recent[0]:.0%}, {progress.recent[1]:+.1f}"
    return text


def _evaluate(
    console: Console, folder: Path, agents: Sequence[Agent], games: int, seed: int, interruptions: Interruptions
) -> list[Summary]:
    """All agents with all sets of variants, the base game first. Writes the CSV file after each set."""
    summaries: list[Summary] = []
    with progress_bar(console) as bar:
        task = bar.add_task("evaluating", total=len(ALL_VARIANTS) * len(agents) * games, status="")
        try:
            for number, variants in enumerate(ALL_VARIANTS, 1):
                for agent in agents:
                    bar.update(task, status=f"set {number} of {len(ALL_VARIANTS)}, {agent.name}")
                    results = play_games(
                        [agent],
                        Config(variants=variants),
                        games,
                        seed,
                        should_stop=interruptions.wanted,
                        on_finished=lambda finished: bar.advance(task, finished),
                    )
                    summaries.append(summarize(results))
                write_csv(folder / "difficulty.csv", summaries)
        except EvaluationStopped:
            console.print("Evaluation stopped early.")
            if summaries:
                write_csv(folder / "difficulty.csv", summaries)
    return summaries


def difficulty_table(summaries: Sequence[Summary], wide: bool) -> Table:
    """One row a set of variants, one column an agent; narrow, the win rate stands above the margin."""
    agents = list(dict.fromkeys(summary.agent for summary in summaries))
    games = summaries[0].games
    table = Table(
        title=f"Southern Winds: win rate and mean margin with 95 % intervals, {games:,} games each",
        title_justify="left",
        caption="Margin: points ahead of the neutral player. The trained agent learned on the first row's game alone.",
        caption_justify="left",
        show_lines=not wide,
    )
    for name in VARIANTS:
        table.add_column(name.replace("_", "\n"), justify="center", vertical="middle", no_wrap=True)
    for agent in agents:
        table.add_column(agent, justify="right", no_wrap=True)
    for variants in dict.fromkeys(summary.variants for summary in summaries):
        row = {summary.agent: summary for summary in summaries if summary.variants == variants}
        chosen = next(iter(row.values())).variant_names
        table.add_row(
            *("●" if name in chosen else "" for name in VARIANTS),
            *(_cell(row[agent], wide) if agent in row else "" for agent in agents),
        )
    return table


def _cell(summary: Summary, wide: bool) -> str:
    low, high = (round(100 * rate) for rate in (summary.win_rate_low, summary.win_rate_high))
    rate = f"{summary.win_rate:.0%} ({low}–{high})"
    half = (summary.margin_high - summary.margin_low) / 2
    margin = f"{summary.margin:+.1f} ± {half:.1f}"
    return f"[bold]{rate:>12}[/bold]  {margin:>11}" if wide else f"[bold]{rate}[/bold]\n{margin}"
