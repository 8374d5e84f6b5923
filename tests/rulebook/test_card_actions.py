"""Card Actions Explained: Frost, Sun, Rain and Wind action."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import (
    FIELDS,
    asked,
    by_seat,
    cloud,
    clouds,
    game,
    growing,
    legal_names,
    moves,
    on_tile,
    tile,
    tiles,
)
from tests.support.play import play


def acting(kind: str, field: dict[str, Any], players: int = 2, **changes: Any) -> State:
    """player_0 has played one card of the kind, the last in hand."""
    hands = (kind, "frost", "frost", "frost")
    return play(game(players, hands=hands, field=field, **changes), f"play {kind}")


# --- Frost action --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_frost_on_any_tile_without_a_cloud(players: int) -> None:
    """Frost action: a light cloud with one own drop from the supply, on any tile that has no cloud."""
    taken = {"b1": tile(cloud=(1,)), "b2": tile(cloud=(0, 2)), "a3": tile(cloud=(1, 3))}
    state = acting("frost", taken, players)
    free = [name for name in FIELDS[players] if name not in taken]
    assert asked(state) == ("frost_tile", 0)
    assert legal_names(state) == tiles(*free)
    for name in free:
        after = play(state, f"tile {name}")
        assert cloud(after, name) == ("light", 1, *(0,) * (players - 1))
        assert after["supply"][0] == state["supply"][0] - 1
        assert asked(after) == ("vote", 0)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_frost_with_clouds_everywhere_is_only_a_vote(players: int) -> None:
    """Frost action: if all tiles have a cloud, only the vote is left."""
    state = acting("frost", {name: tile(cloud=(0, 1)) for name in FIELDS[players]}, players)
    assert asked(state) == ("vote", 0)
    assert state["supply"][0] == 20


ALL_DROPS_OUT = {"b1": tile("wheat", (3, 1)), "b2": tile("grass", (9,)), "c1": tile(cloud=(7,)), "a3": tile(cloud=(1,))}
"""player_0's 20 drops: 3 on the growing wheat, 9 on grass, 8 in clouds."""


def test_frost_from_a_tile_when_the_supply_is_empty() -> None:
    """Frost action; ruling 2.5: optionally one own drop from a chosen tile, not from another cloud."""
    state = acting("frost", ALL_DROPS_OUT)
    assert asked(state) == ("frost_tile", 0)
    assert legal_names(state) == {"decline"} | tiles("b1", "a2", "b2", "c2", "b3")
    state = play(state, "tile b3")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("b1", "b2")
    from_wheat, from_grass = play(state, "tile b1"), play(state, "tile b2")
    assert cloud(from_wheat, "b3") == cloud(from_grass, "b3") == ("light", 1, 0)
    assert (on_tile(from_wheat, "b1"), on_tile(from_wheat, "b2")) == ((2, 1), (9, 0))
    assert (on_tile(from_grass, "b1"), on_tile(from_grass, "b2")) == ((3, 1), (8, 0))
    assert from_wheat["supply"][0] == from_grass["supply"][0] == 0


def test_frost_from_a_tile_can_be_declined() -> None:
    """Frost action; ruling 2.5: declining skips the action, not the vote."""
    state = acting("frost", ALL_DROPS_OUT)
    after = play(state, "decline")
    assert asked(after) == ("vote", 0)
    assert clouds(after) == clouds(state)
    assert on_tile(after, "b1") == (3, 1)


def test_frost_onto_the_tile_that_gives_the_drop() -> None:
    """Frost action: the cloud may be placed above the tile its drop comes from."""
    state = play(acting("frost", ALL_DROPS_OUT), "tile b1", "tile b1")
    assert cloud(state, "b1") == ("light", 1, 0)
    assert on_tile(state, "b1") == (2, 1)


def test_frost_takes_from_a_tile_only_with_an_empty_supply() -> None:
    """Ruling 2.5: with a drop in supply Frost is mandatory and uses it."""
    state = acting("frost", {**ALL_DROPS_OUT, "b2": tile("grass", (8,))})
    assert legal_names(state) == tiles("b1", "a2", "b2", "c2", "b3")
    state = play(state, "tile c2")
    assert asked(state) == ("vote", 0)
    assert on_tile(state, "b1") == (3, 1)
    assert on_tile(state, "b2") == (8, 0)


