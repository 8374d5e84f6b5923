"""Phase 2: Weather Phase, Weather Effects Explained.

The final round resolves only voted spaces, so a single vote brings one weather alone.
"""

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
    end_round,
    final_round,
    growing,
    legal_names,
    moves,
    on_tile,
    over,
    tile,
    tiles,
)
from tests.support.play import play


def alone(weather: str, players: int = 2, **changes: Any) -> State:
    """The final round's Weather Phase with this weather only; player_0 is First Player."""
    return final_round(players, votes={weather: (1,)}, **changes)


def ending_with(first: int) -> dict[str, Any]:
    """3 players: `first` passed and is First Player; it is the turn of the last of the others."""
    hands = ["" if seat == first else "frost" for seat in range(3)]
    seats = {"first_player": first, "passed": first, "actor": (first - 1) % 3}
    return {"hands": hands, **{key: f"player_{seat}" for key, seat in seats.items()}}


# --- Frost Weather -------------------------------------------------------------------------------------------------


def test_frost_turns_all_light_clouds_into_thunderclouds() -> None:
    """Frost Weather: it turns all light clouds, however many drops they hold."""
    field = {"b1": tile(cloud=(1,)), "c1": tile(cloud=(0, 2)), "b2": tile(cloud=(2, 1)), "a3": tile(cloud=(5,))}
    state = alone("frost", field=field)
    assert clouds(state) == {
        **{"b1": ("thunder", 1, 0), "c1": ("thunder", 0, 2)},
        **{"b2": ("thunder", 2, 1), "a3": ("thunder", 5, 0)},
    }


# --- Sun Weather ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1, 2])
def test_sun_goes_clockwise_from_the_first_player(first: int) -> None:
    """Sun Weather: starting with the First Player, each player chooses one of the clouds with an own drop."""
    field = {"a1": tile(cloud=(1, 1)), "b1": tile(cloud=(0, 1, 1)), "c1": tile(cloud=(1, 0, 1))}
    state = alone("sun", 3, field=field, **ending_with(first))
    own = {0: tiles("a1", "c1"), 1: tiles("a1", "b1"), 2: tiles("b1", "c1")}
    for turn in range(3):
        seat = (first + turn) % 3
        assert asked(state) == ("sun_weather_cloud", seat)
        assert legal_names(state) == own[seat]
        state = play(state, min(own[seat]))
    assert over(state)
    assert clouds(state) == {"a1": ("thunder", 2, 2, 0), "b1": ("light", 0, 1, 2), "c1": ("light", 1, 0, 1)}


@pytest.mark.parametrize(
    ("before", "after"),
    [((1, 1), ("light", 2, 1)), ((2, 1), ("thunder", 4, 1)), ((3, 0), ("thunder", 6, 0)), ((2, 3), ("thunder", 4, 3))],
)
def test_sun_doubles_own_drops(before: tuple[int, int], after: tuple[str | int, ...]) -> None:
    """Sun Weather: the number of own drops in the chosen cloud is doubled, which may make it grow."""
    field = {"b2": tile(cloud=before), "b1": tile(cloud=(1,)), "c1": tile(cloud=(0, 1)), "a3": tile(cloud=(0, 1))}
    state = play(alone("sun", field=field), "tile b2")
    assert cloud(state, "b2") == after
    assert cloud(state, "b1") == ("light", 1, 0)
    assert by_seat(state, "supply")[0] == 20 - 2 * before[0] - 1


@pytest.mark.parametrize("before", [(4, 0), (3, 2), (1, 6)])
def test_sun_may_overflow_clouds(before: tuple[int, int]) -> None:
    """Sun Weather: clouds may overflow."""
    field = {
        "b2": tile("rice", cloud=before),
        "b1": tile(cloud=(1,)),
        "c1": tile(cloud=(0, 1)),
        "a3": tile(cloud=(0, 1)),
    }
    state = play(alone("sun", field=field), "tile b2")
    assert asked(state) == ("sun_weather_cloud", 1)
    assert cloud(state, "b2") is None
    assert on_tile(state, "b2") == (2 * before[0], before[1])


