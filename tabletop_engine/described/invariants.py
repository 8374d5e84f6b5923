"""Checks of what must be true in every state of a game, and a search for the first one that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from tabletop_engine.errors import StateError
from tabletop_engine.game import Game
from tabletop_engine.play.warm_up import warm_up

_VIEWS_AT_ONCE = 4096
"""Games whose observations are computed at once."""

Check: TypeAlias = tuple[np.ndarray, Callable[[int], str]]
"""A check of N states: (N, …) bool, with a True for states that fail; and a function from an index to the reason."""

Checks: TypeAlias = Callable[[Game, np.ndarray, np.ndarray], Iterable[Check]]
"""A function that gives the checks of a game's states, (N,), and tables, (1,), in order."""


def breaks(bad: np.ndarray, text: str | Callable[..., str]) -> Check:
    """A check that fails where `bad`, (N, …) bool, has a True.

    `text` is the reason, or a function that takes the index of the game and the indices of its first bad entry.
    """

    def reason(i: int) -> str:
        return text if isinstance(text, str) else text(i, *np.argwhere(bad[i])[0].tolist())

    return bad, reason


def among(values: np.ndarray, allowed: Iterable[int]) -> np.ndarray:
    """Whether each value, (N, …), is one of a few numbers, (N, …) bool. For few, `np.isin` takes ten times as long."""
    found = np.zeros(np.shape(values), np.bool_)
    for number in allowed:
        found |= values == int(number)  # a comparison with an IntEnum is slow
    return found


def first_broken(checks: Iterable[Check]) -> tuple[int, str] | None:
    """The index of a game that fails a check, and the reason; None if all games pass.

    Checks run in order up to the first that fails, so each may rely on those before it.
    """
    for bad, reason in checks:
        if bad.any():
            i = int(np.argmax(bad)) // bad[0].size
            return i, reason(i)
    return None


def write_legal(game: Game, states: np.ndarray, tables: np.ndarray) -> None:
    """Recompute the legal actions of these states, (N,). It is safe only after all other checks have passed."""
    warm_up(game)
    game.kernels.refresh_legal(states, tables)


def first_outside(game: Game, states: np.ndarray, tables: np.ndarray) -> tuple[int, str] | None:
    """The index of a game with an observation outside the declared space, and the reason; None if there is none.

    It is safe only after all other checks have passed.
    """
    layout = game.observation
    least, most = layout.low * layout.divisors, layout.high * layout.divisors
    for first in range(0, len(states), _VIEWS_AT_ONCE):
        part = states[first : first + _VIEWS_AT_ONCE]
        counts = np.empty((len(part), layout.size), np.int16)
        for seat in range(int(part["players"].max(initial=0))):
            game.kernels.count_games(part, tables, np.minimum(seat, part["players"].astype(np.int64) - 1), counts)
            outside = (counts < least) | (counts > most)
            if outside.any():
                i, number = np.argwhere(outside)[0].tolist()
                block = next(block for block in layout if block.start <= number < block.slice.stop)
                text = f"{counts[i, number]} {block.unit.partition(' / ')[0]} in {block.name!r} of the observation"
                return first + i, f"{text}; allowed are {least[number]:.0f} to {most[number]:.0f}"
    return None


def first_failed(game: Game, states: np.ndarray, tables: np.ndarray, checks: Checks) -> tuple[int, str] | None:
    """The index of a game that fails a check or has an observation out of bounds, and the reason; None if all pass.

    It recomputes `legal` of the states, (N,), if `checks` does.
    """
    return first_broken(checks(game, states, tables)) or first_outside(game, states, tables)


def check_states(game: Game, states: Any, tables: np.ndarray | None, checks: Checks) -> None:
    """Raise `StateError`, with the reason, if a state fails a check or its legal actions are wrong.

    Arguments:
        game: the game of these records.
        states: one record, or an array (N,) of them; the message then names the first game that fails.
        tables: (1,) printed numbers that the games are played with; None for the shipped ones.
        checks: gives the checks of these states, the recomputed legal actions (`write_legal`) among them.
    """
    array = np.asarray(states)
    if array.dtype != game.state:
        where = f"{game.home.rpartition('.')[0]}.state.STATE"
        raise StateError(f"a state is a record of {where}, not {array.dtype}")
    array = np.atleast_1d(array).ravel().copy()
    legal = array["legal"].copy()
    broken = first_failed(game, array, game.load_tables(None) if tables is None else tables, checks)
    changed = (array["legal"] != legal).any(axis=1)
    if broken is None and changed.any():
        broken = int(np.argmax(changed)), "the set of legal actions isn't that of the pending decision"
    if broken is not None:
        raise StateError(("" if array.size == 1 else f"game {broken[0]}: ") + broken[1])
