"""The game as text, at most 100 columns wide.

+---------------------+---------------------+
| P1 Wheat        4/3 | P2 Coffee       0/4 |   position, crop, drops there / drops it needs to grow
| p0 3  n 1           |                     |   drops by owner
| developed           |                     |   growing token
| light cloud     2/4 |                     |   cloud, drops in it / drops at which it grows or overflows
| n 2                 |                     |   drops by owner
+---------------------+---------------------+

Tokens of promos and flower tiles are in the line of the growing token. Long lines are continued in another one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.config import Config
from petrichor_env.drawing.card_texts import FORECASTS, power_text
from petrichor_env.drawing.decisions import asked_text, hides_actor, result_text
from petrichor_env.drawing.icons import owner_shape
from petrichor_env.rules.clouds import GROWS_AT, OVERFLOWS_AT
from petrichor_env.rules.points import place
from petrichor_env.rules.scoring import tile_points
from petrichor_env.state import (
    CROP_NAMES,
    FACE_DOWN,
    HARVEST,
    NOBODY,
    NUM_FORECASTS,
    NUM_KINDS,
    NUM_TILES,
    PHASE_NAMES,
    PLAYED,
    SOURCE_NAMES,
    WEATHER_NAMES,
    Cloud,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    Power,
    State,
)
from petrichor_env.tables import Tables
from petrichor_env.words import FIELDS, GROWING_NAMES, WEATHER_WORDS, owner_names, source_title, tile_name
from tabletop_engine.drawing.lines import Block, Cells, Row, Size, Table, Tiles, Words, joined, width
from tabletop_engine.text.terminal import BOLD, COLUMNS, painted
from tabletop_engine.text.words import counted

CARD_WORDS = (
    "a neutral drop on a tile",
    "two neutral drops on a tile",
    "a drop of player_0 off a tile",
    "a new cloud, two neutral drops",
    "a neutral drop into a cloud",
    "a neutral drop into a cloud",
    "a mixed cloud north-west",
    "a neutral cloud south-east",
)
"""The effects of the Southern Winds cards 1 to 8."""

_SIDE = 4
_CELL = 19
_WIDEST_CELL = 21
"""The greatest width of a tile with which four tiles fit."""
_LABEL = 11
_HEADINGS = (
    ("          in supply ", "   on weather spaces ", " voting  wheat"),
    (" points  drops votes", "  frost sun wind rain", "  wins  tokens"),
)
OWNER_PAINTS = tuple(f"\x1b[38;5;{number}m" for number in (32, 172, 35, 175, 143, 247))
"""The owners' colours of the pictures, the neutral player's last, in terminals: the nearest of their 256 colours that
can be read on white and on black."""
_GROWING_COLOUR = "\x1b[32m"

Paint = Callable[[str, str], str]
"""A function that colours a text, or returns it unchanged."""


def render_text(
    state: State,
    viewer: int | None = None,
    colour: bool = False,
    tables: np.ndarray | None = None,
    size: Size = "wide",
) -> str:
    """`Drawing.render_text`, without a newline at the end.

    Of others' hands, packs and forecast cards a viewer sees only the numbers of cards. The deck, the forecast cards
    that were not dealt, and the player who is asked for one are hidden.
    """
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

    In the small form a tile has a line for the crop and one for its drops and its cloud, `c4 Wheat   2/3 d` and
    `p0:2 ~3/4 p1:3`. The compact one has a line for each tile and one for each owner, without colours.
    """
    t = (load_tables() if tables is None else tables)[0]
    paint = partial(painted, colour=colour and size != "compact")
    heading = _heading(state, viewer, paint, asked and size == "wide")
    notes = [*_board(state, viewer, t), *_module_lines(state, viewer, t)]
    notes += [winds_card_text(state, t, i) for i in range(state.winds_revealed)]
    if state.winds_deck.any():
        notes.append(f"Southern Winds deck: {_numbers(np.flatnonzero(state.winds_deck) + 1)}.")
    if size == "compact":  # without the points of a Harvest, which the rules tell
        tiles = [_tile_line(state, t, tile) for tile in FIELDS[state.players]]
        owners = [_owner_line(state, seat, viewer) for seat in range(state.owners)]
        return [Words([*heading, *tiles, *owners, *notes[1:]])]
    people, blank = _people(state, viewer, paint), Words([""])
    below = Words([part for line in notes for part in textwrap.wrap(line, COLUMNS, subsequent_indent="    ")])
    draw = _tile_lines if size == "wide" else _small_tile
    cells = {tile: draw(state, t, tile, paint) for tile in FIELDS[state.players]}
    columns, rows = size_of_fields(state.players)
    field = [[cells.get(row * _SIDE + column, []) for column in range(columns)] for row in range(rows)]
    if size == "small":  # what is above the Fields may scroll away
        return [below, people, blank, Words([" ".join(heading).rstrip()]), Cells(field, [_CELL] * columns)]
    widest = max(_CELL, *(width(line) for cell in cells.values() for line in cell))
    return [Words([*heading, ""]), Tiles(field, widest), blank, people, blank, below]


