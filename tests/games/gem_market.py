"""Gem Market for two to four players: gems buy cards, cards make later cards cheaper, guests visit rich collections.

Several decisions make a turn, reserved cards are hidden, the printed numbers are in `gem_market.toml` and can be
replaced, and the five colours can change places. See `RULES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tabletop_engine import envs
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.decisions import by_decision
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.described.keys import Key
from tabletop_engine.described.overlays import ComponentFile, Components
from tabletop_engine.envs.aec import SeatsAEC, wrapped
from tabletop_engine.game import NOBODY, Game, Image, Rules
from tabletop_engine.legal import allow, ask, count_legal, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.parts.decks import clear_deck, deck_of, draw_top, put_on_top, shuffle
from tabletop_engine.parts.sets import only, random_of
from tabletop_engine.parts.slots import NO_CARD, NO_SLOT, clear_slots, first_empty, refill, take_card
from tabletop_engine.parts.turns import next_seat, seat_after
from tabletop_engine.play.agents import Agent
from tabletop_engine.record import Record, array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords

COLOURS = ("amber", "blue", "green", "red", "violet")
NUM_COLOURS, GOLD = len(COLOURS), len(COLOURS)
GEMS = (*COLOURS, "gold")
MAX_PLAYERS, TIERS, ON_SALE, MOST_RESERVED, GUESTS = 4, 3, 4, 3, 5
PATTERNS = (8, 6, 4)
"""Kinds of cards in each tier. There is one card of each kind in each colour."""
FIRST_CARD = np.array([0, 40, 70])
"""The number of the first card of each tier. A card is its tier's first one + 5 * kind + colour."""
NUM_CARDS, NUM_GUESTS, MOST_IN_TIER = 90, 10, 40
ROUNDS = 60

# --- Decisions and actions -------------------------------------------------------------------------------------------

A_TURN, A_GEM, A_GUEST = range(3)
DECISIONS = ("a_turn", "a_gem_to_return", "a_guest")

TAKES: tuple[tuple[int, ...], ...] = (
    *(chosen for count in (3, 2, 1) for chosen in combinations(range(NUM_COLOURS), count)),
    *((colour, colour) for colour in range(NUM_COLOURS)),
)
"""The gems that a player can take in a turn: different ones, or two equal ones."""
TAKEN = np.array([[chosen.count(colour) for colour in range(NUM_COLOURS)] for chosen in TAKES], np.int8)
SIZES = TAKEN.sum(axis=1)
COLOUR_SETS = (TAKEN > 0) @ (1 << np.arange(NUM_COLOURS))
"""The colours of each of `TAKES`, a bit each."""
TAKE, PAIR = 0, len(TAKES) - NUM_COLOURS
BUY = len(TAKES)
BUY_RESERVED = BUY + TIERS * ON_SALE
RESERVE = BUY_RESERVED + MOST_RESERVED
RESERVE_TOP = RESERVE + TIERS * ON_SALE
RETURN = RESERVE_TOP + TIERS
GUEST = RETURN + len(GEMS)
PASS = GUEST + GUESTS
_SLOTS = [f"tier_{tier}_card_{slot}" for tier in range(1, TIERS + 1) for slot in range(1, ON_SALE + 1)]
ACTIONS = (
    *("take_" + "_".join(COLOURS[colour] for colour in chosen) for chosen in TAKES),
    *(f"buy_{slot}" for slot in _SLOTS),
    *(f"buy_reserved_card_{slot}" for slot in range(1, MOST_RESERVED + 1)),
    *(f"reserve_{slot}" for slot in _SLOTS),
    *(f"reserve_top_of_tier_{tier}" for tier in range(1, TIERS + 1)),
    *(f"return_{gem}" for gem in GEMS),
    *(f"guest_{slot}" for slot in range(1, GUESTS + 1)),
    "pass",
)

# --- The printed numbers ---------------------------------------------------------------------------------------------


class Tables(Record):
    points = array(np.int8, NUM_CARDS, "points of each card")
    price = array(np.int8, (NUM_CARDS, NUM_COLOURS), "gems that each card costs, by colour")
    guest_points = array(np.int8, NUM_GUESTS, "points of each guest")
    guest_wants = array(np.int8, (NUM_GUESTS, NUM_COLOURS), "cards that each guest wants to see, by colour")
    supply = array(np.int8, MAX_PLAYERS + 1, "gems of each colour, by number of players")
    gold = number(np.int8, "gold")
    most_gems = number(np.int8, "gems that a player may keep at the end of a turn")
    goal = number(np.int8, "points that end the game")


