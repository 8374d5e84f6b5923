"""The commands about the game and the machine: `check`, `compile` and `bench`."""

import sys
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import Progress

from tabletop_cli import options
from tabletop_cli.commands import add
from tabletop_cli.line import GAME, CommandLine
from tabletop_cli.modules import imported
from tabletop_cli.output import json_to
from tabletop_cli.switches import Switches
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.text.words import counted, shown

if TYPE_CHECKING:
    from tabletop_engine.game import Config


def add_commands(app: typer.Typer, line: CommandLine) -> None:
    """Give an app the commands that a game has."""
    add(app, line, GAME, check, "check")
    add(app, line, GAME, compile_all, name="compile")
    if line.benchmarks:
        add(app, line, GAME, bench, "bench --quick --only playouts")


def check(
    line: CommandLine,
    *,
    players: Annotated[
        int | None,
        options.where(
            "players_vary",
            typer.Option(
                help="Number of players.", metavar="N", show_default="each that the game has, one after the other"
            ),
        ),
    ] = None,
    switches: Switches,
    games: Annotated[int, options.games(" for each number of players")] = 20,
    cores: options.Cores = None,
    json: options.Json = None,
) -> None:
    """Look for mistakes in the game: in what it declares, in every state of random games, in what it hides."""
    from tabletop_engine.testing import problems_of

    found = []
    notes: list[str] = []
    with json_to(json) as on_result, Progress(transient=True, disable=not sys.stdout.isatty()) as bar:
        task = bar.add_task("", total=None)
        for problem in problems_of(
            line.game,
            games=games,
            players=() if players is None or switches else (players,),
            configs=_configs(line, players, switches) if switches else (),
            on_check=lambda name, done, of: bar.update(task, description=name, completed=done, total=of),
            on_note=notes.append,
        ):
            found.append(problem)
            bar.print(escape(shown(str(problem))), soft_wrap=True)
        on_result({"problems": [asdict(problem) for problem in found], "notes": notes})
        if not found:
            print("\n".join([*notes, f"{line.game.title}: no mistake was found"]))
    if found:
        raise TabletopError(counted(len(found), "mistake"))


def compile_all(line: CommandLine) -> None:
    """Compile rules and searches ahead of their first use, for an image or a folder that many machines share."""
    from tabletop_agents.search.lookahead import search_for
    from tabletop_engine.compiling.cache import CACHE_VARIABLE, is_kept
    from tabletop_engine.compiling.compiled import JIT
    from tabletop_engine.positions.position import positions_of

    if JIT and line.game.kernels.playout.shipped is not None:
        print(f"{line.game.title}: its machine code came with the package; there is nothing to compile")
        return
    folder = line.game.code_sources.folder
    if not is_kept(folder):
        raise ConfigError(f"nothing is compiled, as it could not be kept: set {CACHE_VARIABLE} to another folder")
    parts = ["rules", "positions one by one", "searches"]
    positions_of(line.game.config(players=line.game.players[0]))
    search_for(line.game)
    if find_spec("torch") is not None:
        from tabletop_agents.search.guided_search import guided_search_for

        guided_search_for(line.game)
        parts.append("search with a network")
    print(f"{line.game.title}: {', '.join(parts)}: compiled in {folder.parent}")


def bench(
    line: CommandLine,
    *,
    quick: options.Quick = False,
    only: Annotated[str | None, typer.Option(help="Run this benchmark only.", metavar="NAME")] = None,
    json: options.Json = None,
) -> None:
    """Measure how fast games are stepped on this machine. It needs a clone of the repository."""
    with json_to(json) as on_result:
        imported("benchmarks.run", extra="bench").main(
            name=line.benchmarks, quick=quick, only=only, on_result=on_result
        )


def _configs(line: CommandLine, players: int | None, switches: Switches) -> "list[Config]":
    """The configurations with these switches, for each number of players that has them. Raises ConfigError for none."""
    configs, refused = [], None
    for number in line.players if players is None else (players,):
        try:
            configs.append(line.game.config(players=number, **switches))
        except ConfigError as error:
            refused = refused or error
    if not configs and refused is not None:
        raise refused
    return configs
