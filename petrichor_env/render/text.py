"""The game drawn as text, no more than 100 columns wide.

+---------------------+---------------------+
| P1 Wheat        4/3 | P2 Coffee       0/4 |   position, crop, drops there / drops it needs to grow
| p0 3  n 1           |                     |   drops by owner
| developed           |                     |   growing token
| light cloud     2/4 |                     |   cloud, drops in it / drops at which it grows or overflows
| n 2                 |                     |   drops by owner
+---------------------+---------------------+
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.kernels import winners_of_games
from petrichor_env.render.decisions import WEATHER_WORDS, question
from petrichor_env.rules.clouds import GROWS_AT, OVERFLOWS_AT
from petrichor_env.state import (
    CROP_NAMES,
    HARVEST,
    MAX_PLAYERS,
    NOBODY,
    NUM_KINDS,
    NUM_TILES,
    PHASE_NAMES,
    WEATHER_NAMES,
    Cloud,
    Decision,
    Phase,
    State,
)
from petrichor_env.words import FIELDS, GROWING_NAMES, owner_names, tile_name

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
"""What the Southern Winds cards 1 to 8 do."""

_SIDE = 4
_CELL = 19
_CLEAR = "\x1b[0m"
_OWNER_COLOURS = ("\x1b[31m", "\x1b[34m", "\x1b[32m", "\x1b[33m", "\x1b[35m")
_NEUTRAL_COLOUR, _GROWING_COLOUR, _BOLD = "\x1b[36m", "\x1b[92m", "\x1b[1m"

Paint = Callable[[str, str], str]
"""Gives a text a colour, or leaves it as it is."""


def render_text(state: State, viewer: int | None = None, colour: bool = False, tables: np.ndarray | None = None) -> str:
    """The whole game as lines of text, within 100 columns, without a newline at the end.

    Arguments:
        state: one record of dtype STATE.
        viewer: seat that looks on: other hands and packs are shown as numbers of cards, and the deck's kinds not at
            all. None shows everything.
        colour: with ANSI colours, one an owner.
        tables: (1,) TABLES that the game is played with; None for the shipped numbers.
    """
    paint = _painter(colour)
    return "\n".join([*_heading(state, paint), "", render_board(state, viewer, colour, tables)])


def render_board(
    state: State, viewer: int | None = None, colour: bool = False, tables: np.ndarray | None = None
) -> str:
    """`render_text` without its heading: the Fields, what everybody has, dice and decks."""
    t = (load_tables() if tables is None else tables)[0]
    paint = _painter(colour)
    lines = [*_fields(state, t, paint), "", *_people(state, viewer, paint), "", *_board(state, viewer, t)]
    if state["players"] == 1:
        lines += southern_winds_lines(state, t)
    return "\n".join(line.rstrip() for line in lines)


def _painter(colour: bool) -> Paint:
    return (lambda text, code: f"{code}{text}{_CLEAR}") if colour else (lambda text, code: text)


def owner_label(players: int, seat: int) -> str:
    """`p0` …, in solo `p0` and `n`."""
    return "n" if players == 1 and seat == 1 else f"p{seat}"


def cards_text(counts: Sequence[int] | np.ndarray) -> str:
    """`2 frost, 1 rain`, or `none`."""
    return ", ".join(f"{counts[kind]} {name}" for kind, name in enumerate(WEATHER_NAMES) if counts[kind]) or "none"


def dice_text(dice: np.ndarray) -> str:
    """`Harvest, 2, 4`."""
    return ", ".join("Harvest" if side == HARVEST else str(side) for side in dice)


def _owner_colour(players: int, seat: int) -> str:
    return _NEUTRAL_COLOUR if players == 1 and seat == 1 else _OWNER_COLOURS[seat]


# --- who is asked what ----------------------------------------------------------------------------------------------


def _heading(s: State, paint: Paint) -> list[str]:
    names = owner_names(int(s["players"]))
    place = f"Round {s['round']} of {s['rounds']}, {PHASE_NAMES[s['phase']]}"
    first = "" if s["players"] == 1 else f", first player {names[s['first_player']]}"
    if s["decision"] == Decision.GAME_OVER:
        return [paint(f"Round {s['round']} of {s['rounds']}, game over: {_result(s, names)}", _BOLD)]
    lines = [paint(f"{place}{' phase' if s['phase'] != Phase.SETUP else ''}{first}", _BOLD)]
    if s["passed"] != NOBODY and s["phase"] == Phase.ACTION:
        lines.append(f"{names[s['passed']]} has passed.")
    if s["phase"] == Phase.WEATHER:
        lines.append(_weather_line(s))
    return [*lines, f"{names[s['actor']]} is asked {question(s)}."]


def _result(s: State, names: Sequence[str]) -> str:
    won = np.zeros((1, MAX_PLAYERS), np.int8)
    winners_of_games(np.array([s]), won)
    winners = [name for seat, name in enumerate(names) if won[0, seat]]
    who = f"{' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'}"
    if s["forfeited"] != NOBODY:
        who = f"{names[s['forfeited']]} forfeited, {who}"
    return who


def _weather_line(s: State) -> str:
    chosen = [word for word, on in zip(WEATHER_WORDS, s["selected"], strict=True) if on]
    resolving = f", resolving {WEATHER_WORDS[s['weather']]}" if s["weather"] >= 0 else ""
    return f"Selected: {', '.join(chosen) or 'none yet'}{resolving}."


# --- the Fields -----------------------------------------------------------------------------------------------------


def _fields(s: State, t: State, paint: Paint) -> list[str]:
    field = FIELDS[int(s["players"])]
    columns = max(tile % _SIDE for tile in field) + 1
    rows = max(tile // _SIDE for tile in field) + 1
    cells = {tile: _tile_lines(s, t, tile, paint) for tile in field}
    width = max(_CELL, *(len(plain) for cell in cells.values() for plain, _ in cell))
    edge = "+" + "+".join(["-" * (width + 2)] * columns) + "+"
    empty = [("", "")] * 5
    lines = [edge]
    for row in range(rows):
        in_row = [cells.get(row * _SIDE + column, empty) for column in range(columns)]
        for texts in zip(*in_row, strict=True):
            padded = (painted + " " * (width - len(plain)) for plain, painted in texts)
            lines.append("| " + " | ".join(padded) + " |")
        lines.append(edge)
    return lines


def _tile_lines(s: State, t: State, tile: int, paint: Paint) -> list[tuple[str, str]]:
    """The five lines of a tile, each plain and painted."""
    crop = CROP_NAMES[s["crop"][tile]].capitalize()
    name = f"{tile_name(int(s['players']), tile)} {crop}"
    token = GROWING_NAMES[s["growing"][tile]] if s["growing"][tile] else ""
    lines = [
        _both(_spread(name, f"{s['drops'][tile].sum()}/{t['drops_to_grow'][s['crop'][tile]]}"), _BOLD, paint),
        _drops(s, s["drops"][tile], paint),
        _both(token, _GROWING_COLOUR, paint),
    ]
    if s["cloud"][tile] == Cloud.NONE:
        return [*lines, ("", ""), ("", "")]
    light = s["cloud"][tile] == Cloud.LIGHT
    number = f"{s['cloud_drops'][tile].sum()}/{GROWS_AT if light else OVERFLOWS_AT}"
    cloud = _spread("light cloud" if light else "thundercloud", number)
    return [*lines, (cloud, cloud), _drops(s, s["cloud_drops"][tile], paint)]


def _spread(left: str, right: str) -> str:
    return left + right.rjust(max(len(right) + 1, _CELL - len(left)))


def _both(text: str, code: str, paint: Paint) -> tuple[str, str]:
    return text, paint(text, code) if text else text


def _drops(s: State, drops: np.ndarray, paint: Paint) -> tuple[str, str]:
    players = int(s["players"])
    there = [(seat, owner_label(players, seat), str(count)) for seat, count in enumerate(drops) if count]
    for between, after in ((" ", "  "), (":", " ")):  # the narrower one for a crowd
        texts = [label + between + count for _, label, count in there]
        plain = after.join(texts)
        if len(plain) <= _CELL:
            break
    painted = [paint(text, _owner_colour(players, seat)) for (seat, _, _), text in zip(there, texts, strict=True)]
    return plain, after.join(painted)


# --- what everybody has ---------------------------------------------------------------------------------------------


def _people(s: State, viewer: int | None, paint: Paint) -> list[str]:
    players, owners = int(s["players"]), int(s["owners"])
    names = owner_names(players)
    width = 11
    lines = [
        " " * width + "          in supply    on weather spaces  voting  wheat",
        " " * width + " points  drops votes  frost sun wind rain  wins  tokens  hand",
    ]
    for seat in range(owners):
        label = f"{owner_label(players, seat):<2} {names[seat]}"
        votes = s["votes"][:, seat]
        numbers = (
            f"{s['points'][seat]:7}{s['supply'][seat]:7}{s['vote_supply'][seat]:6}"
            f"{votes[0]:7}{votes[1]:4}{votes[2]:5}{votes[3]:5}{s['voting_wins'][seat]:6}{s['wheat_tokens'][seat]:8}"
        )
        hand = _hidden_cards(s["hand"][seat], viewer in (None, seat)) if seat < players else ""
        lines.append(f"{paint(f'{label:<{width}}', _owner_colour(players, seat))}{numbers}  {hand}")
        if seat < players and s["pack"][seat].any():
            lines.append(f"{'':<{width}}pack {_hidden_cards(s['pack'][seat], viewer in (None, seat))}")
    totals = s["votes"].sum(axis=1, dtype=np.int64)
    return [*lines, f"{'all':<{width + 20}}{totals[0]:7}{totals[1]:4}{totals[2]:5}{totals[3]:5}"]


def _hidden_cards(cards: np.ndarray, shown: bool) -> str:
    if shown:
        return cards_text(cards)
    number = int(cards.sum())
    return f"{number} card{'' if number == 1 else 's'}"


def _board(s: State, viewer: int | None, t: State) -> list[str]:
    deck = f"{s['deck'].sum()} cards" + (f" ({cards_text(s['deck'])})" if viewer is None and s["deck"].any() else "")
    clouds = int(t["clouds"]) - int(np.count_nonzero(s["cloud"]))
    return [
        f"Harvest dice: {dice_text(s['dice'])}.  Clouds left: {clouds}.",
        f"Deck: {deck}.  Discards: {cards_text(s['discards'])}.",
    ]


def southern_winds_lines(s: State, t: State) -> list[str]:
    """The Southern Winds cards since the player's last turn, one a line, and what the deck still holds."""
    lines = [winds_card_text(s, t, i) for i in range(s["winds_revealed"])]
    left = ", ".join(str(number + 1) for number in np.flatnonzero(s["winds_deck"]))
    return [*lines, f"Southern Winds deck: {left}."]


def winds_card_text(s: State, t: State, i: int) -> str:
    """The i-th revealed card in words: what it does, the numeric die, the tile it took effect on, its icons."""
    card, roll, target = int(s["winds_card"][i]), int(s["winds_roll"][i]), int(s["winds_target"][i])
    icons = [WEATHER_NAMES[kind] for kind in range(NUM_KINDS) for _ in range(t["winds_votes"][card - 1, kind])]
    icons += ["harvest"] * int(t["winds_harvest"][card - 1])
    where = f"on {tile_name(1, target)}" if 0 <= target < NUM_TILES else "no target, a point"
    die = f"die {roll}, " if roll else ""
    return f"Southern Winds card {card} ({CARD_WORDS[card - 1]}): {die}{where}. Icons: {', '.join(icons)}."
