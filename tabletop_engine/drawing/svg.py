"""Elements of SVG documents, and words as outlines, which look the same with any fonts."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tabletop_engine.drawing.letters import UNITS, letter

INK = "#1f2a33"
"""The colour of words and outlines."""
PREFIX = "tabletop-"
"""The prefix of the ids of drawings, since a page that contains a picture has its own ids."""
Place = tuple[tuple[str, str], ...]
"""The place of an element in a picture: names and values of `data-` attributes, from the outermost element inwards.

`(("tile", "b2"), ("drop", "neutral"))` is the element with `data-drop="neutral"` in the element with `data-tile="b2"`.
"""
_NO_XML = re.compile("[^\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"
_SMALLEST = 0.75
"""The factor by which words become smaller to fit, before they are cut."""
_LINE = 1.25
"""The distance of lines, in units of their size."""
_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""The part of a line that is to the left of its anchor."""


def number(value: float) -> str:
    """A number with four digits: `12.5`, `937.2`. The error is at most a twentieth of a unit."""
    return f"{value:.4g}"


class Markup(str):
    """The text of an element. Only `element` and `title` make such texts, so that a picture is valid XML.

    (With ElementTree a picture would take 3 ms longer, a tenth of the time for a frame.)
    """

    __slots__ = ()


def clean(text: str) -> str:
    """The text on one line. Characters that XML does not allow become the replacement character."""
    return _NO_XML.sub(_REPLACEMENT, " ".join(text.splitlines()).replace("\t", " "))


def escaped(text: str) -> str:
    """The text escaped for an element or, in quotes, for an attribute."""
    if "&" in text or "<" in text or ">" in text or '"' in text:
        return html.escape(text)
    return text


def element(tag: str, *children: Markup, **attributes: str | float | None) -> Markup:
    """An element. Attributes that are None are left out; an underscore in a name stands for a hyphen."""
    parts = ["<", tag]
    for name, value in attributes.items():
        if value is not None:
            parts += (" ", name.replace("_", "-"), '="')
            parts += (escaped(value) if isinstance(value, str) else number(value), '"')
    if children:
        parts += (">", *children, "</", tag, ">")
    else:
        parts.append("/>")
    return Markup("".join(parts))


class Document(Markup):
    """The text of a picture that knows its parts: the start tag, the elements and the end tag."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]


def document(*children: Markup, **attributes: str | float | None) -> Document:
    """A whole picture, with attributes as for `element`."""
    start = element("svg", xmlns="http://www.w3.org/2000/svg", **attributes).removesuffix("/>") + ">"
    parts = (start, *children, "</svg>")
    drawing = Document("".join(parts))
    drawing.parts = parts
    return drawing


def title(words: str) -> Markup:
    """A `<title>`. As the first child of an element, it is shown by browsers when the mouse rests on that element."""
    return Markup(f"<title>{escaped(words)}</title>")


def titled(words: str, *children: Markup, **attributes: str | float | None) -> Markup:
    """A `<g>` with a title."""
    return element("g", title(words), *children, **attributes)


def group(*children: Markup, x: float = 0, y: float = 0, scale: float = 1, **attributes: Any) -> Markup:
    """A `<g>` that is moved, then scaled."""
    return element("g", *children, transform=moved(x, y, scale), **attributes)


def moved(x: float, y: float, scale: float = 1) -> str | None:
    """The `transform` for a place and a scale; None if there is nothing to change."""
    if scale != 1:
        return f"translate({number(x)} {number(y)})scale({scale:.4g})"
    return f"translate({number(x)} {number(y)})" if x or y else None


def use(name: str, x: float = 0, y: float = 0, scale: float = 1, **attributes: Any) -> Markup:
    """A `<use>` of a drawing in the picture's `<defs>`, its middle at (x, y)."""
    return element("use", href=f"#{PREFIX}{name}", transform=moved(x, y, scale), **attributes)


def box(x: float, y: float, width: float, height: float, radius: float = 0, **attributes: Any) -> Markup:
    """A rectangle; `radius` is that of its corners."""
    return element("rect", x=x, y=y, width=width, height=height, rx=radius or None, **attributes)


