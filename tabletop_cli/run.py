"""How a command begins and ends: its words, its exit code, and the line for a mistake."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from itertools import zip_longest
from types import FrameType
from typing import Any

import typer

from tabletop_cli.completion import mended_bash_words
from tabletop_engine.errors import TabletopError
from tabletop_engine.text.terminal import forgive_bytes
from tabletop_engine.text.words import shown

EXIT_CODES = {
    0: "finished, or stopped early with a report of what was done",
    1: "the reader of the output went away, or the program failed with a traceback",
    2: "a mistake in the command or in a file; one line on stderr explains it",
    130: "stopped by Ctrl-C",
    143: "stopped by SIGTERM",
}
"""What each exit code of the commands means."""

_RAY_ADDRESS = re.compile(r"auto|local|(ray://)?[\w.-]+:[0-9]+")
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer before 0.26 has it from click


def with_values(args: Sequence[str]) -> list[str]:
    """The words of a command, with a value added to each option that may lack one.

    These are `--ray`, which without an address means `local` (an agent's name is no address); and `--json`, which as
    the last word or before another option means `-`.

    Raises typer.BadParameter for an empty value: as a path it would be the current folder.
    """
    full: list[str] = []
    for word, following in zip_longest(args, args[1:]):
        if word.startswith("--") and (following == "" or word.endswith("=")):
            raise typer.BadParameter(f"{word.rstrip('=')} is empty")
        following = following or ""
        full.append(word)
        if word == "--ray" and not _RAY_ADDRESS.fullmatch(following):
            full.append("local")
        elif word == "--json" and (not following or (following.startswith("-") and following != "-")):
            full.append("-")
    return full


def run_app(app: typer.Typer, name: str, args: Sequence[str] | None = None) -> None:
    """Run the command `name` and exit with one of `EXIT_CODES`.

    `args` are the words after it, None for those of the process.
    """
    forgive_bytes()
    catches = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _terminated) if catches else None
    code: Any = 0
    try:
        with mended_bash_words(name):
            words = with_values(sys.argv[1:] if args is None else args)
            code = app(args=words, prog_name=name, standalone_mode=False) or 0
        sys.stdout.flush()
    except _UsageError as error:
        code = 2
        _tell_mistake(name, error)
    except TabletopError as error:
        code = 2
        print(f"{name}:", _line(error), file=sys.stderr)
    except (KeyboardInterrupt, typer.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # typer takes it for Ctrl-D at a prompt; no command prompts with it
            raise error.__cause__ from None
        code = 130
    except BrokenPipeError:
        code = 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes stdout again when it ends
    finally:
        if catches:
            signal.signal(signal.SIGTERM, before)
    sys.exit(code)


def _line(message: object) -> str:
    """A message on one line, in which nothing can make the terminal do anything."""
    return shown(" ".join(str(message).split()))


def _terminated(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends the command like an error, so that unfinished files are removed and child processes end."""
    sys.exit(128 + number)


def _tell_mistake(name: str, error: Any) -> None:
    """Print one line for words that a command does not take. Without any words, the help was printed already."""
    message = _line(error.format_message())
    if message:
        path = error.ctx.command_path if error.ctx else name
        print(f"{path}: {message}{'' if message.endswith(('.', '?')) else '.'} See {path} --help.", file=sys.stderr)
