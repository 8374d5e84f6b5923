"""Parts of pictures that are kept: they see only what is declared, and are drawn anew when that changes."""

from __future__ import annotations

import numpy as np

from tabletop_engine.drawing import cached as module
from tabletop_engine.drawing.cached import Shown, cached_drawing

RECORD = np.dtype([("round", np.int8), ("points", np.int16, 3), ("hand", np.int8, (3, 2))])
NUMBERS = np.zeros(1, [("worth", np.int8)])


def shown(*points: int, turn: int = 1, viewer: int | None = None) -> Shown:
    state = np.zeros(1, RECORD)
    state["round"], state["points"], state["hand"] = turn, points, 7
    return Shown(state[0], NUMBERS[0], viewer, ("a", "b", "c"))


def test_a_kept_part() -> None:
    drawn = []

    @cached_drawing(RECORD, ("round",), ("points",))
    def row(v: Shown, seat: int, size: int) -> str:
        drawn.append(v.s.copy())
        return f"{v.s['round']} {v.s['points'][seat]} {v.viewer} {size}"

    assert row(shown(3, 4, 5), 1, 10) == "1 4 None 10"
    assert drawn[0]["points"].tolist() == [0, 4, 0] and not drawn[0]["hand"].any()
    assert row(shown(8, 4, 9), 1, 10) == "1 4 None 10" and len(drawn) == 1
    assert row(shown(3, 6, 5), 1, 10) == "1 6 None 10"
    assert row(shown(3, 4, 5, turn=2), 1, 10) == "2 4 None 10"
    assert row(shown(3, 4, 5, viewer=0), 1, 10) == "1 4 0 10"
    assert row(shown(3, 4, 5), 1, 12) == "1 4 None 12"
    assert row(shown(3, 4, 5), 2, 10) == "1 5 None 10" and len(drawn) == 6


def test_what_was_not_shown_for_long_is_forgotten() -> None:
    drawn = []

    @cached_drawing(RECORD, (), ("points",))
    def row(v: Shown, seat: int) -> str:
        drawn.append(seat)
        return str(v.s["points"][seat])

    for points in range(3 * module._MOST):
        assert row(shown(points, 0, 0), 0) == str(points)
        assert row(shown(points, -1, 0), 1) == "-1"  # shown all the time
    assert drawn.count(1) == 1 and row(shown(0, 0, 0), 0) == "0" and len(drawn) == 3 * module._MOST + 2
