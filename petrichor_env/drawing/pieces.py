"""Pieces that appear in many parts of a picture: tokens of owners, numbers of cards, clouds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from petrichor_env.drawing.decisions import hides_actor
from petrichor_env.drawing.icons import owner_shape
from petrichor_env.drawing.text import cloud_number, cloud_words
from petrichor_env.state import NOBODY, WEATHER_NAMES, Cloud, Phase, State
from petrichor_env.tables import Tables
from petrichor_env.words import CLOUD_NAMES, WEATHER_WORDS, tile_name
from tabletop_engine.drawing.cached import Shown
from tabletop_engine.drawing.owners import token
from tabletop_engine.drawing.panels import EDGE
from tabletop_engine.drawing.svg import INK, Markup, box, group, text, title, titled, use
from tabletop_engine.text.words import counted, joined

WEATHER_TINTS = ("#d9ecf8", "#fdeeb9", "#d7ece6", "#dbe1f5")
WEATHER_EDGES = ("#2f7fb8", "#c98a00", "#3d7f78", "#47599c")
FORECAST_FILL, FORECAST_EDGE = "#efe6f8", "#7a4fa3"
_CARD_HEIGHT = 26


@dataclass(frozen=True)
class View(Shown):
    """A game to draw."""

    s: State
    t: Tables

    @property
    def actor(self) -> int:
        """The seat that takes the pending decision; NOBODY if that is hidden, and at the end."""
        return NOBODY if hides_actor(self.s, self.viewer) else self.s.actor

    @property
    def winds_are_new(self) -> bool:
        """Whether the Southern Winds cards in the picture have just been revealed; in later phases they are old."""
        return self.s.phase == Phase.ACTION

    def place(self, tile: int) -> str:
        """The name of a tile's position."""
        return tile_name(self.s.players, tile)

    def by_owner(self, counts: np.ndarray) -> str:
        """Counts by owner, such as `3,0`."""
        return joined(counts[: self.s.owners].tolist())

    def in_words(self, counts: np.ndarray) -> str:
        """Counts by owner in words: `player_0 3, player_1 1`."""
        there = zip(self.said, counts.tolist(), strict=False)
        return ", ".join(f"{seat} {count}" for seat, count in there if count)


def owner_token(v: View, owner: int, count: int | None, x: float, y: float, scale: float = 1) -> Markup:
    """The shape of an owner with a number in it."""
    return token(owner_shape(v.s.players, owner), count, x, y, scale)


def owner_tokens(
    v: View, counts: np.ndarray, x: float, y: float, width: float, scale: float = 1, rows: int = 1, name: str = ""
) -> Iterator[Markup]:
    """A token for every owner with a count above 0, around the middle (x, y). Many tokens are closer, or in two rows.

    Arguments:
        name: the name of the attribute with the owner of the drops.
    """
    there = [(owner, count) for owner, count in enumerate(counts[: v.s.owners].tolist()) if count]
    if not there:
        return
    lines = [there]
    if rows == 2 and len(there) > 4:
        scale *= 0.78
        half = (len(there) + 1) // 2
        lines = [there[:half], there[half:]]
    pitch = min(29 * scale, width / max(map(len, lines)))
    scale = min(scale, pitch / 25)
    for i, line in enumerate(lines):
        for j, (owner, count) in enumerate(line):
            down = (i - (len(lines) - 1) / 2) * 29 * scale
            spot = x + (j - (len(line) - 1) / 2) * pitch, y + down, scale
            if name:
                yield _drops(name, v.seats[owner], v.said[owner], owner_shape(v.s.players, owner), count, *spot)
            else:
                yield owner_token(v, owner, count, *spot)


@lru_cache(maxsize=4096)
def _drops(name: str, seat: str, said: str, shape: int, count: int, x: float, y: float, scale: float) -> Markup:
    return titled(f"{said}: {counted(count, 'drop')}", token(shape, count, x, y, scale), **{name: seat})


def card_counts(counts: Sequence[int], x: float, y: float, width: float, name: str = "") -> Iterator[Markup]:
    """The number of cards of each kind, in a row of small cards from (x, y). Without cards of a kind its card is blank.

    Arguments:
        name: the name of the attribute with the kind of the cards.
    """
    step = width / len(counts)
    for kind, count in enumerate(counts):
        yield _cards(kind, count, x + kind * step, y, step, name)


@lru_cache(maxsize=4096)
def _cards(kind: int, count: int, x: float, y: float, step: float, name: str) -> Markup:
    if not count:
        return box(x, y, step - 3, _CARD_HEIGHT, 4, fill="none", stroke=EDGE)
    middle, size = y + _CARD_HEIGHT / 2, min(0.8, step / (52 if count < 10 else 64))
    return titled(
        counted(count, f"{WEATHER_WORDS[kind]} card"),
        box(x, y, step - 3, _CARD_HEIGHT, 4, fill=WEATHER_TINTS[kind], stroke=WEATHER_EDGES[kind]),
        use(f"weather-{WEATHER_NAMES[kind]}", x + 14.5 * size, middle, size),
        text(str(count), x + step - (8 if step > 44 else 5), middle + 5, 14, bold=True, anchor="end"),
        **({name: WEATHER_NAMES[kind]} if name else {}),
    )


def card_back(number: int, x: float, y: float) -> Iterator[Markup]:
    """Hidden cards with their number, from (x, y)."""
    yield use("card-back", x + 15, y + _CARD_HEIGHT / 2)
    yield text(str(number), x + 37, y + _CARD_HEIGHT / 2 + 5, 14, bold=True)


def cloud(v: View, tile: int, x: float, y: float, scale: float) -> Markup:
    """The cloud above a tile with its drops, and their number beside the one at which it grows or overflows."""
    s = v.s
    kind = int(s.cloud[tile])
    light = kind == Cloud.LIGHT
    middle, room = (0, 104) if light else (10, 80)
    return group(
        title(f"{cloud_words(s, tile)} on {v.place(tile)}: {v.in_words(s.cloud_drops[tile])}"),
        use("cloud-shadow", 3, 5, fill=INK, fill_opacity=0.16),
        use(f"cloud-{CLOUD_NAMES[kind]}"),
        text(cloud_number(s, tile), 0, -12, 15, bold=True, anchor="middle", fill=INK if light else "#ffffff"),
        *owner_tokens(v, s.cloud_drops[tile], middle, 6, room, 0.88, name="data_cloud_drop"),
        x=x,
        y=y,
        scale=scale,
        data_cloud_on=v.place(tile),
    )
