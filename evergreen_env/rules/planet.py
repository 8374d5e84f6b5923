"""Sets of spaces: pieces on a planet, light and forest (End of Season).

A set has a bit for each place of the grid (`state`). Moving a set by a row or a column is one shift.
"""

from __future__ import annotations

import numpy as np

from evergreen_env.state import COLUMNS, PLACES, ROWS, State, Sun
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import count_bits
from tabletop_engine.parts.boards import largest_area, square_board
from tabletop_engine.parts.sets import EMPTY

PLANET = square_board(ROWS, COLUMNS)
NO_SPACES = EMPTY
ALL = PLANET.spaces
_ROW, _ONE = np.uint64(COLUMNS), np.uint64(1)
_FIRST_COLUMN = np.uint64(sum(1 << place for place in range(0, PLACES, COLUMNS)))
_LAST_COLUMN = np.uint64(sum(1 << place for place in range(COLUMNS - 1, PLACES, COLUMNS)))


@rule
def north_of(spaces: np.uint64) -> np.uint64:
    """The spaces one row to the north."""
    return spaces >> _ROW


@rule
def south_of(spaces: np.uint64) -> np.uint64:
    """The spaces one row to the south."""
    return (spaces << _ROW) & ALL


@rule
def east_of(spaces: np.uint64) -> np.uint64:
    """The spaces one column to the east."""
    return (spaces & ~_LAST_COLUMN) << _ONE


@rule
def west_of(spaces: np.uint64) -> np.uint64:
    """The spaces one column to the west."""
    return (spaces & ~_FIRST_COLUMN) >> _ONE


@rule
def shaded_by(spaces: np.uint64, sun: int) -> np.uint64:
    """The spaces next to these in the direction away from the sun."""
    if sun == Sun.NORTH:
        return south_of(spaces)
    if sun == Sun.EAST:
        return west_of(spaces)
    if sun == Sun.SOUTH:
        return north_of(spaces)
    return east_of(spaces)


# --- Light and forest ------------------------------------------------------------------------------------------------


@rule
def lit_small_trees(small: np.uint64, big: np.uint64, sun: int) -> np.uint64:
    """The small trees outside every tree's shadow. All trees shade them, since none is smaller."""
    return small & ~(shaded_by(small | big, sun) | shaded_by(shaded_by(big, sun), sun))


@rule
def lit_big_trees(big: np.uint64, sun: int) -> np.uint64:
    """The big trees outside every big tree's shadow, which is two spaces long. Small trees don't shade them."""
    once = shaded_by(big, sun)
    return big & ~(once | shaded_by(once, sun))


@rule
def light_points(small: np.uint64, big: np.uint64, sun: int) -> int:
    """1 for each small tree that collects light, 2 for each big one."""
    return count_bits(lit_small_trees(small, big, sun)) + 2 * count_bits(lit_big_trees(big, sun))


@rule
def largest_forest(wood: np.uint64) -> np.uint64:
    """The largest set of orthogonally adjacent spaces; of equal ones the first in reading order."""
    return largest_area(wood, PLANET)


# --- Pieces on the planet --------------------------------------------------------------------------------------------


@rule
def trees_and_bushes(s: State, seat: int) -> np.uint64:
    """The spaces that count as forest: those with trees or bushes."""
    return s.small_trees[seat] | s.big_trees[seat] | s.bushes[seat]


@rule
def occupied(s: State, seat: int) -> np.uint64:
    """Spaces of this player that are not empty."""
    return s.sprouts[seat] | trees_and_bushes(s, seat) | s.lakes[seat]
