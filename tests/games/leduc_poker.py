"""Leduc poker for two: six cards of three ranks, one hidden in each hand, one open after the first of two rounds.

Everybody antes 1 chip. In each round players fold, call or raise by 2 chips, in the second by 4, at most twice a
round. A card of the open one's rank wins, or else the higher one; equal ones share the pot.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tabletop_engine.chance import draw_from
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import NOBODY, Game, Limits, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords
from tabletop_engine.text.words import counted

# --- The record ------------------------------------------------------------------------------------------------------


ACTIONS = ("fold", "call", "raise")
FOLD, CALL, RAISE = range(3)
RANKS = ("jack", "queen", "king")
COPIES, ROUNDS, MOST_RAISES = 2, 2, 2
LONGEST_ROUND = MOST_RAISES + 2
ANTE = 1
RAISED_BY = np.array([0, 2, 4])
"""Chips, by round."""
MOST_CHIPS = ANTE + MOST_RAISES * int(RAISED_BY.sum())
NO_CARD, NO_ACTION = -1, -1


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, 2, "chips won or lost, at the end")
    deck = array(np.int8, len(RANKS), "cards left of each rank")
    cards = array(np.int8, 2, "the rank of each player's card")
    open_card = number(np.int8, "the open card's rank; NO_CARD before the second round")
    chips = array(np.int8, 2, "what each player has paid into the pot")
    answers = array(np.int8, (ROUNDS, LONGEST_ROUND), "the actions of each round in their order, NO_ACTION for none")
    turn = number(np.int8, "how many of them there are in this round")


STATE = dtype_of(State)


class Config(PlainConfig):
    """Two players, nothing to choose."""

    ROUNDS: ClassVar[int] = ROUNDS


# --- Rules -----------------------------------------------------------------------------------------------------------


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.deck[:] = COPIES
    s.cards[0], s.cards[1] = draw_from(s, s.deck), draw_from(s, s.deck)
    s.open_card = NO_CARD
    s.chips[:] = ANTE
    s.answers[:] = NO_ACTION
    s.turn = 0
    legal(s, t)


@rule
def step(s: State, t: Any, action: int) -> None:
    seat = int(s.actor)
    other = 1 - seat
    current = int(s.round)
    s.answers[current - 1, s.turn] = action
    s.turn += 1
    if action == FOLD:
        pay(s, other)
        return
    s.chips[seat] = s.chips[other]
    if action == RAISE:
        s.chips[seat] += RAISED_BY[current]
    if action == RAISE or s.turn == 1:
        ask(s, 0, other)
    elif current < ROUNDS:
        begin_second_round(s)
    else:
        compare_cards(s)
        return
    legal(s, t)


@rule
def begin_second_round(s: State) -> None:
    s.round = 2
    s.turn = 0
    s.open_card = draw_from(s, s.deck)
    ask(s, 0, 0)


@rule
def compare_cards(s: State) -> None:
    first, second = s.cards[0], s.cards[1]
    if first == second:
        end_game(s)
    elif first == s.open_card or (first > second and second != s.open_card):
        pay(s, 0)
    else:
        pay(s, 1)


@rule
def pay(s: State, winner: int) -> None:
    """The points are the chips won or lost."""
    s.points[winner] = s.chips[1 - winner]
    s.points[1 - winner] = -s.chips[1 - winner]
    end_game(s)


@rule
def legal(s: State, t: Any) -> None:
    """One may fold only what others have raised."""
    forbid_all(s)
    seat = int(s.actor)
    if s.chips[seat] < s.chips[1 - seat]:
        allow(s, FOLD)
    allow(s, CALL)
    raises = 0
    for i in range(s.turn):
        raises += s.answers[s.round - 1, i] == RAISE
    if raises < MOST_RAISES:
        allow(s, RAISE)


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """The other's card goes back into the deck, and another one is drawn."""
    s.rng = rng
    s.deck[s.cards[1 - seat]] += 1
    s.cards[1 - seat] = draw_from(s, s.deck)


# --- What a player sees ----------------------------------------------------------------------------------------------

LAYOUT = Layout.of(
    [
        ("seat", (2,), "one-hot", "the viewer's"),
        ("card", (len(RANKS),), "one-hot", "the viewer's, by rank"),
        ("open_card", (len(RANKS),), "one-hot", "by rank; all 0 before the second round"),
        ("chips", (2,), "chips / 13", "that the viewer and the other one have paid into the pot"),
        ("answers", (ROUNDS, LONGEST_ROUND, 2), "one-hot", "each call and raise by round, in their order"),
    ]
)
CARD, OPEN_CARD, CHIPS, ANSWERS = (LAYOUT[name].start for name in ("card", "open_card", "chips", "answers"))


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    out[viewer] = 1
    out[CARD + s.cards[viewer]] = 1
    if s.open_card != NO_CARD:
        out[OPEN_CARD + s.open_card] = 1
    out[CHIPS], out[CHIPS + 1] = s.chips[viewer], s.chips[1 - viewer]
    for i in range(ROUNDS * LONGEST_ROUND):
        action = s.answers[i // LONGEST_ROUND, i % LONGEST_ROUND]
        if action >= CALL:
            out[ANSWERS + 2 * i + action - CALL] = 1


# --- The game --------------------------------------------------------------------------------------------------------

DECISIONS = ("a_bet",)


def table(state: State, viewer: int | None) -> str:
    """Chips and cards; the viewer sees no card of another player before the end."""
    shown = [viewer in (None, seat) or state.actor == NOBODY for seat in (0, 1)]
    cards = [RANKS[card] if is_open else "a hidden card" for card, is_open in zip(state.cards, shown, strict=True)]
    hands = [f"player_{seat}: {cards[seat]}, {counted(state.chips[seat], 'chip')} in the pot" for seat in (0, 1)]
    return "\n".join([*hands, f"open card: {'none' if state.open_card == NO_CARD else RANKS[state.open_card]}"])


RULES = """# Leduc poker: rules

- Two players, six cards: two each of jack, queen and king. Both pay 1 chip and get a secret card.
- Two rounds of bets; before the second an open card is turned up. In a round the players answer in turn, player_0
  first: fold (lose the pot; only if the other has paid more), call (pay as much as the other), or raise (pay as much
  and 2 chips more, 4 in the second round; twice a round at most). A round ends with a call that is not its first
  answer.
- Then the card of the open card's rank wins the pot, otherwise the higher card; equal cards share it.
- Points are the chips won or lost.
"""
words = PlainWords(DECISIONS, ACTIONS, RULES)
positions = PlainPositions(
    lambda: GAME,
    {
        "deck": (0, COPIES),
        "cards": (0, len(RANKS) - 1),
        "open_card": (NO_CARD, len(RANKS) - 1),
        "chips": (ANTE, MOST_CHIPS),
        "answers": (NO_ACTION, RAISE),
        "turn": (0, LONGEST_ROUND),
    },
)
GAME: Game = Game(
    name="leduc_poker",
    title="Leduc poker",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(2,),
    decisions=DECISIONS,
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe, sample_hidden=sample_hidden),
    limits=lambda config: Limits(decisions=ROUNDS * LONGEST_ROUND, draws=3, outcomes=len(RANKS)),
    search_settings={"rounds": ROUNDS},
    words=words,
    drawing=PlainDrawing(words, table),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
