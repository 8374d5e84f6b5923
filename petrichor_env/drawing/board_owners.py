"""The rows of the owners in a picture: points, supplies, tracks, hands, and pieces of modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from petrichor_env.drawing.card_texts import FORECASTS, power_text
from petrichor_env.drawing.pieces import (
    FORECAST_EDGE,
    FORECAST_FILL,
    View,
    card_back,
    card_counts,
    owner_token,
)
from petrichor_env.drawing.text import forecasts_held
from petrichor_env.state import POWER_NAMES, STATE, Module, Power, State
from tabletop_engine.drawing.cached import cached_drawing
from tabletop_engine.drawing.panels import MUTED, STRONG, panel
from tabletop_engine.drawing.panes import Box
from tabletop_engine.drawing.svg import INK, Markup, box, circle, element, text, titled, use, width_of
from tabletop_engine.text.words import joined

_COLUMNS = {"points": 214, "drops": 278, "votes": 334, "wins": 392, "wheat": 458}
_HAND, _PACK, _POWER = 486, 646, 813
_LINE = 15
TITLES = 20
"""The height of the titles above the owners' rows."""
NUMBERS_END = 480.0
"""The width of the left part of a row: the owner, points, supplies and tracks."""
_CARDS_WIDTH = 156.0
"""The width of a hand, of a pack, and of power and forecast cards, where there is more than a hand."""


def owners_table(
    v: View, x: float, y: float, width: float, heights: Sequence[float], winners: Sequence[int]
) -> Iterator[Markup]:
    """A row of that height for every owner, below titles: supply, track, hand and pieces of modules."""
    s = v.s
    places: list[tuple[str, float, str]] = [(title, column, "middle") for title, column in _COLUMNS.items()]
    places.append(("hand", _HAND, "start"))
    if s.pack.any():
        places.append(("pack", _PACK, "start"))
    if s.modules[Module.POWERS]:
        places.append(("power", _POWER, "middle"))
    if s.modules[Module.FORECASTS]:
        places.append(("forecasts", width - 8, "end"))
    titles = (text(title, x + at, y + 13, 12, anchor=anchor, fill=MUTED) for title, at, anchor in places)
    yield element("g", *titles, data_titles="")  # on no panel, so pages with a dark ground write them in light letters
    top = y + TITLES
    for seat, height in enumerate(heights):
        votes = joined(s.votes[:, seat].tolist())
        yield _owner_row(v, seat, x, top, width, height - 5, seat in winners, v.actor == seat, votes)
        top += height


def own_cards(s: State, x: float, y: float, height: float) -> Iterator[Box]:
    """The parts of a player's row, with its corner at (x, y), that have cards: large ones on a small screen."""
    modules = s.modules[[Module.POWERS, Module.FORECASTS]].any()
    yield x + _HAND - 2, y, (_CARDS_WIDTH if s.drafting or modules else 242.0), height
    if s.pack.any():
        yield x + _PACK - 2, y, _CARDS_WIDTH - 6, height
    if modules:
        yield x + _POWER - 22, y, 148.0, height


def row_parts(s: State, shown: bool, x: float, y: float, width: float, height: float) -> Iterator[Box]:
    """The parts of another's row, one below the other; `shown`: the cards are."""
    if shown or s.drafting or s.modules[[Module.POWERS, Module.FORECASTS]].any():
        yield x, y, NUMBERS_END, height
        yield x + _HAND - 2, y, width - _HAND + 2, height
    else:
        yield x, y, NUMBERS_END + 80, height


@cached_drawing(
    STATE,
    ("players", "owners", "drafting", "modules", "first_player", "passed", "forfeited", "forecast_holder"),
    ("points", "supply", "vote_supply", "voting_wins", "wheat_tokens", "hand", "pack", "power"),
)
def _owner_row(
    v: View, seat: int, x: float, y: float, width: float, height: float, won: bool, asked: bool, placed: str
) -> Markup:
    """The row of an owner. `placed` are the votes by weather space."""
    s = v.s
    middle = y + (height / 2 if height < 80 else 24)
    votes, wins = int(s.vote_supply[seat]), int(s.voting_wins[seat])
    track = v.t.voting_wins
    worth = int(track[min(wins, len(track) - 1)])
    parts = [
        panel(x, y, width, height, **({"stroke": STRONG, "stroke_width": 3} if asked else {})),
        owner_token(v, seat, None, x + 26, middle, 1.05),
        *_name_and_tags(v, seat, x + 48, middle, won),
        text(str(s.points[seat]), x + _COLUMNS["points"], middle + 9, 25, bold=True, anchor="middle"),
        owner_token(v, seat, int(s.supply[seat]), x + _COLUMNS["drops"], middle, 1.05),
        use("vote", x + _COLUMNS["votes"] - 12, middle),
        text(str(votes), x + _COLUMNS["votes"] + 3, middle + 5.5, 15, bold=True),
        use("win", x + _COLUMNS["wins"] - 15, middle),
        text(str(wins), x + _COLUMNS["wins"] - 2, middle + 5.5, 15, bold=True),
        use("wheat-token", x + _COLUMNS["wheat"] - 13, middle, 1.05),
        text(str(s.wheat_tokens[seat]), x + _COLUMNS["wheat"] + 3, middle + 5.5, 15, bold=True),
    ]
    if worth:
        offset = width_of(str(wins), 15, True)
        parts.append(text(f"={worth}", x + _COLUMNS["wins"] + offset, middle + 5, 11, fill=MUTED))
    data = {
        "data_owner": v.seats[seat],
        "data_name": v.names[seat],
        "data_points": str(s.points[seat]),
        "data_supply": str(s.supply[seat]),
        "data_vote_supply": str(votes),
        "data_votes": placed,
        "data_voting_wins": str(wins),
        "data_wheat_tokens": str(s.wheat_tokens[seat]),
        "data_won": "1" if won else None,
    }
    if seat < s.players:
        cards, facts = _cards_of(v, seat, x, y, width, height, middle)
        parts += cards
        data |= facts
    return titled(v.names[seat], *parts, **data)


