"""What the commands that talk with a person in a terminal have in common."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from functools import lru_cache
from typing import TextIO

BOLD, FAINT, CLEAR = "\x1b[1m", "\x1b[2m", "\x1b[0m"
COLUMNS = 100
"""How wide everything may be that is drawn as text, and how wide an output is taken to be that is no terminal."""

_PAINT = re.compile("\x1b\\[[0-9;]*m")
_INDENT = " " * 4


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
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def width(line: str) -> int:
    """How many columns a line takes, colours apart."""
    return len(_PAINT.sub("", line))


def fit(text: str, columns: int) -> str:
    """The text, colours and all, in that many columns as far as it can be: the Fields in parts, the rest wrapped.

    Arguments:
        text: what `render_text` draws, and other lines.
    """
    fitting: list[str] = []
    fields: list[str] = []
    for line in text.split("\n"):
        if line.startswith(("+-", "| ")):
            fields.append(line)
            continue
        fitting += _fit_fields(fields, columns)
        fields = []
        fitting += _wrap(line, columns)
    return "\n".join(fitting + _fit_fields(fields, columns))


def _fit_fields(lines: list[str], columns: int) -> list[str]:
    """Each row of the Fields in parts of as many tiles as fit beside each other."""
    if not lines or width(lines[0]) <= columns:
        return lines
    cell = lines[0].index("+", 1)
    number = len(lines[0]) // cell
    parts = -(-number // max(1, (columns - 1) // cell))
    beside = -(-number // parts)
    fitting: list[str] = []
    row: list[list[str]] = []
    for line in lines[1:]:
        if line.startswith("| "):
            row.append(line[1:-1].split("|"))
            continue
        for first in range(0, number, beside):
            part = [cells[first : first + beside] for cells in row]
            if "".join(map("".join, part)).strip():
                fitting += [line[: cell * len(part[0]) + 1], *("|" + "|".join(cells) + "|" for cells in part)]
        row = []
    return [*fitting, lines[0][: cell * beside + 1]]


def _wrap(line: str, columns: int) -> list[str]:
    """The line broken at spaces. Colours go on where it is broken."""
    if width(line) <= columns:
        return [line]
    lines = [""]
    for part in re.split("( +)", line):
        if width(lines[-1] + part) <= columns or not lines[-1].strip():
            lines[-1] += part
        else:
            lines.append(_INDENT + part.lstrip())
    return [one.rstrip() for one in lines if one.strip()]


def in_columns(entries: list[str], columns: int) -> list[str]:
    """A list as lines, filled column by column where more than one of them fit beside each other."""
    wide = max(map(width, entries), default=0) + 2
    rows = -(-len(entries) // max(1, (columns + 2) // wide))
    return ["".join(entry.ljust(wide) for entry in entries[row::rows]).rstrip() for row in range(rows)]
