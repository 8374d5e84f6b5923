"""Flowers, Le tessere Fiori (the three tiles join the pile) and Bucaneve (the Snowdrop)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import NO_TILE, TILE_NAMES, Crop, Phase, State
from tabletop_engine.errors import ConfigError
from tests.rulebook.base_game import (
    FIELDS,
    Numbers,
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
)
from tests.rulebook.modules import blooms, harvested, random_play, resolving, wind_blows, with_crop
from tests.support.play import play

FLOWERS = ("flower_tiles",)
FLOWER_TILES = (Crop.SNOWDROP, Crop.DANDELION, Crop.PRIMROSE)
GAMES = 400


def snowdrop(drops: Numbers = (), *, open: bool, **described: Any) -> dict[str, Any]:
    """The Snowdrop tile, with its bloom token if it is open."""
    return tile("snowdrop", drops, blooms=int(open), **described)


def acting(kind: str, field: dict[str, Any], players: int = 2, **changes: Any) -> State:
    """player_0 has played one card of the kind, the last in hand."""
    hands = (kind, *("frost",) * 4)
    return play(game(players, hands=hands, field=field, modules=FLOWERS, **changes), f"play {kind}")


def weather(*kinds: str, field: dict[str, Any], players: int = 2, **changes: Any) -> State:
    return resolving(*kinds, players=players, field=field, modules=FLOWERS, **changes)


# --- Le tessere Fiori: the pile ------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_flower_tiles_join_the_pile(players: int) -> None:
    """Le tessere Fiori; ruling 5.9: the three tiles are shuffled into the others before setup. There is one of each, on
    any position. The field keeps its size (16 tiles with five players), without Corn for two.
    """
    crops = Batch(Config(players=players, modules=FLOWERS), GAMES, seed=1).states["crop"].copy()
    assert ((crops != NO_TILE).sum(axis=1) == len(FIELDS[players])).all()
    base = [crop for crop in range(Crop.CACTUS) if players != 2 or crop != Crop.CORN]
    pile = 19 - 2 * (players == 2)
    for crop in FLOWER_TILES:
        copies = (crops == crop).sum(axis=1)
        assert copies.max() == 1
        assert abs(copies.mean() - len(FIELDS[players]) / pile) < 0.1
    for name in FIELDS[players]:
        assert set(np.unique(crops[:, TILE_NAMES.index(name)])) == {*base, *FLOWER_TILES}


@pytest.mark.parametrize("modules", [(), ("powers",), ("forecasts",), ("powers", "forecasts")])
def test_no_flower_tiles_without_their_module(modules: tuple[str, ...]) -> None:
    """Flowers; ruling 5.9: powers, forecast cards and tiles are three modules that combine freely."""
    states = Batch(Config(players=4, modules=modules), 200, seed=2).states
    assert not np.isin(states["crop"], FLOWER_TILES).any()


@pytest.mark.parametrize("modules", [FLOWERS, ("flower_tiles", "powers"), ("flower_tiles", "forecasts", "powers")])
def test_flower_tiles_with_other_modules(modules: tuple[str, ...]) -> None:
    """Flowers: the tiles combine with all other modules."""
    states = Batch(Config(players=3, modules=modules), 200, seed=2).states
    for crop in FLOWER_TILES:
        assert (states["crop"] == crop).any()


def test_no_flower_tiles_in_solo() -> None:
    """Le tessere Fiori, Nota; ruling 3.8: the Southern Winds do not support the tiles; the error says so."""
    with pytest.raises(ConfigError, match=r"flower_tiles.*Southern Winds"):
        Config(players=1, modules=FLOWERS)


def test_snowdrop_begins_closed() -> None:
    """Bucaneve: at first it has no bloom token."""
    batch = Batch(Config(players=4, modules=FLOWERS), GAMES, seed=3)
    snowdrops = batch.states["crop"] == Crop.SNOWDROP
    assert snowdrops.any()
    assert not batch.states["blooms"][snowdrops].any()


def test_setup_clouds_may_hang_above_the_closed_snowdrop() -> None:
    """Bucaneve: only drops on the tile are forbidden, not a cloud above it."""
    state, name = with_crop(Batch(Config(players=3, modules=FLOWERS), 20, seed=4), Crop.SNOWDROP)
    assert asked(state)[0] == "setup_cloud"
    assert f"tile {name}" in legal_names(state)


# --- the bloom token -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", ["sun", "wind", "rain"])
def test_frost_weather_puts_the_bloom_token(other: str) -> None:
    """Bucaneve: Frost weather, right after it is resolved, brings a bloom token."""
    state = weather("frost", other, field={"b2": snowdrop(open=False)})
    assert (state["round"], blooms(state, "b2")) == (2, 1)


@pytest.mark.parametrize("kinds", [("sun", "wind"), ("sun", "rain"), ("wind", "rain")])
def test_other_weather_puts_no_token(kinds: tuple[str, str]) -> None:
    """Bucaneve: only Frost weather opens it."""
    assert blooms(weather(*kinds, field={"b2": snowdrop(open=False)}), "b2") == 0


def test_snowdrop_has_one_token_only() -> None:
    """Bucaneve: there is one bloom token; a second Frost adds none."""
    assert blooms(weather("frost", "rain", field={"b2": snowdrop(open=True)}), "b2") == 1


@pytest.mark.parametrize("where", ["b2", "a3"])
def test_frost_action_puts_no_token(where: str) -> None:
    """Bucaneve: the token comes in the Weather Phase, not with the Frost action, wherever the new cloud goes.

    A cloud is no drop on the tile, so it may hang above the closed Snowdrop.
    """
    state = acting("frost", {"b2": snowdrop(open=False)})
    assert f"tile {where}" in legal_names(state)
    state = play(state, f"tile {where}")
    assert clouds(state) == {where: ("light", 1, 0)}
    assert blooms(state, "b2") == 0


def test_token_stays_without_a_harvest() -> None:
    """Bucaneve: the Harvest Phase removes the token; a round without a Harvest leaves token and drops."""
    state = weather("sun", "rain", field={"b2": snowdrop((2, 1), open=True)}, dice=["harvest", "harvest", 1])
    assert state["round"] == 2
    assert blooms(state, "b2") == 1
    assert (on_tile(state, "b2"), growing(state, "b2")) == ((2, 1), "developed")
    assert by_seat(state, "points") == (0, 0)


# --- closed: no drops ----------------------------------------------------------------------------------------------


def test_rain_action_not_from_the_cloud_above_the_closed_snowdrop() -> None:
    """Bucaneve: no drops may be put there, so the Rain action can't choose its cloud, as first or second."""
    state = acting("rain", {"b2": snowdrop(open=False, cloud=(2, 1)), "b1": tile(cloud=(1, 1)), "a3": tile(cloud=(1,))})
    assert asked(state) == ("rain_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop b1 1st to the left", "drop a3 own"}
    state = play(state, "drop a3 own")
    assert legal_names(state) == {"drop b1 own", "drop b1 1st to the left", "decline"}
    state = play(state, "drop b1 own")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b2") == ("light", 2, 1)


