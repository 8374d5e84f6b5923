"""Row Houses for 3 to 5 players: houses are bought in auctions, then sold for cheques by secret choices.

Houses are numbered 1 to 30, cheques are worth 1 to 15. See `RULES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tabletop_engine.chance import draw_from
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.decisions import by_decision
from tabletop_engine.defaults import GameRecord, begin_game, end_game
from tabletop_engine.game import NOBODY, Game, Rules
from tabletop_engine.legal import allow, ask, forbid_all
from tabletop_engine.observation import Layout
from tabletop_engine.parts.auctions import allow_bids, begin_auction, count_bidders, next_bidder
from tabletop_engine.parts.sets import EMPTY, allow_each, first_of, only, random_of, without_first, write_ones
from tabletop_engine.parts.turns import NOT_CHOSEN, next_with, take_back_choices, write_order
from tabletop_engine.record import array, dtype_of, number
from tabletop_engine.text.plain import PlainConfig, PlainDrawing, PlainPositions, PlainWords
from tabletop_engine.text.words import counted

# --- The record ------------------------------------------------------------------------------------------------------

MAX_PLAYERS = 5
HOUSES, BEST_CHEQUE, COPIES = 30, 15, 2
COINS = 14
AUCTIONS = 5
ROUNDS = 2 * AUCTIONS
"""A round is an auction, or a sale."""
A_BID, A_HOUSE = range(2)
DECISIONS = ("a_bid", "a_house")
PASS, HOUSE = 0, COINS + 1
"""Action PASS + n bids n coins; action HOUSE + n sells house n, from 0."""
ACTIONS = (
    "pass",
    *(f"bid_{coins}" for coins in range(1, COINS + 1)),
    *(f"sell_{house}" for house in range(1, HOUSES + 1)),
)
ALL_HOUSES = np.uint64((1 << HOUSES) - 1)


class State(GameRecord):
    legal = array(np.uint64, 1, "the set of legal actions")
    points = array(np.int16, MAX_PLAYERS, "the worth of the cheques, and the coins left")
    deck = number(np.uint64, "the houses that have not been shown")
    row = number(np.uint64, "the houses that are for sale in this auction")
    owned = array(np.uint64, MAX_PLAYERS, "the houses of each player")
    coins = array(np.int8, MAX_PLAYERS, "the coins of each player")
    bids = array(np.int8, MAX_PLAYERS, "each player's last bid in the latest auction; 0 for none")
    passed = array(np.int8, MAX_PLAYERS, "1: the player has passed in the latest auction")
    cheques = array(np.int8, BEST_CHEQUE, "cheques left in the bag, by worth, from 1")
    offered = array(np.int8, MAX_PLAYERS, "the worth of the cheques of this sale, in the order drawn; 0 for none")
    chosen = array(np.int8, MAX_PLAYERS, "the house that each player sells, or NOT_CHOSEN; a secret until all chose")


STATE = dtype_of(State)


@dataclass(frozen=True)
class Config(PlainConfig):
    """Three to five players."""

    ROUNDS: ClassVar[int] = ROUNDS

    players: int = 3


# --- Auctions --------------------------------------------------------------------------------------------------------


@rule
def reset(s: State, t: Any) -> None:
    begin_game(s)
    s.deck = ALL_HOUSES
    s.owned[:] = EMPTY
    s.coins[:] = 0
    s.coins[: s.players] = COINS
    s.points[: s.players] = COINS
    s.cheques[:] = COPIES
    s.offered[:] = 0
    s.chosen[:] = NOT_CHOSEN
    s.bids[:] = 0
    s.passed[:] = 0
    start_auction(s)
    legal(s, t)


@rule
def start_auction(s: State) -> None:
    """Show as many houses as there are players."""
    s.row = EMPTY
    for _ in range(s.players):
        house = random_of(s, s.deck)
        s.deck &= ~only(house)
        s.row |= only(house)
    begin_auction(s, s.bids, s.passed)


@rule
def allow_a_bid(s: State) -> None:
    allow(s, PASS)
    allow_bids(s, PASS, s.bids, int(s.coins[s.actor]))


@rule
def bid_or_pass(s: State, action: int) -> None:
    """Who passes takes the worst house and half the own bid back; the last one pays in full and takes the best."""
    seat = int(s.actor)
    if action != PASS:
        s.bids[seat] = action - PASS
        ask(s, A_BID, next_bidder(s, s.passed))
        return
    buy(s, seat, int(s.bids[seat]) - int(s.bids[seat]) // 2)
    s.passed[seat] = 1
    last = next_bidder(s, s.passed)
    if count_bidders(s, s.passed) > 1:
        ask(s, A_BID, last)
        return
    buy(s, last, int(s.bids[last]))
    s.round += 1
    if s.round <= AUCTIONS:
        start_auction(s)
        ask(s, A_BID, last)
    else:
        start_sale(s)


@rule
def buy(s: State, seat: int, price: int) -> None:
    """Take the worst house of the row."""
    house = first_of(s.row)
    s.row = without_first(s.row)
    s.owned[seat] |= only(house)
    s.coins[seat] -= price
    s.points[seat] -= price


# --- Sales -----------------------------------------------------------------------------------------------------------


@rule
def start_sale(s: State) -> None:
    """Draw a cheque for each player, and let all choose a house."""
    for seat in range(s.players):
        s.offered[seat] = draw_from(s, s.cheques) + 1
        s.chosen[seat] = NOT_CHOSEN
    ask(s, A_HOUSE, 0)


@rule
def allow_a_house(s: State) -> None:
    allow_each(s, HOUSE, s.owned[s.actor])


@rule
def choose_a_house(s: State, action: int) -> None:
    s.chosen[s.actor] = action - HOUSE
    seat = next_with(s, 0, s.chosen, NOT_CHOSEN)
    if seat == NOBODY:
        sell_houses(s)
    else:
        ask(s, A_HOUSE, seat)


@rule
def sell_houses(s: State) -> None:
    """The better the house, the better the cheque."""
    houses, cheques = np.zeros(MAX_PLAYERS, np.int8), np.zeros(MAX_PLAYERS, np.int8)
    write_order(s, s.chosen, houses)
    write_order(s, s.offered, cheques)
    for place in range(s.players):
        seat = int(houses[place])
        s.points[seat] += s.offered[cheques[place]]
        s.owned[seat] &= ~only(s.chosen[seat])
    s.chosen[:] = NOT_CHOSEN
    s.offered[:] = 0
    if s.round == ROUNDS:
        end_game(s)
    else:
        s.round += 1
        start_sale(s)


# --- All decisions ---------------------------------------------------------------------------------------------------

allow_answers = by_decision(range(2), {A_BID: allow_a_bid, A_HOUSE: allow_a_house}, "s")
answer = by_decision(range(2), {A_BID: bid_or_pass, A_HOUSE: choose_a_house}, "s", "action")


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
    """Forget what the others have chosen in secret. If this player is asked, it is as if they chose later."""
    s.rng = rng
    if s.actor == seat:
        take_back_choices(s, s.chosen, seat)
        return
    for other in range(s.players):
        if other != seat and s.chosen[other] != NOT_CHOSEN:
            s.chosen[other] = random_of(s, s.owned[other])


# --- What a player sees ----------------------------------------------------------------------------------------------

LAYOUT = Layout.of(
    [
        ("decision", (len(DECISIONS),), "one-hot", "the pending decision"),
        ("players", (MAX_PLAYERS,), "0/1", "who plays, from the viewer on"),
        ("row", (HOUSES,), "0/1", "the houses that are for sale"),
        ("deck", (HOUSES,), "0/1", "the houses that have not been shown"),
        ("owned", (MAX_PLAYERS, HOUSES), "0/1", "the houses of each player, from the viewer on"),
        ("coins", (MAX_PLAYERS,), "coins / 14", "of each player, from the viewer on"),
        ("bids", (MAX_PLAYERS,), "coins / 14", "of each player, from the viewer on"),
        ("passed", (MAX_PLAYERS,), "0/1", "who has passed, from the viewer on"),
        ("points", (MAX_PLAYERS,), "points / 89", "of each player, from the viewer on"),
        ("cheques", (BEST_CHEQUE,), "cheques / 2", "left in the bag, by worth"),
        ("offered", (BEST_CHEQUE,), "cheques / 2", "of this sale, by worth"),
        ("chosen", (HOUSES,), "one-hot", "the house that the viewer sells; all 0 before the choice"),
    ]
)
PLAYERS, ROW, DECK, OWNED, COINS_AT, BIDS, PASSED, POINTS, CHEQUES, OFFERED, CHOSEN = (
    block.start for block in tuple(LAYOUT)[1:]
)


@rule
def observe(s: State, t: Any, viewer: int, out: np.ndarray) -> None:
    out[s.decision] = s.actor != NOBODY
    write_ones(s.row, out, ROW)
    write_ones(s.deck, out, DECK)
    for i in range(s.players):
        seat = (viewer + i) % s.players
        out[PLAYERS + i] = 1
        write_ones(s.owned[seat], out, OWNED + i * HOUSES)
        out[COINS_AT + i], out[BIDS + i], out[PASSED + i] = s.coins[seat], s.bids[seat], s.passed[seat]
        out[POINTS + i] = s.points[seat]
        if s.offered[i] > 0:
            out[OFFERED + int(s.offered[i]) - 1] += 1
    for worth in range(BEST_CHEQUE):
        out[CHEQUES + worth] = s.cheques[worth]
    if s.chosen[viewer] != NOT_CHOSEN:
        out[CHOSEN + s.chosen[viewer]] = 1


# --- The game --------------------------------------------------------------------------------------------------------


def table(state: State, viewer: int | None) -> str:
    """What lies on the table. Of the houses that are chosen in secret, a player sees the own one."""
    rows = []
    for seat in range(state.players):
        at_auction = ", passed" if state.passed[seat] else f", bids {state.bids[seat]}" if state.bids[seat] else ""
        chosen = int(state.chosen[seat]) if viewer in (None, seat) else NOT_CHOSEN
        sells = "" if chosen == NOT_CHOSEN else f", sells {chosen + 1}"
        own = f"houses {listed(state.owned[seat])}, {counted(state.coins[seat], 'coin')}"
        rows.append(f"player_{seat}: {own}{at_auction if state.round <= AUCTIONS else ''}{sells}")
    shown = [f"cheques: {', '.join(map(str, sorted(filter(None, state.offered.tolist()))))}"]
    return "\n".join([*rows, f"for sale: {listed(state.row)}" if state.round <= AUCTIONS else shown[0]])


def listed(houses: np.uint64) -> str:
    """The numbers of houses, from 1."""
    return ", ".join(str(house + 1) for house in range(HOUSES) if int(houses) >> house & 1) or "none"


RULES = f"""# Row Houses: rules

