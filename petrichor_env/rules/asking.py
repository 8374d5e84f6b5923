"""Turn order, the owners of drops in actions, and naming several cards one after another."""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import CARD
from petrichor_env.state import MAX_PLAYERS, NUM_KINDS, State
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow
from tabletop_engine.parts.turns import seat_after


@rule
def clockwise(s: State, turns: int) -> int:
    """The seat that is that many turns after the first player."""
    return seat_after(s, s.first_player, turns)


@rule
def anticlockwise(s: State, turns: int) -> int:
    """The seat that is that many turns after the last player, if the last one begins."""
    return (s.first_player - 1 - turns) % s.players


@rule
def seat_of(s: State, owner: int) -> int:
    """The seat of an owner in an action: `owner` counts clockwise from the actor."""
    seat = s.actor + owner
    return seat - s.owners if seat >= s.owners else seat


@rule
def owner_of(s: State, seat: int) -> int:
    """The opposite of `seat_of`."""
    owner = seat - s.actor
    return owner + s.owners if owner < 0 else owner


@rule
def drop_action(s: State, first: int, tile: int, seat: int) -> int:
    """The action that names a drop of this seat on a tile, in the range that begins at `first`."""
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
