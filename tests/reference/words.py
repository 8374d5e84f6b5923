"""The words of the game, spelled as decisions, actions and descriptions name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

WEATHERS = ("frost", "sun", "wind", "rain")
"""The four kinds of cards and of weather, in the weather sequence: Frost > Sun > Wind > Rain > Frost (Voting)."""

DIRECTIONS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
"""Orthogonal steps: how many columns and rows."""

OWNERS = ("own", "1st to the left", "2nd to the left", "3rd to the left", "4th to the left")
"""Whose drop an action means, counted clockwise from who is asked; in solo the neutral player is the 1st to the
left."""

HARVEST = "harvest"
"""The Harvest side of a Harvest die; its other sides are their number of votes."""


def next_weather(weather: str) -> str:
    """The space that follows clockwise in the weather sequence (Voting)."""
    return WEATHERS[(WEATHERS.index(weather) + 1) % 4]


def in_order(kinds: Iterable[str]) -> list[str]:
    """Cards or weather in the order of the weather sequence."""
    return sorted(kinds, key=WEATHERS.index)


def counts(cards: Counter[str]) -> dict[str, int]:
    """The cards as a table without zeros."""
    return {kind: cards[kind] for kind in WEATHERS if cards[kind]}
