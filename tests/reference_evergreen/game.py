"""A whole game as something that asks questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.reference_evergreen.chance import Chance
from tests.reference_evergreen.describe import describe
from tests.reference_evergreen.draft import draft
from tests.reference_evergreen.scoring import ranking, score_game, score_season
from tests.reference_evergreen.setup import set_up
from tests.reference_evergreen.table import Player, Question, Steps, Table
from tests.reference_evergreen.turn import take_turn


def play_game(table: Table) -> Steps[None]:
    """The seasons with their rounds; fertility scores after the last one."""
    set_up(table)
    for season, rounds in enumerate(table.printed.flag("season_rounds")):
        table.season = season
        for _ in range(rounds):
            yield from play_round(table)
        end_season(table)
    score_game(table)


def play_round(table: Table) -> Steps[None]:
    """Draft, then everybody's turn, then the barrier (b3, b6)."""
    table.round += 1
    if table.round > 1:
        table.first = table.next_first or first_without_marker(table)
    table.next_first = None
    yield from draft(table)
    for player in table.order():
        yield from take_turn(table, player)
        table.finished.add(player.seat)
    table.finished = set()
    for player in table.players:
        player.publish()
        assert player.card is not None
        table.collected.add(player.card)
        player.card = None


def first_without_marker(table: Table) -> Player:
    """Who is first after a round in which nobody took the marked card (P11)."""
    order = table.order()
    if table.printed.flag("marked_card_left") == "next_player" and len(order) > 1:
        return order[1]
    return order[0]


def end_season(table: Table) -> None:
    """Light and forests score, the collected cards are discarded (End of Season)."""
    score_season(table)
    table.discards |= table.collected
    table.collected = set()
    if table.printed.flag("reshuffle") == "each_season":
        table.deck |= table.discards
        table.discards = set()


class Game:
    """One game, question by question.

    Arguments:
        players: 1 to 4.
        numbers: values that replace the stand-in ones, by dotted key such as "flags.wild_biome".
        chance: is asked for everything that is up to chance.

    Attributes:
        question: what is asked now; None when the game is over.
        table: everything on the table.
    """

    def __init__(self, players: int, numbers: Mapping[str, Any] | None, chance: Chance) -> None:
        self.table = Table(players, numbers, chance)
        self.question: Question | None = None
        self._flow = play_game(self.table)
        self._play_on(None)

    def answer(self, name: str) -> None:
        """Answer the question, and play on to the next one.

        Raises:
            ValueError: the game is over, or this is not a legal answer.
        """
        if self.question is None:
            raise ValueError("the game is over")
        if name not in self.question.options:
            raise ValueError(f"{name!r} does not answer {self.question}")
        self._play_on(name)

    def _play_on(self, answer: str | None) -> None:
        """On to the next question that has more than one answer."""
        while True:
            try:
                question = next(self._flow) if answer is None else self._flow.send(answer)
            except StopIteration:
                self.question = None
                return
            assert question.options and len(set(question.options)) == len(question.options), question
            if len(question.options) > 1:
                self.question = question
                return
            answer = question.options[0]

    def final_scores(self) -> dict[str, int]:
        """Points by name; final when the game is over."""
        return {player.name: player.points for player in self.table.players}

    def winners(self) -> list[str]:
        """Who has won: always exactly one. None until the game is over."""
        return [ranking(self.table)[0].name] if self.question is None else []

    def describe(self) -> dict[str, Any]:
        """The table as plain data, without "pending" and "random"."""
        return describe(self.table, self.question)
