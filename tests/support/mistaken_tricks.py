"""Tricks with mistakes in `sample_hidden`, by the number of `MISTAKES`; 0 is sound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.game import Game
from tabletop_engine.legal import count_bits
from tabletop_engine.parts.sets import EMPTY, only, random_of
from tabletop_engine.parts.turns import take_back_choices
from tabletop_engine.record import dtype_of, number
from tests.games import tricks
from tests.games.tricks import A_GUESS, ALL_CARDS, PLAYERS, are_voids_kept, deal_unseen, legal, redraw_guesses

MISTAKES = (
    "none",
    "nothing is redrawn",
    "it returns early when the seat itself is asked",
    "it leaves the partner's hand",
    "it follows no suits",
    "it deals cards that were played",
    "it deals the seat's own cards",
    "it leaves everything half of the time",
    "it leaves secret guesses when the seat is asked",
    "it deals low cards more often",
    "it exchanges the others' hands",
)
FOUND = (
    "",
    "not shown hands.*never redraws it",
    "not shown hands.*never redraws it",
    "not shown hands\\[2\\], but sample_hidden never redraws it",
    "draws what never occurs in games: hands",
    "draws with other frequencies than games have: hands",
    "draws what never occurs in games: hands",
    "draws with other frequencies than games have",
    "not shown guesses\\[0\\], but sample_hidden never redraws it",
    "draws with other frequencies than games have: hands",
    "not shown hands\\[2\\], but sample_hidden never redraws it",
)
"""What `check` says about each, a regular expression."""


class State(tricks.State):
    mistake = number(np.int8, "the mistake")


@dataclass(frozen=True)
class Config(tricks.Config):
    """A mistake, by its number."""

    SWITCHES: ClassVar[tuple[str, ...]] = (*tricks.Config.SWITCHES, "mistake")

    mistake: int = 0

    def write_switches(self, states: np.ndarray) -> None:
        """Also the mistake."""
        super().write_switches(states)
        states["mistake"] = self.mistake


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """As in Tricks, but for one mistake."""
    s.rng = rng
    if s.mistake == 1 or (s.mistake == 2 and s.actor == seat):
        return
    if s.mistake == 7 and random_of(s, np.uint64(3)) == 0:
        return
    if s.decision == A_GUESS:
        if s.mistake != 8:
            redraw_guesses(s, seat)
        elif s.actor != seat:
            take_back_choices(s, s.guesses, seat)
            for other in range(s.actor):
                if other != seat:
                    s.guesses[other] = random_of(s, np.uint64(63))
    partner = s.hands[(seat + 2) % PLAYERS]
    seen = s.hands[seat] | s.played
    if s.mistake == 3:
        seen |= partner
    if s.mistake == 5:
        seen = s.hands[seat]
    if s.mistake == 6:
        seen = s.played
    if s.mistake == 10:
        exchange_hands(s, seat)
    else:
        for _ in range(4096):
            if s.mistake == 9:
                deal_low_cards(s, seat, seen)
            else:
                deal_unseen(s, seat, seen)
            if s.mistake == 3:
                s.hands[(seat + 2) % PLAYERS] = partner
            if s.mistake == 4 or are_voids_kept(s):
                break
    if s.actor >= 0 and s.actor != seat:
        legal(s, t)


@rule
def deal_low_cards(s: State, seat: int, seen: np.uint64) -> None:
    """As `deal_unseen`, but of two cards the lower one."""
    left = ALL_CARDS & ~seen
    for other in range(PLAYERS):
        if other != seat:
            cards = count_bits(s.hands[other])
            s.hands[other] = EMPTY
            for _ in range(cards):
                card = only(min(random_of(s, left), random_of(s, left)))
                s.hands[other] |= card
                left &= ~card


@rule
def exchange_hands(s: State, seat: int) -> None:
    """The next player's hand and the last one's, if they are as large."""
    one, other = (seat + 1) % PLAYERS, (seat + 3) % PLAYERS
    hand = s.hands[one]
    if count_bits(hand) == count_bits(s.hands[other]) and random_of(s, np.uint64(3)) == 0:
        s.hands[one], s.hands[other] = s.hands[other], hand
        if not are_voids_kept(s):
            s.hands[one], s.hands[other] = hand, s.hands[one]


GAME: Game = replace(
    tricks.GAME,
    name="mistaken_tricks",
    home=__name__,
    command="",
    sources=(),
    state=dtype_of(State),
    config=Config,
    rules=replace(tricks.GAME.rules, sample_hidden=sample_hidden),
    check=lambda states, tables: None,
)
