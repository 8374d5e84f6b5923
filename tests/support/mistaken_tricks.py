"""Tricks with mistakes in `sample_hidden` by number; 0 is sound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.record import dtype_of, number
from tests.games import tricks
from tests.games.tricks import CARDS, PLAYED, PLAYERS, RANKS, deal, legal

MISTAKES = {
    "nothing is redrawn": "not shown holder.*never redraws it",
    "it returns early when the seat itself is asked": "not shown holder.*never redraws it",
    "it leaves the partner's hand": "not shown holder.*\\(where it is 2\\).*never redraws it",
    "it leaves the best card": "not shown holder\\[11\\].*never redraws it",
    "it follows no suits": "draws what never occurs in games: holder",
    "it follows the opponents' suits only": "draws what never occurs in games: holder",
    "it leaves everything half of the time": "draws with other frequencies than games have",
    "it gives the partner the best card less often": "draws with other frequencies than games have: holder",
}
"""Mistakes 1 to 8, and what `check` says about each, a regular expression."""
NONE, NOTHING, EARLY, PARTNER, BEST_CARD, NO_SUITS, OPPONENTS, HALF, LESS_OFTEN = range(9)


class State(tricks.State):
    mistake = number(np.int8, "the mistake")


@dataclass(frozen=True)
class Config(tricks.Config):
    """A mistake, by its number."""

    mistake: int = 0


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """As in Tricks, but for one mistake."""
    s.rng = rng
    if s.mistake == NOTHING or (s.mistake == EARLY and s.actor == seat):
        return
    if s.mistake == HALF and random_below(s, 2) == 0:
        return
    partner, best = (seat + 2) % PLAYERS, CARDS - 1
    before = s.holder.copy()
    for _ in range(10_000):
        deal(s, seat)
        if s.mistake == LESS_OFTEN and s.holder[best] == partner:
            deal(s, seat)
        if is_taken(s, before, partner):
            break
    if s.actor != NOBODY:
        legal(s, t)


@rule
def is_taken(s: State, before: np.ndarray, partner: int) -> bool:
    """Whether a deal leaves what it should, and what the mistake leaves."""
    if s.mistake == BEST_CARD and s.holder[CARDS - 1] != before[CARDS - 1]:
        return False
    for card in range(CARDS):
        holder = int(s.holder[card])
        if s.mistake == PARTNER and (holder == partner) != (before[card] == partner):
            return False
        follows = s.mistake != NO_SUITS and (s.mistake != OPPONENTS or holder != partner)
        if follows and holder != PLAYED and s.lacks[holder, card // RANKS] == 1:
            return False
    return True


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
