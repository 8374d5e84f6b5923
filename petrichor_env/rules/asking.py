"""The pending decision and the set of actions that answer it, one bit an action."""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import CARD
from petrichor_env.state import LEGAL_WORDS, MAX_PLAYERS, NUM_KINDS, State
from tabletop.compiled import rule

NOTHING_ASKED = -1
"""A `decision` inside `step` only: the game goes on by itself."""

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
def ask(s: State, decision: int, seat: int) -> None:
    s.decision = decision
    s.actor = seat


@rule
def ask_nothing(s: State) -> None:
    s.decision = NOTHING_ASKED


@rule
def allow(s: State, action: int) -> None:
    a = np.uint64(action)
    s.legal[a >> _6] |= _1 << (a & _63)


@rule
def is_legal(s: State, action: int) -> bool:
    a = np.uint64(action)
    return (s.legal[a >> _6] >> (a & _63)) & _1 == _1


@rule
def count_bits(word: np.uint64) -> int:
    word = word - ((word >> _1) & _PAIRS)
    word = (word & _QUADS) + ((word >> _2) & _QUADS)
    word = (word + (word >> _4)) & _BYTES
    return int(np.int64((word * _ONES) >> _56))


@rule
def count_legal(s: State) -> int:
    total = 0
    for i in range(LEGAL_WORDS):
        total += count_bits(s.legal[i])
    return total


@rule
def nth_legal(s: State, n: int) -> int:
    """The n-th legal action, from 0, in ascending order."""
    for i in range(LEGAL_WORDS):
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
def seat_of(s: State, owner: int) -> int:
    """Whose drops an action means: `owner` counts clockwise from the actor."""
    return (int(s.actor) + owner) % int(s.owners)


@rule
def owner_of(s: State, seat: int) -> int:
    """The opposite of `seat_of`."""
    return (seat - int(s.actor)) % int(s.owners)


@rule
def drop_action(s: State, first: int, tile: int, seat: int) -> int:
    return first + tile * MAX_PLAYERS + owner_of(s, seat)


@rule
def allow_cards(s: State, cards: np.ndarray, excluded: int) -> None:
    """The next of `cards_left` cards, named in ascending order of kinds, so that enough are left to name."""
    available = 0
    for kind in range(NUM_KINDS - 1, s.lowest_card - 1, -1):
        if kind == excluded or cards[kind] == 0:
            continue
        available += int(cards[kind])
        if available >= s.cards_left:
            allow(s, CARD + kind)
