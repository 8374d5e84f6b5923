"""Letters as outlines, so that a picture looks the same everywhere, with any fonts.

They are taken from DejaVu Sans, which comes with matplotlib, and drawn at nine tenths of its width, like the condensed
variant of that font.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

from tabletop_engine.extras import needed

UNITS = 200
"""Units of an em, the height of a line of type: fine enough for a drawing that fills a screen."""
_WIDTH = 0.9
_FILES = {False: "DejaVuSans.ttf", True: "DejaVuSans-Bold.ttf"}
_REPLACEMENT = "\ufffd"
_MOVE, _CURVE, _CLOSE = 1, 3, 79  # of matplotlib.path.Path

_one_at_a_time = Lock()
"""A font object holds the letter that was loaded last, so only one thread at a time may use it."""

Point = tuple[int, int]


def _path_data(vertices: list[Point], codes: list[int], advance: int) -> str:
    """The outline as SVG path data, every point relative to the one before: `m27-25h18v25h-18zm45 25`.

    It ends where the next letter starts. So the data of a word is the data of its letters in a row.
    """
    parts: list[str] = []
    at = start = (0, 0)
    for i, code in enumerate(codes):
        to = vertices[i]
        if code == _MOVE:
            parts.append(f"m{_from(at, to)}")
            start = to
        elif code == _CURVE:  # a curve has two vertices, of which this one or the next one is its end
            if codes[:i].count(code) % 2 == 0:
                parts.append(f"q{_from(at, to)} {_from(at, vertices[i + 1])}")
                continue
        elif code == _CLOSE:
            parts.append("z")
            to = start
        elif to != start or codes[i + 1] != _CLOSE:  # "z" draws the last line
            across, down = to[0] - at[0], to[1] - at[1]
            parts.append(f"h{across}" if not down else f"v{down}" if not across else f"l{_from(at, to)}")
        at = to
    parts.append(f"m{_from(at, (advance, 0))}")
    repeated = (i and part[0] in "lq" and part[0] == parts[i - 1][0] for i, part in enumerate(parts))
    short = (" " + part[1:] if again else part for part, again in zip(parts, repeated, strict=True))
    return "".join(short).replace(" -", "-")


def _from(at: Point, to: Point) -> str:
    return f"{to[0] - at[0]} {to[1] - at[1]}"


@lru_cache(maxsize=2)
def _font(bold: bool) -> Any:
    """The font. Raises `TabletopError` if matplotlib is missing."""
    matplotlib, ft2font = (needed(name, "a picture", "render") for name in ("matplotlib", "matplotlib.ft2font"))
    font = ft2font.FT2Font(str(Path(matplotlib.get_data_path(), "fonts", "ttf", _FILES[bold])))
    font.set_size(UNITS, 72)
    return font


@lru_cache(maxsize=4096)
def letter(character: str, bold: bool = False) -> tuple[int, str]:
    """The width of a letter in `UNITS`, and its outline as SVG path data. It is � for a letter that the font lacks."""
    with _one_at_a_time:
        font = _font(bold)
        known = font.get_char_index(ord(character))
        if known:
            glyph = font.load_char(ord(character), flags=import_module("matplotlib.ft2font").LoadFlags.NO_HINTING)
            vertices, codes = font.get_path()
    if not known:
        return letter(_REPLACEMENT, bold)
    points = [(round(x * _WIDTH), -round(y)) for x, y in vertices.tolist()]
    advance = round(glyph.linearHoriAdvance / 65536 * _WIDTH)
    return advance, _path_data(points, codes.tolist(), advance)
