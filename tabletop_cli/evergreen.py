"""The `evergreen` command: what every game has, and Evergreen's own components and demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from evergreen_env import __version__
from evergreen_env.component_files import COMPONENTS, KEYS
from evergreen_env.config import Config
from evergreen_env.state import BIOME_NAMES, MAX_PLAYERS
from tabletop_cli.app import LARGEST_SEED, MOST_GAMES, CommandLine, imported, make_app, run_app
from tabletop_cli.components import Section, add_components

LINE = CommandLine(
    name="evergreen",
    home="evergreen_env.game",
    version=__version__,
    help="Evergreen, alone for points or for several players, for programs.",
    config=Config,
    players=tuple(range(1, MAX_PLAYERS + 1)),
    ladder={players: {} for players in range(1, MAX_PLAYERS + 1)},
    table="tabletop_training.evergreen.benchmark",
    benchmarks="evergreen",
)
app, _ = make_app(LINE)


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


add_components(app, lambda: COMPONENTS, _sections)


@app.command()
def demo(
    minutes: Annotated[float, typer.Option(min=0.0, help="How long to train.")] = 5.0,
    output: Annotated[Path, typer.Option(help="Folder for policy, pictures and tables.")] = Path("runs/demo-evergreen"),
    games: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="Games of each two agents.")] = 400,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the training and of the games.")] = 0,
) -> None:
    """Train an agent for two players by self-play, then compare it with others."""
    imported("tabletop_training.demo", extra="train").main(
        LINE.game, minutes=minutes, output=output, games=games, seed=seed
    )
