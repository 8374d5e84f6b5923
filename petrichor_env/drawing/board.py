"""The game as one SVG picture, with the same layout for any number of players and all modules.

    +--------------------------------------------------+
    | round, phase, first player                       |   who is asked what
    +------------------------------+-------------------+
    | the Fields                   | weather and votes |
    | (solo: beside them the       | Harvest dice      |
    |  Southern Winds cards)       | deck, discards    |
    +------------------------------+-------------------+
    | a row for every owner                            |
    +--------------------------------------------------+
    | the last action in words                         |
    +--------------------------------------------------+

Every fact in the picture can also be read from `data-` attributes: of the document itself, of a group
for every tile (`data-tile`), owner (`data-owner`), weather space (`data-weather`), Southern Winds card
(`data-winds-card`), and for dice and stocks. What can be clicked, such as a cloud or the cards of a kind in a hand, is
a group with an attribute too: `places` tells which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.drawing.board_fields import GAP, fields
from petrichor_env.drawing.board_owners import NUMBERS_END, TITLES, own_cards, owners_table, row_parts
from petrichor_env.drawing.board_panels import (
    harvest_dice,
    module_notes,
    notes_height,
    southern_winds,
    stocks,
    weather_wheel,
)
from petrichor_env.drawing.decisions import asked_text, hides_actor, winners
from petrichor_env.drawing.icons import defs, owner_shape
from petrichor_env.drawing.pieces import View, owner_token
from petrichor_env.drawing.text import size_of_fields
from petrichor_env.state import (
    DECISION_NAMES,
    NOBODY,
    PHASE_NAMES,
    WEATHER_NAMES,
    Module,
    Phase,
    State,
)
from petrichor_env.words import owner_names
from tabletop_engine.decisions import check_table
from tabletop_engine.drawing.frame import FOOTER_TOP, MARGIN, SIZE, WIDTH, framed
from tabletop_engine.drawing.owners import Mark, mark
from tabletop_engine.drawing.panels import EDGE, MUTED, PANEL, panel
from tabletop_engine.drawing.panes import Box, Pane, Panes
from tabletop_engine.drawing.svg import (
    INK,
    Markup,
    box,
    circle,
    cut,
    text,
    use,
    width_of,
)
from tabletop_engine.presentation import Facts
from tabletop_engine.text.words import name_or_none

_TOP = 88
_FIELDS_WIDTH = 600
_SIDE_LEFT, _SIDE_WIDTH = 624, 324
_ROW = 47.0
_FORECAST_ROWS = 62.0
_PHASE_WORDS = {
    Phase.SETUP: "setup",
    Phase.ACTION: "action phase",
    Phase.WEATHER: "weather phase",
    Phase.HARVEST: "harvest phase",
    Phase.CLEANUP: "clean-up",
    Phase.OVER: "game over",
}
check_table(_PHASE_WORDS, Phase)
PHASES_END = 590.0
"""The width of rounds and phases at the top, without the first player."""
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
    """The whole game as a square SVG document, without scripts, fonts or anything else from outside.

    Arguments:
        state: one record of dtype STATE.
        viewer: the seat that looks on. What `render_text` hides from it is not in the document. None shows everything.
        tables: (1,) TABLES that the game is played with; None for the shipped numbers.
        last_action: one or two sentences about what happened, for the last line.
        names: labels of the seats, such as the agents' names; None for `player_0` and so on.

    Raises `TabletopError` for a viewer who does not play and for a wrong number of names.
    """
    v = _view(state, viewer, tables, names)
    name = f"Petrichor: round {v.s.round} of {v.s.rounds}, {PHASE_NAMES[v.s.phase]}"
    return framed(name, defs(), *_header(v), *_middle(v), last_action=last_action, **_facts(v))


def _view(
    state: State, viewer: int | None, tables: np.ndarray | None = None, names: Sequence[str] | None = None
) -> View:
    t = (load_tables() if tables is None else tables)[0]
    return View.of(state, t, viewer, owner_names(state.players), names)


# --- the pending decision ---------------------------------------------------------------------------------------------


def facts(state: State, viewer: int | None = None, names: Sequence[str] | None = None) -> Facts:
    """`Words.facts`."""
    v = _view(state, viewer, names=names)
    phase, asked = _PHASE_WORDS[Phase(state.phase)], asked_text(state, viewer, v.names)
    return Facts(phase, asked, v.actor, hides_actor(state, viewer))


def marks(players: int) -> list[Mark]:
    """`Drawing.marks`."""
    return [mark(owner_shape(players, owner)) for owner in range(len(owner_names(players)))]


def _facts(v: View) -> dict[str, str | None]:
    s = v.s
    return {
        "data_players": str(v.s.players),
        "data_viewer": None if v.viewer is None else v.seats[v.viewer],
        "data_round": str(s.round),
        "data_rounds": str(s.rounds),
        "data_phase": PHASE_NAMES[s.phase],
        "data_first_player": v.seats[s.first_player],
        "data_passed": name_or_none(v.seats, s.passed),
        "data_decision": name_or_none(DECISION_NAMES, s.decision),
        "data_actor": name_or_none(v.seats, v.actor),
        "data_asked": asked_text(v.s, v.viewer, v.names),
        "data_selected": ",".join(name for name, on in zip(WEATHER_NAMES, s.selected, strict=True) if on),
        "data_resolving": name_or_none(WEATHER_NAMES, s.weather),
        "data_winners": ",".join(v.seats[seat] for seat in winners(s)) or None,
    }


# --- the parts of the page --------------------------------------------------------------------------------------------

_PHASES_OF_A_ROUND = (Phase.ACTION, Phase.WEATHER, Phase.HARVEST, Phase.CLEANUP)


def _header(v: View) -> Iterator[Markup]:
    s, now = v.s, v.s.round
    yield panel(MARGIN, 10, WIDTH, 70)
    yield text("Round", 28, 36, 16, bold=True)
    x = 98.0
    for i in range(1, s.rounds + 1):
        fill, ink = (INK, "#ffffff") if i == now else ("#d5dde4", MUTED) if i < now else (PANEL, MUTED)
        yield circle(x, 30.5, 12, fill, INK if i == now else EDGE, 1.2)
        yield text(str(i), x, 36, 15, bold=i == now, anchor="middle", fill=ink)
        x += 29
    yield from _phases(v, x + 14)
    if v.actor != NOBODY:
        yield owner_token(v, v.actor, None, 38, 60, 0.72)
    names = [cut(name, 17, _LONG_NAME, bold=True, keep_end=True) for name in v.names]
    yield text(asked_text(v.s, v.viewer, names), 28 if v.actor == NOBODY else 54, 66, 17, bold=True, fit=SIZE - 90)


def _phases(v: View, x: float) -> Iterator[Markup]:
    phase = Phase(v.s.phase)
    for shown in _PHASES_OF_A_ROUND if phase in _PHASES_OF_A_ROUND else (phase,):
        now, word = shown == phase, _PHASE_WORDS[shown].removesuffix(" phase").capitalize()
        width = width_of(word, 15, now) + 22
        if now:
            yield box(x, 18.5, width, 24, 12, fill=INK)
        yield text(word, x + width / 2, 36, 15, bold=now, anchor="middle", fill="#ffffff" if now else MUTED)
        x += width + 4
    if v.s.players > 1:
        label = f"First: {v.names[v.s.first_player]}"
        yield text(label, SIZE - 28, 36, 15, anchor="end", fit=200, keep_end=True)
        yield use("umbrella", SIZE - 44 - min(200, width_of(label, 15)), 31)


class _Layout(NamedTuple):
    """Where things are below the header: sizes of a tile, the height of the Fields, and of what is beside and below."""

    tile_width: float
    tile_height: float
    height: float
    wheel: float
    dice: float
    stocks: float
    notes: float
    rows: list[float]

    @property
    def side(self) -> list[tuple[float, float]]:
        """The top and the height of each panel in the column on the right."""
        heights = [self.wheel, self.dice, self.stocks, *([self.notes] if self.notes else [])]
        tops = accumulate((height + GAP for height in heights[:-1]), initial=float(_TOP))
        return list(zip(tops, heights, strict=True))

    @property
    def owners(self) -> float:
        """The top of the owners' table."""
        return _TOP + self.height + GAP


