"""Answers that belong together, such as the cards of a payment, offered as one answer.

A game says which decisions continue the answer before (`Words.continues_answer`). Combinations are found by playing on
copies of the record. A combination ends where chance is drawn or another player is asked, because nobody can know in
advance what comes then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.game import Game
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.text.words import in_a_row

MOST = 60
"""The most combinations that are offered at once, unless the decision itself has more answers."""


class Combination(NamedTuple):
    """Answers that are given one after another by one click.

    Attributes:
        actions: the actions, one or more.
        states: for each of them the record that it is played on.
    """

    actions: tuple[int, ...]
    states: tuple[Any, ...]

    def text(self, action_text: Callable[[Any, int], str]) -> str:
        """All of it in words, from those for each answer, as `Words.action_text` gives them."""
        return in_a_row([action_text(*one) for one in zip(self.states, self.actions, strict=True)])


class _Open(NamedTuple):
    """A combination, and the record after it; `continues_answer` tells whether the actor can continue it there."""

    combination: Combination
    after: Any
    continues_answer: bool


def combinations(game: Game, state: Any, tables: np.ndarray) -> list[Combination]:
    """The answers to the pending decision, each continued as far as the list has room.

    Answers with the same beginning are continued together or not at all. Beginnings with the fewest continuations come
    first. The list is in the order of the actions. Every legal action begins at least one combination.

    Arguments:
        state: one record. It is not changed.
        tables: (1,) printed numbers that the game is played with.
    """
    start = Combination((), ())
    found = _continued(game, tables, [_Open(start, state, True)])
    while True:
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, one in enumerate(found):
            if one.continues_answer:
                waiting[one.combination.actions[0], len(one.combination.actions)].append(i)
        sizes = {key: sum(len(legal_actions(found[i].after)) - 1 for i in those) for key, those in waiting.items()}
        key = min(sizes, key=lambda one: (sizes[one], one), default=None)
        if key is None or len(found) + sizes[key] > MOST:
            return sorted((one.combination for one in found), key=lambda one: one.actions)
        chosen = set(waiting[key])
        continued = _continued(game, tables, [found[i] for i in waiting[key]])
        found = [one for i, one in enumerate(found) if i not in chosen] + continued


class Chains:
    """Answers that go on with each other, given one after another. What several begin with is played once.

    Arguments:
        tables: (1,) printed numbers that the game is played with.
    """

    def __init__(self, game: Game, tables: np.ndarray) -> None:
        self._game, self._tables = game, tables
        self._played: dict[tuple[bytes, tuple[int, ...]], _Played] = {}

    def of(self, state: Any, actions: Sequence[int]) -> Combination | None:
        """These actions from a record on; None if the rules don't take them so."""
        start, played = state.tobytes(), list[_Played]()
        for number, action in enumerate(actions):
            now = self._after(start, tuple(actions[:number]))
            if not now.continues_answer or action not in now.legal:
                return None
            played.append(now)
        return Combination(tuple(actions), tuple(one.record for one in played))

    def joined(self, given: Combination) -> Iterator[tuple[int, Combination]]:
        """What can be added to the last question of some answers: the action, and all in an order that the rules take.

        Rules may name several spaces in one order only. People choose them in any order.
        """
        asked = [int(state["decision"]) for state in given.states]
        first = next(i for i in range(len(asked)) if set(asked[i:]) == {asked[-1]})
        start, last = given.states[first], given.actions[first:]
        for action in legal_actions(start).tolist():
            for at in reversed(range(len(last) + 1)):
                found = self.of(start, (*last[:at], action, *last[at:]))
                if found is not None and all(state["decision"] == start["decision"] for state in found.states):
                    actions, states = (*given.actions[:first], *found.actions), (*given.states[:first], *found.states)
                    yield action, Combination(actions, states)
                    break

    def _after(self, start: bytes, actions: tuple[int, ...]) -> _Played:
        """The record after these actions, which the rules take."""
        found = self._played.get((start, actions))
        if found is None:
            before = self._after(start, actions[:-1]).record if actions else None
            # NumPy copies a record field by field, but bytes at once
            states = np.frombuffer(bytearray(start if before is None else before.tobytes()), self._game.state)
            now, goes_on = states[0], True
            if before is not None:
                last, played = np.array(actions[-1:], np.int64), np.ones(1, np.bool_)
                self._game.kernels.play_actions(states, self._tables, last, played)
                goes_on = _is_unbroken(before, now) and self._game.words.continues_answer(before, now)
            found = self._played[start, actions] = _Played(now, goes_on)
        return found


@dataclass(frozen=True)
class _Played:
    """A record, and whether what is asked there goes on with the answer before, if there is one."""

    record: Any
    continues_answer: bool

    @cached_property
    def legal(self) -> frozenset[int]:
        return frozenset(legal_actions(self.record).tolist())


def _is_unbroken(before: Any, after: Any) -> bool:
    """Whether the same player is asked, and no chance was drawn."""
    return bool(after["actor"] == before["actor"] and (after["rng"] == before["rng"]).all())


def _continued(game: Game, tables: np.ndarray, those: list[_Open]) -> list[_Open]:
    """These combinations with each possible next answer."""
    pairs = [(one, action) for one in those for action in legal_actions(one.after).tolist()]
    states = np.array([one.after for one, _ in pairs], game.state)
    actions = np.array([action for _, action in pairs], np.int64)
    game.kernels.play_actions(states, tables, actions, np.ones(len(pairs), np.bool_))
    found = []
    for (one, action), after in zip(pairs, states, strict=True):
        before, given = one.after, one.combination
        combination = Combination((*given.actions, action), (*given.states, before))
        found.append(
            _Open(combination, after, _is_unbroken(before, after) and game.words.continues_answer(before, after))
        )
    return found
