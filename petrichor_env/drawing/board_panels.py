"""The panels beside the Fields in a picture: weather and votes, dice, stocks, forecast cards, Southern Winds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from petrichor_env.drawing.card_texts import FORECASTS
from petrichor_env.drawing.pieces import (
    FORECAST_EDGE,
    FORECAST_FILL,
    WEATHER_EDGES,
    WEATHER_TINTS,
    View,
    card_counts,
    owner_tokens,
)
from petrichor_env.drawing.text import CARD_WORDS, clouds_left, drops_lines, tokens_left, winds_icons
from petrichor_env.state import (
    FACE_DOWN,
    HARVEST,
    NOBODY,
    NUM_FORECASTS,
    NUM_TILES,
    PLAYED,
    STATE,
    WEATHER_NAMES,
    Module,
    State,
)
from petrichor_env.tables import RESHUFFLE
from petrichor_env.words import WEATHER_WORDS
from tabletop_engine.drawing.cached import cached_drawing
from tabletop_engine.drawing.panels import EDGE, MUTED, PANEL, STRONG, panel
from tabletop_engine.drawing.svg import (
    INK,
    Markup,
    box,
    circle,
    element,
    group,
    paragraph,
    path,
    text,
    titled,
    use,
    width_of,
)
from tabletop_engine.text.words import counted, joined

# --- weather and votes ------------------------------------------------------------------------------------------------

_SPACES = ((0, 0), (1, 0), (1, 1), (0, 1))
"""The column and row of the space of each Weather, clockwise."""


def weather_wheel(v: View, x: float, y: float, width: float, height: float) -> Iterator[Markup]:
    """The four spaces in the weather sequence, with the votes on each."""
    across, down = (width - 6) / 2, (height - 6) / 2
    for kind, (column, row) in enumerate(_SPACES):
        left, top = x + column * (across + 6), y + row * (down + 6)
        yield _weather_space(v, kind, left, top, across, down, v.s.weather == kind)
    yield _clockwise(x + width / 2, y + height / 2)


@cached_drawing(STATE, ("players", "owners"), ("votes", "selected"))
def _weather_space(v: View, kind: int, x: float, y: float, width: float, height: float, resolving: bool) -> Markup:
    votes, selected = v.s.votes[kind], bool(v.s.selected[kind])
    total = int(votes.sum())
    parts = [
        box(
            x, y, width, height, 8, fill=WEATHER_TINTS[kind],
            stroke=STRONG if resolving else INK if selected else WEATHER_EDGES[kind],
            stroke_width=4 if resolving else 3 if selected else 1,
        ),
        use(f"weather-{WEATHER_NAMES[kind]}", x + 24, y + 26, 1.4),
        text(WEATHER_WORDS[kind], x + 45, y + 32, 17, bold=True),
        text(str(total), x + width - 12, y + 33, 21, bold=True, anchor="end", fill=None if total else MUTED),
        *owner_tokens(v, votes, x + width / 2, y + height / 2 + 14, width - 18, min(1.25, (height - 50) / 70)),
    ]  # fmt: skip
    if selected or resolving:
        word, colour = ("resolving", STRONG) if resolving else ("selected", INK)
        below = kind in (1, 2)
        wide = width_of(word, 12, True) + 16
        left = x + width - wide - 6 if below else x + 6
        parts.append(box(left, y + height - 23, wide, 18, 9, fill=colour))
        parts.append(text(word, left + wide / 2, y + height - 10, 12, bold=True, anchor="middle", fill="#ffffff"))
    data = {"data_weather": WEATHER_NAMES[kind], "data_votes": v.by_owner(votes)}
    flags = {"data_selected": str(int(selected)), "data_resolving": str(int(resolving))}
    return titled(f"{WEATHER_WORDS[kind]}: {counted(total, 'vote')}", *parts, **data, **flags)


@lru_cache(maxsize=64)
def _clockwise(x: float, y: float) -> Markup:
    return group(
        circle(0, 0, 19, PANEL, EDGE, 1),
        path("M-9.5-3A10 10 0 0 1 9-4.500M9.5 3A10 10 0 0 1-9 4.500", None, MUTED, 2.6),
        path("M10-12V-3H1ZM-10 12V3H-1Z", MUTED),
        x=x,
        y=y,
        pointer_events="none",
    )


# --- dice and stocks --------------------------------------------------------------------------------------------------


def harvest_dice(v: View, x: float, y: float, width: float, height: float) -> Iterator[Markup]:
    """The Harvest dice. They are not rolled while the tiles lie face down."""
    rolled = not (v.s.crop == FACE_DOWN).any()
    sides = ["harvest" if side == HARVEST else str(side) for side in v.s.dice.tolist()] if rolled else []
    middle, scale = y + height / 2, min(1.5, (height - 18) / 42)
    step, first = 40 * scale + 12, x + width - 14 - 20 * scale
    yield titled(
        f"Harvest dice: {', '.join(sides) or 'not rolled yet'}",
        panel(x, y, width, height),
        text("Harvest", x + 14, middle - 4, 16, bold=True),
        text("dice", x + 14, middle + 15, 16, bold=True),
        *(
            _die(i, side, first - step * (2 - i), y, step, height, scale)
            for i, side in enumerate(sides or ["unknown"] * 3)
        ),
        data_dice=joined(sides),
    )


@lru_cache(maxsize=256)
def _die(i: int, side: str, x: float, y: float, width: float, height: float, scale: float) -> Markup:
    """A die around x, and the area around it that can be touched."""
    return titled(
        f"Harvest die: {side}",
        box(x - width / 2, y, width, height, fill="none", pointer_events="all"),
        use(f"die-{side}", x, y + height / 2, scale),
        data_die=str(i),
    )


_LEFT = {"cloud-light": (22, 0.36, "clouds left"), "pod": (11, 0.95, "pods left"), "fertilizer": (10, 1, "to place")}
"""For each common piece half its width, its scale, and words."""


def stocks(v: View, x: float, y: float, width: float, height: float) -> Iterator[Markup]:
    """The deck, the discards, and the common pieces that are left."""
    s, row = v.s, height / 3
    deck, discards = s.deck.tolist(), s.discards.tolist()
    clouds = clouds_left(s, v.t)
    shown = v.viewer is None
    first, second, third = (y + row * (i + 0.5) for i in range(3))
    parts = [
        panel(x, y, width, height),
        text("Deck", x + 14, first + 5, 14),
        text(str(sum(deck)), x + 106, first + 5.5, 15, bold=True, anchor="end"),
        text("Discards", x + 14, second + 5, 14),
        text(str(sum(discards)), x + 106, second + 5.5, 15, bold=True, anchor="end"),
        *card_counts(discards, x + 118, second - 13, width - 128),
        *(card_counts(deck, x + 118, first - 13, width - 128) if shown else [use("card-back", x + 134, first)]),
    ]
    at = x + 14
    for name, number in (("cloud-light", clouds), *tokens_left(s, v.t)):
        half, scale, words = _LEFT[name]
        parts.append(use(name, at + half, third, scale))
        parts.append(text(f"{number} {words}", at + 2 * half + 6, third + 5, 14))
        at += 2 * half + 22 + width_of(f"{number} {words}", 14)
    yield element(
        "g",
        *parts,
        data_deck=str(sum(deck)),
        data_deck_kinds=joined(deck) if shown else None,
        data_discards=joined(discards),
        data_clouds_left=str(clouds),
    )


def notes_height(s: State) -> float:
    """The height of `module_notes`: 0 unless a module needs notes."""
    if not s.modules[[Module.POWERS, Module.FORECASTS]].any():
        return 0
    scored = np.count_nonzero(s.scored_drops.any(axis=1))
    return 84 + min(66, s.players * scored * 2.2)


def module_notes(v: View, x: float, y: float, width: float, height: float) -> Iterator[Markup]:
    """The places of the forecast cards, and the drops that count for them and for powers in this Harvest."""
    s = v.s
    yield panel(x, y, width, height)
    counting = np.flatnonzero(s.counts_clouds)
    lines = [f"Drops of {v.said[seat]} in clouds count below them in this Harvest." for seat in counting]
    lines += drops_lines(s)
    top = y + 8
    if s.modules[Module.FORECASTS]:
        yield _forecast_cards(v, x + 12, y + 8, width - 24)
        top += 38
    yield from paragraph(lines, x + 12, top, 12.5, width - 24, y + height - 5 - top)


def _forecast_cards(v: View, x: float, y: float, width: float) -> Markup:
    """All cards by number: dark if out of the game, coloured if in a hand that the viewer sees, otherwise white."""
    holder = v.s.forecast_holder
    out = holder == PLAYED
    seen = [seat >= 0 and v.sees(seat) for seat in holder.tolist()]
    step = width / NUM_FORECASTS
    parts = [_forecast_chip(i + 1, bool(out[i]), seen[i], x + i * step, y + 15, step) for i in range(NUM_FORECASTS)]
    caption = f"forecast cards: dark are out of the game, coloured {'in hands' if v.viewer is None else 'your own'}"
    numbers = {"data_forecasts_out": joined((np.flatnonzero(out) + 1).tolist())}
    undealt = np.flatnonzero(holder == NOBODY) + 1
    numbers["data_forecasts_not_dealt_size"] = str(len(undealt))
    if v.viewer is None:
        numbers["data_forecasts_not_dealt"] = joined(undealt.tolist())
    return element("g", text(caption, x, y + 9, 11.5, fit=width, fill=MUTED), *parts, **numbers)


@lru_cache(maxsize=256)
def _forecast_chip(number: int, out: bool, seen: bool, x: float, y: float, step: float) -> Markup:
    fill, ink = (MUTED, "#ffffff") if out else (FORECAST_FILL, INK) if seen else (PANEL, MUTED)
    return titled(
        f"forecast card {number}, {FORECASTS[number].when}: {FORECASTS[number].text}",
        box(x, y, step - 2.5, 18, 3, fill=fill, stroke=FORECAST_EDGE if seen else EDGE),
        text(str(number), x + step / 2 - 1.2, y + 13, 11, bold=seen, anchor="middle", fill=ink),
        data_forecast=str(number),
    )


# --- Southern Winds ---------------------------------------------------------------------------------------------------


def southern_winds(v: View, x: float, y: float, width: float, height: float) -> Iterator[Markup]:
    """The cards that were revealed since the player's last turn, and the cards in the deck."""
    s = v.s
    yield panel(x, y, width, height)
    yield use("weather-wind", x + 22, y + 22, 1)
    yield text("Southern Winds", x + 40, y + 27, 15, bold=True, fit=width - 50)
    step = (height - 40 - 46) / 6
    for i in range(s.winds_revealed):
        yield _winds_card(v, i, x + 8, y + 40 + i * step, width - 16, step - 6)
    yield _winds_deck(v, x + 10, y + height - 42, width - 20)


