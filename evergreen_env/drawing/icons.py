"""The drawings in a picture of the planets: one `<defs>`, the same in every picture.

Each is drawn around (0, 0). Grounds and pieces are for a space of 40 by 40, symbols of biomes are 24 wide; for the
others see their comments.
"""

from __future__ import annotations

from functools import lru_cache

from evergreen_env.state import BIOME_NAMES, PIECE_NAMES, POWER_NAMES, SUN_NAMES
from tabletop_engine.drawing.outlines import around, both, defs_of, dots, named, oval, placed, spread
from tabletop_engine.drawing.owners import owner_marks
from tabletop_engine.drawing.svg import INK, Markup, box, circle, group, path

GROUNDS = ("#cfe8ad", "#f2c6ea", "#f8dc7e", "#cdbfae", "#86b8b4", "#f1f6fc", "#ffffff")
"""The colours of the biomes and of wild cards."""
INKS = ("#5d8a32", "#a8459a", "#a87808", "#75634f", "#1f5f60", "#5f8fbd", "#55636f")
"""Darker tones of these colours, for patterns, edges and symbols."""
GOLD, GOLD_EDGE, GLOW = "#f7c331", "#b97a00", "#ffef9c"
SPACE = 40
"""The width and height of a space, in the units of a planet."""

_CORNERS = ((0.0, -12.5, -12.5), (0.0, 12.5, -12.5), (0.0, -12.5, 13.0), (0.0, 12.5, 13.0), (0.0, 0.0, 0.0))
_TUFT = "M-3.5-2L-1 3M0-4L0 3M3.5-2L1 3"
_FLAKE = "M0-4L0 4M-3.5-2L3.5 2M-3.5 2L3.5-2"
_PATTERNS = (
    spread(_TUFT, _CORNERS),
    spread(dots(((-2.2, 0), (2.2, 0), (0, -2.2), (0, 2.2)), 1.5), _CORNERS),
    spread("M-3-4L0-1L3-4M-3-1L0 2L3-1M0-5L0 5", _CORNERS),
    spread("M-5 3L-1-4L2 1L3.5-1L6 3Z", _CORNERS),
    spread("M-5-1Q-2.5-4 0-1Q2.5 2 5-1M-3 3Q-1.5 1 0 3Q1.5 5 3 3", _CORNERS),
    spread(_FLAKE, _CORNERS),
)
_FILLED = (False, True, False, True, False, False)


def _grounds() -> dict[str, list[Markup]]:
    """The grounds of the spaces. Each has a pattern, which pieces leave free in the corners."""
    half = SPACE / 2 - 1
    drawings = {}
    for i, pattern in enumerate(_PATTERNS):
        ground = box(-half, -half, 2 * half, 2 * half, 6, fill=GROUNDS[i])
        ink = INKS[i]
        marks = path(pattern, ink if _FILLED[i] else None, None if _FILLED[i] else ink, 1.3, opacity="0.55")
        drawings[BIOME_NAMES[i]] = [ground, marks]
    crack = "M-19-9L-9-12L-2-4L6-8L12 1L19-2V8L11 11L4 3L-3 8L-10-1L-19 3Z"
    drawings["ravine"] = [
        box(-half, -half, 2 * half, 2 * half, 6, fill="#b3b1ae"),
        path("M-15-16L-9-14M6-17L12-13M-14 13L-7 11M-1 15L5 13M13 16L16 15", None, "#918f8c", 1.6),
        path(crack, "#5a5d63", "#43464b", 1),
    ]
    return drawings


