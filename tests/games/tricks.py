"""Tricks for four, partners across the table: twelve cards of three suits, three tricks; one must follow suit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_engine.chance import draw_from
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import NOBODY, Game, Limits, Rules
from tabletop_engine.legal import allow, ask, count_legal, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

SUITS = ("leaves", "acorns", "bells")
RANKS, PLAYERS, HAND = 4, 4, 3
CARDS = RANKS * len(SUITS)
"""Card c has the suit c // RANKS and the rank c % RANKS."""
PLAYED, NO_CARD = -1, -1
_TRIES = 1_000


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, 2, "by team: tricks")
    holder = array(np.int8, CARDS, "by card: the seat that holds it, or PLAYED")
    trick = array(np.int8, PLAYERS, "by seat: its card in this trick, or NO_CARD")
    leader = number(np.int8, "the seat that led to this trick")
    lacks = array(np.int8, (PLAYERS, len(SUITS)), "1: the seat did not follow this suit, so it has none of it")


STATE = dtype_of(State)


@dataclass(frozen=True)
class Config(PlainConfig):
    """Four players, nothing to choose."""

    players: int = PLAYERS

    @property
    def owners(self) -> int:
        return 2


@rule
def team(s: State, seat: int) -> int:
    return seat % 2


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    for card in range(CARDS):
        s.holder[card] = card % PLAYERS
    s.lacks[:] = 0
    deal(s, NO_CARD)
    lead(s, 0)
    legal(s, t)


@rule
def deal(s: State, viewer: int) -> None:
    """Deal the cards that are in hands anew, but for the viewer's."""
    left = np.zeros(PLAYERS, np.int8)
    for card in range(CARDS):
        if s.holder[card] != viewer and s.holder[card] != PLAYED:
            left[s.holder[card]] += 1
    for card in range(CARDS):
        if s.holder[card] != viewer and s.holder[card] != PLAYED:
            s.holder[card] = draw_from(s, left)


@rule
def lead(s: State, seat: int) -> None:
    s.trick[:] = NO_CARD
    s.leader = seat
    ask(s, 0, seat)


@rule
def step(s: State, t: Any, action: int) -> None:
    seat = int(s.actor)
    s.holder[action] = PLAYED
    s.trick[seat] = action
    led = s.trick[s.leader] // RANKS
    if action // RANKS != led:
        s.lacks[seat, led] = 1
    following = (seat + 1) % PLAYERS
    if following == s.leader:
        for other in range(PLAYERS):
            if s.trick[other] // RANKS == led and s.trick[other] > s.trick[following]:
                following = other
        s.points[team(s, following)] += 1
        lead(s, following)
    else:
        ask(s, 0, following)
    if s.points[0] + s.points[1] == HAND:
        end_game(s)
    else:
        legal(s, t)


@rule
def legal(s: State, t: Any) -> None:
    """Cards of the suit that was led, or any cards of a hand that has none."""
    forbid_all(s)
    led = s.trick[s.leader]
    for card in range(CARDS):
        if s.holder[card] == s.actor and (led == NO_CARD or card // RANKS == led // RANKS):
            allow(s, card)
    if count_legal(s) == 0:
        for card in range(CARDS):
            if s.holder[card] == s.actor:
                allow(s, card)


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """Deal until nobody has a suit that this player did not follow."""
    s.rng = rng
    for _ in range(_TRIES):
        deal(s, seat)
        if agrees(s):
            break
    if s.actor != NOBODY:
        legal(s, t)


@rule
def agrees(s: State) -> bool:
    for card in range(CARDS):
        if s.holder[card] != PLAYED and s.lacks[s.holder[card], card // RANKS] == 1:
            return False
    return True


LAYOUT = Layout.of(
    [
        ("hand", (CARDS,), "0/1", "the viewer's cards"),
        ("played", (CARDS,), "0/1", "the cards that were played"),
        ("trick", (PLAYERS, CARDS), "one-hot", "clockwise from the viewer: the card in this trick"),
        ("lacks", (PLAYERS, len(SUITS)), "0/1", "clockwise from the viewer: suits that were not followed"),
        ("tricks", (2,), "tricks / 3", "the viewer's team's, and the others'"),
    ]
)
TRICK, LACKS, TRICKS = (LAYOUT[name].start for name in ("trick", "lacks", "tricks"))


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    for card in range(CARDS):
        out[card] = s.holder[card] == viewer
        out[CARDS + card] = s.holder[card] == PLAYED
    for i in range(PLAYERS):
        seat = (viewer + i) % PLAYERS
        if s.trick[seat] != NO_CARD:
            out[TRICK + CARDS * i + s.trick[seat]] = 1
        for suit in range(len(SUITS)):
            out[LACKS + len(SUITS) * i + suit] = s.lacks[seat, suit]
    out[TRICKS], out[TRICKS + 1] = s.points[viewer % 2], s.points[1 - viewer % 2]


ACTIONS = tuple(f"{suit}_{rank}" for suit in SUITS for rank in range(1, RANKS + 1))


def table(state: State, viewer: int | None) -> str:
    lines = []
    for seat in range(PLAYERS):
        hand = " ".join(ACTIONS[card] for card in np.flatnonzero(state.holder == seat))
        laid = "" if state.trick[seat] == NO_CARD else f"; played {ACTIONS[state.trick[seat]]}"
        lines.append(f"player_{seat}: {hand if viewer in (None, seat) else 'hidden cards'}{laid}")
    return "\n".join(lines)


RULES = """# Tricks: rules

- Four players, partners across the table. Each gets three of twelve cards: leaves, acorns and bells from 1 to 4.
- player_0 leads to the first trick, then whoever won the last one. The others play a card of the same suit, or any card
  if they have none. The highest card of the suit that was led wins the trick.
- A team's points are its tricks. The team with more wins.
"""
words = PlainWords(("a_card",), ACTIONS, RULES)
cards, seats = (NO_CARD, CARDS - 1), (0, PLAYERS - 1)
ranges = {"points": (0, HAND), "holder": (PLAYED, PLAYERS - 1), "trick": cards, "leader": seats, "lacks": (0, 1)}
positions = PlainPositions(lambda: GAME, ranges)
GAME: Game = Game(
    name="tricks",
    title="Tricks",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(PLAYERS,),
    decisions=("a_card",),
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe, team=team, sample_hidden=sample_hidden),
    limits=lambda config: Limits(decisions=CARDS, draws=CARDS, outcomes=PLAYERS, points=(0, HAND)),
    search_settings={"scale": 1.0},
    words=words,
    drawing=PlainDrawing(words, table, team),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
