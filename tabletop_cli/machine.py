"""The commands about the machine: `compile` and `bench`."""

# typer reads the annotations of the commands, which use `line`: they must not become strings

from importlib.util import find_spec
from typing import Annotated

import typer

from tabletop_cli import options
from tabletop_cli.line import GAME, CommandLine
from tabletop_cli.modules import imported
from tabletop_cli.output import json_to
from tabletop_engine.errors import ConfigError


def add_commands(app: typer.Typer, line: CommandLine) -> None:
    """Give an app the commands that a game has."""

    @app.command("compile", rich_help_panel=GAME)
    def compile_all() -> None:
        """Compile rules and searches ahead of their first use, for an image or a folder that many machines share."""
        from tabletop_agents.search.lookahead import search_for
        from tabletop_engine.compiling.cache import CACHE_VARIABLE, code_folder, is_kept
        from tabletop_engine.compiling.compiled import JIT
        from tabletop_engine.positions.position import positions_of

        if JIT and line.game.kernels.playout.shipped is not None:
            print(f"{line.game.title}: its machine code came with the package; there is nothing to compile")
            return
        if not is_kept():
            raise ConfigError(f"nothing is compiled, as it could not be kept: set {CACHE_VARIABLE} to another folder")
        parts = ["rules", "positions one by one", "searches"]
        positions_of(line.game.config(players=line.game.players[0]))
        search_for(line.game)
        if find_spec("torch") is not None:
            from tabletop_agents.search.guided_search import guided_search_for

            guided_search_for(line.game)
            parts.append("search with a network")
        print(f"{line.game.title}: {', '.join(parts)}: compiled in {code_folder()}")

    if line.benchmarks:

        @app.command(rich_help_panel=GAME, epilog=line.examples("bench --quick --only playouts"))
        def bench(
            quick: options.Quick = False,
            only: Annotated[str | None, typer.Option(help="Run this benchmark only.", metavar="NAME")] = None,
            json: options.Json = None,
        ) -> None:
            """Measure how fast games are stepped on this machine. It needs a clone of the repository."""
            with json_to(json) as on_result:
                imported("benchmarks.run", extra="bench").main(
                    name=line.benchmarks, quick=quick, only=only, on_result=on_result
                )