def _symbols() -> dict[str, list[Markup]]:
    """The symbols of the biomes."""
    meadow, flowers, grain, rock, swamp, snow, _ = INKS
    blades = "M-8 10C-9 3-11-1-12-5C-6-1-5 4-4 10ZM8 10C9 3 11-1 12-5C6-1 5 4 4 10ZM-4 10C-5 0-3-6 0-11C3-6 5 0 4 10Z"
    tulip = "M-7-10C-5-8.5-4-7.5-3.5-6.5L0-11L3.5-6.5C4-7.5 5-8.5 7-10C9-3 6 2 0 2C-6 2-9-3-7-10Z"
    grains = "".join(both(placed(oval(0, -3.2, 1.9, 3.4), -38, x=-1.5, y=6 - 5.5 * i)) for i in range(3))
    return {
        "meadow": [path(blades, "#7fb24a", meadow, 1.1)],
        "flowers": [
            path("M0 2V11", None, "#4d7f35", 2),
            path("M0 11C-5 11-8 8-9 3C-4 4-1 7 0 11ZM0 11C5 11 8 8 9 3C4 4 1 7 0 11Z", "#79ad5a", "#4d7f35", 0.8),
            path(tulip, "#dc7cc4", flowers, 1.1),
        ],
        "grain": [
            path("M0 11V-4", None, grain, 1.8),
            path(grains + oval(0, -8.5, 2.1, 3.6), "#f0bd2c", grain, 0.9),
        ],
        "rock": [
            path("M-12 9L-4-8L1 1L4-4L12 9Z", "#a3917c", rock, 1.2),
            path("M-4-8L-7.200-1.200L-4.5-2.5L-2-.5L-.5-1.700Z", "#ffffff", rock, 0.8),
        ],
        "swamp": [
            path("M-4 6V-8M3 6V-4M8 6V-9", None, "#4c7a55", 1.6),
            path("M-4-5V-10M3-1V-6M8-6V-11", None, "#7a4f24", 3.4),
            path("M-11 6Q-8 3-5 6T1 6T7 6T12 5M-8 10.5Q-5 8-2 10.5T4 10.5T9 10", None, swamp, 1.9),
        ],
        "snow": [path(around("M0 0L0-11M0-6.5L-3.5-9.5M0-6.5L3.5-9.5", 6), None, snow, 1.8)],
        "wild": [
            *(path(placed(oval(0, -7.4, 3.7, 4.4), 60 * i), GROUNDS[i], INKS[i], 1.3) for i in range(6)),
            circle(0, 0, 2.6, "#ffffff", INK, 1),
        ],
    }


_FIR = "M0-15L7.5-4H4L10 7.5H-10L-4-4H-7.5Z"
_CROWN = (
    "M-5 9C-12 11-18 5-16-2C-19-9-12-16-6-14C-3-19 5-19 8-14C15-15 19-8 16-2C19 5 12 11 5 9C2 11-2 11-5 9Z"
)  # fmt: skip
_CROWN_FOOT = "M-15 2C-10 6-4 2 0 5C4 2 11 5 16 0C18 7 11 11 5 8.3C2 10.3-2 10.3-5 8.3C-11 10.3-16 7-15 2Z"
_CROWN_TOP = "M-12-3C-13-9-8-13-4-11C-1-15 5-14 7-10C3-9 1-7 0-4C-4-6-9-6-12-3Z"


def _trees(name: str, crown: str, top: str, edge: str, trunk: str) -> dict[str, list[Markup]]:
    """The pieces. A small tree is a fir; a big tree has a broad round crown."""
    return {
        f"small_tree{name}": [
            path("M0 6V13.5", None, edge, 4.4),
            path("M0 6V13.5", None, trunk, 2.6),
            path(_FIR, crown, edge, 1.4),
            path("M0-12.5L-4.5-5.5H-1.5L-6 5H-2.5C-1 0 0-6 0-12.5Z", top),
        ],
        f"big_tree{name}": [
            path("M-3.200 4L-5 17.5H5L3.200 4Z", trunk, edge, 1.3),
            path(_CROWN, crown, edge, 1.5),
            path(_CROWN_TOP, top),
            path(_CROWN_FOOT, edge, fill_opacity="0.35"),
        ],
    }


def _pieces() -> dict[str, list[Markup]]:
    leaf = "M0 2C-1-5-6-9-13-8C-12-1-7 3 0 2Z"
    mound = "M-15 12C-19 6-15-1-9-1C-7-8 3-10 6-4C12-6 18 0 15 6C18 8 17 12 14 12Z"
    return {
        "sprout": [
            path("M0 11C0 6 0 4 0 1", None, "#2f6b1e", 2.6),
            path(both(leaf), "#8fd15a", "#2f6b1e", 1.3),
            path("M-7 12Q0 8.5 7 12Z", "#8a6038", "#4f3316", 1),
        ],
        **_trees("", "#3f9a4a", "#7ccb62", "#14401f", "#8a5a2e"),
        **_trees("-dark", "#3c5f66", "#557b80", "#16292f", "#5d4b40"),
        "bush": [
            path(mound, "#7a9a2c", "#3a4a10", 1.5),
            path("M-10 5C-9 1-5 1-4 4M0 0C2-3 6-2 6 2M6 8C8 5 11 5 12 8", None, "#3a4a10", 1.2),
            path(dots(((-8, 8), (-1, 6), (2, 10), (9, 2)), 2.1), "#d6432f", "#5d130b", 0.8),
        ],
        "lake": [
            path("M-16 2C-17-7-8-12 0-11C8-13 17-8 16 1C17 9 8 13 0 12C-9 13-16 9-16 2Z", "#5fb0e4", "#1f5f92", 1.5),
            path("M-10-3Q-7-5.5-4-3T2-3M-3 4Q0 1.5 3 4T9 4", None, "#ffffff", 1.8),
        ],
        "buds": [
            path("M-2 14C0 6-1-2 1-8M0 3C-4 1-7-1-8-4M0-1C4-2 7-4 8-7", None, "#6b4a2a", 2.4),
            path(
                placed(oval(0, 0, 4, 6), 12, x=2, y=-11) + placed(oval(0, 0, 3.6, 5.4), -35, x=-9.5, y=-7)
                + placed(oval(0, 0, 3.6, 5.4), 30, x=10, y=-9), "#ee9fbe", "#8f2f5d", 1.3,
            ),
            path(dots(((-0.5, 5), (0.5, 0)), 1.6), "#8fd15a", "#2f6b1e", 0.8),
        ],
        "glow-small_tree": [path(_FIR, GLOW, GOLD_EDGE, 8.6), path(_FIR, GLOW, GLOW, 6)],
        "glow-big_tree": [path(_CROWN, GLOW, GOLD_EDGE, 8), path(_CROWN, GLOW, GLOW, 5.4)],
    }  # fmt: skip


