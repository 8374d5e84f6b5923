"""The small games once more, as slow and plain as their rules, for `tabletop_engine.testing.compare`."""

from __future__ import annotations

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
