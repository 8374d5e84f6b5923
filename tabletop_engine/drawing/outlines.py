"""Outlines made of parts, and the `<defs>` of a picture made of drawings.

Many equal parts become one path, because the time of a renderer depends on the number of elements.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from tabletop_engine.drawing.svg import PREFIX, Markup, element, number

_PAIR = re.compile(r"(-?\d*\.?\d+)[ ,]?(-?\d*\.?\d+) ?")


def placed(d: str, angle: float = 0, x: float = 0, y: float = 0, scale: float = 1, flip: bool = False) -> str:
    """An outline of M, L, C, Q and Z commands, mirrored (left to right), scaled and turned at (0, 0), then moved.

    Arguments:
        d: the outline, as SVG path data.
        angle: clockwise, in degrees.
        x: the distance to the right.
        y: the distance downwards.
        scale: the factor of its size.
        flip: whether it is mirrored.
    """
    across, down = scale * math.cos(math.radians(angle)), scale * math.sin(math.radians(angle))

    def moved(pair: re.Match[str]) -> str:
        left, top = float(pair[1]) * (-1 if flip else 1), float(pair[2])
        return f"{number(left * across - top * down + x)} {number(left * down + top * across + y)} "

    return _PAIR.sub(moved, d)


def around(d: str, times: int, y: float = 0) -> str:
    """`times` copies of an outline, turned around (0, 0) by equal angles, then moved down by `y`."""
    return "".join(placed(d, 360 / times * i, y=y) for i in range(times))


def oval(x: float, y: float, rx: float, ry: float) -> str:
    """An ellipse around (x, y) as an outline for `placed`."""
    kx, ky = 0.5523 * rx, 0.5523 * ry  # a circle is approximated by four curves
    right, left, top, bottom = x + rx, x - rx, y - ry, y + ry
    curves = (
        (x, top),
        (x + kx, top, right, y - ky, right, y),
        (right, y + ky, x + kx, bottom, x, bottom),
        (x - kx, bottom, left, y + ky, left, y),
        (left, y - ky, x - kx, top, x, top),
    )
    return (
        "".join(f"{letter}{' '.join(map(number, points))}" for letter, points in zip("MCCCC", curves, strict=True))
        + "Z"
    )


def dots(points: Iterable[tuple[float, float]], r: float) -> str:
    """The outlines of circles of radius `r` at these points."""
    return "".join(oval(x, y, r, r) for x, y in points)


def both(d: str) -> str:
    """An outline and its mirror image (left to right)."""
    return d + placed(d, flip=True)


def spread(d: str, spots: Iterable[tuple[float, float, float]]) -> str:
    """An outline at each spot, given as angle, x and y."""
    return "".join(placed(d, *spot) for spot in spots)


# --- a picture's drawings ---------------------------------------------------------------------------------------------


def named(prefix: str, drawings: Mapping[str, Sequence[Markup]]) -> dict[str, Markup]:
    """Each drawing as one element, by its name after the prefix."""
    return {prefix + name: one[0] if len(one) == 1 else element("g", *one) for name, one in drawings.items()}


def defs_of(drawings: Mapping[str, Markup]) -> Markup:
    """The `<defs>` with these drawings, by the names that `svg.use` takes."""
    return element("defs", *(element("g", drawing, id=PREFIX + name) for name, drawing in drawings.items()))
