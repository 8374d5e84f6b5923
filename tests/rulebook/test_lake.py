"""Kickstarter Promos, New tiles: The Lake."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import Crop, State
from tabletop_engine.errors import ConfigError, ScenarioError
from tests.rulebook.base_game import (
    FIELDS,
    Numbers,
    asked,
    by_seat,
    cloud,
    clouds,
    crop,
    end_round,
    final_round,
    game,
    growing,
    legal_names,
    moves,
    on_tile,
    over,
    tile,
    tiles,
)
from tests.rulebook.modules import frequency, harvest, neighbours, with_crop
from tests.support.play import play

LAKE = ["lake"]
Field = dict[str, dict[str, Any]]


def acting(kind: str, field: Field, players: int = 2, **changes: Any) -> State:
    """player_0 has played one card of the kind."""
    hands = changes.pop("hands", (kind, *("frost",) * 4))
    return play(game(players, hands=hands, field=field, modules=LAKE, **changes), f"play {kind}")


def weather(*kinds: str, field: Field, players: int = 2) -> State:
    """The first round's Weather Phase with these two weathers, dice without Harvest."""
    return end_round(players, votes=dict.fromkeys(kinds, (1,)), field=field, modules=LAKE)


def lake(cloud_drops: Numbers = (), *, thunder: bool = False) -> dict[str, Any]:
    return tile("lake", cloud=cloud_drops, thunder=thunder)


# --- New tiles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "share"), [(2, 7 / 15), (3, 9 / 17), (4, 12 / 17), (5, 16 / 17)])
def test_shuffled_in_with_the_other_tiles(players: int, share: float) -> None:
    """New tiles; ruling 4.4: the field is drawn from a pile with one more tile (2 players: without Corn)."""
    batch = Batch(Config(players=players, modules=("lake",)), 1000, seed=5)
    assert frequency(batch, Crop.LAKE) == pytest.approx(share, abs=0.07)
    field = (batch.states["crop"] >= 0).any(axis=0)
    assert ((batch.states["crop"] == Crop.LAKE).any(axis=0) == field).all()


@pytest.mark.parametrize(("players", "share"), [(2, 7 / 16), (5, 16 / 18)])
def test_both_new_tiles_together(players: int, share: float) -> None:
    """New tiles; ruling 4.4: the Lake and the Cactus both join the pile."""
    batch = Batch(Config(players=players, modules=("lake", "cactus")), 1000, seed=6)
    assert frequency(batch, Crop.LAKE) == pytest.approx(share, abs=0.07)
    assert frequency(batch, Crop.CACTUS) == pytest.approx(share, abs=0.07)


def test_without_the_module() -> None:
    """Kickstarter Promos: the game is fully playable without them; then it has no Lake."""
    assert frequency(Batch(Config(players=5), 300, seed=1), Crop.LAKE) == 0


def test_not_in_solo() -> None:
    """The Lake, note; ruling 3.8: it is not used in solo play, and asking for it is a clear error."""
    with pytest.raises(ConfigError, match=r"(?i)lake.*solo"):
        Config(modules=("lake",))
    with pytest.raises(ConfigError, match=r"(?i)lake.*solo"):
        Config(players=1, modules=("cactus", "lake"), variants=("double_card",))


# --- no plant ------------------------------------------------------------------------------------------------------


def test_never_grows_and_is_never_harvested() -> None:
    """The Lake: it cannot grow or be harvested, whatever pours there."""
    field = {"b2": lake((3, 4)), "b1": tile("cotton", (2, 1))}
    state = harvest(2, field, modules=LAKE)
    assert growing(state, "b2") == "none"
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "points") == (5, 2)
    assert by_seat(state, "supply") == (20, 20)
    state = harvest(2, {"b2": lake((2, 1))}, "sun", modules=LAKE)
    assert clouds(state) == {"b2": ("thunder", 4, 2)}
    assert by_seat(state, "points") == (0, 0)


def test_no_drop_ever_lies_there() -> None:
    """The Lake: any drop is returned immediately, so no position of the game has one there."""
    with pytest.raises(ScenarioError):
        game(field={"b2": tile("lake", (1,))}, modules=LAKE)


# --- drops that land -----------------------------------------------------------------------------------------------


