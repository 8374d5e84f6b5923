"""One game played by two implementations: the fast rules (petrichor_env) and the rules by the book (tests/reference).

    compare_game(Config(players=3, modules=("lake",)), seed=7)    # the number of decisions; raises Difference

The fast game goes first. The reference is told the same answers and takes its chance from the random stream in the fast
game's record. After every decision everything that both can describe must be equal: the table with all that is hidden,
the supplies, the decision, who is asked, the legal actions, and how much of the random stream was used; at the end also
scores and winners.
"""

from __future__ import annotations

import json
import random
import traceback
from dataclasses import dataclass
from difflib import unified_diff
from math import prod
from pathlib import Path
from pprint import pformat
from typing import Any

from petrichor_env import Batch, Config
from petrichor_env.actions import ACTION_NAMES, ACTIONS
from petrichor_env.component_files import load_components
from petrichor_env.config import POWERS
from petrichor_env.scenarios import described
from petrichor_env.state import CROP_NAMES, TILE_NAMES
from tabletop.batch import game_seed, legal_actions
from tabletop.errors import TabletopError
from tests.reference import Game
from tests.reference.southern_winds import RESHUFFLE
from tests.reference.table import Table
from tests.reference.words import HARVEST, in_order

NOT_IN_REFERENCE = ("powers", "turns", "last_turns", "forfeited", "pending")
"""What the fast rules describe and the reference does not: a switch that `Config` holds, and the bookkeeping of rules
in the middle of their work. A slip there shows in later legal actions."""


# --- Chance ----------------------------------------------------------------------------------------------------------


class RecordedChance:
    """The reference's chance (`tests.reference.Chance`), from the numbers that the fast rules drew.

    They come from a stream (splitmix64) whose place stands in the record. Each number picks one of the things that are
    left, counted in the order of kinds, seats or card numbers. Only the tiles are looked up in the record.

    Attributes:
        place: in the stream, how far the reference has used it.
        record: the fast game after its step.
        table: the reference's table.
    """

    def __init__(self, config: Config, place: int) -> None:
        self.config = config
        self.place = place
        self.record: Any = None
        self.table: Table | None = None
        self.sides = load_components(config.components)["harvest_die.sides"].values
        self.forecasts = list(range(1, 17))
        self.rolls: list[int] = []
        """Rolled already, not yet asked for."""

    def below(self, bound: int) -> int:
        """The next number of the stream, of 0 to `bound` - 1."""
        self.place = (self.place + 0x9E3779B97F4A7C15) % 2**64
        bits = self.place
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
        bits ^= bits >> 31
        return (bits >> 32) * bound >> 32

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


# --- Answers ---------------------------------------------------------------------------------------------------------


class Taste:
    """Random answers with a bias for each game: some words are liked more than others.

    So there are games of many passes and of none, of few tiles and of all, with many Harvests and with one.
    """

    def __init__(self, config: Config, seed: int) -> None:
        self.random = random.Random(f"{config.name} {seed}").random
        self.likes: dict[str, float] = {}

    def like(self, word: str) -> float:
        if word not in self.likes:
            self.likes[word] = float(6 ** (2 * self.random() - 1))
        return self.likes[word]

    def choose(self, names: list[str]) -> str:
        """One of these actions."""
        weights = [prod(self.like(word) for word in name.split(" ", 2)) for name in names]
        left = self.random() * sum(weights)
        for name, weight in zip(names, weights, strict=True):
            left -= weight
            if left < 0:
                return name
        return names[-1]


# --- Comparing -------------------------------------------------------------------------------------------------------


