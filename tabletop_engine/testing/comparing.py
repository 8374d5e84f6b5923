"""One game played by two implementations: the fast rules, and slow rules by the book in plain Python.

`compare(GAME, slow_game)` plays random games with both. A game that describes more, or names its answers otherwise,
is a subclass of `Comparison`.

The fast game goes first. The reference is told the same answers and takes its chance from the random stream in the fast
game's record. After every decision everything that both can describe must be equal.
"""

from __future__ import annotations

import json
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import unified_diff
from math import prod
from pprint import pformat
from typing import Any, Generic, Protocol, TypeVar, cast
from zlib import crc32

from tabletop_engine.errors import TabletopError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import Batch, game_seed, legal_actions
from tabletop_engine.seeds import Stream, generator

C = TypeVar("C", bound=Config)

# --- Chance ----------------------------------------------------------------------------------------------------------


class RandomStream:
    """The numbers that the fast rules draw, once more (splitmix64).

    Attributes:
        place: in the stream, how far the reference has used it.
    """

    def __init__(self, place: int) -> None:
        self.place: int = place

    def below(self, bound: int) -> int:
        """The next number of the stream, from 0 to `bound` - 1."""
        self.place = (self.place + 0x9E3779B97F4A7C15) % 2**64
        bits = self.place
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
        bits ^= bits >> 31
        return (bits >> 32) * bound >> 32

    def kind(self, counts: Sequence[int]) -> int:
        """A random thing of which there are `counts` of each kind: its kind, as `draw_from` draws it."""
        left = self.below(sum(counts))
        for kind, count in enumerate(counts):
            left -= count
            if left < 0:
                return kind
        raise AssertionError("the stream gave a number past the bound")


# --- Answers ---------------------------------------------------------------------------------------------------------


class BiasedAnswers:
    """Random answers with a bias for each game: some words are liked more than others.

    So there are games of many passes and of none, of few tiles and of all, with many Harvests and with one.
    """

    def __init__(self, config: Config, seed: int) -> None:
        self.random: Callable[[], float] = generator(seed, Stream.CHECK, crc32(config.name.encode())).random
        self.weights: dict[str, float] = {}

    def like(self, word: str) -> float:
        if word not in self.weights:
            self.weights[word] = float(6 ** (2 * self.random() - 1))
        return self.weights[word]

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
    """What a game and its slow implementation disagree about; as text it is the whole report.

    Attributes:
        step: the number of the decision, from 1; 0 at setup.
        decision, actor, action: the decision that was answered, and how; None at setup.
        fast, reference: both tables after it; empty if there was an error.
        before: the fast state before it, as a scenario; None at setup.
        problem: the error that one of them raised, with the end of its traceback.
        again: the call that plays this game once more.
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
    again: str = ""

    @property
    def keys(self) -> list[str]:
        """What differs."""
        every = sorted({*self.fast, *self.reference})
        return [key for key in every if self.fast.get(key, "missing") != self.reference.get(key, "missing")]

    def __str__(self) -> str:
        lines = [f"{self.config.name}, seed {self.seed}, step {self.step}", f"{self.config!r}"]
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
        lines += [f"Both again: {self.again or f'compare_game({self.config!r}, seed={self.seed})'}"]
        return "\n".join(lines)


class Comparison(ABC, Generic[C]):
    """One game with both, step by step.

    Attributes:
        step: decisions so far.
        fast, reference: both tables.
        batch: the fast game.
    """

    def __init__(self, config: C, seed: int) -> None:
        self.config = config
        self.seed = seed
        self.biased: BiasedAnswers = BiasedAnswers(config, seed)
        self.stream: int = int(game_seed(seed))
        self.step: int = 0
        self.asked: tuple[str | None, str | None] = (None, None)
        self.action: str | None = None
        self.before: Any = None
        self.fast: dict[str, Any] = {}
        self.reference: dict[str, Any] = {}
        self.batch: Batch | None = None

    # --- What a game says ---

    @abstractmethod
    def start_reference(self, record: Any) -> None:
        """Set the reference up; the fast game, whose record this is, is set up already."""

    @abstractmethod
    def answer_reference(self, name: str) -> None:
        """Answer the reference's question, by the answer's name."""

    @abstractmethod
    def fast_answers(self, record: Any) -> dict[str, int]:
        """The legal actions by their names."""

    @abstractmethod
    def tables(self, record: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """What both describe, the fast rules' first."""

    def question(self, record: Any) -> tuple[str, str]:
        """The decision and who is asked, for the report."""
        return self.config.game.decisions[int(record["decision"])], self.config.agents[int(record["actor"])]

    # --- Playing ---

    def play(self) -> int:
        while self.next_step():
            self.compare()
        return self.step

    def next_step(self) -> bool:
        """Setup or one answer with both. False when the game is over."""
        try:
            if self.batch is None:
                self.batch = Batch(self.config, 1, seed=self.seed, autoreset="disabled")
                self.start_reference(self.batch.states[0])
            else:
                legal = self.fast_answers(self.batch.states[0])
                if not legal:
                    return False
                self.action = self.biased.choose(list(legal))
                self.asked = self.question(self.batch.states[0])
                self.before = self.batch.states[0].copy()
                self.step += 1
                self.batch.step([legal[self.action]])
                self.answer_reference(self.action)
            self.fast, self.reference = self.tables(self.batch.states[0])
        except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError, TabletopError) as error:
            self.fast = self.reference = {}
            raise self.difference(traceback.format_exc(limit=-3)) from error
        return True

    def compare(self) -> None:
        if self.fast != self.reference:
            raise self.difference()

    def difference(self, problem: str = "") -> Difference:
        before = None if self.before is None else self.config.game.described(self.before)
        sides = (self.fast, self.reference)
        return Difference(self.config, self.seed, self.step, *self.asked, self.action, *sides, before, problem)


