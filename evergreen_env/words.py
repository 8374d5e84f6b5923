"""Names of spaces, cards and pieces, as scenarios, pictures and messages use them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from evergreen_env.actions import ACTION_NAMES, SPACE
from evergreen_env.component_files import LETTERS, RAVINE, load_tables
from evergreen_env.state import (
    BIOME_NAMES,
    CARD_NAMES,
    NO_CARD,
    NUM_POWERS,
    PIECE_NAMES,
    PLACE_NAMES,
    PLACES,
    POWER_NAMES,
    State,
)
from evergreen_env.tables import Tables
from tabletop_engine.text.words import counted

POWER_WORDS = tuple(name.replace("_", " ") for name in POWER_NAMES)
PIECE_WORDS = tuple(name.replace("_", " ") for name in PIECE_NAMES)
PLANET_FIELDS = tuple(f"{name}{'es' if name.endswith('sh') else 's'}" for name in PIECE_NAMES)
"""The fields of a record that have the spaces of each piece."""
SHOWN_FIELDS = tuple(f"shown_{name}" for name in PLANET_FIELDS)
"""The same fields as the other players know them."""


def tables_of(tables: np.ndarray | None) -> Tables:
    """The record of printed numbers; None is the shipped ones."""
    return (load_tables() if tables is None else tables)[0]


def places_in(spaces: int | np.uint64) -> tuple[int, ...]:
    """The places of a set of spaces, in reading order."""
    return _places(int(spaces))


@lru_cache(maxsize=4096)
def _places(spaces: int) -> tuple[int, ...]:
    return tuple(place for place in range(PLACES) if spaces >> place & 1)


def cards_in(cards: int | np.uint64) -> Iterator[int]:
    """The cards of a set, ascending."""
    left = int(cards)
    for card in range(len(CARD_NAMES)):
        if left >> card & 1:
            yield card


def place_of_action(state: State, action: int) -> int | None:
    """The place that an action names; None if it names no place of this planet."""
    places = places_in(state.outline)
    number = action - SPACE
    return places[number] if 0 <= number < len(places) else None


def space_action(state: State, name: str) -> int:
    """The action that names a space such as `c1`. Raises KeyError for one that this planet does not have."""
    names = [PLACE_NAMES[place] for place in places_in(state.outline)]
    if name not in names:
        raise KeyError(f"{name!r} is not a space; allowed are {', '.join(names)}")
    return SPACE + names.index(name)


def answer_name(state: State, action: int) -> str:
    """The name of an action, with the name of the space on the planet: `space c1`, `plant three`."""
    place = place_of_action(state, action)
    return ACTION_NAMES[action] if place is None else f"space {PLACE_NAMES[place]}"


def biome_letters(t: Tables) -> list[str]:
    """By place the letter of its biome such as `W`, or `#` for a ravine; a blank if there is no space."""
    letters = [" "] * PLACES
    for letter, spaces in zip((*LETTERS, RAVINE), (*t.biome, t.ravines), strict=True):
        for place in places_in(spaces):
            letters[place] = letter
    return letters


def card_word(card: int) -> str:
    """The name of a card, such as `swamp bush`; `nothing` for no card."""
    if card == NO_CARD:
        return "nothing"
    return f"{BIOME_NAMES[card // NUM_POWERS]} {POWER_WORDS[card % NUM_POWERS]}"


def power_of(s: State) -> int:
    """The Power of the actor's card."""
    return int(s.card[s.actor]) % NUM_POWERS


def icons_word(t: Tables, card: int) -> str:
    """The icons of a card in words: `2 flowers`, `a skull`, or `no icon`."""
    flowers, skulls = int(t.flowers[card]), int(t.skulls[card])
    if flowers:
        return counted(flowers, "flower")
    return "no icon" if not skulls else "a skull" if skulls == 1 else f"{skulls} skulls"


def piece_on(state: State, seat: int, place: int) -> int | None:
    """The Piece in this space, as its owner knows it; None if there is none."""
    return next((piece for piece, name in enumerate(PLANET_FIELDS) if int(state[name][seat]) >> place & 1), None)
