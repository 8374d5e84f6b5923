"""Stand-ins for `decisions`, until it is there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evergreen_env.component_files import load_tables
from evergreen_env.state import DECISION_NAMES, NOBODY, Decision, State


def tables_of(tables: np.ndarray | None) -> np.ndarray:
    return load_tables() if tables is None else tables


def asked_text(state: State, viewer: int | None, names: Sequence[str]) -> str:
    if state.decision == Decision.GAME_OVER:
        return "Game over."
    if state.actor == NOBODY or (viewer not in (None, state.actor) and state.decision != Decision.DRAFT):
        return "The others take their turn."
    return f"{names[state.actor]} is asked what to {DECISION_NAMES[state.decision].replace('_', ' ')}."
