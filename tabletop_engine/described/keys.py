"""The declaration of one key of a component file: which values it allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tabletop_engine.seeds import Chance

Value: TypeAlias = int | float | str


@dataclass(frozen=True)
class Key:
    """The declaration of one key of a component file.

    Attributes:
        meaning: what the numbers are, for people.
        low: the smallest number that is allowed. `low > high` allows words only.
        high: the largest number that is allowed.
        places: the meaning of each number of a list; None for a key with one number.
        at_least: how many of `places` must be there; None for all.
        words: words that are allowed in place of a number.
        tenths: whether numbers may have one decimal; otherwise they are whole.
        is_switch: whether the value is true or false.
        spelling: for a text in place of a number: its pattern, and the pattern in words.
        refused: a check of values that are allowed one by one: takes them, returns what is wrong with them together and
            what is allowed, or None.
        never_falls: for a list in which no number may be below the one before: what must never fall, in words.
        permuted: the name of a group of keys whose numbers can be drawn as a permutation of all of them; None for a key
            that is in no group.
        makers: how all values of the key can be drawn together, by a name that a range can have.
    """

    meaning: str
    low: int = 0
    high: int = 0
    places: tuple[str, ...] | None = None
    at_least: int | None = None
    words: tuple[str, ...] = ()
    tenths: bool = False
    is_switch: bool = False
    spelling: tuple[str, str] | None = None
    refused: Callable[[tuple[Value, ...]], tuple[str, str] | None] | None = None
    never_falls: str | None = None
    permuted: str | None = None
    makers: Mapping[str, Callable[[Chance], tuple[Value, ...]]] = field(default_factory=dict)

    @property
    def fewest(self) -> int:
        """The least number of values in a list."""
        return len(self.places or ()) if self.at_least is None else self.at_least

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        value = " or ".join([*self.numbers, *(f'"{word}"' for word in self.words)])
        if self.places is None:
            return value
        if not self.places:
            return "[]"
        most = len(self.places)
        count = str(most) if self.fewest == most else f"{self.fewest} to {most}"
        return f"a list of {count} (for {range_of_places(self.places)}), each {value}"

    @property
    def numbers(self) -> list[str]:
        """The allowed numbers in words; empty if only words are allowed."""
        if self.is_switch:
            return ["true or false"]
        if self.spelling is not None:
            return [self.spelling[1]]
        if self.low >= self.high:
            return [str(self.low)] if self.low == self.high else []
        a_number, whole = ("a number", ", whole or with one decimal") if self.tenths else ("a whole number", "")
        return [f"{a_number} from {self.low} to {self.high}{whole}"]

    def allows(self, value: Any) -> bool:
        """Whether a value read from a file is allowed."""
        if isinstance(value, str):
            return value in self.words or (
                self.spelling is not None and re.fullmatch(self.spelling[0], value) is not None
            )
        if self.is_switch or isinstance(value, bool):
            return self.is_switch and isinstance(value, bool)
        if self.spelling is not None or not isinstance(value, int | float if self.tenths else int):
            return False
        return self.low <= value <= self.high and value == round(value, 1)

    def wrong_together(self, values: tuple[Value, ...]) -> tuple[str, str] | None:
        """What is wrong with values that are allowed one by one, and what is allowed; None if nothing is."""
        if self.never_falls is not None and list(values) != sorted(values, key=float):
            return "falls", self.never_falls
        return None if self.refused is None else self.refused(values)


def range_of_places(places: Sequence[str]) -> str:
    return places[0] if len(places) == 1 else f"{places[0]} to {places[-1]}"
