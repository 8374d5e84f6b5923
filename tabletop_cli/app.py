"""A game's command line: one app, made for the game, with the commands that every game has."""

# typer reads the annotations of the commands, which use `line`: they must not become strings

from typing import Annotated

import typer

from tabletop_cli import machine, measure, play, train
from tabletop_cli.line import CommandLine
from tabletop_cli.run import EXIT_CODES


def make_app(line: CommandLine, completes: bool = True) -> typer.Typer:
    """The app for a game, to which the game's own commands can be added.

    `completes`: whether it is installed under its name, so that shells can complete it.
    """
    codes = "; ".join(f"{code}: {meaning}" for code, meaning in EXIT_CODES.items())
    app = typer.Typer(
        help=line.help,
        epilog=f"Exit codes: {codes}.",
        no_args_is_help=True,
        add_completion=completes,
        pretty_exceptions_enable=False,
    )

    def tell_version(wanted: bool) -> None:
        if wanted:
            print(f"{line.name} {line.version}")
            raise typer.Exit

    @app.callback()
    def main(
        version: Annotated[
            bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version and exit.")
        ] = False,
    ) -> None:
        pass

    for group in (play, measure, train, machine):
        group.add_commands(app, line)
    return app
