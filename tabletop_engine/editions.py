"""The edition of a game: which of several tables of printed numbers it is played with.

A record's field `edition` is an index into the tables of its batch. With one table it has no meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.chance import mixed_bits
from tabletop_engine.compiling.compiled import rule

MOST_EDITIONS = 32_767
"""The most editions of one batch: what the field of a record can tell apart."""

_OWN_STREAM = np.uint64(0x5851F42D4C957F2D)


@rule
def edition_of(s: Any, tables: np.ndarray) -> int:
    """The index of the table that a game is played with; 0 for an index that does not exist."""
    return s.edition if 0 <= s.edition < tables.shape[0] else 0


@rule
def draw_edition(s: Any, editions: int) -> int:
    """An edition for a new game, all equally likely.

    It follows from the game's random stream, which stays where it is. So a game from a seed is the same game whether
    its edition was drawn, or is the only one.
    """
    return int(np.int64(mixed_bits(s.rng ^ _OWN_STREAM) % np.uint64(editions)))