def test_rain_action() -> None:
    """The Lake: a drop of any player that lands there returns to its owner's supply."""
    state = acting("rain", {"b2": lake((2, 1))})
    assert legal_names(state) == {"drop b2 own", "drop b2 1st to the left"}
    own, other = play(state, "drop b2 own"), play(state, "drop b2 1st to the left")
    assert by_seat(own, "supply") == (19, 19)
    assert cloud(own, "b2") == ("light", 1, 1)
    assert by_seat(other, "supply") == (18, 20)
    assert cloud(other, "b2") == ("light", 2, 0)
    assert on_tile(own, "b2") == on_tile(other, "b2") == (0, 0)
    assert asked(own) == asked(other) == ("vote", 0)


def test_rain_action_is_mandatory_there_too() -> None:
    """Ruling 2.5: at least one drop must fall, also above the Lake; an empty cloud is removed."""
    state = acting("rain", {"b2": lake((1,))})
    assert asked(state) == ("vote", 0)
    assert clouds(state) == {}
    assert by_seat(state, "supply") == (20, 20)


def test_rain_action_on_the_lake_and_elsewhere() -> None:
    """The Lake: of two drops, the one above the Lake returns to its owner, the other falls on its tile."""
    state = acting("rain", {"b2": lake((2,)), "b1": tile("grass", (1,), cloud=(2,))})
    state = play(state, "drop b1 own", "drop b2 own")
    assert on_tile(state, "b1") == (2, 0)
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20 - 4, 20)


@pytest.mark.parametrize("before", [(6, 0), (1, 6), (3, 4)])
def test_overflow_by_a_sun_action(before: Numbers) -> None:
    """The Lake, Overflowing: all drops of the cloud return to their owners; the empty cloud is removed."""
    state = acting("sun", {"b2": lake(before)})
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)


def test_sun_action_above_the_lake() -> None:
    """Sun action: a cloud above the Lake gets two drops, as anywhere."""
    state = acting("sun", {"b2": lake((1, 1))})
    assert clouds(state) == {"b2": ("thunder", 3, 1)}
    assert by_seat(state, "supply") == (17, 19)


def test_sun_weather() -> None:
    """The Lake, Sun Weather: a doubled cloud that overflows returns all its drops."""
    state = weather("frost", "sun", field={"b2": lake((4, 1))})
    assert clouds(state) == {}
    assert by_seat(state, "supply") == (20, 20)
    state = weather("frost", "sun", field={"b2": lake((1, 1))})
    assert clouds(state) == {"b2": ("thunder", 2, 2)}


def test_rain_weather() -> None:
    """The Lake, Rain Weather: drops that a thundercloud pours there return to their owners; a light cloud stays."""
    state = weather("frost", "rain", field={"b2": lake((2, 1)), "b1": tile("wheat", cloud=(1, 1))})
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert on_tile(state, "b1") == (1, 1)
    assert by_seat(state, "supply") == (19, 19)
    state = weather("wind", "rain", field={"b2": lake((2, 1))})
    assert clouds(state) == {"b2": ("light", 2, 1)}


def test_wind_weather() -> None:
    """The Lake, Wind Weather: a drop blown there returns to its owner at once, so the next player can't move it."""
    state = weather("frost", "wind", field={"b2": lake(), "b1": tile("wheat", (1, 1))})
    assert asked(state) == ("wind_weather_drop", 1)
    state = play(state, "drop b1 1st to the left")
    assert legal_names(state) == moves("east", "south")
    state = play(state, "move south")
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 19)
    assert asked(state) == ("wind_weather_direction", 0), "the one drop left is player_1's on b1"
    state = play(state, "move south")
    assert by_seat(state, "supply") == (20, 20)
    assert state["round"] == 2


def test_wind_weather_with_the_last_drop() -> None:
    """The Lake, Wind Weather: after the only drop is blown there, the other player has none to move."""
    state = weather("frost", "wind", field={"b2": lake(), "b1": tile("wheat", (1,))})
    assert asked(state) == ("wind_weather_direction", 1)
    state = play(state, "move south")
    assert by_seat(state, "supply") == (20, 20)
    assert state["round"] == 2


def test_wind_weather_moves_no_cloud() -> None:
    """The Lake: only the action of a Wind card adds drops, not Wind weather."""
    state = weather("frost", "wind", field={"b2": lake((1, 1)), "b1": tile("wheat", (1,))})
    state = play(state, "move south")
    assert clouds(state) == {"b2": ("thunder", 1, 1)}


