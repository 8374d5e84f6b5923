"""End of Game: fertility, the winner, ties."""

from __future__ import annotations

import pytest

from tabletop.errors import GameOver
from tests.evergreen.play import BIOMES, all_done, asked, look, places, play, points, points_before, same, scored, turn

SWAMP_FIVE = ["swamp lake", "swamp sprout", "swamp small_tree", "swamp buds"]
"""2 + 1 + 1 + 1 flowers."""


def test_the_game_ends_after_winter() -> None:
    """Case 1, case 29; end of game: nothing is asked any more, the points are final."""
    state = all_done(turn("swamp bush", {"a5": "big_tree"}, round=14))
    assert (asked(state), points(state)) == (("game_over", None), (3, 0))
    with pytest.raises(GameOver):
        play(state, "done")
    assert asked(all_done(turn("swamp bush", round=13))) == ("draft", 0)


def test_big_trees_score_fertility() -> None:
    """Case 29; the text's own example: swamp 5 flowers, 3 big trees → 15 points; small trees add nothing to that.

    Winter's light, from the west, and forest come on top: a5 shades b5 and c5; b7 shades c7.
    """
    planet = {**same("big_tree", "a5 b7 c7"), **same("small_tree", "b5 c5"), "c1": "big_tree", "b6": "bush"}
    state = all_done(turn("wild sprout", planet, round=14, zone=SWAMP_FIVE))
    assert scored(state, "fertility") == (15, 0)
    assert scored(state, "light") == (2 + 2 + 2, 0)
    assert scored(state, "forest") == (6, 0)
    assert points(state) == (27, 0)


@pytest.mark.parametrize("piece", ["sprout", "small_tree", "bush", "lake"])
def test_only_big_trees_score_fertility(piece: str) -> None:
    """Case 29: everything else in a fertile biome adds nothing."""
    state = all_done(turn("wild sprout", same(piece, BIOMES["swamp"]), round=14, zone=SWAMP_FIVE))
    assert scored(state, "fertility") == (0, 0)


def test_every_biome_by_its_own_fertility() -> None:
    """Case 29: fertility times big trees, biome by biome; none where the fertility is 0."""
    zone = [*SWAMP_FIVE, "snow buds", "rock sprout", "grain big_tree (face down)", "grain small_tree"]
    one = {names.split()[0]: "big_tree" for names in BIOMES.values()}
    planets = {"player_0": one, "player_1": same("big_tree", "c1 d1 e1 d5 e5 a2")}
    state = all_done(turn("wild sprout", planets=planets, round=14, zone=zone))
    assert scored(state, "fertility") == (5 + 2 + 1, 2 * 2 + 1)


@pytest.mark.parametrize(
    ("before", "first", "expected"),
    [
        ((80, 80, 75), 2, (1, 2, 3)),
        ((80, 80, 75), 1, (2, 1, 3)),
        ((80, 80, 75), 0, (1, 2, 3)),
        ((80, 75, 80), 2, (2, 3, 1)),
        ((75, 80, 80), 2, (3, 2, 1)),
        ((75, 80, 80), 0, (3, 1, 2)),
        ((80, 80, 80), 1, (3, 1, 2)),
        ((0, 0, 0), 2, (2, 3, 1)),
        ((80, 81, 82), 0, (3, 2, 1)),
    ],
)
@pytest.mark.parametrize("marker", [None, "player_0", "player_1", "player_2"])
def test_most_points_win_and_ties_go_by_order(
    before: tuple[int, ...], first: int, expected: tuple[int, ...], marker: str | None
) -> None:
    """Case 30, E22; winner: by points, then by the order of the last round, whoever took the marker in it."""
    given = points_before(*before)
    state = turn("wild sprout", players=3, round=14, first_player=f"player_{first}", next_first=marker, **given)
    state = all_done(state)
    assert (asked(state), points(state)) == (("game_over", None), before)
    assert places(state) == expected


def test_points_of_the_last_scoring_decide() -> None:
    """Winner: winter's light, forest and fertility count before places are given."""
    planets = {"player_1": {"a5": "big_tree"}}
    given = points_before(82, 75)
    state = all_done(turn("wild sprout", planets=planets, round=14, zone=SWAMP_FIVE, **given))
    assert (points(state), places(state)) == ((82, 83), (2, 1))


def test_points_above_a_hundred() -> None:
    """E23: points are a plain number."""
    state = all_done(play(turn("swamp buds", round=14, **points_before(198, 99)), "power"))
    assert (points(state), look(state, "round")) == ((199, 99), 14)
