"""The cards: what is on them, and how they are drawn."""

from __future__ import annotations

import numpy as np

from evergreen_env.state import NO_CARD, NUM_CARDS, NUM_POWERS, Biome, State
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.parts.sets import EMPTY, only, random_of

ALL_CARDS = np.uint64((1 << NUM_CARDS) - 1)
"""The set of all cards that there can be."""


@rule
def biome_of(card: int) -> int:
    """The card's Biome, which may be WILD."""
    return card // NUM_POWERS


@rule
def power_of(card: int) -> int:
    """The card's Power."""
    return card % NUM_POWERS


@rule
def is_wild(card: int) -> bool:
    """Whether the card is wild: it stands for any biome."""
    return biome_of(card) == Biome.WILD


@rule
def draw_card(s: State) -> int:
    """A random card from the deck. If the deck is empty, the discard pile is shuffled and becomes the deck."""
    if s.deck == EMPTY:
        s.deck = s.discards
        s.discards = EMPTY
    card = random_of(s, s.deck & ALL_CARDS)
    if card != NO_CARD:
        s.deck &= ~only(card)
    return card
