"""The only randomness of a game: draws from a generator inside its record (splitmix64).

A scripted record (`tabletop_engine.positions.scripted`) also has a list of outcomes. Draws on it take these outcomes in
order. The first draw beyond the list is noted: its possible outcomes and their probabilities. The type of the record
decides which kind of draw is compiled, so ordinary records lose no time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import rule, rule_with_alternative

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30 = np.uint64(30)
_27 = np.uint64(27)
_31 = np.uint64(31)
_32 = np.uint64(32)

SCRIPT = "script"
"""A record with a field of this name is a scripted record."""
MOST_KINDS = 256
"""The most kinds of things in one draw of `draw_from` on a scripted record."""


@rule
def random_bits(s: Any) -> np.uint64:
    """64 random bits from the record's stream."""
    s.rng = s.rng + _GAMMA
    return mixed_bits(s.rng)


@rule
def mixed_bits(z: np.uint64) -> np.uint64:
    """64 bits that depend on all bits of a number, and differ for different numbers."""
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


# --- Scripted records ------------------------------------------------------------------------------------------------


def scripted_below(s: Any, bound: int) -> int:
    """`random_below` of a scripted record: the next outcome of the script.

    After its end the number is random, and the bound of the first such draw is noted.
    """
    if bound < 2:
        return 0
    place = int(s.drawn)
    s.drawn += 1
    if place < s.scripted:
        return int(s.script[place])
    if place == s.scripted:
        s.outcomes, s.weighted = bound, 0
    return int(np.int64(random_bits(s) % np.uint64(bound)))


def scripted_draw(s: Any, counts: np.ndarray) -> int:
    """`draw_from` of a scripted record: the next outcome of the script is the kind that is drawn."""
    total, kinds, kind = 0, 0, -1
    for one in range(counts.shape[0]):
        if counts[one] > 0:
            total, kinds, kind = total + int(counts[one]), kinds + 1, one
    if kinds > 1:
        place = int(s.drawn)
        s.drawn += 1
        if place < s.scripted:
            kind = int(s.script[place])
        else:
            if place == s.scripted:
                s.outcomes, s.weighted = counts.shape[0], 1
                for one in range(min(counts.shape[0], s.weights.shape[0])):
                    s.weights[one] = counts[one]
            left = int(np.int64(random_bits(s) % np.uint64(total)))
            kind = 0
            while left >= counts[kind]:
                left -= int(counts[kind])
                kind += 1
    if kind >= 0:
        counts[kind] -= 1
    return kind


# --- All others ------------------------------------------------------------------------------------------------------


@rule_with_alternative(SCRIPT, scripted_below)
def random_below(s: Any, bound: int) -> int:
    """A uniformly random number from 0 to bound - 1. Its bias is below bound / 2**32, too small to matter in a game."""
    return int(np.int64(((random_bits(s) >> _32) * np.uint64(bound)) >> _32))


@rule_with_alternative(SCRIPT, scripted_draw)
def draw_from(s: Any, counts: np.ndarray) -> int:
    """Draw a random thing, remove it from `counts` (one for each kind), and return its kind; -1 if none is left."""
    total = 0
    for kind in range(counts.shape[0]):
        total += int(counts[kind])
    if total == 0:
        return -1
    left = random_below(s, total)
    for kind in range(counts.shape[0]):
        left -= int(counts[kind])
        if left < 0:
            counts[kind] -= 1
            return kind
    return -1
