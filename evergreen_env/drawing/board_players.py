"""The players in a picture: planet, points, points of the next scoring, powers, and the card of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evergreen_env.drawing.board_cards import drafted_card
from evergreen_env.drawing.board_planets import planet
from evergreen_env.drawing.view import Planet, View
from evergreen_env.state import POWER_NAMES, SOURCE_NAMES, STATE, Source
from evergreen_env.words import PLANET_FIELDS, POWER_WORDS, SHOWN_FIELDS
from tabletop_engine.decisions import check_table
from tabletop_engine.drawing.cached import cached_drawing
from tabletop_engine.drawing.owners import token
from tabletop_engine.drawing.panels import MUTED, STRONG, panel
from tabletop_engine.drawing.panes import Box
from tabletop_engine.drawing.svg import Markup, text, titled, use, width_of
from tabletop_engine.text.words import counted, joined

_PAD = 8
_BESIDE, _ABOVE_AND_BELOW = 118, 166
"""The room for a player's things: beside the planet, or above and below it together."""
_TALL = 360
"""The height of a wide panel from which on the name is above the planet."""
_NAME, _HEAD = 78, 46
"""The height of name and points beside the planet, and of all that is above it."""
_GAIN, _POWER, _CARD = 24.0, 31.0, 40.0
"""The heights of a row of gains, of a row of powers, and of a card, beside a planet."""


class PlayerParts(NamedTuple):
    """The parts of a player's panel, for small screens.

    Attributes:
        head: name and points above the planet; none if they are beside it.
        planet: the planet.
        things: what is beside or below it.
    """

    head: tuple[Box, ...]
    planet: Box
    things: tuple[Box, ...]


def player_parts(x: float, y: float, width: float, height: float) -> PlayerParts:
    """The parts of the panel that `player` draws there."""
    if width <= height:
        size = min(width - 2 * _PAD, height - _ABOVE_AND_BELOW)
        planet = (x + (width - size) / 2, y + _HEAD, size, size)
        return PlayerParts(((x, y, width, _HEAD),), planet, ((x, y + _HEAD + size, width, height - _HEAD - size),))
    above = height > _TALL
    size = min(height - 2 * _PAD - (40 if above else 0), width - 3 * _PAD - (_BESIDE - 10 if above else _BESIDE))
    planet = (x + _PAD, y + height - _PAD - size, size, size)
    left, room = x + size + 2 * _PAD, width - size - 3 * _PAD
    bottom = y + height - _PAD - 2
    top = y + height - _PAD - size + 16 if above else y + _PAD + _NAME
    spare = (bottom - top - 3 * _GAIN - 3 * _POWER - _CARD) / 2
    heights = [(top, 3 * _GAIN), (top + 3 * _GAIN + spare, 3 * _POWER), (bottom - _CARD - 2, _CARD + 4)]
    if not above:
        heights.insert(0, (y + _PAD, _NAME))
    head = ((x, y, width, planet[1] - y),) if above else ()
    return PlayerParts(head, planet, tuple((left, top, room, high) for top, high in heights))


@cached_drawing(
    STATE,
    ("players", "sun", "first_player", "next_first", "forfeited", "fertility"),
    ("points", "earned", "card", "level", "shown_level", *PLANET_FIELDS, *SHOWN_FIELDS),
)
def player(
    v: View, seat: int, x: float, y: float, width: float, height: float, won: bool, asked: bool, choices: int
) -> Markup:
    """The panel of a player. The player's things are beside the planet, or above and below it in a tall panel.

    `choices` is the set of spaces that can be chosen.
    """
    now = v.planet(seat, choices)
    levels = v.levels(seat)
    parts = [panel(x, y, width, height, **({"stroke": STRONG, "stroke_width": 3} if asked else {}))]
    at = player_parts(x, y, width, height)
    left, top, size, _ = at.planet
    drawn, head = planet(v, seat, now, left, top, size), _head(v, seat, x + 14, y + 8, width - 28, won)
    if width <= height:
        below = _below(v, seat, now, levels, x + 14, y + _HEAD + size, width - 28, height - _HEAD - size)
        parts += [*head, drawn, *below]
    else:
        parts.append(drawn)
        left += size + _PAD + 4
        room = x + width - _PAD - 4 - left
        if at.head:
            parts += head
            top += 16
            parts += _column(v, seat, now, levels, left, top, room, y + height - _PAD - 4 - top)
        else:
            parts += _name(v, seat, left, y + _PAD, room, won)
            points = str(v.points(seat))
            middle = y + _PAD + _NAME - 12
            parts.append(text(points, left + 1, middle, 32, bold=True))
            parts.append(text("points", left + width_of(points, 32, True) + 7, middle, 12.5, fill=MUTED))
            parts += _leaf(v, seat, left + room - 14, middle - 10)
            parts += _column(v, seat, now, levels, left, middle + 12, room, y + height - _PAD - 2 - middle - 12)
    return titled(
        v.names[seat],
        *parts,
        data_player=v.seats[seat],
        data_name=v.names[seat],
        data_points=str(v.points(seat)),
        data_light=str(now.light_points),
        data_forest_points=str(now.forest.bit_count()),
        data_fertility_points=str(v.fertility_points(now)),
        data_levels=joined(levels),
        data_first="1" if v.s.first_player == seat else None,
        data_asked="1" if asked else None,
        data_won="1" if won else None,
    )


