"""Phase 3: Harvest Phase, with the scores of RULINGS 1 by place.

Harvests happen in round 1 (three Harvest icons) after Frost and Rain, or Frost and Sun, weather without clouds.
"""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import (
    Numbers,
    by_seat,
    clouds,
    dice,
    end_round,
    final_round,
    game,
    growing,
    on_tile,
    over,
    tile,
)
from tests.support.play import play

ICONS = ["harvest"] * 3


def harvest(players: int, field: dict[str, Any], weather: str = "rain") -> State:
    votes = {"frost": (0, 1), weather: (0, 1)}
    return end_round(players, field=field, votes=votes, dice=ICONS)


def scores(crop: str, drops: Numbers, weather: str = "rain", **described: Any) -> Numbers:
    """Points by seat of harvesting one tile, which leaves it empty."""
    players = len(drops)
    state = harvest(players, {"b2": tile(crop, drops, **described)}, weather)
    assert on_tile(state, "b2") == (0,) * players
    assert growing(state, "b2") == "none"
    assert by_seat(state, "supply") == (20,) * players
    return by_seat(state, "points")


# --- when ----------------------------------------------------------------------------------------------------------

WHEAT = {"b2": tile("wheat", (2, 1))}
QUIET = {"frost": (1, 1), "rain": (1, 1)}


@pytest.mark.parametrize("rolled", [[1, 1, 1], ["harvest", "harvest", 1], ["harvest", 4, 4]])
def test_no_harvest(rolled: list[Any]) -> None:
    """Harvest Phase: without three Harvest icons it is skipped, except in the final round."""
    state = end_round(field=WHEAT, votes=QUIET, dice=rolled)
    assert by_seat(state, "points") == (0, 0)
    assert on_tile(state, "b2") == (2, 1)
    assert growing(state, "b2") == "developed"


@pytest.mark.parametrize("round_", [1, 2, 3])
def test_harvest_on_three_icons(round_: int) -> None:
    """Harvest Phase: all three Harvest dice show the Harvest icon, in any round."""
    state = end_round(field=WHEAT, votes=QUIET, dice=ICONS, round=round_)
    assert by_seat(state, "points") == (2, 3)
    assert on_tile(state, "b2") == (0, 0)
    assert state["round"] == round_ + 1


def test_harvest_on_icons_that_the_last_vote_made() -> None:
    """Harvest Phase, Voting: a die that the last turn decreased to the icon counts."""
    state = game(
        hands=("", "wind"),
        field=WHEAT,
        votes=QUIET,
        dice=["harvest", "harvest", 1],
        passed="player_0",
        actor="player_1",
    )
    state = play(state, "play wind", "die 1")
    assert by_seat(state, "points") == (2, 3 + 2)


@pytest.mark.parametrize(("rounds", "round_"), [(4, 4), (6, 6)])
def test_harvest_in_the_final_round(rounds: int, round_: int) -> None:
    """Harvest Phase: round 4 of the short form and round 6 of the long form have one, whatever the dice show."""
    state = end_round(field={"b2": tile("cotton", (2, 1))}, rounds=rounds, round=round_)
    assert over(state)
    assert by_seat(state, "points") == (5, 2)


def test_no_harvest_in_the_4th_round_of_the_long_form() -> None:
    """Harvest Phase: with 6 rounds the 4th is not the final round."""
    state = end_round(field={"b2": tile("cotton", (2, 1))}, votes=QUIET, rounds=6, round=4)
    assert by_seat(state, "points") == (0, 0)
    assert on_tile(state, "b2") == (2, 1)


# --- Scoring -------------------------------------------------------------------------------------------------------


