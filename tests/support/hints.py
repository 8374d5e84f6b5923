"""Hints, where only the other player sees one's cards, with mistakes in `sample_hidden` by number; 0 is sound.

A turn plays a card, or tells the other one which cards are of a colour or rank. All get a point for the next card of a
colour. The game ends with the deck.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import NOBODY, Game, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.parts.decks import clear_deck, deck_of, draw_top, put_on_top, shuffle
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

MISTAKES = {
    "nothing is redrawn": "not shown deck.*never redraws it",
    "it returns early when the seat itself is asked": "not shown deck.*never redraws it",
    "it ignores hints": "draws what never occurs in games: hands",
    "it ignores hints about ranks": "draws what never occurs in games: hands",
    "it leaves the order of the deck": "(never draws what occurs in|with other frequencies than) games.*: deck",
    "it leaves the last card": "not shown hands\\[0, 2\\], but sample_hidden never redraws it",
}
"""Mistakes 1 to 6, and what `check` says about each, a regular expression."""
NONE, NOTHING, EARLY, NO_HINTS, NO_RANKS, ORDER, LAST = range(7)
HAND, COLOURS, RANKS, HINTS = 3, 3, 3, 8
KINDS, FEATURES, COPIES = COLOURS * RANKS, COLOURS + RANKS, 2
"""A kind is RANKS * colour + rank; a feature is a colour, or COLOURS + a rank."""
CARDS = KINDS * COPIES


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, 2, "cards on all piles")
    deck = array(np.int8, deck_of(CARDS), "the ordered deck")
    hands = array(np.int8, (2, HAND), "the kind of each card")
    ruled_out = array(np.int8, (2, HAND, FEATURES), "1: hints say that the card has not this feature")
    piles = array(np.int8, COLOURS, "cards on the pile of each colour")
    played = array(np.int8, KINDS, "cards that were played, of each kind")
    hints = number(np.int8, "hints left")
    mistake = number(np.int8, "the mistake")


@dataclass(frozen=True)
class Config(PlainConfig):
    """Two players, and a mistake."""

    mistake: int = 0


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    clear_deck(s.deck)
    for card in range(CARDS):
        put_on_top(s.deck, card // COPIES)
    shuffle(s, s.deck)
    s.ruled_out[:], s.piles[:], s.played[:], s.hints = 0, 0, 0, HINTS
    for seat in range(2):
        for slot in range(HAND):
            s.hands[seat, slot] = draw_top(s.deck)
    legal(s, t)


@rule
def has(kind: int, feature: int) -> bool:
    return kind // RANKS == feature or COLOURS + kind % RANKS == feature


@rule
def legal(s: State, t: Any) -> None:
    forbid_all(s)
    for slot in range(HAND):
        allow(s, slot)
        if s.hints > 0:
            kind = int(s.hands[1 - s.actor, slot])
            allow(s, HAND + kind // RANKS)
            allow(s, HAND + COLOURS + kind % RANKS)


@rule
def step(s: State, t: Any, action: int) -> None:
    if action < HAND:
        kind = int(s.hands[s.actor, action])
        if s.piles[kind // RANKS] == kind % RANKS:
            s.piles[kind // RANKS] += 1
            s.points[:] += 1
        s.played[kind] += 1
        s.ruled_out[s.actor, action] = 0
        s.hands[s.actor, action] = draw_top(s.deck)
    else:
        tell(s, 1 - s.actor, action - HAND)
    if s.deck[0] == 0:
        end_game(s)
    else:
        ask(s, 0, 1 - s.actor)
        legal(s, t)


@rule
def tell(s: State, seat: int, told: int) -> None:
    """All cards with this feature are named, so the others do not have it."""
    s.hints -= 1
    first = 0 if told < COLOURS else COLOURS
    for slot in range(HAND):
        for feature in range(first, first + 3):
            if has(int(s.hands[seat, slot]), told) != (feature == told):
                s.ruled_out[seat, slot, feature] = 1


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """Put the own cards back into the deck and draw others, until they agree with all hints."""
    s.rng = rng
    if s.mistake == NOTHING or (s.mistake == EARLY and s.actor == seat):
        return
    last = int(s.hands[seat, HAND - 1])
    for _ in range(4096):
        redraw(s, seat)
        if agrees(s, seat) and (s.mistake != LAST or s.hands[seat, HAND - 1] == last):
            break
    if s.actor != NOBODY and s.actor != seat:
        legal(s, t)  # hints for this seat


@rule
def redraw(s: State, seat: int) -> None:
    if s.mistake == ORDER:
        for slot in range(HAND):  # each card and one of the deck change places
            place, kind = 1 + random_below(s, int(s.deck[0])), s.hands[seat, slot]
            s.hands[seat, slot], s.deck[place] = s.deck[place], kind
        return
    for slot in range(HAND):
        put_on_top(s.deck, int(s.hands[seat, slot]))
    shuffle(s, s.deck)
    for slot in range(HAND):
        s.hands[seat, slot] = draw_top(s.deck)


@rule
def agrees(s: State, seat: int) -> bool:
    """Whether the own cards agree with the hints that are not ignored."""
    first_ignored = 0 if s.mistake == NO_HINTS else COLOURS if s.mistake == NO_RANKS else FEATURES
    for slot in range(HAND):
        for feature in range(first_ignored):
            if s.ruled_out[seat, slot, feature] == 1 and has(int(s.hands[seat, slot]), feature):
                return False
    return True


LAYOUT = Layout.of(
    [
        ("cards", (HAND, KINDS), "one-hot", "the other player's"),
        ("ruled_out", (2, HAND, FEATURES), "0/1", "what hints exclude, by card, from the viewer on"),
        ("piles", (COLOURS,), f"cards / {RANKS}", "on each pile"),
        ("played", (KINDS,), f"cards / {COPIES}", "that were played, of each kind"),
        ("left", (2,), f"things / {CARDS}", "hints and cards of the deck"),
        ("asked", (1,), "0/1", "whether the viewer is asked"),
    ]
)
RULED_OUT, PILES, PLAYED, LEFT, ASKED = (block.start for block in tuple(LAYOUT)[1:])


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    for slot in range(HAND):
        out[KINDS * slot + s.hands[1 - viewer, slot]] = 1
        for feature in range(FEATURES):
            out[RULED_OUT + FEATURES * slot + feature] = s.ruled_out[viewer, slot, feature]
            out[RULED_OUT + FEATURES * (HAND + slot) + feature] = s.ruled_out[1 - viewer, slot, feature]
    out[PILES : PILES + COLOURS], out[PLAYED : PLAYED + KINDS] = s.piles, s.played
    out[LEFT], out[LEFT + 1], out[ASKED] = s.hints, s.deck[0], s.actor == viewer


ACTIONS = (*(f"play_{slot}" for slot in range(HAND)), *(f"tell_{feature}" for feature in range(FEATURES)))
words = PlainWords(("a_turn",), ACTIONS)
positions = PlainPositions(lambda: GAME, {})
GAME: Game = Game(
    name="hints",
    title="Hints",
    home=__name__,
    version="1",
    state=dtype_of(State),
    config=Config,
    players=(2,),
    decisions=("a_turn",),
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe, sample_hidden=sample_hidden),
    words=words,
    drawing=PlainDrawing(words, lambda state, viewer: ""),
    check=lambda states, tables: None,
    scenario=positions.scenario,
    described=positions.described,
)
