"""Victory Points, and the places of players on a tile."""

from __future__ import annotations

from petrichor_env.state import MAX_PLAYERS, State
from tabletop_engine.compiling.compiled import rule


@rule
def gain(s: State, seat: int, points: int, source: int) -> None:
    """Add points of this source."""
    s.points[seat] += points
    s.scored[seat, source] += points


@rule
def players_present(s: State, tile: int) -> int:
    """The number of owners with drops on this tile."""
    present = 0
    for seat in range(MAX_PLAYERS):
        if s.drops[tile, seat] > 0:
            present += 1
    return present


@rule
def place(s: State, tile: int, seat: int) -> int:
    """The place of a player on a tile: 1 for the most drops.

    Tied players all take the lower place (Ties), so two players tied for first are second. The player must have drops
    there.
    """
    at_least = 0
    for other in range(MAX_PLAYERS):
        if s.drops[tile, other] >= s.drops[tile, seat]:
            at_least += 1
    return at_least
