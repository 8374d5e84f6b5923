"""Flowers, Carte Previsione 10 to 16, which are played instead of a turn (Al posto del tuo turno)."""

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
    clouds,
    dice,
    game,
    growing,
    last_turn,
    legal_names,
    on_tile,
    tile,
    tiles,
)
from tests.rulebook.modules import forecasts
from tests.support.play import play

Field = Mapping[str, dict[str, Any]]

EVERYWHERE = frozenset(FIELDS[2])
FULL_SKY = {name: tile(cloud=(0, 1)) for name in FIELDS[2]}
"""A cloud above every tile of two players' Fields."""


def holding(
    number: int, field: Field | None = None, players: int = 2, modules: tuple[str, ...] = (), **changes: Any
) -> State:
    """player_0's turn; they hold this card and two that cannot be played in a turn."""
    return game(players, field=field, **forecasts((number, 7, 8), modules=modules), **changes)


def can_play(state: State, number: int) -> bool:
    assert asked(state) == ("turn", 0)
    return f"forecast {number}" in legal_names(state)


def spent(left: int, **fields: dict[str, Any]) -> Field:
    """A field with player_0's drops on Rice, so that `left` are in the supply if `fields` hold none."""
    return {"b1": tile("rice", (20 - left,)), **fields}


def pairs(description: dict[str, Numbers]) -> Field:
    return {name: tile(cloud=drops) for name, drops in description.items()}


# --- drops in supply (ruling 5.8) and targets ------------------------------------------------------------------------

NEEDS = [
    (10, 1, {"c2": tile(cloud=(0, 1))}),
    (12, 3, {"c2": tile(cloud=(0, 1))}),
    (14, 1, {"c2": tile(cloud=(0, 1))}),
    (14, 3, pairs({"c2": (0, 1), "a3": (0, 2), "b3": (0, 7)})),
    (16, 3, {}),
]


@pytest.mark.parametrize(("number", "drops", "field"), NEEDS)
def test_needs_the_drops_in_supply(number: int, drops: int, field: dict[str, Any]) -> None:
    """Ruling 5.8: 10 needs one drop, 12 and 16 three, 14 one for each cloud; drops on tiles don't help."""
    assert can_play(holding(number, spent(drops, **field)), number)
    assert not can_play(holding(number, spent(drops - 1, **field)), number)


@pytest.mark.parametrize("number", [11, 13, 15])
def test_needs_no_drops_in_supply(number: int) -> None:
    """Ruling 5.8: 11, 13 and 15 place no drop of the supply, so it may be empty."""
    field = {"b1": tile("rice", (19,), cloud=(1,))}
    assert by_seat(holding(number, field), "supply") == (0, 20)
    assert can_play(holding(number, field), number)


@pytest.mark.parametrize("number", [10, 11, 12, 14, 15])
def test_needs_a_cloud(number: int) -> None:
    """Cards 10, 11, 12, 14, 15: without a cloud on the Fields they can't be played."""
    assert not can_play(holding(number, {"b1": tile("rice", (4, 4))}), number)


@pytest.mark.parametrize("number", [10, 12, 14, 15])
def test_the_cloud_may_be_anybodys(number: int) -> None:
    """Cards 10, 12, 14, 15: any cloud will do, even without an own drop."""
    assert can_play(holding(number, {"b1": tile(cloud=(0, 1))}), number)


# --- 10 --------------------------------------------------------------------------------------------------------------


def test_10_moves_any_cloud_to_any_tile_and_adds_a_drop() -> None:
    """Card 10: it moves any cloud to any tile, however far, and adds one own drop."""
    state = play(holding(10, pairs({"b1": (1, 0), "c2": (0, 2)})), "forecast 10")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles("b1", "c2")
    state = play(state, "tile c2")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles(*EVERYWHERE - {"c2"})
    state = play(state, "tile a3")
    assert clouds(state) == {"b1": ("light", 1, 0), "a3": ("light", 1, 2)}
    assert by_seat(state, "supply") == (18, 18)
    assert asked(state) == ("turn", 1)


def test_10_takes_the_only_cloud_without_asking() -> None:
    """Card 10: with one cloud, only the destination is chosen."""
    state = play(holding(10, pairs({"b1": (0, 2)})), "forecast 10")
    assert legal_names(state) == tiles(*EVERYWHERE - {"b1"})


