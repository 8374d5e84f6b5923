"""The cover of a game: a small picture for lists of games, with every drawing that the game's boards refer to."""

from __future__ import annotations

from tabletop_engine.drawing.panels import BACKGROUND
from tabletop_engine.drawing.svg import Markup, box, document, title

WIDTH, HEIGHT = 480, 200


def cover_of(name: str, drawings: Markup, *parts: Markup) -> str:
    """A cover as an SVG document: parts on the usual background. `drawings` are the `<defs>` of the game's boards."""
    return document(
        title(name),
        drawings,
        box(0, 0, WIDTH, HEIGHT, fill=BACKGROUND),
        *parts,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
    )
