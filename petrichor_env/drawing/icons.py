"""The drawings in a picture of the board: one `<defs>`, the same in every picture.

Each is drawn around (0, 0). Crops are 40 units wide and high, weather icons 24; for tokens see their comments. Missing
fills come from the `<use>`.
"""

from __future__ import annotations

from functools import lru_cache

from tabletop_engine.drawing.outlines import around, both, defs_of, dots, named, oval, placed, spread
from tabletop_engine.drawing.owners import DROP, owner_marks
from tabletop_engine.drawing.svg import INK, Markup, circle, element, group, path

NEUTRAL_OWNER = 5
"""The index of the neutral player's colour and shape."""


def owner_shape(players: int, owner: int) -> int:
    """The index of an owner's colour and shape."""
    return NEUTRAL_OWNER if players == 1 and owner == 1 else owner


CLOUD = "M-45 22A15 15 0 0 1-50-7A19 19 0 0 1-24-17A25 25 0 0 1 23-18A19 19 0 0 1 50-7A15 15 0 0 1 45 22Z"
"""The outline of a cloud: 122 wide, from 34 above to 22 below the middle."""

_GRAIN = "M0 0C3.4-1.5 5-5 4-9C.5-7.5-1.5-3.5 0 0Z"
_TIP = "M0 0C2.6-2.5 2.6-6.5 0-9.5C-2.6-6.5-2.6-2.5 0 0Z"
_EAR_STEM = "M0 20L0-14"
_EAR = placed(_TIP, y=-12) + "".join(
    placed(_GRAIN, 12, y=4 - 6 * i) + placed(placed(_GRAIN, 12), y=4 - 6 * i, flip=True) for i in range(3)
)
"""The outline of leaves above a stem with its foot at (0, 20)."""


def _sides(d: str) -> str:
    """An outline twice: leaning to the left and to the right."""
    return placed(d, -24, x=-4, y=3, scale=0.82) + placed(d, 24, x=4, y=3, scale=0.82)


