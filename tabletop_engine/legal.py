"""The pending decision of a game, and the set of actions that answer it: one bit an action, in 64-bit words."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.record import NOBODY

NOTHING_ASKED = -1
"""A value of `decision` that occurs only inside `step`: no decision is pending, and the game goes on."""
NO_WAY_ON = -2
"""A value of `decision` for games whose rules never reach a decision or the end, mostly after a change by hand."""

_0 = np.uint64(0)
_1 = np.uint64(1)
_63 = np.uint64(63)
_6 = np.uint64(6)
_2 = np.uint64(2)
_4 = np.uint64(4)
_56 = np.uint64(56)
_PAIRS = np.uint64(0x5555555555555555)
_QUADS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONES = np.uint64(0x0101010101010101)


@rule
def ask(s: Any, decision: int, seat: int) -> None:
    """Ask this seat for this decision."""
    s.decision = decision
    s.actor = seat


@rule
def ask_nothing(s: Any) -> None:
    """Mark the pending decision as answered, so that the game goes on."""
    s.decision = NOTHING_ASKED


@rule
def forbid_all(s: Any) -> None:
    """Make the set of legal actions empty."""
    for i in range(s.legal.shape[0]):
        s.legal[i] = _0


@rule
def give_up(s: Any) -> None:
    """Stop a game that reaches no further decision; `Batch` raises an error for it."""
    ask(s, NO_WAY_ON, NOBODY)
    forbid_all(s)


@rule
def allow(s: Any, action: int) -> None:
    """Add an action to the set of legal actions."""
    a = np.uint64(action)
    s.legal[a >> _6] |= _1 << (a & _63)


@rule
def is_legal(s: Any, action: int) -> bool:
    """Whether an action is in the set of legal actions."""
    a = np.uint64(action)
    return (s.legal[a >> _6] >> (a & _63)) & _1 == _1


@rule
def count_bits(word: np.uint64) -> int:
    """The number of ones in a 64-bit word."""
    word = word - ((word >> _1) & _PAIRS)
    word = (word & _QUADS) + ((word >> _2) & _QUADS)
    word = (word + (word >> _4)) & _BYTES
    return int(np.int64((word * _ONES) >> _56))


@rule
def count_legal(s: Any) -> int:
    """The number of legal actions."""
    total = 0
    for i in range(s.legal.shape[0]):
        total += count_bits(s.legal[i])
    return total


@rule
def nth_legal(s: Any, n: int) -> int:
    """The n-th legal action, from 0, in ascending order."""
    for i in range(s.legal.shape[0]):
        word = s.legal[i]
        here = count_bits(word)
        if n >= here:
            n -= here
            continue
        for _ in range(n):
            word = word & (word - _1)
        return 64 * i + count_bits((word ^ (word - _1)) >> _1)
    return -1


@rule
def next_legal(s: Any, action: int) -> int:
    """The first legal action from `action` on, or -1."""
    for i in range(action // 64, s.legal.shape[0]):
        word = s.legal[i]
        if i == action // 64:
            word = (word >> np.uint64(action % 64)) << np.uint64(action % 64)
        if word != 0:
            return 64 * i + count_bits((word ^ (word - _1)) >> _1)
    return -1
