"""One game played by two implementations: the fast rules (petrichor_env) and the rules by the book (tests/reference).

    compare_game(Config(players=3, modules=("lake",)), seed=7)    # the number of decisions; raises Difference

The fast game goes first. The reference is told the same answers and takes its chance from the random stream in the fast
game's record. After every decision everything that both can describe must be equal: the table with all that is hidden,
the supplies, the decision, who is asked, the legal actions, and how much of the random stream was used; at the end also
scores and winners.
"""

from __future__ import annotations

from typing import Any

from petrichor_env import Batch, Config
from petrichor_env.actions import ACTION_NAMES
from petrichor_env.component_files import load_components
from petrichor_env.config import POWERS
from petrichor_env.scenarios import described
from petrichor_env.state import CROP_NAMES, TILE_NAMES
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.testing import comparing
from tabletop_engine.testing.comparing import Difference as Difference
from tabletop_engine.testing.comparing import RandomStream
from tests.reference import Game
from tests.reference.southern_winds import RESHUFFLE
from tests.reference.table import Table
from tests.reference.words import HARVEST, in_order

NOT_IN_REFERENCE = ("powers", "turns", "last_turns", "forfeited", "pending")
"""What the fast rules describe and the reference does not: a switch that `Config` holds, and the bookkeeping of rules
in the middle of their work. A mistake there shows in later legal actions."""


# --- Chance ----------------------------------------------------------------------------------------------------------


class RecordedChance(RandomStream):
    """The reference's chance (`tests.reference.Chance`), from the numbers that the fast rules drew.

    Each number picks one of the things that are
    left, counted in the order of kinds, seats or card numbers. Only the tiles are looked up in the record.

    Attributes:
        record: the fast game after its step.
        table: the reference's table.
    """

    def __init__(self, config: Config, place: int) -> None:
        super().__init__(place)
        self.config = config
        self.record: Any = None
        self.table: Table | None = None
        self.sides = load_components(config.components)["harvest_die.sides"].values
        self.forecasts = list(range(1, 17))
        self.rolls: list[int] = []
        """Rolls that were made but not yet asked for."""

    def known(self) -> Table:
        assert self.table is not None
        return self.table

    def tile(self, position: str) -> str:
        self.below(1)
        return CROP_NAMES[self.record["crop"][TILE_NAMES.index(position)]]

    def first_player(self) -> int:
        return self.below(self.config.players)

    def card(self, seat: int, where: str) -> str:
        cards = in_order(self.known().deck.elements())
        return cards[self.below(len(cards))]

    def harvest_dice(self, number: int) -> list[int | str]:
        sides = [self.sides[self.below(len(self.sides))] for _ in range(number)]
        return [HARVEST if side == HARVEST else int(side) for side in sides]

    def numeric_die(self) -> int:
        return self.rolls.pop() if self.rolls else 1 + self.below(6)

    def southern_winds_card(self) -> int:
        """The fast rules roll the numeric die for every card, even when no target is valid."""
        self.forget_roll()
        cards = sorted(self.known().southern_winds)
        card = cards[self.below(len(cards))]
        if card != RESHUFFLE and "non_random_targets" not in self.config.variants:
            self.rolls = [self.numeric_die()]
        return card

    def forget_roll(self) -> None:
        self.rolls.clear()

    def power(self, seat: int) -> str:
        taken = [player.power for player in self.known().players]
        left = [power for power in POWERS if power not in taken]
        return left[self.below(len(left))]

    def forecast_cards(self, seat: int) -> list[int]:
        return [self.forecasts.pop(self.below(len(self.forecasts))) for _ in range(3)]


class ChancyGame(Game):
    """A game whose `RecordedChance` sees its table."""

    def _play_on(self, answer: str | None) -> None:
        assert isinstance(self.table.chance, RecordedChance)
        self.table.chance.table = self.table
        super()._play_on(answer)


# --- Comparing -------------------------------------------------------------------------------------------------------


def compare_game(config: Config, seed: int) -> int:
    """Play one game with both; the seed decides chance and answers.

    Returns:
        The number of decisions.

    Raises:
        Difference: they differ, or one of them raises an error.
    """
    return Comparison(config, seed).play()


class Comparison(comparing.Comparison[Config]):
    """One game with both, step by step."""

    chance: RecordedChance
    game: Game

    def start_reference(self, record: Any) -> None:
        self.chance = RecordedChance(self.config, self.stream)
        self.chance.record = record
        self.game = ChancyGame(self.config, self.chance)

    def answer_reference(self, name: str) -> None:
        self.game.answer(name)

    def fast_answers(self, record: Any) -> dict[str, int]:
        return {ACTION_NAMES[action]: action for action in legal_actions(record)}

    def tables(self, record: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self.chance.forget_roll()
        assert self.batch is not None
        return fast_table(self.batch, self.config), reference_table(self.game, self.chance)


def fast_legal(batch: Batch) -> list[str]:
    return [ACTION_NAMES[action] for action in legal_actions(batch.states[0])]


def fast_table(batch: Batch, config: Config) -> dict[str, Any]:
    """What the fast rules describe, with supplies and legal actions, and how the game has ended."""
    record = batch.states[0]
    description = described(record)  # `describe` would check every single state, which takes ten times as long
    owners = list(description["points"])
    table = {key: value for key, value in description.items() if key not in NOT_IN_REFERENCE}
    if config.solo:
        table["southern_winds"] = {"deck": description["southern_winds"]["deck"]}
    table["supply"] = {name: int(record["supply"][seat]) for seat, name in enumerate(owners)}
    table["vote_supply"] = {name: int(record["vote_supply"][seat]) for seat, name in enumerate(owners)}
    table["legal"] = sorted(fast_legal(batch))
    won = batch.winners(record)[0]
    winners = [name for name, has_won in zip(config.agents, won, strict=True) if has_won]
    table["winners"] = winners or ["neutral"] if description["decision"] == "game_over" else []
    return table


def reference_table(game: Game, chance: RecordedChance) -> dict[str, Any]:
    """The same of the reference."""
    table = game.describe()
    table["legal"] = sorted(game.question.options) if game.question else []
    table["winners"] = game.winners()
    table["random"] = chance.place
    return table