def _powers() -> dict[str, list[Markup]]:
    """Badges of the powers, 26 wide, with the effect of each power."""
    pieces = _pieces()
    parts = (pieces[name] for name in (*PIECE_NAMES, "buds"))
    scales = (0.6, 0.62, 0.56, 0.56, 0.56, 0.6)
    return {
        name: [circle(0, 0, 13, "#ffffff", "#7b8a96", 1.3), group(*piece, scale=scale)]
        for name, piece, scale in zip(POWER_NAMES, parts, scales, strict=True)
    }


_RAYS = "M0-14L0-18.5"


def _tokens() -> dict[str, list[Markup]]:
    petals = around("M0 0C-4-4-3.200-10 0-11C3.200-10 4-4 0 0Z", 7)
    bone = "M-9 0C-10-8-5-12 0-12C5-12 10-8 9 0C9 3 7 4 6 5V10H-6V5C-7 4-9 3-9 0Z"
    firs = "".join(placed("M0-10L6 0L3 0L8 8L-8 8L-3 0L-6 0Z", x=x, y=y, scale=scale) for x, y, scale in _FIRS)
    return {
        "sun": [  # 37 wide
            path(around(_RAYS, 12), None, GOLD_EDGE, 3.4),
            circle(0, 0, 11.5, GOLD, GOLD_EDGE, 1.5),
        ],
        "light": [  # 22 wide, as the others here
            path(around("M0-8L0-10.5", 8), None, GOLD_EDGE, 2),
            circle(0, 0, 5.8, GOLD, GOLD_EDGE, 1.2),
        ],
        "forest": [path(firs, "#3f9a4a", "#14401f", 1)],
        "flower": [path(petals, "#ffffff", "#7a4fa3", 1.1), circle(0, 0, 3.4, GOLD, GOLD_EDGE, 1)],
        "skull": [
            path(bone, "#f4f1ea", INK, 1.4),
            path(dots(((-4, -2), (4, -2)), 2.7) + "M0 2L-1.700 5H1.700Z", INK),
            path("M-2.300 7V9.5M2.300 7V9.5", None, INK, 1.4),
        ],
        **{
            name: [  # a leaf
                path("M-9 9C-12-3-4-11 10-11C11 2 4 11-6 7Z", fill, "#7a3206", 1.3),
                path("M-10 11C-5 4 0-2 6-7M-3.5 2.5V-3M1-2.5H6", None, "#7a3206", 1.3),
            ]
            for name, fill in (("first", "#e8792b"), ("next-first", "#ffffff"))
        },
        "card-back": [  # 20 wide, 26 high
            box(-10, -13, 20, 26, 3.5, fill="#4d6b62", stroke=INK, stroke_width=1),
            path("M0-7L5 1H2.5L6 7H-6L-2.5 1H-5Z", "#8fb0a3"),
        ],
        **{
            f"side-{name}": [  # a planet and its sun, 24 wide
                box(-8, -8, 16, 16, 5, fill="#bccbd5", stroke="#7b8a96", stroke_width=1),
                circle(x * 8, y * 8, 4.6, GOLD, GOLD_EDGE, 1),
            ]
            for name, (x, y) in zip(SUN_NAMES, SIDES, strict=True)
        },
    }


_FIRS = ((-5.0, 1.0, 0.78), (5.0, 1.5, 0.72), (0.0, -1.0, 1.0))
SIDES = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""The direction of each Sun from the middle of a planet."""


@lru_cache(maxsize=1)
def defs() -> Markup:
    """The `<defs>` with every drawing, by the names that `svg.use` takes."""
    return defs_of(
        {
            **named("ground-", _grounds()),
            **named("biome-", _symbols()),
            **named("piece-", _pieces()),
            **named("power-", _powers()),
            **named("", _tokens()),
            **owner_marks(),
        }
    )
