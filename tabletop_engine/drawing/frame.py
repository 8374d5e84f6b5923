"""The frame of a board's picture: its size, its ground, and at the bottom a panel with the last action in words."""

from __future__ import annotations

from tabletop_engine.drawing.panels import BACKGROUND, panel
from tabletop_engine.drawing.svg import INK, Markup, box, clean, document, paragraph, title

SIZE = 960
"""The width and height of a picture, in its own units."""
MARGIN = 12
WIDTH = SIZE - 2 * MARGIN
FOOTER_TOP, FOOTER_HEIGHT = 898, 52


def framed(name: str, drawings: Markup, *parts: Markup, last_action: str, **facts: str | None) -> str:
    """A square picture as an SVG document. `drawings` are its `<defs>`; `facts` are attributes of the document."""
    happened = clean(last_action)
    return document(
        title(name),
        drawings,
        box(0, 0, SIZE, SIZE, fill=BACKGROUND),
        *parts,
        panel(MARGIN, FOOTER_TOP, WIDTH, FOOTER_HEIGHT),
        *paragraph([happened], 28, FOOTER_TOP + 5, 15, SIZE - 56, FOOTER_HEIGHT - 9),
        viewBox=f"0 0 {SIZE} {SIZE}",
        width=SIZE,
        height=SIZE,
        fill=INK,
        data_last_action=happened or None,
        **facts,
    )
