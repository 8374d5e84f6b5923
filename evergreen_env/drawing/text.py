"""The game as text, at most 100 columns wide.

+--------------------------------+
| p0 player_0          23 points |
|    a   b   c   d   e   f   g   |
| 1          N   Nt* R   R       |   the biome's letter, # for a ravine; the piece: s sprout, t small tree, T big tree,
| 2  M   M   N   NT  #   R       |   b bush, l lake; * a tree that collects light under this season's sun
| ...                            |
| light 3, forest 2              |   what the planet would score now
| levels s1 t0 T0 b2 l0 p0       |   of the powers, p for buds
+--------------------------------+
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from evergreen_env.config import Config
from evergreen_env.drawing.decisions import asked_text, hides_actor, result_text
from evergreen_env.drawing.view import Planet, View
from evergreen_env.rules.fertility import is_face_down
from evergreen_env.state import (
    BIOME_NAMES,
    COLUMNS,
    NO_CARD,
    NOBODY,
    NUM_BIOMES,
    NUM_POWERS,
    PLACE_NAMES,
    ROWS,
    SEASON_NAMES,
    SOURCE_NAMES,
    SUN_NAMES,
    Decision,
    State,
)
from evergreen_env.tables import Tables
from evergreen_env.words import (
    PIECE_WORDS,
    POWER_WORDS,
    biome_letters,
    card_word,
    cards_in,
    icons_word,
    places_in,
    tables_of,
)
from tabletop_engine.drawing.lines import Block, Cells, Size, Tiles, Words, joined
from tabletop_engine.text.terminal import BOLD, painted
from tabletop_engine.text.terminal import COLUMNS as WIDTH
from tabletop_engine.text.words import counted, player_names

PIECE_LETTERS = "stTbl"
_LEVEL_LETTERS = "stTblp"
_CELL, _OWN_CELL, _OTHERS_CELL = 4, 3, 2
"""The columns of a space: in the wide form, and in the small one on the viewer's planet and on the others'."""
OWNER_PAINTS = tuple(f"\x1b[38;5;{number}m" for number in (32, 172, 35, 175))
"""The players' colours of the pictures, in terminals."""

Paint = Callable[[str, str], str]
"""A function that colours a text, or returns it unchanged."""


def render_text(
    state: State,
    viewer: int | None = None,
    colour: bool = False,
    tables: np.ndarray | None = None,
    size: Size = "wide",
) -> str:
    """`Drawing.render_text`, without a newline at the end. Others' planets are as they were after the last round."""
    return joined(text_blocks(state, viewer, colour, tables, size))


