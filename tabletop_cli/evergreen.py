"""The `evergreen` command: what every game has, and Evergreen's own components and demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from evergreen_env import __version__
from evergreen_env.component_files import COMPONENTS, KEYS
from evergreen_env.config import Config
from evergreen_env.state import BIOME_NAMES, MAX_PLAYERS
from tabletop_cli import options
from tabletop_cli.app import make_app
from tabletop_cli.commands import add
from tabletop_cli.components import Section, add_components
from tabletop_cli.line import MEASURE, TRAIN, CommandLine
from tabletop_cli.measure import players_of
from tabletop_cli.modules import imported
from tabletop_cli.options import whole_numbers
from tabletop_cli.output import json_to
from tabletop_cli.run import run_app
from tabletop_cli.switches import Fields
from tabletop_cli.tune import tune

LINE = CommandLine(
    name="evergreen",
    command="evergreen",
    home="evergreen_env.game",
    version=__version__,
    help="Play Evergreen, alone or with several players, measure agents and train them.",
    config=Config,
    players=tuple(range(1, MAX_PLAYERS + 1)),
    ladder={players: {} for players in range(1, MAX_PLAYERS + 1)},
    table="tabletop_training.evergreen.benchmark",
    tasks="tabletop_training.evergreen.tasks",
    benchmarks="evergreen",
)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command and exit, as `run_app` does."""
    run_app(app, LINE.name, args)


def _sections() -> list[Section]:
    types = [(name, "flowers; by power: sprout, small tree, big tree, bush, lake, buds") for name in BIOME_NAMES]
    flags = [key for key in KEYS if key.startswith("flags.")]
    return [
        ("Board (M meadow, F flowers, G grain, R rock, W swamp, N snow)", "board", [("rows", "", "board.rows")]),
        ("Deck", "type", [(name, meaning, f"deck.{name}") for name, meaning in types]),
        ("Flags", "flag", [(key.partition(".")[2], KEYS[key].meaning, key) for key in flags]),
    ]


def balance(
    *,
    players: Annotated[str, options.player_counts("", "2,3,4")] = "",
    switches: Annotated[dict[str, Any], Fields(only=("components",))],
    agent: Annotated[str | None, options.agent("The agent that has every seat.", "policy:versus")] = None,
    resume: Annotated[Path | None, options.resume()] = None,
    editions: Annotated[int | None, options.editions("that are drawn", "100")] = None,
    edition_games: Annotated[int | None, options.games(" with each edition and number of players", "20")] = None,
    effect_games: Annotated[int | None, options.effect_games("number of players", "400")] = None,
    seed: options.FirstSeed = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[Path | None, options.output("report, picture and tables", "runs/balance")] = None,
    json: options.Json = None,
) -> None:
    """Measure over many editions whether seats are equal, how long games are, and what powers and boards are worth."""
    numbers = whole_numbers("players", players, "whole numbers separated by commas, such as 2,3") or None
    with json_to(json) as on_result, players_of(workers, ray) as who:
        imported("tabletop_training.evergreen.balance", extra="train").main(
            agent,
            numbers,
            editions=editions,
            edition_games=edition_games,
            effect_games=effect_games,
            seed=seed,
            output=output,
            resume=resume,
            workers=who,
            on_result=on_result,
            **switches,
        )


def demo(
    line: CommandLine,
    *,
    games: Annotated[int, options.games(" of each two agents")] = 400,
    seed: Annotated[int, options.seed("of the training and the games")] = 0,
    minutes: Annotated[float, options.minutes()] = 3.0,
    cores: options.Cores = None,
    output: Annotated[Path, options.output("policy, pictures and tables")] = Path("runs/demo-evergreen"),
    json: options.Json = None,
) -> None:
    """Train an agent for two players by self-play, then compare it with others."""
    with json_to(json) as on_result:
        imported("tabletop_training.demo", extra="train").main(
            line.game, minutes=minutes, output=output, games=games, seed=seed, on_result=on_result
        )


app = make_app(LINE)
add_components(app, LINE, COMPONENTS, _sections())
add(app, LINE, MEASURE, tune, "tune seats=0 --players 4", "tune length=60 --keys flags.season_rounds", file=COMPONENTS)
add(
    app,
    LINE,
    MEASURE,
    balance,
    "balance --editions 200",
    "balance --players 4 --agent greedy",
    "balance --resume runs/balance",
)
add(app, LINE, TRAIN, demo, "demo --minutes 1")
