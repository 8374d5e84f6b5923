"""Flowers, Carte Previsione 1 to 4: the forecast cards that are played before or after a Harvest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import (
    FIELDS,
    Numbers,
    asked,
    by_seat,
    cloud,
    end_round,
    final_round,
    growing,
    legal_names,
    on_tile,
    over,
    tile,
    tiles,
)
from tests.rulebook.modules import forecasts, harvest, offer
from tests.support.play import play

Field = Mapping[str, dict[str, Any]]

EVERYWHERE = frozenset(FIELDS[2])
TURN_CARDS = (13, 16)


def holding(number: int, seat: int = 0) -> dict[str, Any]:
    """The seat holds this card and two that can be played only in a turn."""
    return forecasts(*((),) * seat, (number, *TURN_CARDS))


def last_harvest(number: int, field: Field, players: int = 2, **changes: Any) -> State:
    """The final round's Harvest, without weather before it; player_0 holds the card."""
    return final_round(players, field=field, **holding(number), **changes)


def offered(state: State, number: int, seat: int = 0) -> bool:
    if asked(state) != ("forecast", seat):
        return False
    assert legal_names(state) == offer(number)
    return True


# --- 1: before the Harvest -------------------------------------------------------------------------------------------


def test_1_scores_every_tile_with_an_own_drop() -> None:
    """Card 1: 1 point for every crop tile with at least one own drop, growing or not, however many drops."""
    field = {
        "b1": tile("grass", (1,)),
        "c1": tile("coffee", (1, 2)),
        "b2": tile("wheat", (2,)),
        "a3": tile("rice", (0, 3)),
        "b3": tile("grass", cloud=(2,)),
    }
    state = last_harvest(1, field)
    assert offered(state, 1)
    assert by_seat(play(state, "forecast 1"), "points") == (3, 0)
    assert by_seat(play(state, "decline"), "points") == (0, 0)


def test_1_adds_to_what_the_harvest_scores() -> None:
    """Card 1: it is played before the Harvest, so drops that the Harvest removes still count."""
    state = play(last_harvest(1, {"b1": tile("cotton", (2, 1)), "b2": tile("grass", (1,))}), "forecast 1")
    assert by_seat(state, "points") == (2 + 5, 2)


def test_1_not_without_an_own_drop_on_a_tile() -> None:
    """Card 1: drops in clouds are on no tile, so there is nothing to score."""
    assert over(last_harvest(1, {"b1": tile("cotton", (0, 2)), "b2": tile("grass", cloud=(3,))}))


# --- 2: after the Harvest --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "points"), [(4, 1), (6, 3), (9, 6)])
def test_2_scores_own_drops_beyond_the_third(own: int, points: int) -> None:
    """Card 2; ruling 5.7: 1 point for each own drop beyond the third when the tile was scored; others' don't count."""
    state = last_harvest(2, {"b1": tile("grass", (own, 5))})
    assert on_tile(state, "b1") == (0, 0), "it comes after the Harvest"
    assert offered(state, 2)
    before = by_seat(state, "points")
    assert before == ((4, 3) if own > 5 else (3, 4))
    assert by_seat(play(state, "forecast 2"), "points") == (before[0] + points, before[1])
    assert by_seat(play(state, "decline"), "points") == before


def test_2_one_tile_is_chosen() -> None:
    """Card 2: a tile of this Harvest with more than three own drops is chosen; it may have been sprouting."""
    field = {
        "b1": tile("grass", (6, 1)),
        "c1": tile("coffee", (5,)),
        "b2": tile("grass", (3, 7)),
        "a3": tile("rice", (4,)),
    }
    state = play(last_harvest(2, field), "forecast 2")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles("b1", "c1", "a3")
    before = by_seat(state, "points")
    for name, points in {"b1": 3, "c1": 2, "a3": 1}.items():
        after = play(state, f"tile {name}")
        assert over(after)
        assert by_seat(after, "points") == (before[0] + points, before[1])


def test_2_only_harvested_tiles() -> None:
    """Card 2; ruling 5.7: a tile that was not harvested does not count, here Corn with four of its five drops."""
    field = {"b1": tile("corn", (4,)), "c1": tile("grass", (5,))}
    state = play(last_harvest(2, field, 3), "forecast 2")
    assert by_seat(state, "points") == (4 + 2, 0, 0)
    assert over(last_harvest(2, {"b1": tile("corn", (4,))}, 3))


