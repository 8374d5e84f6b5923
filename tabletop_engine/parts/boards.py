"""Boards of squares or hexagons: neighbours, and connected areas.

A space is numbered by `columns * row + column`, from 0 at the top left. On a board of up to 64 spaces, sets of spaces
are those of `tabletop_engine.parts.sets`. A module makes its board once, and its rules pass it on:

    BOARD = square_board(rows=5, columns=6)

    @rule
    def may_build(s: State) -> np.uint64:
        return beside(s.houses, BOARD) & ~s.houses

For a larger board a game keeps an array with the content of each space, and marks spaces in arrays of 0 and 1:

    NEIGHBOURS = square_neighbours(rows=19, columns=19)

    @rule
    def count_liberties(s: State, space: int) -> int:
        group = np.zeros(SPACES, np.int8)
        mark_area(s.stones, space, NEIGHBOURS, group)
        return count_beside(s.stones, group, EMPTY, NEIGHBOURS)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import count_bits
from tabletop_engine.parts.sets import EMPTY, without_first

_SQUARES, _HEXAGONS = ((1, 0), (0, 1)), ((1, 0), (0, 1), (1, -1))
"""How many rows and columns neighbours are away, each way and back."""
NO_SPACE = -1
"""The neighbour on a side where there is none."""


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
    """A board of squares in so many `rows` and `columns`. Neighbours share a side.

    Raises ValueError for less than 1 or more than 64 spaces.
    """
    return _board(rows, columns, _SQUARES)


def hex_board(rows: int, columns: int) -> Board:
    """A board of hexagons in so many `rows` and `columns`. Each row lies half a space right of the one above.

    A space touches those before and after it, those with its column and the next one in the row above, and those with
    its column and the one before in the row below. Raises ValueError for less than 1 or more than 64 spaces.
    """
    return _board(rows, columns, _HEXAGONS)


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
    """The spaces of the `board` that are next to at least one of `spaces`."""
    found = EMPTY
    for way in range(len(board.shifts)):
        found |= (spaces & board.starts[way]) << board.shifts[way]
        found |= (spaces >> board.shifts[way]) & board.starts[way]
    return found


@rule
def connected(start: np.uint64, inside: np.uint64, board: Board) -> np.uint64:
    """The spaces of `inside` that spaces of `inside` connect with those of `start` on the `board` (a flood fill)."""
    area = start & inside
    grown = (area | beside(area, board)) & inside
    while grown != area:
        area = grown
        grown = (area | beside(area, board)) & inside
    return area


@rule
def largest_area(spaces: np.uint64, board: Board) -> np.uint64:
    """The largest area of `spaces` that is connected on the `board`; of equal ones that with the first space."""
    left, largest, most = spaces, EMPTY, 0
    while left != EMPTY:
        area = connected(left & ~without_first(left), left, board)
        left &= ~area
        size = count_bits(area)
        if size > most:
            largest, most = area, size
    return largest


# --- Boards of any size ----------------------------------------------------------------------------------------------


def square_neighbours(rows: int, columns: int) -> np.ndarray:
    """(spaces, 4) int16: the neighbours of each space of a board of squares with `rows` and `columns`, or NO_SPACE."""
    return _neighbours(rows, columns, _SQUARES)


def hex_neighbours(rows: int, columns: int) -> np.ndarray:
    """(spaces, 6) int16: the same for hexagons in `rows` and `columns`, which lie as in `hex_board`."""
    return _neighbours(rows, columns, _HEXAGONS)


def _neighbours(rows: int, columns: int, ways: tuple[tuple[int, int], ...]) -> np.ndarray:
    row, column = np.divmod(np.arange(rows * columns), columns)
    found = []
    for down, right in (*ways, *((-down, -right) for down, right in ways)):
        there = (row + down >= 0) & (row + down < rows) & (column + right >= 0) & (column + right < columns)
        found.append(np.where(there, columns * (row + down) + column + right, NO_SPACE))
    return np.stack(found, axis=1).astype(np.int16)


@rule
def mark_area(contents: np.ndarray, start: int, neighbours: np.ndarray, area: np.ndarray) -> int:
    """Write 1 into `area`, (spaces,) int8, for each space that spaces of the same content connect with space `start`.

    `contents` has what is in each space, (spaces,). `neighbours` is what `square_neighbours` or `hex_neighbours` gave.
    Returns how many spaces were marked. What is marked already is not entered.
    """
    found = np.empty(contents.shape[0], np.int16)
    found[0], number, done = start, 1, 0
    area[start] = 1
    while done < number:
        space = int(found[done])
        done += 1
        for way in range(neighbours.shape[1]):
            other = int(neighbours[space, way])
            if other != NO_SPACE and area[other] == 0 and contents[other] == contents[start]:
                area[other] = 1
                found[number] = other
                number += 1
    return number


@rule
def count_beside(contents: np.ndarray, area: np.ndarray, content: int, neighbours: np.ndarray) -> int:
    """How many spaces with this `content` in `contents` are next to the `area` of `mark_area`, and not in it.

    `neighbours` as in `mark_area`.
    """
    number = 0
    for space in range(contents.shape[0]):
        if contents[space] == content and area[space] == 0:
            for way in range(neighbours.shape[1]):
                other = int(neighbours[space, way])
                if other != NO_SPACE and area[other] == 1:
                    number += 1
                    break
    return number
