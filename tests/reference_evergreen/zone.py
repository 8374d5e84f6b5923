"""The Fertility Zone: a pile of cards for each biome (The Draft)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tests.reference_evergreen.printed import Printed


@dataclass
class Laid:
    """A card in the zone."""

    card: str
    face_up: bool = True


class Zone:
    """All piles; a card's type tells its pile. Wild cards have a pile only by a flag (E17)."""

    def __init__(self, printed: Printed) -> None:
        self.printed = printed
        self.cards: list[Laid] = []
        """All piles together, in order of arrival."""
        self.waiting: Counter[str] = Counter()
        """Flips that found no card and wait for the next one, by pile (E14)."""

    def pile(self, kind: str) -> list[Laid]:
        return [laid for laid in self.cards if self.printed.kind(laid.card) == kind]

    def flowers(self, kind: str) -> int:
        """The flowers on a pile's cards that lie face up."""
        return sum(self.printed.flowers(laid.card) for laid in self.pile(kind) if laid.face_up)

    def fertility(self, biome: str) -> int:
        wild = self.flowers("wild") if self.printed.flag("wild_fertility") == "all_biomes" else 0
        return self.flowers(biome) + wild

    def add(self, card: str) -> None:
        """A card with icons arrives: flowers are just added, a skull first flips a card."""
        kind = self.printed.kind(card)
        face_up = True
        if self.printed.flowers(card) and self.waiting[kind]:
            self.waiting[kind] -= 1
            face_up = False
        skulls = self.printed.skulls(card)
        for _ in range(skulls if self.printed.flag("skull_count_matters") else min(skulls, 1)):
            self.flip(kind)
        self.cards.append(Laid(card, face_up))

    def flip(self, kind: str) -> None:
        """Turn the most recent card of a pile face down (E13 to E16)."""
        pile = self.pile(kind)
        if self.printed.flag("aridity_target") == "top_card":
            pile = pile[-1:]
        for laid in reversed(pile):
            if laid.face_up and self.printed.flowers(laid.card):
                laid.face_up = False
                return
        if self.printed.flag("aridity_empty") == "pending":
            self.waiting[kind] += 1
