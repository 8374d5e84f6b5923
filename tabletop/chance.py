"""The only randomness of a game: draws from a generator inside its record (splitmix64)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop.compiled import rule

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30 = np.uint64(30)
_27 = np.uint64(27)
_31 = np.uint64(31)
_32 = np.uint64(32)


@rule
def random_bits(s: Any) -> np.uint64:
    s.rng = s.rng + _GAMMA
    z = s.rng
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@rule
def random_below(s: Any, bound: int) -> int:
    """A uniform number in 0 … bound - 1 (its bias, below bound / 2**32, is far under what games can show)."""
    return int(np.int64(((random_bits(s) >> _32) * np.uint64(bound)) >> _32))


@rule
def draw_from(s: Any, counts: np.ndarray) -> int:
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
