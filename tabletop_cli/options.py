"""The options that several commands have, each defined once, so that they have the same words everywhere.

A type, such as `Json`, is the same in all commands. A function, such as `games`, makes an option to which a command
adds its own texts: `more` follows the common words, and `default` is what the help shows for a default of None. What
depends on the game is a function of its command line (`commands.add`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from tabletop_cli import completion
from tabletop_cli.line import CommandLine
from tabletop_engine.errors import TabletopError
from tabletop_engine.text.words import either

LARGEST_SEED = 2**32 - 1  # the largest that both PyTorch and NumPy take
MOST_GAMES = 1_000_000_000
MOST_EDITIONS = 32_767  # the most that a game's record can hold

_POLICY_HELP = "A checkpoint, or the name of a shipped policy."


# Arguments
def agents(more: str = "") -> Any:
    """The argument for names of agents."""
    told = f"Names of agents, such as random, greedy or policy:PATH{more}. An unknown name lists them all."
    return typer.Argument(help=told, metavar="AGENT", autocompletion=completion.agents)


Agents = Annotated[list[str], agents()]
AnyAgents = Annotated[list[str] | None, agents()]
Policy = Annotated[str, typer.Argument(help=_POLICY_HELP, metavar="POLICY", autocompletion=completion.policies)]
ReplayFile = Annotated[
    Path, typer.Argument(help="A replay, as play and --save-replays write them.", metavar="FILE", dir_okay=False)
]


# What is played
def player_counts(more: str, default: str) -> Any:
    """The option for several numbers of players, in one text."""
    told = f"Numbers of players, separated by commas{more}."
    return typer.Option(help=told, metavar="NUMBERS", show_default=default)


def players(line: CommandLine) -> Any:
    """The option for the number of players; None where there is only one number."""
    if not line.players_vary:
        return None
    default = str(line.config.__dataclass_fields__["players"].default)
    return typer.Option(help=f"Number of players: {either(line.players)}.", metavar="N", show_default=default)


Players = Annotated[int | None, players]


def where(fact: str, option: Any) -> Callable[[CommandLine], Any]:
    """An option that only games have of whose command line this attribute is true, such as `several`."""
    return lambda line: option if getattr(line, fact) else None


# Who plays, and from which files
def more_agents(more: str = "") -> Any:
    """The option for names of agents, in one text."""
    told = f"Names of agents, separated by commas{more}."
    return typer.Option("--agents", "--agent", help=told, metavar="NAMES", autocompletion=completion.agents)


MoreAgents = Annotated[list[str] | None, more_agents()]


def agent(help: str, default: str = "") -> Any:
    """The option for the name of one agent."""
    return typer.Option(help=help, metavar="AGENT", show_default=default or True, autocompletion=completion.agents)


def policy(help: str = _POLICY_HELP, default: str = "") -> Any:
    """The option for a policy."""
    return typer.Option(help=help, metavar="POLICY", show_default=default or True, autocompletion=completion.policies)


def resume(more: str = "") -> Any:
    """The option for a folder to resume."""
    told = f"Continue what is in this folder, with the settings it has{more}."
    return typer.Option(help=told, metavar="FOLDER")


Trust = Annotated[
    str, typer.Option(help="Agents MODULE:CLASS that the resumed file may name. Their code will run.", metavar="NAMES")
]
Overlay = Annotated[
    Path | None, typer.Option(help="A TOML file whose numbers replace the shipped ones.", metavar="FILE")
]


def seat(more: str, default: str) -> Any:
    """The option for a seat."""
    return typer.Option(help=f"A seat, counted from 0: {more}.", metavar="SEAT", show_default=default)


# How much
def number(help: str, default: str = "", *, least: int = 1, most: int | None = MOST_GAMES) -> Any:
    """The option for a whole number."""
    return typer.Option(min=least, max=most, help=help, metavar="N", show_default=default or True)


def games(more: str = "", default: str = "") -> Any:
    """The option for a number of games."""
    return number(f"Number of games{more}.", default)


def search_games(default: str) -> Any:
    """The option for a number of games of slow agents."""
    return number("Number of games of rollout and the searches, which are slow.", default)


def effect_games(of: str, default: str) -> Any:
    """The option for the number of games that measure the effect of each number of an overlay file."""
    told = f"Number of games of each {of} with some of the numbers of --components, to tell them apart."
    return number(told, default, least=0)


def seed(more: str, default: str = "") -> Any:
    """The option for a seed."""
    return number(f"Seed of the random numbers: {more}.", default, least=0, most=LARGEST_SEED)


def first_seed(default: str = "away from the seeds of training") -> Any:
    """The option for the first seed of measured games."""
    return seed("the first game takes it, each later game the next number", default)


FirstSeed = Annotated[int | None, first_seed()]


def editions(more: str, default: str) -> Any:
    """The option for a number of editions."""
    return number(f"Number of editions {more}.", default, least=2, most=MOST_EDITIONS)


def minutes(default: str = "") -> Any:
    """The option for the minutes of a training."""
    return typer.Option(min=0.0, help="Minutes to train.", metavar="MINUTES", show_default=default or True)


def steps(more: str = "") -> Any:
    """The option for the decisions of a training."""
    return number(f"Decisions to train with, instead of minutes{more}.", least=0, most=None)


Quick = Annotated[bool, typer.Option("--quick", help="Measure much less: rough numbers, soon.")]


# How
def workers(least: int, more: str, default: str) -> Any:
    """The option for a number of processes."""
    return number(f"Number of processes that play {more}.", default, least=least, most=10_000)


def ray(addresses: str) -> Any:
    """The option for a cluster."""
    told = f"Use a Ray cluster: auto for the one that runs here, {addresses}."
    return typer.Option(help=f"{told} Without an address the command starts a cluster for itself.", metavar="[ADDRESS]")


def _use_cores(most: int | None) -> None:
    if most is not None:
        import_module("tabletop_engine.play.batch").use_cores(most)
        os.environ["OMP_NUM_THREADS"] = str(most)  # of PyTorch, which is loaded later


Cores = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=10_000,
        help="The most cores of this machine to use; all processes share them.",
        metavar="N",
        show_default="all that the process or its container has",
        callback=_use_cores,
    ),
]
"""A command need not read it: the limit holds when the option has been read."""
Workers = Annotated[
    int | None, workers(0, "the games at once. The games stay the same", "1; with --ray the cluster's cores")
]
Ray = Annotated[str | None, ray("HOST:PORT or ray://HOST:PORT")]
Device = Annotated[
    str,
    typer.Option(
        help="Where the network learns: cpu or cuda.",
        metavar="DEVICE",
        autocompletion=completion.one_of("cpu", "cuda"),
    ),
]


# What is left
def output(more: str, default: str = "") -> Any:
    """The option for the folder of a command's files."""
    return typer.Option(help=f"Folder for the results: {more}.", metavar="FOLDER", show_default=default or True)