def _name_and_tags(v: View, seat: int, x: float, middle: float, won: bool) -> Iterator[Markup]:
    s = v.s
    name = v.names[seat]
    facts = {"wins": won, "passed": s.passed == seat, "forfeited": s.forfeited == seat}
    tags = [word for word, on in facts.items() if on and not (won and word == "passed")]
    if name != v.said[seat]:
        tags.insert(0, v.said[seat])
    first = s.players > 1 and s.first_player == seat
    up, room = 4 if tags else -5.5, 107 if first else 134  # the umbrella stands apart
    yield text(name, x, middle - up, 16, bold=True, fit=room, keep_end=True)
    if tags:
        yield text(" · ".join(tags), x, middle + 14, 12, bold=won, fit=room, fill=STRONG if won else MUTED)
    if first:
        yield use("umbrella", x + 126, middle - 1, 0.95)


def _cards_of(
    v: View, seat: int, x: float, y: float, width: float, height: float, middle: float
) -> tuple[list[Markup], dict[str, Any]]:
    """A player's hand, pack, power and forecast cards, and their facts. Hidden cards are only a number."""
    s, shown = v.s, v.sees(seat)
    parts: list[Markup] = []
    data: dict[str, Any] = {}
    more = s.drafting or s.modules[[Module.POWERS, Module.FORECASTS]].any()
    for field, left, room in (("hand", _HAND, 152 if more else 240), ("pack", _PACK, 146)):
        cards = s[field][seat].tolist()
        if field == "pack" and not any(cards):
            continue
        data |= {f"data_{field}_size": str(sum(cards)), f"data_{field}": joined(cards) if shown else None}
        if shown:
            parts += card_counts(cards, x + left, middle - 13, room, f"data_{field}_card")
        else:
            parts += card_back(sum(cards), x + left, middle - 13)
    power = int(s.power[seat])
    lines = []
    if power != Power.NONE:
        data["data_power"] = POWER_NAMES[power]
        badge = circle(x + _POWER, middle, 15, FORECAST_FILL, FORECAST_EDGE, 2)
        icon = use(f"weather-{POWER_NAMES[power]}", x + _POWER, middle, 0.9)
        parts.append(titled(power_text(power), badge, icon, data_badge=POWER_NAMES[power]))
        lines.append(power_text(power))
    held = forecasts_held(s, seat)
    if s.modules[Module.FORECASTS]:
        data |= {"data_forecasts_size": str(len(held)), "data_forecasts": joined(held) if shown else None}
        for i, number in enumerate(held):
            parts.append(_forecast_card(number if shown else None, x + width - 20 - 30 * (len(held) - 1 - i), middle))
    if shown:
        lines += [f"{n}, {FORECASTS[n].when}: {FORECASTS[n].text}" for n in held]
    below = middle + 27
    if below + _LINE * (len(lines) - 1) + 6 <= y + height:
        parts += [text(line, x + 48, below + _LINE * i, 12, fill=MUTED) for i, line in enumerate(lines)]
    return parts, data


def _forecast_card(number: int | None, x: float, middle: float) -> Markup:
    if number is None:
        return box(x - 12, middle - 15, 24, 30, 4, fill=FORECAST_EDGE, stroke=INK, stroke_width=1)
    card = FORECASTS[number]
    return titled(
        f"forecast card {number}, {card.when}: {card.text}",
        box(x - 12, middle - 15, 24, 30, 4, fill=FORECAST_FILL, stroke=FORECAST_EDGE, stroke_width=1.5),
        text(str(number), x, middle + 5, 14, bold=True, anchor="middle"),
        data_forecast=str(number),
    )
