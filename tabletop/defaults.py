"""What a game need not say itself: the parts of a `Game` that are the same wherever nothing special is wanted.

The fields of `tabletop.game.RECORD` and the rules that begin and end a game in them, rules for games without secrets
whose points decide, and the numbers of a game that prints none. What it is called and how it looks is `tabletop.plain`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop.compiled import rule
from tabletop.errors import ComponentsError
from tabletop.legal import ask, forbid_all
from tabletop.record import NOBODY, Record, number

# --- The record ------------------------------------------------------------------------------------------------------


class GameRecord(Record):
    """The fields of `tabletop.game.RECORD`, except for those whose shape is the game's own: `legal` and `points`."""

    rng = number(np.uint64, "the random stream")
    decision = number(np.int8, "what is asked")
    actor = number(np.int8, "the seat that is asked, or NOBODY")
    players = number(np.int8, "how many there are")
    owners = number(np.int8, "how many have points")
    round = number(np.int8, "the present one, from 1")
    rounds = number(np.int8, "how many are played")
    forfeited = number(np.int8, "the seat that lost by an illegal action, or NOBODY")


@rule
def begin_game(s: Any) -> None:
    """Nobody has points, it is round 1, and seat 0 is asked the first decision; what is legal is still to be said."""
    s.round = 1
    s.points[:] = 0
    s.forfeited = NOBODY
    ask(s, 0, 0)


@rule
def end_game(s: Any) -> None:
    """Nobody is asked any more."""
    s.actor = NOBODY
    forbid_all(s)


# --- Rules -----------------------------------------------------------------------------------------------------------


@rule
def ranks_by_points(s: Any, out: np.ndarray) -> None:
    """The most points are the first place."""
    for owner in range(s.owners):
        out[owner] = 1
        for other in range(s.owners):
            out[owner] += s.points[other] > s.points[owner]


@rule
def forfeit(s: Any, seat: int) -> None:
    """The game ends here, and this seat has lost it."""
    s.forfeited = seat
    end_game(s)


@rule
def hide_nothing(s: Any, t: Any, seat: int, rng: np.uint64) -> None:
    """Only what chance will bring is unknown."""
    s.rng = rng


@rule
def margin(total: float, own: float, owners: int) -> float:
    """Own points less the mean of the others', by the sum of all; own points where there is nobody else."""
    return own if owners == 1 else own - (total - own) / (owners - 1)


@rule
def points_margin(s: Any, seat: int) -> float:
    """The margin of the points that everybody has now."""
    total = 0.0
    for owner in range(s.owners):
        total += float(s.points[owner])
    return margin(total, float(s.points[seat]), s.owners)


@rule
def points_ahead(s: Any, t: Any, w: Any, seat: int, memo: np.ndarray) -> float:
    """A `Rules.value`: what counts is the points that everybody has."""
    return points_margin(s, seat)


@rule
def is_others_turn(s: Any, seat: int) -> bool:
    """What a seat does is done when somebody else is asked, or nobody."""
    return s.actor != seat


# --- Numbers ---------------------------------------------------------------------------------------------------------


NO_TABLES = np.dtype([("nothing", np.int8)])
"""For games without printed numbers."""


def no_tables(components: Any) -> np.ndarray:
    """(1,) NO_TABLES, read-only. Raises ComponentsError for numbers that should replace them."""
    if components is not None:
        raise ComponentsError(f"components={components!r:.80}: this game has no numbers to replace")
    tables = np.zeros(1, NO_TABLES)
    tables.flags.writeable = False
    return tables


def no_form(state: Any) -> None:
    """A game that says nothing of what a description may hold."""


def no_memo() -> np.ndarray:
    """Scratch space for a valuation that needs none."""
    return np.zeros(1)