@pytest.mark.parametrize(
    ("moved", "there", "after"),
    [
        ((0, 1), (1, 0), ("thunder", 2, 1)),
        ((0, 2), (0, 3), ("thunder", 1, 5)),
        ((0, 3), (3, 0), ("thunder", 4, 3)),
        ((0, 3), (), ("thunder", 1, 3)),
        ((2, 4), (), ("thunder", 3, 4)),
        ((1, 1), (), ("light", 2, 1)),
    ],
)
def test_10_merges_and_grows(moved: Numbers, there: Numbers, after: tuple[Any, ...]) -> None:
    """Card 10; Merging and Overflowing: clouds in one space become a thundercloud, and 4 drops make one."""
    field = {"b1": tile(cloud=moved), **({"c2": tile(cloud=there)} if there else {})}
    state = play(holding(10, field), "forecast 10", *(("tile b1",) if there else ()), "tile c2")
    assert clouds(state) == {"c2": after}


@pytest.mark.parametrize(("moved", "there"), [((3, 4), ()), ((0, 4), (3, 0)), ((1, 6), (0, 7))])
def test_10_overflows_on_the_destination(moved: Numbers, there: Numbers) -> None:
    """Card 10; Overflowing: eight drops, including the added one, pour onto the destination."""
    field = {"b1": tile("rice", cloud=moved), "c2": tile("potato", cloud=there)}
    state = play(holding(10, field), "forecast 10", *(("tile b1",) if there else ()), "tile c2")
    assert clouds(state) == {}
    mine, others = (sum(drops) for drops in zip(moved, there or (0, 0), strict=True))
    assert on_tile(state, "c2") == (mine + 1, others)
    assert on_tile(state, "b1") == (0, 0)
    assert growing(state, "c2") == "developed"


# --- 11 --------------------------------------------------------------------------------------------------------------


def test_11_which_tiles_and_drops() -> None:
    """Card 11: three drops of any colour, all from one tile that has a cloud above it."""
    field = {
        "b1": tile("grass", (2, 2), cloud=(1,)),
        "a2": tile("coffee", (3,), cloud=(0, 1)),
        "c2": tile("rice", (5, 5)),
        "b3": tile("grass", (1, 1), cloud=(1,)),
        "a3": tile(cloud=(1, 1)),
    }
    state = play(holding(11, field), "forecast 11")
    assert asked(state) == ("forecast_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop a2 own"}
    state = play(state, "drop b1 own")
    assert asked(state) == ("forecast_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop b1 1st to the left"}
    two_own = play(state, "drop b1 own")
    assert (on_tile(two_own, "b1"), cloud(two_own, "b1")) == ((0, 1), ("thunder", 3, 1))
    one_own = play(state, "drop b1 1st to the left")
    assert (on_tile(one_own, "b1"), cloud(one_own, "b1")) == ((1, 0), ("thunder", 2, 2))
    for after in (two_own, one_own):
        assert asked(after) == ("turn", 1)
        assert by_seat(after, "supply") == (20 - 14, 20 - 10), "all drops stay on the Fields"


def test_11_other_players_drops_only() -> None:
    """Card 11: "of any colour": no own drop is needed among the three, nor in the cloud."""
    state = play(holding(11, {"b1": tile("rice", (0, 4), cloud=(0, 2))}), "forecast 11")
    assert on_tile(state, "b1") == (0, 1)
    assert cloud(state, "b1") == ("thunder", 0, 5)


@pytest.mark.parametrize(
    ("drops", "above", "can"), [((2, 0), (1,), False), ((1, 1), (1,), False), ((2, 1), (1,), True), ((3, 3), (), False)]
)
def test_11_exactly_three_drops_and_a_cloud(drops: Numbers, above: Numbers, can: bool) -> None:
    """Card 11: it moves exactly 3 drops into the cloud above them."""
    assert can_play(holding(11, {"b1": tile("rice", drops, cloud=above)}), 11) is can


def test_11_three_players() -> None:
    """Card 11: the colours of all players, here in the turn of player_1."""
    field = {"b2": tile("corn", (1, 1, 2), cloud=(1,))}
    state = game(3, field=field, actor="player_1", **forecasts((), (11, 7, 8)))
    state = play(state, "forecast 11")
    assert asked(state) == ("forecast_drop", 1)
    assert legal_names(state) == {"drop b2 own", "drop b2 1st to the left"}
    mixed = play(state, "drop b2 own")
    assert legal_names(mixed) == {"drop b2 1st to the left", "drop b2 2nd to the left"}
    mixed = play(mixed, "drop b2 2nd to the left")
    assert (on_tile(mixed, "b2"), cloud(mixed, "b2")) == ((0, 0, 1), ("thunder", 2, 1, 1))
    state = play(state, "drop b2 1st to the left")
    assert (on_tile(state, "b2"), cloud(state, "b2")) == ((0, 1, 0), ("thunder", 2, 0, 2))


