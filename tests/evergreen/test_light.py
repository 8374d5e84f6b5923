"""End of Season: shadows, and the light that trees collect. Lines are read from the sun outwards."""

from __future__ import annotations

import pytest

from tests.evergreen.play import LINES, line, same, scored, season, spaces

SUNS = pytest.mark.parametrize("sun", LINES)


def light(cells: str, sun: str) -> int:
    return scored(season(line(cells, sun), sun), "light")[0]


@SUNS
@pytest.mark.parametrize(("cells", "points"), [("tt", 1), ("tT", 3), ("TtT", 2)])
def test_the_examples(cells: str, points: int, sun: str) -> None:
    """Case 24; the three examples: the first of two small trees; small then big, both; the first of three."""
    assert light(cells, sun) == points


@SUNS
@pytest.mark.parametrize(("cells", "points"), [("t", 1), ("T", 2), (".t", 1), ("....T", 2), ("T..t", 3), ("t...T", 3)])
def test_trees_in_the_light(cells: str, points: int, sun: str) -> None:
    """Small trees in the light score 1, big ones 2."""
    assert light(cells, sun) == points


@SUNS
@pytest.mark.parametrize(
    ("cells", "points"),
    [("T.T", 2), ("T..T", 4), ("t.t", 2), ("t..t", 2), ("T.t", 2), ("T..t", 3), ("Tt.T", 4), ("TT", 2), ("Tt", 2)],
)
def test_length_of_shadows(cells: str, points: int, sun: str) -> None:
    """Case 25; a small tree's shadow is one space long, a big tree's two."""
    assert light(cells, sun) == points


@SUNS
@pytest.mark.parametrize(
    ("cells", "points"), [("tT", 3), ("t.T", 3), ("ttT", 3), ("tTt", 3), ("TtT.T", 2), ("Ttt.T", 4)]
)
def test_in_the_shadow_and_not_bigger(cells: str, points: int, sun: str) -> None:
    """A tree is dark only if it is both in a shadow and as big as what casts it, or smaller."""
    assert light(cells, sun) == points


@SUNS
@pytest.mark.parametrize(
    ("cells", "points"),
    [("ttt", 1), ("TTT", 2), ("TTTT", 2), ("tttt", 1), ("Ttt", 2), ("TtTt", 2), ("T.Tt", 2), ("TT.T", 2)],
)
def test_dark_trees_cast_shadows_too(cells: str, points: int, sun: str) -> None:
    """Case 26: the middle tree is dark, and the tree behind it is in its shadow."""
    assert light(cells, sun) == points


@SUNS
@pytest.mark.parametrize(
    ("cells", "points"),
    [
        *[("st", 1), ("ut", 1), ("lt", 1), ("sT", 2), ("uT", 2), ("lT", 2), ("ts", 1), ("Tu", 2), ("Tl", 2)],
        *[("TuT", 2), ("TsT", 2), ("TlT", 2), ("tuT", 3), ("tut", 2), ("TlTuT", 2), ("Tult", 3)],
        *[("s", 0), ("u", 0), ("l", 0), ("sul", 0), ("lus.s", 0)],
    ],
)
def test_nothing_else_gains_or_blocks_light(cells: str, points: int, sun: str) -> None:
    """Case 26; sprouts, bushes and lakes collect nothing, cast nothing and stop no shadow."""
    assert light(cells, sun) == points


@pytest.mark.parametrize(
    ("trees", "north", "east", "south", "west"),
    [
        ({"c5": "big_tree", "c7": "big_tree"}, 2, 4, 2, 4),
        ({"e5": "big_tree", "g5": "small_tree"}, 3, 3, 3, 2),
        ({"c4": "small_tree", "e4": "small_tree"}, 2, 2, 2, 2),
        ({"d1": "big_tree", "f1": "big_tree"}, 4, 2, 4, 2),
        ({"g3": "big_tree", "a4": "big_tree"}, 4, 4, 4, 4),
        ({"a4": "big_tree", "b5": "small_tree"}, 3, 3, 3, 3),
        ({"c4": "small_tree", "c5": "big_tree"}, 3, 3, 2, 3),
    ],
)
def test_rows_and_columns(trees: dict[str, str], north: int, east: int, south: int, west: int) -> None:
    """Light falls along columns or rows, not diagonally; a ravine is one space of a shadow (assumed)."""
    found = [scored(season(trees, sun), "light")[0] for sun in ("north", "east", "south", "west")]
    assert found == [north, east, south, west]


def test_a_whole_planet() -> None:
    """Lines are scored separately and added: with big trees on all spaces only the first of each line is lit.

    With the sun in the north the columns begin with a2, b2, c1, d1, e1, f1 and g3, and no line has a gap of three.
    """
    everywhere = same("big_tree", "a2 a3 a4 a5 b2 b4 b5 b6 b7 c1 c2 c3 c4 c5 c7 d1 d2 d3 d5 d6 d7")
    everywhere |= same("big_tree", "e1 e3 e4 e5 e6 e7 f1 f2 f3 f4 f6 g3 g4 g5 g6")
    assert len(spaces(" ".join(everywhere))) == 36
    assert [scored(season(everywhere, sun), "light")[0] for sun in LINES] == [14, 14, 14, 14]
