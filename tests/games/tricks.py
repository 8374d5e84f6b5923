"""Tricks for four in two partnerships: a secret guess, then five tricks in which one must follow suit. See `RULES`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.decisions import by_decision
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import NOBODY, Game, Limits, Rules
from tabletop_engine.legal import allow, ask, count_bits, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.parts.sets import EMPTY, allow_each, only, random_of, write_ones
from tabletop_engine.parts.slots import NO_CARD, clear_slots
from tabletop_engine.parts.turns import NOT_CHOSEN, next_seat, next_with, seat_after, take_back_choices
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

PLAYERS, SUITS, RANKS, TRICKS = 4, 4, 6, 5
CARDS = SUITS * RANKS
ALL_CARDS = np.uint64((1 << CARDS) - 1)
SUIT = np.array([((1 << RANKS) - 1) << RANKS * suit for suit in range(SUITS)], np.uint64)
"""The cards of each suit; a card is RANKS * suit + rank."""
A_GUESS, A_CARD = range(2)
DECISIONS = ("a_guess", "a_card")
GUESS = CARDS
NAMES = tuple(f"{'abcdef'[card % RANKS]}{'1234'[card // RANKS]}" for card in range(CARDS))
ACTIONS = (*(f"card_{name}" for name in NAMES), *(f"guess_{tricks}" for tricks in range(TRICKS + 1)))
_TRIES = 4096


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, PLAYERS, "tricks of the partnership, and a point for each right guess in it")
    hands = array(np.uint64, PLAYERS, "the cards in each hand")
    played = number(np.uint64, "the cards that were played")
    trick = array(np.int8, PLAYERS, "the card that each player has played to this trick, or NO_CARD")
    leader = number(np.int8, "the seat that leads this trick")
    taken = array(np.int8, 2, "tricks of each partnership")
    void = array(np.int8, (PLAYERS, SUITS), "1: the player did not follow this suit, and so has none of it")
    guesses = array(np.int8, PLAYERS, "tricks that each player guessed, or NOT_CHOSEN; a secret until all guessed")


STATE = dtype_of(State)


@dataclass(frozen=True)
class Config(PlainConfig):
    """Four players."""

    ROUNDS: ClassVar[int] = TRICKS

    players: int = PLAYERS


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.played, s.leader = EMPTY, 0
    s.taken[:], s.void[:], s.guesses[:] = 0, 0, NOT_CHOSEN
    clear_slots(s.trick)
    left = ALL_CARDS
    for seat in range(PLAYERS):
        s.hands[seat] = EMPTY
        for _ in range(TRICKS):
            card = only(random_of(s, left))
            s.hands[seat] |= card
            left &= ~card
    legal(s, t)


@rule
def allow_guesses(s: State) -> None:
    for tricks in range(TRICKS + 1):
        allow(s, GUESS + tricks)


@rule
def guess(s: State, action: int) -> None:
    s.guesses[s.actor] = action - GUESS
    seat = next_with(s, 0, s.guesses, NOT_CHOSEN)
    if seat == NOBODY:
        ask(s, A_CARD, s.leader)
    else:
        ask(s, A_GUESS, seat)


@rule
def allow_cards(s: State) -> None:
    """Follow suit, if possible."""
    hand = s.hands[s.actor]
    if s.trick[s.leader] != NO_CARD:
        following = hand & SUIT[s.trick[s.leader] // RANKS]
        if following != EMPTY:
            hand = following
    allow_each(s, 0, hand)


@rule
def play_card(s: State, action: int) -> None:
    s.hands[s.actor] &= ~only(action)
    s.played |= only(action)
    s.trick[s.actor] = action
    led = int(s.trick[s.leader]) // RANKS
    if action // RANKS != led:
        s.void[s.actor, led] = 1
    if s.trick[next_seat(s)] == NO_CARD:
        ask(s, A_CARD, next_seat(s))
        return
    for seat in range(PLAYERS):
        if s.trick[seat] // RANKS == led and s.trick[seat] > s.trick[s.leader]:
            s.leader = seat
    clear_slots(s.trick)
    s.taken[s.leader % 2] += 1
    ask(s, A_CARD, s.leader)
    if s.round == TRICKS:
        count_points(s)
        end_game(s)
    else:
        s.round += 1


@rule
def count_points(s: State) -> None:
    for seat in range(PLAYERS):
        own = s.taken[seat % 2]
        s.points[seat] = own + (s.guesses[seat] == own) + (s.guesses[seat_after(s, seat, 2)] == own)


allow_answers = by_decision(range(2), {A_GUESS: allow_guesses, A_CARD: allow_cards}, "s")
answer = by_decision(range(2), {A_GUESS: guess, A_CARD: play_card}, "s", "action")


@rule
def legal(s: State, t: Any) -> None:
    forbid_all(s)
    if s.actor != NOBODY:
        allow_answers(s)


@rule
def step(s: State, t: Any, action: int) -> None:
    answer(s, action)
    legal(s, t)


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """Forget secret guesses, and deal anew what this seat has not seen, until nobody has a suit not followed before."""
    s.rng = rng
    if s.decision == A_GUESS:
        redraw_guesses(s, seat)
    for _ in range(_TRIES):
        deal_unseen(s, seat, s.played | s.hands[seat])
        if are_voids_kept(s):
            break
    if s.actor != NOBODY and s.actor != seat:
        legal(s, t)


@rule
def redraw_guesses(s: State, seat: int) -> None:
    """If this player is asked, it is as if the others guessed later."""
    if s.actor == seat:
        take_back_choices(s, s.guesses, seat)
    for other in range(PLAYERS):
        if other != seat and s.guesses[other] != NOT_CHOSEN:
            s.guesses[other] = random_of(s, np.uint64((1 << TRICKS + 1) - 1))


@rule
def deal_unseen(s: State, seat: int, seen: np.uint64) -> None:
    """Deal the others as many cards as they have, of all but those that were seen."""
    left = ALL_CARDS & ~seen
    for other in range(PLAYERS):
        if other != seat:
            number = count_bits(s.hands[other])
            s.hands[other] = EMPTY
            for _ in range(number):
                card = only(random_of(s, left))
                s.hands[other] |= card
                left &= ~card


@rule
def are_voids_kept(s: State) -> bool:
    for seat in range(PLAYERS):
        for suit in range(SUITS):
            if s.void[seat, suit] == 1 and s.hands[seat] & SUIT[suit] != EMPTY:
                return False
    return True


LAYOUT = Layout.of(
    [
        ("decision", (len(DECISIONS),), "one-hot", "the pending decision"),
        ("hand", (CARDS,), "0/1", "the viewer's cards"),
        ("played", (CARDS,), "0/1", "cards that were played"),
        ("trick", (PLAYERS, CARDS), "one-hot", "this trick's cards, from the viewer on"),
        ("leader", (PLAYERS,), "one-hot", "who leads, from the viewer on"),
        ("void", (PLAYERS, SUITS), "0/1", "suits that nobody expects there, from the viewer on"),
        ("taken", (2,), f"tricks / {TRICKS}", "of the viewer's partnership and the other one"),
        ("guesses", (PLAYERS, TRICKS + 1), "one-hot", "from the viewer on; all 0 before it is shown"),
    ]
)
HAND, PLAYED, TRICK, LEADER, VOID, TAKEN, GUESSES = (block.start for block in tuple(LAYOUT)[1:])


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    out[s.decision] = s.actor != NOBODY
    write_ones(s.hands[viewer], out, HAND)
    write_ones(s.played, out, PLAYED)
    out[LEADER + (s.leader - viewer) % PLAYERS] = 1
    out[TAKEN], out[TAKEN + 1] = s.taken[viewer % 2], s.taken[1 - viewer % 2]
    for i in range(PLAYERS):
        seat = seat_after(s, viewer, i)
        if s.trick[seat] != NO_CARD:
            out[TRICK + CARDS * i + s.trick[seat]] = 1
        for suit in range(SUITS):
            out[VOID + SUITS * i + suit] = s.void[seat, suit]
        if s.guesses[seat] != NOT_CHOSEN and (i == 0 or s.decision != A_GUESS):
            out[GUESSES + (TRICKS + 1) * i + s.guesses[seat]] = 1


RULES = f"""# Tricks: rules