# --- onto the Lake -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moving", "thunder", "arrived"),
    [
        ((1, 0), False, ("thunder", 4, 0)),
        ((1, 0), True, ("thunder", 4, 0)),
        ((2, 0), False, ("thunder", 5, 0)),
        ((1, 1), False, ("thunder", 4, 1)),
        ((1, 3), False, ("thunder", 4, 3)),
        ((4, 0), False, ("thunder", 7, 0)),
    ],
)
def test_wind_action_onto_the_lake(moving: Numbers, thunder: bool, arrived: tuple[Any, ...]) -> None:
    """The Lake: the mover must immediately add 3 of their own drops, which may make the cloud grow."""
    state = acting("wind", {"a2": tile(cloud=moving, thunder=thunder), "b2": lake()})
    assert asked(state) == ("wind_direction", 0)
    state = play(state, "move east")
    assert asked(state) == ("vote", 0)
    assert clouds(state) == {"b2": arrived}
    assert by_seat(state, "supply") == (20 - moving[0] - 3, 20 - moving[1])


@pytest.mark.parametrize("moving", [(5, 0), (2, 3), (1, 6), (7, 0)])
def test_overflow_on_arrival(moving: Numbers) -> None:
    """The Lake, Overflowing: a cloud with 8 or more drops overflows, and all return, including the 3 new ones."""
    state = play(acting("wind", {"a2": tile(cloud=moving), "b2": lake()}), "move east")
    assert asked(state) == ("vote", 0)
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)


@pytest.mark.parametrize(("left", "added"), [(4, 3), (3, 3), (2, 2), (1, 1), (0, 0)])
def test_short_supply(left: int, added: int) -> None:
    """Ruling 4.3: three own drops, or what the supply has; none come from tiles, and nobody is asked."""
    field = {"a2": tile(cloud=(1, 1)), "b2": lake(), "b3": tile("grass", (19 - left,))}
    state = play(acting("wind", field), "move east")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b2") == ("thunder" if added >= 2 else "light", 1 + added, 1)
    assert by_seat(state, "supply") == (left - added, 19)
    assert on_tile(state, "b3") == (19 - left, 0)


def test_the_mover_adds_drops() -> None:
    """The Lake: the player who performs the Wind action adds the drops, no matter who else has some there."""
    hands = ("frost", "wind", "frost")
    field = {"a2": tile(cloud=(2, 1)), "b2": lake()}
    state = game(3, hands=hands, field=field, modules=LAKE, actor="player_1")
    state = play(state, "play wind", "move east")
    assert clouds(state) == {"b2": ("thunder", 2, 4, 0)}
    assert by_seat(state, "supply") == (18, 16, 20)


@pytest.mark.parametrize(
    ("moving", "there", "merged"),
    [
        ((1, 0), (0, 1), ("thunder", 4, 1)),
        ((1, 0), (0, 3), ("thunder", 4, 3)),
        ((2, 0), (2, 0), ("thunder", 7, 0)),
    ],
)
def test_merging_on_the_lake(moving: Numbers, there: Numbers, merged: tuple[Any, ...]) -> None:
    """The Lake, Merging: a cloud moved onto a cloud there merges with it, and the 3 drops are added all the same."""
    state = acting("wind", {"a2": tile(cloud=moving), "b2": lake(there)})
    if asked(state)[0] == "wind_cloud":  # both are own clouds
        state = play(state, "tile a2")
    state = play(state, "move east")
    assert clouds(state) == {"b2": merged}
    assert asked(state) == ("vote", 0)


@pytest.mark.parametrize(("moving", "there"), [((2, 0), (0, 3)), ((1, 0), (0, 4)), ((4, 0), (0, 4)), ((3, 2), (0, 1))])
def test_merging_and_overflowing_on_the_lake(moving: Numbers, there: Numbers) -> None:
    """The Lake, Merging and Overflowing: if there are 8 or more with the 3 drops, all return to their owners."""
    state = play(acting("wind", {"a2": tile(cloud=moving), "b2": lake(there)}), "move east")
    assert clouds(state) == {}
    assert by_seat(state, "supply") == (20, 20)


def test_merging_on_the_lake_with_an_empty_supply() -> None:
    """Ruling 4.3: without drops in supply the clouds merge, and nothing is added."""
    field = {"a2": tile(cloud=(1, 1)), "b2": lake((0, 1)), "b3": tile("grass", (19,))}
    state = play(acting("wind", field), "move east")
    assert clouds(state) == {"b2": ("thunder", 1, 2)}


