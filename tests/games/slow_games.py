"""The small games once more, as slow and plain as their rules, for `tabletop_engine.testing.compare`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from tabletop_engine.game import Config
from tabletop_engine.testing import RandomStream


class SlowConnectFour:
    """Seven columns as lists of seats, from the bottom."""

    def __init__(self, config: Config, chance: RandomStream) -> None:
        self.columns: list[list[int]] = [[] for _ in range(7)]
        self.seat, self.points = 0, [0, 0]

    def legal(self) -> list[str]:
        """The columns that are not full."""
        if self.points != [0, 0]:
            return []
        return [f"column_{number}" for number, column in enumerate(self.columns, 1) if len(column) < 6]

    def answer(self, name: str) -> None:
        """Drop a stone."""
        column = int(name.removeprefix("column_")) - 1
        self.columns[column].append(self.seat)
        if any(self._in_line(column, *way) >= 4 for way in ((0, 1), (1, 0), (1, 1), (1, -1))):
            self.points = [1, -1] if self.seat == 0 else [-1, 1]
        self.seat = 1 - self.seat

    def _in_line(self, column: int, across: int, up: int) -> int:
        """Stones in a line through the last one of this column."""
        row, number = len(self.columns[column]) - 1, 1
        for sign in (1, -1):
            x, y = column + sign * across, row + sign * up
            while 0 <= x < 7 and 0 <= y < len(self.columns[x]) and self.columns[x][y] == self.seat:
                x, y, number = x + sign * across, y + sign * up, number + 1
        return number

    def facts(self) -> dict[str, Any]:
        """Who is asked, the points, and the stones."""
        cells = [(x, y, seat) for x, column in enumerate(self.columns) for y, seat in enumerate(column)]
        stones = [sum(1 << 7 * x + y for x, y, seat in cells if seat == one) for one in (0, 1)]
        return {"actor": self.seat if self.legal() else -1, "points": self.points, "stones": stones}


class SlowLeducPoker:
    """Cards as numbers 0 to 2; each round is a list of answers."""

    def __init__(self, config: Config, chance: RandomStream) -> None:
        self.chance = chance
        self.deck = [2, 2, 2]
        self.cards = [self._drawn(), self._drawn()]
        self.open_card = -1
        self.paid = [1, 1]
        self.rounds: list[list[str]] = [[]]
        self.points = [0, 0]
        self.over = False

    def _drawn(self) -> int:
        card = self.chance.kind(self.deck)
        self.deck[card] -= 1
        return card

    @property
    def seat(self) -> int:
        """Who is asked: the players answer in turn, player_0 first in each round."""
        return len(self.rounds[-1]) % 2

    def legal(self) -> list[str]:
        """Fold only what the other has raised; raise twice a round at most."""
        if self.over:
            return []
        may_fold = ["fold"] * (self.paid[self.seat] < self.paid[1 - self.seat])
        return [*may_fold, "call", *["raise"] * (self.rounds[-1].count("raise") < 2)]

    def answer(self, name: str) -> None:
        """Fold, call or raise."""
        seat = self.seat
        self.rounds[-1].append(name)
        if name == "fold":
            self._won_by(1 - seat)
            return
        self.paid[seat] = self.paid[1 - seat]
        if name == "raise":
            self.paid[seat] += 2 if len(self.rounds) == 1 else 4
        elif len(self.rounds[-1]) > 1 and len(self.rounds) == 1:
            self.open_card = self._drawn()
            self.rounds.append([])
        elif len(self.rounds[-1]) > 1:
            strength = [(card == self.open_card, card) for card in self.cards]
            if strength[0] == strength[1]:
                self.over = True
            else:
                self._won_by(0 if strength[0] > strength[1] else 1)

    def _won_by(self, seat: int) -> None:
        self.over = True
        self.points[seat] = self.paid[1 - seat]
        self.points[1 - seat] = -self.paid[1 - seat]

    def facts(self) -> dict[str, Any]:
        """Cards, chips, points, and who is asked."""
        return {
            "actor": -1 if self.over else self.seat,
            "cards": self.cards,
            "open_card": self.open_card,
            "deck": self.deck,
            "chips": self.paid,
            "points": self.points,
            "round": len(self.rounds),
        }


class SlowRowHouses:
    """Houses and cheques as lists of their numbers and worths."""

    def __init__(self, config: Config, chance: RandomStream) -> None:
        self.chance, self.players = chance, config.players
        self.deck = list(range(1, 31))
        self.bag = [2] * 15
        self.owned: list[list[int]] = [[] for _ in range(self.players)]
        self.coins = [14] * self.players
        self.won: list[list[int]] = [[] for _ in range(self.players)]
        self.round, self.seat = 0, 0
        self.offered: list[int] = []
        self.chosen: list[int | None] = [None] * self.players
        self._next_round()

    def _next_round(self) -> None:
        """Five auctions, then five sales."""
        self.round += 1
        if self.round <= 5:
            self.row = sorted(self.deck.pop(self.chance.below(len(self.deck))) for _ in range(self.players))
            self.bids = [0] * self.players
            self.passed = [False] * self.players
        elif self.round <= 10:
            self.offered = []
            for _ in range(self.players):
                worth = self.chance.kind(self.bag) + 1
                self.bag[worth - 1] -= 1
                self.offered.append(worth)
            self.seat = 0

    def legal(self) -> list[str]:
        """More than the highest bid, or pass; or a house of one's own."""
        if self.round > 10:
            return []
        if self.round > 5:
            return [f"sell_{house}" for house in self.owned[self.seat]]
        return ["pass", *(f"bid_{coins}" for coins in range(max(self.bids) + 1, self.coins[self.seat] + 1))]

    def answer(self, name: str) -> None:
        """Bid, pass, or choose a house to sell."""
        verb, _, number = name.partition("_")
        if verb == "bid":
            self.bids[self.seat] = int(number)
            self._next_bidder()
        elif verb == "pass":
            self._take_house(self.seat, -(-self.bids[self.seat] // 2))
            self.passed[self.seat] = True
            self._next_bidder()
            if self.passed.count(False) == 1:
                self._take_house(self.seat, self.bids[self.seat])
                self._next_round()
        else:
            self.chosen[self.seat] = int(number)
            self.seat += 1
            if self.seat == self.players:
                self._sell()
                self._next_round()

    def _next_bidder(self) -> None:
        self.seat = (self.seat + 1) % self.players
        while self.passed[self.seat]:
            self.seat = (self.seat + 1) % self.players

    def _take_house(self, seat: int, coins: int) -> None:
        self.owned[seat].append(self.row.pop(0))
        self.coins[seat] -= coins

    def _sell(self) -> None:
        """The best house gets the best cheque."""
        best_first = sorted(range(self.players), key=lambda seat: -(self.chosen[seat] or 0))
        for seat, worth in zip(best_first, sorted(self.offered, reverse=True), strict=True):
            self.won[seat].append(worth)
            self.owned[seat].remove(self.chosen[seat] or 0)
        self.chosen = [None] * self.players

    def facts(self) -> dict[str, Any]:
        """Everything on the table. Sets of houses are numbers with a bit for each house."""
        seats = range(self.players)
        empty = [0] * (5 - self.players)
        over = self.round > 10
        return {
            "actor": -1 if over else self.seat,
            "decision": int(self.round > 5),
            "players": self.players,
            "owners": self.players,
            "round": min(self.round, 10),
            "rounds": 10,
            "forfeited": -1,
            "points": [*(sum(self.won[seat]) + self.coins[seat] for seat in seats), *empty],
            "deck": as_set(self.deck),
            "row": as_set(self.row),
            "owned": [*(as_set(self.owned[seat]) for seat in seats), *empty],
            "coins": [*self.coins, *empty],
            "bids": [*self.bids, *empty],
            "passed": [*map(int, self.passed), *empty],
            "cheques": self.bag,
            "offered": [*([0] * self.players if over else self.offered or [0] * self.players), *empty],
            "chosen": [*(-1 if house is None else house - 1 for house in self.chosen), *[-1] * len(empty)],
        }


def as_set(houses: list[int]) -> int:
    """House n as bit n - 1."""
    return sum(1 << house - 1 for house in houses)


COLOURS = ["amber", "blue", "green", "red", "violet"]


@dataclass(frozen=True)
class Printed:
    """A card or a guest: its number, its own colour, its points, and the gems or cards that it wants by colour."""

    number: int
    colour: str
    points: int
    wants: dict[str, int]


class SlowGemMarket:
    """Gems as counters by colour, cards and guests as objects, numbers straight from the file."""

    def __init__(self, config: Config, chance: RandomStream) -> None:
        self.chance, self.players = chance, config.players
        told = numbers_of_gem_market(config.components)
        self.most_gems, self.goal = told["limits.gems"], told["limits.goal"]
        self.supply = {**dict.fromkeys(COLOURS, told["setup.supply"][self.players - 2]), "gold": told["setup.gold"]}
        self.gems = [dict.fromkeys([*COLOURS, "gold"], 0) for _ in range(self.players)]
        self.bought: list[list[Printed]] = [[] for _ in range(self.players)]
        self.visits: list[list[Printed]] = [[] for _ in range(self.players)]
        self.reserved: list[list[Printed | None]] = [[None] * 3 for _ in range(self.players)]
        self.secret = [[False] * 3 for _ in range(self.players)]
        self.decks = []
        self.market: list[list[Printed | None]] = []
        for tier, kinds, first in ((1, 8, 0), (2, 6, 40), (3, 4, 70)):
            cards = printed([told[f"tier_{tier}.card_{kind}"] for kind in range(1, kinds + 1)], first)
            for place in range(len(cards), 1, -1):
                other = 1 + self.chance.below(place)
                cards[place - 1], cards[other - 1] = cards[other - 1], cards[place - 1]
            self.decks.append(cards)
            self.market.append([cards.pop() for _ in range(4)])
        waiting = printed([told["guests.guest_1"], told["guests.guest_2"]], 0)
        self.guests: list[Printed | None] = [
            waiting.pop(self.chance.below(len(waiting))) for _ in range(self.players + 1)
        ]
        self.guests += [None] * (5 - len(self.guests))
        self.seat, self.round, self.asked = 0, 1, "turn"
        self.ending = self.over = False

    # --- What is legal ---

    def legal(self) -> list[str]:
        """The answers to the question that is asked."""
        if self.over:
            return []
        if self.asked == "gem":
            return [f"return_{gem}" for gem, number in self.gems[self.seat].items() if number]
        if self.asked == "guest":
            return [f"guest_{1 + self.guests.index(guest)}" for guest in self._visitors()]
        return [*self._takes(), *self._buys(), *self._reserves()] or ["pass"]

    def _takes(self) -> list[str]:
        there = [colour for colour in COLOURS if self.supply[colour]]
        different = list(combinations(there, min(3, len(there)))) if there else []
        pairs = [(colour, colour) for colour in COLOURS if self.supply[colour] >= 4]
        return ["take_" + "_".join(chosen) for chosen in [*different, *pairs]]

    def _buys(self) -> list[str]:
        mine = enumerate(self.reserved[self.seat], 1)
        return [
            *(f"buy_{name}" for name, card in self._on_sale() if self._can_pay(card)),
            *(f"buy_reserved_card_{slot}" for slot, card in mine if card is not None and self._can_pay(card)),
        ]

    def _reserves(self) -> list[str]:
        if None not in self.reserved[self.seat]:
            return []
        return [
            *(f"reserve_{name}" for name, _ in self._on_sale()),
            *(f"reserve_top_of_tier_{tier}" for tier, deck in enumerate(self.decks, 1) if deck),
        ]

    def _on_sale(self) -> list[tuple[str, Printed]]:
        return [
            (f"tier_{tier}_card_{slot}", card)
            for tier, slots in enumerate(self.market, 1)
            for slot, card in enumerate(slots, 1)
            if card is not None
        ]

    def _cards(self, seat: int, colour: str) -> int:
        return sum(card.colour == colour for card in self.bought[seat])

    def _payment(self, card: Printed) -> dict[str, int]:
        """Own gems as far as they suffice, gold for the rest."""
        payment = {}
        gold = 0
        for colour in COLOURS:
            cost = max(0, card.wants[colour] - self._cards(self.seat, colour))
            payment[colour] = min(cost, self.gems[self.seat][colour])
            gold += cost - payment[colour]
        return {**payment, "gold": gold}

    def _can_pay(self, card: Printed) -> bool:
        return self._payment(card)["gold"] <= self.gems[self.seat]["gold"]

    def _visitors(self) -> list[Printed]:
        """The guests whose wishes the player fulfils."""
        return [
            guest
            for guest in self.guests
            if guest is not None
            and all(self._cards(self.seat, colour) >= number for colour, number in guest.wants.items())
        ]

    # --- Answers ---

    def answer(self, name: str) -> None:
        """One of the legal ones."""
        verb, _, what = name.partition("_")
        gems, reserved = self.gems[self.seat], self.reserved[self.seat]
        if verb == "take":
            for colour in what.split("_"):
                self._move(colour, self.supply, gems)
        elif verb == "buy":
            if what.startswith("reserved"):
                slot = int(what[-1]) - 1
                card = reserved[slot]
                reserved[slot], self.secret[self.seat][slot] = None, False
            else:
                card = None
            card = card or self._from_market(what)
            for colour, number in self._payment(card).items():
                self._move(colour, gems, self.supply, number)
            self.bought[self.seat].append(card)
        elif verb == "reserve":
            slot = reserved.index(None)
            top = what.startswith("top")
            reserved[slot] = self._top(int(what[-1])) if top else self._from_market(what)
            self.secret[self.seat][slot] = top
            if self.supply["gold"]:
                self._move("gold", self.supply, gems)
        elif verb == "return":
            self._move(what, gems, self.supply)
        elif verb == "guest":
            self._welcome(self.guests[int(what) - 1])
            return
        self._after_the_action()

    def _after_the_action(self) -> None:
        """Return gems, welcome a guest, or end the turn."""
        visitors = self._visitors()
        if sum(self.gems[self.seat].values()) > self.most_gems:
            self.asked = "gem"
        elif len(visitors) > 1:
            self.asked = "guest"
        else:
            self._welcome(visitors[0] if visitors else None)

    def _welcome(self, guest: Printed | None) -> None:
        if guest is not None:
            self.guests[self.guests.index(guest)] = None
            self.visits[self.seat].append(guest)
        self.ending = self.ending or self._points(self.seat) >= self.goal
        last = self.seat + 1 == self.players
        if last and (self.ending or self.round == 60):
            self.over = True  # the last question stays in the record
            return
        self.asked = "turn"
        self.seat = 0 if last else self.seat + 1
        self.round += last

    def _move(self, gem: str, giver: dict[str, int], taker: dict[str, int], number: int = 1) -> None:
        giver[gem] -= number
        taker[gem] += number

    def _from_market(self, name: str) -> Printed:
        """Take `tier_1_card_2`; the slot is filled again."""
        tier, slot = int(name.split("_")[1]), int(name.split("_")[3]) - 1
        card = self.market[tier - 1][slot]
        assert card is not None
        self.market[tier - 1][slot] = self._top(tier) if self.decks[tier - 1] else None
        return card

    def _top(self, tier: int) -> Printed:
        return self.decks[tier - 1].pop()

    def _points(self, seat: int) -> int:
        return sum(thing.points for thing in [*self.bought[seat], *self.visits[seat]])

    def facts(self) -> dict[str, Any]:
        """Everything on the table."""
        seats = range(self.players)
        absent = 4 - self.players
        decks = [[len(deck), *(card.number for card in deck), *[0] * (40 - len(deck))] for deck in self.decks]
        return {
            "actor": -1 if self.over else self.seat,
            "decision": ["turn", "gem", "guest"].index(self.asked),
            "players": self.players,
            "owners": self.players,
            "round": self.round,
            "rounds": 60,
            "forfeited": -1,
            "ending": int(self.ending),
            "points": [*(self._points(seat) for seat in seats), *[0] * absent],
            "deck": decks,
            "market": [numbers(slots) for slots in self.market],
            "guests": numbers(self.guests),
            "supply": list(self.supply.values()),
            "gems": [*(list(gems.values()) for gems in self.gems), *[[0] * 6] * absent],
            "cards": [*([self._cards(seat, colour) for colour in COLOURS] for seat in seats), *[[0] * 5] * absent],
            "reserved": [*(numbers(slots) for slots in self.reserved), *[[-1] * 3] * absent],
            "secret": [*([int(one) for one in slots] for slots in self.secret), *[[0] * 3] * absent],
        }


def numbers(slots: list[Printed | None]) -> list[int]:
    """What lies in the slots, -1 for nothing."""
    return [-1 if thing is None else thing.number for thing in slots]


def printed(kinds: list[list[int]], first: int) -> list[Printed]:
    """Each kind in each colour. The colours that it wants are counted from its own colour on."""
    return [
        Printed(
            first + 5 * kind + own,
            COLOURS[own],
            points,
            {COLOURS[(own + further) % 5]: number for further, number in enumerate(wants)},
        )
        for kind, (points, *wants) in enumerate(kinds)
        for own in range(5)
    ]


def numbers_of_gem_market(overlay: Any) -> dict[str, Any]:
    """The numbers of the shipped file by their dotted keys, with those of an overlay in their place."""
    file = tomllib.loads(Path(__file__).with_name("gem_market.toml").read_text(encoding="utf-8"))
    shipped = {f"{table}.{key}": value for table, keys in file.items() for key, value in keys.items()}
    return {**shipped, **dict(overlay or {})}
