"""Cards in a picture: the market, the fertility zone, the piles, and what players drafted."""

from __future__ import annotations

from collections.abc import Iterator

from evergreen_env.actions import DRAFT
from evergreen_env.drawing.icons import GROUNDS, INKS
from evergreen_env.drawing.view import View
from evergreen_env.state import BIOME_NAMES, CARD_NAMES, NO_CARD, NUM_BIOMES, NUM_POWERS, POWER_NAMES, STATE, WILD
from evergreen_env.words import card_word, icons_word
from tabletop_engine.drawing.cached import cached_drawing
from tabletop_engine.drawing.panels import EDGE, MUTED, STRONG, panel
from tabletop_engine.drawing.svg import INK, Markup, box, element, text, titled, use

_TITLE = 30
"""The height of the title of a panel."""
_PILES = 84
"""The width of the column with the numbers of cards."""


def card_words(v: View, card: int) -> str:
    """A card and its icons in words: `rock bush: 2 flowers`."""
    return f"{card_word(card)}: {icons_word(v.t, card)}"


def _icons(v: View, card: int, x: float, y: float, scale: float, step: float) -> Iterator[Markup]:
    """The flowers or skulls of a card, around the middle (x, y)."""
    flowers, skulls = int(v.t.flowers[card]), int(v.t.skulls[card])
    names = ["flower"] * flowers + ["skull"] * skulls
    for i, name in enumerate(names):
        yield use(name, x + (i - (len(names) - 1) / 2) * step, y, scale)


def _face(card: int) -> tuple[str, str, str, str]:
    """The name of a card's type, its ground, its edge, and the name of its power."""
    kind, power = divmod(card, NUM_POWERS)
    return BIOME_NAMES[kind], GROUNDS[kind], INKS[kind], POWER_NAMES[power]


def drafted_card(v: View, seat: int, x: float, y: float, width: float, height: float) -> Markup:
    """The card that a player took in this round, turned on its side: type, icons, power."""
    card = int(v.s.card[seat])
    if card == NO_CARD:
        frame = box(x, y, width, height, 7, fill="none", stroke=EDGE, stroke_width=1.5, stroke_dasharray="5 4")
        word = text("no card", x + width / 2, y + height / 2 + 4.5, 12, anchor="middle", fill=MUTED)
        return titled("no card yet", frame, word, data_card="")
    name, ground, ink, power = _face(card)
    middle, scale = y + height / 2, min(1.0, height / 36)
    return titled(
        f"{v.names[seat]} has {card_words(v, card)}",
        box(x, y, width, height, 7, fill=ground, stroke=ink, stroke_width=1.5),
        use(f"biome-{name}", x + 20 * scale, middle, scale),
        *_icons(v, card, x + width / 2, middle, 0.78 * scale, 17 * scale),
        use(f"power-{power}", x + width - 20 * scale, middle, 1.1 * scale),
        data_card=CARD_NAMES[card],
    )


# --- the market -------------------------------------------------------------------------------------------------------


def market(v: View, x: float, y: float, width: float, height: float) -> Iterator[Markup]:
    """The slots from the left, and beside them the numbers of cards elsewhere."""
    slots = int(v.s.players) + 1
    yield panel(x, y, width, height)
    yield text("Market", x + 14, y + 21, 15, bold=True)
    room = width - 24 - _PILES - 8
    high = height - _TITLE - 10
    wide = min(room / slots - 7, high * 0.78)
    step = min(room / slots, wide + 12)
    left = x + 12 + (room - slots * step) / 2
    for slot in range(slots):
        middle = left + slot * step + (step - wide) / 2
        yield _market_card(v, slot, middle, y + _TITLE, wide, high, DRAFT + slot in v.answers)
    yield _piles(v, x + width - _PILES - 6, y + _TITLE, _PILES, high)


