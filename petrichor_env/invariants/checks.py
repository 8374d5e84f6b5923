"""Which states a check is about, and the words of its reasons."""

from __future__ import annotations

from typing import Any

import numpy as np

from petrichor_env.state import DECISION_NAMES, NOBODY, Decision
from petrichor_env.words import owner_names, tile_name

# --- which states ----------------------------------------------------------------------------------------------------


def is_asked(s: np.ndarray, *decisions: int) -> np.ndarray:
    """Whether one of these decisions is pending, (N,) bool."""
    return np.isin(s["decision"], decisions)


def is_running(s: np.ndarray) -> np.ndarray:
    """Whether the game is not over, (N,) bool."""
    return np.asarray(s["decision"] != Decision.GAME_OVER)


def is_settled(s: np.ndarray) -> np.ndarray:
    """Whether the game has not been forfeited, which stops it wherever it was, (N,) bool."""
    return np.asarray(is_running(s) | (s["forfeited"] == NOBODY))


# --- words of the reasons --------------------------------------------------------------------------------------------


def asked(s: np.ndarray, i: int) -> str:
    """`decision 'turn'`."""
    return f"decision {DECISION_NAMES[s['decision'][i]]!r}"


def place(s: np.ndarray, i: int, tile: int) -> str:
    """`b2`."""
    return tile_name(s["players"][i], tile)


def target_of(s: np.ndarray, i: int) -> str:
    """`pending.target b2`."""
    return f"pending.target {place(s, i, s['target'][i])}"


def owner_name(s: np.ndarray, i: int, seat: Any) -> str:
    """`player_0`, in solo also `neutral`."""
    return owner_names(int(s["players"][i]))[seat]


def player(seat: Any) -> str:
    """`player_0`."""
    return "nobody" if seat < 0 else f"player_{seat}"
