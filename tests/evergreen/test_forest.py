"""End of Season: the largest forest."""

from __future__ import annotations

import pytest

from tests.evergreen.play import BIOMES, EVERYWHERE, LINES, line, same, scored, season, turn
from tests.evergreen.play import all_done as finish


def forest(planet: dict[str, str], sun: str = "north") -> int:
    return scored(season(planet, sun), "forest")[0]


@pytest.mark.parametrize(
    ("cells", "points"),
    [
        *[("", 0), ("s", 0), ("l", 0), ("sls", 0), ("t", 1), ("T", 1), ("u", 1)],
        *[("tT", 2), ("Tu", 2), ("uu", 2), ("uuuuu", 5), ("tuTtT", 5)],
        *[("t.t", 1), ("TuT", 3), ("tsT", 1), ("tlT", 1), ("tt.T", 2), ("t.tT", 2), ("ttsTu", 2), ("tlTut", 3)],
    ],
)
@pytest.mark.parametrize("sun", LINES)
def test_trees_and_bushes_in_a_line(cells: str, points: int, sun: str) -> None:
    """Case 28, E21; largest forest: small trees, big trees and bushes that touch, 1 point each, lit or not.

    Bushes connect (power 4); sprouts and lakes neither connect nor count.
    """
    assert forest(line(cells, sun), sun) == points


@pytest.mark.parametrize(
    ("names", "points"),
    [
        ("b4 a5", 1),
        ("b5 c4 d5", 1),
        ("a5 b5 b4 c4", 4),
        ("c1 d1 c2 d2", 4),
        ("c1 c2 c3 d3 e3", 5),
        ("b6 b7 c7 d7 d6", 5),
        ("c5 c7", 1),
        ("g3 a4", 1),
        ("f1 f2 f3 f4", 4),
        ("f4 f6", 1),
        (EVERYWHERE, 36),
    ],
)
@pytest.mark.parametrize("piece", ["small_tree", "big_tree", "bush"])
def test_orthogonally_adjacent(names: str, points: int, piece: str) -> None:
    """Case 28; largest forest: by sides, not corners, across biomes, not across ravines or from row to row."""
    assert forest(same(piece, names)) == points


@pytest.mark.parametrize(
    ("groups", "points"),
    [
        (("c1 d1 c2 d2", "a4 b4 c4"), 4),
        (("c1 d1 c2", "d7 e7 e6 f6"), 4),
        (("c1 d1 c2", "e6 e7 d7"), 3),
        (("a2", "c1", "e1", "a5"), 1),
        ((BIOMES["snow"], BIOMES["swamp"]), 6),
    ],
)
def test_only_the_largest(groups: tuple[str, ...], points: int) -> None:
    """Case 28; largest forest: groups of 4 and 3 score 4, not 7."""
    assert forest(same("small_tree", " ".join(groups))) == points


def test_the_season_does_not_matter() -> None:
    """E21: a forest counts in full however much of it is dark."""
    names = BIOMES["snow"]
    for sun in LINES:
        assert forest(same("big_tree", names), sun) == 6


def test_a_forest_of_each_player() -> None:
    """Largest forest: everybody scores for their own planet."""
    planets = {"player_0": same("bush", "a5 b5"), "player_1": same("bush", "c5 d5 e5"), "player_2": {"a5": "sprout"}}
    state = finish(turn("swamp bush", players=3, round=5, planets=planets))
    assert scored(state, "forest") == (2, 3, 0)
    assert scored(state, "light") == (0, 0, 0)