def _crops() -> dict[str, list[Markup]]:
    cotton_leaf = "M0 9C-8 11-15 7-17-1C-10-1-3 3 0 9Z"
    beans = ((28, -8, 1), (-30, 7, 8))
    rice_stem = "M1 14C2 0 5-12 14-14"
    rice_grains = spread(
        oval(0, 3, 2.1, 4), ((-30, 4.5, -8), (-25, 9, -13), (-15, 14, -14), (-5, 17, -10), (-10, 11, -9))
    )
    cactus_arms = "M-1 6H-8Q-12 6-12 2V-5M1 1H8Q12 1 12-3V-9"
    dandelion_leaves = (
        "M0 19C-5 18-8 16-9 13L-12 14L-12 10L-17 10C-13 5-4 9 0 19C4 9 13 5 17 10L12 10L12 14L9 13C8 16 5 18 0 19Z"
    )
    primrose_leaf = "M-2 8C-10 4-18 8-19 15C-12 19-5 16-2 8Z"
    primrose_petal = "M0 0C-8-3-9-12-4-13C-2-13.5-1-12 0-11C1-12 2-13.5 4-13C9-12 8-3 0 0Z"
    return {
        "wheat": [
            path(_sides(_EAR_STEM) + _EAR_STEM, None, "#8a6508", 1.5),
            path(_sides(_EAR), "#e0a91f", "#8a6508", 0.6),
            path(_EAR, "#f2c230", "#8a6508", 0.7),
        ],
        "cotton": [
            path("M0 8V20", None, "#5d4529", 2.4),
            path(dots(((-7, -5), (7, -5), (0, -11), (0, 0)), 8), "#ffffff", "#8d96a3", 1),
            path(dots(((-6, -5), (6, -5), (0, -9), (0, -2)), 6.8), "#ffffff"),
            path(both(cotton_leaf), "#8a6a45", "#5d4529", 0.8),
        ],
        "grass": [
            path("M-3 19C-7 8-12 0-18-6C-16 4-12 13-8 19Z", "#5aa63a", "#2f6b1e", 1),
            path("M3 19C7 8 12 1 18-4C16 6 12 14 8 19Z", "#5aa63a", "#2f6b1e", 1),
            path("M-6 19C-8 5-9-6-6-17C0-6 0 6-1 19Z", "#7cc04f", "#2f6b1e", 1),
            path("M1 19C0 6 3-5 9-13C11-2 9 9 6 19Z", "#6bb344", "#2f6b1e", 1),
        ],
        "potato": [
            path("M-2-15C8-18 18-11 18-2C18 6 11 10 3 8C-7 6-10-12-2-15Z", "#c99a5b", "#7a5526", 1),
            path("M-12-5C-3-10 9-3 11 6C12 14 4 19-5 18C-14 17-20 11-19 4C-18 0-16-3-12-5Z", "#ddb277", "#7a5526", 1),
            path("M-12 3L-9 5M-3 0L-1 2M3 9L5 8M-8 12L-5 12M9-9L12-8", None, "#7a5526", 1.5),
        ],
        "coffee": [
            path("M-2-3C0-13 8-19 18-18C18-9 11-1 1 0Z", "#5b9a4a", "#2f5c24", 1),
            path("M1-2C6-6 10-10 14-14.5", None, "#2f5c24", 1),
            path(spread(oval(0, 0, 8, 11), beans), "#8a5a34", "#45280f", 1),
            path(spread("M0-10.5C-4.5-4 4.5 4 0 10.5", beans), None, "#45280f", 1.8),
        ],
        "rice": [
            path(both(rice_stem), None, "#55893a", 1.8),
            path(both(rice_grains), "#fff7d6", "#a58a3a", 0.8),
            path("M0 14C-1 2-2-8 0-19C3-8 3 3 1 14Z", "#7cb85a", "#3f7029", 0.9),
            path(
                "M-18 14Q-13.5 11-9 14T0 14T9 14T18 14M-13 18.5Q-9 16-4.5 18.5T4.5 18.5T13 18.5", None, "#3f8fc4", 1.8
            ),
        ],
        "corn": [
            path("M0-19C7-17 9-6 8 5C7 12 4 15 0 16C-4 15-7 12-8 5C-9-6-7-17 0-19Z", "#f7cf3c", "#8f6a08", 1),
            path("M-3-17C-4-5-4 4-3 14M3-17C4-5 4 4 3 14M-6-11H6M-8-5H8M-8 1H8", None, "#c0930f", 1),
            path("M-1 19C-11 17-15 6-12-6C-7 0-3 9-1 19Z", "#6bab4b", "#33641f", 1),
            path("M1 19C11 17 15 6 12-6C7 0 3 9 1 19Z", "#7cbb58", "#33641f", 1),
        ],
        "cactus": [
            path(cactus_arms, None, "#2c6b3d", 9),
            path(cactus_arms, None, "#57a868", 7),
            path("M-6 19V-11A6 6 0 0 1 6-11V19Z", "#57a868", "#2c6b3d", 1),
            path("M-2-10V17M2-10V17", None, "#2c6b3d", 1),
            path(dots(((-3, -18), (3, -18), (0, -16.5)), 2.6), "#e2699f"),
            path("M-14 19H14", None, "#9a7a4c", 2),
        ],
        "lake": [
            element("ellipse", cx=0, cy=6, rx=19, ry=11, fill="#6db5e0", stroke="#2a6f9e", stroke_width=1.2),
            path("M-12 4Q-9 1.5-6 4T0 4M0 10Q3 7.5 6 10T12 10M-8 12Q-6 10.5-4 12", None, "#eaf6ff", 1.6),
            path("M11-1V-16M15 1V-12", None, "#4f7f35", 1.6),
            path("M11-13V-18M15-9V-14", None, "#7a4f24", 3.6),
        ],
        "snowdrop": [
            path("M-4 19C-6 4-4-12 4-15C8-16 10-13 9-9", None, "#4d8a45", 2),
            path("M-4 19C-12 12-15 3-14-6C-8 0-4 9-4 19ZM-3 19C2 14 5 8 6 2C0 5-4 11-3 19Z", "#6faf5e", "#33682b", 0.9),
            path("M9-9C2-6 1 2 4 7C7 5 10-1 9-9ZM9-9C16-6 17 2 14 7C11 5 8-1 9-9Z", "#ffffff", "#7d8fa3", 1),
            path("M9-9C5-2 6 4 9 9C12 4 13-2 9-9Z", "#ffffff", "#7d8fa3", 1),
            path("M7.5-9.5H10.5L9-6Z", "#4d8a45"),
        ],
        "dandelion": [
            path("M0 2V19", None, "#5b8f3d", 2),
            path(dandelion_leaves, "#74b052", "#376a22", 0.9),
            path(around("M-2.3 0L-1.8-12L0-10.5L1.8-12L2.3 0Z", 10, y=-6), "#f9cf2f", "#a97a00", 0.7),
            circle(0, -6, 4.5, "#f2b51d"),
        ],
        "primrose": [
            path(both(primrose_leaf), "#6fae58", "#33682b", 0.9),
            path(around(primrose_petal, 5, y=-4), "#d986b8", "#7f3064", 0.9),
            circle(0, -4, 3.4, "#f9d84a", "#a97a00", 0.7),
        ],
    }


