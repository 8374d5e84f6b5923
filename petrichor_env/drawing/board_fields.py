"""The Fields in a picture: a tile for every position, with crop, drops, tokens, and the cloud above it."""

from __future__ import annotations

from collections.abc import Iterator

from petrichor_env.drawing.pieces import View, cloud, owner_token, owner_tokens
from petrichor_env.drawing.text import drops_to_grow, harvest_words, harvest_worth
from petrichor_env.state import CROP_NAMES, FACE_DOWN, NOBODY, STATE, Cloud, Crop, Decision, Growing
from petrichor_env.words import CLOUD_NAMES, FIELDS, GROWING_NAMES, crop_name
from tabletop_engine.decisions import check_table
from tabletop_engine.drawing.cached import cached_drawing
from tabletop_engine.drawing.panels import EDGE, MUTED, STRONG
from tabletop_engine.drawing.svg import INK, Markup, box, circle, group, text, titled, use, width_of
from tabletop_engine.text.words import name_or_none

GAP = 8
_SIDE = 4
_WIDTH = 143
"""The width of a tile in its own units: that of a tile with five players."""
_SKY = 21
"""The top of the room for the cloud, below crop and position."""
_BADGES = 21
"""The part of that room for the numbers of the Southern Winds cards with an effect on this tile."""
_GROUND = 57
"""The height of a tile below the cloud."""

GROUNDS = {
    Crop.WHEAT: "#fbf1cf",
    Crop.COTTON: "#f1eff6",
    Crop.GRASS: "#e4f2d8",
    Crop.POTATO: "#f1e5d4",
    Crop.COFFEE: "#ecdfd3",
    Crop.RICE: "#e2f0ea",
    Crop.CORN: "#fdf4bd",
    Crop.CACTUS: "#dcefdf",
    Crop.LAKE: "#d3e8f6",
    Crop.SNOWDROP: "#e6f0f7",
    Crop.DANDELION: "#f4f6cd",
    Crop.PRIMROSE: "#f8e5f1",
}
check_table(GROUNDS, Crop)
_GROWING_EDGES = {Growing.SPROUTING: "#8a9a3a", Growing.DEVELOPED: "#1d7a3e", Growing.DROWNED: "#2a5f9e"}
check_table(_GROWING_EDGES, set(Growing) - {Growing.NONE})

_AT_TARGET = (
    Decision.WIND_DIRECTION,
    Decision.WIND_TILE,
    Decision.WIND_WEATHER_DIRECTION,
    Decision.FORECAST_DIRECTION,
    Decision.FROST_POWER,
    Decision.RAIN_SECOND_DROP,
)
"""Decisions about the tile that was chosen before."""


def fields(v: View, x: float, y: float, tile_width: float, tile_height: float) -> Iterator[Markup]:
    """Every tile of the Fields; (x, y) is the corner of the first one."""
    hits: dict[int, list[int]] = {}  # the Southern Winds cards with an effect on each tile
    s = v.s
    for i in range(s.winds_revealed):
        hits.setdefault(int(s.winds_target[i]), []).append(int(s.winds_card[i]))
    lifted = v.by_owner(s.chosen_drops) if s.chosen_drops.any() else ""
    for tile in FIELDS[s.players]:
        left, top = x + tile % _SIDE * (tile_width + GAP), y + tile // _SIDE * (tile_height + GAP)
        chosen = s.target == tile and (bool(lifted) or s.decision in _AT_TARGET)
        cards = tuple(hits.get(tile, []))
        struck = bool(cards) and v.winds_are_new
        yield _tile(v, tile, left, top, tile_width, tile_height, cards, struck, chosen, lifted if chosen else "")


@cached_drawing(
    STATE,
    ("players", "owners", "controller"),
    ("crop", "growing", "drops", "cloud", "cloud_drops", "fertilizer", "pods", "blooms", "scored_drops"),
)
def _tile(
    v: View,
    tile: int,
    x: float,
    y: float,
    width: float,
    height: float,
    hits: tuple[int, ...],
    struck: bool,
    chosen: bool,
    lifted: str,
) -> Markup:
    """A tile. `lifted` are the drops by owner that are chosen on it."""
    s = v.s
    scale = width / _WIDTH
    low = height / scale
    crop = int(s.crop[tile])
    marked = struck or chosen
    data = {
        "data_tile": v.place(tile),
        "data_crop": crop_name(crop),
        "data_drops": v.by_owner(s.drops[tile]),
        "data_growing": GROWING_NAMES[s.growing[tile]],
        "data_cloud": CLOUD_NAMES[s.cloud[tile]],
        "data_cloud_drops": v.by_owner(s.cloud_drops[tile]),
        "data_fertilizer": str(s.fertilizer[tile]),
        "data_pods": str(s.pods[tile]),
        "data_blooms": str(s.blooms[tile]) if crop in (Crop.SNOWDROP, Crop.PRIMROSE) else None,
        "data_controller": name_or_none(v.seats, s.controller) if crop == Crop.PRIMROSE else None,
        "data_chosen": "1" if chosen else None,
        "data_chosen_drops": lifted or None,
        "data_scored_drops": v.by_owner(s.scored_drops[tile]) if s.scored_drops[tile].any() else None,
    }
    if crop == FACE_DOWN:
        parts = [*_face_down(v, tile, low)]
    else:
        top = _SKY + (_BADGES if hits else 0)
        room = low - _GROUND - top
        parts = [*_ground(v, tile, crop, low, 1 if marked else 0), *_tokens(v, tile, low, top + room / 2)]
        if s.cloud[tile] != Cloud.NONE:
            bigger = min(room / 57, 0.94)
            parts.append(cloud(v, tile, 84, top + room / 2 + 6 * bigger, bigger))
    if marked:
        out = min(4, GAP / 2 / scale)  # around the edge, whose colour shows what grows
        frame = box(-out, -out, _WIDTH + 2 * out, low + 2 * out, 9 + out, fill=STRONG if struck else INK)
        parts.insert(0, frame)
    for i, card in enumerate(hits):
        x_of, y_of = 16 + 22 * i, _SKY + _BADGES / 2
        parts.append(circle(x_of, y_of, 9.5, STRONG if struck else MUTED, "#ffffff", 1.2))
        parts.append(text(str(card), x_of, y_of + 4.6, 13, bold=True, anchor="middle", fill="#ffffff"))
    return titled(_in_words(v, tile), group(*parts, x=x, y=y, scale=scale), **data)


