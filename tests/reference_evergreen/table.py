"""What lies on the table: players with their planets, the market, the deck, the discards, the zone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from tests.reference_evergreen.chance import Chance
from tests.reference_evergreen.planet import Board, Planet
from tests.reference_evergreen.printed import Printed
from tests.reference_evergreen.words import SUNS
from tests.reference_evergreen.zone import Zone

_T = TypeVar("_T")


@dataclass(frozen=True)
class Question:
    """What a player is asked: the decision's name, the player's seat, and the names of the legal answers."""

    decision: str
    seat: int
    options: tuple[str, ...]


Steps: TypeAlias = Generator[Question, str, _T]
"""A stretch of the game: yields questions, is sent the chosen answers, and returns something at its end."""


@dataclass(eq=False)
class Player:
    """A player with planet, power levels and points."""

    seat: int
    planet: Planet
    levels: Counter[str] = field(default_factory=Counter)
    card: str | None = None
    """The card drafted this round."""
    scored: Counter[str] = field(default_factory=Counter)
    """Points by what brought them, as of the last barrier."""
    earned: int = 0
    """Points of the buds since the last barrier."""
    shown_pieces: dict[str, str] = field(default_factory=dict)
    shown_levels: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        return f"player_{self.seat}"

    @property
    def points(self) -> int:
        return self.scored.total()

    def publish(self) -> None:
        """The barrier: what happened in the turn is shown to the others (b6)."""
        self.scored["buds"] += self.earned
        self.earned = 0
        self.shown_pieces = dict(self.planet.pieces)
        self.shown_levels = self.levels.copy()


class Table:
    """Everything on the table of one game."""

    def __init__(self, players: int, numbers: Mapping[str, Any] | None, chance: Chance) -> None:
        if players not in (1, 2, 3, 4):
            raise ValueError("1 to 4 players")
        self.printed = Printed(players, numbers)
        self.chance = chance
        self.board = Board(self.printed)
        self.players = [Player(seat, Planet(self.board, self.printed)) for seat in range(players)]
        self.first = self.players[0]
        """The first player of this round."""
        self.next_first: Player | None = None
        """Who took the marked card this round."""
        self.round = 0
        self.season = 0
        self.deck: set[str] = set(self.printed.icons)
        self.discards: set[str] = set()
        self.collected: set[str] = set()
        """Cards drafted in earlier rounds of this season."""
        self.market: list[str | None] = []
        """The cards by slot, the leftmost first; None where one was taken. Empty after the draft."""
        self.marked: int | None = None
        """The slot with the first player marker."""
        self.zone = Zone(self.printed)
        self.finished: set[int] = set()
        """Seats that have ended this round's turn."""

    def order(self) -> list[Player]:
        """The players in this round's order: from the first one clockwise."""
        return self.players[self.first.seat :] + self.players[: self.first.seat]

    @property
    def sun(self) -> str:
        """Where the sun stands: one step clockwise each season (End of Season)."""
        return SUNS[(SUNS.index(self.printed.flag("sun_start")) + self.season) % 4]

    def draw(self) -> str:
        """A card from the deck; if that is empty, the discards become the deck first (b3)."""
        if not self.deck:
            self.deck, self.discards = self.discards, set()
        card = self.chance.card(self.printed.in_order(self.deck))
        self.deck.remove(card)
        return card
