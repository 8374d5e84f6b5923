"""`python -m benchmarks.learning_curve`: how well Petrichor's solo game is played after so many decisions and seconds.

Contenders learn on one core, several seeds each. After some updates the network plays the base game, on seeds that
nothing was chosen on. Seconds are processor time of learning alone. `docs/performance.md` shows the results, which are
in `docs/learning_curve.csv`.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.ticker import EngFormatter, PercentFormatter

from benchmarks.measure import on_cores, options
from petrichor_env import GAME, Config
from tabletop_agents import Agent, GreedyAgent
from tabletop_agents.policy import PolicyAgent
from tabletop_training.files.plots import GREY, legend, looks, picture
from tabletop_training.files.tables import write_log
from tabletop_training.learn.learner import Learner
from tabletop_training.learn.plan import new_plan
from tabletop_training.learn.task import Budget
from tabletop_training.measure.evaluation import EVALUATION_SEED, play_games

FILE, PICTURE = "learning_curve.csv", "learning_curve.png"
COLUMNS = ("what", "seed", "decisions", "seconds", "games", "won", "margin", "date", "torch")
SB3, NOTHING, SHORTFALLS, ALL_SETS = (
    "sb3-contrib's MaskablePPO",
    "`solo` without shortfalls",
    "`solo`",
    "`quick`: all 16 sets",
)
GREEDY = "greedy"
LOOKS = (32_000, 65_000, 98_000, 131_000, 196_000, 294_000, 393_000)
"""Decisions after which the network is evaluated, at the end of an update; the last are all that it learns from."""

Look = Callable[[int, Callable[[], Agent]], None]
"""Called with the decisions so far and a function that gives the agent."""


def ours(name: str, weighs: bool = True) -> Callable[[int, Look], None]:
    """What learns by the settings of this name."""

    def learn(seed: int, look: Look) -> None:
        plan = replace(new_plan(GAME, name, {}, seed=seed), budget=Budget(steps=LOOKS[-1]))
        given = plan.learning if weighs else replace(plan.learning, shortfall_weight=0.0)
        with tempfile.TemporaryDirectory() as folder:
            made: dict[str, Any] = {"resumable": False, "tensorboard": False, "evaluate": False}
            learner = Learner(GAME, replace(plan, learning=replace(given, threads=1)), Path(folder), **made)
            learner.on_progress = lambda learner: look(learner.steps, learner.agent)
            learner.run()

    return learn


def sb3(seed: int, look: Look) -> None:
    """sb3-contrib's MaskablePPO, as docs/first-agent.md has it."""
    from stable_baselines3.common.callbacks import BaseCallback

    from tabletop_training.sb3_maskable_ppo import model_for

    class Looks(BaseCallback):
        def _on_rollout_start(self) -> None:
            look(self.num_timesteps, lambda: PolicyAgent.of(self.model))

        def _on_step(self) -> bool:
            return True

    torch.set_num_threads(1)
    model = model_for(Config(), (), seed)
    model.learn(LOOKS[-1], callback=Looks())
    look(model.num_timesteps, lambda: PolicyAgent.of(model))


CONTENDERS: dict[str, Callable[[int, Look], None]] = {
    SB3: sb3,
    NOTHING: ours("solo", weighs=False),
    SHORTFALLS: ours("solo"),
    ALL_SETS: ours("quick"),
}


def curve(learn: Callable[[int, Look], None], seed: int, games: int) -> Iterator[dict[str, Any]]:
    """The rows of a run: a dictionary for each of `LOOKS`."""
    rows: list[dict[str, Any]] = []
    elsewhere, start = 0.0, time.process_time()

    def look(decisions: int, agent: Callable[[], Agent]) -> None:
        nonlocal elsewhere
        if len(rows) == len(LOOKS) or decisions < LOOKS[len(rows)]:
            return
        began = time.process_time()
        rows.append({"seed": seed, "decisions": decisions, "seconds": round(began - start - elsewhere, 2)})
        rows[-1] |= measured(agent(), games)
        elsewhere += time.process_time() - began

    learn(seed, look)
    yield from rows


def measured(agent: Agent, games: int) -> dict[str, Any]:
    """How well an agent plays the base game."""
    results = play_games([agent], Config(), games, EVALUATION_SEED)
    return {
        "games": games,
        "won": round(float(results.won[:, 0].mean()), 4),
        "margin": round(float(results.margins.mean()), 3),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, with numbers as numbers, and without empty cells."""
    kinds = {"seed": int, "decisions": int, "seconds": float, "games": int, "won": float, "margin": float}
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: kinds.get(key, str)(cell) for key, cell in row.items() if cell} for row in csv.DictReader(file)]


def runs_of(rows: list[dict[str, Any]], what: str) -> np.ndarray:
    """(seeds, looks, 3) of a contender: decisions, seconds and the share won."""
    own = [row for row in rows if row["what"] == what]
    seeds = sorted({row["seed"] for row in own})
    keys = ("decisions", "seconds", "won")
    return np.array([[[row[key] for key in keys] for row in own if row["seed"] == seed] for seed in seeds])


def plot(path: Path, rows: list[dict[str, Any]]) -> None:
    """Draw the share of games won over decisions and over seconds: means of the seeds, and a band to the extremes."""
    (greedy,) = (row["won"] for row in rows if row["what"] == GREEDY)
    look = looks(list(CONTENDERS))
    title = "Learning the solo game: base games won against the Southern Winds"
    with picture(path, title, 1, 2, figsize=(11, 4.8), sharey=True) as (figure, panels):
        for axes, number, name in zip(panels, (0, 1), ("decisions", "seconds of one core"), strict=True):
            for what in CONTENDERS:
                runs, (colour, marker) = runs_of(rows, what), look[what]
                at, won = runs[:, :, number].mean(axis=0), runs[:, :, 2]
                axes.fill_between(at, won.min(axis=0), won.max(axis=0), color=colour, alpha=0.2, linewidth=0)
                axes.plot(at, won.mean(axis=0), f"{marker}-", color=colour, label=what.replace("`", ""))
            axes.axhline(greedy, color=GREY, linewidth=1.4, linestyle=(0, (5, 3)), label="greedy")
            axes.set_xlabel(name)
            axes.set_xlim(0, None)
        panels[0].xaxis.set_major_formatter(EngFormatter(sep=""))
        panels[0].set_ylim(0, 1)
        panels[0].yaxis.set_major_formatter(PercentFormatter(1.0))
        legend(figure, panels[0], len(CONTENDERS) + 1)


def main() -> None:
    given = options(__doc__, "csv", seeds=(3, "runs of each contender"), games=(500, "games of each evaluation"))
    torch.set_num_threads(1)
    where = {"date": date.today().isoformat(), "torch": torch.__version__}
    with on_cores(1):
        rows = [{"what": GREEDY, **measured(GreedyAgent(), given.games), **where}]  # it also compiles
        for seed in range(given.seeds):
            for what, learn in CONTENDERS.items():
                for row in curve(learn, seed, given.games):
                    print(what, row, flush=True)
                    rows.append({"what": what, **row, **where})
    if given.csv:
        write_log(given.csv, COLUMNS, rows)
        plot(given.csv.with_name(PICTURE), rows)


if __name__ == "__main__":
    main()