def _layout(s: State) -> _Layout:
    columns, rows = size_of_fields(s.players)
    tile_width = (_FIELDS_WIDTH - 2 * GAP) / 3 if columns < 4 else (_FIELDS_WIDTH - 3 * GAP) / 4
    tall = s.players <= 2 and s.modules[[Module.POWERS, Module.FORECASTS]].any()  # these need room for words
    owners = [_ROW + (_FORECAST_ROWS if tall and seat < s.players else 0) for seat in range(s.owners)]
    room = FOOTER_TOP - GAP - _TOP - GAP - TITLES - sum(owners)
    tile_height = min((room - (rows - 1) * GAP) / rows, tile_width * 1.18)
    height = rows * tile_height + (rows - 1) * GAP
    more = (room - height) / s.owners
    notes = notes_height(s)
    beside = height - (notes + GAP if notes else 0) - 2 * GAP
    dice, stock = max(66, 0.155 * beside), max(104, 0.21 * beside)
    owners = [row + more for row in owners]
    return _Layout(tile_width, tile_height, height, beside - dice - stock, dice, stock, notes, owners)


def _middle(v: View) -> Iterator[Markup]:
    """The Fields and the pieces beside them, then the owners in the remaining room."""
    at = _layout(v.s)
    yield from fields(v, MARGIN, _TOP, at.tile_width, at.tile_height)
    if v.s.players == 1:
        left = MARGIN + 2 * (at.tile_width + GAP)
        yield from southern_winds(v, left, _TOP, at.tile_width, at.height)
    for draw, (top, height) in zip((weather_wheel, harvest_dice, stocks, module_notes), at.side, strict=False):
        yield from draw(v, _SIDE_LEFT, top, _SIDE_WIDTH, height)
    yield from owners_table(v, MARGIN, at.owners, WIDTH, at.rows, winners(v.s))