def test_rain_action_with_no_other_cloud_is_only_a_vote() -> None:
    """Bucaneve: with the only own cloud above the closed Snowdrop the Rain action can't be resolved."""
    state = acting("rain", {"b2": snowdrop(open=False, cloud=(2, 1)), "b1": tile(cloud=(0, 1))})
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b2") == ("light", 2, 1)
    assert on_tile(state, "b2") == (0, 0)


def test_rain_action_onto_the_open_snowdrop() -> None:
    """Bucaneve: with the token it is watered like any tile."""
    state = acting("rain", {"b2": snowdrop(open=True, cloud=(2, 1)), "b1": tile(cloud=(1, 1))})
    assert {"drop b2 own", "drop b2 1st to the left"} < legal_names(state)
    state = play(state, "drop b2 1st to the left", "decline")
    assert on_tile(state, "b2") == (0, 1)
    assert cloud(state, "b2") == ("light", 2, 0)


@pytest.mark.parametrize(("name", "towards"), [("b1", "south"), ("a2", "east"), ("c2", "west"), ("b3", "north")])
def test_wind_weather_moves_no_drop_onto_the_closed_snowdrop(name: str, towards: str) -> None:
    """Bucaneve: Wind weather moves drops there only if it has its token."""
    field = {name: tile("grass", (1,)), "a1": tile("wheat", (1,))}
    closed = weather("sun", "wind", players=3, field={**field, "b2": snowdrop(open=False)})
    opened = weather("sun", "wind", players=3, field={**field, "b2": snowdrop(open=True)})
    for state in (closed, opened):
        assert asked(state) == ("wind_weather_drop", 2)
    closed, opened = play(closed, f"drop {name} 1st to the left"), play(opened, f"drop {name} 1st to the left")
    assert legal_names(opened) - legal_names(closed) == moves(towards)
    assert len(legal_names(closed)) == 2
    assert on_tile(play(opened, f"move {towards}"), "b2") == (1, 0, 0)


