"""A planet in a picture: its spaces and pieces, the sun, the shadows, the largest forest.

In the units of a planet a space is `icons.SPACE` wide, and (0, 0) is the middle of the grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from evergreen_env.drawing.icons import GOLD, GOLD_EDGE, SIDES, SPACE
from evergreen_env.drawing.view import Planet, View, shaded
from evergreen_env.state import (
    BIOME_NAMES,
    COLUMNS,
    PIECE_NAMES,
    PLACE_NAMES,
    ROWS,
    STATE,
    SUN_NAMES,
    Piece,
    Sun,
)
from evergreen_env.words import PIECE_WORDS, places_in
from tabletop_engine.drawing.cached import cached_drawing
from tabletop_engine.drawing.outlines import placed
from tabletop_engine.drawing.panels import MUTED, STRONG
from tabletop_engine.drawing.svg import INK, Markup, element, group, number, path, text, titled, use

_RAVINE = -1
_NO_PIECE = -1
_RIM = 159.0
"""The distance from the middle of a planet to the straight parts of its edge."""
_SUN_REACH = 17.0
"""The distance that the sun stands out."""
SIZE = 2 * _RIM + _SUN_REACH + 2
"""The width and height of the drawing by `planet`, in the units of a planet."""
_ROUND = 62.0
"""The radius of the corners of a planet."""
_INNER = _RIM - _ROUND
_OUTLINE = (  # a path, since renderers differ in the corners of a `rect`
    f"M{-_INNER} {-_RIM}H{_INNER}A{_ROUND} {_ROUND} 0 0 1 {_RIM} {-_INNER}V{_INNER}"
    f"A{_ROUND} {_ROUND} 0 0 1 {_INNER} {_RIM}H{-_INNER}A{_ROUND} {_ROUND} 0 0 1 {-_RIM} {_INNER}V{-_INNER}"
    f"A{_ROUND} {_ROUND} 0 0 1 {-_INNER} {-_RIM}Z"
)
_SCALES = (0.74, 0.84, 0.94, 0.88, 0.86)
"""The scales of the drawings of pieces, by Piece."""
_TREES = (Piece.SMALL_TREE, Piece.BIG_TREE)
_WIDTHS = {1: 24.0, 2: 30.0}
"""The widths of shadows, by their length."""
_AIR, _AIR_EDGE = "#bccbd5", "#93a8b6"


@cached_drawing(STATE, ("players",))
def planet(v: View, seat: int, now: Planet, x: float, y: float, size: float) -> Markup:
    """The planet of a player with all that is on it, in the square with its corner at (x, y)."""
    scale = size / SIZE
    right, down = SIDES[now.sun]
    shift = _SUN_REACH / 2  # away from the sun, to make room for it
    middle = x + size / 2 - right * shift * scale, y + size / 2 - down * shift * scale
    return titled(
        f"{v.names[seat]}'s planet, the sun in the {SUN_NAMES[now.sun]}",
        group(
            path(_OUTLINE, _AIR, _AIR_EDGE, 1.5),
            _sun(now.sun),
            *_labels(now.sun),
            *_spaces(v, now),
            element(
                "g",
                *_shadows(now, int(v.t.outline)),
                *_forest(now.forest),
                *_pieces(now),
                pointer_events="none",
            ),
            x=middle[0],
            y=middle[1],
            scale=scale,
        ),
        data_planet=v.seats[seat],
        data_sun=SUN_NAMES[now.sun],
        data_light_points=str(now.light_points),
        data_forest=",".join(PLACE_NAMES[place] for place in places_in(now.forest)),
    )


def _middle(place: int) -> tuple[float, float]:
    row, column = divmod(place, COLUMNS)
    return (column - (COLUMNS - 1) / 2) * SPACE, (row - (ROWS - 1) / 2) * SPACE


# --- the sun and the names of places ----------------------------------------------------------------------------------


@lru_cache(maxsize=len(Sun))
def _sun(sun: int) -> Markup:
    """The sun at its side of the planet, which is bright there."""
    right, low = SIDES[sun]
    corner = _INNER + _ROUND * 0.7071
    arc = f"A{_ROUND} {_ROUND} 0 0 1"
    bright = f"M{-corner:.4g} {-corner:.4g}{arc} {-_INNER} {-_RIM}H{_INNER}{arc} {corner:.4g} {-corner:.4g}"
    turn = f"rotate({90 * sun})" if sun else None
    return element(
        "g",
        element("g", path(bright, None, GOLD_EDGE, 5.5), path(bright, None, GOLD, 3.6), transform=turn),
        use("sun", right * _RIM, low * _RIM, 0.95),
    )


@lru_cache(maxsize=len(Sun))
def _labels(sun: int) -> tuple[Markup, ...]:
    """The letters of columns and the numbers of rows, on sides without the sun."""
    edge = (COLUMNS * SPACE / 2 + _RIM) / 2 - 1
    down, right = (-edge if sun == Sun.SOUTH else edge), (edge if sun == Sun.WEST else -edge)
    letters = (text("abcdefg"[i], _middle(i)[0], down + 4.2, 13, anchor="middle", fill=MUTED) for i in range(COLUMNS))
    rows = (
        text(str(i + 1), right, _middle(COLUMNS * i)[1] + 4.5, 13, anchor="middle", fill=MUTED) for i in range(ROWS)
    )
    return (*letters, *rows)


# --- spaces -----------------------------------------------------------------------------------------------------------


def _standing(now: Planet) -> dict[int, int]:
    """The Piece of each space that is not empty."""
    return {place: piece for piece, spaces in enumerate(now.pieces) for place in places_in(spaces)}


def _spaces(v: View, now: Planet) -> Iterator[Markup]:
    """The grounds of the spaces, each with a title and the attributes of its space."""
    standing = _standing(now)
    for place in places_in(int(v.t.outline)):
        bit = 1 << place
        shadow = "big" if now.big_shadow & bit else "small" if now.small_shadow & bit else None
        piece = standing.get(place, _NO_PIECE)
        yield _space(place, v.biomes[place], piece, bool(now.lit & bit), shadow, bool(now.choices & bit))


@lru_cache(maxsize=8192)
def _space(place: int, biome: int, piece: int, lit: bool, shadow: str | None, choice: bool) -> Markup:
    ground = "ravine" if biome == _RAVINE else BIOME_NAMES[biome]
    words = f"{PLACE_NAMES[place]} {ground}"
    if piece != _NO_PIECE:
        light = "" if piece not in _TREES else ", lit" if lit else ", in shadow"
        words += f": {PIECE_WORDS[piece]}{light}"
    return titled(
        words,
        use(f"ground-{ground}", *_middle(place)),
        data_space=PLACE_NAMES[place],
        data_biome=ground,
        data_piece=None if piece == _NO_PIECE else PIECE_NAMES[piece],
        data_lit=str(int(lit)) if piece in _TREES else None,
        data_shadow=shadow,
        data_choice="1" if choice else None,
    )


def _pieces(now: Planet) -> Iterator[Markup]:
    """The pieces in the spaces, and corners around the spaces that can be chosen."""
    for place, piece in _standing(now).items():
        yield from _piece(place, piece, bool(now.lit >> place & 1))
    if now.choices:
        corners = "".join(placed(_CORNERS, 0, *_middle(place)) for place in places_in(now.choices))
        yield path(corners, None, "#ffffff", 4.6)
        yield path(corners, None, STRONG, 2.2)


@lru_cache(maxsize=1024)
def _piece(place: int, piece: int, lit: bool) -> tuple[Markup, ...]:
    name, (x, y), scale = PIECE_NAMES[piece], _middle(place), _SCALES[piece]
    if lit:
        return use(f"piece-glow-{name}", x, y, scale), use(f"piece-{name}", x, y, scale)
    return (use(f"piece-{name}{'-dark' if piece in _TREES else ''}", x, y, scale),)


_CORNERS = "M-16-9L-16-16L-9-16M9-16L16-16L16-9M16 9L16 16L9 16M-9 16L-16 16L-16 9"


def _shadows(now: Planet, outline: int) -> Iterator[Markup]:
    """The shadows from each tree away from the sun, within the planet. Shadows that meet become one."""
    big = now.pieces[Piece.BIG_TREE]
    small = now.pieces[Piece.SMALL_TREE]
    for spaces, length, opacity in ((small, 1, 0.24), (big, 2, 0.36)):
        bars = ""
        for place in places_in(spaces):
            first = shaded(1 << place, now.sun)
            reach = first | (shaded(first, now.sun) if length == 2 else 0)
            if length == 1 and first & now.big_shadow:
                continue  # it is in the shadow of a big tree
            steps = (reach & outline).bit_count() if first & outline else 0
            if steps:
                x, y = _middle(place)
                bars += placed(_bar(_WIDTHS[length], steps), 90 * now.sun, x, y)
        if bars:
            yield path(bars, INK, fill_opacity=str(opacity))


@lru_cache(maxsize=8)
def _bar(width: float, steps: int) -> str:
    """A shadow southwards, from the foot of a tree to the end of the last space in it."""
    half, end = width / 2, (steps + 0.5) * SPACE - 3
    round_end = f"L{number(half)} {number(end - 9)}Q{number(half)} {number(end)} {number(half - 9)} {number(end)}"
    round_end += f"L{number(9 - half)} {number(end)}Q{number(-half)} {number(end)} {number(-half)} {number(end - 9)}"
    return f"M{number(-half)} 0L{number(half)} 0{round_end}Z"


def _forest(forest: int) -> Iterator[Markup]:
    """A line around the spaces of the largest forest."""
    half, line = SPACE / 2, ""
    for place in places_in(forest):
        x, y = _middle(place)
        row, column = divmod(place, COLUMNS)
        left, right, top, bottom = x - half, x + half, y - half, y + half
        if row == 0 or not forest >> place - COLUMNS & 1:
            line += f"M{number(left)} {number(top)}H{number(right)}"
        if row == ROWS - 1 or not forest >> place + COLUMNS & 1:
            line += f"M{number(left)} {number(bottom)}H{number(right)}"
        if column == 0 or not forest >> place - 1 & 1:
            line += f"M{number(left)} {number(top)}V{number(bottom)}"
        if column == COLUMNS - 1 or not forest >> place + 1 & 1:
            line += f"M{number(right)} {number(top)}V{number(bottom)}"
    if line:
        yield path(line, None, "#ffffff", 5.6)
        yield path(line, None, "#14401f", 2.8)