Json = Annotated[
    Path | None,
    typer.Option(
        help="Also write what the tables show as JSON to this file. With - it goes to stdout, and all else to stderr.",
        metavar="FILE",
    ),
]
SaveReplays = Annotated[Path | None, typer.Option(help="Folder for a replay of every game.", metavar="FOLDER")]
ReplayGames = Annotated[int | None, number("Save only this many replays, of the first games.", "all")]
ReplayProbabilities = Annotated[
    bool,
    typer.Option(
        "--replay-probabilities",
        help="Save the probabilities that agents gave their actions, too. Searches then take twice as long.",
    ),
]


# What is made of their values
def words(text: str) -> tuple[str, ...]:
    """The words of an option such as `fertilizer,cactus`."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def whole_numbers(option: str, text: str, wanted: str) -> list[int]:
    """The numbers of an option such as `1,2`. Raises TabletopError, which says what is wanted, for anything else."""
    listed = words(text)
    if not all(word.isdecimal() for word in listed):
        raise TabletopError(f"{option}={text!r}: must be {wanted}")
    return [int(word) for word in listed]


def agent_names(more_agents: Sequence[str] | None, agents: Sequence[str] | None = None) -> list[str]:
    """All agents that the option `--agents` and the argument name."""
    return [*words(",".join(more_agents or ())), *(agents or ())]


def given(**options: Any) -> dict[str, Any]:
    """The options that were given. For all others the called function has its own defaults."""
    return {name: value for name, value in options.items() if value is not None}
