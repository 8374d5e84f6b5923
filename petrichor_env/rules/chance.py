"""Dice, draws and shuffles: the only randomness of a game, from a generator inside the record (splitmix64)."""

from __future__ import annotations

import numpy as np

from petrichor_env.state import NUM_KINDS, State
from tabletop.compiled import rule

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30 = np.uint64(30)
_27 = np.uint64(27)
_31 = np.uint64(31)
_32 = np.uint64(32)


@rule
def random_bits(s: State) -> np.uint64:
    s.rng = s.rng + _GAMMA
    z = s.rng
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@rule
def random_below(s: State, bound: int) -> int:
    """A uniform number in 0 … bound - 1 (its bias, below bound / 2**32, is far under what games can show)."""
    return int(np.int64(((random_bits(s) >> _32) * np.uint64(bound)) >> _32))


@rule
def roll_numeric_die(s: State) -> int:
    return random_below(s, 6) + 1


@rule
def roll_harvest_die(s: State, t: State) -> int:
    return int(t.harvest_die[random_below(s, 6)])


@rule
def draw_from(s: State, counts: np.ndarray) -> int:
    """Take a uniformly random one of the things counted, and say which kind; -1 if there is none."""
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


@rule
def draw_card(s: State) -> int:
    """The top card of the deck; an empty deck is made anew from the discards (Clean-up Phase). -1 if both are empty."""
    kind = draw_from(s, s.deck)
    if kind < 0:
        for other in range(NUM_KINDS):
            s.deck[other] = s.discards[other]
            s.discards[other] = 0
        kind = draw_from(s, s.deck)
    return kind
