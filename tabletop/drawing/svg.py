"""Markups of an SVG document, and words as outlines that look the same whatever fonts there are."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tabletop.drawing.letters import UNITS, letter

INK = "#1f2a33"
"""Of words and outlines."""
PREFIX = "tabletop-"
"""Of the drawings' ids: a page that holds a picture has ids of its own."""
Place = tuple[tuple[str, str], ...]
"""An element of a picture: from the outermost to its own, names and values of `data-` attributes.

`(("tile", "b2"), ("drop", "neutral"))` is what has `data-drop="neutral"`, in what has `data-tile="b2"`.
"""
_NO_XML = re.compile("[^\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"
_SMALLEST = 0.75
"""How much smaller than asked words become to fit, before they are cut."""
_LINE = 1.25
"""How far lines are apart, in their size."""
_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""How much of a line is left of its anchor."""


def number(value: float) -> str:
    """To four digits, a twentieth of a unit at worst: `12.5`, `937.2`."""
    return f"{value:.4g}"


class Markup(str):
    """An element that is written already. Only `element` and `title` write them, so that a picture is valid XML.

    (ElementTree takes 3 ms more a picture, a tenth of what a frame may take.)
    """

    __slots__ = ()


def clean(text: str) -> str:
    """The text on one line, with the replacement character for what XML can't hold."""
    return _NO_XML.sub(_REPLACEMENT, " ".join(text.splitlines()).replace("\t", " "))


def escaped(text: str) -> str:
    """The text as it may stand in an element or, quoted, in an attribute."""
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


def title(words: str) -> Markup:
    """What browsers show where the mouse rests on the element that it is the first child of."""
    return Markup(f"<title>{escaped(words)}</title>")


def titled(words: str, *children: Markup, **attributes: str | float | None) -> Markup:
    """A `<g>` with a title."""
    return element("g", title(words), *children, **attributes)


def group(*children: Markup, x: float = 0, y: float = 0, scale: float = 1, **attributes: Any) -> Markup:
    """A `<g>` that is moved, then scaled."""
    return element("g", *children, transform=moved(x, y, scale), **attributes)


def moved(x: float, y: float, scale: float = 1) -> str | None:
    """As a `transform`."""
    if scale != 1:
        return f"translate({number(x)} {number(y)})scale({scale:.4g})"
    return f"translate({number(x)} {number(y)})" if x or y else None


def use(name: str, x: float = 0, y: float = 0, scale: float = 1, **attributes: Any) -> Markup:
    """A drawing of `icons.defs`, its middle at (x, y)."""
    return element("use", href=f"#{PREFIX}{name}", transform=moved(x, y, scale), **attributes)


def box(x: float, y: float, width: float, height: float, radius: float = 0, **attributes: Any) -> Markup:
    return element("rect", x=x, y=y, width=width, height=height, rx=radius or None, **attributes)


def path(
    d: str, fill: str | None = None, stroke: str | None = None, width: float | None = None, **attributes: str
) -> Markup:
    """An outline; with round ends and corners where it is stroked."""
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
    return element("circle", cx=x, cy=y, r=r, fill=fill, stroke=stroke, stroke_width=width)


# --- words ------------------------------------------------------------------------------------------------------------


def _outline(word: str, bold: bool) -> str:
    """Of a word that starts where the path is."""
    return "".join(letter(character, bold)[1] for character in word)


@lru_cache(maxsize=4096)
def _width(words: str, bold: bool) -> float:
    """At size 1."""
    return sum(letter(character, bold)[0] for character in words) / UNITS


def width_of(words: str, size: float, bold: bool = False) -> float:
    return _width(words, bold) * size


def cut(words: str, size: float, fit: float, bold: bool = False, keep_end: bool = False) -> str:
    """As many of the letters as fit at that size, "…" where others were; a part at the end, if that is to be kept."""
    shown, left = words, len(words)
    while width_of(shown, size, bold) > fit and left:
        left -= 1
        end = left // 2 if keep_end else 0
        shown = words[: left - end] + "…" + words[len(words) - end :]
    return shown


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
    """Words on one line, readable in the document as its `aria-label`.

    Arguments:
        x, y: where the line starts, is in the middle of, or ends (`anchor`: "start", "middle", "end"); its baseline.
        fit: the widest they may become: they are drawn a little smaller, and cut if that is not enough.
        keep_end: cut them in the middle: names may differ at their ends only.
    """
    shown = words
    if fit is not None and width_of(words, size, bold) > fit:
        size = max(size * _SMALLEST, size * fit / width_of(words, size, bold))
        shown = cut(words, size, fit, bold, keep_end)
    place = moved(x - _BEFORE[anchor] * width_of(shown, size, bold), y, size / UNITS)
    first, *more = shown.split(" ")
    if not more:
        return element("path", aria_label=words, transform=place, d=f"M0 0{_outline(first, bold)}", **attributes)
    # A path a word: the longer a path, the longer renderers take over each of its letters.
    parts, at = [], 0.0
    for word in (first, *more):
        if word:
            parts.append(element("path", d=f"M{number(at)} 0{_outline(word, bold)}"))
        at += (_width(word, bold) + _width(" ", bold)) * UNITS
    return element("g", *parts, aria_label=words, transform=place, **attributes)


def wrapped(words: str, size: float, width: float) -> Iterator[str]:
    """The words in lines that are no wider."""
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
    """Lines from the top of the box (x, y, width, height) down, each wrapped: smaller and then cut, if they must be."""
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