_SMALL_TOKENS = {"sprouting": "s", "developed": "d", "drowned": "w", "fertilizer": "f", "pod": "p"}


def _small_tile(s: State, t: Tables, tile: int, paint: Paint) -> list[str]:
    if s.crop[tile] == FACE_DOWN:
        return [paint(f"{tile_name(s.players, tile)} face down{' f' if s.fertilizer[tile] else ''}", BOLD)]
    tokens = [_SMALL_TOKENS.get(token, "") for token in _tokens(s, tile)]
    name = f"{tile_name(s.players, tile)} {CROP_NAMES[s.crop[tile]].capitalize()}"
    if s.crop[tile] == Crop.SNOWDROP:
        tokens.append("o" if s.blooms[tile] else "c")
    if s.crop[tile] == Crop.PRIMROSE:
        tokens.append(f"{s.blooms[tile]}{'' if s.controller == NOBODY else owner_label(s.players, s.controller)}")
    right = f"{drops_to_grow(s, t, tile)} {''.join(tokens)}".strip()
    kind = "~" if s.cloud[tile] == Cloud.LIGHT else "*"
    cloud = [] if s.cloud[tile] == Cloud.NONE else [kind + cloud_number(s, tile)]
    drops, above = (_small_drops(s, of, paint) for of in (s.drops[tile], s.cloud_drops[tile]))
    return [paint(_spread(name, right), BOLD), *_packed([*drops, *cloud, *above], " ", _CELL)]


def _small_drops(s: State, drops: np.ndarray, paint: Paint) -> list[str]:
    there = [(seat, int(count)) for seat, count in enumerate(drops) if count]
    close = len(there) > 3
    labels = [owner_label(s.players, seat)[-1 if close else 0 :] for seat, _ in there]
    return [paint(f"{label}:{count}", _paint_of(s, seat)) for label, (seat, count) in zip(labels, there, strict=True)]


def _tile_line(s: State, t: Tables, tile: int) -> str:
    name = tile_name(s.players, tile)
    if s.crop[tile] == FACE_DOWN:
        return f"{name}: face down{', fertilizer' if s.fertilizer[tile] else ''}"
    parts = [f"{CROP_NAMES[s.crop[tile]].capitalize()} {drops_to_grow(s, t, tile)}".strip()]
    if s.drops[tile].any():
        parts[0] += f" ({_owned(s, s.drops[tile])})"
    parts += _tokens(s, tile)
    if s.cloud[tile] != Cloud.NONE:
        parts.append(f"{cloud_words(s, tile)} {cloud_number(s, tile)} ({_owned(s, s.cloud_drops[tile])})")
    return f"{name}: {', '.join(parts)}"


def _owned(s: State, drops: np.ndarray) -> str:
    """The drops by owner: `p0 2, p1 1`."""
    return ", ".join(f"{owner_label(s.players, seat)} {count}" for seat, count in enumerate(drops) if count)


def _owner_line(s: State, seat: int, viewer: int | None) -> str:
    shown = viewer in (None, seat)
    there = zip(WEATHER_WORDS, s.votes[:, seat].tolist(), strict=True)
    votes = ", ".join(f"{word} {number}" for word, number in there if number)
    parts = [
        counted(int(s.points[seat]), "point"),
        f"supply {counted(int(s.supply[seat]), 'drop')}, {counted(int(s.vote_supply[seat]), 'vote')}",
        f"votes on {votes}" if votes else "no votes placed",
        f"{counted(int(s.voting_wins[seat]), 'Voting Win')}, {counted(int(s.wheat_tokens[seat]), 'Wheat token')}",
    ]
    if seat < s.players:
        parts.append(f"hand {cards_seen(s.hand[seat], shown)}")
        parts += [f"pack {cards_seen(s.pack[seat], shown)}"] if s.pack[seat].any() else []
        parts += _powers_and_forecasts(s, seat, shown)
    return f"{owner_label(s.players, seat)}: {'; '.join(parts)}"