def _tags(v: View, seat: int, won: bool) -> str:
    facts = {
        v.said[seat]: v.names[seat] != v.said[seat],
        "wins": won and v.s.players > 1,
        "forfeited": v.s.forfeited == seat,
    }
    return " · ".join(word for word, on in facts.items() if on)


def _name(v: View, seat: int, x: float, y: float, width: float, won: bool) -> Iterator[Markup]:
    """Token, name and the leaf of the first player, with notes in a second line."""
    tags = _tags(v, seat, won)
    room = width - 34
    name = v.names[seat]
    yield token(seat, None, x + 14, y + 18, 0.86)
    yield text(name, x + 34, y + (17 if tags else 23.5), 15.5, bold=True, fit=room, keep_end=True)
    if tags:
        yield text(tags, x + 34, y + 32, 12, bold=won, fit=room, fill=STRONG if won else MUTED)


def _leaf(v: View, seat: int, x: float, y: float) -> Iterator[Markup]:
    """The leaf of the first player; a white one for the first player of the next round."""
    if v.s.players > 1 and v.s.first_player == seat:
        yield titled("first player", use("first", x, y, 0.95))
    elif v.s.next_first == seat:
        yield titled("first player of the next round", use("next-first", x, y, 0.95))


def _gains(v: View, now: Planet, x: float, y: float, step: float, down: float) -> Iterator[Markup]:
    """The points of the next scoring and of the end, as things are now; (x, y) is the middle of the first icon."""
    gains = (
        ("light", now.light_points, "light", "light at the end of this season"),
        ("forest", now.forest.bit_count(), "forest", "the largest forest at the end of this season"),
        ("flower", v.fertility_points(now), "fertility", "the big trees at the end of the game"),
    )
    for i, (icon, number, word, meant) in enumerate(gains):
        left, middle = x + i * step, y + i * down
        yield titled(
            f"{counted(number, 'point')} for {meant}",
            use(icon, left, middle, 0.95),
            text(str(number), left + 20, middle + 6, 16.5, bold=True),
            text(word, left + 26 + width_of(str(number), 16.5, True), middle + 5.5, 12.5, fill=MUTED),
        )


def _powers(levels: Sequence[int], x: float, y: float, step: float, down: float, columns: int) -> Iterator[Markup]:
    """The icon and the level of each power; (x, y) is the middle of the first icon."""
    for i, level in enumerate(levels):
        row, column = divmod(i, columns)
        left, middle = x + column * step, y + row * down
        yield titled(
            f"{POWER_WORDS[i]}: level {level}",
            use(f"power-{POWER_NAMES[i]}", left, middle, 1.02),
            text(str(level), left + 20, middle + 6, 16.5, bold=level > 0, fill=None if level else MUTED),
            data_power=POWER_NAMES[i],
            data_level=str(level),
        )


def _column(
    v: View, seat: int, now: Planet, levels: Sequence[int], x: float, y: float, width: float, height: float
) -> Iterator[Markup]:
    """The column beside the planet: the next points, the powers, the card."""
    gain, power, card = _GAIN, _POWER, _CARD
    spare = (height - 3 * gain - 3 * power - card) / 2
    yield from _gains(v, now, x + 15, y + gain / 2, 0, gain)
    yield from _powers(levels, x + 15, y + 3 * gain + spare + power / 2, width / 2, power, 2)
    yield drafted_card(v, seat, x, y + height - card, width, card)


def _head(v: View, seat: int, x: float, y: float, width: float, won: bool) -> Iterator[Markup]:
    """The row above the planet."""
    points = str(v.points(seat))
    room = width_of(points, 30, True)
    yield from _name(v, seat, x, y, width - room - 110, won)
    yield from _leaf(v, seat, x + width - room - 76, y + 18)
    yield text("points", x + width - room - 8, y + 28, 13, anchor="end", fill=MUTED)
    yield text(points, x + width, y + 28, 30, bold=True, anchor="end")


def _below(
    v: View, seat: int, now: Planet, levels: Sequence[int], x: float, y: float, width: float, height: float
) -> Iterator[Markup]:
    card = 104.0
    row = (height - 20) / 2
    middle = y + 8 + row / 2
    yield from _gains(v, now, x + 15, middle, (width - card) / 3, 0)
    yield drafted_card(v, seat, x + width - card, middle - 20, card, 40)
    yield from _powers(levels, x + 15, middle + row, (width + 30) / 6, 0, 6)


_SOURCES = {Source.LIGHT: "light", Source.FOREST: "forest", Source.BUDS: "power-buds", Source.FERTILITY: "flower"}
check_table(_SOURCES, set(Source) - {Source.START})


def points_by_source(v: View, seat: int, x: float, y: float, width: float, height: float) -> Markup:
    """The sources of the points."""
    parts = [panel(x, y, width, height), text("Points so far", x + 14, y + 21, 15, bold=True)]
    down = (height - 36) / len(_SOURCES)
    for i, (source, icon) in enumerate(_SOURCES.items()):
        points = int(v.s.scored[seat, source])
        if source == Source.BUDS and v.sees(seat):
            points += int(v.s.earned[seat])
        middle = y + 30 + down * (i + 0.5)
        parts.append(use(icon, x + 26, middle, 0.9))
        parts.append(text(SOURCE_NAMES[source].capitalize(), x + 46, middle + 5, 14))
        parts.append(text(str(points), x + width - 16, middle + 5.5, 16, bold=True, anchor="end"))
    return titled("points so far, by what brought them", *parts)
