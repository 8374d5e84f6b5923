"""The cover: clouds over fields, under the sun."""

from __future__ import annotations

from petrichor_env.drawing.board_fields import GROUNDS
from petrichor_env.drawing.icons import defs
from petrichor_env.state import CROP_NAMES, Crop
from tabletop_engine.drawing.covers import cover_of
from tabletop_engine.drawing.panels import EDGE
from tabletop_engine.drawing.svg import Markup, box, element, use

_FIELDS = ((-62, Crop.COFFEE), (78, Crop.GRASS), (218, Crop.WHEAT), (358, Crop.COTTON))
_CLOUDS = (
    (40, 78, 1.0, "light", ((1, 0),)),
    (158, 66, 1.1, "light", ((0, -16), (1, 18))),
    (296, 76, 1.2, "thunder", ((0, -2), (1, 28))),
    (424, 112, 0.8, "light", ((0, 0),)),
)
"""The place, size and kind of each cloud; the owner of its drops, and their distance to the right of its middle."""


def cover() -> str:
    """`Drawing.cover`."""
    drops = ((40, 146, 0), (176, 144, 0), (316, 144, 1))
    return cover_of(
        "Petrichor",
        defs(),
        *(_field(x, crop) for x, crop in _FIELDS),
        *(use(f"owner-{owner}", x, y, 1.3) for x, y, owner in drops),
        use("weather-sun", 432, 46, 2.6),
        *(_cloud(*one) for one in _CLOUDS),
    )


def _field(x: float, crop: Crop) -> Markup:
    ground = box(x, 20, 132, 160, 10, fill=GROUNDS[crop], stroke=EDGE)
    return element("g", ground, use(f"crop-{CROP_NAMES[crop]}", x + 34, 140, 1.5))


def _cloud(x: float, y: float, scale: float, kind: str, drops: tuple[tuple[int, float], ...]) -> Markup:
    shadow = element("g", use("cloud-shadow", x + 4, y + 6, scale), opacity=0.2)
    held = (use(f"owner-{owner}", x + aside, y + 4, 1.1) for owner, aside in drops)
    return element("g", shadow, use(f"cloud-{kind}", x, y, scale), *held)
