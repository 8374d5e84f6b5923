"""Everything in the game that is up to chance, asked one by one from whoever runs the game."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Protocol


class Chance(Protocol):
    """What chance decides. The game draws nothing itself: it asks, and checks that the answers are possible.

    The questions: `first_player` once; `card` for each card that the setup reveals; then in each round `card` for each
    slot of the market, from the leftmost on.
    """

    def first_player(self, players: int) -> int:
        """The seat that starts."""

    def card(self, cards: list[str]) -> str:
        """The next card from the deck, one of these; they are in ascending card id."""


class SeededChance:
    """Draws uniformly; the same seed gives the same draws."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def first_player(self, players: int) -> int:
        return self._random.randrange(players)

    def card(self, cards: list[str]) -> str:
        return self._random.choice(cards)


class ScriptedChance:
    """Tells what it was told: the first player's seat, and the cards in the order in which they are drawn.

    Arguments:
        then: is asked when the cards have run out.
    """

    def __init__(self, first: int, cards: Iterable[str], then: Chance | None = None) -> None:
        self._first = first
        self._cards = list(cards)
        self._then = then

    def first_player(self, players: int) -> int:
        return self._first

    def card(self, cards: list[str]) -> str:
        if self._cards:
            return self._cards.pop(0)
        if self._then is None:
            raise ValueError("the script has run out of cards")
        return self._then.card(cards)
