"""A state from a description and back, for games that fill the gaps of a description step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import numpy as np

from tabletop_engine.described.invariants import Checks, first_failed
from tabletop_engine.errors import ScenarioError, StateError
from tabletop_engine.game import Game
from tabletop_engine.play.warm_up import warm_up


class Position(Protocol):
    """A position whose gaps are filled in: (1,) record, and (1,) printed numbers."""

    array: np.ndarray
    tables: np.ndarray


P = TypeVar("P", bound=Position)


def filled(game: Game, begin: Callable[[], P], steps: Iterable[Callable[[P], None]], checks: Checks, page: str) -> Any:
    """The record of a description that `begin` reads: its gaps are filled in by the steps, in order.

    `page` is the page of the documentation about descriptions. Raises ScenarioError, with the reason, for a bad one.
    """
    warm_up(game)
    try:
        position = begin()
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
