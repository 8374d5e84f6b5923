"""A picture's parts: what every picture of a game shares, and the elements of which the rest is made."""

from __future__ import annotations

import re

_DRAWINGS = re.compile("<defs>.*</defs>", re.DOTALL)


def drawings_of(svg: str) -> str:
    """The `<defs>` that the picture refers to, the same in all pictures of a game."""
    return "".join(_DRAWINGS.findall(svg))


def without_drawings(svg: str) -> str:
    """The picture for a page that has the drawings already."""
    return _DRAWINGS.sub("", svg)


def parts_of(svg: str) -> list[str]:
    """Start tag, elements and end tag of a picture: joined they are the picture."""
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