def test_frost_without_drops_on_tiles_is_only_a_vote() -> None:
    """Frost action: all 20 drops are in clouds, and none may be taken from there."""
    state = acting(
        "frost", {"b1": tile(cloud=(7,)), "c1": tile(cloud=(7,)), "b2": tile(cloud=(6, 1)), "b3": tile("grass", (0, 2))}
    )
    assert asked(state) == ("vote", 0)


# --- Sun action ----------------------------------------------------------------------------------------------------


def test_sun_adds_two_drops_to_a_cloud_with_an_own_drop() -> None:
    """Sun action: exactly two own drops from the supply, into any cloud with at least one own drop."""
    field = {
        "b1": tile(cloud=(1,)),
        "a2": tile(cloud=(0, 1)),
        "b2": tile(cloud=(1, 2)),
        "b3": tile(cloud=(4, 1)),
        "c1": tile("grass", (3,)),
    }
    state = acting("sun", field)
    assert asked(state) == ("sun_cloud", 0)
    assert legal_names(state) == tiles("b1", "b2", "b3")
    assert cloud(play(state, "tile b1"), "b1") == ("light", 3, 0)
    assert cloud(play(state, "tile b2"), "b2") == ("thunder", 3, 2)
    assert cloud(play(state, "tile b3"), "b3") == ("thunder", 6, 1)
    assert play(state, "tile b1")["supply"][0] == state["supply"][0] - 2


def test_sun_without_own_cloud_is_only_a_vote() -> None:
    """Sun action: no cloud with an own drop."""
    assert asked(acting("sun", {"b1": tile("grass", (2,), cloud=(0, 2))})) == ("vote", 0)


def test_sun_with_two_drops_left_takes_them() -> None:
    """Ruling 2.5: with two drops in supply the action is mandatory, and takes none from tiles."""
    field = {"b1": tile(cloud=(5,)), "b2": tile(cloud=(1,)), "c1": tile("grass", (12,))}
    state = acting("sun", field)
    assert legal_names(state) == tiles("b1", "b2")
    state = play(state, "tile b2")
    assert asked(state) == ("vote", 0)
    assert by_seat(state, "supply") == (0, 20)
    assert on_tile(state, "c1") == (12, 0)


def test_sun_with_one_drop_left_takes_one_from_a_tile() -> None:
    """Sun action, short supply; ruling 2.5: it is optional; the supply comes first, then a chosen tile."""
    field = {"b1": tile(cloud=(5,)), "b2": tile(cloud=(1,)), "c1": tile("grass", (12,)), "a3": tile("rice", (1, 3))}
    state = acting("sun", field)
    assert asked(state) == ("sun_cloud", 0)
    assert legal_names(state) == {"decline"} | tiles("b1", "b2")
    state = play(state, "tile b2")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("c1", "a3")
    state = play(state, "tile a3")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b2") == ("light", 3, 0)
    assert on_tile(state, "c1") == (12, 0)
    assert on_tile(state, "a3") == (0, 3)
    assert by_seat(state, "supply") == (0, 17)
    assert growing(state, "a3") == "none"


def test_sun_with_no_drops_left_takes_two_from_tiles() -> None:
    """Sun action, short supply: the player chooses a tile for each drop, twice the same or two tiles."""
    field = {"b1": tile(cloud=(5,)), "b2": tile(cloud=(1,)), "c1": tile("grass", (13,)), "a3": tile("rice", (1, 3))}
    state = play(acting("sun", field), "tile b1")
    assert legal_names(state) == tiles("c1", "a3")
    one_each = play(state, "tile a3")
    assert on_tile(one_each, "c1") == (12, 0)
    assert on_tile(one_each, "a3") == (0, 3)
    from_grass = play(state, "tile c1")
    assert asked(from_grass) == ("take_drop", 0)
    assert legal_names(from_grass) == tiles("c1", "a3")
    assert on_tile(play(from_grass, "tile c1"), "c1") == (11, 0)
    assert cloud(play(from_grass, "tile c1"), "b1") == ("thunder", 7, 0)


def test_sun_with_a_short_supply_can_be_declined() -> None:
    """Sun action; ruling 2.5: declining skips the action, not the vote."""
    field = {"b1": tile(cloud=(6,)), "b2": tile(cloud=(1,)), "c1": tile("grass", (12,))}
    state = play(acting("sun", field), "decline")
    assert asked(state) == ("vote", 0)
    assert clouds(state) == {"b1": ("thunder", 6, 0), "b2": ("light", 1, 0)}
    assert by_seat(state, "supply") == (1, 20)


