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
from typing import Any

import numpy as np

from evergreen_env.config import Config
from evergreen_env.drawing.decisions import asked_text, hides_actor, result_text
from evergreen_env.rules.fertility import is_face_down
from evergreen_env.rules.planet import largest_forest, light_points, lit_big_trees, lit_small_trees
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
    Piece,
    State,
)
from evergreen_env.tables import Tables
from evergreen_env.words import (
    PIECE_WORDS,
    PLANET_FIELDS,
    POWER_WORDS,
    SHOWN_FIELDS,
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
    t = tables_of(tables)
    paint = partial(painted, colour=colour and size != "compact")
    heading = _heading(state, viewer, paint, asked and size == "wide")
    notes, seats = list(_table(state, t)), range(state.players)
    if size == "compact":
        return [Words([*heading, *(_planet_line(state, seat, viewer) for seat in seats), *notes])]
    letters, blank = biome_letters(t), Words([""])
    below = Words([part for line in notes for part in textwrap.wrap(line, WIDTH, subsequent_indent="    ")])
    if size == "small":  # what is above the planets may scroll away
        own = viewer or 0
        in_order = {own: _OWN_CELL} | {seat: _OTHERS_CELL for seat in seats if seat != own}
        planets = [_planet(state, letters, seat, viewer, paint, cell) for seat, cell in in_order.items()]
        return [below, blank, Words(heading), Cells([planets], [_width(cell) for cell in in_order.values()])]
    planets = [_planet(state, letters, seat, viewer, paint, _CELL) for seat in seats]
    beside = 2 if state.players == 4 else state.players
    rows = [planets[first : first + beside] for first in range(0, len(planets), beside)]
    return [Words([*heading, ""]), Tiles(rows, _width(_CELL)), blank, below]


def _planet_line(s: State, seat: int, viewer: int | None) -> str:
    shown = viewer not in (None, seat)
    fields = SHOWN_FIELDS if shown else PLANET_FIELDS
    small, big, bushes, lit = _growing(s, seat, shown)
    forest = int(largest_forest(small | big | bushes)).bit_count()
    parts = [
        counted(points_seen(s, seat, viewer), "point"),
        f"light {light_points(small, big, s.sun)} (trees with *), forest {forest}",
        "levels "
        + ", ".join(
            f"{word} {level}"
            for word, level in zip(POWER_WORDS, (s.shown_level if shown else s.level)[seat].tolist(), strict=True)
        ),
    ]
    for piece in Piece:
        there = [PLACE_NAMES[place] + "*" * (lit >> place & 1) for place in places_in(s[fields[piece]][seat])]
        parts += [f"{PIECE_WORDS[piece]} {' '.join(there)}"] if there else []
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


def points_seen(s: State, seat: int, viewer: int | None) -> int:
    """The points of a player, as the viewer knows them."""
    return int(s.points[seat]) + (int(s.earned[seat]) if viewer in (None, seat) else 0)


def _growing(s: State, seat: int, shown: bool) -> tuple[Any, Any, Any, int]:
    """The spaces with small trees, with big trees, with bushes, and with trees that are lit."""
    fields = SHOWN_FIELDS if shown else PLANET_FIELDS
    small, big, bushes = (s[fields[piece]][seat] for piece in (Piece.SMALL_TREE, Piece.BIG_TREE, Piece.BUSH))
    return small, big, bushes, int(lit_small_trees(small, big, s.sun) | lit_big_trees(big, s.sun))


def _planet(s: State, letters: list[str], seat: int, viewer: int | None, paint: Paint, cell: int) -> list[str]:
    """The lines of a planet whose spaces have this many columns: 4, in the small form 3, or 2 without names of rows."""
    shown, wide, others = viewer not in (None, seat), cell == _CELL, cell == _OTHERS_CELL
    small, big, bushes, lit = _growing(s, seat, shown)
    name = f"p{seat}" if others else f"p{seat} {player_names(s.players)[seat]}"
    points = points_seen(s, seat, viewer)
    score = counted(points, "point") if wide else str(points)
    lines = [paint(name + score.rjust(_width(cell) - len(name)), OWNER_PAINTS[seat])]
    cells = _cells(s, letters, seat, shown, lit)
    if others:
        cells = [text[1:] or text for text in cells]
    rows = ["abcdefg", *(cells[first : first + COLUMNS] for first in range(0, ROWS * COLUMNS, COLUMNS))]
    for number, texts in enumerate(rows):
        margin = " " if others else f"{number or ' '} "
        lines.append(margin + "".join(f"{text:<{cell}}" for text in texts).rstrip())
    light, forest = light_points(small, big, s.sun), int(largest_forest(small | big | bushes)).bit_count()
    levels = (s.shown_level if shown else s.level)[seat].tolist()
    pairs = [f"{letter}{level}" for letter, level in zip(_LEVEL_LETTERS, levels, strict=True)]
    lines.append(f"light {light} for {forest}" if others else f"light {light}, forest {forest}")
    return [*lines, "levels " * wide + ("" if others else " ").join(pairs)]


def _width(cell: int) -> int:
    """The columns of a planet, with the names of its rows."""
    return cell * COLUMNS + (1 if cell == _OTHERS_CELL else 2)


def _cells(s: State, letters: list[str], seat: int, shown: bool, lit: int) -> list[str]:
    """What is in each place: the letter of its biome, that of its piece, and a star on a tree that is lit."""
    cells = letters.copy()
    for letter, name in zip(PIECE_LETTERS, SHOWN_FIELDS if shown else PLANET_FIELDS, strict=True):
        for place in places_in(s[name][seat]):
            cells[place] += letter + "*" * (lit >> place & 1)
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
