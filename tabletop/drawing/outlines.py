"""Outlines put together from parts, and drawings put together into a picture's `<defs>`.

Paths that are made of many like parts are put together as one: a renderer's time goes by the number of elements.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from tabletop.drawing.svg import PREFIX, Markup, element, number

_PAIR = re.compile(r"(-?\d*\.?\d+)[ ,]?(-?\d*\.?\d+) ?")


def placed(d: str, angle: float = 0, x: float = 0, y: float = 0, scale: float = 1, flip: bool = False) -> str:
    """An outline made of M, L, C, Q and Z, mirrored (left to right), scaled and turned around (0, 0), then moved."""
    across, down = scale * math.cos(math.radians(angle)), scale * math.sin(math.radians(angle))

    def moved(pair: re.Match[str]) -> str:
        left, top = float(pair[1]) * (-1 if flip else 1), float(pair[2])
        return f"{number(left * across - top * down + x)} {number(left * down + top * across + y)} "

    return _PAIR.sub(moved, d)


def around(d: str, times: int, y: float = 0) -> str:
    """The outline and its copies turned around (0, 0), moved down by y."""
    return "".join(placed(d, 360 / times * i, y=y) for i in range(times))


def oval(x: float, y: float, rx: float, ry: float) -> str:
    """An ellipse as an outline that `placed` can place."""
    kx, ky = 0.5523 * rx, 0.5523 * ry  # the usual four curves for a circle
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
    return "".join(oval(x, y, r, r) for x, y in points)


def both(d: str) -> str:
    """The outline and its mirror image."""
    return d + placed(d, flip=True)


def spread(d: str, spots: Iterable[tuple[float, float, float]]) -> str:
    """The outline at each spot: turned by an angle, at x and y."""
    return "".join(placed(d, *spot) for spot in spots)


# --- a picture's drawings ---------------------------------------------------------------------------------------------


def named(prefix: str, drawings: Mapping[str, Sequence[Markup]]) -> dict[str, Markup]:
    """Each drawing as one element, by its name with the prefix before it."""
    return {prefix + name: one[0] if len(one) == 1 else element("g", *one) for name, one in drawings.items()}


def defs_of(drawings: Mapping[str, Markup]) -> Markup:
    """Every drawing, by the name that `svg.use` takes."""
    return element("defs", *(element("g", drawing, id=PREFIX + name) for name, drawing in drawings.items()))
