"""Boards of squares or hexagons with up to 64 spaces: neighbours, and connected areas.

A space is numbered by `columns * row + column`, from 0 at the top left. Sets of spaces are those of
`tabletop_engine.parts.sets`. A module makes its board once, and its rules pass it on:

    BOARD = square_board(rows=5, columns=6)

    @rule
    def may_build(s: State) -> np.uint64:
        return beside(s.houses, BOARD) & ~s.houses
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import count_bits
from tabletop_engine.parts.sets import EMPTY, without_first


class Board(NamedTuple):
    """A board, for compiled rules.

    Attributes:
        spaces: all spaces.
        shifts: for each way to a neighbour, by how much its number is larger.
        starts: for each way, the spaces that have a neighbour there.
    """

    spaces: np.uint64
    shifts: tuple[np.uint64, ...]
    starts: tuple[np.uint64, ...]


def square_board(rows: int, columns: int) -> Board:
    """A board of squares. Neighbours share a side. Raises ValueError for less than 1 or more than 64 spaces."""
    return _board(rows, columns, ((1, 0), (0, 1)))


def hex_board(rows: int, columns: int) -> Board:
    """A board of hexagons. Each row lies half a space further to the right than the one above.

    A space touches those before and after it, those with its column and the next one in the row above, and those with
    its column and the one before in the row below. Raises ValueError for less than 1 or more than 64 spaces.
    """
    return _board(rows, columns, ((1, 0), (0, 1), (1, -1)))


def _board(rows: int, columns: int, ways: tuple[tuple[int, int], ...]) -> Board:
    """A board with neighbours so many rows and columns away, and as many the other way."""
    if rows < 1 or columns < 1 or rows * columns > 64:
        raise ValueError(f"{rows} rows and {columns} columns: a board has 1 to 64 spaces")
    starts = [
        sum(
            1 << columns * row + column
            for row in range(rows)
            for column in range(columns)
            if row + down in range(rows) and column + right in range(columns)
        )
        for down, right in ways
    ]
    return Board(
        np.uint64((1 << rows * columns) - 1),
        tuple(np.uint64(columns * down + right) for down, right in ways),
        tuple(np.uint64(start) for start in starts),
    )


@rule
def beside(spaces: np.uint64, board: Board) -> np.uint64:
    """The spaces that are next to at least one of these."""
    found = EMPTY
    for way in range(len(board.shifts)):
        found |= (spaces & board.starts[way]) << board.shifts[way]
        found |= (spaces >> board.shifts[way]) & board.starts[way]
    return found


@rule
def connected(start: np.uint64, inside: np.uint64, board: Board) -> np.uint64:
    """The spaces of `inside` that are connected with `start` by spaces of `inside` (a flood fill)."""
    area = start & inside
    grown = (area | beside(area, board)) & inside
    while grown != area:
        area = grown
        grown = (area | beside(area, board)) & inside
    return area


@rule
def largest_area(spaces: np.uint64, board: Board) -> np.uint64:
    """The largest connected area among these spaces; of equally large ones the one that has the first space."""
    left, largest, most = spaces, EMPTY, 0
    while left != EMPTY:
        area = connected(left & ~without_first(left), left, board)
        left &= ~area
        size = count_bits(area)
        if size > most:
            largest, most = area, size
    return largest