def test_11_dries_out() -> None:
    """Card 11; Growing Crops: a tile that falls below its number of drops loses its growing token."""
    wheat = play(holding(11, {"b1": tile("wheat", (0, 5), cloud=(1,))}), "forecast 11")
    assert (on_tile(wheat, "b1"), growing(wheat, "b1")) == ((0, 2), "none")
    wheat = play(holding(11, {"b1": tile("wheat", (0, 6), cloud=(1,))}), "forecast 11")
    assert (on_tile(wheat, "b1"), growing(wheat, "b1")) == ((0, 3), "developed")


def test_11_overflows_back_onto_the_tile() -> None:
    """Card 11; Overflowing: with eight drops the cloud pours them out again and is removed."""
    state = play(holding(11, {"b1": tile("wheat", (0, 3), cloud=(1, 4))}), "forecast 11")
    assert clouds(state) == {}
    assert on_tile(state, "b1") == (1, 7)
    assert growing(state, "b1") == "developed"
    state = play(holding(11, {"b1": tile("wheat", (0, 3), cloud=(1, 3))}), "forecast 11")
    assert clouds(state) == {"b1": ("thunder", 1, 6)}


def test_11_developed_coffee_that_dries_out_only_sprouts_again() -> None:
    """Card 11; ruling 2.7: the Coffee dries out at once, so the drops that pour back make it sprout again."""
    field = {"b1": tile("coffee", (0, 4), growing="developed", cloud=(5,))}
    assert growing(play(holding(11, field), "forecast 11"), "b1") == "sprouting"
    field = {"b1": tile("coffee", (0, 7), growing="developed", cloud=(5,))}
    assert growing(play(holding(11, field), "forecast 11"), "b1") == "developed"


# --- 12 --------------------------------------------------------------------------------------------------------------


def test_12_adds_three_drops_to_a_cloud_of_at_most_four() -> None:
    """Card 12: any cloud with 4 or fewer drops, with or without own ones."""
    field = pairs({"b1": (0, 1), "c1": (2, 2), "b2": (0, 5), "a3": (3, 1), "b3": (4, 3)})
    state = play(holding(12, field), "forecast 12")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles("b1", "c1", "a3")
    for name, after in {"b1": ("thunder", 3, 1), "c1": ("thunder", 5, 2), "a3": ("thunder", 6, 1)}.items():
        then = play(state, f"tile {name}")
        assert cloud(then, name) == after
        assert by_seat(then, "supply") == (20 - 9 - 3, 20 - 12)
        assert asked(then) == ("turn", 1)


def test_12_not_without_such_a_cloud() -> None:
    """Card 12: it can't be played if all clouds have five or more drops."""
    assert not can_play(holding(12, pairs({"b1": (5, 0), "c1": (3, 4)})), 12)
    assert can_play(holding(12, pairs({"b1": (5, 0), "c1": (3, 1)})), 12)


# --- 13 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rolled", [[4, 4, 4], [1, 2, 3], ["harvest", 1, 4], ["harvest"] * 3])
def test_13_turns_all_dice_and_scores_three(rolled: list[Any]) -> None:
    """Card 13: all dice are turned to Harvest, for 3 points in all, whatever they showed."""
    state = play(holding(13, dice=rolled), "forecast 13")
    assert dice(state) == [0, 0, 0]
    assert by_seat(state, "points") == (3, 0)
    assert asked(state) == ("turn", 1)
    assert "die 4" not in legal_names(play(state, "play frost", "tile b1"))


def test_13_brings_a_harvest() -> None:
    """Card 13; Harvest Phase: all three dice show Harvest, so this round has a Harvest; afterwards all are rolled."""
    field, votes = {"b2": tile("cotton", (2, 1))}, {"frost": (1, 1), "rain": (1, 1)}
    state = last_turn(field=field, votes=votes, **forecasts((), (13, 7, 8)))
    passed = play(state, "pass")
    assert (by_seat(passed, "points"), on_tile(passed, "b2")) == ((0, 0), (2, 1))
    state = play(state, "forecast 13")
    assert state["round"] == 2
    assert by_seat(state, "points") == (5, 2 + 3)
    assert on_tile(state, "b2") == (0, 0)


# --- 14 --------------------------------------------------------------------------------------------------------------


def test_14_adds_a_drop_to_all_clouds_where_one_is_not() -> None:
    """Card 14: one drop into every cloud without own drops, and into no other."""
    field = pairs({"b1": (0, 1), "c1": (1, 1), "b2": (0, 3), "a3": (2, 0), "b3": (0, 6)})
    state = play(holding(14, field), "forecast 14")
    assert clouds(state) == {
        **{"b1": ("light", 1, 1), "c1": ("light", 1, 1), "b2": ("thunder", 1, 3)},
        **{"a3": ("light", 2, 0), "b3": ("thunder", 1, 6)},
    }
    assert by_seat(state, "supply") == (20 - 3 - 3, 20 - 11)
    assert asked(state) == ("turn", 1)


