"""Whose turn it is, whose drops an action means, and how several cards are named one after another."""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import CARD
from petrichor_env.state import MAX_PLAYERS, NUM_KINDS, State
from tabletop.compiled import rule
from tabletop.legal import allow


@rule
def clockwise(s: State, turns: int) -> int:
    """Who comes that many turns after the first player."""
    return (s.first_player + turns) % s.players


@rule
def anticlockwise(s: State, turns: int) -> int:
    """Who comes that many turns after the last player, where the last one begins."""
    return (s.first_player - 1 - turns) % s.players


@rule
def seat_of(s: State, owner: int) -> int:
    """Whose drops an action means: `owner` counts clockwise from the actor."""
    seat = s.actor + owner
    return seat - s.owners if seat >= s.owners else seat


@rule
def owner_of(s: State, seat: int) -> int:
    """The opposite of `seat_of`."""
    owner = seat - s.actor
    return owner + s.owners if owner < 0 else owner


@rule
def drop_action(s: State, first: int, tile: int, seat: int) -> int:
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
