"""End of Season: the sun, what is scored, and what happens to cards and sun afterwards."""

from __future__ import annotations

import pytest

from tests.evergreen.play import (
    SUN_ROUNDS,
    all_done,
    asked,
    draft,
    leave,
    levels,
    look,
    planet,
    play,
    points,
    points_before,
    same,
    scored,
    season,
    turn,
)

GOLDEN = {
    **same("big_tree", "c1 c3 a4 e5 e7"),
    **same("small_tree", "d1 c2 e3 b4 e6 f6"),
    "d3": "bush",
    "c4": "sprout",
    "d5": "lake",
}
"""Specification c1."""


@pytest.mark.parametrize(("sun", "points"), [("north", 10), ("east", 15), ("south", 9), ("west", 12)])
def test_the_golden_position(sun: str, points: int) -> None:
    """The golden position of the specification: light from each side, and a forest of 6."""
    state = season(GOLDEN, sun)
    assert (scored(state, "light"), scored(state, "forest")) == ((points,), (6,))


def test_the_golden_positions_fertility() -> None:
    """The golden position: two big trees in snow, one in meadow, two in grain."""
    zone = ["snow buds", "meadow small_tree", "grain big_tree", "grain bush", "swamp lake"]
    state = season(GOLDEN, "west", zone=zone)
    assert scored(state, "fertility") == (2 * 2 + 1 * 1 + 2 * 3,)
    assert points(state) == (12 + 6 + 11,)


@pytest.mark.parametrize(("sun", "points"), [("north", 2), ("east", 3), ("south", 3), ("west", 3)])
def test_the_same_line_in_each_season(sun: str, points: int) -> None:
    """Case 27; direction of light: a big tree north of a small one shades it in spring, not in autumn."""
    assert scored(season({"c4": "big_tree", "c5": "small_tree"}, sun), "light") == (points,)


def test_the_sun_moves_clockwise() -> None:
    """Case 27; after scoring: north, east, south, west, so the golden planet collects 10, 15, 9 and 12."""
    state = turn("wild sprout", GOLDEN, players=1, round=5)
    collected = []
    while look(state, "decision") != "game_over":
        number, before = look(state, "round"), sum(scored(state, "light"))
        state = all_done(state if look(state, "decision") == "turn" else play(state, "draft 1"))
        if number in SUN_ROUNDS.values():
            collected.append((number, sum(scored(state, "light")) - before))
    assert collected == [(5, 10), (9, 15), (12, 9), (14, 12)]
    assert (scored(state, "light"), scored(state, "forest")) == ((46,), (24,))


@pytest.mark.parametrize("number", SUN_ROUNDS.values())
def test_light_forest_and_what_was_there(number: int) -> None:
    """Scoring adds to the points: light and forest of every player, and this round's buds."""
    planets = {"player_0": same("small_tree", "a5 e1"), "player_1": same("big_tree", "b6 e4")}
    before = points_before(7, 1)
    state = all_done(play(turn("swamp buds", planets=planets, round=number, **before), "power"))
    assert scored(state, "light") == (7 + 2, 1 + 4)
    assert scored(state, "forest") == (1, 1)
    assert scored(state, "buds") == (1, 0)
    assert points(state) == (11, 6)


def test_this_rounds_growth_is_scored() -> None:
    """End of Round: scoring comes after the last turn of the season."""
    state = play(turn("swamp bush", {"a5": "sprout", "b5": "sprout"}, round=5, players=1), "grow two", "space a5")
    assert scored(play(state, "space b5", "power", "space c5"), "forest") == (3,)


COLLECTED = ["meadow buds", "snow buds", "wild lake"]


@pytest.mark.parametrize("number", SUN_ROUNDS.values())
def test_collected_cards_are_discarded(number: int) -> None:
    """Case 29, E20; after scoring: the season's cards, this round's too, go to the discards; the zone stays."""
    zone = ["swamp lake", "swamp sprout (face down)", "swamp bush", "grain big_tree"]
    cards = {"player_0": "meadow sprout", "player_1": "snow lake"}
    state = turn("", cards=cards, round=number, zone=zone, collected=COLLECTED, discards=["rock small_tree"])
    state = all_done(state)
    assert (look(state, "collected"), look(state, "cards"), look(state, "zone")) == ([], {}, zone)
    assert look(state, "discards") == [
        *("meadow sprout", "meadow buds", "rock small_tree"),
        *("snow lake", "snow buds"),
        "wild lake",
    ]


@pytest.mark.parametrize("number", [1, 4, 6, 8, 11, 13])
def test_cards_are_collected_until_then(number: int) -> None:
    """E19; in every other round the drafted cards stay collected."""
    cards = {"player_0": "meadow sprout", "player_1": "snow lake"}
    state = all_done(turn("", cards=cards, round=number, collected=COLLECTED, discards=["rock small_tree"]))
    assert look(state, "collected") == ["meadow sprout", "meadow buds", "snow lake", "snow buds", "wild lake"]
    assert (look(state, "cards"), look(state, "discards")) == ({}, ["rock small_tree"])


def test_planets_and_levels_stay() -> None:
    """After scoring nothing else changes: trees, levels and who is first carry over to the next season."""
    state = turn("wild sprout", GOLDEN, round=5, levels={"player_0": {"bush": 2}}, next_first="player_1")
    state = all_done(state)
    assert (planet(state), levels(state)) == (GOLDEN, {"bush": 2})
    assert (look(state, "round"), look(state, "first_player"), asked(state)) == (6, "player_1", ("draft", 1))


def test_fertility_does_not_score_before_winter_ends() -> None:
    """End of Game: fertility counts once; earlier seasons score light and forest only."""
    for sun in ("north", "east", "south"):
        state = season(same("big_tree", "a5 b5"), sun, zone=["swamp lake"])
        assert (scored(state, "fertility"), scored(state, "forest")) == ((0,), (2,))


def test_the_leftover_of_the_last_round_counts() -> None:
    """The Draft comes before everything else of round 14, so its leftover changes the final fertility."""
    tree = {"planets": {"player_0": {"a5": "big_tree"}}}
    assert scored(all_done(leave("swamp lake", ["swamp sprout"], round=14, **tree)), "fertility") == (3,)
    assert scored(all_done(leave("swamp bush", ["swamp sprout"], round=14, **tree)), "fertility") == (0,)
    assert scored(all_done(draft(["swamp lake", "wild bush"], round=14, **tree)), "fertility") == (0,)
