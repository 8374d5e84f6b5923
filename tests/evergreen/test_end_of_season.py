"""End of Season: the sun, what is scored, and what happens to cards and sun afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evergreen import play as e
from tests.evergreen.play import GOLDEN, SUN_ROUNDS, all_done, asked, leave, look, play, points, scored, season, turn

ROUNDS = pytest.mark.parametrize("number", SUN_ROUNDS.values())


@pytest.mark.parametrize(
    ("sun", "golden", "pair"), [("north", 10, 2), ("east", 15, 3), ("south", 9, 3), ("west", 12, 3)]
)
def test_the_golden_position(sun: str, golden: int, pair: int) -> None:
    """Case 27 and the golden position: light from each side, a forest of 6, fertility after winter only.

    A big tree north of a small one shades it in spring, not in autumn.
    """
    zone = ["snow buds", "meadow small_tree", "grain big_tree", "grain bush", "swamp lake"]
    state = season(GOLDEN, sun, zone=zone)
    fertility = 2 * 2 + 1 * 1 + 2 * 3 if sun == "west" else 0
    found = [scored(state, source) for source in ("light", "forest", "fertility")]
    assert found == [(golden,), (6,), (fertility,)]
    assert points(state) == (golden + 6 + fertility,)
    assert scored(season({"c4": "big_tree", "c5": "small_tree"}, sun), "light") == (pair,)


def test_the_sun_moves_clockwise() -> None:
    """Case 27; after scoring: north, east, south, west, so the golden planet collects 10, 15, 9 and 12."""
    state, collected = turn("wild sprout", GOLDEN, players=1, round=5), []
    while look(state, "decision") != "game_over":
        number, before = look(state, "round"), scored(state, "light")[0]
        state = all_done(state if look(state, "decision") == "turn" else play(state, "draft 1"))
        if number in SUN_ROUNDS.values():
            collected.append((number, scored(state, "light")[0] - before))
    assert collected == [(5, 10), (9, 15), (12, 9), (14, 12)]
    assert (scored(state, "light"), scored(state, "forest")) == ((46,), (24,))


@ROUNDS
def test_scoring_adds_to_the_points(number: int) -> None:
    """Scoring: light and forest of every player, after this round's buds and growth (End of Round)."""
    planets = {"player_0": e.standing("s:a5,e1"), "player_1": e.standing("T:b6,e4")}
    state = turn("wild buds", planets=planets, round=number, **e.points_before(7, 1))
    state = all_done(play(state, "power", "anywhere", "space a5"))
    assert (scored(state, "light"), scored(state, "forest")) == ((7 + 1, 1 + 4), (1, 1))
    assert (scored(state, "buds"), points(state)) == ((1, 0), (10, 6))


COLLECTED = ["meadow buds", "snow buds", "wild lake"]
EVERYTHING = ["meadow sprout", "meadow buds", "snow lake", "snow buds", "wild lake"]


@pytest.mark.parametrize("number", range(1, 15))
def test_collected_cards_are_discarded(number: int) -> None:
    """Case 29, E19, E20; after scoring the season's cards, this round's too, are discarded; the zone stays.

    In other rounds they stay collected. Planets, levels and who is first carry over.
    """
    zone = ["swamp lake", "swamp sprout (face down)", "swamp bush", "grain big_tree"]
    given: dict[str, Any] = {
        "zone": zone,
        "collected": COLLECTED,
        "levels": {"player_0": {"bush": 2}},
        "next_first": "player_1",
    }
    cards = {"player_0": "meadow sprout", "player_1": "snow lake"}
    state = all_done(turn("", GOLDEN, cards=cards, round=number, **given))
    season_ends = number in SUN_ROUNDS.values()
    assert (look(state, "cards"), look(state, "zone")) == ({}, zone)
    assert (look(state, "collected"), look(state, "discards")) == (
        ([], EVERYTHING) if season_ends else (EVERYTHING, [])
    )
    assert (e.planet(state), e.levels(state)) == (GOLDEN, {"bush": 2})
    if number < 14:
        assert (look(state, "round"), asked(state)) == (number + 1, ("draft", 1))


@pytest.mark.parametrize(("left", "value"), [("swamp lake", 3), ("swamp bush", 0), ("wild bush", 1)])
def test_the_leftover_of_the_last_round_counts(left: str, value: int) -> None:
    """The Draft comes before everything else of round 14, so its leftover changes the final fertility."""
    state = leave(left, ["swamp sprout"], round=14, planets={"player_0": {"a5": "big_tree"}})
    assert scored(all_done(state), "fertility") == (value,)
