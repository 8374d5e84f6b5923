"""Scores of players from final points and places. `kernels` computes the same in compiled code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def others_points(points: np.ndarray) -> np.ndarray:
    """(n, owners) points → (n, owners) float64: the mean of the others' points; 0 if there are no others."""
    others = max(1, points.shape[1] - 1)
    return (points.sum(axis=1, keepdims=True) - points) / others


def margins(points: np.ndarray) -> np.ndarray:
    """(n, owners) points → (n, owners) float64: own points minus the mean of the others' points."""
    return points - others_points(points)


def first_seats(teams: Sequence[int]) -> np.ndarray:
    """The first seat of each team, (teams,) int64, for the `teams` of all seats (`Game.teams`)."""
    return np.unique(teams, return_index=True)[1]


def win_shares(places: np.ndarray, teams: Sequence[int] | None = None) -> np.ndarray:
    """(n, owners) places → (n, owners) float64: 1 for a victory, 1/k for a victory shared by k, 0 otherwise.

    With `teams` (`Game.teams`) the places are (n, P) by seat: each seat gets the share of its team.
    """
    won = places == 1
    each = won if teams is None else won[:, first_seats(teams)]
    return won / np.maximum(1, each.sum(axis=1, keepdims=True))
