"""A game as lines of text, made of blocks that can become narrower: words, tiles in rows, numbers in columns."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

_PAINT = re.compile("\x1b\\[[0-9;]*m")
_INDENT = " " * 4


class Block(Protocol):
    """Lines of text that belong together."""

    def lines(self, columns: int) -> list[str]:
        """The lines, within that many columns as far as they can be."""
        ...


def joined(blocks: Iterable[Block], columns: int = sys.maxsize) -> str:
    """The blocks below each other, within that many columns as far as they can be."""
    return "\n".join(line for block in blocks for line in block.lines(columns))


def width(line: str) -> int:
    """How many columns a line takes, colours apart."""
    return len(_PAINT.sub("", line))


def padded(line: str, columns: int) -> str:
    """The line with blanks up to that width, colours apart."""
    return line + " " * (columns - width(line))


def fit(text: str, columns: int) -> str:
    """The text with its lines broken at spaces where they are too long, colours and all."""
    return joined([Words(text.split("\n"))], columns)


def wrapped(line: str, columns: int, indent: str = "") -> list[str]:
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


@dataclass(frozen=True)
class Words:
    """Lines that are broken at spaces where they are too long."""

    texts: Sequence[str]

    def lines(self, columns: int) -> list[str]:
        return [part for line in self.texts for part in wrapped(line, columns)]


@dataclass(frozen=True)
class Tiles:
    """Tiles in rows beside each other; where they don't fit, each row in parts below each other."""

    rows: Sequence[Sequence[Sequence[str]]]  # of as many tiles each; a tile is its lines, none where there is no tile
    width: int  # of the widest line in them

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
class Row:
    """A row of a `Table`."""

    label: str  # whose it is
    numbers: Sequence[str]  # a text for each group of columns, as wide as the group
    words: str = ""  # what stands beside the numbers
    below: Sequence[str] = ()  # lines that belong to it


@dataclass(frozen=True)
class Table:
    """Numbers in columns with words beside them.

    Words that don't fit beside the numbers stand below them. Numbers that don't fit beside each other stand in parts
    below each other, a part for one or more groups of columns.
    """

    label: int  # the width of the rows' labels
    headings: Sequence[Sequence[str]]  # lines above the numbers: a text for every group of columns, as wide as it
    words: str  # the heading of the words, below the last of these lines
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
        """As few parts as fit: all groups but those of the last part stand alone."""
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