def test_wind_weather_after_frost_weather_may_move_a_drop_there() -> None:
    """Bucaneve: the token comes right after the Frost, before the Wind of the same Weather Phase."""
    state = weather("frost", "wind", field={"b1": tile("grass", (2,)), "b2": snowdrop(open=False)})
    assert blooms(state, "b2") == 1
    state = play(state, "move south")
    assert on_tile(state, "b2") == (1, 0)
    assert growing(state, "b2") == "none"
    state = play(state, "drop b1 own", "move south")
    assert on_tile(state, "b2") == (2, 0)
    assert growing(state, "b2") == "developed"


def test_overflow_by_a_sun_action_goes_back() -> None:
    """Ruling 5.2: drops that pour onto the closed Snowdrop go back to their owners; the empty cloud is removed."""
    state = acting("sun", {"b2": snowdrop(open=False, cloud=(5, 1))})
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)
    assert (growing(state, "b2"), blooms(state, "b2")) == ("none", 0)
    assert asked(state) == ("vote", 0)


def test_overflow_by_a_merge_goes_back() -> None:
    """Ruling 5.2: drops also go back when two clouds merge there; moving a cloud there is allowed."""
    field = {"b1": tile(cloud=(3, 1)), "b2": snowdrop(open=False, cloud=(0, 4))}
    state = play(acting("wind", field), "move south")
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)


def test_overflow_by_sun_weather_goes_back() -> None:
    """Ruling 5.2: drops also go back in Sun weather."""
    state = weather("sun", "rain", field={"b2": snowdrop(open=False, cloud=(4, 1))})
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)


def test_pouring_leaves_the_lone_drop() -> None:
    """Ruling 5.2: drops that pour go back; one that a Harvest left on the closed Snowdrop stays."""
    state = acting("sun", {"b2": snowdrop((1,), open=False, cloud=(4, 2))})
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (1, 0)
    assert by_seat(state, "supply") == (19, 20)


def test_rain_weather_above_the_closed_snowdrop_goes_back() -> None:
    """Ruling 5.2: thunderclouds pour in Rain weather, and the drops go back to their owners."""
    field = {"b2": snowdrop(open=False, cloud=(2, 1), thunder=True), "b1": tile("rice", cloud=(1, 3))}
    state = weather("wind", "rain", field=field)
    assert clouds(state) == {}
    assert (on_tile(state, "b2"), on_tile(state, "b1")) == ((0, 0), (1, 3))
    assert by_seat(state, "supply") == (19, 17)
    assert growing(state, "b2") == "none"


def test_rain_weather_leaves_the_light_cloud_above_the_closed_snowdrop() -> None:
    """Rain Weather: only thunderclouds pour, also above the Snowdrop."""
    state = weather("wind", "rain", field={"b2": snowdrop(open=False, cloud=(2, 1))})
    assert clouds(state) == {"b2": ("light", 2, 1)}


@pytest.mark.parametrize(
    ("then", "poured", "lies"), [("rain", (2, 1), (2, 1)), ("sun", (4,), (8, 0)), ("sun", (4, 1), (8, 1))]
)
def test_pouring_after_frost_weather_waters_it(then: str, poured: Numbers, lies: Numbers) -> None:
    """Bucaneve: it is open right after the Frost; drops that pour in the same Weather Phase make it grow."""
    state = weather("frost", then, field={"b2": snowdrop(open=False, cloud=poured)})
    assert on_tile(state, "b2") == lies
    assert growing(state, "b2") == "developed"
    assert clouds(state) == {}


