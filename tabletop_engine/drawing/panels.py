"""Panels of pictures and their colours, the same in all games."""

from __future__ import annotations

from typing import Any

from tabletop_engine.drawing.svg import Markup, box

BACKGROUND = "#eaf0f4"
MUTED = "#55636f"
PANEL = "#ffffff"
EDGE = "#c3ced7"
STRONG = "#b3360b"
"""The colour of things to notice, such as the player who has a decision."""


def panel(x: float, y: float, width: float, height: float, **attributes: Any) -> Markup:
    """A panel: a box with round corners in the usual colours."""
    given = {"fill": PANEL, "stroke": EDGE, "stroke_width": 1} | attributes
    return box(x, y, width, height, 8, **given)