def path(
    d: str, fill: str | None = None, stroke: str | None = None, width: float | None = None, **attributes: str
) -> Markup:
    """An outline. A stroke has round ends and corners."""
    round_ends = "round" if stroke else None
    return element(
        "path",
        d=d,
        fill=fill or ("none" if stroke else None),
        stroke=stroke,
        stroke_width=width,
        stroke_linecap=round_ends,
        stroke_linejoin=round_ends,
        **attributes,
    )


def circle(x: float, y: float, r: float, fill: str, stroke: str | None = None, width: float | None = None) -> Markup:
    """A circle with its middle at (x, y)."""
    return element("circle", cx=x, cy=y, r=r, fill=fill, stroke=stroke, stroke_width=width)


# --- words ------------------------------------------------------------------------------------------------------------


def _outline(word: str, bold: bool) -> str:
    """The outline of a word that starts at the current point of a path."""
    return "".join(letter(character, bold)[1] for character in word)


@lru_cache(maxsize=4096)
def _width(words: str, bold: bool) -> float:
    """The width of words at size 1."""
    return sum(letter(character, bold)[0] for character in words) / UNITS


def width_of(words: str, size: float, bold: bool = False) -> float:
    """The width of words at this size."""
    return _width(words, bold) * size


def cut(words: str, size: float, fit: float, bold: bool = False, keep_end: bool = False) -> str:
    """The words, cut to the width `fit` at this size, with "…" at the end; in the middle if `keep_end`."""
    if width_of(words, size, bold) <= fit:
        return words

    def shortened(left: int) -> str:
        end = left // 2 if keep_end else 0
        return words[: left - end] + "…" + words[len(words) - end :]

    widths = bisect_right(range(len(words)), fit, key=lambda left: width_of(shortened(left), size, bold))
    return shortened(max(0, widths - 1))


@lru_cache(maxsize=4096)
def text(
    words: str,
    x: float,
    y: float,
    size: float,
    *,
    bold: bool = False,
    anchor: str = "start",
    fit: float | None = None,
    keep_end: bool = False,
    **attributes: Any,
) -> Markup:
    """Words on one line. In the document they can be read as its `aria-label`.

    Arguments:
        words: the words.
        x: the place of the anchor.
        y: the height of the baseline.
        size: the height of the letters.
        bold: whether they are bold.
        anchor: the part of the line that is at `x`: "start", "middle" or "end".
        fit: the greatest width. Longer lines are drawn a little smaller, and cut if that is not enough.
        keep_end: cut in the middle and not at the end, for names that may differ only at their ends.
        **attributes: attributes of the element.
    """
    shown = words
    if fit is not None and width_of(words, size, bold) > fit:
        size = max(size * _SMALLEST, size * fit / width_of(words, size, bold))
        shown = cut(words, size, fit, bold, keep_end)
    place = moved(x - _BEFORE[anchor] * width_of(shown, size, bold), y, size / UNITS)
    first, *more = shown.split(" ")
    if not more:
        return element("path", aria_label=words, transform=place, d=f"M0 0{_outline(first, bold)}", **attributes)
    # one path for each word, since renderers take longer for each letter in longer paths
    parts, at = [], 0.0
    for word in (first, *more):
        if word:
            parts.append(element("path", d=f"M{number(at)} 0{_outline(word, bold)}"))
        at += (_width(word, bold) + _width(" ", bold)) * UNITS
    return element("g", *parts, aria_label=words, transform=place, **attributes)


def wrapped(words: str, size: float, width: float) -> Iterator[str]:
    """The words, broken into lines of at most this width."""
    line: list[str] = []
    left, space = width, width_of(" ", size)
    for word in words.split():
        needed = width_of(word, size)
        if line and needed > left:
            yield " ".join(line)
            line, left = [], width
        line.append(word)
        left -= needed + space
    if line:
        yield " ".join(line)


def paragraph(
    words: list[str], x: float, y: float, size: float, width: float, height: float, **attributes: Any
) -> Iterator[Markup]:
    """Lines in a box, from its top down, each wrapped. They are drawn smaller and then cut if they don't fit."""
    smallest = size * _SMALLEST
    while True:
        lines = [part for line in words for part in wrapped(line, size, width)]
        room = int(height / (size * _LINE))
        if len(lines) <= room or size <= smallest:
            break
        size = max(size * 0.93, smallest)
    if len(lines) > room:
        lines[room - 1 :] = [lines[room - 1] + " …"]
    for i, line in enumerate(lines):
        yield text(line, x, y + size * (1 + _LINE * i), size, fit=width, **attributes)
