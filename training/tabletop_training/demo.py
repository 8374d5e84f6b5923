"""A demonstration for a game of several players: learn by self-play for some minutes, then measure the result."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from tabletop_agents import Decisions, GreedyAgent, RandomAgent
from tabletop_agents.policy import PolicyAgent
from tabletop_engine import seeds
from tabletop_engine.checks import checked
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.files import make_folder
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Agent, ask
from tabletop_engine.play.batch import Batch
from tabletop_engine.replays.page import write_page
from tabletop_engine.replays.recorder import Recorder
from tabletop_training.files.job import Job
from tabletop_training.files.tables import OnResult, ignore
from tabletop_training.learn import train
from tabletop_training.learn.learner import BEST, POLICY
from tabletop_training.learn.plan import QUICK
from tabletop_training.measure import tournament
from tabletop_training.measure.evaluation import EVALUATION_SEED, EvaluationStopped
from tabletop_training.measure.tournament import play_tournament

PLAYERS = 2


@checked
def main(
    game: Game,
    *,
    minutes: float = 3.0,
    output: str | Path = "runs/demo",
    games: int = 400,
    seed: int = 0,
    on_result: OnResult = ignore,
) -> Path:
    """Train, evaluate, print a table and draw a final position; returns the folder with all files.

    Ctrl-C during learning starts the evaluation. Ctrl-C during the evaluation prints the table of finished games.
    `games` is the number for each pair of agents, from `seed + EVALUATION_SEED` on; `seed` is that of the training.
    `on_result` is called with the content of `tournament.json`.
    """
    folder = make_folder(output, new=True)
    learned = train.main(game, QUICK, minutes=minutes, seed=seed, output=folder / "training", players=(PLAYERS,))
    config = game.config(players=PLAYERS)
    with Job(folder, resume=True) as job:
        best = learned / BEST
        trained = PolicyAgent.load(best if best.is_file() else learned / POLICY, game, name="trained")
        agents: list[Agent] = [RandomAgent(), GreedyAgent(), trained]
        total = 3 * games
        with job.bar("comparing", total, f"{total:,} games") as bar:
            try:
                options = {"should_stop": job.should_stop, "on_finished": bar.advance}
                result = play_tournament(agents, config, games, seed + EVALUATION_SEED, **options)  # type: ignore[arg-type]
            except EvaluationStopped:
                job.console.print("Evaluation stopped before the first games were done.")
                return job.folder
        content = tournament.write(job.folder, result, seed + EVALUATION_SEED)
        for table in tournament.tables_of(result):
            job.console.print(table.screen())
        on_result(content)
        _show_game(job.console, job.folder, [trained, GreedyAgent()], game, seed + EVALUATION_SEED)
    return job.folder


def _show_game(console: Console, folder: Path, agents: list[Agent], game: Game, seed: int) -> None:
    """Save one game: its last position as a picture, and the whole game as a page."""
    with console.status("drawing a game"):
        batch = Batch(game.config(players=PLAYERS), 1, seed, autoreset="disabled")
        generator = seeds.generator(seed, seeds.Stream.DEMO)
        with Recorder(batch, names=[agent.name for agent in agents]) as recorder:
            batch.reset(seed)
            while not recorder.finished:
                decisions = Decisions.of(batch)
                batch.step(ask(agents[int(batch.actors[0])], decisions, generator))
        replay = recorder.finished[0]
        Picture(game.drawing.render_svg(batch.states[0], names=replay.owner_labels)).save(folder / "final_board.png")
        write_page(replay, folder / "game.html")
