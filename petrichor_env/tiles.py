"""The tiles from which the Fields are drawn: those of the crops that are played with."""

from __future__ import annotations

from collections.abc import Container

import numpy as np

from petrichor_env.config import MODULES
from petrichor_env.rules.setup import BASE_GAME, MODULE_OF_CROP
from petrichor_env.state import CROP_NAMES, Crop
from petrichor_env.tables import Tables


def _left_out(players: int, no_more_tricks: bool, modules: Container[int]) -> dict[int, str]:
    """The crops that stay in the box, and why."""
    left_out: dict[int, str] = {}
    for crop, module in enumerate(MODULE_OF_CROP.tolist()):
        if module != BASE_GAME and module not in modules:
            left_out[crop] = f"it comes with the module {MODULES[module]!r}"
    if players == 2:
        left_out[Crop.CORN] = "both are removed in the 2 player game (Setup)"
    if players == 1 and no_more_tricks:
        left_out |= dict.fromkeys((Crop.WHEAT, Crop.POTATO), '"No More Tricks" removes wheat and potato')
    return left_out


def tiles_of_each_crop(players: int, no_more_tricks: bool, modules: Container[int], t: Tables) -> np.ndarray:
    """The number of tiles of each crop from which the field is drawn, (number of crops,) int64."""
    copies = t.copies.astype(np.int64)
    if players == 1:  # only the copies with a compass
        for crop, priorities in enumerate(t.solo_priority):
            copies[crop] = np.count_nonzero(priorities[: copies[crop]])
    copies[list(_left_out(players, no_more_tricks, modules))] = 0
    return copies


def no_such_tile(players: int, crop: int, no_more_tricks: bool, modules: Container[int]) -> str:
    """The message for a crop that cannot be in the field at all."""
    none = "solo uses only tiles with a compass (Southern Winds, Setup 2)" if players == 1 else "there is none"
    reason = _left_out(players, no_more_tricks, modules).get(crop, none)
    return f"a {CROP_NAMES[crop]} tile in the field; {reason}"