# --- growing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drops", "falls", "grows"), [((), (1,), False), ((1,), (1,), True), ((0, 1), (1,), True), ((0, 2), (1,), True)]
)
def test_snowdrop_grows_with_two_drops(drops: Numbers, falls: Numbers, grows: bool) -> None:
    """Bucaneve: with the token it grows from 2 drops of any players."""
    state = acting("rain", {"b2": snowdrop(drops, open=True, cloud=falls)})
    assert (growing(state, "b2") == "developed") is grows


def test_two_drops_of_one_rain_action() -> None:
    """Bucaneve, Rain action: the two drops fall together; then the open Snowdrop grows."""
    field = {"b2": snowdrop((1,), open=True, cloud=(1, 1)), "b1": tile(cloud=(2,))}
    state = play(acting("rain", field), "drop b2 1st to the left")
    assert asked(state) == ("rain_second_drop", 0)
    assert growing(state, "b2") == "none"
    state = play(state, "drop b1 own")
    assert (on_tile(state, "b2"), growing(state, "b2")) == ((1, 1), "developed")


def test_snowdrop_dries_out() -> None:
    """Growing Crops: below its number it loses the growing token, not the bloom token."""
    field = {"b2": snowdrop((1, 1), open=True), "a3": tile("wheat", (0, 1))}
    state = weather("sun", "wind", field=field)
    assert growing(state, "b2") == "developed"
    state = play(state, "drop b2 own", "move north")
    assert on_tile(state, "b2") == (1, 0)
    assert (growing(state, "b2"), blooms(state, "b2")) == ("none", 1)


def test_lone_drop_on_the_closed_snowdrop_gets_no_company() -> None:
    """Bucaneve: a drop that a Harvest left there stays alone while it is closed, so it can't grow."""
    field = {"b2": snowdrop((1,), open=False, cloud=(1, 1), thunder=True), "a3": tile("wheat", (0, 1))}
    state = wind_blows(weather("wind", "rain", field=field, dice=["harvest"] * 3), "a3", owner=1)
    assert on_tile(state, "b2") == (1, 0)
    assert by_seat(state, "supply") == (19, 19)
    assert by_seat(state, "points") == (0, 0)


def test_lone_drop_may_leave_the_closed_snowdrop() -> None:
    """Bucaneve: no drop may be put there; taking one away is not forbidden."""
    field = {"b2": snowdrop((1,), open=False), "a3": tile("wheat", (0, 1))}
    state = play(weather("sun", "wind", field=field), "drop b2 1st to the left", "move west")
    assert on_tile(state, "b2") == (0, 0)
    assert on_tile(state, "a2") == (1, 0)


def test_lone_drop_counts_again_once_it_is_open() -> None:
    """Bucaneve: after the next Frost one more drop makes it grow; the Frost alone doesn't."""
    alone = weather("frost", "wind", field={"b2": snowdrop((1,), open=False), "a3": tile("wheat", (0, 1))})
    alone = wind_blows(alone, "a3", owner=1)
    assert (growing(alone, "b2"), blooms(alone, "b2"), on_tile(alone, "b2")) == ("none", 1, (1, 0))
    state = weather("frost", "rain", field={"b2": snowdrop((1,), open=False, cloud=(0, 1))})
    assert (growing(state, "b2"), on_tile(state, "b2")) == ("developed", (1, 1))


# --- Harvest -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((3, 1), (6, 0)),
        ((0, 2), (0, 6)),
        ((1, 3, 2), (0, 6, 0)),
        ((3, 2, 1), (6, 0, 0)),
        ((4, 3, 2, 1), (6, 0, 0, 0)),
        ((1, 1, 2, 1, 1), (0, 0, 6, 0, 0)),
        ((1, 1), (0, 0)),
        ((2, 2, 1), (0, 0, 0)),
        ((3, 1, 1), (6, 0, 0)),
    ],
)
def test_snowdrop_scores(drops: Numbers, points: Numbers) -> None:
    """Bucaneve: 6 points for the most drops, nothing for others; tied for first score nothing either (Ties)."""
    state = harvested(len(drops), {"b2": snowdrop(drops, open=True)}, modules=FLOWERS)
    assert by_seat(state, "points") == points
    assert on_tile(state, "b2") == (0,) * len(drops)
    assert by_seat(state, "supply") == (20,) * len(drops)
    assert (growing(state, "b2"), blooms(state, "b2")) == ("none", 0)