# --- on small screens -------------------------------------------------------------------------------------------------


def panes(state: State, viewer: int | None = None) -> Panes:
    """`Drawing.panes`: on a phone the Fields, what the viewer has, then the rest."""
    s, at, wide = state, _layout(state), float(WIDTH)
    rounds = (float(MARGIN), 12.0, wide, 37.0)
    whole = (Pane((rounds,)), Pane(((MARGIN, _TOP, wide, FOOTER_TOP - GAP - _TOP),)))
    tops = list(accumulate(at.rows, initial=at.owners + TITLES))
    own = viewer or 0
    cards = tuple(own_cards(s, MARGIN, tops[own], min(at.rows[own], _ROW) - 5))
    rows: list[Box] = [(MARGIN, top, wide, high - 5) for top, high in zip(tops, at.rows, strict=False)]
    tablet = (
        Pane((rounds,)),
        Pane(((MARGIN, _TOP, wide, at.height),)),
        Pane(((MARGIN, at.owners, wide, TITLES),)),
        Pane((rows[own],)),
        Pane(cards),
        *(Pane((row,)) for seat, row in enumerate(rows) if seat != own),
    )
    wheel, dice, stock, *notes = ((_SIDE_LEFT, top, _SIDE_WIDTH, height) for top, height in at.side)
    phone = [
        Pane(((*rounds[:2], PHASES_END, rounds[3]),)),
        Pane(((MARGIN, _TOP, _FIELDS_WIDTH, at.height),)),
        Pane(((MARGIN, at.owners, NUMBERS_END, TITLES),)),
        Pane(((MARGIN, tops[own], NUMBERS_END, min(at.rows[own], _ROW) - 5),)),
        *(Pane((part,)) for part in cards),
        Pane((wheel,), most=max(0.7, min(1.2, 240 / at.wheel))),
        Pane((dice,), most=1.2),
        Pane((stock,), words="Deck and discards"),
        *(Pane((part,), words="Forecast cards") for part in notes),
    ]
    for seat in range(s.owners):
        if seat != own:
            high = min(at.rows[seat], _ROW) - 5
            parts = row_parts(s, viewer is None, MARGIN, tops[seat], wide, high)
            phone += [Pane((part,), owner=seat) for part in parts]
    return Panes(tuple(phone), tablet, whole, ("hand-card", "pack-card", "forecast"))
