"""The view of a game in a picture or text: each planet as the viewer may know it, with its light and shadows.

Sets of spaces are Python integers here, with the same bits as in a record: called from Python, the functions of the
rules would take ten times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from evergreen_env.actions import NUM_ACTIONS, SPACE
from evergreen_env.drawing.decisions import hides_actor
from evergreen_env.state import COLUMNS, NOBODY, PLACES, ROWS, Piece, State, Sun
from evergreen_env.tables import Tables
from evergreen_env.words import PLANET_FIELDS, SHOWN_FIELDS
from tabletop_engine.drawing.cached import Shown

_ALL = (1 << PLACES) - 1
_FIRST_COLUMN = sum(1 << COLUMNS * row for row in range(ROWS))
_LAST_COLUMN = _FIRST_COLUMN << COLUMNS - 1


@dataclass(frozen=True)
class View(Shown):
    """A game to draw."""

    s: State
    t: Tables

    @cached_property
    def hides_turn(self) -> bool:
        """Whether another player takes a turn that is hidden from the viewer."""
        return hides_actor(self.s, self.viewer)

    @cached_property
    def actor(self) -> int:
        """The seat that takes the pending decision; NOBODY if that is hidden, and at the end."""
        return NOBODY if self.hides_turn else int(self.s.actor)

    @cached_property
    def answers(self) -> frozenset[int]:
        """The legal actions; none if they are hidden."""
        if self.actor == NOBODY:
            return frozenset()
        legal = int(self.s.legal[0])
        return frozenset(action for action in range(NUM_ACTIONS) if legal >> action & 1)

    def points(self, seat: int) -> int:
        """The points of a seat, as the viewer knows them."""
        return int(self.s.points[seat]) + (int(self.s.earned[seat]) if self.sees(seat) else 0)

    def levels(self, seat: int) -> list[int]:
        """The levels of a seat's powers, as the viewer knows them."""
        levels: list[int] = (self.s.level if self.sees(seat) else self.s.shown_level)[seat].tolist()
        return levels

    def choices(self, seat: int) -> int:
        """The set of spaces that a seat can choose now."""
        if seat != self.actor:
            return 0
        return sum(1 << int(self.t.place_of[action - SPACE]) for action in self.answers if action >= SPACE)

    def planet(self, seat: int, choices: int) -> Planet:
        """The planet of a seat, as the viewer knows it, with the spaces that can be chosen."""
        fields = PLANET_FIELDS if self.sees(seat) else SHOWN_FIELDS
        return Planet(tuple(int(self.s[field][seat]) for field in fields), int(self.s.sun), choices)

    @property
    def biomes(self) -> tuple[int, ...]:
        """The Biome of every place; -1 for a ravine."""
        return _biomes(tuple(self.t.biome.tolist()))

    def fertility_points(self, planet: Planet) -> int:
        """The points of the big trees at the end, as fertility is now."""
        biomes = zip(self.s.fertility.tolist(), self.t.biome.tolist(), strict=True)
        return sum(fertility * (planet.pieces[Piece.BIG_TREE] & spaces).bit_count() for fertility, spaces in biomes)


@lru_cache(maxsize=64)
def _biomes(spaces: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(next((i for i, there in enumerate(spaces) if there >> place & 1), -1) for place in range(PLACES))


@dataclass(frozen=True)
class Planet:
    """The pieces on a planet.

    Attributes:
        pieces: the set of spaces with each Piece.
        sun: the side of the sun.
        choices: the set of spaces that can be chosen now.
    """

    pieces: tuple[int, ...]
    sun: int
    choices: int

    @cached_property
    def big_shadow(self) -> int:
        """The spaces in the shadows of big trees, in which no tree collects light."""
        once = shaded(self.pieces[Piece.BIG_TREE], self.sun)
        return once | shaded(once, self.sun)

    @cached_property
    def small_shadow(self) -> int:
        """The spaces in the shadows of small trees only, in which big trees still collect light."""
        return shaded(self.pieces[Piece.SMALL_TREE], self.sun) & ~self.big_shadow

    @cached_property
    def lit(self) -> int:
        """The spaces with trees that collect light."""
        small = self.pieces[Piece.SMALL_TREE] & ~(self.big_shadow | self.small_shadow)
        return small | self.pieces[Piece.BIG_TREE] & ~self.big_shadow

    @cached_property
    def light_points(self) -> int:
        """1 for each small tree that collects light, 2 for each big one."""
        return self.lit.bit_count() + (self.lit & self.pieces[Piece.BIG_TREE]).bit_count()

    @cached_property
    def forest(self) -> int:
        """The spaces of the largest forest; of equal ones the first in reading order."""
        left = self.pieces[Piece.SMALL_TREE] | self.pieces[Piece.BIG_TREE] | self.pieces[Piece.BUSH]
        largest = 0
        while left:
            forest, grown = 0, left & -left
            while grown != forest:
                forest = grown
                for sun in Sun:
                    grown |= shaded(forest, sun) & left
            left &= ~forest
            largest = max(largest, forest, key=int.bit_count) if largest else forest
        return largest


def shaded(spaces: int, sun: int) -> int:
    """The spaces next to these in the direction away from the sun."""
    if sun == Sun.NORTH:
        return spaces << COLUMNS & _ALL
    if sun == Sun.EAST:
        return (spaces & ~_FIRST_COLUMN) >> 1
    if sun == Sun.SOUTH:
        return spaces >> COLUMNS
    return (spaces & ~_LAST_COLUMN) << 1