def _face_down(v: View, tile: int, low: float) -> Iterator[Markup]:
    yield box(0, 0, _WIDTH, low, 9, fill="#8fa3b3", stroke="#5d7385", stroke_width=1.5)
    yield box(8, 8, _WIDTH - 16, low - 16, 6, fill="none", stroke="#b9c7d2", stroke_width=2)
    yield text(v.place(tile), 17, 28, 14, bold=True, fill="#ffffff")
    if v.s.fertilizer[tile]:
        yield use("fertilizer", _WIDTH / 2, low / 2, 2)
    else:
        yield text("?", _WIDTH / 2, low / 2 + 20, 56, bold=True, anchor="middle", fill="#b9c7d2")


def _ground(v: View, tile: int, crop: int, low: float, inset: float) -> Iterator[Markup]:
    """The tile itself: crop, drops that it needs, points, and the drops on it. `inset` is that of its edge."""
    s = v.s
    growing = int(s.growing[tile])
    edge, width = (_GROWING_EDGES[Growing(growing)], 3) if growing else (EDGE, 1.2)
    fill, wide, high = GROUNDS[Crop(crop)], _WIDTH - 2 * inset, low - 2 * inset
    yield box(inset, inset, wide, high, 9 - inset, fill=fill, stroke=edge, stroke_width=width)
    place = v.place(tile)
    yield text(place, 8, 17, 13, fill=MUTED)
    need = drops_to_grow(s, v.t, tile)
    left = 13 + width_of(place, 13)
    room = _WIDTH - 24 - width_of(need, 13.5, True) - left
    yield text(CROP_NAMES[crop].capitalize(), left, 17, 13.5, bold=True, fit=room)
    if need:
        yield text(need, _WIDTH - 19, 17, 13.5, bold=True, anchor="end")
        yield use("drop", _WIDTH - 11.5, 12, 0.48)
    name = "snowdrop-closed" if crop == Crop.SNOWDROP and not s.blooms[tile] else CROP_NAMES[crop]
    yield use(f"crop-{name}", 26, low - 27, 1.08)
    yield from owner_tokens(v, s.drops[tile], 96, low - 39, 84, rows=2, name="data_drop")
    if crop != Crop.PRIMROSE:
        yield use("weather-harvest", 61, low - 12, 0.5)
        yield text(harvest_worth(s, v.t, tile), 69, low - 8, 11.5, fit=70, fill=MUTED)


def _tokens(v: View, tile: int, low: float, middle: float) -> Iterator[Markup]:
    """Things on the tile besides drops: left of the cloud, around `middle`, and on the crop."""
    s = v.s
    beside = [name for name, field in (("fertilizer", "fertilizer"), ("pod", "pods")) if s[field][tile]]
    for i, name in enumerate(beside):
        yield use(name, 14, middle + (i - (len(beside) - 1) / 2) * 25)
    if s.growing[tile]:
        yield use(GROWING_NAMES[s.growing[tile]], 41, low - 14, 0.9)
    if s.crop[tile] == Crop.PRIMROSE:
        yield use("bloom", 41, low - 14, 0.9)
        yield text(str(s.blooms[tile]), 53, low - 9, 13, bold=True)
        yield use("crown", 77, low - 13, 0.75)
        yield text(f"+{int(s.blooms[tile]) * v.t.primrose_points}", 87, low - 9, 12, fill=MUTED)
        if s.controller != NOBODY:
            yield owner_token(v, s.controller, None, 128, low - 14, 0.6)


def _in_words(v: View, tile: int) -> str:
    """A tile in words: `b2 wheat, drops 3/3: player_0 3; developed; light cloud: player_1 2; a Harvest …`."""
    s, crop = v.s, int(v.s.crop[tile])
    words = f"{v.place(tile)} {crop_name(crop).replace('_', ' ')}"
    if s.drops[tile].any():
        words += f", drops {drops_to_grow(s, v.t, tile)}: {v.in_words(s.drops[tile])}"
    if s.growing[tile]:
        words += f"; {GROWING_NAMES[s.growing[tile]]}"
    words += "".join(f"; {token}" for token in ("fertilizer", "pods") if s[token][tile])
    if s.cloud[tile]:
        words += f"; {CLOUD_NAMES[s.cloud[tile]]} cloud: {v.in_words(s.cloud_drops[tile])}"
    harvest = "" if crop == FACE_DOWN else harvest_words(s, v.t, tile)
    return f"{words}; {harvest}" if harvest else words
