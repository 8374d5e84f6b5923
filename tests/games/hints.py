"""Hints, a game for three who win together: nobody sees the own cards, and hints tell about them. See `RULES`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import NOBODY, Game, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.parts.decks import clear_deck, deck_of, draw_top, put_on_top, shuffle
from tabletop_engine.parts.slots import NO_CARD, refill, take_card
from tabletop_engine.parts.turns import next_seat, seat_after
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

PLAYERS, HAND, COLOURS, RANKS = 3, 3, 3, 3
KINDS = COLOURS * RANKS
COPIES = np.array([2, 2, 1])
"""Cards of each colour, by rank; a kind is RANKS * colour + rank."""
CARDS = COLOURS * int(COPIES.sum())
MOST_HINTS, LIVES = 4, 2
FEATURES = COLOURS + RANKS
PLAY, DISCARD, HINT = 0, HAND, 2 * HAND
"""Action HINT + FEATURES * (n - 1) + f tells the player n seats further where the colour f is, or the rank."""
NAMES = tuple(f"{colour}{rank + 1}" for colour in "rgb" for rank in range(RANKS))
TOLD = ("red", "green", "blue", "1", "2", "3")
DECISIONS = ("a_turn",)
ACTIONS = (
    *(f"{what}_card_{slot}" for what in ("play", "discard") for slot in range(1, HAND + 1)),
    *(f"tell_{who}_{feature}" for who in ("next", "last") for feature in TOLD),
)
_TRIES = 4096


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, PLAYERS, "cards on all piles; all players have the same points")
    deck = array(np.int8, deck_of(CARDS), "the ordered deck")
    hands = array(np.int8, (PLAYERS, HAND), "the kind of each card, or NO_CARD")
    ruled_out = array(np.int8, (PLAYERS, HAND, FEATURES), "1: hints say that the card is not of this colour or rank")
    piles = array(np.int8, COLOURS, "cards on the pile of each colour")
    discards = array(np.int8, KINDS, "cards that were discarded, of each kind")
    hints = number(np.int8, "hints left")
    lives = number(np.int8, "mistakes left")
    turns = number(np.int8, "turns left, once the deck is empty")


STATE = dtype_of(State)


@dataclass(frozen=True)
class Config(PlainConfig):
    """Three players."""

    players: int = PLAYERS


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    clear_deck(s.deck)
    s.deck[1:] = 0
    for kind in range(KINDS):
        for _ in range(COPIES[kind % RANKS]):
            put_on_top(s.deck, kind)
    shuffle(s, s.deck)
    s.hands[:], s.ruled_out[:], s.piles[:], s.discards[:] = NO_CARD, 0, 0, 0
    for seat in range(PLAYERS):
        refill(s.hands[seat], s.deck)
    s.hints, s.lives, s.turns = MOST_HINTS, LIVES, PLAYERS
    legal(s, t)


@rule
def has(kind: int, feature: int) -> bool:
    """Whether a card is of a colour, or of a rank."""
    return kind // RANKS == feature or COLOURS + kind % RANKS == feature


@rule
def legal(s: State, t: Any) -> None:
    forbid_all(s)
    if s.actor == NOBODY:
        return
    for slot in range(HAND):
        if s.hands[s.actor, slot] != NO_CARD:
            allow(s, PLAY + slot)
            if s.hints < MOST_HINTS:
                allow(s, DISCARD + slot)
    if s.hints > 0:
        for i in range(PLAYERS - 1):
            for slot in range(HAND):
                kind = int(s.hands[seat_after(s, s.actor, 1 + i), slot])
                if kind != NO_CARD:
                    allow(s, HINT + FEATURES * i + kind // RANKS)
                    allow(s, HINT + FEATURES * i + COLOURS + kind % RANKS)


@rule
def step(s: State, t: Any, action: int) -> None:
    if s.deck[0] == 0:
        s.turns -= 1
    if action >= HINT:
        tell(s, seat_after(s, s.actor, 1 + (action - HINT) // FEATURES), (action - HINT) % FEATURES)
    else:
        put_down(s, action % HAND, action >= DISCARD)
    if s.lives == 0 or s.turns == 0 or s.points[0] == KINDS:
        end_game(s)
    else:
        ask(s, 0, next_seat(s))
        legal(s, t)


@rule
def tell(s: State, seat: int, feature: int) -> None:
    """All cards with this feature are named, so the others do not have it."""
    s.hints -= 1
    first = 0 if feature < COLOURS else COLOURS
    for slot in range(HAND):
        if s.hands[seat, slot] != NO_CARD:
            is_named = has(int(s.hands[seat, slot]), feature)
            for other in range(first, first + 3):
                if is_named != (other == feature):
                    s.ruled_out[seat, slot, other] = 1


@rule
def put_down(s: State, slot: int, is_discarded: bool) -> None:
    kind = take_card(s.hands[s.actor], slot)
    fits = s.piles[kind // RANKS] == kind % RANKS
    if fits and not is_discarded:
        s.piles[kind // RANKS] += 1
        s.points[:] += 1
    else:
        s.discards[kind] += 1
        if is_discarded:
            s.hints += 1
        else:
            s.lives -= 1
    s.ruled_out[s.actor, slot] = 0
    if s.deck[0] > 0:
        s.hands[s.actor, slot] = draw_top(s.deck)


@rule
def sample_hidden(s: State, t: Any, seat: int, rng: np.uint64) -> None:
    """Put the own cards back into the deck and draw others, until they agree with all hints."""
    s.rng = rng
    for _ in range(_TRIES):
        redraw(s, seat)
        if are_hints_kept(s, seat):
            break
    if s.actor != NOBODY and s.actor != seat:
        legal(s, t)  # hints for this seat


@rule
def redraw(s: State, seat: int) -> None:
    for slot in range(HAND):
        if s.hands[seat, slot] != NO_CARD:
            put_on_top(s.deck, int(s.hands[seat, slot]))
    shuffle(s, s.deck)
    for slot in range(HAND):
        if s.hands[seat, slot] != NO_CARD:
            s.hands[seat, slot] = draw_top(s.deck)


@rule
def are_hints_kept(s: State, seat: int) -> bool:
    for slot in range(HAND):
        if s.hands[seat, slot] != NO_CARD:
            for feature in range(FEATURES):
                if s.ruled_out[seat, slot, feature] == 1 and has(int(s.hands[seat, slot]), feature):
                    return False
    return True


LAYOUT = Layout.of(
    [
        ("cards", (PLAYERS - 1, HAND, KINDS), "one-hot", "the others' cards, from the next player on"),
        ("ruled_out", (PLAYERS, HAND, FEATURES), "0/1", "what hints exclude, by card, from the viewer on"),
        ("held", (HAND,), "0/1", "where the viewer has a card"),
        ("piles", (COLOURS,), f"cards / {RANKS}", "on each pile"),
        ("discards", (KINDS,), "cards / 2", "that were discarded, of each kind"),
        ("left", (4,), f"things / {CARDS}", "hints, mistakes, cards in the deck, turns after its end"),
        ("actor", (PLAYERS,), "one-hot", "who is asked, from the viewer on"),
    ]
)
RULED_OUT, HELD, PILES, DISCARDS, LEFT, ACTOR = (block.start for block in tuple(LAYOUT)[1:])


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    for i in range(PLAYERS):
        seat = seat_after(s, viewer, i)
        for slot in range(HAND):
            place, kind = HAND * i + slot, int(s.hands[seat, slot])
            for feature in range(FEATURES):
                out[RULED_OUT + FEATURES * place + feature] = s.ruled_out[seat, slot, feature]
            if kind != NO_CARD:
                if i == 0:
                    out[HELD + slot] = 1
                else:
                    out[KINDS * (place - HAND) + kind] = 1
    for colour in range(COLOURS):
        out[PILES + colour] = s.piles[colour]
    for kind in range(KINDS):
        out[DISCARDS + kind] = s.discards[kind]
    out[LEFT], out[LEFT + 1], out[LEFT + 2], out[LEFT + 3] = s.hints, s.lives, s.deck[0], s.turns
    if s.actor != NOBODY:
        out[ACTOR + (s.actor - viewer) % PLAYERS] = 1


RULES = f"""# Hints: rules