def test_sun_is_mandatory() -> None:
    """Sun Weather: a player with drops in clouds must choose one; with one such cloud nothing is asked."""
    state = alone("sun", field={"b1": tile(cloud=(2, 1)), "b2": tile(cloud=(0, 1))})
    assert asked(state) == ("sun_weather_cloud", 1)
    assert legal_names(state) == tiles("b1", "b2")
    assert cloud(state, "b1") == ("thunder", 4, 1)


def test_sun_does_not_affect_players_without_clouds() -> None:
    """Sun Weather: a player without drops in clouds is left out."""
    state = alone("sun", field={"b1": tile("grass", (3,)), "b2": tile("rice", cloud=(0, 1))})
    assert over(state)
    assert by_seat(state, "supply") == (17, 18)
    assert cloud(state, "b2") == ("light", 0, 2)


SHORT = {"b1": tile(cloud=(1,)), "c1": tile(cloud=(3,)), "b2": tile(cloud=(7,))}
"""player_0's clouds of 1, 3 and 7 drops; 9 drops are elsewhere."""


def test_sun_must_double_what_the_supply_can() -> None:
    """Ruling 2.12: a supply of 2 can double 1 drop, so doubling is mandatory; tile drops may help with others."""
    field = {**SHORT, "a2": tile(cloud=(5,)), "a3": tile("grass", (1,)), "b3": tile("rice", (1,))}
    state = alone("sun", field=field)
    assert by_seat(state, "supply") == (2, 20)
    assert asked(state) == ("sun_weather_cloud", 0)
    assert legal_names(state) == tiles("b1", "c1")
    with_supply = play(state, "tile b1")
    assert cloud(with_supply, "b1") == ("light", 2, 0)
    assert by_seat(with_supply, "supply") == (1, 20)
    state = play(state, "tile c1")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("a3", "b3")
    state = play(state, "tile b3")
    assert cloud(state, "c1") == ("thunder", 6, 0)
    assert by_seat(state, "supply") == (0, 20)
    assert on_tile(state, "a3") == (1, 0)
    assert on_tile(state, "b3") == (0, 0)


def test_sun_that_only_tile_drops_make_possible_may_be_declined() -> None:
    """Ruling 2.12: if the supply alone can double no cloud, doubling with drops from tiles is optional."""
    field = {**SHORT, "a2": tile(cloud=(6,)), "a3": tile("grass", (2,)), "b3": tile("rice", (1,))}
    state = alone("sun", field=field)
    assert by_seat(state, "supply") == (0, 20)
    assert legal_names(state) == {"decline"} | tiles("b1", "c1")
    declined = play(state, "decline")
    assert over(declined)
    assert cloud(declined, "b1") == ("light", 1, 0)
    assert cloud(declined, "c1") == ("light", 3, 0)
    one = play(state, "tile b1")
    assert asked(one) == ("take_drop", 0)
    assert legal_names(one) == tiles("a3", "b3")
    assert cloud(play(one, "tile a3"), "b1") == ("light", 2, 0)
    assert cloud(play(state, "tile c1", "tile b3"), "c1") == ("thunder", 6, 0)


def test_sun_takes_drops_from_tiles_one_by_one() -> None:
    """Ruling 2.12: each drop from a tile is chosen; empty tiles are not offered; the supply is used as well."""
    field = {
        "b1": tile(cloud=(3,)),
        "b2": tile(cloud=(7,)),
        "a2": tile(cloud=(4,)),
        "a3": tile("grass", (2,)),
        "b3": tile("rice", (1,)),
        "c2": tile("cotton", (2,)),
    }
    state = alone("sun", field=field)
    assert by_seat(state, "supply") == (1, 20)
    assert legal_names(state) == {"decline"} | tiles("b1", "a2")
    state = play(state, "tile b1")
    assert legal_names(state) == tiles("a3", "b3", "c2")
    state = play(state, "tile b3")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("a3", "c2")
    state = play(state, "tile c2")
    assert cloud(state, "b1") == ("thunder", 6, 0)
    assert by_seat(state, "supply")[0] == 0
    assert on_tile(state, "a3") == (2, 0)
    assert on_tile(state, "c2") == (1, 0)
    assert growing(state, "c2") == "none"