- {HOUSES} houses are numbered 1 to {HOUSES}; a higher number is better. There are {COPIES} cheques of each worth from 1
  to {BEST_CHEQUE}. Each player has {COINS} coins. What has been shown does not come again, and some houses and cheques
  are never shown.
- {AUCTIONS} auctions: as many random houses as there are players are shown. In turn, a player bids more than the
  highest bid, in whole coins and no more than the own coins, or passes. Who passes takes the house with the lowest
  number, pays half of the last own bid, rounded up, or nothing without a bid, and is out of this auction. When one
  player is left, that player pays the whole own bid (nothing, if nobody has bid), takes the last house and begins the
  next auction. player_0 begins the first.
- {AUCTIONS} sales: as many random cheques as there are players are shown. All choose one of their houses in secret. The
  best house gets the best cheque, the second best the second best, and so on. The houses are gone.
- Points are the worth of one's cheques and the coins that one has left. Most points win; players with as many share
  the win.
"""


def contradiction(states: np.ndarray) -> str:
    """Every house is in one place at most, and all who still bid or sell have houses to take or to sell."""
    sets = np.column_stack([states["deck"], states["row"], states["owned"]])
    houses = (sets[:, :, None] >> np.arange(HOUSES, dtype=np.uint64)) & np.uint64(1)
    if (houses.sum(axis=1) > 1).any():
        return "deck, row, owned: a house is in two places"
    asked, bidding = states["actor"] != NOBODY, states["decision"] == A_BID
    playing = np.arange(MAX_PLAYERS) < states["players"][:, None]
    bidders = playing & (states["passed"] == 0) & bidding[:, None]
    in_row, owned = houses[:, 1].sum(axis=1), houses[:, 2:].sum(axis=2)
    if (asked & (in_row != bidders.sum(axis=1))).any():
        return "row: not a house for each player who has not passed"
    if (asked & bidding & ((in_row < 2) | ~bidders[np.arange(len(states)), states["actor"]])).any():
        return "passed: one who bids has passed, or nobody else is left"
    rounds = states["round"][:, None]
    expected = np.where(bidding[:, None], rounds - 1 + states["passed"], ROUNDS + 1 - rounds)
    if (asked[:, None] & playing & (owned != expected)).any():
        return "owned: more or fewer houses than a player has in this round"
    return ""


words = PlainWords(DECISIONS, ACTIONS, RULES)
positions = PlainPositions(
    lambda: GAME,
    {
        **dict.fromkeys(("deck", "row", "owned"), (0, int(ALL_HOUSES))),
        **dict.fromkeys(("coins", "bids"), (0, COINS)),
        "passed": (0, 1),
        "cheques": (0, COPIES),
        "offered": (0, BEST_CHEQUE),
        "chosen": (NOT_CHOSEN, HOUSES - 1),
    },
    contradiction,
)
GAME: Game = Game(
    name="row_houses",
    title="Row Houses",
    home=__name__,
    version="1",
    state=STATE,
    config=Config,
    players=(3, 4, 5),
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