def text_blocks(
    state: State,
    viewer: int | None = None,
    colour: bool = False,
    tables: np.ndarray | None = None,
    size: Size = "wide",
    asked: bool = True,
) -> list[Block]:
    """`Drawing.text_blocks`.

    In the small form a space of another's planet is its piece or, without one, its biome. The compact one has a line
    for each player, without the map and colours.
    """
    t, names = tables_of(tables), player_names(state.players)
    v = View(state, t, viewer, names, names)
    paint = partial(painted, colour=colour and size != "compact")
    heading = _heading(state, viewer, paint, asked and size == "wide")
    notes, seats = list(_table(state, t)), range(state.players)
    if size == "compact":
        return [Words([*heading, *(_planet_line(v, seat) for seat in seats), *notes])]
    letters, blank = biome_letters(t), Words([""])
    below = Words([part for line in notes for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ")])
    if size == "small":  # what is above the planets may scroll away
        own = viewer or 0
        in_order = {own: _OWN_CELL} | {seat: _OTHERS_CELL for seat in seats if seat != own}
        planets = [_planet(v, letters, seat, paint, cell) for seat, cell in in_order.items()]
        return [below, blank, Words(heading), Cells([planets], [_width(cell) for cell in in_order.values()])]
    planets = [_planet(v, letters, seat, paint, _CELL) for seat in seats]
    beside = 2 if state.players == 4 else state.players
    rows = [planets[first : first + beside] for first in range(0, len(planets), beside)]
    return [Words([*heading, ""]), Tiles(rows, _width(_CELL)), blank, below]


def _planet_line(v: View, seat: int) -> str:
    now, levels = v.planet(seat, 0), zip(POWER_WORDS, v.levels(seat), strict=True)
    parts = [
        counted(v.points(seat), "point"),
        f"light {now.light_points} (trees with *), forest {now.forest.bit_count()}",
        "levels " + ", ".join(f"{word} {level}" for word, level in levels),
    ]
    for word, spaces in zip(PIECE_WORDS, now.pieces, strict=True):
        there = [PLACE_NAMES[place] + "*" * (now.lit >> place & 1) for place in places_in(spaces)]
        parts += [f"{word} {' '.join(there)}"] if there else []
    return f"p{seat}: {'; '.join(parts)}"


# --- what is played, and the sources of points -----------------------------------------------------------------------


def about(config: Config) -> list[str]:
    """`Words.about`."""
    parts = ["solo" if config.solo else f"{config.players} players"]
    return parts + (["with an overlay"] if config.components else [])


def sources(state: State) -> list[tuple[str, list[int]]]:
    """`Words.sources`."""
    by_source = zip(SOURCE_NAMES, state.scored[: state.players].T.tolist(), strict=True)
    return [(name, points) for name, points in by_source if any(points)]


def projected(state: State, viewer: int | None = None, tables: np.ndarray | None = None) -> list[tuple[str, list[int]]]:
    """`Words.projected`: the end of this season, and of the game, if everything stayed as the viewer knows it."""
    names = player_names(state.players)
    v, seats = View(state, tables_of(tables), viewer, names, names), range(state.players)
    planets = [v.planet(seat, 0) for seat in seats]
    return [
        ("light this season", [planet.light_points for planet in planets]),
        ("largest forest this season", [planet.forest.bit_count() for planet in planets]),
        ("fertility at the end", [v.fertility_points(planet) for planet in planets]),
        ("buds", [int(state.earned[seat]) if v.sees(seat) else 0 for seat in seats]),
    ]


# --- who is asked what -----------------------------------------------------------------------------------------------


def _heading(s: State, viewer: int | None, paint: Paint, asked: bool) -> list[str]:
    names = player_names(s.players)
    place = f"Round {s.round} of {s.rounds}, {SEASON_NAMES[s.season]}, sun in the {SUN_NAMES[s.sun]}"
    if s.decision == Decision.GAME_OVER:
        return [paint(f"Round {s.round} of {s.rounds}, game over: {result_text(s, names)}", BOLD)]
    first = f", first player {names[s.first_player]}" if s.players > 1 else ""
    lines = [paint(place + first, BOLD)]
    if asked or hides_actor(s, viewer):
        lines.append(asked_text(s, viewer, names))
    return lines


# --- the planets -----------------------------------------------------------------------------------------------------


def _planet(v: View, letters: list[str], seat: int, paint: Paint, cell: int) -> list[str]:
    """The lines of a planet whose spaces have this many columns: 4, in the small form 3, or 2 without names of rows."""
    now, wide, others = v.planet(seat, 0), cell == _CELL, cell == _OTHERS_CELL
    name = f"p{seat}" if others else f"p{seat} {v.names[seat]}"
    score = counted(v.points(seat), "point") if wide else str(v.points(seat))
    lines = [paint(name + score.rjust(_width(cell) - len(name)), OWNER_PAINTS[seat])]
    cells = _cells(now, letters)
    if others:
        cells = [text[1:] or text for text in cells]
    rows = ["abcdefg", *(cells[first : first + COLUMNS] for first in range(0, ROWS * COLUMNS, COLUMNS))]
    for number, texts in enumerate(rows):
        margin = " " if others else f"{number or ' '} "
        lines.append(margin + "".join(f"{text:<{cell}}" for text in texts).rstrip())
    light, forest = now.light_points, now.forest.bit_count()
    pairs = [f"{letter}{level}" for letter, level in zip(_LEVEL_LETTERS, v.levels(seat), strict=True)]
    lines.append(f"light {light} for {forest}" if others else f"light {light}, forest {forest}")
    return [*lines, "levels " * wide + ("" if others else " ").join(pairs)]


def _width(cell: int) -> int:
    """The columns of a planet, with the names of its rows."""
    return cell * COLUMNS + (1 if cell == _OTHERS_CELL else 2)


def _cells(now: Planet, letters: list[str]) -> list[str]:
    """What is in each place: the letter of its biome, that of its piece, and a star on a tree that is lit."""
    cells = letters.copy()
    for letter, spaces in zip(PIECE_LETTERS, now.pieces, strict=True):
        for place in places_in(spaces):
            cells[place] += letter + "*" * (now.lit >> place & 1)
    return cells


# --- cards and fertility ---------------------------------------------------------------------------------------------


def _table(s: State, t: Tables) -> Iterator[str]:
    market = [
        f"{slot + 1} {card_word(card)} ({icons_word(t, card)}{', marked' if slot == s.marker else ''})"
        for slot, card in enumerate(s.market.tolist())
        if card != NO_CARD
    ]
    if market:
        yield f"Market: {'; '.join(market)}."
    names = player_names(s.players)
    cards = [f"{names[seat]} {card_word(int(s.card[seat]))}" for seat in range(s.players) if s.card[seat] != NO_CARD]
    if cards:
        yield f"Cards of this round: {'; '.join(cards)}."
    if s.next_first != NOBODY:
        yield f"{names[s.next_first]} is first in the next round."
    yield "Fertility: " + ", ".join(f"{BIOME_NAMES[biome]} {s.fertility[biome]}" for biome in range(NUM_BIOMES)) + "."
    zone = [
        f"{BIOME_NAMES[card // NUM_POWERS]} {'face down' if is_face_down(s, card) else icons_word(t, card)}"
        for card in s.zone[: s.zone_size].tolist()
    ]
    yield f"Fertility zone: {', '.join(zone) or 'empty'}."
    deck, discards, collected = (
        counted(len(list(cards_in(cards))), "card") for cards in (s.deck, s.discards, s.collected)
    )
    yield f"Deck: {deck}.  Discards: {discards}.  Collected this season: {collected}."
