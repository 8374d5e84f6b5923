"""What final points, places and victories say of each player: computed here, and in compiled code by `kernels`."""

from __future__ import annotations

import numpy as np


def others_points(points: np.ndarray) -> np.ndarray:
    """(n, owners) points → (n, owners) float64: the mean of all the others', 0 where there is nobody else."""
    others = max(1, points.shape[1] - 1)
    return (points.sum(axis=1, keepdims=True) - points) / others


def margins(points: np.ndarray) -> np.ndarray:
    """(n, owners) points → (n, owners) float64: own points less the mean of the others'."""
    return points - others_points(points)


def win_shares(places: np.ndarray) -> np.ndarray:
    """(n, owners) places → (n, owners) float64: 1 for a victory, 1/k for one that k share, 0 for the others."""
    won = places == 1
    return won / np.maximum(1, won.sum(axis=1, keepdims=True))