@pytest.mark.parametrize("drops", [(0, 0), (1, 0)])
def test_harvest_removes_the_token_of_a_snowdrop_that_did_not_grow(drops: Numbers) -> None:
    """Bucaneve: the Harvest Phase removes the token even if it hasn't grown; its drop stays, and nobody scores."""
    state = harvested(2, {"b2": snowdrop(drops, open=True)}, modules=FLOWERS)
    assert by_seat(state, "points") == (0, 0)
    assert blooms(state, "b2") == 0
    assert on_tile(state, "b2") == drops


def test_token_of_the_same_round_is_removed_too() -> None:
    """Bucaneve: after Frost and a Harvest in one round it is closed until the next Frost."""
    field = {"b2": snowdrop(open=False)}
    assert blooms(weather("frost", "rain", field=field, dice=["harvest"] * 3), "b2") == 0


def test_frost_rain_and_harvest_in_one_round() -> None:
    """Bucaneve: opened, watered and harvested in one round."""
    state = weather("frost", "rain", field={"b2": snowdrop(open=False, cloud=(1, 2))}, dice=["harvest"] * 3)
    assert by_seat(state, "points") == (0, 6)
    assert (on_tile(state, "b2"), blooms(state, "b2")) == ((0, 0), 0)


def test_snowdrop_with_fertilizer() -> None:
    """Fertilizer tokens; ruling 4.1: all scoring values are one higher, so other places score 1."""
    field = {
        "b2": snowdrop((3, 2, 1), open=True, fertilizer=True),
        "c1": tile("grass", fertilizer=True),
        "a3": tile("grass", fertilizer=True),
    }
    state = harvested(3, field, modules=("fertilizer", "flower_tiles"))
    assert by_seat(state, "points") == (7, 1, 1)


def test_snowdrop_with_a_pod() -> None:
    """Dente di Leone: a pod takes 1 from every score, down to 0."""
    field = {"b2": snowdrop((3, 2), open=True, pod=True), "a3": tile("dandelion")}
    assert by_seat(harvested(2, field, modules=FLOWERS), "points") == (5, 0)


# --- random games --------------------------------------------------------------------------------------------------


def test_snowdrop_in_random_games() -> None:
    """Bucaneve: while closed it never grows or gains drops; the token comes and goes only in its phases."""
    opened = closed = lone = 0
    for before, after in random_play(Config(players=5, modules=("lake", "flower_tiles", "powers")), 60, 600, seed=11):
        for old, new in zip(before, after, strict=True):
            (found,) = np.nonzero(new["crop"] == Crop.SNOWDROP)
            if not len(found):
                continue
            at = found[0]
            token, drops = int(new["blooms"][at]), int(new["drops"][at].sum())
            assert token in (0, 1)
            assert int(new["growing"][at]) == (2 if token and drops >= 2 else 0)
            assert token or drops <= 1
            lone += not token and drops == 1
            same_game = new["round"] >= old["round"] and new["phase"] != Phase.SETUP != old["phase"]
            if not same_game:
                continue
            same_phase = (old["round"], old["phase"]) == (new["round"], new["phase"]) and new["phase"] != Phase.HARVEST
            if same_phase and not token and not old["blooms"][at]:
                assert (new["drops"][at] <= old["drops"][at]).all()
            came, went = token > old["blooms"][at], token < old["blooms"][at]
            opened += came
            closed += went
            if came or went:
                assert new["phase"] != Phase.ACTION or new["round"] > old["round"], "not during the Action Phase"
            if went and new["phase"] != Phase.OVER:
                assert new["harvested"] or new["round"] > old["round"]
    assert opened > 20
    assert closed > 20
    assert lone > 20