@cached_drawing(STATE, ("marker",), ("market",))
def _market_card(v: View, slot: int, x: float, y: float, width: float, height: float, choice: bool) -> Markup:
    card = int(v.s.market[slot])
    number = text(str(slot + 1), x + 7, y + height - 7, 13, bold=True)
    data = {"data_market": str(slot + 1), "data_card": "" if card == NO_CARD else CARD_NAMES[card]}
    if card == NO_CARD:
        frame = box(x, y, width, height, 8, fill="none", stroke=EDGE, stroke_width=1.5, stroke_dasharray="5 4")
        number = text(str(slot + 1), x + width / 2, y + height / 2 + 8, 22, bold=True, anchor="middle", fill=EDGE)
        return titled(f"slot {slot + 1}: taken", frame, number, **data)
    name, ground, ink, power = _face(card)
    marked = v.s.marker == slot
    middle, scale = x + width / 2, height / 100
    parts = [
        box(x, y, width, height, 8, fill=ground, stroke=STRONG if choice else ink, stroke_width=2.6 if choice else 1.5),
        box(x + 5, y + 5, width - 10, 23 * scale, 5, fill="#ffffff", fill_opacity=0.6),
        *_icons(v, card, middle, y + 5 + 11.5 * scale, 0.82 * scale, 22 * scale),
        use(f"biome-{name}", middle, y + 48 * scale, 1.25 * scale),
        use(f"power-{power}", middle, y + 81 * scale, 1.08 * scale),
        number,
    ]
    if marked:
        parts.append(use("first", x + width - 9, y + height - 11, 0.8))  # the corner without words and flowers
    return titled(
        f"slot {slot + 1}: {card_words(v, card)}{', first player marker' if marked else ''}",
        *parts,
        data_icons=icons_word(v.t, card),
        data_marker="1" if marked else None,
        data_choice="1" if choice else None,
        **data,
    )


def _piles(v: View, x: float, y: float, width: float, height: float) -> Markup:
    s = v.s
    numbers = {"deck": int(s.deck).bit_count(), "discards": int(s.discards).bit_count()}
    aside = int(s.collected).bit_count()
    step = height / 3
    parts = []
    for i, (word, count) in enumerate((*numbers.items(), ("put aside", aside))):
        middle = y + step * (i + 0.5)
        parts.append(text(str(count), x + 20, middle + 6, 17, bold=True, anchor="end"))
        parts.append(text(word, x + 26, middle + 5, 12.5, fit=width - 26, fill=MUTED))
    words = f"{numbers['deck']} cards in the deck, {numbers['discards']} discarded"
    return titled(
        f"{words}, {aside} put aside until the season ends",
        *parts,
        data_deck=str(numbers["deck"]),
        data_discards=str(numbers["discards"]),
        data_collected=str(aside),
    )


# --- the fertility zone -----------------------------------------------------------------------------------------------