def test_sun_is_two_drops_or_none() -> None:
    """Sun action: with a single drop, in supply or on a tile, it is only a vote."""
    in_clouds = {"b1": tile(cloud=(7,)), "b2": tile(cloud=(7,)), "c1": tile(cloud=(5,))}
    state = acting("sun", in_clouds)
    assert asked(state) == ("vote", 0)
    assert state["supply"][0] == 1
    state = acting("sun", {**in_clouds, "a3": tile("grass", (1,))})
    assert asked(state) == ("vote", 0)
    assert state["supply"][0] == 0


def test_sun_never_takes_from_clouds_or_from_others() -> None:
    """Sun action, short supply: own drops from tiles only."""
    field = {
        "b1": tile(cloud=(7,)),
        "b2": tile(cloud=(7,)),
        "c1": tile("grass", (1, 3)),
        "a3": tile("rice", (5,)),
        "b3": tile("wheat", (0, 2)),
    }
    state = play(acting("sun", field), "tile b1")
    assert legal_names(state) == tiles("c1", "a3")


# --- Rain action ---------------------------------------------------------------------------------------------------


def test_rain_any_drop_of_a_cloud_with_an_own_drop() -> None:
    """Rain action: one drop, own or not, of a cloud with at least one own drop, falls on the tile below."""
    field = {"b1": tile("wheat", cloud=(1, 2)), "b2": tile("grass", cloud=(2,)), "c1": tile(cloud=(0, 3))}
    state = acting("rain", field)
    assert asked(state) == ("rain_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop b1 1st to the left", "drop b2 own"}
    after = play(state, "drop b1 1st to the left", "decline")
    assert on_tile(after, "b1") == (0, 1)
    assert cloud(after, "b1") == ("light", 1, 1)
    assert cloud(after, "b2") == ("light", 2, 0)
    assert asked(after) == ("vote", 0)


def test_rain_names_owners_from_the_actor() -> None:
    """Rain action: any player's drop; the owners are counted clockwise from the actor."""
    hands = ("frost", "rain", "frost")
    state = game(3, hands=hands, actor="player_1", field={"b2": tile("corn", cloud=(1, 1, 2))})
    state = play(state, "play rain")
    assert legal_names(state) == {"drop b2 own", "drop b2 1st to the left", "drop b2 2nd to the left"}
    assert on_tile(play(state, "drop b2 own"), "b2") == (0, 1, 0)
    assert on_tile(play(state, "drop b2 1st to the left"), "b2") == (0, 0, 1)
    assert on_tile(play(state, "drop b2 2nd to the left"), "b2") == (1, 0, 0)


def test_rain_from_up_to_two_clouds() -> None:
    """Rain action and note: a second, different cloud with an own drop, or only one cloud."""
    field = {"b1": tile("wheat", cloud=(1, 2)), "b2": tile("grass", cloud=(2,)), "a3": tile("rice", cloud=(1, 1))}
    state = play(acting("rain", field), "drop b2 own")
    assert asked(state) == ("rain_second_drop", 0)
    others = {"drop b1 own", "drop b1 1st to the left", "drop a3 own", "drop a3 1st to the left"}
    assert legal_names(state) == others | {"decline"}
    after = play(state, "drop a3 1st to the left")
    assert on_tile(after, "b2") == (1, 0)
    assert on_tile(after, "a3") == (0, 1)
    assert clouds(after) == {"b1": ("light", 1, 2), "b2": ("light", 1, 0), "a3": ("light", 1, 0)}
    after = play(state, "decline")
    assert on_tile(after, "b2") == (1, 0)
    assert on_tile(after, "a3") == (0, 0)


def test_rain_both_drops_fall_together() -> None:
    """Ruling 2.6: the two drops fall together; growth is checked afterwards."""
    field = {"b1": tile("wheat", (2,), cloud=(1, 2)), "b2": tile("cotton", (0, 1), cloud=(2,))}
    state = play(acting("rain", field), "drop b1 own")
    assert asked(state) == ("rain_second_drop", 0)
    assert on_tile(state, "b1") == (2, 0)
    assert growing(state, "b1") == "none"
    state = play(state, "drop b2 own")
    assert (growing(state, "b1"), growing(state, "b2")) == ("developed", "developed")


def test_rain_needs_one_drop_at_least() -> None:
    """Ruling 2.5: a player with a drop in a cloud must let at least one fall."""
    state = acting("rain", {"b1": tile(cloud=(2,)), "b2": tile(cloud=(2,))})
    assert legal_names(state) == {"drop b1 own", "drop b2 own"}


