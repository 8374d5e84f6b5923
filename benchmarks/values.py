"""`python -m benchmarks.values`: how well the win and margin heads of the shipped policies judge positions.

Each policy plays games with itself, in all seats, by actions drawn from its probabilities; the heads judge the actor's
position at every decision. *Brier skill* is 1 - mean((p - w)²) / mean((mean(w) - w)²) for the predicted win
probability p and the share w of the win. *Share of the margin* is 1 - mean((m - r)²) / var(r) for the predicted margin
m and the real one r. Both are 0 for who only knows the mean, and 1 for who knows the end. `docs/shipped-policies.md`
shows the results, which are in `docs/values.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import evergreen_env
import petrichor_env
from benchmarks.measure import options, write_figures
from tabletop_agents import checkpoint_path
from tabletop_agents.policy import PolicyAgent, inputs_of
from tabletop_engine import seeds
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.scores import margins, win_shares
from tabletop_training.files.tables import markdown_table
from tabletop_training.measure.course import skill

QUARTERS = 4


def solo(*variants: str) -> Config:
    """Petrichor for one with these variants."""
    return petrichor_env.Config(variants=variants)


CASES: dict[str, tuple[str, Config, str]] = {
    "solo, Double card + One More Turn": ("solo", solo("double_card", "one_more_turn"), "Petrichor"),
    "solo, all four variants": ("solo", solo(*petrichor_env.config.VARIANTS), "Petrichor"),
    **{f"{n} players, base game": ("versus", petrichor_env.Config(players=n), "Petrichor") for n in (2, 3, 4, 5)},
    **{f"{n} players": ("versus", evergreen_env.Config(players=n), "Evergreen") for n in (2, 3, 4)},
}
"""The policy's name, what is played, and the game's title."""


def judged(policy: PolicyAgent, config: Config, games: int, seed: int) -> dict[str, np.ndarray]:
    """All decisions of these games: `game`, `round`, the predicted `win` and `margin`, the real `won` and `ahead`."""
    batch = Batch(config, games, seed, autoreset="disabled")
    batch.reset(seed)
    generator = seeds.generator(seed, seeds.Stream.AGENTS)
    kept: list[dict[str, np.ndarray]] = []
    actions = np.zeros(games, np.int64)
    while len(playing := np.flatnonzero(batch.actors != NOBODY)):
        decisions = Decisions.of(batch, playing)
        win, margin = policy.network.win_and_margin(inputs_of(policy.network, decisions), decisions.players)
        about: dict[str, np.ndarray] = {
            "game": playing,
            "actor": batch.actors[playing],
            "round": batch.states["round"][playing],
        }
        kept.append({**about, "win": win, "margin": margin})
        actions[playing] = policy.act(decisions, generator)
        batch.step(actions, which=batch.actors != NOBODY)
    rows = {name: np.concatenate([part[name] for part in kept]) for name in kept[0]}
    won = win_shares(batch.places(batch.states))
    ahead = margins(batch.states["points"][:, : config.owners].astype(np.int64))
    at = rows["game"], rows["actor"].astype(np.int64)
    return {**rows, "won": won[at], "ahead": ahead[at]}


def quality(rows: dict[str, np.ndarray]) -> list[list[float]]:
    """Brier skill and share of the margin in each quarter of a game's rounds, and at its last decision."""
    last = np.zeros(rows["game"].max() + 1, np.int64)
    last[rows["game"]] = np.arange(len(rows["game"]))  # of equal indices the last one counts
    quarter = (rows["round"].astype(np.int64) - 1) * QUARTERS // rows["round"][last][rows["game"]]
    chosen = [np.flatnonzero(quarter == number) for number in range(QUARTERS)]
    result = []
    for part in (*chosen, last):
        won, ahead, win, margin = (rows[name][part] for name in ("won", "ahead", "win", "margin"))
        result.append([round(skill(win, won), 3), round(skill(margin, ahead), 3)])
    return result


def measured(name: str, games: int, seed: int, folder: str = "") -> list[list[float]]:
    """The quality of a case's shipped policy, or of the file with its name in the folder of another version."""
    which, config, _ = CASES[name]
    path = f"{folder}/{config.game.name}/{which}.zip" if folder else checkpoint_path(which, config.game)
    return quality(judged(PolicyAgent.load(path, config.game, sample=True), config, games, seed))


def main(games: int, seed: int, before: str) -> list[dict[str, Any]]:
    """The rows of the table; `before` is the folder with the policies of another version, to compare."""
    torch.set_num_threads(1)
    rows = []
    for name, (_, _, title) in CASES.items():
        row: dict[str, Any] = {"game": title, "what": name, "games": games, "quality": measured(name, games, seed)}
        if before:
            row["before"] = measured(name, games, seed, before)
        rows.append(row)
        print(title, name, row["quality"], row.get("before"), flush=True)
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as a table: Brier skill / share of the margin."""
    heads = ("game", "played", *(f"quarter {number + 1}" for number in range(QUARTERS)), "last decision")
    cells = [[row["game"], row["what"], *(f"{a:.2f} / {b:.2f}" for a, b in row["quality"])] for row in rows]
    return markdown_table(heads, cells)


if __name__ == "__main__":
    given = options(
        __doc__,
        games=(4000, "games of each row"),
        seed=(seeds.EVALUATION.first + 7_000_000, "of the first game"),
        before=("", "folder with the policies of another version"),
    )
    found = main(given.games, given.seed, given.before)
    print(table(found))
    write_figures(given.json, seed=given.seed, rows=found)
