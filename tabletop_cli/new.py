"""`python -m tabletop_cli new NAME`: a package for your own game, with rules, tests and a README."""

from __future__ import annotations

import builtins
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import Annotated

import typer

from tabletop_cli.run import run_app
from tabletop_engine.errors import TabletopError
from tabletop_engine.text.words import shown

TEMPLATE = Path(__file__).parent / "template"
"""The package; each file's name ends with an added `.txt`. The game in it is called My Game, my_game and MyGame."""
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_MOST_LETTERS = 30
_OWN_FOLDERS = ("build", "dist", "runs", "tests")
"""Names of folders that stand beside the package."""


def main(args: Sequence[str]) -> None:
    """Run the command with these words behind `new`; exit as `run_app` does."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(no_args_is_help=True, epilog="Example: python -m tabletop_cli new my_game")(new)
    run_app(app, "tabletop_cli new", args)


def new(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of the game and its package: lower-case words, joined by underscores.", metavar="NAME"
        ),
    ],
    folder: Annotated[
        Path | None, typer.Option(help="A new folder for it.", metavar="FOLDER", show_default="NAME")
    ] = None,
) -> None:
    """Write a package with a whole small game: rules, environments, tests and a README. Make it a game of your own."""
    _check_spelling(name)
    place = Path(name) if folder is None else folder
    if place.exists() or place.is_symlink():
        raise TabletopError(
            f"folder={str(place)!r}: exists already; name a folder that does not, as nothing is overwritten"
        )
    _check_free(name)
    files = package_of(name)
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise TabletopError(f"folder={str(place)!r}: can't be made ({error.strerror})") from None
    try:
        for path, text in files.items():
            (place / path).parent.mkdir(exist_ok=True)
            (place / path).write_text(text, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise TabletopError(f"folder={str(place)!r}: can't be written ({error.strerror})") from None
    commands = {
        f"cd {shlex.quote(str(place))}": "README.md there has all commands",
        f"python -m tabletop_cli {name} play greedy": f"then replace the rules in {name}/game.py, part by part",
        f"python -m tabletop_cli {name} check": "looks for mistakes in them",
    }
    for command, comment in commands.items():
        print(shown(f"{command:<{max(map(len, commands))}}  # {comment}"))


def package_of(name: str) -> dict[str, str]:
    """The files of the package with this name: their texts by their paths."""
    from petrichor_env import __version__

    major, minor = map(int, __version__.split(".")[:2])
    title = " ".join(word.capitalize() for word in name.split("_"))
    names = {
        "my_game_v0": f"{name.removesuffix('_env')}_v0",  # as `register_environments` names the module
        "my_game": name,
        "my-game": name.replace("_", "-"),
        "My Game": title,
        "MyGame": title.replace(" ", ""),
        "VERSIONS": f">={__version__},<{major}.{minor + 1}" if major == 0 else f">={__version__},<{major + 1}",
    }
    placeholder = re.compile("|".join(names))

    def named(text: str) -> str:
        return placeholder.sub(lambda found: names[found[0]], text)

    files = {}
    for file in sorted(TEMPLATE.rglob("*.txt")):
        path = file.relative_to(TEMPLATE).as_posix().removesuffix(".txt")
        path = ".gitignore" if path == "gitignore" else named(path)  # git would obey a .gitignore in the template
        files[path] = named(file.read_text(encoding="utf-8"))
    return files


def _check_spelling(name: str) -> None:
    """Raise TabletopError for a name that can't be a package's."""
    if not _NAME.fullmatch(name):
        raise TabletopError(f"name={name!r:.80}: must be lower-case words of a to z and digits, such as my_game")
    if len(name) > _MOST_LETTERS:
        raise TabletopError(f"name={name!r:.80}: must have at most {_MOST_LETTERS} letters")
    if iskeyword(name) or hasattr(builtins, name):
        raise TabletopError(f"name={name!r}: is a word of Python's own")


def _check_free(name: str) -> None:
    """Raise TabletopError for a name that is in use here."""
    if name == "new":
        raise TabletopError(f"name={name!r}: is this command")
    if name in _OWN_FOLDERS:
        raise TabletopError(f"name={name!r}: the package has another folder of this name")
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        raise TabletopError(f"name={name!r}: there is a module of this name already")
    try:
        distribution(name)
    except PackageNotFoundError:
        return
    raise TabletopError(f"name={name!r}: a package of this name is installed already")
