"""Default parts of a `Game`, for games without special needs.

Here are the fields of `tabletop_engine.game.RECORD`, rules that begin and end a game, rules for games in which points
decide and nothing is hidden, and tables for a game without printed numbers. `tabletop_engine.text.plain` has default
words and drawings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.errors import ComponentsError
from tabletop_engine.legal import ask, forbid_all
from tabletop_engine.record import NOBODY, Bits, Number, Record, number

# --- The record ------------------------------------------------------------------------------------------------------


class GameRecord(Record):
    """The fields of `tabletop_engine.game.RECORD`, except `legal` and `points`, whose shapes differ from game to
    game."""

    rng: Bits = number(np.uint64, "the random stream")
    decision: Number = number(np.int8, "the number of the pending decision")
    actor: Number = number(np.int8, "the seat that takes the pending decision, or NOBODY")
    players: Number = number(np.int8, "the number of players")
    owners: Number = number(np.int8, "the number of owners of points")
    round: Number = number(np.int8, "the current round, from 1")
    rounds: Number = number(np.int8, "the number of rounds")
    forfeited: Number = number(np.int8, "the seat that lost by an illegal action, or NOBODY")
    edition: Number = number(np.int16, "which of several tables of printed numbers is played with")


@rule
def begin_game(s: Any) -> None:
    """Set points to 0 and the round to 1, and ask seat 0 for decision 0. The caller then writes the legal actions."""
    s.round = 1
    s.points[:] = 0
    s.forfeited = NOBODY
    ask(s, 0, 0)


@rule
def end_game(s: Any) -> None:
    """End the game: nobody has a decision any more."""
    s.actor = NOBODY
    forbid_all(s)


# --- Rules -----------------------------------------------------------------------------------------------------------


@rule
def ranks_by_points(s: Any, out: np.ndarray) -> None:
    """A `Rules.ranks`: most points first."""
    for owner in range(s.owners):
        out[owner] = 1
        for other in range(s.owners):
            out[owner] += s.points[other] > s.points[owner]


@rule
def forfeit(s: Any, seat: int) -> None:
    """A `Rules.forfeit`: the game ends, and this seat has lost it."""
    s.forfeited = seat
    end_game(s)


@rule
def own_team(s: Any, seat: int) -> int:
    """A `Rules.team` of a game in which everybody plays alone: each seat owns its points."""
    return seat


@rule
def hide_nothing(s: Any, t: Any, seat: int, rng: np.uint64) -> None:
    """A `Rules.sample_hidden` of a game without hidden information: only the random stream changes."""
    s.rng = rng


@rule
def margin(total: float, own: float, owners: int) -> float:
    """Own points minus the mean of the others' points. `total` is the sum of all points. Alone: own points."""
    return own if owners == 1 else own - (total - own) / (owners - 1)


@rule
def points_margin(s: Any, owner: int) -> float:
    """The margin of an owner, by the points that all owners have now."""
    total = 0.0
    for other in range(s.owners):
        total += float(s.points[other])
    return margin(total, float(s.points[owner]), s.owners)


@rule
def points_ahead(s: Any, t: Any, w: Any, owner: int, memo: np.ndarray) -> float:
    """A `Rules.value`: the margin by the points that all owners have now."""
    return points_margin(s, owner)


@rule
def is_others_turn(s: Any, seat: int) -> bool:
    """A `Rules.is_settled`: a seat's move is complete when another seat has a decision, or none has."""
    return s.actor != seat


# --- Numbers ---------------------------------------------------------------------------------------------------------


NO_TABLES = np.dtype([("nothing", np.int8)])
"""The dtype of the tables of a game without printed numbers."""


def no_tables(components: Any) -> np.ndarray:
    """A `Game.load_tables` of a game without printed numbers. Raises ComponentsError unless `components` is None."""
    if components is not None:
        raise ComponentsError(f"components={components!r:.80}: this game has no numbers to replace")
    tables = np.zeros(1, NO_TABLES)
    tables.flags.writeable = False
    return tables


def no_draws(seed: int, components: Any = None) -> Any:
    """A `Game.draw_components` of a game whose numbers are all known. Raises ComponentsError."""
    raise ComponentsError("this game has no numbers with ranges to draw from")
