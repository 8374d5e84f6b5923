"""Helpers of the checks: the states that a check concerns, and words for its reasons."""

from __future__ import annotations

from typing import Any

import numpy as np

from petrichor_env.state import DECISION_NAMES, NOBODY, Decision
from petrichor_env.words import owner_names, tile_name
from tabletop_engine.described.invariants import among

# --- which states ----------------------------------------------------------------------------------------------------


def is_asked(s: np.ndarray, *decisions: int) -> np.ndarray:
    """Whether one of these decisions is pending, (N,) bool."""
    return among(s["decision"], decisions)


def is_running(s: np.ndarray) -> np.ndarray:
    """Whether the game is not over, (N,) bool."""
    return np.asarray(s["decision"] != Decision.GAME_OVER)


def is_settled(s: np.ndarray) -> np.ndarray:
    """Whether the game has not been forfeited, (N,) bool. A forfeit stops a game anywhere."""
    return np.asarray(is_running(s) | (s["forfeited"] == NOBODY))


# --- words of the reasons --------------------------------------------------------------------------------------------


def asked(s: np.ndarray, i: int) -> str:
    """The pending decision in words, such as `decision 'turn'`."""
    return f"decision {DECISION_NAMES[s['decision'][i]]!r}"


def place(s: np.ndarray, i: int, tile: int) -> str:
    """The name of a position, such as `b2`."""
    return tile_name(s["players"][i], tile)


def target_of(s: np.ndarray, i: int) -> str:
    """The target of the pending effect in words, such as `pending.target b2`."""
    return f"pending.target {place(s, i, s['target'][i])}"


def owner_name(s: np.ndarray, i: int, seat: Any) -> str:
    """The name of an owner: `player_0`, in solo also `neutral`."""
    return owner_names(int(s["players"][i]))[seat]


def player(seat: Any) -> str:
    """The name of a player, such as `player_0`, or `nobody`."""
    return "nobody" if seat < 0 else f"player_{seat}"