def test_2_forgets_earlier_harvests() -> None:
    """Card 2: the Harvest of an earlier round does not count, here the first of two."""
    field = {"b1": tile("grass", (5,))}
    state = end_round(2, votes={"frost": (1,), "rain": (1,)}, field=field, dice=["harvest"] * 3, **holding(2))
    assert offered(state, 2)
    state = play(state, "decline")
    assert int(state["round"]) == 2
    assert not state["scored_drops"].any()


def test_2_not_with_three_drops() -> None:
    """Card 2: no tile had a fourth own drop."""
    assert over(last_harvest(2, {"b1": tile("grass", (3, 5)), "c1": tile("wheat", (3,))}))


# --- 3: before the Harvest -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("described", "without", "with_card"),
    [
        (tile("grass", (2, 1), cloud=(2, 1)), (0, 0), (4, 3)),
        (tile("grass", (1, 3), cloud=(3,)), (3, 4), (4, 3)),
        (tile("cotton", cloud=(2,)), (0, 0), (5, 0)),
        (tile("cotton", (0, 1), cloud=(1, 2)), (0, 0), (2, 2)),
        (tile("cotton", (0, 2), cloud=(1, 5)), (0, 5), (2, 5)),
        (tile("potato", (1, 2), cloud=(2,)), (5, 3), (3, 5)),
        (tile("grass", (2,), cloud=(1, 2)), (0, 0), (0, 0)),
        (tile("cotton", (0, 2), cloud=(5, 1)), (0, 5), (5, 2)),
    ],
)
def test_3_counts_own_drops_in_clouds(described: dict[str, Any], without: Numbers, with_card: Numbers) -> None:
    """Card 3: in the Harvest own drops in a cloud count as if on the tile, for growing and for places.

    The drops stay in the cloud. Other players' drops in clouds don't count. (Tied players each have the lower place.)
    """
    state = last_harvest(3, {"b1": described})
    assert offered(state, 3)
    assert by_seat(play(state, "decline"), "points") == without
    after = play(state, "forecast 3")
    assert by_seat(after, "points") == with_card
    assert cloud(after, "b1") == cloud(state, "b1")
    assert on_tile(after, "b1") == ((0, 0) if any(with_card) else on_tile(state, "b1"))
    assert growing(after, "b1") == "none"


def test_3_coffee_only_sprouts() -> None:
    """Card 3: Coffee that grows by this card only sprouts, without Sun weather; a developed one stays developed."""
    state = last_harvest(3, {"b1": tile("coffee", (1, 1), cloud=(2,))})
    assert by_seat(play(state, "forecast 3"), "points") == (5, 3)
    state = last_harvest(3, {"b1": tile("coffee", (1, 3), growing="developed", cloud=(3,))})
    assert by_seat(play(state, "forecast 3"), "points") == (10, 6)


def test_3_rice() -> None:
    """Card 3: Rice that sprouts by this card is harvested without points; a developed one scores the cloud's drops."""
    sprouting = play(last_harvest(3, {"b1": tile("rice", (1, 2), cloud=(3,))}), "forecast 3")
    assert by_seat(sprouting, "points") == (0, 0)
    assert on_tile(sprouting, "b1") == (0, 0)
    state = last_harvest(3, {"b1": tile("rice", (1, 3), growing="developed", cloud=(2, 1))})
    assert by_seat(play(state, "forecast 3"), "points") == (3, 3)


def test_3_wheat_and_corn() -> None:
    """Card 3: the drops count for the Wheat token and on Corn as well. (The token brings 12 at the end.)"""
    field = {"b1": tile("wheat", (1, 2), cloud=(2,)), "c1": tile("corn", (0, 4), cloud=(1,))}
    state = play(last_harvest(3, field, 3), "forecast 3")
    assert by_seat(state, "wheat_tokens") == (1, 0, 0)
    assert by_seat(state, "points") == (2 + 8 + 12, 3 + 8, 0)


