"""`python -m tabletop_cli HOME evaluate …`: the commands for any module with a GAME, by its name with dots.

`python -m tabletop_cli new NAME` writes a package with such a module.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabletop_cli.app import make_app
from tabletop_cli.line import CommandLine
from tabletop_cli.run import run_app

if TYPE_CHECKING:
    from tabletop_engine.game import Game


def main(args: Sequence[str]) -> None:
    """Run the commands of the game whose module is the first word; exit as `run_app` does."""
    if not args or args[0].startswith("-"):
        print("python -m tabletop_cli HOME COMMAND …: HOME is a module with a GAME, such as my_game.game")
        print("python -m tabletop_cli new NAME: writes a package for a game of your own")
        sys.exit(0 if args else 2)
    if "" not in sys.path:
        sys.path.insert(0, "")
    if args[0] == "new":
        from tabletop_cli.new import main as make_new

        make_new(args[1:])
    from tabletop_engine.errors import TabletopError
    from tabletop_engine.game import game_of

    home, *rest = args
    try:
        game = game_of(home)
    except TabletopError as error:
        print(f"tabletop_cli: {error}", file=sys.stderr)
        sys.exit(2)
    line = CommandLine(
        name=game.name,
        command=f"python -m tabletop_cli {home}",
        home=home,
        version=game.version,
        help=f"Play {game.title}, measure agents and train them.",
        config=game.config,
        players=game.players,
        opponent=str(getattr(game.words, "opponent", "")),
        curriculum="all that it has, the easy things first" if hasattr(game.config, "curriculum") else "",
        images=any(game.images(players) for players in game.players),
        rules=_has_rules(game),
    )
    run_app(make_app(line, completes=False), line.command, rest)


def _has_rules(game: Game) -> bool:
    """Whether the game has its rules as text. True also if finding out fails: then `rules` shows the error."""
    try:
        return bool(game.words.rules(game.config(players=game.players[-1])).strip())
    except Exception:  # a user's own game may raise anything
        return True


if __name__ == "__main__":
    main(sys.argv[1:])
