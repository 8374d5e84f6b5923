"""End of Season: the largest forest."""

from __future__ import annotations

import pytest

from tests.evergreen.play import LINES, all_done, line, scored, season, standing, turn


@pytest.mark.parametrize(
    "lines",
    [
        "s 0, l 0, sls 0, t 1, T 1, u 1, tT 2, Tu 2, uu 2, uuuuu 5, tuTtT 5",
        "t.t 1, TuT 3, tsT 1, tlT 1, tt.T 2, t.tT 2, ttsTu 2, tlTut 3",
    ],
)
@pytest.mark.parametrize("sun", LINES)
def test_trees_and_bushes_in_a_line(lines: str, sun: str) -> None:
    """Case 28, E21; largest forest: small trees, big trees and bushes that touch, 1 point each, lit or not.

    Bushes connect (power 4); sprouts and lakes neither connect nor count.
    """
    for example in lines.split(", "):
        cells, points = example.split()
        assert (cells, scored(season(line(cells, sun), sun), "forest")) == (cells, (int(points),))


@pytest.mark.parametrize(
    ("names", "points"),
    [
        *[("b4,a5", 1), ("b5,c4,d5", 1), ("a5,b5,b4,c4", 4), ("c1,d1,c2,d2", 4), ("c1,c2,c3,d3,e3", 5), ("*", 36)],
        *[("b6,b7,c7,d7,d6", 5), ("c5,c7", 1), ("g3,a4", 1), ("f1,f2,f3,f4", 4), ("f4,f6", 1)],
        *[("c1,d1,c2,d2,a4,b4,c4", 4), ("c1,d1,c2,d7,e7,e6,f6", 4), ("c1,d1,c2,e6,e7,d7", 3), ("a2,c1,e1,a5", 1)],
    ],
)
@pytest.mark.parametrize("piece", "tTu")
def test_orthogonally_adjacent(names: str, points: int, piece: str) -> None:
    """Case 28; largest forest: by sides, not corners, across biomes, not across ravines or from row to row.

    Only the largest counts: 4 and 3 score 4, not 7.
    """
    assert scored(season(standing(f"{piece}:{names}")), "forest") == (points,)


def test_a_forest_of_each_player() -> None:
    """Largest forest: everybody scores for their own planet."""
    planets = {f"player_{seat}": standing(words) for seat, words in enumerate(("u:a5,b5", "u:c5,d5,e5", "s:a5"))}
    state = all_done(turn("swamp bush", players=3, round=5, planets=planets))
    assert (scored(state, "forest"), scored(state, "light")) == ((2, 3, 0), (0, 0, 0))
