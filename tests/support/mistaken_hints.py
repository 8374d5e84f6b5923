"""Hints with mistakes in `sample_hidden`, by the number of `MISTAKES`; 0 is sound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.game import Game
from tabletop_engine.parts.slots import NO_CARD
from tabletop_engine.record import dtype_of, number
from tests.games import hints
from tests.games.hints import COLOURS, FEATURES, HAND, has, legal, redraw

MISTAKES = (
    "none",
    "nothing is redrawn",
    "it returns early when the seat itself is asked",
    "it ignores hints",
    "it ignores hints about ranks",
    "it leaves the order of the deck",
    "it leaves the last card",
)
FOUND = (
    "",
    "not shown deck.*never redraws it",
    "not shown deck.*never redraws it",
    "draws what never occurs in games: hands",
    "draws what never occurs in games: hands",
    "never draws what occurs in games: deck|draws with other frequencies than games have: deck",
    "not shown hands\\[0, 2\\], but sample_hidden never redraws it",
)
"""What `check` says about each, a regular expression."""


class State(hints.State):
    mistake = number(np.int8, "the mistake")


@dataclass(frozen=True)
class Config(hints.Config):
    """A mistake, by its number."""

    SWITCHES: ClassVar[tuple[str, ...]] = (*hints.Config.SWITCHES, "mistake")

    mistake: int = 0

    def write_switches(self, states: np.ndarray) -> None:
        """Also the mistake."""
        super().write_switches(states)
        states["mistake"] = self.mistake


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """As in Hints, but for one mistake."""
    s.rng = rng
    if s.mistake == 1 or (s.mistake == 2 and s.actor == seat):
        return
    last = s.hands[seat, HAND - 1]
    for _ in range(4096):
        if s.mistake == 5:
            exchange(s, seat)
        else:
            redraw(s, seat)
        if s.mistake == 6:
            s.hands[seat, HAND - 1] = last
        if agrees(s, seat):
            break
    if s.actor >= 0 and s.actor != seat:
        legal(s, t)


@rule
def exchange(s: State, seat: int) -> None:
    """Each own card and a card of the deck."""
    for slot in range(HAND):
        if s.hands[seat, slot] != NO_CARD and s.deck[0] > 0:
            place, card = 1 + random_below(s, int(s.deck[0])), s.hands[seat, slot]
            s.hands[seat, slot], s.deck[place] = s.deck[place], card


@rule
def agrees(s: State, seat: int) -> bool:
    """Whether the own cards agree with the hints that are not ignored."""
    first_ignored = 0 if s.mistake == 3 else COLOURS if s.mistake == 4 else FEATURES
    for slot in range(HAND):
        if s.hands[seat, slot] != NO_CARD:
            for feature in range(first_ignored):
                if s.ruled_out[seat, slot, feature] == 1 and has(int(s.hands[seat, slot]), feature):
                    return False
    return True


GAME: Game = replace(
    hints.GAME,
    name="mistaken_hints",
    home=__name__,
    command="",
    sources=(),
    state=dtype_of(State),
    config=Config,
    rules=replace(hints.GAME.rules, sample_hidden=sample_hidden),
    check=lambda states, tables: None,
)