def _weather() -> dict[str, list[Markup]]:
    sunbeams = "M0-8.5V-11.5M0 8.5V11.5M-8.5 0H-11.5M8.5 0H11.5M-6-6L-8.2-8.2M6-6L8.2-8.2M-6 6L-8.2 8.2M6 6L8.2 8.2"
    swirls = "M-11-3H3.5A3.5 3.5 0 1 0 .5-8M-8 1H8A3 3 0 1 1 6 6M-11 5H-1A3 3 0 1 1-3.5 9.5"
    return {
        "frost": [path(around("M0 0L0-11M0-6.5L-3.5-10M0-6.5L3.5-10", 6), None, "#2f7fb8", 1.8)],
        "sun": [path(sunbeams, None, "#c98a00", 1.9), circle(0, 0, 6.2, "#f8c630", "#c98a00", 1.3)],
        "wind": [path(swirls, None, "#3d7f78", 1.9)],
        "rain": [
            path("M-7 3A5 5 0 0 1-7.5-5A7.5 7.5 0 0 1 6-6A5 5 0 0 1 7 3Z", "#b9c4e6", "#47599c", 1.3),
            path("M-5 6L-6.5 10.5M0 6L-1.5 10.5M5 6L3.5 10.5", None, "#47599c", 2),
        ],
        "harvest": [  # a sickle
            path("M-2 3C-12-1-10-12 1-12C8-12 12-6 11-1C8-6 4-8 0-7C-4-6-4 0 0 2Z", "#9aa7b3", "#39444d", 1.2),
            path("M-1 2L-6 11", None, "#7a4f24", 4),
        ],
    }


def _dice() -> dict[str, list[Markup]]:
    """A side of a Harvest die, 40 wide: its votes, or the sickle of Harvest."""

    def side(*pips: tuple[float, float]) -> list[Markup]:
        return [cube("#ffffff", INK), path(dots(pips, 4.6), INK)]

    def cube(fill: str, edge: str) -> Markup:
        return element("rect", x=-20, y=-20, width=40, height=40, rx=8, fill=fill, stroke=edge, stroke_width=1.6)

    return {
        "1": side((0, 0)),
        "2": side((-8, -8), (8, 8)),
        "3": side((-10, -10), (0, 0), (10, 10)),
        "4": side((-8, -8), (8, -8), (-8, 8), (8, 8)),
        "harvest": [cube("#ffe7a0", "#7a5200"), group(element("g", *_weather()["harvest"]), scale=1.45)],
        "unknown": side(),
    }


def _disc(fill: str) -> Markup:
    """A round token, 22 wide, with a white rim."""
    return circle(0, 0, 11, fill, "#ffffff", 1.5)