@pytest.mark.parametrize(("name", "direction"), [("b1", "south"), ("c2", "west"), ("b3", "north"), ("a2", "east")])
def test_from_every_side(name: str, direction: str) -> None:
    """The Lake: a cloud gets drops from whichever side it comes; a move to another tile adds none."""
    state = acting("wind", {name: tile(cloud=(1,)), "b2": lake()})
    assert legal_names(state) == moves(*neighbours(2, name))
    for chosen, there in neighbours(2, name).items():
        after = play(state, f"move {chosen}")
        assert clouds(after) == {there: ("thunder", 4, 0) if chosen == direction else ("light", 1, 0)}


# --- off the Lake --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "where"), [(2, "b2"), (2, "a2"), (2, "c1"), (3, "b2"), (4, "a1"), (5, "d4")])
def test_off_the_lake_to_any_tile(players: int, where: str) -> None:
    """The Lake: a cloud moves any number of times in any directions: to every tile but the Lake, if all are free."""
    state = acting("wind", {where: lake((2, 1))}, players)
    assert asked(state) == ("wind_tile", 0)
    others = [name for name in FIELDS[players] if name != where]
    assert legal_names(state) == tiles(*others)
    for name in others:
        after = play(state, f"tile {name}")
        assert clouds(after) == {name: ("light", 2, 1, *(0,) * (players - 2))}
        assert after["supply"][0] == 18
        assert asked(after) == ("vote", 0)


@pytest.mark.parametrize(
    ("where", "others", "reached"),
    [
        # b1 c1
        # a2 b2 c2
        # a3 b3
        ("a2", {"b2"}, {"b2", "a3", "b3"}),
        ("a2", {"b2", "a3"}, {"b2", "a3"}),
        ("a2", {"a3", "c2"}, {"a3", "b2", "b1", "b3", "c1", "c2"}),
        ("a2", {"b1", "c2"}, {"a3", "b3", "b2", "b1", "c2"}),
        ("c2", {"b1", "b2"}, {"c1", "b2", "b1"}),
        ("c2", {"c1", "b2"}, {"c1", "b2"}),
        ("b2", {"b1", "a3"}, {"b1", "c2", "c1", "a2", "a3", "b3"}),
        ("b2", {"b1", "c2"}, {"b1", "c2", "a2", "a3", "b3"}),
        ("b2", {"b1", "c2", "a2", "b3"}, {"b1", "c2", "a2", "b3"}),
        ("b2", {"c1", "a2", "b3"}, {"b1", "c2", "c1", "a2", "b3"}),
    ],
)
def test_off_the_lake_until_it_merges(where: str, others: set[str], reached: set[str]) -> None:
    """The Lake: a cloud must stop when it merges, so it passes over no other cloud."""
    field = {where: lake((1,)), **{name: tile(cloud=(0, 1)) for name in others}}
    state = acting("wind", field)
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles(*reached)
    for name in reached:
        after = play(state, f"tile {name}")
        expected = dict.fromkeys(others, ("light", 0, 1))
        expected[name] = ("thunder", 1, 1) if name in others else ("light", 1, 0)
        assert clouds(after) == expected


def test_own_clouds_stop_it_as_well() -> None:
    """The Lake: a cloud merges with any cloud, also one with own drops."""
    field = {"a2": lake((1,)), "b2": tile(cloud=(1,))}
    state = play(acting("wind", field), "tile a2")
    assert legal_names(state) == tiles("b2", "a3", "b3")
    assert clouds(play(state, "tile b2")) == {"b2": ("thunder", 2, 0)}


def test_off_the_lake_round_a_corner_of_four_players() -> None:
    """The Lake: a cloud moves through gaps between clouds on the 4 x 3 field, not over the Lake itself."""
    # a1 ~~ #  d1      ~~ is the Lake, # are clouds
    # a2 #  c2 #
    # a3 b3 #  d3
    blocked = {"c1", "b2", "c3", "d2"}
    field = {"b1": lake((1,)), **{name: tile(cloud=(0, 1)) for name in blocked}}
    state = acting("wind", field, 4)
    assert legal_names(state) == tiles("a1", "a2", "a3", "b3", "c1", "b2", "c3")


def test_merging_may_overflow() -> None:
    """The Lake, Merging: if the merged cloud has 8 or more drops, it pours out as any cloud does."""
    field = {"a2": lake((4,)), "b3": tile("wheat", cloud=(0, 4))}
    state = play(acting("wind", field), "tile b3")
    assert clouds(state) == {}
    assert on_tile(state, "b3") == (4, 4)


def test_other_clouds_move_one_tile() -> None:
    """The Lake: only a cloud that leaves the Lake goes farther; others move to a neighbouring tile."""
    field = {"b2": lake((1,)), "a3": tile(cloud=(1, 1))}
    state = acting("wind", field)
    assert asked(state) == ("wind_cloud", 0)
    assert legal_names(state) == tiles("b2", "a3")
    state = play(state, "tile a3")
    assert asked(state) == ("wind_direction", 0)
    assert legal_names(state) == moves("north", "east")