def test_every_growing_tile_is_harvested_and_no_other() -> None:
    """Scoring: tiles with a token score, lose it and return their drops; other tiles keep theirs."""
    field = {
        "b1": tile("cotton", (2, 1)),
        "b2": tile("grass", (1, 3)),
        "c1": tile("potato", (1, 1)),
        "a3": tile("wheat", (1, 1), cloud=(1, 1)),
        "b3": tile("cotton", (0, 1)),
    }
    state = harvest(2, field, "sun")
    assert by_seat(state, "points") == (5 + 3, 2 + 4)
    for name in ("b1", "b2"):
        assert on_tile(state, name) == (0, 0)
        assert growing(state, name) == "none"
    assert (on_tile(state, "c1"), on_tile(state, "a3"), on_tile(state, "b3")) == ((1, 1), (1, 1), (0, 1))
    assert clouds(state) == {"a3": ("thunder", 2, 2)}
    assert by_seat(state, "supply") == (20 - 4, 20 - 5)


@pytest.mark.parametrize(
    ("crop", "drops", "points"),
    [
        ("cotton", (3, 2), (5, 2)),
        ("cotton", (1, 3, 2), (0, 5, 2)),
        ("cotton", (4, 3, 2, 1), (5, 2, 0, 0)),
        ("grass", (4, 3, 2, 1), (4, 3, 2, 1)),
        ("grass", (1, 2, 3, 4), (1, 2, 3, 4)),
        ("grass", (0, 3, 0, 1), (0, 4, 0, 3)),
        ("grass", (5, 0), (4, 0)),
        ("potato", (4, 3, 2, 1), (3, 5, 1, 0)),
        ("potato", (0, 3), (0, 3)),
        ("potato", (1, 2), (5, 3)),
    ],
)
def test_cotton_grass_potato(crop: str, drops: Numbers, points: Numbers) -> None:
    """Cotton, Grass, Potato: most drops score the first number, and so on; no drop, no place."""
    assert scores(crop, drops) == points


def test_grass_example() -> None:
    """Cotton, Grass, Potato, example: 5 on Grass score 4 for Green, 2 for Yellow and Red; 2 on Potato nothing."""
    state = harvest(3, {"b2": tile("grass", (3, 1, 1)), "b1": tile("potato", (0, 1, 1))})
    assert by_seat(state, "points") == (4, 2, 2)
    assert on_tile(state, "b1") == (0, 1, 1)


# --- Ties ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((2, 2, 1), (3, 3, 2)),
        ((2, 2, 2), (2, 2, 2)),
        ((2, 2, 2, 1), (2, 2, 2, 1)),
        ((2, 2, 2, 2), (1, 1, 1, 1)),
        ((3, 1, 1), (4, 2, 2)),
        ((3, 3, 1, 1), (3, 3, 1, 1)),
        ((2, 2), (3, 3)),
        ((3, 2, 2, 1), (4, 2, 2, 1)),
        ((2, 0, 2, 0), (3, 0, 3, 0)),
    ],
)
def test_ties_on_grass(drops: Numbers, points: Numbers) -> None:
    """Ties: tied players and all below score a lower place: two tied for first score second, the next third. Ruling
    2.14: a place is the number of players with at least as many drops.
    """
    assert scores("grass", drops) == points


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((2, 2), (5, 5)),
        ((2, 2, 1), (5, 5, 1)),
        ((2, 1, 1), (3, 1, 1)),
        ((1, 1, 1), (1, 1, 1)),
        ((2, 2, 2, 2), (0, 0, 0, 0)),
    ],
)
def test_ties_on_potato(drops: Numbers, points: Numbers) -> None:
    """Ties: on Potato two tied for first score the second number, which is higher."""
    assert scores("potato", drops) == points


# --- Wheat ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drops", "points", "tokens"),
    [
        ((2, 1), (2, 3), (1, 0)),
        ((1, 3, 2), (3, 2, 3), (0, 1, 0)),
        ((3, 0, 1, 1), (2, 0, 3, 3), (1, 0, 0, 0)),
        ((0, 3), (0, 2), (0, 1)),
        ((2, 2), (3, 3), (0, 0)),
        ((2, 2, 1), (3, 3, 3), (0, 0, 0)),
        ((1, 1, 1), (3, 3, 3), (0, 0, 0)),
    ],
)
def test_wheat(drops: Numbers, points: Numbers, tokens: Numbers) -> None:
    """Wheat: most drops score 2 points and a token, every other player there 3; for ties see ruling 2.14."""
    state = harvest(len(drops), {"b2": tile("wheat", drops)})
    assert by_seat(state, "points") == points
    assert by_seat(state, "wheat_tokens") == tokens