def _tokens() -> dict[str, list[Markup]]:
    waves = "M-7-3Q-4.5-6-2.3-3T2.3-3T7-3M-7 3Q-4.5 0-2.3 3T2.3 3T7 3"
    return {
        "crop-snowdrop-closed": [  # without its bloom token: under the snow
            path("M-2 6C-3-2-2-8 2-12C5-8 4-1 3 6Z", "#6faf5e", "#33682b", 0.9),
            path("M-19 18C-18 8-12 3-5 5C-2 0 7-1 10 5C16 6 19 11 19 18Z", "#ffffff", "#7d8fa3", 1.2),
            path("M-9 13H-7M0 10H2M9 14H11", None, "#9db4cb", 1.8),
        ],
        "cloud-light": [path(CLOUD, "#ffffff", "#7b8ea1", 1.6), path("M-40 16H38", None, "#d5dee7", 3)],
        "cloud-thunder": [
            path(CLOUD, "#55606f", "#262d36", 1.6),
            path("M-24 16H38", None, "#444d5a", 3),
            path("M-38-11L-49 5H-42L-47 17L-31 0H-38.5L-32-11Z", "#ffd23f", "#2b2300", 1.2),
        ],
        "cloud-shadow": [path(CLOUD)],
        "sprouting": [_disc("#8a9a3a"), path("M0 7C0 1 0-1 1-3M1-3C3-7 6-7 8-6C7-2 4-1 1-3", None, "#ffffff", 2)],
        "developed": [
            _disc("#1d7a3e"),
            path("M0 8V-1", None, "#ffffff", 2),
            path("M0 1C-6 2-8-2-8-5C-4-5-1-3 0 1ZM0-1C6 0 8-4 8-7C4-7 1-5 0-1Z", "#ffffff"),
        ],
        "drowned": [_disc("#2a5f9e"), path(waves, None, "#ffffff", 2)],
        "fertilizer": [  # a sack
            path("M-6-6C-11 2-10 10-7 10H7C10 10 11 2 6-6Z", "#a9773f", "#5d3d16", 1.2),
            path("M-6-10Q0-7 6-10L4-6H-4Z", "#a9773f", "#5d3d16", 1.2),
            path("M-4 3H4M0-1V7", None, "#ffffff", 2),
        ],
        "pod": [  # a seed with its parachute
            circle(0, 0, 11.5, "#fdf3cf", "#8b7a55", 1),
            path("M0 3L-8-4M0 3L-4.5-7M0 3V-8M0 3L4.5-7M0 3L8-4", None, "#8b7a55", 1.1),
            path(dots(((-8, -4), (-4.5, -7), (0, -8), (4.5, -7), (8, -4)), 1.7), "#ffffff", "#8b7a55", 0.8),
            path("M0 3V9", None, "#6b4a1c", 2.6),
        ],
        "bloom": [
            circle(0, 0, 11, "#ffffff", "#9a6a8a", 1),
            path(around(oval(0, -5, 3.2, 4.2), 5), "#c9478f"),
            circle(0, 0, 2.6, "#f9d84a"),
        ],
        "crown": [path("M-9 7L-10-5L-4.5 0L0-8L4.5 0L10-5L9 7Z", "#f2b51d", "#7a5200", 1.2)],
        "vote": [  # a voting marker, seen from the side
            path("M-9-3V4A9 4.5 0 0 0 9 4V-3Z", "#aab4be", INK, 1.2),
            path(oval(0, -3, 9, 4.5), "#dfe5ea", INK, 1.2),
        ],
        "wheat-token": [
            _disc("#b07d12"),
            path(placed(_EAR, y=3, scale=0.55), "#ffffff"),
            path("M0 9L0-4", None, "#ffffff", 1.6),
        ],
        "win": [  # a rosette
            path("M-5 3L-7 11L-3 9L0 11L3 9L7 11L5 3Z", "#9c4a8b", "#4d2045", 1),
            circle(0, -3, 8, "#f2c230", "#7a5200", 1.2),
            circle(0, -3, 4.5, "#ffe9a3"),
        ],
        "drop": [path(DROP, "#8fc4e6", INK, 1.6)],
        "card-back": [  # 30 wide, 26 high
            element("rect", x=-15, y=-13, width=30, height=26, rx=4, fill="#5d7385", stroke=INK, stroke_width=1),
            group(path(DROP, "#8ea4b5"), scale=0.6),
        ],
        "umbrella": [  # of the first player
            path("M0-12.5V8Q0 11-3 11T-6 8", None, INK, 1.7),
            path("M-11 0A11 11 0 0 1 11 0Q7.5-3 3.7 0Q0-3-3.7 0Q-7.5-3-11 0Z", "#7a4fa3", INK, 1.1),
        ],
    }


@lru_cache(maxsize=1)
def defs() -> Markup:
    """The `<defs>` with every drawing, by the names that `svg.use` takes."""

    return defs_of(
        {
            **named("crop-", _crops()),
            **named("weather-", _weather()),
            **owner_marks(),
            **named("die-", _dice()),
            **named("", _tokens()),
        }
    )
