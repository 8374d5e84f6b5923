"""A state from a description and back, for games that fill the gaps of a description step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from tabletop_engine.described.fields import Table
from tabletop_engine.described.invariants import Checks, first_failed
from tabletop_engine.described.scenarios import ROOT
from tabletop_engine.errors import ConfigError, ScenarioError, StateError
from tabletop_engine.game import Game
from tabletop_engine.play.warm_up import warm_up


class Described:
    """A described position whose gaps are filled in step by step.

    Attributes:
        given: what the description gives, by key, as the record's fields hold it.
        pending: the same of the turn or the effect that is carried out.
        array: (1,) the record so far. All that is given and stands for a field is in it from the beginning.
        s: the only element of `array`.
        tables: (1,) the printed numbers.
    """

    def __init__(self, blank: np.ndarray, tables: np.ndarray) -> None:
        self.given: dict[str, Any] = {}
        self.pending: dict[str, Any] = {}
        self.array, self.tables = blank.copy(), tables
        self.s: Any = self.array[0]

    def read(self, description: Mapping[str, Any], scope: Any, keys: Table, pending: Table) -> None:
        """Read the description, and write what stands for a field. `pending` is the table of the key of this name."""
        self.given = keys.read(description, ROOT, scope)
        self.pending = self.given.get("pending", {})
        keys.write(self.s, self.given)
        pending.write(self.s, self.pending)

    def fill(self, key: str, value: Any) -> None:
        """Set the field of this name, unless the description gives the key."""
        if key not in self.given and key not in self.pending:
            self.s[key] = value


P = TypeVar("P", bound=Described)


def filled(game: Game, begin: Callable[[], P], steps: Iterable[Callable[[P], None]], checks: Checks, page: str) -> Any:
    """The record of a description that `begin` reads: its gaps are filled in by the steps, in order.

    `page` is the page of the documentation about descriptions. Raises ScenarioError, with the reason, for a bad one.
    """
    warm_up(game)
    try:
        position = begin()
    except ConfigError as error:
        raise ScenarioError(str(error)) from None
    except RecursionError:
        raise ScenarioError(f"the description is nested too deeply; {page} shows what it may hold") from None
    for fill_in in steps:
        fill_in(position)
    broken = first_failed(game, position.array, position.tables, checks)
    if broken is not None:
        raise ScenarioError(broken[1])
    return position.array[0]


def describe(game: Game, state: Any, tables: np.ndarray) -> dict[str, Any]:
    """The description of one record. Raises StateError, with the reason, if no game can reach it."""
    array = np.asarray(state)
    if array.dtype != game.state or array.size != 1:
        given = f"{type(state).__name__}: {state!r:.80}"
        raise StateError(f"a state is one record of {game.home.rpartition('.')[0]}.state.STATE, not {given}")
    game.check(array, tables)
    return game.described(array.reshape(1)[0])