def _winds_card(v: View, i: int, x: float, y: float, width: float, height: float) -> Markup:
    s, t = v.s, v.t
    card, roll, target = int(s.winds_card[i]), int(s.winds_roll[i]), int(s.winds_target[i])
    hit = 0 <= target < NUM_TILES
    strong = hit and v.winds_are_new
    icons = winds_icons(t, card)
    bottom = y + height - 15
    fill, edge = ("#fbf3ee", STRONG) if strong else ("#f3f5f7", EDGE)
    parts = [
        box(x, y, width, height, 6, fill=fill, stroke=edge, stroke_width=1.5),
        circle(x + 17, y + 17, 11, STRONG if strong else MUTED),
        text(str(card), x + 17, y + 22, 14, bold=True, anchor="middle", fill="#ffffff"),
        *paragraph([CARD_WORDS[card - 1]], x + 34, y + 7, 12.5, width - 40, height - 34),
        text(v.place(target) if hit else "no target: +1", x + 10, bottom + 5, 14 if hit else 12, bold=True),
        *(use(f"weather-{name}", x + width - 16 - 25 * k, bottom, 0.85) for k, name in enumerate(reversed(icons))),
    ]
    if roll:
        left = x + 48 if hit else x + 104
        parts.append(box(left - 9, bottom - 9, 18, 18, 4, fill=PANEL, stroke=INK, stroke_width=1.2))
        parts.append(text(str(roll), left, bottom + 5, 13, bold=True, anchor="middle"))
    data = {"data_winds_card": str(card), "data_target": v.place(target) if hit else "", "data_roll": str(roll)}
    return titled(CARD_WORDS[card - 1], *parts, data_icons=joined(icons), **data)


def _winds_deck(v: View, x: float, y: float, width: float) -> Markup:
    """The number of every card, dark while the card is in the deck."""
    there = (np.flatnonzero(v.s.winds_deck) + 1).tolist()
    step = width / RESHUFFLE
    chips = []
    for number in range(1, RESHUFFLE + 1):
        middle = x + (number - 0.5) * step
        inside = number in there
        chips.append(circle(middle, y + 27, min(9, step / 2 - 0.5), MUTED if inside else PANEL, EDGE, 1))
        fill = "#ffffff" if inside else "#9aa6b0"
        chips.append(text(str(number), middle, y + 31.2, 11.5, bold=inside, anchor="middle", fill=fill))
    return element("g", text("in the deck", x, y + 12, 12, fill=MUTED), *chips, data_winds_deck=joined(there))