def test_sun_without_enough_drops_anywhere() -> None:
    """Sun Weather: it never adds fewer drops than required, nor drops from other clouds."""
    field = {"b1": tile(cloud=(6,)), "b2": tile(cloud=(7,)), "a2": tile(cloud=(5,)), "a3": tile("grass", (2, 1))}
    state = alone("sun", field=field)
    assert over(state)
    assert by_seat(state, "supply") == (0, 19)
    assert cloud(state, "a2") == ("thunder", 5, 0)


def test_sun_growth_and_overflow_after_each_player() -> None:
    """Merging and Overflowing; ruling 2.12: each player's doubling is one effect."""
    state = alone("sun", field={"b2": tile("rice", cloud=(4, 1))})
    assert over(state)
    assert clouds(state) == {}
    assert by_seat(state, "supply") == (20, 20), "harvested: player_1 had no drop left in a cloud to double"
    votes = {"frost": (1,), "sun": (1,)}
    state = end_round(votes=votes, field={"b2": tile("rice", cloud=(4, 1))})
    assert on_tile(state, "b2") == (8, 1)
    assert clouds(state) == {}
    state = end_round(votes=votes, field={"b2": tile("rice", cloud=(3, 1))})
    assert on_tile(state, "b2") == (6, 2)
    assert clouds(state) == {}
    state = end_round(votes=votes, field={"b2": tile("rice", cloud=(2, 1))})
    assert clouds(state) == {"b2": ("thunder", 4, 2)}


def test_sun_develops_coffee_once_after_all_players() -> None:
    """Sun Weather; ruling 2.12: after all changes in clouds sprouting Coffee develops, even if it just sprouted."""
    field = {
        "b2": tile("coffee", cloud=(4,)),
        "c1": tile("coffee", (3, 1)),
        "b1": tile(cloud=(0, 1)),
        "a3": tile(cloud=(0, 1)),
    }
    state = end_round(votes={"frost": (1,), "sun": (1,)}, field=field)
    assert asked(state) == ("sun_weather_cloud", 1)
    assert growing(state, "b2") == growing(state, "c1") == "sprouting"
    state = play(state, "tile b1")
    assert growing(state, "b2") == growing(state, "c1") == "developed"


def test_sun_leaves_other_coffee_and_rice() -> None:
    """Sun Weather: Coffee without enough drops isn't growing; Rice needs Rain weather."""
    field = {"b2": tile("coffee", (3,)), "c1": tile("coffee", (4,), growing="developed"), "b1": tile("rice", (2, 2))}
    state = end_round(votes={"frost": (1,), "sun": (1,)}, field=field)
    assert (growing(state, "b2"), growing(state, "c1"), growing(state, "b1")) == ("none", "developed", "sprouting")


# --- Rain Weather --------------------------------------------------------------------------------------------------


def test_rain_pours_thunderclouds_only() -> None:
    """Rain Weather: thunderclouds pour all drops and are removed; light clouds stay."""
    field = {
        "b1": tile("rice", (1,), cloud=(1, 1), thunder=True),
        "b2": tile("grass", cloud=(0, 1), thunder=True),
        "a3": tile("wheat", cloud=(2, 1)),
    }
    state = alone("rain", field=field)
    assert clouds(state) == {"a3": ("light", 2, 1)}
    assert on_tile(state, "b1") == (2, 1)
    assert on_tile(state, "b2") == (0, 1)


