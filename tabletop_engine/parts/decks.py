"""Decks of cards, bags of pieces, and discards. There are three ways to keep them in a record:

- **Counts**, one for each kind, if cards of a kind are equal and nobody knows their order.
  `tabletop_engine.chance.draw_from` draws one. It is also the way for a bag.
- **A set** (`tabletop_engine.parts.sets`), if all cards differ and nobody knows their order. `random_of` draws one.
- **An ordered deck**, if cards can be put on it, or if drawing has to be fast. It is an array: its first number is how
  many cards it holds, then come the cards from the bottom to the top.

With counts and sets, the order comes into being only when a card is drawn. So nothing about it has to be redrawn by
`sample_hidden`. An ordered deck has to be shuffled there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop_engine.chance import draw_from, random_below
from tabletop_engine.compiling.compiled import rule

# --- Counts ----------------------------------------------------------------------------------------------------------


@rule
def draw_or_reshuffle(s: Any, deck: np.ndarray, discards: np.ndarray) -> int:
    """Draw a card by the random stream of the record `s`, and return its kind; -1 if there is none.

    `deck` and `discards` count the cards of each kind. An empty deck is made anew from the discards.
    """
    kind = draw_from(s, deck)
    if kind < 0:
        for other in range(deck.shape[0]):
            deck[other] = discards[other]
            discards[other] = 0
        kind = draw_from(s, deck)
    return kind


# --- Ordered decks ---------------------------------------------------------------------------------------------------


def deck_of(cards: int) -> int:
    """The length of the array of an ordered deck that has room for so many `cards`."""
    return cards + 1


@rule
def cards_left(deck: np.ndarray) -> int:
    """The number of cards in the ordered `deck`."""
    return int(deck[0])


@rule
def clear_deck(deck: np.ndarray) -> None:
    """Make the ordered `deck` empty."""
    deck[0] = 0


@rule
def put_on_top(deck: np.ndarray, card: int) -> None:
    """Put the number `card` on top of the ordered `deck`."""
    deck[0] += 1
    deck[deck[0]] = card


@rule
def draw_top(deck: np.ndarray) -> int:
    """Remove the top card of the ordered `deck`, and return its number; -1 if the deck is empty."""
    left = int(deck[0])
    if left == 0:
        return -1
    card = int(deck[left])
    deck[left] = 0  # equal decks have equal bytes
    deck[0] = left - 1
    return card


@rule
def shuffle(s: Any, deck: np.ndarray) -> None:
    """Put the cards of the ordered `deck` into a random order, by the random stream of the record `s`."""
    for place in range(int(deck[0]), 1, -1):
        other = 1 + random_below(s, place)
        card = deck[place]
        deck[place] = deck[other]
        deck[other] = card
