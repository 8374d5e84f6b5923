"""The colours and shapes of owners (players and opponents), as drawings for the `<defs>` of a picture."""

from __future__ import annotations

from typing import NamedTuple

from tabletop_engine.drawing.svg import INK, PREFIX, Markup, element, path, text, use

OWNER_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d889b5", "#f0e442", "#e2e2e2")
"""The palette of Okabe and Ito. People who can't see red or green can tell its colours apart."""
OWNER_INKS = ("#ffffff", "#000000", "#ffffff", "#000000", "#000000", "#000000")
"""The colours of text on them."""
DROP = "M0-14C4-8 10-3 10 4A10 10 0 0 1-10 4C-10-3-4-8 0-14Z"
"""A drop of water, 20 wide and 28 high."""
OWNER_SHAPES = (
    DROP,
    "M0-14L10-5V8.5Q10 13 5.5 13H-5.5Q-10 13-10 8.5V-5Z",
    "M0-14L13 1L0 15L-13 1Z",
    "M0-14L12.5 9Q14 13 10 13H-10Q-14 13-12.5 9Z",
    "M-10.5-12H10.5Q14-12 12.5-8L0 15L-12.5-8Q-14-12-10.5-12Z",
    "M0-14L11.5-7V8L0 15L-11.5 8V-7Z",
)
"""Shapes that differ without their colours: drop, house, diamond, triangle, triangle on its tip, hexagon."""
OWNER_NUMBERS = (4.5, 4, 0.5, 5.5, -4, 0.5)
"""The distance from the middle of each shape down to the middle of the number in it."""


class Mark(NamedTuple):
    """The drawing of an owner.

    Attributes:
        shape: the id of its shape in the `<defs>` of a picture; the shape is around (0, 0).
        colour: the colour of its lines.
    """

    shape: str
    colour: str


def mark(number: int) -> Mark:
    """The shape and the colour of an owner."""
    number %= len(OWNER_SHAPES)
    return Mark(f"{PREFIX}owner-{number}", OWNER_COLOURS[number])


def owner_marks() -> dict[str, Markup]:
    """The shapes by the names that `svg.use` takes, `owner-0` and so on; at most 34 units wide and 37 high.

    Each has two outlines, so that it is visible on light and on dark backgrounds.
    """
    return {
        f"owner-{i}": element("g", path(shape, None, "#ffffff", 4.5), path(shape, colour, INK, 1.6))
        for i, (shape, colour) in enumerate(zip(OWNER_SHAPES, OWNER_COLOURS, strict=True))
    }


def token(shape: int, count: int | None, x: float, y: float, scale: float = 1) -> Markup:
    """The shape number `shape` with its middle at (x, y), and the number `count` in it if that is not None."""
    drawing = use(f"owner-{shape}", x, y, scale)
    if count is None:
        return drawing
    size = (15.5 if count < 10 else 12.5) * scale
    middle = y + OWNER_NUMBERS[shape] * scale + size * 0.365
    label = text(str(count), x, middle, size, bold=True, anchor="middle", fill=OWNER_INKS[shape])
    return element("g", drawing, label)
