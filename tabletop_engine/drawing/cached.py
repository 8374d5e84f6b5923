"""Parts of pictures that are drawn anew only if what they show has changed, since most of a board stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from tabletop_engine.drawing.svg import clean
from tabletop_engine.errors import TabletopError

_MOST = 400
"""Drawings of each kind of part after which those are forgotten that nothing has shown since as many before."""

V = TypeVar("V", bound="Shown")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Shown:
    """A game to draw.

    Attributes:
        s: the record.
        t: the printed numbers that it is played with.
        viewer: the seat that looks on; None sees everything.
        names: the labels of the owners.
        seats: the same as `owner_names` has them: `player_0` and so on.
    """

    s: Any
    t: Any
    viewer: int | None
    names: tuple[str, ...]
    seats: tuple[str, ...] = ()

    @classmethod
    def of(cls, s: Any, t: Any, viewer: int | None, seats: tuple[str, ...], names: Sequence[str] | None) -> Self:
        """A game with these owners; `names` are their labels, and may leave out an opponent that the rules play.

        Raises TabletopError for a viewer who does not play and for a wrong number of names.
        """
        players = int(s.players)
        if viewer is not None and viewer not in range(players):
            raise TabletopError(f"viewer={viewer!r}: must be a seat from 0 to {players - 1}, or None")
        labels = seats if names is None else tuple(map(clean, names))
        if len(labels) == players:
            labels += seats[players:]
        if len(labels) != len(seats):
            raise TabletopError(f"names={names!r}: one for each of {players} seats")
        return cls(s, t, viewer, labels, seats)

    @property
    def said(self) -> tuple[str, ...]:
        """What the owners are called in words: their labels, if all differ, otherwise as `seats`."""
        return self.names if len(set(self.names)) == len(self.names) else self.seats

    def sees(self, seat: int) -> bool:
        """Whether the viewer sees what this seat hides from others."""
        return self.viewer is None or self.viewer == seat

    @cached_property
    def record(self) -> bytes:
        return bytes(self.s.tobytes())

    @cached_property
    def numbers(self) -> bytes:
        return bytes(self.t.tobytes())


def cached_drawing(
    record: np.dtype[Any], fields: Sequence[str], rows: Sequence[str] = ()
) -> Callable[[Callable[Concatenate[V, int, P], T]], Callable[Concatenate[V, int, P], T]]:
    """Keep what a function draws, for the next time that it would draw the same.

    The function's arguments are what is shown, the number of a row, and others that are hashable. Of the record it sees
    only these fields, and that row of the fields `rows`; all else is 0. So nothing else can make a difference.
    """
    declared: Mapping[str, Any] = record.fields or {}
    spans = []  # of each field its first byte, the size of what is seen of it, and the step from row to row
    for name in (*fields, *rows):
        kind, first = declared[name][:2]
        size = kind.itemsize if name in fields else kind.itemsize // kind.shape[0]
        spans.append((first, size, 0 if name in fields else size))

    def decorate(draw: Callable[Concatenate[V, int, P], T]) -> Callable[Concatenate[V, int, P], T]:
        young: dict[Any, T] = {}
        old: dict[Any, T] = {}

        @wraps(draw)
        def drawn(v: V, row: int, /, *args: P.args, **kwargs: P.kwargs) -> T:
            nonlocal young, old
            places = [slice(first + row * step, first + row * step + size) for first, size, step in spans]
            seen = [v.record[place] for place in places]
            key = (b"".join(seen), v.numbers, v.viewer, v.names, row, args, *kwargs.items())
            one = young.get(key)
            if one is not None:
                return one
            one = old.get(key)
            if one is None:
                alone = bytearray(record.itemsize)
                for place, part in zip(places, seen, strict=True):
                    alone[place] = part
                one = draw(replace(v, s=np.frombuffer(alone, record)[0]), row, *args, **kwargs)
            if len(young) >= _MOST:
                young, old = {}, young
            young[key] = one
            return one

        return drawn

    return decorate
