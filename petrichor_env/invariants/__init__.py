"""Checks of what is true in every state of a game: the counts of the pieces, and fields that belong together.

`check` tests saved states and scenarios; the tests use it on every state of random games. The checks work on arrays of
records, so that a thousand games are checked together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from petrichor_env.actions import DECLINE
from petrichor_env.invariants import effect, modules, pieces, progress
from petrichor_env.invariants.checks import asked
from petrichor_env.state import LEGAL_WORDS, Decision
from tabletop_engine.described.invariants import Check, breaks, write_legal
from tabletop_engine.game import Game

_ONLY_DECLINE = np.zeros(LEGAL_WORDS, np.uint64)
_ONLY_DECLINE[DECLINE // 64] = 1 << DECLINE % 64

__all__ = ["all_checks"]


def all_checks(game: Game, states: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """The checks of states, (N,), in order: each may rely on those before it. They recompute the legal actions."""
    yield from pieces.broken_switches(states)
    yield from pieces.broken_ranges(states)
    yield from pieces.broken_fields(states, tables)
    yield from modules.broken_promos(states, tables)
    yield from modules.broken_flower_tiles(states, tables)
    yield from pieces.broken_clouds(states, tables)
    yield from pieces.broken_belongings(states, tables)
    yield from pieces.broken_cards(states, tables)
    yield from modules.broken_powers(states)
    yield from modules.broken_forecasts(states)
    yield from progress.broken_progress(states)
    yield from progress.broken_turns(states)
    yield from effect.broken_effect(states, tables)
    yield from modules.broken_timing(states, tables)
    yield from modules.broken_module_decisions(states, tables)
    yield from progress.broken_weather(states)
    yield from progress.broken_draft(states)
    yield from pieces.broken_winds(states)
    write_legal(game, states, tables)
    legal, decision = states["legal"], states["decision"]
    none = (legal == 0).all(axis=1) & (decision != Decision.GAME_OVER)
    yield breaks(none, lambda i: f"{asked(states, i)} doesn't fit: no action would be legal")
    only_decline = (legal == _ONLY_DECLINE).all(axis=1) & (decision != Decision.OPTIONAL_ACTION)
    yield breaks(only_decline, lambda i: f"{asked(states, i)} doesn't fit: there is no choice")