def _around(meaning: str, most: int) -> Key:
    return Key(meaning, high=most, places=("points", "its own colour", *(f"{step} further" for step in range(1, 5))))


KEYS = {
    **{
        f"tier_{tier}.card_{card}": _around("points, then gems of each colour", 7)
        for tier, kinds in enumerate(PATTERNS, 1)
        for card in range(1, kinds + 1)
    },
    **{f"guests.guest_{guest}": _around("points, then cards of each colour", 5) for guest in (1, 2)},
    "setup.supply": Key("gems of each colour", low=3, high=9, places=("2 players", "3 players", "4 players")),
    "setup.gold": Key("gold", high=9),
    "limits.gems": Key("gems that a player may keep", low=5, high=15),
    "limits.goal": Key("points that end the game", low=1, high=30),
}


def fill(components: Components, row: Any) -> None:
    """Write the numbers into a record of `Tables`, each card and guest once in each colour."""
    values = {key: [int(value) for value in numbers.values] for key, numbers in components.items()}
    cards = [values[key] for key in KEYS if key.startswith("tier")]
    for kinds, points, wanted in (
        (cards, row["points"], row["price"]),
        ([values["guests.guest_1"], values["guests.guest_2"]], row["guest_points"], row["guest_wants"]),
    ):
        for kind, (worth, *around) in enumerate(kinds):
            for colour in range(NUM_COLOURS):
                points[NUM_COLOURS * kind + colour] = worth
                wanted[NUM_COLOURS * kind + colour] = np.roll(around, colour)
    row["supply"][2:] = values["setup.supply"]
    row["gold"], row["most_gems"], row["goal"] = (
        values[key][0] for key in ("setup.gold", "limits.gems", "limits.goal")
    )


COMPONENTS = ComponentFile(
    base=Path(__file__).with_suffix(".toml"),
    keys=KEYS,
    page="tests/games/gem_market.toml",
    tables=dtype_of(Tables),
    fill=fill,
)


@dataclass(frozen=True)
class Config(PlainConfig):
    """Two to four players, with the shipped numbers or other ones.

    Arguments:
        players: 2 to 4.
        components: numbers that replace the shipped ones: the path of a TOML file, or a mapping of its keys to values.
    """

    ROUNDS: ClassVar[int] = ROUNDS
    COMPONENTS: ClassVar[ComponentFile] = COMPONENTS

    components: Any = field(default=None, metadata={"help": "A TOML file with other numbers.", "metavar": "FILE"})


# --- The record ------------------------------------------------------------------------------------------------------


class State(GameRecord):
    legal = array(np.uint64, 2, "the set of legal actions")
    points = array(np.int16, MAX_PLAYERS, "points of cards and guests")
    deck = array(np.int8, (TIERS, deck_of(MOST_IN_TIER)), "the ordered deck of each tier")
    market = array(np.int8, (TIERS, ON_SALE), "the cards on sale, or NO_CARD")
    guests = array(np.int8, GUESTS, "the guests who wait, or NO_CARD")
    supply = array(np.int8, len(GEMS), "gems that nobody has")
    gems = array(np.int8, (MAX_PLAYERS, len(GEMS)), "gems of each player")
    cards = array(np.int8, (MAX_PLAYERS, NUM_COLOURS), "bought cards of each player, by colour")
    reserved = array(np.int8, (MAX_PLAYERS, MOST_RESERVED), "cards that each player has reserved, or NO_CARD")
    secret = array(np.int8, (MAX_PLAYERS, MOST_RESERVED), "1: only this player has seen the reserved card")
    ending = number(np.int8, "1: somebody has reached the goal, and the round is played to its end")


STATE = dtype_of(State)

# --- Setup -----------------------------------------------------------------------------------------------------------


