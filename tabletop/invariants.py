"""What must hold in every state of a game: checks of arrays of records, and the first one that is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from tabletop.errors import StateError
from tabletop.game import Game
from tabletop.warm_up import warm_up

Check: TypeAlias = tuple[np.ndarray, Callable[[int], str]]
"""Which of N states break something, shape (N,) bool, and the reason for one of them by index."""


def breaks(bad: np.ndarray, text: str | Callable[..., str]) -> Check:
    """A check of `bad`, (N, …) bool; `text` is the reason, or takes the game and the indices of its first bad entry."""

    def reason(i: int) -> str:
        return text if isinstance(text, str) else text(i, *np.argwhere(bad[i])[0].tolist())

    return np.asarray(bad.reshape(len(bad), -1).any(axis=1)), reason


def first_broken(checks: Iterable[Check]) -> tuple[int, str] | None:
    """Which game breaks something, and the reason; None if no game does.

    Checks are taken in order, up to the first that is broken: each may rely on those before it.
    """
    for broken, reason in checks:
        if broken.any():
            i = int(np.argmax(broken))
            return i, reason(i)
    return None


def write_legal(game: Game, states: np.ndarray, tables: np.ndarray) -> None:
    """Write the legal actions of these states, (N,), anew: safe only once all else in them fits."""
    warm_up(game)
    game.kernels.refresh_legal(states, tables)


def check_states(
    game: Game,
    states: Any,
    tables: np.ndarray,
    first_broken: Callable[[np.ndarray, np.ndarray], tuple[int, str] | None],
) -> None:
    """Raise `StateError` with the reason if something is broken in any state, or its legal actions aren't the rules'.

    Arguments:
        states: one record of the game, or an array (N,) of them; a reason then names the first game that is wrong.
        tables: (1,) numbers that the games are played with.
        first_broken: takes states and tables, and writes the legal actions anew (`write_legal`).
    """
    array = np.asarray(states)
    if array.dtype != game.state:
        where = f"{game.home.rpartition('.')[0]}.state.STATE"
        raise StateError(f"a state is a record of {where}, not {array.dtype}")
    array = np.atleast_1d(array).ravel().copy()
    legal = array["legal"].copy()
    broken = first_broken(array, tables)
    changed = (array["legal"] != legal).any(axis=1)
    if broken is None and changed.any():
        broken = int(np.argmax(changed)), "the set of legal actions isn't that of the pending decision"
    if broken is not None:
        raise StateError(("" if array.size == 1 else f"game {broken[0]}: ") + broken[1])
