"""Maps of the planet, drawn at random: what a board might look like that nobody here has seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product

from tabletop_engine.seeds import Chance

SIZE = 7
BIOME_SPACES = 6
_PLACES = frozenset((row, column) for row in range(SIZE) for column in range(SIZE))
_CENTRE = (SIZE // 2, SIZE // 2)
Place = tuple[int, int]


def draw_rows(letters: str, ravine: str, outside: str, touching: tuple[str, str], chance: Chance) -> tuple[str, ...]:
    """A map like the shipped one: 41 spaces on 7 x 7 places, 5 of them ravines, and six biomes of six spaces.

    The planet is round: its corners are missing, and one more space of each side, a notch. Outline and ravines are the
    same after a quarter turn. The planet is in one piece, without its ravines too. Each biome is in one piece.

    Not all maps are equally likely. A shape and a spanning tree of its spaces are drawn, all shapes and all trees of a
    shape equally often, until the tree can be cut into six parts of six spaces. So a map comes as often as its spaces
    have spanning trees that can be cut into its biomes, and compact biomes come more often than thin ones.

    Arguments:
        letters: of the six biomes.
        touching: the letters of two biomes that touch each other.
    """
    while True:
        ravines, beside = chance.one_of(_shapes())
        parts = _cut(_spanning_tree(beside, chance))
        if parts is None:
            continue
        named = dict(zip(chance.shuffled(letters), parts, strict=True))
        if any(not named[touching[1]].isdisjoint(_beside(place)) for place in named[touching[0]]):
            break
    letter_of = {place: letter for letter, part in named.items() for place in part} | dict.fromkeys(ravines, ravine)
    return tuple("".join(letter_of.get((row, column), outside) for column in range(SIZE)) for row in range(SIZE))


def _beside(place: Place) -> tuple[Place, ...]:
    row, column = place
    around = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return tuple(near for near in around if near in _PLACES)


def _is_connected(places: Iterable[Place]) -> bool:
    left = set(places)
    reached = [left.pop()]
    while reached:
        new = left.intersection(_beside(reached.pop()))
        left -= new
        reached += new
    return not left


@lru_cache(maxsize=1)
def _shapes() -> tuple[tuple[tuple[Place, ...], dict[Place, list[Place]]], ...]:
    """All shapes: the ravines of each, and its other spaces with the spaces beside each."""
    orbits = []
    for row, column in sorted(_PLACES - {_CENTRE}):
        turns = [(row, column)]
        for _ in range(3):
            y, x = turns[-1]
            turns.append((x, SIZE - 1 - y))
        if min(turns) == turns[0]:
            orbits.append(frozenset(turns))
    corners = next(orbit for orbit in orbits if (0, 0) in orbit)
    notches = [orbit for orbit in orbits if any(row == 0 for row, _ in orbit) and orbit != corners]
    shapes = []
    for notch, ring in product(notches, orbits):
        ravines = ring | {_CENTRE}
        spaces = _PLACES - corners - notch - ravines
        if ring not in (corners, notch) and _is_connected(spaces) and _is_connected(spaces | ravines):
            beside = {place: [near for near in _beside(place) if near in spaces] for place in sorted(spaces)}
            shapes.append((tuple(sorted(ravines)), beside))
    return tuple(shapes)


def _spanning_tree(beside: Mapping[Place, Sequence[Place]], chance: Chance) -> dict[Place, Place]:
    """A spanning tree of the places, all equally likely, as each one's parent: Wilson's loop-erased random walks.

    Arguments:
        beside: the places, and those beside each.
    """
    parent: dict[Place, Place] = {}
    joined = {next(iter(beside))}
    for start in beside:
        here = start
        while here not in joined:
            parent[here] = chance.one_of(beside[here])  # a later visit forgets the loop
            here = parent[here]
        here = start
        while here not in joined:
            joined.add(here)
            here = parent[here]
    return parent


def _cut(parent: dict[Place, Place]) -> list[set[Place]] | None:
    """The tree in parts of `BIOME_SPACES` places, which are in one piece; None if it cannot be cut so."""
    children: dict[Place, list[Place]] = {}
    for place, above in parent.items():
        children.setdefault(above, []).append(place)
    (root,) = set(parent.values()) - set(parent)
    order = [root]
    for place in order:
        order += children.get(place, [])
    parts: list[set[Place]] = []
    below: dict[Place, set[Place]] = {}
    for place in reversed(order):
        own = {place}.union(*(below[child] for child in children.get(place, [])))
        if len(own) > BIOME_SPACES:
            return None
        full = len(own) == BIOME_SPACES
        if full:
            parts.append(own)
        below[place] = set() if full else own
    return None if below[root] else parts
