"""One game of Evergreen played by two implementations: the fast rules and the rules by the book.

compare_game(Config(players=3), seed=7)    # the number of decisions; raises Difference
"""

from __future__ import annotations

from typing import Any

from evergreen_env.component_files import load_components
from evergreen_env.config import Config
from evergreen_env.scenarios import described
from evergreen_env.words import answer_name
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.testing import comparing
from tabletop_engine.testing.comparing import Difference as Difference
from tabletop_engine.testing.comparing import RandomStream
from tests.reference_evergreen import Game

NOT_IN_REFERENCE = ("pending", "forfeited")
"""What the fast rules describe and the reference does not: bookkeeping in the middle of a turn.

A mistake there shows in later legal actions.
"""


_MANY = 99
"""More pieces than there are spaces."""


class RecordedChance(RandomStream):
    """The reference's chance, from the numbers that the fast rules drew."""

    def first_player(self, players: int) -> int:
        return self.below(players)

    def card(self, cards: list[str]) -> str:
        return cards[self.below(len(cards))]


class Comparison(comparing.Comparison[Config]):
    """One game with both, step by step."""

    chance: RecordedChance
    game: Game

    def start_reference(self, record: Any) -> None:
        self.chance = RecordedChance(self.stream)
        self.game = Game(self.config.players, numbers_for(self.config), self.chance)

    def answer_reference(self, name: str) -> None:
        self.game.answer(name)

    def fast_answers(self, record: Any) -> dict[str, int]:
        return {answer_name(record, action): action for action in legal_actions(record)}

    def tables(self, record: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        fast = {key: value for key, value in described(record).items() if key not in NOT_IN_REFERENCE}
        fast["legal"] = sorted(self.fast_answers(record))
        reference = {**self.game.describe(), "random": self.chance.place}
        reference["legal"] = sorted(self.game.question.options) if self.game.question else []
        if self.game.question is None:
            fast["winners"] = [self.config.agents[seat] for seat in self.config.game.winners(record)]
            reference["winners"] = self.game.winners()
        return fast, reference


def numbers_for(config: Config) -> dict[str, Any] | None:
    """The overlay's values as the reference takes them."""
    if config.components is None:
        return None
    numbers = {key: one.plain for key, one in load_components(config.components).items()}
    supply: Any = numbers["flags.supply"]
    unlimited = all(number == "unlimited" for number in supply)
    numbers["flags.supply"] = "unlimited" if unlimited else [_MANY if n == "unlimited" else n for n in supply]
    return numbers


def compare_game(config: Config, seed: int) -> int:
    """Play one game with both; the seed decides chance and answers.

    Returns:
        The number of decisions.

    Raises:
        Difference: they differ, or one of them raises an error.
    """
    return Comparison(config, seed).play()
