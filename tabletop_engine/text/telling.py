"""Sentences about the events of a step, written while the rules run as plain Python.

Compiled rules write no words. So a step is played again on a copy of the state before it, with the same functions in
plain Python. The state contains the random stream, so the same happens again. Each sentence is written when its event
happens, and not from a comparison of states, so it can't depend on facts that its reader may not know.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.chance import random_below
from tabletop_engine.compiling.compiled import rule_as_written
from tabletop_engine.legal import NOTHING_ASKED, count_legal, nth_legal
from tabletop_engine.record import FORFEIT, NOBODY


class Sentence(NamedTuple):
    """A sentence, its number in the order of events, and the record at that moment; None if no records are kept."""

    text: str
    time: int
    state: Any


Story = Generator[str | Sentence | None, list[Sentence], None]
"""The story of a rule: a generator of sentences, and once None.

At None the rule runs, and the story receives the sentences that rules inside it told. A story can yield some of these
again; they keep their number and record.
"""


def stories_of(teller: Teller, rules: ModuleType) -> dict[Any, Callable[..., Story]]:
    """The stories for a `Teller` whose public methods have the names of the rules that they tell of.

    The rules are those in the modules of this package, and no two have the same name. Raises KeyError for a method
    without a rule.
    """
    chapters = [vars(module) for module in vars(rules).values() if isinstance(module, ModuleType)]
    found = {name: one for chapter in chapters for name, one in chapter.items() if rule_as_written(one) is not None}
    return {found[name]: getattr(teller, name) for name in vars(type(teller)) if not name.startswith("_")}


class Teller:
    """Tells in sentences what one action did.

    Arguments:
        step: the game's `Rules.step`.
        forfeit: the game's `Rules.forfeit`.
        stories: for a rule, a function that takes the rule's arguments and returns its `Story`. Sentences of rules
            inside that the story does not yield again are lost.

    Attributes:
        viewer: the seat that reads; None may see everything. It is set while stories run.
    """

    def __init__(self, step: Any, forfeit: Any, stories: Mapping[Any, Callable[..., Story]]) -> None:
        self.viewer: int | None = None
        self._stories = {rule_as_written(rule): story for rule, story in stories.items()}
        self._plain: dict[Any, Any] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        self._lines: list[Sentence] = []
        self._time = 0
        self._game: np.ndarray | None = None  # (1,), of which records are kept
        self._lock = threading.Lock()
        self._step, self._forfeit = self.plain(step), self.plain(forfeit)
        self._below, self._count, self._nth = self.plain(random_below), self.plain(count_legal), self.plain(nth_legal)

    def events(self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray) -> list[str]:
        """Sentences about an action, in order (`presentation.Words.events`)."""
        return [one.text for one in self._sentences(before, action, viewer, tables, keeps=False)]

    def story(self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray) -> list[tuple[str, Any]]:
        """The sentences of `events`, each with a copy of the record at that moment, in which no decision is pending.

        The story of a rule may put a sentence before those of the rules inside, although it is written after them. Such
        a sentence gets the record of the earliest sentence that follows it, so that the records stay in order.
        """
        found: list[tuple[str, Any]] = []
        earliest = None
        for one in reversed(self._sentences(before, action, viewer, tables, keeps=True)):
            if earliest is None or one.time < earliest.time:
                earliest = one
            found.append((one.text, earliest.state))
        return found[::-1]

    def sentence(self, text: str) -> Sentence:
        """A sentence with the record of this moment; a story may yield it later."""
        self._time += 1
        if self._game is None:
            return Sentence(text, self._time, None)
        now = self._game.copy()
        now["decision"], now["actor"], now["legal"] = NOTHING_ASKED, NOBODY, 0
        return Sentence(text, self._time, now[0])

    def _sentences(
        self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray, keeps: bool
    ) -> list[Sentence]:
        game = np.zeros(1, before.dtype)
        game[0] = before
        s, t = game[0], tables[0]
        with self._lock, np.errstate(over="ignore"):  # the random stream's arithmetic is modulo 2**64
            self.viewer, self._lines, self._time, self._game = viewer, [], 0, game if keeps else None
            if action == FORFEIT:
                self._forfeit(s, int(s["actor"]))
            else:
                self._step(s, t, self._nth(s, self._below(s, self._count(s))) if action is None else action)
            return self._lines

    def plain(self, rule: Any) -> Any:
        """The rule as plain Python, with all rules that it calls. Rules with a story tell it when they are called."""
        written: Any = rule_as_written(rule)
        if written not in self._plain:
            space = self._space(written.__globals__)
            python = FunctionType(written.__code__, space, written.__name__, written.__defaults__, written.__closure__)
            story = self._stories.get(written)
            self._plain[written] = python if story is None else self._telling(python, story)
        return self._plain[written]

    def _space(self, names: dict[str, Any]) -> dict[str, Any]:
        """The globals of a module of rules, with plain functions in place of the compiled ones."""
        if id(names) not in self._spaces:
            space = self._spaces[id(names)] = dict(names)
            for name, value in names.items():
                space[name] = self._in_python(value)
        return self._spaces[id(names)]

    def _in_python(self, value: Any) -> Any:
        if rule_as_written(value) is not None:
            return self.plain(value)
        if isinstance(value, ModuleType) and any(rule_as_written(one) is not None for one in vars(value).values()):
            module = ModuleType(value.__name__)
            module.__dict__.update(self._space(vars(value)))
            return module
        return value

    def _telling(self, rule: Callable[..., Any], story: Callable[..., Story]) -> Callable[..., Any]:
        def tell(*arguments: Any) -> Any:
            outside, sentences, result = self._lines, story(*arguments), None
            inside: list[Sentence] | None = None
            try:
                sentence = next(sentences)
                while True:
                    if sentence is None:
                        self._lines = inside = []
                        result = rule(*arguments)
                        sentence = sentences.send(inside)
                    else:
                        outside.append(sentence if isinstance(sentence, Sentence) else self.sentence(sentence))
                        sentence = next(sentences)
            except StopIteration:
                self._lines = outside
                return result

        return tell