def fertility_zone(v: View, x: float, y: float, width: float, height: float, columns: int) -> Iterator[Markup]:
    """A pile for each biome, and one for wild cards if the flags put them into the zone."""
    piles: list[list[int]] = [[] for _ in range(NUM_BIOMES + 1)]
    for card in v.s.zone[: v.s.zone_size].tolist():
        piles[card // NUM_POWERS].append(card)
    shown = NUM_BIOMES + bool(piles[WILD])
    rows = -(-shown // columns) if columns < NUM_BIOMES else 1
    columns = -(-shown // rows)
    most = max(3, *map(len, piles))
    yield panel(x, y, width, height)
    yield text("Fertility", x + 14, y + 21, 15, bold=True)
    yield text("for each big tree, at the end", x + width - 14, y + 21, 12, anchor="end", fit=width - 100, fill=MUTED)
    across, down = (width - 24 + 6) / columns, (height - _TITLE - 10 + 6) / rows
    for pile in range(shown):
        row, column = divmod(pile, columns)
        left, top = x + 12 + column * across, y + _TITLE + row * down
        fertility = None if pile == WILD else int(v.s.fertility[pile])
        yield _pile(v, pile, tuple(piles[pile]), fertility, most, left, top, across - 6, down - 6)


@cached_drawing(STATE, ("face_down",), ("waiting_flips",))
def _pile(
    v: View,
    pile: int,
    cards: tuple[int, ...],
    fertility: int | None,
    most: int,
    x: float,
    y: float,
    width: float,
    height: float,
) -> Markup:
    """The fertility of a biome, and below it its cards in order, with room for the `most` cards of a pile."""
    name = BIOME_NAMES[pile]
    size = min(1.5, (height - 18) / 84, width / 70)
    head = y + 19 + 20 * size
    below = head + 19 * size
    parts = [
        box(x, y, width, height, 7, fill=GROUNDS[pile], stroke=INKS[pile], stroke_width=1.2),
        text(name.capitalize(), x + width / 2, y + 16, 12.5, anchor="middle", fit=width - 6),
        use(f"biome-{name}", x + width / 2 - (17 * size if fertility is not None else 0), head, 1.08 * size),
    ]
    if fertility is not None:
        parts.append(
            text(str(fertility), x + width / 2 + 17 * size, head + 9 * size, 25 * size, bold=True, anchor="middle")
        )
    shown, words = [], []
    room = y + height - 4 - below
    chip, per_row = max((min((width - 8) / n, room / -(-most // n), 30), n) for n in range(2, 8))
    lines = -(-len(cards) // per_row)
    for i, card in enumerate(cards):
        row, column = divmod(i, per_row)
        in_row = min(per_row, len(cards) - per_row * row)
        middle = x + width / 2 + (column - (in_row - 1) / 2) * chip
        top = below + room / 2 + (row - (lines - 1) / 2) * chip
        down = bool(int(v.s.face_down) >> card & 1)
        parts += _chip(v, card, down, middle, top, chip - 2.5)
        shown.append(CARD_NAMES[card])
        words.append(card_words(v, card) + (" (face down)" if down else ""))
    waiting = int(v.s.waiting_flips[pile])
    if waiting:
        words.append("an aridity waits for the next flowers")
    heading = name.capitalize() + ("" if fertility is None else f": fertility {fertility}")
    return titled(
        f"{heading}; {', '.join(words) or 'no cards'}",
        *parts,
        data_biome=name,
        data_fertility=None if fertility is None else str(fertility),
        data_waiting_flips=str(waiting) if waiting else None,
        data_zone=",".join(shown),
        data_face_down=",".join(CARD_NAMES[card] for card in cards if int(v.s.face_down) >> card & 1),
    )


def _chip(v: View, card: int, down: bool, x: float, y: float, size: float) -> Iterator[Markup]:
    """A card of the zone, `size` wide and high: its flowers, its skulls, or its back."""
    half = size / 2
    skulls = int(v.t.skulls[card])
    fill = "#4d5963" if down else "#ffffff"
    yield box(x - half, y - half, size, size, 3.5, fill=fill, stroke=INK if down or skulls else EDGE, stroke_width=1)
    if down:
        yield element(
            "path",
            d=f"M{x - half * 0.45:.4g} {y - half * 0.45:.4g}L{x + half * 0.45:.4g} {y + half * 0.45:.4g}"
            f"M{x + half * 0.45:.4g} {y - half * 0.45:.4g}L{x - half * 0.45:.4g} {y + half * 0.45:.4g}",
            stroke="#aeb9c2",
            stroke_width=1.6,
        )
        return
    icons = int(v.t.flowers[card]) or skulls
    scale = size / {1: 26, 2: 33, 3: 41}[icons]
    spots = {1: ((0, 0),), 2: ((-0.17, -0.17), (0.17, 0.17)), 3: ((-0.24, -0.22), (0.24, -0.22), (0, 0.24))}[icons]
    for right, low in spots:
        yield use("skull" if skulls else "flower", x + right * size, y + low * size, scale)
