"""The parts of a picture: the drawings that all pictures of a game share, and the other elements."""

from __future__ import annotations

from collections.abc import Sequence

from tabletop_engine.drawing.svg import Document

_DRAWINGS = "<defs>"


def drawings_of(svg: str) -> str:
    """The `<defs>` of a picture, which are the same in all pictures of a game."""
    return "".join(part for part in parts_of(svg) if part.startswith(_DRAWINGS))


def parts_without_drawings(svg: str) -> list[str]:
    """The other parts of a picture, for a page that has its drawings already."""
    return [part for part in parts_of(svg) if not part.startswith(_DRAWINGS)]


def parts_of(svg: str) -> Sequence[str]:
    """The start tag, the elements and the end tag of a picture. Joined they are the picture."""
    if isinstance(svg, Document):
        return svg.parts
    parts: list[str] = []
    part: list[str] = []
    depth = 0
    for piece in svg.split("<")[1:]:
        part.append(piece)
        if piece[0] == "/":
            depth -= 1
        elif piece[piece.index(">") - 1] != "/":
            depth += 1
        if depth <= 1:
            parts.append("<" + "<".join(part))
            part = []
    return parts
