"""`… ladder`: is each agent of the ladder better than the one below it, alone and with several players?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import make_folder, read_limited
from tabletop_engine.game import Config, Game
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import shown
from tabletop_training.files.job import Bar, Interruptions, progress_bar
from tabletop_training.files.tables import (
    OnResult,
    new_table,
    percent,
    percentage_points,
    plus_minus,
    unheard,
    write_json,
)
from tabletop_training.measure.evaluation import EVALUATION_SEED, HERE, EvaluationStopped, Workers
from tabletop_training.measure.matches import evaluate, make_agents
from tabletop_training.measure.results import Estimate

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


def measure_step(lower: str, upper: str, config: Config, games: int, seed: int, **told: Any) -> dict[str, Any]:
    """Measure a step: the upper agent in one seat, the lower one in all others; in a game for one, both on equal seeds.

    Returns a JSON-able row: `win_rate` of the upper agent with its interval; `above`, its difference from an even share
    (in a game for one, from the lower agent's win rate); and `margin` (in a game for one, the difference from the lower
    agent's margin). `told` goes to `tabletop_training.measure.matches.evaluate`.
    """
    players = config.players
    agents = make_agents([upper] + [lower] * max(1, players - 1), config)
    evaluation = evaluate(agents, config, games, seed, **told)
    best = evaluation.reports[0]
    above, margin = best.estimates.get("advantage"), best.estimates["margin"]
    if above is None:
        above, margin = evaluation.comparisons[0].win_rate, evaluation.comparisons[0].margin
    return {
        "players": players,
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


def is_better(row: dict[str, Any]) -> bool:
    """Whether the upper agent is significantly better: in win rate, or in points if nobody else has points."""
    return bool(row["margin" if row["owners"] == 1 else "above"][1] > 0)


@checked
def main(
    configs: Sequence[Config],
    players: Sequence[int] | None = None,
    agents: Sequence[str] = LADDER,
    games: int | None = None,
    seed: int = EVALUATION_SEED,
    output: str | Path = "runs/ladder.json",
    workers: Workers | int = HERE,
    on_result: OnResult = unheard,
) -> Path:
    """Measure the steps that the JSON file lacks, with `games` or `games_of_step` games each; print all steps.

    Returns the file.

    Arguments:
        configs: one configuration for each number of players.
        players: the numbers of players to measure; None for all.
        workers: they play the blocks of games, as in `evaluate`; the games are the same for all.
        on_result: called with the printed steps, as in the file.

    Raises ConfigError for bad arguments, TabletopError for a file of another version.
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
    path = Path(output)
    rows = _read(path, game)
    make_folder(path.parent)
    console = Screen()
    wanted = [(lower, upper, number) for number in players for lower, upper in pairwise(agents)]
    versions = {"game": game.name, "package_version": game.version, "state_version": game.rules_version}
    with Interruptions() as interruptions, progress_bar(console) as progress:
        for lower, upper, number in wanted:
            if (lower, upper, number) in rows:
                continue
            wanted_games = games or games_of_step(upper, number)
            total = 2 * wanted_games if number == 1 else wanted_games
            bar = Bar(progress, f"{upper} over {lower}, {_game(number)}", total, "")
            told = {"should_stop": interruptions.wanted, "on_finished": bar.advance, "workers": workers}
            try:
                row = measure_step(lower, upper, by_players[number], wanted_games, seed, **told)
            except EvaluationStopped:
                break
            if interruptions.wanted():
                break  # an unfinished step is not kept
            rows[lower, upper, number] = row
            write_json(path, {**versions, "steps": list(rows.values())})
    measured = [rows[step] for step in wanted if step in rows]
    if len(measured) < len(wanted):
        console.print("Stopped early. The same command continues.")
    console.print(_table(measured))
    on_result({**versions, "steps": measured})
    console.print(Text.assemble("In ", (shown(str(path)), "bold")))
    return path


def _read(path: Path, game: Game) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The file's rows by their steps: lower agent, upper agent, number of players."""
    if not path.exists():
        return {}
    try:
        kept = json.loads(read_limited(path))
        rows = {(row["lower"], row["upper"], row["players"]): row for row in kept["steps"]}
        version, name = kept["state_version"], kept["game"]
        _table(kept["steps"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TabletopError(f"{path}: not a ladder of this project ({error})") from None
    if name != game.name:
        raise TabletopError(f"{path}: a ladder of {name}: give another file")
    if version != game.rules_version:
        raise TabletopError(
            f"{path}: measured with state version {version}, this is {game.rules_version}: move it away"
        )
    return rows


def _game(players: int) -> str:
    return "solo" if players == 1 else f"{players} players"


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    words, numbers = ("game", "agent", "against"), ("games", "win rate", "above", "margin")
    table = new_table("Each agent against the one below it, 95 % intervals", words, numbers)
    for row in rows:
        sure = "green" if is_better(row) else "red"
        alone = row["owners"] == 1
        table.add_row(
            _game(row["players"]),
            shown(row["upper"]),
            shown(row["lower"]),
            f"{row['games']}",
            "" if alone else percent(Estimate(*row["win_rate"])),
            Text("" if alone else percentage_points(Estimate(*row["above"])), sure),
            Text(plus_minus(Estimate(*row["margin"]), signed=True), sure if alone else ""),
        )
    return table
