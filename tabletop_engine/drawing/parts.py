"""The parts of a picture: the drawings that all pictures of a game share, and the other elements."""

from __future__ import annotations

import re

_DRAWINGS = re.compile("<defs>.*</defs>", re.DOTALL)


def drawings_of(svg: str) -> str:
    """The `<defs>` of a picture, which are the same in all pictures of a game."""
    return "".join(_DRAWINGS.findall(svg))


def without_drawings(svg: str) -> str:
    """The picture without its `<defs>`, for a page that has them already."""
    return _DRAWINGS.sub("", svg)


def parts_of(svg: str) -> list[str]:
    """The start tag, the elements and the end tag of a picture. Joined they are the picture."""
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