@rule
def reset(s: State, t: Tables) -> None:
    begin_game(s)
    s.supply[:] = t.supply[s.players]
    s.supply[GOLD] = t.gold
    s.gems[:] = 0
    s.cards[:] = 0
    s.secret[:] = 0
    s.ending = 0
    for seat in range(MAX_PLAYERS):
        clear_slots(s.reserved[seat])
    for tier in range(TIERS):
        clear_deck(s.deck[tier])
        s.deck[tier, 1:] = 0
        for card in range(NUM_CARDS):
            if tier_of(card) == tier:
                put_on_top(s.deck[tier], card)
        shuffle(s, s.deck[tier])
        clear_slots(s.market[tier])
        refill(s.market[tier], s.deck[tier])
    clear_slots(s.guests)
    left = np.uint64((1 << NUM_GUESTS) - 1)
    for slot in range(s.players + 1):
        s.guests[slot] = random_of(s, left)
        left &= ~only(s.guests[slot])
    legal(s, t)


@rule
def tier_of(card: int) -> int:
    return 2 if card >= FIRST_CARD[2] else 1 if card >= FIRST_CARD[1] else 0


@rule
def colour_of(card: int) -> int:
    return card % NUM_COLOURS


# --- A turn ----------------------------------------------------------------------------------------------------------


@rule
def allow_turn(s: State, t: Tables) -> None:
    """Take gems, buy a card or reserve one. Who can do none of this passes."""
    allow_takes(s)
    for tier in range(TIERS):
        for slot in range(ON_SALE):
            card = s.market[tier, slot]
            if card != NO_CARD and missing_gems(s, t, card) <= s.gems[s.actor, GOLD]:
                allow(s, BUY + ON_SALE * tier + slot)
    for slot in range(MOST_RESERVED):
        card = s.reserved[s.actor, slot]
        if card != NO_CARD and missing_gems(s, t, card) <= s.gems[s.actor, GOLD]:
            allow(s, BUY_RESERVED + slot)
    if first_empty(s.reserved[s.actor]) != NO_SLOT:
        for tier in range(TIERS):
            for slot in range(ON_SALE):
                if s.market[tier, slot] != NO_CARD:
                    allow(s, RESERVE + ON_SALE * tier + slot)
            if s.deck[tier, 0] > 0:
                allow(s, RESERVE_TOP + tier)
    if count_legal(s) == 0:
        allow(s, PASS)


@rule
def allow_takes(s: State) -> None:
    """Three different gems, fewer only if there are fewer colours; or two equal ones of a colour that has four."""
    there, colours = 0, 0
    for colour in range(NUM_COLOURS):
        if s.supply[colour] > 0:
            there, colours = there | 1 << colour, colours + 1
        if s.supply[colour] >= 4:
            allow(s, PAIR + colour)
    for take in range(PAIR):
        if SIZES[take] == min(3, colours) and COLOUR_SETS[take] & ~there == 0:
            allow(s, TAKE + take)


@rule
def missing_gems(s: State, t: Tables, card: int) -> int:
    """Gems that the actor lacks for a card. Own cards make it cheaper by a gem of their colour; gold is not counted."""
    missing = 0
    for colour in range(NUM_COLOURS):
        to_pay = int(t.price[card, colour]) - int(s.cards[s.actor, colour])
        missing += max(0, to_pay - int(s.gems[s.actor, colour]))
    return missing


