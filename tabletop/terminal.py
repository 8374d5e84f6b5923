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
_FIELDS = ("+-", "| ")
"""How the lines of the Fields begin."""
_OWNERS_COLUMNS = (("points", -1), ("votes", 5), ("rain", 4), ("tokens", 6))
"""Words in the heading of what everybody has, and how far from their beginning the label, supply, votes and all end."""

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

    Hands that don't fit beside the owners' numbers go below them, and numbers that don't fit beside each other too.

    Arguments:
        text: what `render_text` draws, and other lines.
    """
    fitting: list[str] = []
    lines = text.split("\n")
    while lines:
        end = 1
        if lines[0].startswith(_FIELDS):
            while end < len(lines) and lines[end].startswith(_FIELDS):
                end += 1
            fitting += _fit_fields(lines[:end], columns)
        elif lines[0].split()[:3] == ["in", "supply", "on"]:
            while end < len(lines) and not lines[end - 1].startswith("all "):
                end += 1
            fitting += _fit_owners(lines[:end], columns)
        else:
            fitting += _wrap(lines[0], columns)
        lines = lines[end:]
    return "\n".join(fitting)


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


def _fit_owners(lines: list[str], columns: int) -> list[str]:
    """What everybody has: hands below the numbers where they don't fit beside them; if need be, numbers in parts.

    The headings tell where the columns are. Lines without numbers belong to the owner above them.
    """
    heading = lines[1]
    label, supply, votes, end = (heading.index(word) + more for word, more in _OWNERS_COLUMNS)
    rows = [line for line in lines if not line.startswith(" " * label) or line in lines[:2]]
    if max(map(width, rows)) <= columns:
        return [part for line in lines for part in _wrap(line, columns, " " * label)]
    for parts in (((label, end),), ((label, supply), (supply, end)), ((label, supply), (supply, votes), (votes, end))):
        if label + max(last - first for first, last in parts) <= columns:
            break
    fitting: list[str] = []
    for first, last in parts:
        for line in lines:
            name, rest = _cut(line, label)
            numbers = rest[first - label : last - label]
            hand = rest[end - label :].strip()
            if line not in rows:
                numbers, hand = "", line.strip()
            elif line == heading:
                hand = ""
            elif hand:
                hand = f"hand {hand}"
            if numbers.strip():
                fitting.append(f"{name}{numbers}".rstrip())
            if hand and last == end:
                fitting += _wrap(f"{_INDENT}{hand}", columns, _INDENT)
    return fitting


def _cut(line: str, columns: int) -> tuple[str, str]:
    """The line in two: that many columns of it, painted as they are, and what follows them."""
    found = re.match(f"((?:{_PAINT.pattern})?.{{{columns}}}(?:{_PAINT.pattern})?)(.*)", line)
    return (found[1], found[2]) if found else (line, "")


def _wrap(line: str, columns: int, indent: str = "") -> list[str]:
    """The line broken at spaces, what follows indented by 4 more than the indent. Colours go on where it is broken."""
    if width(line) <= columns:
        return [line]
    lines = [""]
    for part in re.split("( +)", line):
        if width(lines[-1] + part) <= columns or not lines[-1].strip():
            lines[-1] += part
        else:
            lines.append(indent + _INDENT + part.lstrip())
    return [one.rstrip() for one in lines if one.strip()]


def in_columns(entries: list[str], columns: int) -> list[str]:
    """A list as lines, filled column by column where more than one of them fit beside each other."""
    wide = max(map(width, entries), default=0) + 2
    rows = -(-len(entries) // max(1, (columns + 2) // wide))
    return ["".join(entry.ljust(wide) for entry in entries[row::rows]).rstrip() for row in range(rows)]