# --- Any game --------------------------------------------------------------------------------------------------------


class SlowGame(Protocol):
    """The rules once more, as plain as the rulebook."""

    def legal(self) -> Collection[str]:
        """The names of the legal actions, as the game has them; none when it is over."""

    def answer(self, name: str) -> None:
        """Answer the question with one of them."""

    def facts(self) -> Mapping[str, Any]:
        """What must be equal: values by the names that `Game.described` gives them. The more, the better."""


class _Plain(Comparison[Config]):
    def __init__(self, config: Config, seed: int, slow: Callable[[Config, RandomStream], SlowGame]) -> None:
        super().__init__(config, seed)
        self.slow = slow

    def start_reference(self, record: Any) -> None:
        self.chance = RandomStream(self.stream)
        self.game = self.slow(self.config, self.chance)

    def answer_reference(self, name: str) -> None:
        self.game.answer(name)

    def fast_answers(self, record: Any) -> dict[str, int]:
        names = self.config.game.actions
        return {names[action]: action for action in legal_actions(record).tolist()}

    def tables(self, record: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        slow = {"rng": self.chance.place, **self.game.facts()}
        described = self.config.game.described(record)
        fast = {name: described.get(name, "missing") for name in slow}
        return (
            {**fast, "legal": sorted(self.fast_answers(record))},
            {**slow, "legal": sorted(self.game.legal())},
        )

    def difference(self, problem: str = "") -> Difference:
        found = super().difference(problem)
        chosen = f"players=({self.config.players},), seeds=({self.seed},)"
        options = [one for one in fields(cast(Any, self.config)) if one.name != "players"]
        values = {one.name: getattr(self.config, one.name) for one in options}
        chosen += "".join(f", {one.name}={values[one.name]!r}" for one in options if values[one.name] != one.default)
        found.again = f"compare(GAME, slow_game, {chosen})"
        return found


def compare(
    game: Game,
    slow: Callable[[Config, RandomStream], SlowGame],
    *,
    players: Sequence[int] = (),
    seeds: Sequence[int] = range(100),
    **options: Any,
) -> int:
    """Play random games with a game and a slow implementation of it. After every decision both must say the same.

    Arguments:
        slow: makes a slow game, set up, from the configuration and the numbers that the fast game's chance draws. It
            must draw in the same order.
        players: numbers of players; (): all that the game has.
        seeds: of the games, for each number of players.
        options: other fields of the configuration, such as `components`.

    Returns the number of decisions.

    Raises ConfigError for a number of players that the game does not have, ComponentsError for bad components, and
    Difference, whose text is a report: what differs after which answer, and the position before it as a scenario.
    """
    decisions = 0
    for number in players or game.players:
        config = game.config(players=number, **options)
        for seed in seeds:
            decisions += _Plain(config, seed, slow).play()
    return decisions
