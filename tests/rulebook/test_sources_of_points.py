"""Where points come from (`scored`): each kind lands in its `Source`, and in no other.

The tests of each rule check how many points it brings; here only their sources are checked.
"""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env.state import SOURCE_NAMES, State
from tests.rulebook.base_game import Numbers, asked, by_seat, end_round, final_round, game, over, tile
from tests.rulebook.modules import forecasts, harvest, harvested, powers
from tests.rulebook.southern_winds import NEUTRAL, YOU, act, neutral_turn, pair, sample, solo
from tests.support.play import play

CALM = {"frost": (1, 0), "rain": (1, 0)}
"""Votes for a Weather Phase without clouds in which nothing moves; both Voting Wins are yours."""


def sources(state: State, seat: int) -> dict[str, int]:
    """The points of a seat by source, without sources of 0. They add up to all its points."""
    found = {name: int(points) for name, points in zip(SOURCE_NAMES, state["scored"][seat], strict=True) if points}
    assert sum(found.values()) == state["points"][seat]
    return found


# --- Harvests --------------------------------------------------------------------------------------------------------

CROPS: dict[str, tuple[Numbers, Numbers, dict[str, Any]]] = {
    "wheat": ((2, 1), (2, 3), {}),
    "cotton": ((2, 1), (5, 2), {}),
    "grass": ((4, 3), (4, 3), {}),
    "potato": ((1, 3), (5, 3), {}),
    "coffee": ((4, 1), (10, 6), {"growing": "developed"}),
    "rice": ((3, 1), (3, 1), {"growing": "developed"}),
    "corn": ((5, 0, 0), (10, 0, 0), {}),
    "cactus": ((2, 1), (6, 3), {"growing": "developed"}),
    "snowdrop": ((0, 2), (0, 6), {"blooms": 1}),
    "dandelion": ((2, 1), (0, 0), {}),
}
"""Drops of the players, what the Harvest brings them, and what else lies on the tile."""
MODULE_OF = {"cactus": "cactus", "snowdrop": "flower_tiles", "dandelion": "flower_tiles"}


@pytest.mark.parametrize("crop", CROPS)
def test_a_harvest_counts_for_its_crop(crop: str) -> None:
    drops, points, more = CROPS[crop]
    modules = [MODULE_OF[crop]] if crop in MODULE_OF else []
    field = {"b2": tile(crop, drops, **more)}
    if crop == "dandelion":  # it scores the pods on other tiles
        field["b1"], points = tile("cotton", pod=True), (1, 0)
    state = harvested(len(drops), field, modules=modules)
    assert state["round"] == 2
    expected = [{crop: number} if number else {} for number in points]
    assert [sources(state, seat) for seat in range(len(drops))] == expected


def test_crops_are_told_apart_and_add_up() -> None:
    """Tiles of one crop count together; earlier points stay."""
    field = {
        "b1": tile("cotton", (2, 1)),
        "b3": tile("cotton", (0, 2)),
        "b2": tile("potato", (3,)),
        "c2": tile("grass", (3, 4)),
    }
    before: dict[str, Any] = {
        "points": (4, 2),
        "scored": {"cotton": {"player_0": 1, "player_1": 2}, "dice": {"player_0": 3}},
    }
    state = harvest(2, field, **before)
    assert sources(state, 0) == {"cotton": 1 + 5, "potato": 3, "grass": 3, "dice": 3}
    assert sources(state, 1) == {"cotton": 2 + 2 + 5, "grass": 4}


def test_tokens_on_a_tile_count_for_its_crop() -> None:
    """Fertilizer adds to a crop's points, a pod takes from them."""
    field = {"b2": tile("cotton", (2, 1), fertilizer=True), "c2": tile("grass", (3, 4), pod=True)}
    rest = {name: tile(fertilizer=True) for name in ("c1", "a3")}
    state = harvested(2, {**field, **rest, "b1": tile("dandelion")}, modules=["fertilizer", "flower_tiles"])
    assert sources(state, 0) == {"cotton": 6, "grass": 2}
    assert sources(state, 1) == {"cotton": 3, "grass": 3}


def test_a_drowned_cactus_counts_for_the_cactus() -> None:
    state = harvested(2, {"b2": tile("cactus", (3, 2), growing="drowned")}, modules=["cactus"])
    assert (sources(state, 0), sources(state, 1)) == ({"cactus": 2}, {"cactus": 1})


def test_the_power_of_the_harvest_brings_no_points_of_its_own() -> None:
    field = {"b1": tile("cotton", (2, 1))}
    state = end_round(field=field, votes=CALM, dice=["harvest"] * 3, **powers("harvest"))
    assert asked(state) == ("keep_drop", 0)
    assert sources(play(state, "tile b1"), 0) == {"cotton": 5}


def test_the_neutral_players_harvest() -> None:
    """Harvests of the Southern Winds count as any player's."""
    field = {2: (3, 4), 5: (1, 3)}
    state = solo({}, field, decision="turn", votes=CALM, dice=["harvest"] * 3)
    after = act(state, "pass")
    assert sources(after, YOU) == {"grass": 3, "wheat": 3}
    assert sources(after, NEUTRAL)["grass"] == 4
    assert sources(after, NEUTRAL)["wheat"] == 2


# --- Dice ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shown", "points"), [(1, 2), (2, 1), (4, 1)])
def test_votes_on_the_dice(shown: int, points: int) -> None:
    state = game(hands=("wind frost", "frost"), dice=["harvest", 3, shown])
    after = play(state, "play wind", f"die {shown}")
    assert (sources(after, 0), sources(after, 1)) == ({"dice": points}, {})