# --- Coffee --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drops", "sprouting", "developed"),
    [
        ((4, 3, 2, 1), (5, 3, 1, 0), (10, 6, 2, 0)),
        ((2, 2), (3, 3), (6, 6)),
        ((2, 2, 1), (3, 3, 1), (6, 6, 2)),
        ((0, 4), (0, 5), (0, 10)),
    ],
)
def test_coffee(drops: Numbers, sprouting: Numbers, developed: Numbers) -> None:
    """Coffee: it scores the lower numbers when sprouting, the higher ones when developed."""
    assert scores("coffee", drops) == sprouting
    assert scores("coffee", drops, growing="developed") == developed


def test_coffee_that_sprouted_in_an_earlier_round() -> None:
    """Coffee: Sun weather develops it, in whichever round it sprouted."""
    assert scores("coffee", (3, 1), weather="sun", growing="sprouting") == (10, 6)


def test_coffee_example() -> None:
    """Coffee, example: Sun doubles 3 drops of Blue and Rain pours them: Coffee sprouts after the Sun, 5 points."""
    votes = {"sun": (1,), "rain": (1,)}
    field = {"b2": tile("coffee", cloud=(3,))}
    state = end_round(field=field, votes=votes)
    assert on_tile(state, "b2") == (6, 0)
    assert growing(state, "b2") == "sprouting"
    assert by_seat(end_round(field=field, votes=votes, dice=ICONS), "points") == (5, 0)


def test_coffee_example_with_4_drops() -> None:
    """Coffee, note: 4 drops doubled overflow during Sun, so the Coffee develops for 10 points."""
    votes = {"sun": (1,), "rain": (1,)}
    field = {"b2": tile("coffee", cloud=(4,))}
    state = end_round(field=field, votes=votes)
    assert on_tile(state, "b2") == (8, 0)
    assert growing(state, "b2") == "developed"
    assert by_seat(end_round(field=field, votes=votes, dice=ICONS), "points") == (10, 0)


# --- Rice ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drops", [(4, 0), (3, 1), (2, 5), (2, 2, 1), (1, 4, 3, 2)])
def test_rice(drops: Numbers) -> None:
    """Rice: developed it scores 1 point for each own drop; sprouting it scores nothing. All drops are removed."""
    assert scores("rice", drops, weather="sun") == (0,) * len(drops)
    assert scores("rice", drops, weather="sun", growing="developed") == drops
    assert scores("rice", drops, weather="rain") == drops


# --- Corn ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((5, 0, 0), (10, 0, 0)),
        ((4, 0, 1), (8, 0, 8)),
        ((3, 1, 1), (6, 6, 6)),
        ((0, 0, 6, 0), (0, 0, 10, 0)),
        ((1, 4, 0, 0), (8, 8, 0, 0)),
        ((2, 2, 2, 1), (4, 4, 4, 4)),
    ],
)
def test_corn(drops: Numbers, points: Numbers) -> None:
    """Corn: each player with a drop there scores by the number of such players."""
    assert scores("corn", drops) == points


def test_several_tiles_add_up() -> None:
    """Scoring: the points of all growing tiles are added to earlier points."""
    field = {
        "b1": tile("wheat", (2, 1)),
        "b2": tile("wheat", (0, 3)),
        "b3": tile("wheat", (4, 4)),
        "a2": tile("potato", (3, 1)),
    }
    state = end_round(field=field, votes=QUIET, dice=ICONS, points=(7, 1))
    assert by_seat(state, "points") == (7 + 2 + 0 + 3 + 3, 1 + 3 + 2 + 3 + 5)
    assert by_seat(state, "wheat_tokens") == (1, 1)


def test_dice_are_not_touched_in_the_final_round() -> None:
    """Clean-up: skipped in the final round, so the Harvest icons still show."""
    assert dice(final_round(field=WHEAT, dice=ICONS)) == [0, 0, 0]