def test_14_overflows() -> None:
    """Card 14; Overflowing: a cloud of seven drops pours out."""
    state = play(holding(14, {"b1": tile("wheat", cloud=(0, 7)), "c1": tile(cloud=(0, 2))}), "forecast 14")
    assert clouds(state) == {"c1": ("light", 1, 2)}
    assert on_tile(state, "b1") == (1, 7)
    assert growing(state, "b1") == "developed"


def test_14_not_without_such_a_cloud() -> None:
    """Card 14: with own drops in every cloud there is nothing to add."""
    assert not can_play(holding(14, pairs({"b1": (1, 0), "c1": (1, 2)})), 14)


def test_14_three_players() -> None:
    """Card 14: drops go into the clouds of all other players."""
    field = {"a1": tile(cloud=(0, 1)), "b1": tile(cloud=(0, 0, 1)), "c1": tile(cloud=(0, 1, 1)), "c3": tile(cloud=(1,))}
    state = play(holding(14, field, 3), "forecast 14")
    assert clouds(state) == {
        **{"a1": ("light", 1, 1, 0), "b1": ("light", 1, 0, 1)},
        **{"c1": ("light", 1, 1, 1), "c3": ("light", 1, 0, 0)},
    }


# --- 15 --------------------------------------------------------------------------------------------------------------


def test_15_rains_a_drop_from_every_cloud() -> None:
    """Card 15: a drop falls from every cloud of any player; if a cloud has several colours, one is chosen."""
    field = {
        "b1": tile("rice", cloud=(1, 1)),
        "c1": tile("grass", cloud=(0, 2)),
        "b2": tile("wheat", (1, 1), cloud=(2, 4)),
        "a3": tile("coffee", cloud=(1, 0)),
    }
    state = play(holding(15, field), "forecast 15")
    assert asked(state) == ("forecast_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop b1 1st to the left"}
    state = play(state, "drop b1 1st to the left")
    assert legal_names(state) == {"drop b2 own", "drop b2 1st to the left"}
    state = play(state, "drop b2 own")
    assert clouds(state) == {"b1": ("light", 1, 0), "c1": ("light", 0, 1), "b2": ("thunder", 1, 4)}
    assert [on_tile(state, name) for name in ("b1", "c1", "b2", "a3")] == [(0, 1), (0, 1), (2, 1), (1, 0)]
    assert growing(state, "b2") == "developed"
    assert asked(state) == ("turn", 1)


def test_15_leaves_thunderclouds_thunderclouds() -> None:
    """Card 15; Merging and Overflowing, note: a thundercloud below four drops stays one; an empty one is removed."""
    field = {"b1": tile("rice", cloud=(4,)), "c1": tile("grass", cloud=(0, 1), thunder=True), "b2": tile(cloud=(0, 2))}
    state = play(holding(15, field), "forecast 15")
    assert clouds(state) == {"b1": ("thunder", 3, 0), "b2": ("light", 0, 1)}


def test_15_may_empty_the_sky() -> None:
    """Card 15: clouds of one drop each all disappear, and their tiles are free."""
    state = play(holding(15, FULL_SKY), "forecast 15")
    assert clouds(state) == {}
    assert by_seat(state, "supply") == (20, 13)
    assert legal_names(play(state, "play frost")) == tiles(*EVERYWHERE)


# --- 16 --------------------------------------------------------------------------------------------------------------


def test_16_creates_a_cloud_of_three() -> None:
    """Card 16: a light cloud of three drops, on any tile without a cloud."""
    state = play(holding(16, pairs({"b1": (0, 1), "c2": (4, 0)})), "forecast 16")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles(*EVERYWHERE - {"b1", "c2"})
    state = play(state, "tile a3")
    assert cloud(state, "a3") == ("light", 3, 0)
    assert by_seat(state, "supply") == (13, 19)
    assert asked(state) == ("turn", 1)


def test_16_needs_a_free_tile() -> None:
    """Card 16: it can't be played with a cloud above every tile."""
    assert not can_play(holding(16, FULL_SKY), 16)
    assert can_play(holding(16, {name: described for name, described in FULL_SKY.items() if name != "b2"}), 16)


@pytest.mark.parametrize(("out", "can"), [(11, True), (12, False)])
def test_16_needs_a_cloud_in_the_general_supply(out: int, can: bool) -> None:
    """Card 16; Gioco in 5 giocatori: five players have 16 tiles but 12 clouds, so all clouds can be in play."""
    field = {name: tile(cloud=(0, 1)) for name in FIELDS[5][:out]}
    assert can_play(holding(16, field, 5), 16) is can
