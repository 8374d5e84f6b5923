"""The cards: what is on them, and how they are drawn."""

from __future__ import annotations

import numpy as np

from evergreen_env.state import NO_CARD, NUM_CARDS, NUM_POWERS, Biome, State
from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import count_bits

_0, _1 = np.uint64(0), np.uint64(1)


@rule
def card_set(card: int) -> np.uint64:
    """The set of this one card."""
    return _1 << np.uint64(card)


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
def nth_card(cards: np.uint64, n: int) -> int:
    """The n-th card of a set, from 0; NO_CARD if there are fewer."""
    for _ in range(n):
        cards = cards & (cards - _1)
    card = count_bits((cards ^ (cards - _1)) >> _1)
    return card if card < NUM_CARDS else NO_CARD


@rule
def draw_card(s: State) -> int:
    """A random card from the deck. If the deck is empty, the discard pile is shuffled and becomes the deck."""
    if s.deck == _0:
        s.deck = s.discards
        s.discards = _0
    card = nth_card(s.deck, random_below(s, max(1, count_bits(s.deck))))
    if card != NO_CARD:
        s.deck &= ~card_set(card)
    return card