@rule
def take_turn(s: State, t: Tables, action: int) -> None:
    if action < BUY:
        for colour in range(NUM_COLOURS):
            move_gems(s, colour, int(TAKEN[action, colour]))
    elif action < BUY_RESERVED:
        slot = action - BUY
        buy(s, t, take_from_market(s, slot // ON_SALE, slot % ON_SALE))
    elif action < RESERVE:
        slot = action - BUY_RESERVED
        s.secret[s.actor, slot] = 0
        buy(s, t, take_card(s.reserved[s.actor], slot))
    elif action < RESERVE_TOP:
        slot = action - RESERVE
        reserve(s, take_from_market(s, slot // ON_SALE, slot % ON_SALE), 0)
    elif action < RETURN:
        reserve(s, draw_top(s.deck[action - RESERVE_TOP]), 1)
    return_gems_or_go_on(s, t)


@rule
def move_gems(s: State, gem: int, gems: int) -> None:
    """Move gems from the supply to the actor; a negative number back."""
    s.supply[gem] -= gems
    s.gems[s.actor, gem] += gems


@rule
def take_from_market(s: State, tier: int, slot: int) -> int:
    card = take_card(s.market[tier], slot)
    refill(s.market[tier], s.deck[tier])
    return card


@rule
def buy(s: State, t: Tables, card: int) -> None:
    """Pay with gems of the colours, and with gold for those that are missing."""
    move_gems(s, GOLD, -missing_gems(s, t, card))
    for colour in range(NUM_COLOURS):
        to_pay = max(0, int(t.price[card, colour]) - int(s.cards[s.actor, colour]))
        move_gems(s, colour, -min(to_pay, int(s.gems[s.actor, colour])))
    s.cards[s.actor, colour_of(card)] += 1
    s.points[s.actor] += t.points[card]


@rule
def reserve(s: State, card: int, secret: int) -> None:
    """Keep a card for later, and take a gold if there is one."""
    slot = first_empty(s.reserved[s.actor])
    s.reserved[s.actor, slot] = card
    s.secret[s.actor, slot] = secret
    move_gems(s, GOLD, min(1, int(s.supply[GOLD])))


# --- The end of a turn -----------------------------------------------------------------------------------------------


@rule
def return_gems_or_go_on(s: State, t: Tables) -> None:
    """Whoever has too many gems returns them one by one."""
    if s.gems[s.actor].sum() > t.most_gems:
        ask(s, A_GEM, s.actor)
    else:
        welcome_or_go_on(s, t)


@rule
def allow_return(s: State) -> None:
    for gem in range(len(GEMS)):
        if s.gems[s.actor, gem] > 0:
            allow(s, RETURN + gem)


@rule
def return_gem(s: State, t: Tables, action: int) -> None:
    move_gems(s, action - RETURN, -1)
    return_gems_or_go_on(s, t)


@rule
def welcome_or_go_on(s: State, t: Tables) -> None:
    """One guest visits at the end of a turn; if several would, the player chooses."""
    guests, last = 0, NO_SLOT
    for slot in range(GUESTS):
        if would_visit(s, t, slot):
            guests, last = guests + 1, slot
    if guests > 1:
        ask(s, A_GUEST, s.actor)
        return
    if guests == 1:
        welcome(s, t, last)
    end_turn(s, t)


@rule
def would_visit(s: State, t: Tables, slot: int) -> bool:
    """Whether the actor has the cards that a guest wants to see."""
    guest = s.guests[slot]
    if guest == NO_CARD:
        return False
    for colour in range(NUM_COLOURS):
        if s.cards[s.actor, colour] < t.guest_wants[guest, colour]:
            return False
    return True


@rule
def welcome(s: State, t: Tables, slot: int) -> None:
    s.points[s.actor] += t.guest_points[take_card(s.guests, slot)]


@rule
def allow_guests(s: State, t: Tables) -> None:
    for slot in range(GUESTS):
        if would_visit(s, t, slot):
            allow(s, GUEST + slot)


@rule
def choose_guest(s: State, t: Tables, action: int) -> None:
    welcome(s, t, action - GUEST)
    end_turn(s, t)


@rule
def end_turn(s: State, t: Tables) -> None:
    """The round in which somebody reaches the goal is the last one."""
    if s.points[s.actor] >= t.goal:
        s.ending = 1
    seat = next_seat(s)
    if seat == 0:
        if s.ending == 1 or s.round == s.rounds:
            end_game(s)
            return
        s.round += 1
    ask(s, A_TURN, seat)


allow_answers = by_decision(range(3), {A_TURN: allow_turn, A_GEM: allow_return, A_GUEST: allow_guests}, "s", "t")
answer = by_decision(range(3), {A_TURN: take_turn, A_GEM: return_gem, A_GUEST: choose_guest}, "s", "t", "action")


@rule
def legal(s: State, t: Tables) -> None:
    forbid_all(s)
    if s.actor != NOBODY:
        allow_answers(s, t)


@rule
def step(s: State, t: Tables, action: int) -> None:
    answer(s, t, action)
    legal(s, t)


@rule
def ranks(s: State, out: np.ndarray) -> None:
    """Most points first; of equal ones, fewer bought cards."""
    for seat in range(s.players):
        out[seat] = 1
        for other in range(s.players):
            fewer = s.cards[other].sum() < s.cards[seat].sum()
            out[seat] += s.points[other] > s.points[seat] or (s.points[other] == s.points[seat] and fewer)


@rule
def sample_hidden(s: State, t: Tables, seat: int, rng: np.uint64) -> None:
    """Redraw the order of the decks, and the cards that others have reserved in secret."""
    s.rng = rng
    for other in range(s.players):
        for slot in range(MOST_RESERVED):
            if other != seat and s.secret[other, slot] == 1:
                card = int(s.reserved[other, slot])
                put_on_top(s.deck[tier_of(card)], card)
    for tier in range(TIERS):
        shuffle(s, s.deck[tier])
    for other in range(s.players):
        for slot in range(MOST_RESERVED):
            if other != seat and s.secret[other, slot] == 1:
                s.reserved[other, slot] = draw_top(s.deck[tier_of(int(s.reserved[other, slot]))])
    if s.actor != NOBODY and s.actor != seat:
        legal(s, t)  # what the other player can buy depends on the redrawn cards


# --- What a player sees ----------------------------------------------------------------------------------------------

FACE = 2 + 2 * NUM_COLOURS
"""Numbers for a card: that there is one, its points, its colour, its price."""
LAYOUT = Layout.of(
    [
        ("decision", (len(DECISIONS),), "one-hot", "the pending decision"),
        ("players", (MAX_PLAYERS,), "0/1", "who plays, from the viewer on"),
        ("round", (1,), f"rounds / {ROUNDS}", "the round"),
        ("ending", (1,), "0/1", "the round is the last one"),
        ("market", (TIERS, ON_SALE, FACE), "things / 7", "a card: is there, points, colour, price"),
        ("decks", (TIERS,), "cards / 40", "left in each tier"),
        ("guests", (GUESTS, 2 + NUM_COLOURS), "things / 5", "a guest: is there, points, wanted cards"),
        ("supply", (len(GEMS),), "gems / 7", "that nobody has"),
        ("gems", (MAX_PLAYERS, len(GEMS)), "gems / 7", "of each player, from the viewer on"),
        ("cards", (MAX_PLAYERS, NUM_COLOURS), "cards / 7", "bought by each player, from the viewer on"),
        ("points", (MAX_PLAYERS,), "points / 15", "of each player, from the viewer on"),
        ("reserved", (MAX_PLAYERS, MOST_RESERVED, TIERS), "one-hot", "the tier of each reserved card"),
        ("faces", (MAX_PLAYERS, MOST_RESERVED, FACE), "things / 7", "reserved cards that the viewer has seen"),
    ],
    high=8.0,
)
PLAYERS, ROUND, ENDING, MARKET, DECKS, GUESTS_AT, SUPPLY, GEMS_AT, CARDS, POINTS, RESERVED, FACES = (
    block.start for block in tuple(LAYOUT)[1:]
)


@rule
def observe(s: State, t: Tables, viewer: int, out: np.ndarray) -> None:
    out[s.decision] = s.actor != NOBODY
    out[ROUND], out[ENDING] = s.round, s.ending
    for tier in range(TIERS):
        out[DECKS + tier] = s.deck[tier, 0]
        for slot in range(ON_SALE):
            write_face(t, int(s.market[tier, slot]), out, MARKET + FACE * (ON_SALE * tier + slot))
    for slot in range(GUESTS):
        guest = s.guests[slot]
        if guest != NO_CARD:
            at = GUESTS_AT + (2 + NUM_COLOURS) * slot
            out[at], out[at + 1] = 1, t.guest_points[guest]
            for colour in range(NUM_COLOURS):
                out[at + 2 + colour] = t.guest_wants[guest, colour]
    for gem in range(len(GEMS)):
        out[SUPPLY + gem] = s.supply[gem]
    for i in range(s.players):
        observe_player(s, t, seat_after(s, viewer, i), i, out)


@rule
def observe_player(s: State, t: Tables, seat: int, i: int, out: np.ndarray) -> None:
    out[PLAYERS + i] = 1
    out[POINTS + i] = s.points[seat]
    for gem in range(len(GEMS)):
        out[GEMS_AT + len(GEMS) * i + gem] = s.gems[seat, gem]
    for colour in range(NUM_COLOURS):
        out[CARDS + NUM_COLOURS * i + colour] = s.cards[seat, colour]
    for slot in range(MOST_RESERVED):
        card, place = int(s.reserved[seat, slot]), MOST_RESERVED * i + slot
        if card != NO_CARD:
            out[RESERVED + TIERS * place + tier_of(card)] = 1
            if i == 0 or s.secret[seat, slot] == 0:
                write_face(t, card, out, FACES + FACE * place)


@rule
def write_face(t: Tables, card: int, out: np.ndarray, at: int) -> None:
    if card == NO_CARD:
        return
    out[at], out[at + 1] = 1, t.points[card]
    out[at + 2 + colour_of(card)] = 1
    for colour in range(NUM_COLOURS):
        out[at + 2 + NUM_COLOURS + colour] = t.price[card, colour]


# --- Images ----------------------------------------------------------------------------------------------------------


def images(players: int) -> tuple[Image, ...]:
    """The five colours moved around. The cards are the same in each colour, so the game is the same."""
    return tuple(_moved_around(steps) for steps in range(1, NUM_COLOURS))


def _moved_around(steps: int) -> Image:
    colours = (np.arange(NUM_COLOURS) + steps) % NUM_COLOURS
    gems = np.append(colours, GOLD)
    after = {"supply": gems, "gems": gems, "cards": colours}
    face = np.concatenate([[0, 1], 2 + colours, 2 + NUM_COLOURS + colours])
    after |= {"market": face, "faces": face, "guests": np.append([0, 1], 2 + colours)}
    observation = np.arange(LAYOUT.size)
    for name, order in after.items():
        block = LAYOUT[name]
        observation[block.slice] = observation[block.slice].reshape(-1, len(order))[:, order].ravel()
    actions = np.arange(len(ACTIONS))
    for take, chosen in enumerate(TAKES):
        actions[take] = TAKES.index(tuple(sorted(int(colours[colour]) for colour in chosen)))
    actions[RETURN : RETURN + len(GEMS)] = RETURN + gems
    return Image(observation, actions)


# --- The game --------------------------------------------------------------------------------------------------------


def table(state: State, viewer: int | None, tables: np.ndarray | None) -> str:
    """The market and what everybody has. A card that another player has reserved in secret is not shown."""
    t = (COMPONENTS.load_tables() if tables is None else tables)[0]
    rows = [f"supply: {counts_of(state.supply)}"]
    for tier in range(TIERS - 1, -1, -1):
        faces = [face_of(t, int(card)) for card in state.market[tier] if card != NO_CARD]
        rows += [f"tier {tier + 1}, {int(state.deck[tier, 0])} more:", *(f"  {face}" for face in faces)]
    for guest in (int(guest) for guest in state.guests if guest != NO_CARD):
        rows.append(f"guest: {t['guest_points'][guest]} points for cards {counts_of(t['guest_wants'][guest])}")
    for seat in range(state.players):
        rows.append(f"player_{seat}: gems {counts_of(state.gems[seat])}; cards {counts_of(state.cards[seat])}")
        for card, secret in zip(state.reserved[seat].tolist(), state.secret[seat], strict=True):
            if card != NO_CARD:
                hidden = secret and viewer not in (None, seat)
                rows.append(f"  reserved: {f'a card of tier {1 + tier_of(card)}' if hidden else face_of(t, card)}")
    return "\n".join(rows)


def counts_of(counts: np.ndarray) -> str:
    """What there is of each colour, such as "2 blue, 1 red"."""
    return ", ".join(f"{count} {gem}" for count, gem in zip(counts, GEMS, strict=False) if count) or "none"


def face_of(tables: Any, card: int) -> str:
    """A card in words: its colour, points and price."""
    return f"{COLOURS[card % NUM_COLOURS]}, {tables['points'][card]} points for {counts_of(tables['price'][card])}"


RULES = """# Gem Market: rules

- Gems come in five colours; gold stands for any of them. Cards cost gems, and a bought card makes every later one
  cheaper by one gem of its own colour. Cards are of three tiers. Four of each tier are on sale; a card that leaves is
  replaced at once from the deck of its tier, as long as there is one.
- On a turn a player does one of these, and passes only if none is possible:
  - take three gems of different colours, or one of each colour that is left if fewer than three are; or take two of a
    colour of which at least four are left;
  - buy a card that is on sale, or that the player has reserved. Gems of the card's colours are paid first; gold pays
    only for those that are missing. What is paid can be taken again;
  - reserve a card that is on sale, or in secret the top card of a deck, and take a gold, if one is left. Nobody has
    more than three reserved cards. A card that was on sale is known to all.
- Who has more than {most_gems} gems after that, with gold, returns gems of their choice until they have {most_gems}.
- Then one guest comes whose wishes are fulfilled by the cards that the player has bought, not those reserved. If there
  are several, the player chooses one. A guest brings points, comes once in the game, and is not replaced. At first
  there is one guest more than players.
- When somebody has {goal} points from cards and guests at the end of a turn, the round is played to its end, so that
  all have had as many turns. player_0 begins each round. Most points win; if they are equal, fewer bought cards; who
  have as many of these, too, share the win. The game ends after {rounds} rounds at the latest.
"""


class Words(PlainWords):
    """The plain words, and rules that tell the numbers of the game."""

    def rules(self, config: Any, tables: np.ndarray | None = None, *, brief: bool = False) -> str:
        """The rules with the numbers that are played with; nothing in brief."""
        t = (COMPONENTS.load_tables(config.components) if tables is None else tables)[0]
        return "" if brief else RULES.format(most_gems=t["most_gems"], goal=t["goal"], rounds=ROUNDS)


def contradiction(states: np.ndarray) -> str:
    """Every card is in one place at most, a deck and the market have cards of their tier, and secrets are cards."""
    left, reserved = states["deck"][:, :, :1], states["reserved"]
    decks = np.where(np.arange(MOST_IN_TIER) < left, states["deck"][:, :, 1:], NO_CARD)
    tiers = np.concatenate([decks, states["market"]], axis=2)
    cards = np.sort(np.concatenate([tiers.reshape(len(states), -1), reserved.reshape(len(states), -1)], axis=1))
    of_tier = np.searchsorted(FIRST_CARD, tiers, side="right") - 1
    if (left > MOST_IN_TIER).any() or ((tiers != NO_CARD) & (of_tier != np.arange(TIERS)[:, None])).any():
        return "deck, market: more cards than the tier has, or cards of another tier"
    if ((cards[:, 1:] == cards[:, :-1]) & (cards[:, 1:] != NO_CARD)).any():
        return "deck, market, reserved: a card is in two places"
    if ((states["secret"] == 1) & (reserved == NO_CARD)).any():
        return "secret: no card is reserved there"
    return ""


words = Words(DECISIONS, ACTIONS)
positions = PlainPositions(
    lambda: GAME,
    {
        "deck": (0, NUM_CARDS - 1),
        **dict.fromkeys(("market", "reserved"), (NO_CARD, NUM_CARDS - 1)),
        "guests": (NO_CARD, NUM_GUESTS - 1),
        **dict.fromkeys(("supply", "gems"), (0, 15)),
        "cards": (0, MOST_IN_TIER),
        **dict.fromkeys(("secret", "ending"), (0, 1)),
    },
    contradiction,
)
GAME: Game = Game(
    name="gem_market",
    title="Gem Market",
    home=__name__,
    version="1",
    state=STATE,
    tables=COMPONENTS.tables,
    load_tables=COMPONENTS.load_tables,
    own_numbers=COMPONENTS.own_numbers,
    config=Config,
    players=(2, 3, 4),
    decisions=DECISIONS,
    actions=ACTIONS,
    observation=LAYOUT,
    rules=Rules(reset=reset, step=step, legal=legal, observe=observe, ranks=ranks, sample_hidden=sample_hidden),
    images=images,
    words=words,
    drawing=PlainDrawing(words, table),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)


class VersusEnv(envs.SeatEnv):
    """Gem Market, seen from one seat."""

    def __init__(self, opponents: Sequence[Agent | str] = ("greedy",), **arguments: Any):
        super().__init__(GAME, opponents=opponents, **arguments)


class VersusVectorEnv(envs.SeatVectorEnv):
    """Many games of Gem Market, each seen from one seat."""

    def __init__(self, num_envs: int = 1, opponents: Sequence[Agent | str] = ("greedy",), **arguments: Any):
        super().__init__(GAME, num_envs, opponents=opponents, **arguments)


class raw_env(SeatsAEC):  # noqa: N801
    """Gem Market with all seats."""

    def __init__(self, num_players: int = 2, *, components: Any = None, **arguments: Any):
        super().__init__(f"{GAME.name}_v0", Config(num_players, components), **arguments)


def env(**arguments: Any) -> Any:
    """`raw_env` in PettingZoo's wrappers."""
    return wrapped(raw_env(**arguments))