def test_rain_single_possible_drop_falls() -> None:
    """Rain action: with one cloud, of own drops only, there is nothing to choose."""
    state = acting("rain", {"b1": tile("wheat", cloud=(3,))})
    assert asked(state) == ("vote", 0)
    assert on_tile(state, "b1") == (1, 0)
    assert cloud(state, "b1") == ("light", 2, 0)


def test_rain_without_own_cloud_is_only_a_vote() -> None:
    """Rain action: no cloud with an own drop."""
    state = acting("rain", {"b1": tile("wheat", (1,), cloud=(0, 3))})
    assert asked(state) == ("vote", 0)
    assert on_tile(state, "b1") == (1, 0)


def test_rain_may_empty_a_cloud() -> None:
    """Rain action: an empty cloud is removed; after an own drop falls, the others' drops stay in the cloud."""
    state = play(acting("rain", {"b1": tile(cloud=(1,)), "b2": tile(cloud=(1, 1))}), "drop b1 own", "drop b2 own")
    assert clouds(state) == {"b2": ("light", 0, 1)}


# --- Wind action ---------------------------------------------------------------------------------------------------


def test_wind_moves_a_cloud_with_an_own_drop() -> None:
    """Wind action: any cloud with at least one own drop; it cannot be declined."""
    field = {"b1": tile(cloud=(1,)), "a2": tile(cloud=(0, 3)), "b3": tile(cloud=(1, 3)), "c2": tile("grass", (2,))}
    state = acting("wind", field)
    assert asked(state) == ("wind_cloud", 0)
    assert legal_names(state) == tiles("b1", "b3")
    state = play(state, "tile b3")
    assert asked(state) == ("wind_direction", 0)
    assert legal_names(state) == moves("north", "west")
    state = play(state, "move north")
    assert clouds(state) == {"b1": ("light", 1, 0), "a2": ("light", 0, 3), "b2": ("thunder", 1, 3)}
    assert asked(state) == ("vote", 0)


def neighbours(players: int, name: str) -> dict[str, str]:
    """Direction → tile, for the orthogonally adjacent tiles of the Fields."""
    column, row = ord(name[0]), int(name[1])
    around = {
        "north": (column, row - 1),
        "east": (column + 1, row),
        "south": (column, row + 1),
        "west": (column - 1, row),
    }
    found = {direction: f"{chr(where[0])}{where[1]}" for direction, where in around.items()}
    return {direction: there for direction, there in found.items() if there in FIELDS[players]}


@pytest.mark.parametrize(("players", "name"), [(players, name) for players in (2, 3, 4) for name in FIELDS[players]])
def test_wind_to_every_orthogonally_adjacent_tile(players: int, name: str) -> None:
    """Wind action: to an orthogonally adjacent tile of the Fields; ruling 2.1: never to the two missing corners."""
    state = acting("wind", {name: tile(cloud=(2, 1))}, players)
    around = neighbours(players, name)
    assert asked(state) == ("wind_direction", 0)
    assert legal_names(state) == moves(*around)
    for direction, there in around.items():
        assert clouds(play(state, f"move {direction}")) == {there: ("light", 2, 1, *(0,) * (players - 2))}


def test_wind_may_merge() -> None:
    """Wind action: two clouds may merge, and even overflow (see Merging and Overflowing)."""
    state = play(acting("wind", {"b1": tile(cloud=(1,)), "b2": tile(cloud=(0, 1))}), "move south")
    assert clouds(state) == {"b2": ("thunder", 1, 1)}
    state = play(acting("wind", {"b1": tile(cloud=(4,)), "b2": tile("wheat", cloud=(0, 4))}), "move south")
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (4, 4)


def test_wind_leaves_drops_on_the_tile() -> None:
    """Wind action: only the cloud moves."""
    state = play(acting("wind", {"b1": tile("wheat", (2, 1), cloud=(1,))}), "move south")
    assert on_tile(state, "b1") == (2, 1)
    assert on_tile(state, "b2") == (0, 0)
    assert growing(state, "b1") == "developed"


def test_wind_without_own_cloud_is_only_a_vote() -> None:
    """Wind action: no cloud with an own drop."""
    assert asked(acting("wind", {"b1": tile("grass", (2,), cloud=(0, 2))})) == ("vote", 0)
