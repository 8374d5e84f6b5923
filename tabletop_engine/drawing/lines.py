"""Text for terminals of any width, made of blocks that can become narrower: words, tiles, tables."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, Protocol

_PAINT = re.compile("\x1b\\[[0-9;]*m")
_INDENT = " " * 4
_TIED = "\xa0"
"""A blank at which no line is broken."""


Size = Literal["wide", "small", "compact"]
"""A form of a game as text (`Drawing.text_blocks`)."""


class Block(Protocol):
    """Lines of text that belong together."""

    def lines(self, columns: int) -> list[str]:
        """The lines, no wider than `columns` if possible."""
        ...


def joined(blocks: Iterable[Block], columns: int = sys.maxsize) -> str:
    """The blocks below each other, as text no wider than `columns` if possible."""
    return "\n".join(line for block in blocks for line in block.lines(columns))


def width(line: str) -> int:
    """The number of columns of a line, without its colour sequences."""
    return len(_PAINT.sub("", line))


def padded(line: str, columns: int) -> str:
    """The line, filled up with blanks to this width. Colour sequences don't count."""
    return line + " " * (columns - width(line))


def fit(text: str, columns: int) -> str:
    """The text with long lines broken at spaces. Colours continue after a break."""
    return joined([Words(text.split("\n"))], columns)


def wrapped(line: str, columns: int, indent: str = "") -> list[str]:
    """The line broken at spaces. Later lines are indented by 4 more than `indent`, and colours continue."""
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
    """A list as lines, in several columns if they fit. The columns are filled one after another."""
    wide = max(map(width, entries), default=0) + 2
    rows = -(-len(entries) // max(1, (columns + 2) // wide))
    return ["".join(entry.ljust(wide) for entry in entries[row::rows]).rstrip() for row in range(rows)]


def in_groups(texts: Sequence[str], columns: int, least: int) -> list[str]:
    """Numbered texts as lines. `least` or more that differ in one word are together: `put it on …:  1 a1  2 b1`."""
    words = [text.split(" ") for text in texts]
    forms = [{(*one[:i], "…", *one[i + 1 :]): i for i in range(len(one))} for one in words]
    left, lines = set(range(len(texts))), {}
    while left:
        counts = Counter(form for number in left for form in forms[number])
        form, most = max(counts.items(), key=lambda item: item[1])
        if most < least:
            break
        group = sorted(number for number in left if form in forms[number])
        entries = "  ".join(f"{number + 1}{_TIED}{words[number][forms[number][form]]}" for number in group)
        lines[group[0]] = f"      {' '.join(form)}:  {entries}"
        left -= set(group)
    lines |= {number: f"{number + 1:4}  {texts[number]}" for number in left}
    broken = (part for number in sorted(lines) for part in wrapped(lines[number], columns, _INDENT))
    return [part.replace(_TIED, " ") for part in broken]


@dataclass(frozen=True)
class Words:
    """Lines that are broken at spaces if they are too long."""

    texts: Sequence[str]

    def lines(self, columns: int) -> list[str]:
        return [part for line in self.texts for part in wrapped(line, columns)]


@dataclass(frozen=True)
class Tiles:
    """Rows of tiles. A row that does not fit is divided into parts below each other.

    Attributes:
        rows: rows with the same number of tiles. A tile is its lines; without lines there is no tile.
        width: the width of the widest line in them.
    """

    rows: Sequence[Sequence[Sequence[str]]]
    width: int

    def lines(self, columns: int) -> list[str]:
        number, outer = len(self.rows[0]), self.width + 3
        parts = -(-number // max(1, (columns - 1) // outer))
        beside = -(-number // parts)
        lines: list[str] = []
        for row in self.rows:
            for first in range(0, number, beside):
                tiles = row[first : first + beside]
                if any(tiles):
                    lines += [self._edge(len(tiles)), *self._side_by_side(tiles, max(map(len, row)))]
        return [*lines, self._edge(beside)]

    def _edge(self, tiles: int) -> str:
        return "+" + ("-" * (self.width + 2) + "+") * tiles

    def _side_by_side(self, tiles: Sequence[Sequence[str]], height: int) -> Iterator[str]:
        for i in range(height):
            texts = (padded(tile[i] if i < len(tile) else "", self.width) for tile in tiles)
            yield "| " + " | ".join(texts) + " |"


@dataclass(frozen=True)
class Cells:
    """Rows of cells without frames, for small terminals.

    Attributes:
        rows: rows of cells. A cell is its lines.
        widths: the width of each column.
    """

    rows: Sequence[Sequence[Sequence[str]]]
    widths: Sequence[int]

    def lines(self, columns: int) -> list[str]:
        """The lines, which are as wide as they are."""
        rows = (line for row in self.rows for line in zip_longest(*row, fillvalue=""))
        return ["|".join(map(padded, line, self.widths)).rstrip() for line in rows]


@dataclass(frozen=True)
class Row:
    """A row of a `Table`.

    Attributes:
        label: its label.
        numbers: a text for each group of columns, as wide as the group.
        words: words beside the numbers.
        below: lines below the row that belong to it.
    """

    label: str
    numbers: Sequence[str]
    words: str = ""
    below: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """Numbers in columns, with words beside them.

    Words that don't fit beside the numbers go below them. If the columns don't fit beside each other, the table is
    divided into parts below each other. Each part has one or more groups of columns.

    Attributes:
        label: the width of the labels of the rows.
        headings: lines above the numbers, each with a text for every group of columns, as wide as the group.
        words: the heading of the words, in the last of these lines.
        rows: the rows.
    """

    label: int
    headings: Sequence[Sequence[str]]
    words: str
    rows: Sequence[Row]

    def lines(self, columns: int) -> list[str]:
        *above, last = (Row("", texts) for texts in self.headings)
        rows = [*above, Row("", last.numbers, self.words), *self.rows]
        whole = [f"{padded(row.label, self.label)}{''.join(row.numbers)}  {row.words}".rstrip() for row in rows]
        if max(map(width, whole)) > columns:
            parts = self._parts(columns)
            return [line for part in parts for line in self._part(rows, part, columns, part == parts[-1])]
        lines, indent = [], " " * self.label
        for line, row in zip(whole, rows, strict=True):
            lines += [line, *(part for text in row.below for part in wrapped(indent + text, columns, indent))]
        return lines

    def _parts(self, columns: int) -> list[slice]:
        """The groups of columns of each part: one each, and in the last part all that fit."""
        widths = [len(text) for text in self.headings[-1]]
        for alone in range(len(widths)):
            parts = [*(slice(i, i + 1) for i in range(alone)), slice(alone, None)]
            if self.label + max(sum(widths[part]) for part in parts) <= columns:
                break
        return parts

    def _part(self, rows: Sequence[Row], part: slice, columns: int, is_last: bool) -> Iterator[str]:
        for i, row in enumerate(rows):
            numbers = "".join(row.numbers[part])
            if numbers.strip():
                yield f"{padded(row.label, self.label)}{numbers}".rstrip()
            if is_last and i >= len(self.headings):
                words = [f"{self.words} {row.words}"] if row.words else []
                for line in (*words, *row.below):
                    yield from wrapped(_INDENT + line, columns, _INDENT)
