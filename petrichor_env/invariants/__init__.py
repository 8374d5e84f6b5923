"""What holds in every state of a game: the counts of the pieces, and how the fields of a record fit together.

`check` is what saved states and scenarios go through, and what the tests ask of every state of random games. The
checks work on arrays of records, so that a thousand games are checked together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from petrichor_env.actions import DECLINE
from petrichor_env.component_files import load_tables
from petrichor_env.config import Config
from petrichor_env.invariants.checks import Check, breaks
from petrichor_env.invariants.effect import broken_effect
from petrichor_env.invariants.modules import (
    broken_flower_tiles,
    broken_forecasts,
    broken_module_decisions,
    broken_powers,
    broken_promos,
    broken_timing,
)
from petrichor_env.invariants.pieces import (
    broken_belongings,
    broken_cards,
    broken_clouds,
    broken_fields,
    broken_ranges,
    broken_switches,
    broken_winds,
)
from petrichor_env.invariants.progress import broken_draft, broken_progress, broken_turns, broken_weather
from petrichor_env.state import DECISION_NAMES, LEGAL_WORDS, STATE, Decision, State
from tabletop.errors import StateError
from tabletop.warm_up import warm_up

_ONLY_DECLINE = np.zeros(LEGAL_WORDS, np.uint64)
_ONLY_DECLINE[DECLINE // 64] = 1 << DECLINE % 64

__all__ = ["broken_counts", "broken_legal", "check"]


def check(states: State | np.ndarray, tables: np.ndarray | None = None) -> None:
    """Raise `StateError` with the reason if a count or a rule of the game is broken in any state.

    Arguments:
        states: one record of dtype STATE, or an array (N,) of them; a reason then names the first game that is wrong.
        tables: (1,) TABLES that the games are played with; None for the shipped numbers.
    """
    array = np.asarray(states)
    if array.dtype != STATE:
        raise StateError(f"a state is a record of petrichor_env.state.STATE, not {array.dtype}")
    array = np.atleast_1d(array).ravel().copy()
    tables = load_tables() if tables is None else tables
    which = "" if array.size == 1 else "game {}: "
    for broken, reason in broken_counts(array, tables):
        if broken.any():
            i = int(np.argmax(broken))
            raise StateError(which.format(i) + reason(i))
    legal = array["legal"].copy()
    game = Config().game
    warm_up(game)
    game.kernels.refresh_legal(array, tables)
    for broken, reason in broken_legal(array, legal):
        if broken.any():
            i = int(np.argmax(broken))
            raise StateError(which.format(i) + reason(i))


def broken_counts(states: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Everything but the legal actions. Each check may rely on those before: take them in order, stop at the first."""
    yield from broken_switches(states)
    yield from broken_ranges(states)
    yield from broken_fields(states, tables)
    yield from broken_promos(states, tables)
    yield from broken_flower_tiles(states, tables)
    yield from broken_clouds(states, tables)
    yield from broken_belongings(states, tables)
    yield from broken_cards(states, tables)
    yield from broken_powers(states)
    yield from broken_forecasts(states)
    yield from broken_progress(states)
    yield from broken_turns(states)
    yield from broken_effect(states, tables)
    yield from broken_timing(states, tables)
    yield from broken_module_decisions(states, tables)
    yield from broken_weather(states)
    yield from broken_draft(states)
    yield from broken_winds(states)


def broken_legal(states: np.ndarray, stored: np.ndarray) -> Iterator[Check]:
    """`states` with their legal actions recomputed, and those that were stored, (N, LEGAL_WORDS)."""
    legal, decision = states["legal"], states["decision"]
    yield breaks(
        (legal == 0).all(axis=1) & (decision != Decision.GAME_OVER),
        lambda i: f"decision {DECISION_NAMES[decision[i]]!r} doesn't fit: no action would be legal",
    )
    only_decline = (legal == _ONLY_DECLINE).all(axis=1) & (decision != Decision.OPTIONAL_ACTION)
    yield breaks(only_decline, lambda i: f"decision {DECISION_NAMES[decision[i]]!r} doesn't fit: there is no choice")
    yield breaks((legal != stored).any(axis=1), lambda i: "the set of legal actions isn't that of the pending decision")
