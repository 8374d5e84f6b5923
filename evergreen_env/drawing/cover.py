"""The cover: a planet's trees under the sun."""

from __future__ import annotations

from evergreen_env.drawing.icons import GOLD_EDGE, defs
from tabletop_engine.drawing.covers import cover_of
from tabletop_engine.drawing.svg import Markup, element, path, use

_SPACE = 40
_COLUMNS = [
    "snow",
    "snow",
    "rock",
    "rock",
    "meadow",
    "meadow",
    "meadow",
    "flowers",
    "flowers",
    "swamp",
    "grain",
    "grain",
]
_ROWS = 4
_RAVINES = ((0, 2), (1, 3), (5, 1), (7, 0), (9, 2))
_PIECES = {
    "sprout": ((2, 3), (5, 0), (3, 0), (8, 1)),
    "small_tree": ((0, 1), (2, 0), (3, 1), (5, 3), (10, 2), (0, 3)),
    "big_tree": ((1, 1), (4, 2), (6, 2), (7, 3), (9, 1), (11, 1)),
    "bush": ((4, 0), (10, 0), (7, 2)),
    "lake": ((6, 1), (9, 3)),
    "buds": ((8, 2),),
}
"""The places of the trees: column and row."""


def cover() -> str:
    """`Drawing.cover`."""
    grounds = (
        _at("ground-ravine" if (x, y) in _RAVINES else f"ground-{biome}", x, y)
        for x, biome in enumerate(_COLUMNS)
        for y in range(_ROWS)
    )
    pieces = (_at(f"piece-{piece}", x, y, 1.05) for piece, places in _PIECES.items() for x, y in places)
    return cover_of(
        "Evergreen",
        defs(),
        element(
            "g", path("M-20 38Q240 6 500 38V240H-20Z", "#b9c8d3"), path("M-20 36Q240 4 500 36", None, GOLD_EDGE, 7)
        ),
        use("sun", 240, 22, 1.1),
        *grounds,
        *pieces,
    )


def _at(name: str, column: int, row: int, scale: float = 1) -> Markup:
    return use(name, _SPACE * (column + 0.5), 70 + _SPACE * row, scale)