def owner_label(players: int, seat: int) -> str:
    """The short label of an owner: `p0` and so on, in solo `p0` and `n`."""
    return "n" if players == 1 and seat == 1 else f"p{seat}"


def cards_text(counts: Sequence[int] | np.ndarray) -> str:
    """Cards by kind in words: `2 frost, 1 rain`, or `none`."""
    return ", ".join(f"{counts[kind]} {name}" for kind, name in enumerate(WEATHER_NAMES) if counts[kind]) or "none"


def cards_seen(counts: np.ndarray, shown: bool) -> str:
    """`cards_text` if the cards are shown, otherwise only their number."""
    return cards_text(counts) if shown else counted(int(counts.sum()), "card")


def dice_text(dice: np.ndarray) -> str:
    """The dice in words: `Harvest, 2, 4`."""
    return ", ".join("Harvest" if side == HARVEST else str(side) for side in dice)


def _paint_of(s: State, seat: int) -> str:
    return OWNER_PAINTS[owner_shape(s.players, seat)]


# --- what is played, and the sources of points --------------------------------------------------------------------


def about(config: Config) -> list[str]:
    """`Words.about`."""
    parts = ["solo" if config.solo else f"{config.players} players", f"{config.rounds} rounds"]
    parts += ["drafting"] if config.drafting else []
    return parts + [name.replace("_", " ") for name in (*config.variants, *config.modules)]


def sources(state: State) -> list[tuple[str, list[int]]]:
    """`Words.sources`."""
    by_source = zip(SOURCE_NAMES, state.scored[: state.owners].T.tolist(), strict=True)
    return [(name.replace("_", " "), points) for name, points in by_source if any(points)]


def projected(
    state: State, viewer: int | None = None, tables: np.ndarray | None = None
) -> Iterator[tuple[str, list[int]]]:
    """`Words.projected`: what a Harvest would pay now, and for tiles that do not grow yet, what it would pay then."""
    s, t, owners = state, (load_tables() if tables is None else tables)[0], range(state.owners)
    for tile in FIELDS[s.players]:
        crop, growing = int(s.crop[tile]), int(s.growing[tile])
        if crop in (FACE_DOWN, Crop.LAKE):
            continue
        where = f"{tile_name(s.players, tile)} at a Harvest"
        then = growing or (Growing.SPROUTING if crop == Crop.COFFEE else Growing.DEVELOPED)
        paid = {f"{source_title(CROP_NAMES[crop])} on {where}": [tile_points(s, t, tile, one, then) for one in owners]}
        if crop == Crop.WHEAT:
            drops = s.drops[tile]
            paid[f"Wheat token on {where}"] = [int(drops[one] > 0 and place(s, tile, one) == 1) for one in owners]
        for words, numbers in paid.items():
            yield words, numbers if growing else [0] * len(numbers)
            if not growing:
                yield f"{words}, once it grows", numbers


# --- who is asked what ----------------------------------------------------------------------------------------------


def _heading(s: State, viewer: int | None, paint: Paint, asked: bool) -> list[str]:
    names = owner_names(s.players)
    place = f"Round {s.round} of {s.rounds}, {PHASE_NAMES[s.phase]}"
    first = "" if s.players == 1 else f", first player {names[s.first_player]}"
    if s.decision == Decision.GAME_OVER:
        return [paint(f"Round {s.round} of {s.rounds}, game over: {result_text(s, names)}", BOLD)]
    lines = [paint(f"{place}{' phase' if s.phase != Phase.SETUP else ''}{first}", BOLD)]
    if s.passed != NOBODY and s.phase == Phase.ACTION:
        lines.append(f"{names[s.passed]} has passed.")
    if s.phase == Phase.WEATHER:
        chosen = [word for word, on in zip(WEATHER_WORDS, s.selected, strict=True) if on]
        resolving = f", resolving {WEATHER_WORDS[s.weather]}" if s.weather >= 0 else ""
        lines.append(f"Selected: {', '.join(chosen) or 'none yet'}{resolving}.")
    if asked or hides_actor(s, viewer):
        lines.append(asked_text(s, viewer, names))
    return lines