- Four players; those opposite are partners. There are {CARDS} cards, in suits 1 to {SUITS} of {RANKS} cards; in a suit
  "a" is the lowest and "f" the highest. Each player gets {TRICKS} cards, and nobody sees the others.
- All guess in secret how many tricks their partnership will take. The guesses are shown when all have guessed.
- {TRICKS} tricks: one player leads a card, and the others in turn play one of the same suit, or any other card if they
  have none. The highest card of the suit that was led takes the trick, and its player leads the next one. player_0
  leads the first.
- Both partners get a point for each of their tricks, and one for each of their two guesses that is right.
"""


def table(state: State, viewer: int | None) -> str:
    """Tricks, guesses and hands; a viewer sees the own hand, and no guess of others before all have guessed."""
    rows = [f"trick {state.round}: " + ", ".join("-" if card == NO_CARD else NAMES[card] for card in state.trick)]
    for seat in range(PLAYERS):
        own, guess = viewer in (None, seat), int(state.guesses[seat])
        cards = [NAMES[card] for card in range(CARDS) if int(state.hands[seat]) >> card & 1]
        told = guess if guess != NOT_CHOSEN and (own or state.decision != A_GUESS) else "?"
        rows.append(f"player_{seat}: guess {told}, tricks {state.taken[seat % 2]}, {' '.join(cards) if own else '?'}")
    return "\n".join(rows)


class Words(PlainWords):
    """A guess is a secret."""

    def told_action(self, state: Any, action: int, viewer: int | None) -> str:
        is_secret = action >= GUESS and viewer not in (None, int(state["actor"]))
        return "a secret guess" if is_secret else self.action_text(state, action)


words = Words(DECISIONS, ACTIONS, RULES)
positions = PlainPositions(
    lambda: GAME,
    {
        **dict.fromkeys(("hands", "played"), (0, int(ALL_CARDS))),
        "trick": (NO_CARD, CARDS - 1),
        "leader": (0, PLAYERS - 1),
        "taken": (0, TRICKS),
        "void": (0, 1),
        "guesses": (NOT_CHOSEN, TRICKS),
    },
)
GAME: Game = Game(
    name="tricks",
    title="Tricks",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(PLAYERS,),
    decisions=DECISIONS,
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe, sample_hidden=sample_hidden),
    limits=lambda config: Limits(decisions=PLAYERS * (TRICKS + 1), draws=PLAYERS * TRICKS, outcomes=CARDS),
    words=words,
    drawing=PlainDrawing(words, table),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
