"""The game as one SVG picture.

    +--------------------------------------------------+
    | seasons and rounds, first player                 |   who is asked what
    +----------------------+---------------------------+
    | market, deck         | fertility zone            |
    +----------------------+---------------------------+
    | a panel for every player: planet, points, powers |   two beside each other, or two by two
    +--------------------------------------------------+
    | the last action in words                         |
    +--------------------------------------------------+

With one player the market and the zone are to the right of the planet; with three they are in place of the fourth
panel.

Every fact in the picture can also be read from `data-` attributes: of the document itself, of a group
for every player (`data-player`), space (`data-space`), slot of the market (`data-market`), biome of the fertility zone
(`data-fertility`), power (`data-power`), and for the piles of cards (`data-deck`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evergreen_env.drawing.board_cards import fertility_zone, market
from evergreen_env.drawing.board_players import player, player_parts, points_by_source
from evergreen_env.drawing.decisions import asked_text, winners
from evergreen_env.drawing.icons import defs
from evergreen_env.drawing.view import View
from evergreen_env.state import DECISION_NAMES, NO_CARD, NOBODY, NUM_SUNS, SEASON_NAMES, STATE, SUN_NAMES, State
from evergreen_env.words import tables_of
from tabletop_engine.drawing.cached import cached_drawing
from tabletop_engine.drawing.frame import FOOTER_TOP, MARGIN, SIZE, WIDTH, framed
from tabletop_engine.drawing.owners import Mark, mark, token
from tabletop_engine.drawing.panels import EDGE, MUTED, PANEL, panel
from tabletop_engine.drawing.panes import Box, Pane, Panes
from tabletop_engine.drawing.svg import (
    INK,
    Markup,
    circle,
    cut,
    text,
    titled,
    use,
    width_of,
)
from tabletop_engine.text.words import name_or_none, player_names

GAP = 8
_TOP = 88
_HEIGHT = FOOTER_TOP - GAP - _TOP
_HALF = (WIDTH - GAP) / 2
_HAND = ("market", "card")
_LONG_NAME = 340
"""The greatest width of a name in the sentence at the top."""


def render_svg(
    state: State,
    viewer: int | None = None,
    *,
    tables: np.ndarray | None = None,
    last_action: str = "",
    names: Sequence[str] | None = None,
) -> str:
    """`Drawing.render_svg`. What `render_text` hides from the viewer is not in the document.

    Raises `TabletopError` for a viewer who does not play and for a wrong number of names.
    """
    v = _view(state, viewer, tables, names)
    name = f"Evergreen: round {v.s.round} of {v.s.rounds}, {SEASON_NAMES[v.s.season]}"
    return framed(name, defs(), *_header(v), *_middle(v), last_action=last_action, **_facts(v))


def marks(players: int) -> list[Mark]:
    """`Drawing.marks`."""
    return [mark(seat) for seat in range(players)]


def _view(
    state: State, viewer: int | None, tables: np.ndarray | None = None, names: Sequence[str] | None = None
) -> View:
    return View.of(state, tables_of(tables), viewer, player_names(int(state.players)), names)


def _facts(v: View) -> dict[str, str | None]:
    s = v.s
    return {
        "data_players": str(s.players),
        "data_viewer": None if v.viewer is None else v.seats[v.viewer],
        "data_round": str(s.round),
        "data_rounds": str(s.rounds),
        "data_season": SEASON_NAMES[s.season],
        "data_sun": SUN_NAMES[s.sun],
        "data_first_player": v.seats[s.first_player],
        "data_next_first": name_or_none(v.seats, s.next_first),
        "data_decision": None if v.hides_turn else name_or_none(DECISION_NAMES, s.decision),
        "data_actor": name_or_none(v.seats, v.actor),
        "data_asked": asked_text(s, v.viewer, v.names),
        "data_winners": ",".join(v.seats[seat] for seat in winners(v.s)) or None,
    }


# --- the parts of the page --------------------------------------------------------------------------------------------


def _header(v: View) -> Iterator[Markup]:
    s = v.s
    yield panel(MARGIN, 10, WIDTH, 70)
    x = 0.0
    for drawing, wide, left in _seasons(v):
        yield drawing
        x = left + wide + 16
    if s.players > 1:
        label = f"First: {v.names[s.first_player]}"
        room = SIZE - 28 - x - 30
        yield text(label, SIZE - 28, 36, 15, anchor="end", fit=room, keep_end=True)
        yield use("first", SIZE - 44 - min(room, width_of(label, 15)), 31, 0.95)
    if v.actor != NOBODY:
        yield token(v.actor, None, 38, 60, 0.72)
    names = [cut(name, 17, _LONG_NAME, bold=True, keep_end=True) for name in v.names]
    left = 28 if v.actor == NOBODY else 54
    yield text(asked_text(s, v.viewer, names), left, 66, 17, bold=True, fit=SIZE - 36 - left)


def _season_boxes(s: State) -> list[tuple[float, float]]:
    """The left end and the width of the present season and of the next one."""
    return [(x, wide) for _, wide, x in _seasons(_view(s, None))][s.season : s.season + 2]


def _seasons(v: View) -> Iterator[tuple[Markup, float, float]]:
    """Each season with its width and its left end."""
    x, last = 26.0, 0
    for season, rounds in enumerate(v.t.season_rounds.tolist()):
        first, last = last + 1, min(last + rounds, int(v.s.rounds))
        drawing, wide = _season(v, season, first, last, x)
        yield drawing, wide, x
        x += wide + 16


@cached_drawing(STATE, ("round", "season"))
def _season(v: View, season: int, first: int, last: int, x: float) -> tuple[Markup, float]:
    """A season: its name, the side of the sun, and its rounds; and the width of all that."""
    s = v.s
    now, name = s.season == season, SEASON_NAMES[season].capitalize()
    sun = (int(v.t.sun_start) + season) % NUM_SUNS
    words = width_of(name, 14, now)
    parts = [
        use(f"side-{SUN_NAMES[sun]}", x + 13, 31),
        text(name, x + 31, 36, 14, bold=now, fill=None if now else MUTED),
    ]
    at = x + 31 + words + 17
    for i in range(first, last + 1):
        present = i == s.round
        fill, ink = (INK, "#ffffff") if present else ("#d5dde4", MUTED) if i < s.round else (PANEL, MUTED)
        parts.append(circle(at, 30.5, 10.5, fill, INK if present else EDGE, 1.2))
        parts.append(text(str(i), at, 35.3, 13, bold=present, anchor="middle", fill=ink))
        at += 23.5
    rounds = f"rounds {first} to {last}" if last > first else f"round {last}"
    words_of = f"{name}: {rounds}, the sun in the {SUN_NAMES[sun]}"
    return titled(words_of, *parts, data_season=SEASON_NAMES[season], data_sun=SUN_NAMES[sun]), at - 13 - x


class _Layout(NamedTuple):
    """Where the panels are below the header: of each player, the market, the zone, and the points in a game for one."""

    players: list[Box]
    market: Box
    zone: Box
    columns: int  # of the zone
    points: Box | None


def _layout(players: int) -> _Layout:
    if players == 1:
        wide, cards, points = 646.0, 190.0, 150.0
        left, rest = MARGIN + wide + GAP, WIDTH - wide - GAP
        zone = (left, _TOP + cards + GAP, rest, _HEIGHT - cards - points - 2 * GAP)
        sources = (left, _TOP + _HEIGHT - points, rest, points)
        return _Layout([(MARGIN, _TOP, wide, _HEIGHT)], (left, _TOP, rest, cards), zone, 2, sources)
    strip = {2: 172.0, 3: -GAP, 4: 146.0}[players]
    rows = 1 if players == 2 else 2
    high = (_HEIGHT - strip - rows * GAP) / rows
    panels: list[Box] = []
    for seat in range(players):
        row, column = divmod(seat, 2)
        left, top = MARGIN + column * (_HALF + GAP), _TOP + strip + GAP + row * (high + GAP)
        panels.append((left, top, _HALF, high))
    if players == 3:
        left, top, cards = MARGIN + _HALF + GAP, _TOP + high + GAP, 160.0
        return _Layout(panels, (left, top, _HALF, cards), (left, top + cards + GAP, _HALF, high - cards - GAP), 3, None)
    wide = {2: 400.0, 4: 458.0}[players]
    zone = (MARGIN + wide + GAP, _TOP, WIDTH - wide - GAP, strip)
    return _Layout(panels, (MARGIN, _TOP, wide, strip), zone, 6, None)


def _middle(v: View) -> Iterator[Markup]:
    """The panels of the players, and the cards beside, above or among them."""
    won, at = winners(v.s), _layout(int(v.s.players))
    for seat, panel_of in enumerate(at.players):
        yield player(v, seat, *panel_of, seat in won, v.actor == seat, v.choices(seat))
    yield from market(v, *at.market)
    yield from fertility_zone(v, *at.zone, at.columns)
    if at.points:
        yield points_by_source(v, 0, *at.points)


# --- on small screens -------------------------------------------------------------------------------------------------


def panes(state: State, viewer: int | None = None) -> Panes:
    """`Drawing.panes`: market, the viewer's planet, then the rest.

    On a large screen only three players and more need it, so that the viewer's planet is larger than the others'.
    """
    players, own = int(state.players), viewer or 0
    at = _layout(players)
    seasons: Box = (MARGIN, 12.0, WIDTH, 37.0)
    whole = (Pane((seasons,)), Pane(((MARGIN, _TOP, WIDTH, _HEIGHT),)))
    parts = player_parts(*at.players[own])
    cards = Pane((at.market, *([at.points] if at.points else [])), most=1.1)
    drafting = bool((state.market != NO_CARD).any())
    phone = [
        Pane(tuple((left - 7, seasons[1], wide + 14, seasons[3]) for left, wide in _season_boxes(state)), most=1.1),
        cards if drafting else cards._replace(words="Market"),
        *(Pane((part,)) for part in parts.head),
        Pane((parts.planet,), most=4),
        *([Pane(parts.things[:-1], most=1.3), Pane(parts.things[-1:], most=1.7)] if len(parts.things) > 1 else []),
        *([Pane(parts.things, most=1.3)] if len(parts.things) == 1 else []),
        Pane((at.zone,), most=1.3),
    ]
    others = [Pane((part,), owner=seat, most=1.2) for seat, part in enumerate(at.players) if seat != own]
    tablet = [Pane((seasons,)), Pane((at.market, at.zone), most=1.2), Pane((at.players[own],), most=4), *others]
    if players <= 2:
        return Panes((*phone, *others), whole, whole, _HAND)
    rest = Pane(tuple(part for seat, part in enumerate(at.players) if seat != own), most=0.75)
    desk = (Pane((seasons,)), Pane((at.market, at.zone)), Pane((at.players[own],), most=1.4), rest)
    return Panes((*phone, *others), tuple(tablet), desk, _HAND)