@dataclass
class Difference(Exception):
    """The two do not agree; as text it is the whole report.

    Attributes:
        step: the number of the decision, from 1; 0 at setup.
        decision, actor, action: the decision that was answered, and how; None at setup.
        fast, reference: both tables after it; empty if there was an error.
        before: the fast state before it, as a scenario; None at setup.
        problem: the error that one of them raised, with the end of its traceback.
        overlay: the text of the overlay file.
    """

    config: Config
    seed: int
    step: int
    decision: str | None
    actor: str | None
    action: str | None
    fast: dict[str, Any]
    reference: dict[str, Any]
    before: dict[str, Any] | None
    problem: str = ""
    overlay: str = ""

    @property
    def keys(self) -> list[str]:
        """What differs."""
        every = sorted({*self.fast, *self.reference})
        return [key for key in every if self.fast.get(key, "missing") != self.reference.get(key, "missing")]

    def __str__(self) -> str:
        lines = [f"{self.config.name}, seed {self.seed}, step {self.step}", f"{self.config!r}"]
        lines += ["with this overlay file:", self.overlay] if self.overlay else []
        if self.decision is None:
            lines += ["after setup"]
        else:
            lines += [f"after {self.actor} answered {self.decision!r} with {self.action!r}"]
        lines += [self.problem] if self.problem else []
        for key in self.keys:
            fast, reference = (pformat(side.get(key, "missing"), width=100) for side in (self.fast, self.reference))
            names = (f"fast: {key}", f"reference: {key}")
            diff = unified_diff(fast.splitlines(), reference.splitlines(), *names, n=2, lineterm="")
            lines += [line for line in diff if not line.startswith("@@")]
        if self.before is not None:
            lines += [f"The scenario before it, to be answered with {self.action!r}:", json.dumps(self.before)]
        lines += [f"Both again: compare_game({self.config!r}, seed={self.seed})"]
        return "\n".join(lines)


def compare_game(config: Config, seed: int) -> int:
    """Play one game with both; the seed decides chance and answers.

    Returns:
        The number of decisions.

    Raises:
        Difference: they differ, or one of them raises an error.
    """
    return Comparison(config, seed).play()


class Comparison:
    """One game with both, step by step.

    Attributes:
        step: decisions so far.
        fast, reference: both tables.
    """

    def __init__(self, config: Config, seed: int) -> None:
        self.config = config
        self.seed = seed
        self.taste = Taste(config, seed)
        self.chance = RecordedChance(config, int(game_seed(seed)))
        self.step = 0
        self.asked: tuple[str | None, str | None] = (None, None)
        self.action: str | None = None
        self.before: Any = None
        self.fast: dict[str, Any] = {}
        self.reference: dict[str, Any] = {}
        self.batch: Batch | None = None
        self.game: Game | None = None

    def play(self) -> int:
        while self.next_step():
            self.compare()
        return self.step

    def next_step(self) -> bool:
        """Setup or one answer with both. False when the game is over."""
        try:
            if self.batch is None:
                self.batch = Batch(self.config, 1, seed=self.seed, autoreset="disabled")
                self.chance.record = self.batch.states[0]
                self.game = ChancyGame(self.config, self.chance)
            else:
                assert self.game is not None
                legal = fast_legal(self.batch)
                if not legal:
                    return False
                self.action = self.taste.choose(legal)
                self.asked = (self.fast["decision"], self.fast["actor"])
                self.before = self.batch.states[0].copy()
                self.step += 1
                self.batch.step([ACTIONS[self.action]])
                self.game.answer(self.action)
            self.chance.forget_roll()
            self.fast = fast_table(self.batch, self.config)
            self.reference = reference_table(self.game, self.chance)
        except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError, TabletopError) as error:
            self.fast = self.reference = {}
            raise self.difference(traceback.format_exc(limit=-3)) from error
        return True

    def compare(self) -> None:
        if self.fast != self.reference:
            raise self.difference()

    def difference(self, problem: str = "") -> Difference:
        before = None if self.before is None else described(self.before)
        overlay = Path(self.config.components).read_text() if self.config.components else ""
        sides = (self.fast, self.reference)
        return Difference(self.config, self.seed, self.step, *self.asked, self.action, *sides, before, problem, overlay)


def fast_legal(batch: Batch) -> list[str]:
    return [ACTION_NAMES[action] for action in legal_actions(batch.states[0])]


def fast_table(batch: Batch, config: Config) -> dict[str, Any]:
    """What the fast rules describe, supplies and legal actions too, and how the game has ended."""
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