def test_3_for_this_harvest_only() -> None:
    """Card 3, note: drops in clouds are not removed, and after the Harvest they count only in the cloud."""
    state = harvest(2, {"b1": tile("cotton", cloud=(1,))}, "sun", **holding(3))
    assert cloud(state, "b1") == ("thunder", 2, 0)
    state = play(state, "forecast 3")
    assert state["round"] == 2
    assert by_seat(state, "points") == (5, 0)
    assert (cloud(state, "b1"), growing(state, "b1")) == (("thunder", 2, 0), "none")
    assert by_seat(state, "supply") == (18, 20)
    assert not state["counts_clouds"].any()


def test_3_not_without_drops_in_clouds() -> None:
    """Card 3: without own drops in any cloud the card would change nothing, so it can't be played."""
    assert over(last_harvest(3, {"b1": tile("cotton", (2, 1), cloud=(0, 2))}))


def test_3_then_2() -> None:
    """Cards 3 and 2; ruling 5.7: own drops "as they stood when the tile was scored" include those that card 3 adds."""
    state = final_round(field={"b1": tile("grass", (2, 1), cloud=(3,))}, **forecasts((2, 3, 13)))
    state = play(state, "forecast 3")
    assert offered(state, 2)
    state = play(state, "forecast 2")
    assert by_seat(state, "points") == (4 + 2, 3)


@pytest.mark.parametrize("order", [("forecast 1", "forecast 3"), ("forecast 3", "forecast 1")])
def test_1_and_3_together(order: tuple[str, str]) -> None:
    """Cards 1 and 3 in one window: card 1 comes before the Harvest, so it counts the drops that are on tiles."""
    state = final_round(field={"b1": tile("grass", (1,)), "c1": tile("cotton", cloud=(2,))}, **forecasts((1, 3, 13)))
    assert legal_names(state) == offer(1, 3)
    assert by_seat(play(state, *order), "points") == (1 + 5, 0)


# --- 4: after the Harvest --------------------------------------------------------------------------------------------


def test_4_creates_a_light_cloud_of_two() -> None:
    """Card 4: a cloud with two own drops on a tile without one; it is there in the next round."""
    field = {"b1": tile("cotton", (2, 1)), "c1": tile(cloud=(0, 2))}
    state = harvest(2, field, "sun", **holding(4))
    assert on_tile(state, "b1") == (0, 0), "it comes after the Harvest"
    assert offered(state, 4)
    state = play(state, "forecast 4")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles(*EVERYWHERE - {"c1"})
    state = play(state, "tile b1")
    assert state["round"] == 2
    assert cloud(state, "b1") == ("light", 2, 0)
    assert by_seat(state, "supply")[0] == 18


def sky(total: int) -> Field:
    """Thunderclouds that hold this many drops of player_0."""
    names = sorted(EVERYWHERE)
    field: dict[str, dict[str, Any]] = {}
    while total:
        drops = min(total, 7)
        field[names[len(field)]] = tile(cloud=(drops,))
        total -= drops
    return field


@pytest.mark.parametrize(("left", "can"), [(2, True), (1, False), (0, False)])
def test_4_needs_two_drops_in_supply(left: int, can: bool) -> None:
    """Card 4; ruling 5.8."""
    state = last_harvest(4, sky(20 - left))
    assert by_seat(state, "supply")[0] == left
    assert offered(state, 4) is can


def test_4_may_use_drops_that_the_harvest_returned() -> None:
    """Card 4: it is played after the Harvest, when the harvested drops are back in the supply."""
    field = {**sky(14), "c2": tile("grass", (6,))}
    state = last_harvest(4, field)
    assert by_seat(state, "supply")[0] == 6
    assert offered(state, 4)


def test_4_needs_a_free_tile_and_a_cloud() -> None:
    """Card 4; Gioco in 5 giocatori: it needs a tile without a cloud, and one of the 12 clouds in the supply."""
    assert not offered(last_harvest(4, {name: tile(cloud=(0, 1)) for name in EVERYWHERE}), 4)
    for out, can in ((11, True), (12, False)):
        state = last_harvest(4, {name: tile(cloud=(0, 1)) for name in FIELDS[5][:out]}, 5)
        assert offered(state, 4) is can
