"""One check of an array of states: which of them break something, and the reason in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

Check: TypeAlias = tuple[np.ndarray, Callable[[int], str]]
"""Which of N states break something, shape (N,) bool, and the reason for one of them by index."""


def breaks(bad: np.ndarray, text: Callable[..., str]) -> Check:
    """A check of `bad`, (N, …) bool; `text` gets the game and the indices of its first bad entry."""

    def reason(i: int) -> str:
        return text(i, *(int(index) for index in np.argwhere(bad[i])[0]))

    return np.asarray(bad.reshape(len(bad), -1).any(axis=1)), reason
