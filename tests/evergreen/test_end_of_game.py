"""End of Game: fertility, the winner, ties."""

from __future__ import annotations

import pytest

from tabletop_engine.errors import GameOver
from tests.evergreen.play import BIOMES, all_done, asked, places, play, points, points_before, scored, standing, turn

SWAMP_FIVE = ["swamp lake", "swamp sprout", "swamp small_tree", "swamp buds"]
"""2 + 1 + 1 + 1 flowers."""


def test_the_game_ends_after_winter() -> None:
    """Case 1, case 29; end of game: nothing is asked any more, the points are final."""
    state = all_done(turn("swamp bush", {"a5": "big_tree"}, round=14))
    assert (asked(state), points(state)) == (("game_over", None), (3, 0))
    with pytest.raises(GameOver):
        play(state, "done")
    assert asked(all_done(turn("swamp bush", round=13))) == ("draft", 0)


@pytest.mark.parametrize(
    ("planet", "light", "forest", "fertility"),
    [
        ("T:a5,b7,c7,c1 t:b5,c5 u:b6", 6, 6, 15),
        *[("s:W", 0, 0, 0), ("t:W", 3, 6, 0), ("u:W", 0, 6, 0), ("l:W", 0, 0, 0), ("T:W", 6, 6, 30)],
    ],
)
def test_big_trees_score_fertility(planet: str, light: int, forest: int, fertility: int) -> None:
    """Case 29; the text's own example: swamp 5 flowers, 3 big trees → 15 points, beside winter's light and forest.

    Nothing else scores there, nor do big trees where the fertility is 0. With the sun in the west a5 shades b5, c5.
    """
    state = all_done(turn("wild sprout", standing(planet), round=14, zone=SWAMP_FIVE))
    assert [scored(state, source)[0] for source in ("light", "forest", "fertility")] == [light, forest, fertility]
    assert points(state) == (light + forest + fertility, 0)


def test_every_biome_by_its_own_fertility() -> None:
    """Case 29: fertility times big trees, biome by biome, from the zone that all share."""
    zone = [*SWAMP_FIVE, "snow buds", "rock sprout", "grain big_tree (face down)", "grain small_tree"]
    one = {names.split()[0]: "big_tree" for names in BIOMES.values()}
    planets = {"player_0": one, "player_1": standing("T:c1,d1,e1,d5,e5,a2"), "player_2": standing("T:c7")}
    state = all_done(turn("wild sprout", players=3, planets=planets, round=14, zone=zone))
    assert scored(state, "fertility") == (5 + 2 + 1, 2 * 2 + 1, 5)


@pytest.mark.parametrize(
    ("before", "first", "expected"),
    [
        *[((80, 80, 75), 2, (1, 2, 3)), ((80, 80, 75), 1, (2, 1, 3)), ((80, 80, 75), 0, (1, 2, 3))],
        *[((80, 75, 80), 2, (2, 3, 1)), ((75, 80, 80), 2, (3, 2, 1)), ((75, 80, 80), 0, (3, 1, 2))],
        *[((80, 80, 80), 1, (3, 1, 2)), ((0, 0, 0), 2, (2, 3, 1)), ((198, 199, 200), 0, (3, 2, 1))],
    ],
)
@pytest.mark.parametrize("marker", [None, "player_0", "player_1", "player_2"])
def test_most_points_win(before: tuple[int, ...], first: int, expected: tuple[int, ...], marker: str | None) -> None:
    """Case 30, E22, E23; winner: by points, then by the order of the last round, whoever took the marker in it."""
    if marker == f"player_{first}":
        marker = None  # the first player lays the marker on another card
    given = {"first_player": f"player_{first}", "next_first": marker, **points_before(*before)}
    state = all_done(turn("wild sprout", players=3, round=14, **given))
    assert (asked(state), points(state), places(state)) == (("game_over", None), before, expected)


def test_points_of_the_last_scoring_decide() -> None:
    """Winner: winter's light, forest and fertility count before places are given."""
    planets = {"player_1": {"a5": "big_tree"}}
    state = all_done(turn("wild sprout", planets=planets, round=14, zone=SWAMP_FIVE, **points_before(82, 75)))
    assert (points(state), places(state)) == ((82, 83), (2, 1))