- Three players win together. There are {CARDS} cards in three colours: in each two 1s, two 2s and one 3. Each player
  holds {HAND} cards so that only the others see them.
- On a turn a player does one of these:
  - tell one other player which of that player's cards are of a colour, or of a rank, that at least one of them has.
    This takes one of {MOST_HINTS} hints;
  - discard a card, which brings back a hint;
  - play a card. If it is the next one of its colour's pile, from 1 to 3, it goes there; otherwise it is discarded, and
    that is a mistake.
- A card that is played or discarded is replaced from the deck. When the deck is empty, each player has one more turn.
  The game also ends with the {LIVES}nd mistake, and when all piles are complete.
- Everybody's points are the cards on the piles.
"""


def table(state: State, viewer: int | None) -> str:
    """Piles, discards, and the cards that the viewer sees."""
    piles = ", ".join(f"{name} {pile}" for name, pile in zip(TOLD, state.piles, strict=False))
    discarded = " ".join(name for name, number in zip(NAMES, state.discards, strict=True) for _ in range(number))
    rows = [f"piles: {piles}; {state.hints} hints, {state.lives} lives, {state.deck[0]} cards in the deck"]
    for seat in range(PLAYERS):
        cards = ["-" if kind == NO_CARD else "?" if seat == viewer else NAMES[kind] for kind in state.hands[seat]]
        rows.append(f"player_{seat}: {' '.join(cards)}")
    return "\n".join([*rows, f"discarded: {discarded or 'none'}"])


words = PlainWords(DECISIONS, ACTIONS, RULES)
positions = PlainPositions(
    lambda: GAME,
    {
        "deck": (0, CARDS),
        "hands": (NO_CARD, KINDS - 1),
        "ruled_out": (0, 1),
        "piles": (0, RANKS),
        "discards": (0, 2),
        "hints": (0, MOST_HINTS),
        "lives": (0, LIVES),
        "turns": (0, PLAYERS),
    },
)
GAME: Game = Game(
    name="hints",
    title="Hints",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(PLAYERS,),
    decisions=DECISIONS,
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe, sample_hidden=sample_hidden),
    words=words,
    drawing=PlainDrawing(words, table),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
