"""Slots: places for one card each, such as a market or a hand. A slot holds the number of a card, or NO_CARD."""

from __future__ import annotations

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.parts.decks import draw_top

NO_CARD = -1
"""What an empty slot holds."""
NO_SLOT = -1
"""The number of a slot that does not exist."""


@rule
def first_filled(slots: np.ndarray) -> int:
    """The first of the `slots` that has a card, or NO_SLOT."""
    for slot in range(slots.shape[0]):
        if slots[slot] != NO_CARD:
            return slot
    return NO_SLOT


@rule
def first_empty(slots: np.ndarray) -> int:
    """The first of the `slots` without a card, or NO_SLOT."""
    for slot in range(slots.shape[0]):
        if slots[slot] == NO_CARD:
            return slot
    return NO_SLOT


@rule
def take_card(slots: np.ndarray, slot: int) -> int:
    """Take the card out of the `slot` of this number among `slots`, and return it."""
    card = int(slots[slot])
    slots[slot] = NO_CARD
    return card


@rule
def clear_slots(slots: np.ndarray) -> None:
    """Make all `slots` empty."""
    for slot in range(slots.shape[0]):
        slots[slot] = NO_CARD


@rule
def refill(slots: np.ndarray, deck: np.ndarray) -> None:
    """Fill each empty one of the `slots` with the top card of the ordered `deck`, from the first slot on.

    With an empty deck they stay empty.
    """
    for slot in range(slots.shape[0]):
        if slots[slot] == NO_CARD:
            slots[slot] = draw_top(deck)
