"""Helpers of all commands that write to a terminal: colours, width, encoding."""

from __future__ import annotations

import io
import os
import shutil
import sys
from functools import lru_cache
from typing import TextIO

BOLD, FAINT, CLEAR = "\x1b[1m", "\x1b[2m", "\x1b[0m"
COLUMNS = 100
"""The width of everything that is drawn as text, and the assumed width of an output that is not a terminal."""

_WINDOWS = os.name == "nt"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal. A closed standard stream is None, which is no terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def obeys_sequences() -> bool:
    """Whether stdout is a terminal that obeys ANSI sequences (colours, clearing the screen)."""
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        return False
    _turn_on_sequences()
    return True


@lru_cache(maxsize=1)
def _turn_on_sequences() -> None:
    """Make the console of Windows obey ANSI sequences: it does so once a command has run in it."""
    if _WINDOWS:
        os.system("")


def wants_colour(colour: bool | None = None) -> bool:
    """Whether to print in colour. None means: in a terminal with colours, unless NO_COLOR is set in the environment."""
    return obeys_sequences() and not os.environ.get("NO_COLOR") if colour is None else colour


def painted(text: str, code: str, colour: bool) -> str:
    """The text between the ANSI sequence `code` and the one that ends it; unchanged without `colour`."""
    return f"{code}{text}{CLEAR}" if colour else text


def columns_of_output() -> int:
    """The current width of the terminal; COLUMNS if stdout is none."""
    return (is_terminal(sys.stdout) and shutil.get_terminal_size((COLUMNS, 24)).columns) or COLUMNS


def rows_of_output() -> int | None:
    """The current number of lines of the terminal; None if stdout is none."""
    return shutil.get_terminal_size((COLUMNS, 24)).lines if is_terminal(sys.stdout) else None


def forgive_bytes() -> None:
    """Replace undecodable input and characters that the output can't encode, so that neither ends the program."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
