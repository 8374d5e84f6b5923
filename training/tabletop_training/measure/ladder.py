"""`… ladder`: is each agent of the ladder better than the one below it, alone and with several players?

A step is a match of two neighbours: the upper agent in one seat, the lower one in all others. In a game for one, both
play the same seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from tabletop_agents import Agent
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config
from tabletop_engine.text.screen import Screen
from tabletop_training.files.job import Stopped
from tabletop_training.files.provenance import agent_hashes, software
from tabletop_training.files.tables import (
    AGENT,
    MARGIN,
    WIN_RATE,
    Column,
    OnResult,
    Table,
    format_estimate,
    ignore,
    plain,
    write_json,
)
from tabletop_training.measure.evaluation import EVALUATION_SEED, HERE, Workers, number_of_teams
from tabletop_training.measure.matches import Evaluation, evaluate, evaluation_of, make_agents, match_cells
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import finished_cells
from tabletop_training.study.settings import arguments, job_of

LADDER = ("random", "greedy", "rollout", "ismcts-200", "ismcts-2000")
"""The agents of the ladder, each stronger than the one before."""

GAMES = {"ismcts-2000": 120, "ismcts-200": 240}
SOLO_GAMES = {"ismcts-2000": 240, "ismcts-200": 960}
"""Games of a step up to this agent; other steps take `OTHER_GAMES`.

In solo two agents never meet, and a difference between two win rates needs more games than one win rate.
"""
OTHER_GAMES = 480


def games_of_step(upper: str, players: int) -> int:
    """The number of games that are enough for a step up to this agent."""
    return (SOLO_GAMES if players == 1 else GAMES).get(upper, OTHER_GAMES)


def measure_step(lower: str, upper: str, config: Config, games: int, seed: int) -> dict[str, Any]:
    """Measure a step; returns its row, as in `ladder.json`.

    It has `win_rate` of the upper agent with its interval; `above`, its difference from an even share (in a game for
    one, from the lower agent's win rate); and `margin` (in a game for one, the difference from the lower agent's).
    """
    return _row(lower, upper, evaluate(_agents(lower, upper, config), config, games, seed), seed)


def _agents(lower: str, upper: str, config: Config) -> list[Agent]:
    return make_agents([upper] + [lower] * max(1, number_of_teams(config) - 1), config)


def _row(lower: str, upper: str, evaluation: Evaluation, seed: int) -> dict[str, Any]:
    config, best = evaluation.config, evaluation.reports[0]
    above, margin = best.estimates.get("advantage"), best.estimates["margin"]
    if above is None:
        above, margin = evaluation.comparisons[0].win_rate, evaluation.comparisons[0].margin
    return {
        "players": config.players,
        "game": config.name,
        "owners": config.owners,
        "lower": lower,
        "upper": upper,
        "games": best.games,
        "seeds": best.seeds,
        "seed": seed,
        "win_rate": list(best.estimates["win_rate"]),
        "above": list(above),
        "margin": list(margin),
    }


def is_better(row: Mapping[str, Any]) -> bool:
    """Whether the upper agent is significantly better: in win rate, or in points if nobody else has points."""
    return bool(row["margin" if row["owners"] == 1 else "above"][1] > 0)


@checked
def main(
    configs: Sequence[Config],
    players: Sequence[int] | None = None,
    agents: Sequence[str] = LADDER,
    games: int | None = None,
    seed: int = EVALUATION_SEED,
    output: str | Path = "runs/ladder",
    workers: Workers | int = HERE,
    on_result: OnResult = ignore,
) -> Path:
    """Measure steps of `games` or `games_of_step` games each, and print them. Returns the folder with `ladder.json`.

    `configs` has one configuration for each number of players; `players` are those to measure, None for all. All else
    is as in `tabletop_training.measure`.
    """
    if not configs:
        raise ConfigError("configs: name at least one")
    game = configs[0].game
    by_players = {config.players: config for config in configs}
    players = list(by_players) if players is None else players
    if not players or not set(players) <= set(by_players):
        raise ConfigError(
            f"players={list(players)}: must be one or more of {', '.join(map(str, by_players))}; 1 is solo"
        )
    if len(agents) < 2:
        raise ConfigError("a ladder has at least two agents, the weakest first")
    steps: list[tuple[str, str, list[Cell]]] = []
    with Screen().status("loading the agents"):
        for number in dict.fromkeys(players):
            config = by_players[number]
            for lower, upper in pairwise(agents):
                number_of = games or games_of_step(upper, number)
                cells = match_cells(_agents(lower, upper, config), config, number_of, seed)
                step = f"{_game(number)}, {upper} over {lower}"
                steps.append((lower, upper, [replace(cell, key=f"{step}: {cell.key}") for cell in cells]))
    asked = {"players": players, "agents": agents, "games": games, "seed": seed}
    every = [cell for _, _, cells in steps for cell in cells]
    with job_of("ladder", game, output, asked, cells=every) as (job, store):
        done = finished_cells(job, every, store, workers)
        rows = []
        for lower, upper, cells in steps:
            if all(cell in done for cell in cells):
                labels = [agent.name for cell in cells for agent in cell.agents]
                evaluation = evaluation_of([done[cell] for cell in cells], labels, "games")
                rows.append(_row(lower, upper, evaluation, seed))
        if not rows:
            raise Stopped
        content = plain({**software(game), "checkpoints": agent_hashes(agents, game), "steps": rows})
        write_json(job.folder / "ladder.json", content)
        job.console.print(table_of(rows).screen())
        on_result(content)
    return job.folder


def resume(folder: str | Path, configs: Sequence[Config], **how: Any) -> Path:
    """Go on with the ladder of a folder; `how` are further arguments of `main`."""
    game = configs[0].game
    names = ("players", "agents", "games", "seed")
    asked = arguments(folder, "ladder", game, *names, trusted=LADDER, agents={"agents": "the agents "})
    return main(configs, **asked, output=folder, **how)


def _game(players: int) -> str:
    return "solo" if players == 1 else f"{players} players"


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The steps. Nobody wins or loses alone, so a game for one without an opponent compares margins only."""
    lines = [
        {
            **row,
            **({"win_rate": None, "above": None} if row["owners"] == 1 else {}),
            "game": _game(row["players"]),
            "colour": "green" if is_better(row) else "red",
        }
        for row in rows
    ]
    above = partial(format_estimate, factor=100, sign="+", interval="to")
    columns = (
        Column("game", "game", words=True),
        replace(AGENT, key="upper"),
        replace(AGENT, heading="against", key="lower"),
        Column("games", "games"),
        WIN_RATE,
        Column("above", "above", above, style=itemgetter("colour")),
        replace(MARGIN, style=lambda row: row["colour"] if row["owners"] == 1 else ""),
    )
    return Table(columns, lines, "Each agent against the one below it, 95 % intervals")
