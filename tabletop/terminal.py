"""What the commands that talk with a person in a terminal have in common."""

from __future__ import annotations

import io
import os
import shutil
import sys
from functools import lru_cache
from typing import TextIO

BOLD, FAINT, CLEAR = "\x1b[1m", "\x1b[2m", "\x1b[0m"
COLUMNS = 100
"""How wide everything may be that is drawn as text, and how wide an output is taken to be that is no terminal."""

_WINDOWS = os.name == "nt"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end. A standard stream that was closed is None, and no terminal."""
    return stream is not None and not stream.closed and stream.isatty()


def obeys_sequences() -> bool:
    """Whether stdout is a terminal that colours, and what clears it, can be written to."""
    if not is_terminal(sys.stdout) or os.environ.get("TERM") == "dumb":
        return False
    _turn_on_sequences()
    return True


@lru_cache(maxsize=1)
def _turn_on_sequences() -> None:
    """Windows' console shows them as they are until a command was run in it."""
    if _WINDOWS:
        os.system("")


def wants_colour(colour: bool | None = None) -> bool:
    """Whether to print in colour; None: in a terminal that has it, unless the environment has NO_COLOR."""
    return obeys_sequences() and not os.environ.get("NO_COLOR") if colour is None else colour


def painted(text: str, code: str, colour: bool) -> str:
    """The text in a colour, or as it is."""
    return f"{code}{text}{CLEAR}" if colour else text


def columns_of_output() -> int:
    """How wide the terminal is now."""
    return (is_terminal(sys.stdout) and shutil.get_terminal_size((COLUMNS, 24)).columns) or COLUMNS


def forgive_bytes() -> None:
    """Let neither a byte that is no text end the program, nor a sign that the output can't show."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
