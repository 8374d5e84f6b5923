"""Sets of up to 64 different things, such as cards or spaces of a board: one `uint64` with a bit for each thing.

Things are numbered from 0. `a | b` are the things of both sets, `a & b` those that are in both, and `a & ~b` those of
`a` that are not in `b`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, count_bits

EMPTY = np.uint64(0)
_1 = np.uint64(1)


@rule
def only(thing: int) -> np.uint64:
    """The set of the number `thing` alone."""
    return _1 << np.uint64(thing)


@rule
def first_of(things: np.uint64) -> int:
    """The smallest number in the set `things`; 63 if it is empty."""
    return count_bits((things ^ (things - _1)) >> _1)


@rule
def without_first(things: np.uint64) -> np.uint64:
    """The set `things` without its smallest number."""
    return things & (things - _1)


@rule
def later_than(thing: int) -> np.uint64:
    """The set of all numbers above `thing`."""
    return ~((only(thing) << _1) - _1)


@rule
def nth_of(things: np.uint64, n: int) -> int:
    """The number in the set `things` that has `n` smaller ones beside it; -1 if there is none."""
    for _ in range(n):
        things = without_first(things)
    return first_of(things) if things != EMPTY else -1


@rule
def random_of(s: Any, things: np.uint64) -> int:
    """A random number of the set `things`, by the random stream of the record `s`; -1 if the set is empty."""
    return nth_of(things, random_below(s, max(1, count_bits(things))))


@rule
def allow_each(s: Any, first_action: int, things: np.uint64) -> None:
    """Allow the action `first_action` + number in the record `s` for each number of the set `things`."""
    while things != EMPTY:
        allow(s, first_action + first_of(things))
        things = without_first(things)


@rule
def write_ones(things: np.uint64, out: np.ndarray, start: int) -> None:
    """Write a 1 into `out` at `start` + number for each number of the set `things`."""
    while things != EMPTY:
        out[start + first_of(things)] = 1
        things = without_first(things)
