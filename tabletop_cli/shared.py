"""The options that several commands have, each defined once, so that they have the same words everywhere.

A name in braces is filled in for each game and command: `{of_games}` and its like are empty unless a command has more
to say (`tabletop_cli.options.command`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tabletop_cli.completion import agents, devices, policies, settings

LARGEST_SEED = 2**32 - 1  # that PyTorch and NumPy take alike
MOST_GAMES = 1_000_000_000

NOTHING_MORE = dict.fromkeys(
    ("of_agents", "of_resume", "of_games", "of_seed", "of_steps", "of_workers", "of_output", "of_seat", "of_players"),
    "",
)
"""What commands may add to the help of an option: nothing."""

_AGENTS_HELP = "Names of agents, such as random, greedy or policy:PATH{of_agents}. An unknown name lists them all."
_POLICY_HELP = "A checkpoint, or the name of a shipped policy."

# Arguments
Agents = Annotated[list[str], typer.Argument(help=_AGENTS_HELP, metavar="AGENT", autocompletion=agents)]
AnyAgents = Annotated[list[str] | None, typer.Argument(help=_AGENTS_HELP, metavar="AGENT", autocompletion=agents)]
Policy = Annotated[str, typer.Argument(help=_POLICY_HELP, metavar="POLICY", autocompletion=policies)]
ReplayFile = Annotated[
    Path, typer.Argument(help="A replay, as play and --save-replays write them.", metavar="FILE", dir_okay=False)
]

# What is played
Players = Annotated[int | None, typer.Option(help="Number of players: {players}{of_players}.", metavar="N")]
PlayerCounts = Annotated[
    str, typer.Option(help="Numbers of players, separated by commas{of_players}.", metavar="NUMBERS")
]

# Who plays, and from which files
MoreAgents = Annotated[
    list[str] | None,
    typer.Option(
        "--agents",
        "--agent",
        help="Names of agents, separated by commas{of_agents}.",
        metavar="NAMES",
        autocompletion=agents,
    ),
]
PolicyName = Annotated[str, typer.Option(help=_POLICY_HELP, metavar="POLICY", autocompletion=policies)]
Settings = Annotated[
    str | None,
    typer.Argument(
        help="A TOML file, or the name of a shipped one.",
        metavar="SETTINGS",
        show_default="by the numbers of players: solo, selfplay or general",
        autocompletion=settings,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(help="Continue what is in this folder, with the settings it has{of_resume}.", metavar="FOLDER"),
]
Trust = Annotated[
    str, typer.Option(help="Agents MODULE:CLASS that the resumed file may name. Their code will run.", metavar="NAMES")
]
Overlay = Annotated[
    Path | None, typer.Option(help="A TOML file whose numbers replace the shipped ones.", metavar="FILE")
]

# How much
Games = Annotated[int | None, typer.Option(min=1, max=MOST_GAMES, help="Number of games{of_games}.", metavar="N")]
SearchGames = Annotated[
    int | None,
    typer.Option(
        min=1, max=MOST_GAMES, help="Number of games of rollout and the searches, which are slow.", metavar="N"
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, max=LARGEST_SEED, help="Seed of the random numbers{of_seed}.", metavar="N"),
]
Minutes = Annotated[float | None, typer.Option(min=0.0, help="Minutes to train.", metavar="MINUTES")]
Steps = Annotated[
    int | None, typer.Option(min=0, help="Decisions to train with, instead of minutes{of_steps}.", metavar="N")
]
Quick = Annotated[bool, typer.Option("--quick", help="Measure much less: rough numbers, soon.")]

# How
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", max=10_000, min=0, help="Number of processes that play the games{of_workers}.", metavar="N"
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Play on a Ray cluster: auto for the one that runs here, HOST:PORT or ray://HOST:PORT. "
        "Without an address the command starts a cluster for itself.",
        metavar="[ADDRESS]",
    ),
]
LearningWorkers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        max=10_000,
        min=1,
        help="Number of processes that play and learn together.",
        metavar="N",
    ),
]
LearningRay = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Learn on a Ray cluster: auto for the one that runs here, or HOST:PORT. "
        "Without an address the command starts a cluster for itself.",
        metavar="[ADDRESS]",
    ),
]
Device = Annotated[
    str, typer.Option(help="Where the network learns: cpu or cuda.", metavar="DEVICE", autocompletion=devices)
]

# What is left
Output = Annotated[Path | None, typer.Option(help="Folder for the results{of_output}.", metavar="FOLDER")]
Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        help="Also write what the tables show as JSON to this file. With - it goes to stdout, and all else to stderr.",
        metavar="FILE",
    ),
]
SaveReplays = Annotated[Path | None, typer.Option(help="Folder for a replay of every game.", metavar="FOLDER")]
ReplayGames = Annotated[
    int | None,
    typer.Option(
        min=1, max=MOST_GAMES, help="Save only this many replays, of the first games.", metavar="N", show_default="all"
    ),
]
ReplayProbabilities = Annotated[
    bool,
    typer.Option(
        "--replay-probabilities",
        help="Save the probabilities that agents gave their actions, too. Searches then take twice as long.",
    ),
]
Seat = Annotated[int | None, typer.Option(help="A seat, counted from 0{of_seat}.", metavar="SEAT")]
