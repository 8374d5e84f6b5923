"""The stand-in numbers (EVERGREEN.md, c1 to c3), each replaceable by its dotted key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.reference_evergreen.words import BIOMES, LETTERS, OUTSIDE, POWERS, TYPES

NUMBERS: dict[str, Any] = {
    "board.rows": ("..NNRR.", "MMNN#R.", "M#NNRRR", "MMM#FFF", "WWWGG#F", ".W#GGFF", ".WWGG.."),
    "deck.meadow": (2, 1, 1, 1, 0, "skull"),
    "deck.flowers": ("skull", 2, 1, 1, 1, 0),
    "deck.grain": (0, "skull", 2, 1, 1, 1),
    "deck.rock": (1, 0, "skull", 2, 1, 1),
    "deck.swamp": (1, 1, 0, "skull", 2, 1),
    "deck.snow": (1, 1, 1, 0, "skull", 2),
    "deck.wild": (0, 0, 0, 0, 0, 0),
    "flags.season_rounds": (5, 4, 3, 2),
    "flags.start_points": (0, 1, 2, 3),
    "flags.setup_flowers": 5,
    "flags.sun_start": "north",
    "flags.reshuffle": "when_empty",
    "flags.marked_card_left": "first_stays",
    "flags.partial_actions": True,
    "flags.voluntary_pass": True,
    "flags.canonical_sets": True,
    "flags.wild_biome": "one_biome",
    "flags.wild_fertility": "discard",
    "flags.lake_growth": "optional",
    "flags.ravine_allows": (),
    "flags.aridity_target": "last_flower",
    "flags.aridity_empty": "no_effect",
    "flags.skull_count_matters": False,
    "flags.power_cap": "none",
    "flags.buds_points": "once",
    "flags.supply": "unlimited",
}

SKULLS = {"skull": 1, "two skulls": 2}


class Printed:
    """Board, cards and flags of one configuration. Cards are called by their names, such as "swamp bush".

    Arguments:
        numbers: values that replace the stand-in ones.

    Raises:
        ValueError: an unknown key, a board without one of the biomes, or cards that don't suffice.
    """

    def __init__(self, players: int, numbers: Mapping[str, Any] | None = None) -> None:
        unknown = sorted(set(numbers or {}) - set(NUMBERS))
        if unknown:
            raise ValueError(f"no such numbers: {unknown}")
        self._numbers = NUMBERS | dict(numbers or {})
        self.icons: dict[str, Any] = {}
        """What is at the top of each card that exists, in ascending card id."""
        for kind in TYPES:
            entries = self._numbers[f"deck.{kind}"]
            for power, entry in zip(POWERS, entries, strict=True):
                if entry != "missing":
                    self.icons[f"{kind} {power}"] = entry
        self._check_board()
        self._check_cards(players)

    def flag(self, name: str) -> Any:
        return self._numbers[f"flags.{name}"]

    # --- Board ---

    @property
    def rows(self) -> list[str]:
        return list(self._numbers["board.rows"])

    def _check_board(self) -> None:
        letters = set("".join(self.rows))
        if len({len(row) for row in self.rows}) != 1 or not letters <= {*LETTERS, OUTSIDE}:
            raise ValueError("the board is no rectangle of known letters")
        if not set(BIOMES) <= {LETTERS[letter] for letter in letters if letter != OUTSIDE}:
            raise ValueError("the board lacks a biome")

    # --- Cards ---

    def flowers(self, card: str) -> int:
        icon = self.icons[card]
        return 0 if icon in SKULLS else int(icon)

    def skulls(self, card: str) -> int:
        return SKULLS.get(self.icons[card], 0)

    def kind(self, card: str) -> str:
        """The card's biome, or "wild"."""
        return card.split()[0]

    def power(self, card: str) -> str:
        return card.split()[1]

    def in_order(self, cards: Iterable[str]) -> list[str]:
        """Cards in ascending id."""
        return sorted(cards, key=list(self.icons).index)

    def joins_zone(self, card: str) -> bool:
        """Whether the card is of a type that has a pile: wild cards have one only by a flag (E17)."""
        return self.kind(card) in BIOMES or self.flag("wild_fertility") != "discard"

    def _check_cards(self, players: int) -> None:
        """Enough flowers for the setup, and never too few cards for a deal (b3)."""
        in_zone = self.flag("setup_flowers")
        if sum(self.flowers(card) for card in self.icons if self.joins_zone(card)) < in_zone:
            raise ValueError("too few flowers for the setup")
        for rounds in self.flag("season_rounds"):
            for earlier in range(rounds):
                if len(self.icons) - in_zone - players * earlier < players + 1:
                    raise ValueError("too few cards")
                in_zone += 1