def test_a_cloud_without_an_own_drop_stays() -> None:
    """Wind action: the player needs a drop in the cloud, also on the Lake."""
    state = acting("wind", {"b2": lake((0, 2))})
    assert asked(state) == ("vote", 0)
    assert clouds(state) == {"b2": ("light", 0, 2)}


def test_moving_off_is_mandatory() -> None:
    """Ruling 2.5: the Wind action is mandatory: it cannot be declined, and the cloud cannot stay."""
    state = acting("wind", {"b2": lake((1,))})
    assert not {"decline", "tile b2"} & legal_names(state)


# --- two Wind actions ----------------------------------------------------------------------------------------------


def test_onto_the_lake_again_with_a_second_action() -> None:
    """The Lake: a cloud cannot return in the same Wind action, but can in a second one, for 3 drops."""
    state = acting("wind", {"b2": lake((1,))}, hands=("wind wind wind", "frost"))
    state = play(state, "tile b1", "vote wind", "play wind")
    assert asked(state) == ("wind_direction", 0)
    assert legal_names(state) == moves("east", "south")
    state = play(state, "move south")
    assert clouds(state) == {"b2": ("thunder", 4, 0)}
    assert by_seat(state, "supply") == (16, 20)


def test_onto_the_lake_and_off_again() -> None:
    """The Lake: with two actions a cloud gets 3 drops there, then moves anywhere."""
    state = acting("wind", {"b1": tile(cloud=(1,)), "b2": lake()}, hands=("wind wind wind", "frost"))
    state = play(state, "move south", "vote wind", "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles(*(name for name in FIELDS[2] if name != "b2"))
    state = play(state, "tile c1")
    assert clouds(state) == {"c1": ("thunder", 4, 0)}


def test_a_substituted_wind_action() -> None:
    """Playing Cards: any two cards played as Wind perform the same action."""
    state = game(hands=("frost sun", "frost"), field={"a2": tile(cloud=(1,)), "b2": lake()}, modules=LAKE)
    state = play(state, "substitute wind", "card frost", "card sun", "move east")
    assert clouds(state) == {"b2": ("thunder", 4, 0)}


# --- clouds that are placed there ----------------------------------------------------------------------------------


def test_frost_onto_the_lake() -> None:
    """The Lake: only a Wind action adds 3 drops; a new cloud there gets its one drop."""
    state = acting("frost", {"b2": lake()})
    assert legal_names(state) == tiles(*FIELDS[2])
    state = play(state, "tile b2")
    assert clouds(state) == {"b2": ("light", 1, 0)}
    assert by_seat(state, "supply") == (19, 20)


def test_frost_into_a_cloud_above_the_lake() -> None:
    """Gioco in 5 giocatori, Overflowing: with all 12 clouds in play, Frost adds an 8th drop there, and all return."""
    field = {name: tile(cloud=(0, 1)) for name in FIELDS[5][:12]}
    field["b2"] = lake((0, 0, 7))
    state = play(acting("frost", field, 5), "tile b2")
    assert cloud(state, "b2") is None
    assert by_seat(state, "supply") == (20, 9, 20, 20, 20)
    state = play(acting("frost", {**field, "b2": lake((0, 0, 1))}, 5), "tile b2")
    assert cloud(state, "b2") == ("light", 1, 0, 1, 0, 0)


@pytest.mark.parametrize("players", [2, 5])
def test_setup_onto_the_lake(players: int) -> None:
    """Setup 12: a cloud may be placed on the Lake; it isn't moved there, so it gets no more drops."""
    state, where = with_crop(Batch(Config(players=players, modules=("lake",)), 40, seed=2), Crop.LAKE)
    assert crop(state, where) == "lake"
    seat = int(state["actor"])
    assert f"tile {where}" in legal_names(state)
    state = play(state, f"tile {where}")
    assert cloud(state, where) == ("light", *(int(owner == seat) for owner in range(players)))
    assert state["supply"][seat] == 19


def test_frost_weather() -> None:
    """Frost Weather: a light cloud above the Lake becomes a thundercloud as any other does."""
    state = final_round(field={"b2": lake((1,))}, votes={"frost": (1,)}, modules=LAKE)
    assert over(state)
    assert clouds(state) == {"b2": ("thunder", 1, 0)}
