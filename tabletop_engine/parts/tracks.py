"""Tracks: a marker for each player or thing, which moves forward on numbered spaces up to the last one."""

from __future__ import annotations

import numpy as np

from tabletop_engine.compiling.compiled import rule


@rule
def advance(track: np.ndarray, marker: int, steps: int, last: int) -> int:
    """Move a marker so many `steps` forward, at most to the space `last`, and return the space that it is on then.

    `track` has the space of each marker; `marker` is the number of this one.
    """
    track[marker] = min(int(track[marker]) + steps, last)
    return int(track[marker])