# --- the Fields -----------------------------------------------------------------------------------------------------


def size_of_fields(players: int) -> tuple[int, int]:
    """The numbers of columns and rows of the Fields."""
    field = FIELDS[players]
    return max(tile % _SIDE for tile in field) + 1, max(tile // _SIDE for tile in field) + 1


def _tile_lines(s: State, t: Tables, tile: int, paint: Paint) -> list[str]:
    """The lines of a tile, usually five."""
    players = s.players
    if s.crop[tile] == FACE_DOWN:
        token = paint("fertilizer", _GROWING_COLOUR) if s.fertilizer[tile] else ""
        return [paint(f"{tile_name(players, tile)} face down", BOLD), "", token, "", ""]
    crop = CROP_NAMES[s.crop[tile]].capitalize()
    lines = [
        paint(_spread(f"{tile_name(players, tile)} {crop}", drops_to_grow(s, t, tile)), BOLD),
        *_drops(s, s.drops[tile], paint),
        *([paint(line, _GROWING_COLOUR) for line in _packed(_tokens(s, tile))] or [""]),
    ]
    if s.cloud[tile] == Cloud.NONE:
        return [*lines, "", ""]
    cloud = _spread(cloud_words(s, tile), cloud_number(s, tile))
    return [*lines, cloud, *_drops(s, s.cloud_drops[tile], paint)]


def cloud_words(s: State, tile: int) -> str:
    """The kind of the cloud above the tile, in words."""
    return "light cloud" if s.cloud[tile] == Cloud.LIGHT else "thundercloud"


def cloud_number(s: State, tile: int) -> str:
    """The drops in a cloud, and the number at which it grows or overflows: `2/4`."""
    return f"{s.cloud_drops[tile].sum()}/{GROWS_AT if s.cloud[tile] == Cloud.LIGHT else OVERFLOWS_AT}"


def drops_to_grow(s: State, t: Tables, tile: int) -> str:
    """The drops on a tile and the number that it needs: `2/3`. The Primrose never grows and has only the first."""
    crop, there = s.crop[tile], s.drops[tile].sum()
    if crop == Crop.LAKE:
        return ""
    return str(there) if crop == Crop.PRIMROSE else f"{there}/{t.drops_to_grow[crop]}"


_WORTH = {Crop.LAKE: "no harvest", Crop.DANDELION: "pods"}


def harvest_worth(s: State, t: Tables, tile: int) -> str:
    """The points of a Harvest of this tile as things are, usually by place: `6/4/2`."""
    crop = s.crop[tile]
    if crop in _WORTH:
        return _WORTH[Crop(crop)]
    scores = t.scores[crop]
    if crop == Crop.RICE:
        return f"{scores[Growing.DEVELOPED - 1][0]} a drop"
    if crop == Crop.WHEAT:
        first, second = scores[Growing.DEVELOPED - 1][:2]
        return f"{first} + wheat / {second}"
    side = s.growing[tile] or (Growing.SPROUTING if crop == Crop.COFFEE else Growing.DEVELOPED)
    points = scores[side - 1][: s.owners].tolist()
    while crop != Crop.CORN and len(points) > 1 and points[-1] == 0:
        points.pop()
    return "/".join(map(str, points))


def harvest_words(s: State, t: Tables, tile: int) -> str:
    """What the figures of `harvest_worth` mean; "" for crops without any."""
    crop, worth = s.crop[tile], harvest_worth(s, t, tile)
    if crop in (*_WORTH, Crop.PRIMROSE):
        return ""
    if crop == Crop.RICE:
        return f"a Harvest pays {worth}"
    if crop == Crop.WHEAT:
        first, second = t.scores[crop][Growing.DEVELOPED - 1][:2]
        return f"a Harvest pays {first} for the most drops, alone also a Wheat token, {second} for the second most"
    if crop == Crop.CORN:
        return f"a Harvest pays each player there {worth}, for one player, two and so on"
    return f"a Harvest pays {worth} for the most drops{', the second most and so on' if '/' in worth else ''}"


def _tokens(s: State, tile: int) -> list[str]:
    """The things on the tile besides drops."""
    tokens = []
    if s.crop[tile] == Crop.SNOWDROP:
        tokens.append("open" if s.blooms[tile] else "closed")
    if s.crop[tile] == Crop.PRIMROSE:
        controlled = f"{owner_label(s.players, s.controller)} controls"
        tokens += [counted(s.blooms[tile], "bloom"), "nobody's" if s.controller == NOBODY else controlled]
    if s.growing[tile]:
        tokens.append(GROWING_NAMES[s.growing[tile]])
    tokens += [word for word, field in (("pod", "pods"), ("fertilizer", "fertilizer")) if s[field][tile]]
    return tokens


def _packed(words: Sequence[str], between: str = ", ", room: int = _WIDEST_CELL) -> list[str]:
    """The words, in their order, in lines that fit into a cell."""
    lines: list[str] = []
    for word in words:
        if lines and width(lines[-1] + between + word) <= room:
            lines[-1] += between + word
        else:
            lines.append(word)
    return lines


def _spread(left: str, right: str) -> str:
    return left + right.rjust(max(len(right) + 1, _CELL - len(left)))


def _drops(s: State, drops: np.ndarray, paint: Paint) -> list[str]:
    """The drops by owner on one line; if there are many, in a shorter form or on several lines."""
    there = [(seat, owner_label(s.players, seat), str(count)) for seat, count in enumerate(drops) if count]
    for between, after, room in ((" ", "  ", _CELL), (":", " ", _WIDEST_CELL)):
        texts = [paint(label + between + count, _paint_of(s, seat)) for seat, label, count in there]
        if width(after.join(texts)) <= room:
            break
    return _packed(texts, after, room) or [""]


# --- what everybody has ---------------------------------------------------------------------------------------------


def _people(s: State, viewer: int | None, paint: Paint) -> Table:
    players, rows = s.players, []
    for seat, name in enumerate(owner_names(players)):
        label = f"{owner_label(players, seat):<2} {name}"
        numbers = (
            f"{s.points[seat]:7}{s.supply[seat]:7}{s.vote_supply[seat]:6}",
            _votes_text(s.votes[:, seat]),
            f"{s.voting_wins[seat]:6}{s.wheat_tokens[seat]:8}",
        )
        shown = viewer in (None, seat)
        hand, below = "", []
        if seat < players:
            hand = cards_seen(s.hand[seat], shown)
            below += [f"pack {cards_seen(s.pack[seat], shown)}"] if s.pack[seat].any() else []
            below += _powers_and_forecasts(s, seat, shown)
        rows.append(Row(paint(f"{label:<{_LABEL}}", _paint_of(s, seat)), numbers, hand, below))
    totals = s.votes.sum(axis=1, dtype=np.int64)
    return Table(_LABEL, _HEADINGS, "hand", [*rows, Row("all", (" " * 20, _votes_text(totals), ""))])


def _votes_text(votes: np.ndarray) -> str:
    return f"{votes[0]:7}{votes[1]:4}{votes[2]:5}{votes[3]:5}"


def _powers_and_forecasts(s: State, seat: int, shown: bool) -> Iterator[str]:
    if s.power[seat] != Power.NONE:
        yield power_text(s.power[seat])
    held = forecasts_held(s, seat)
    if shown:
        yield from (f"forecast {number}, {FORECASTS[number].when}: {FORECASTS[number].text}" for number in held)
    elif held:
        yield counted(len(held), "forecast card")


def _board(s: State, viewer: int | None, t: Tables) -> list[str]:
    if (s.crop == FACE_DOWN).any():
        return ["The tiles lie face down; cards and Harvest dice follow when they are turned up."]
    deck = counted(s.deck.sum(), "card")
    if viewer is None and s.deck.any():
        deck += f" ({cards_text(s.deck)})"
    return [
        _harvest_line(s, t),
        f"Harvest dice: {dice_text(s.dice)}.  Clouds left: {clouds_left(s, t)}.",
        f"Deck: {deck}.  Discards: {cards_text(s.discards)}.",
    ]


def _harvest_line(s: State, t: Tables) -> str:
    """The points of a Harvest. Tiles of one crop with the same points are listed together."""
    tiles: dict[str, list[str]] = {}
    for tile in FIELDS[s.players]:
        if s.crop[tile] not in (Crop.LAKE, Crop.PRIMROSE):
            worth = f"{CROP_NAMES[s.crop[tile]].capitalize()} {harvest_worth(s, t, tile)}"
            tiles.setdefault(worth, []).append(tile_name(s.players, tile))
    pays = [f"{' '.join(names)} {worth}" for worth, names in tiles.items()]
    return f"Harvest pays: {', '.join(pays)}."


def _module_lines(s: State, viewer: int | None, t: Tables) -> Iterator[str]:
    """The tokens that are left, the forecast cards out of the game, and the drops that a Harvest counts."""
    titles = {"fertilizer": "Fertilizer tokens", "pod": "Pods"}
    yield from (f"{titles[token]} left: {number}." for token, number in tokens_left(s, t))
    if s.modules[Module.FORECASTS]:
        yield _forecasts_line(s, viewer)
    for seat in np.flatnonzero(s.counts_clouds):
        yield f"Drops of {owner_names(s.players)[seat]} in clouds count for the tiles below in this Harvest."
    yield from drops_lines(s)


def clouds_left(s: State, t: Tables) -> int:
    """Clouds in the general supply."""
    return t.clouds - int(np.count_nonzero(s.cloud))


def tokens_left(s: State, t: Tables) -> Iterator[tuple[str, int]]:
    """The kinds of tokens that may be placed, and the number of each that is left."""
    if (s.crop == Crop.DANDELION).any():
        yield "pod", t.pods - int(np.count_nonzero(s.pods))
    if s.decision == Decision.FERTILIZER_TILE:
        yield "fertilizer", t.fertilizer_tokens - int(np.count_nonzero(s.fertilizer))


def drops_lines(s: State) -> Iterator[str]:
    """The drops that have been chosen for a forecast card, and those that a Harvest scored."""
    if s.chosen_drops.any():
        yield f"Chosen on {drops_text(s, s.target, s.chosen_drops)}."
    scored = np.flatnonzero(s.scored_drops.any(axis=1)).tolist()
    if scored:
        counts = (drops_text(s, tile, s.scored_drops[tile]) for tile in scored)
        yield f"Scored in this Harvest: {'; '.join(counts)}."


def _forecasts_line(s: State, viewer: int | None) -> str:
    played, undealt = (np.flatnonzero(s.forecast_holder == holder) + 1 for holder in (PLAYED, NOBODY))
    if len(undealt) == NUM_FORECASTS:
        return "Forecast cards are not dealt yet."
    not_dealt = _numbers(undealt) if viewer is None else counted(len(undealt), "card")
    return f"Forecast cards out of the game: {_numbers(played)}.  Not dealt: {not_dealt}."


def _numbers(cards: np.ndarray) -> str:
    return ", ".join(map(str, cards)) or "none"


def drops_text(s: State, tile: int, drops: np.ndarray) -> str:
    """The drops on a tile in words: `b2 p0 4 p1 2`."""
    counts = (f"{owner_label(s.players, seat)} {count}" for seat, count in enumerate(drops) if count)
    return f"{tile_name(s.players, tile)} {' '.join(counts)}"


def winds_card_text(s: State, t: Tables, i: int) -> str:
    """The i-th revealed card in words: its effect, the numeric die, the target tile, its icons."""
    card, roll, target = int(s.winds_card[i]), int(s.winds_roll[i]), int(s.winds_target[i])
    where = f"on {tile_name(1, target)}" if 0 <= target < NUM_TILES else "no target, a point"
    die = f"die {roll}, " if roll else ""
    icons = ", ".join(winds_icons(t, card))
    return f"Southern Winds card {card} ({CARD_WORDS[card - 1]}): {die}{where}. Icons: {icons}."


def winds_icons(t: Tables, card: int) -> list[str]:
    """The icons of a Southern Winds card in words: its votes and its Harvest icon."""
    icons = [WEATHER_NAMES[kind] for kind in range(NUM_KINDS) for _ in range(t.winds_votes[card - 1, kind])]
    return icons + ["harvest"] * int(t.winds_harvest[card - 1])


def forecasts_held(s: State, seat: int) -> list[int]:
    """The numbers of the forecast cards in this player's hand."""
    return (np.flatnonzero(s.forecast_holder == seat) + 1).tolist() if s.modules[Module.FORECASTS] else []
