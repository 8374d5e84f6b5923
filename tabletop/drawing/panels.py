"""What a picture's page is made of, whatever the game: panels, and the colours beside `svg.INK`."""

from __future__ import annotations

from typing import Any

from tabletop.drawing.svg import Markup, box

BACKGROUND = "#eaf0f4"
MUTED = "#55636f"
PANEL = "#ffffff"
EDGE = "#c3ced7"
STRONG = "#b3360b"
"""Of what the eye is to find: what was hit, who is asked."""


def panel(x: float, y: float, width: float, height: float, **attributes: Any) -> Markup:
    given = {"fill": PANEL, "stroke": EDGE, "stroke_width": 1} | attributes
    return box(x, y, width, height, 8, **given)