@pytest.mark.parametrize(("dice", "points"), [([1, 2, 4], 2), ([2, 3, 4], 1)])
def test_the_neutral_players_dice(dice: list[int], points: int) -> None:
    """Card 1 of the Southern Winds has a Harvest icon and, here, a target."""
    after = neutral_turn(solo(winds=(1,), dice=dice))
    assert (sources(after, YOU), sources(after, NEUTRAL)) == ({}, {"dice": points})


# --- The end of the game ---------------------------------------------------------------------------------------------


def test_voting_wins_and_wheat_tokens() -> None:
    state = final_round(3, voting_wins=(2, 3, 0), wheat_tokens=(1, 2, 2))
    assert over(state)
    assert sources(state, 0) == {"voting_wins": 3}
    assert sources(state, 1) == {"voting_wins": 5, "wheat_tokens": 12}
    assert sources(state, 2) == {"wheat_tokens": 12}


def test_wheats_harvest_and_its_bonus_are_two_things() -> None:
    state = final_round(field={"b2": tile("wheat", (1, 2))})
    assert sources(state, 0) == {"wheat": 3}
    assert sources(state, 1) == {"wheat": 2, "wheat_tokens": 12}


def test_the_neutral_players_voting_wins_and_wheat_tokens() -> None:
    numbers: dict[str, Any] = {"voting_wins": {"player_0": 1, "neutral": 3}, "wheat_tokens": {"neutral": 1}}
    after = act(solo(decision="turn", votes=CALM, round=4, **numbers), "pass")
    assert over(after)
    wins = pair(after, "voting_wins")
    assert wins[YOU] == 1 + 2, "two spaces with a vote of yours only"
    assert sources(after, YOU) == {"voting_wins": 5}
    found = sources(after, NEUTRAL)
    assert (found["voting_wins"], found["wheat_tokens"]) == (5, 12)


# --- Cards -----------------------------------------------------------------------------------------------------------


def test_forecast_1_counts_tiles_for_the_cards() -> None:
    field = {"b1": tile("cotton", (2, 1)), "b2": tile("grass", (1,))}
    state = play(final_round(field=field, **forecasts((1, 13, 16))), "forecast 1")
    assert sources(state, 0) == {"cards": 2, "cotton": 5}
    assert sources(state, 1) == {"cotton": 2}


def test_forecast_2_counts_drops_for_the_cards() -> None:
    state = play(final_round(field={"b1": tile("grass", (6, 5))}, **forecasts((2, 13, 16))), "forecast 2")
    assert sources(state, 0) == {"cards": 3, "grass": 4}


def test_forecast_13_turns_dice_for_the_cards() -> None:
    state = game(hands=("frost", "frost"), dice=[1, 2, 4], **forecasts((1, 13, 16)))
    assert sources(play(state, "forecast 13"), 0) == {"cards": 3}


def test_other_forecasts_bring_what_follows_from_them() -> None:
    """Card 3: own drops in clouds count in this Harvest, which makes player_0 the first on the Cotton."""
    state = final_round(field={"b1": tile("cotton", (1, 2), cloud=(2,))}, **forecasts((3, 13, 16)))
    assert asked(state) == ("forecast", 0)
    assert (sources(play(state, "decline"), 0), sources(play(state, "forecast 3"), 0)) == ({"cotton": 2}, {"cotton": 5})


def test_southern_winds_without_a_target() -> None:
    """Card 8 moves a pure neutral cloud; without one it scores a point."""
    for after in sample(solo({6: (0, 2), 1: (1, 0)}, winds=(8,), dice=["harvest"] * 3), 5, "vote frost"):
        assert (sources(after, YOU), sources(after, NEUTRAL)) == ({}, {"cards": 1})


def test_southern_winds_without_votes() -> None:
    """Card 8 shows two votes; each missing vote scores a point."""
    state = solo({2: (0, 1)}, {3: (1, 0)}, winds=(8,), votes={"sun": (0, 12)}, dice=["harvest"] * 3)
    assert sources(neutral_turn(state), NEUTRAL) == {"cards": 2}


def test_southern_winds_card_and_die_are_two_things() -> None:
    """Card 7 has nothing to move on empty Fields, and a Harvest icon."""
    state = solo(winds=(7,), dice=[1, 2, 2])
    found = sources(neutral_turn(state), NEUTRAL)
    assert found == {"cards": 1, "dice": 2}


# --- Primrose --------------------------------------------------------------------------------------------------------


def test_control_of_the_primrose() -> None:
    field = {"b2": tile("primrose", blooms=2, cloud=(2,), fertilizer=True)}
    field |= {name: tile(fertilizer=True) for name in ("c1", "a3")}
    state = game(hands=("rain", "frost"), field=field, modules=["fertilizer", "flower_tiles"])
    after = play(state, "play rain")
    assert sources(after, 0) == {"primrose": 2 * 2 + 1}


def test_the_primrose_is_not_harvested() -> None:
    field = {"b2": tile("primrose", (2, 1), blooms=1), "b1": tile("cotton", (2, 1))}
    state = harvested(2, field, modules=["flower_tiles"], controller="player_0")
    assert (sources(state, 0), sources(state, 1)) == ({"cotton": 5}, {"cotton": 2})
    assert by_seat(state, "points") == (5, 2)