def test_rain_develops_rice() -> None:
    """Rain Weather: sprouting Rice develops, even if it just sprouted; Coffee only sprouts."""
    votes = {"frost": (1,), "rain": (1,)}
    field = {"b1": tile("rice", (1, 3)), "b2": tile("coffee", (4,)), "c1": tile("coffee", cloud=(5,))}
    state = end_round(votes=votes, field=field)
    assert growing(state, "b1") == "developed"
    assert growing(state, "b2") == growing(state, "c1") == "sprouting"
    state = end_round(votes=votes, field={"b1": tile("rice", (1,), cloud=(2, 1))})
    assert on_tile(state, "b1") == (3, 1)
    assert growing(state, "b1") == "developed"
    state = end_round(votes=votes, field={"b1": tile("rice", (1,), cloud=(1, 1))})
    assert on_tile(state, "b1") == (2, 1)
    assert growing(state, "b1") == "none"


# --- Wind Weather --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1, 2])
def test_wind_goes_anticlockwise_from_the_last_player(first: int) -> None:
    """Wind Weather; ruling 2.13: from the First Player's right on, each player must move one drop of any owner."""
    field = {"a1": tile("rice", (1, 1)), "b1": tile("wheat"), "b2": tile("grass", (0, 0, 2))}
    state = alone("wind", 3, field=field, **ending_with(first))
    for turn in range(1, 4):
        seat = (first - turn) % 3
        relative = {owner: ("own", "1st to the left", "2nd to the left")[(owner - seat) % 3] for owner in range(3)}
        assert asked(state) == ("wind_weather_drop", seat)
        assert legal_names(state) == {
            f"drop {name} {relative[owner]}"
            for name in FIELDS[3]
            for owner, drops in enumerate(on_tile(state, name))
            if drops
        }
        if turn == 1:
            state = play(state, f"drop a1 {relative[1]}")
            assert legal_names(state) == moves("east", "south")
            state = play(state, "move south")
            assert on_tile(state, "a1") == (1, 0, 0)
            assert on_tile(state, "a2") == (0, 1, 0)
        else:
            state = play(state, f"drop b2 {relative[2]}")
            assert asked(state) == ("wind_weather_direction", seat)
            assert legal_names(state) == moves("north", "east", "south", "west")
            state = play(state, "move north")
    assert over(state)
    assert on_tile(state, "b1") == (0, 0, 2)


def test_wind_moves_drops_not_clouds() -> None:
    """Wind Weather: it moves drops on tiles, not in clouds."""
    state = alone("wind", field={"b2": tile("grass", (1,), cloud=(1, 1)), "b1": tile(cloud=(0, 2))})
    assert asked(state) == ("wind_weather_direction", 1), "the only drop on a tile must be moved"
    state = play(state, "move south", "move west")
    assert over(state)
    assert on_tile(state, "a3") == (1, 0)
    assert clouds(state) == {"b2": ("light", 1, 1), "b1": ("light", 0, 2)}


def test_wind_stays_on_the_fields() -> None:
    """Wind Weather: drops move to orthogonally adjacent tiles; ruling 2.1: missing corners are no tiles."""
    state = alone("wind", field={"c1": tile("grass", (1,)), "a2": tile("rice", (1,))})
    assert legal_names(state) == {"drop c1 1st to the left", "drop a2 1st to the left"}
    assert legal_names(play(state, "drop c1 1st to the left")) == moves("west", "south")
    assert legal_names(play(state, "drop a2 1st to the left")) == moves("east", "south")


def test_wind_grows_and_dries_out() -> None:
    """Wind Weather: tiles start growing or lose their growing status at once."""
    field = {"b1": tile("wheat", (3,)), "b2": tile("cotton", (0, 1))}
    state = end_round(2, "drop b1 1st to the left", "move south", votes={"frost": (1,), "wind": (1,)}, field=field)
    assert asked(state) == ("wind_weather_drop", 0)
    assert (growing(state, "b1"), growing(state, "b2")) == ("none", "developed")
    assert legal_names(state) == {"drop b1 own", "drop b2 own", "drop b2 1st to the left"}
    state = play(state, "drop b2 own", "move north")
    assert (growing(state, "b1"), growing(state, "b2")) == ("developed", "none")


def test_wind_without_drops_on_tiles() -> None:
    """Wind Weather: no effect."""
    state = alone("wind", field={"b2": tile(cloud=(1, 2))})
    assert over(state)
    assert clouds(state) == {"b2": ("light", 1, 2)}
