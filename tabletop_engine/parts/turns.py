"""Turn order. A record numbers the players' seats clockwise, from 0.

**Passing.** Keep an array `passed` with 0 or 1 for each seat; `next_with(s, s.actor + 1, s.passed, 0)` is whose turn it
is, or NOBODY once all have passed.

**Choices that all make at the same time.** They are asked one after another, and shown when all are made. Keep an array
`chosen` with NOT_CHOSEN or a choice for each seat. `next_with(s, first, s.chosen, NOT_CHOSEN)` is who is asked next.
`observe` shows a player only the own choice. `sample_hidden` for the player who is asked calls `take_back_choices`: to
that player it is as if the others chose later.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.record import NOBODY

NOT_CHOSEN = -1
"""What `chosen` holds for a player who has not chosen yet."""


@rule
def seat_after(s: Any, first: int, turns: int) -> int:
    """The seat that is so many `turns` after seat `first`, among the players of the record `s`."""
    return (first + turns) % s.players


@rule
def next_seat(s: Any) -> int:
    """The seat whose turn comes after that of the actor of the record `s`."""
    return seat_after(s, s.actor, 1)


@rule
def next_with(s: Any, first: int, numbers: np.ndarray, wanted: int) -> int:
    """The first seat from seat `first` on that has the number `wanted` in `numbers`; NOBODY if there is none.

    `numbers` has one for each player of the record `s`. `first` may be past the last seat.
    """
    for turns in range(s.players):
        seat = seat_after(s, first, turns)
        if numbers[seat] == wanted:
            return seat
    return NOBODY


@rule
def take_back_choices(s: Any, chosen: np.ndarray, seat: int) -> None:
    """Write NOT_CHOSEN into `chosen` for all players of the record `s` but this `seat`."""
    for other in range(s.players):
        if other != seat:
            chosen[other] = NOT_CHOSEN


@rule
def write_order(s: Any, numbers: np.ndarray, out: np.ndarray) -> None:
    """Write the seats into `out`, that of the smallest of `numbers` first; of equal ones the smaller seat comes first.

    Both have one number for each player of the record `s`.
    """
    for seat in range(s.players):
        place = 0
        for other in range(s.players):
            place += numbers[other] < numbers[seat] or (numbers[other] == numbers[seat] and other < seat)
        out[place] = seat
