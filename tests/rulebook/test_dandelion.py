"""Flowers, Dente di Leone (the Dandelion) and its pods.

The Dandelion lies on b2; Unless a test says otherwise, Wind weather moves a drop of player_0 back and forth in the top
row.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import TILE_NAMES, Crop, State
from tests.rulebook.base_game import (
    FIELDS,
    Numbers,
    asked,
    by_seat,
    cloud,
    game,
    growing,
    legal_names,
    on_tile,
    over,
    tile,
    tiles,
)
from tests.rulebook.modules import blooms, harvested, random_play, resolving, wind_blows, with_pods
from tests.support.play import play

FLOWERS = ("flower_tiles",)
BLOWN = tile("grass", (1,))
"""A tile with the drop that the wind moves."""


def wind(
    field: dict[str, Any], players: int = 2, *, with_weather: str = "sun", west: str = "b1", **changes: Any
) -> State:
    """The state after the players' moves in Wind weather: the first pod's decision, if there is one."""
    changes = {"modules": FLOWERS, **changes}
    state = resolving(with_weather, "wind", players=players, field={west: BLOWN, **field}, **changes)
    assert asked(state)[0] == "wind_weather_drop"
    return wind_blows(state, west)


def podded(*names: str, crop: str | None = None) -> dict[str, dict[str, Any]]:
    """Tiles with a pod and nothing else."""
    return {name: tile(crop, pod=True) for name in names}


def place(state: State, first: str, second: str) -> State:
    return play(state, f"tile {first}", f"tile {second}")


# --- growing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("falls", [(1, 0), (0, 1)])
def test_dandelion_grows_with_one_drop(falls: Numbers) -> None:
    """Dente di Leone: the Dandelion needs a single drop to grow."""
    poured = {"b2": tile("dandelion", cloud=falls, thunder=True)}
    state = resolving("wind", "rain", field=poured, modules=FLOWERS)
    assert on_tile(state, "b2") == falls
    assert growing(state, "b2") == "developed"


def test_dandelion_without_a_drop_does_not_grow() -> None:
    """Growing Crops: without its last drop the Dandelion has dried out."""
    state = resolving("sun", "wind", field={"b2": tile("dandelion", (1,)), "b1": BLOWN}, modules=FLOWERS)
    assert growing(state, "b2") == "developed"
    state = play(state, "drop b2 1st to the left", "move west")
    assert growing(state, "b2") == "none"


# --- placing pods --------------------------------------------------------------------------------------------------


def test_no_pods_at_first() -> None:
    """Dente di Leone: pods come after Wind weather only."""
    assert not np.any(Batch(Config(players=5, modules=FLOWERS), 50, seed=1).states["pods"])


def test_two_pods_on_two_different_tiles() -> None:
    """Dente di Leone: after Wind weather each player present must place two pods, on two different tiles without one.
    The tiles are named in ascending order, so the first choice leaves room for the second.
    """
    state = wind({"b2": tile("dandelion", (2,))}, 3)
    assert asked(state) == ("pod_tile", 0)
    assert legal_names(state) == tiles("a1", "b1", "c1", "a2", "c2", "a3", "b3")
    state = play(state, "tile c1")
    assert asked(state) == ("pod_tile", 0)
    assert legal_names(state) == tiles("a2", "c2", "a3", "b3", "c3")
    state = play(state, "tile c3")
    assert with_pods(state) == {"c1", "c3"}
    assert state["round"] == 2


def test_everybody_present_in_turn_order_without_a_second_pod_on_a_tile() -> None:
    """Dente di Leone: all players with a drop there place pods, in turn order; a tile takes only one pod."""
    state = wind({"b2": tile("dandelion", (1, 3, 1))}, 3)
    assert asked(state) == ("pod_tile", 0)
    state = place(state, "a1", "b3")
    assert asked(state) == ("pod_tile", 1)
    assert legal_names(state) == tiles("b1", "c1", "a2", "c2", "a3")
    state = place(state, "c1", "c2")
    assert asked(state) == ("pod_tile", 2)
    assert legal_names(state) == tiles("b1", "a2", "a3")
    state = place(state, "a2", "c3")
    assert with_pods(state) == {"a1", "b3", "c1", "c2", "a2", "c3"}
    assert state["round"] == 2
    assert by_seat(state, "points") == (0, 0, 0)


@pytest.mark.parametrize("drops", [(1, 0, 1), (0, 5, 0), (0, 1, 2)])
def test_only_players_present(drops: Numbers) -> None:
    """Dente di Leone: a player without a drop there places no pod; one with several drops still places two."""
    state = wind({"b2": tile("dandelion", drops)}, 3)
    for seat in range(3):
        if drops[seat]:
            assert asked(state) == ("pod_tile", seat)
            state = play(state, min(legal_names(state)))
            assert asked(state) == ("pod_tile", seat)
            state = play(state, min(legal_names(state)))
    assert state["round"] == 2
    assert len(with_pods(state)) == 2 * sum(number > 0 for number in drops)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_pods_go_clockwise_from_the_first_player(first: int) -> None:
    """Ruling 5.3: pods are placed clockwise from the First Player; Wind weather itself goes anticlockwise."""
    hands = ["" if seat == first else "frost" for seat in range(3)]
    seats = {"first_player": first, "passed": first, "actor": (first - 1) % 3}
    ending = {key: f"player_{seat}" for key, seat in seats.items()}
    state = wind({"b2": tile("dandelion", (1, 1, 1))}, 3, hands=hands, **ending)
    for turn in range(3):
        assert asked(state) == ("pod_tile", (first + turn) % 3)
        state = play(state, min(legal_names(state)))
        state = play(state, min(legal_names(state)))
    assert state["round"] == 2


@pytest.mark.parametrize("first", [0, 2])
def test_example_four_pods_left_and_three_players(first: int) -> None:
    """Dente di Leone, example: with 4 pods left for 3 players, the first two place two each, the third none."""
    present = tuple((first + turn) % 4 for turn in range(3))
    hands = ["" if seat == first else "frost" for seat in range(4)]
    seats = {"first_player": first, "passed": first, "actor": (first - 1) % 4}
    ending = {key: f"player_{seat}" for key, seat in seats.items()}
    drops = tuple(int(seat in present) for seat in range(4))
    field = {"b2": tile("dandelion", drops), **podded("a1", "a2", "a3", "b3")}
    state = wind(field, 4, hands=hands, **ending)
    assert asked(state) == ("pod_tile", present[0])
    state = place(state, "b1", "c1")
    assert asked(state) == ("pod_tile", present[1])
    state = place(state, "d2", "c3")
    assert asked(state)[0] == "turn"
    assert with_pods(state) == {"a1", "a2", "a3", "b3", "b1", "c1", "d2", "c3"}


@pytest.mark.parametrize("placed", [6, 8])
def test_eight_pods_are_all(placed: int) -> None:
    """Flowers, Componenti: 8 pods; ruling 5.3: with fewer than two left a player places none."""
    names = ("b1", "a1", "c1", "d1", "a2", "c2", "d2", "a3")[:placed]
    field = {**podded(*names), "b1": {**BLOWN, "pod": True}, "b2": tile("dandelion", (1, 1, 1, 1))}
    state = wind(field, 4)
    if placed == 6:
        assert asked(state) == ("pod_tile", 0)
        state = play(state, "tile c3")
    assert asked(state)[0] == "turn"
    assert len(with_pods(state)) == 8


def test_five_players_share_eight_pods() -> None:
    """Flowers, Componenti: 8 pods are enough for four players; the fifth in turn order places none."""
    state = wind({"b2": tile("dandelion", (1, 1, 1, 1, 1))}, 5)
    for seat in range(4):
        for _ in range(2):
            assert asked(state) == ("pod_tile", seat)
            state = play(state, min(legal_names(state)))
    assert asked(state)[0] == "turn"
    assert len(with_pods(state)) == 8


@pytest.mark.parametrize(("open_snowdrop", "allowed"), [(False, ("c2", "a3", "b3")), (True, ("a2", "c2", "a3", "b3"))])
def test_where_pods_may_not_lie(open_snowdrop: bool, allowed: tuple[str, ...]) -> None:
    """Dente di Leone: no pod on the Dandelion, the Primrose, the Lake or a Snowdrop without its bloom token."""
    field = {
        "b1": tile("lake"),
        "c1": tile("primrose"),
        "a2": tile("snowdrop", blooms=int(open_snowdrop)),
        "b2": tile("dandelion", (1, 1)),
    }
    state = wind(field, west="a3", modules=("lake", "flower_tiles"))
    assert asked(state) == ("pod_tile", 0)
    assert legal_names(state) == tiles(*allowed[:-1])
    one = play(state, f"tile {allowed[0]}")
    assert asked(one) == ("pod_tile", 0)
    assert legal_names(one) == tiles(*allowed[1:])
    both = play(one, f"tile {allowed[-1]}")
    if open_snowdrop:
        assert with_pods(both) == set(allowed), "the other player has one choice only"
    else:
        assert with_pods(both) == {allowed[0], allowed[-1]}, "one tile is left for two pods"
        assert asked(both)[0] == "turn"


def test_snowdrop_that_opened_in_the_same_weather_phase_takes_a_pod() -> None:
    """Bucaneve, Dente di Leone: Frost brings the token before the Wind."""
    field = {"b2": tile("dandelion", (1,)), "a2": tile("snowdrop", blooms=0)}
    assert "tile a2" in legal_names(wind(field, with_weather="frost"))
    assert "tile a2" not in legal_names(wind(field))


def test_fewer_than_two_tiles_without_a_pod() -> None:
    """Dente di Leone: two pods need two tiles; with one tile left (and 4 pods in reserve) none is placed."""
    field = {"b2": tile("dandelion", (1,)), "c1": tile("primrose"), "a3": {**BLOWN, "pod": True}}
    state = wind({**field, **podded("b1", "a2", "c2")}, west="a3")
    assert asked(state)[0] == "turn"
    assert with_pods(state) == {"b1", "a2", "c2", "a3"}


def test_exactly_two_tiles_left() -> None:
    """Dente di Leone: with no choice left both pods are placed without asking; the next player finds no tile."""
    field = {
        **{"b2": tile("dandelion", (1, 1)), "c1": tile("primrose"), "a2": tile("snowdrop", blooms=0)},
        **{"b1": tile(pod=True), "a3": {**BLOWN, "pod": True}},
    }
    state = wind(field, west="a3")
    assert asked(state)[0] == "turn"
    assert with_pods(state) == {"b1", "a3", "c2", "b3"}


def test_drop_that_this_wind_brought_counts() -> None:
    """Dente di Leone: what counts is who has drops there, and whether it grows, after the Wind weather."""
    field = {"b2": tile("dandelion"), "b1": tile("grass", (1,)), "a3": tile("grass", (0, 1))}
    state = resolving("sun", "wind", field=field, modules=FLOWERS)
    state = play(state, "drop b1 1st to the left", "move south", "drop a3 1st to the left", "move east")
    assert growing(state, "b2") == "developed"
    assert asked(state) == ("pod_tile", 0)
    state = place(state, "b1", "a2")
    assert asked(state)[0] == "turn"


def test_drop_that_this_wind_took_away_does_not_count() -> None:
    """Dente di Leone: a Dandelion that is dried out after the Wind weather gives no pods."""
    field = {"b2": tile("dandelion", (1,)), "a3": tile("grass", (0, 1))}
    state = resolving("sun", "wind", field=field, modules=FLOWERS)
    state = play(state, "drop b2 1st to the left", "move north", "drop a3 1st to the left", "move east")
    assert asked(state)[0] == "turn"
    assert with_pods(state) == set()


@pytest.mark.parametrize("kinds", [("frost", "sun"), ("frost", "rain"), ("sun", "rain")])
def test_no_pods_without_wind_weather(kinds: tuple[str, str]) -> None:
    """Dente di Leone: pods come only after Wind weather."""
    state = resolving(*kinds, field={"b2": tile("dandelion", (2, 1))}, modules=FLOWERS)
    assert asked(state)[0] == "turn"
    assert with_pods(state) == set()


def test_no_pods_after_a_wind_action() -> None:
    """Ruling 5.3: the tile's "azione vento" means Wind weather; a Wind card brings no pods."""
    field = {"b2": tile("dandelion", (1, 1), cloud=(1,)), "a3": tile("grass", (1,))}
    state = play(game(hands=("wind", "frost"), field=field, modules=FLOWERS), "play wind", "move north")
    assert asked(state) == ("vote", 0)
    state = play(state, "vote wind")
    assert asked(state) == ("turn", 1)
    assert with_pods(state) == set()


def test_pods_come_before_the_rain_of_the_same_weather_phase() -> None:
    """Dente di Leone: pods come right after the Wind; a player who comes with the later Rain places none."""
    field = {"b2": tile("dandelion", (1,), cloud=(0, 2), thunder=True)}
    state = wind(field, with_weather="rain")
    assert asked(state) == ("pod_tile", 0)
    assert cloud(state, "b2") == ("thunder", 0, 2)
    state = place(state, "a2", "c2")
    assert asked(state)[0] == "turn"
    assert on_tile(state, "b2") == (1, 2)
    assert with_pods(state) == {"a2", "c2"}


def test_sun_weather_of_the_same_phase_comes_before_the_pods() -> None:
    """Dente di Leone: an overflow in Sun weather, before the Wind, brings its owner there in time."""
    field = {"b2": tile("dandelion", cloud=(0, 4)), "a3": tile("grass", (0, 1))}
    state = wind(field)
    assert on_tile(state, "b2") == (0, 8)
    assert asked(state) == ("pod_tile", 1)


def test_pods_of_two_rounds_add_up() -> None:
    """Dente di Leone: another Wind weather brings two more pods, on tiles without one."""
    field = {"b2": tile("dandelion", (0, 1)), **podded("a2", "b3")}
    state = wind(field)
    assert asked(state) == ("pod_tile", 1)
    assert legal_names(state) == tiles("b1", "c1", "c2")
    assert with_pods(place(state, "c1", "a3")) == {"a2", "b3", "c1", "a3"}


def test_a_drop_on_a_podded_tile_and_clouds_change_nothing() -> None:
    """Dente di Leone: tiles with drops, clouds or growing tokens take pods as well."""
    field = {
        "b2": tile("dandelion", (1,), cloud=(0, 1)),
        "a3": tile("cotton", (0, 2), cloud=(0, 1)),
        "c2": tile(cloud=(0, 2)),
        "b1": {**BLOWN, "cloud": {"kind": "light", "drops": {"player_1": 1}}},
    }
    state = wind(field, with_weather="frost")
    assert legal_names(state) == tiles("b1", "c1", "a2", "c2", "a3")
    assert with_pods(place(state, "c2", "a3")) == {"c2", "a3"}


def test_pods_stay_until_a_harvest() -> None:
    """Dente di Leone: pods go back only after a Harvest."""
    field = {"b2": tile("dandelion", (1,)), **podded("a2", "b3")}
    state = resolving("sun", "rain", field=field, modules=FLOWERS)
    assert state["round"] == 2
    assert with_pods(state) == {"a2", "b3"}


# --- Harvest: pods -------------------------------------------------------------------------------------------------

POD_SCORES: list[tuple[str, Numbers, Numbers, dict[str, Any]]] = [
    ("cotton", (3, 2), (4, 1), {}),
    ("cotton", (3, 2, 1), (4, 1, 0), {}),
    ("grass", (4, 3, 2, 1), (3, 2, 1, 0), {}),
    ("grass", (2, 2), (2, 2), {}),
    ("potato", (2, 1), (2, 4), {}),
    ("wheat", (2, 1), (1, 2), {}),
    ("wheat", (2, 2), (2, 2), {}),
    ("coffee", (4, 3, 2, 1), (4, 2, 0, 0), {"growing": "sprouting", "with_weather": "rain"}),
    ("coffee", (4, 3, 2, 1), (9, 5, 1, 0), {"growing": "developed"}),
    ("rice", (3, 1), (2, 0), {"growing": "developed"}),
    ("rice", (3, 1), (0, 0), {"growing": "sprouting"}),
    ("corn", (4, 0, 1), (7, 0, 7), {}),
    ("corn", (1, 1, 1, 1, 1), (2, 2, 2, 2, 2), {}),
    ("cactus", (2, 1), (5, 2), {}),
    ("cactus", (2, 1, 1), (1, 0, 0), {"growing": "drowned"}),
    ("cactus", (3, 2), (1, 0), {"growing": "drowned"}),
]


@pytest.mark.parametrize(("crop", "drops", "points", "more"), POD_SCORES)
def test_a_pod_takes_a_point_from_every_score(crop: str, drops: Numbers, points: Numbers, more: dict[str, Any]) -> None:
    """Dente di Leone: on a harvested tile with a pod all scores are 1 lower, down to 0."""
    other = more.get("with_weather", "rain" if crop != "rice" else "sun")
    token = {key: value for key, value in more.items() if key == "growing"}
    field = {"b2": tile(crop, drops, pod=True, **token), "b1": tile("dandelion")}
    start = {"points": (1,) * len(drops), "modules": ("cactus", "flower_tiles")}
    state = resolving("frost", other, players=len(drops), field=field, dice=["harvest"] * 3, **start)
    assert by_seat(state, "points") == tuple(1 + number for number in points)
    assert on_tile(state, "b2") == (0,) * len(drops)
    assert with_pods(state) == set()


def test_a_pod_does_not_take_the_wheat_token() -> None:
    """Dente di Leone: a pod lowers scores; the Wheat token is no score."""
    state = harvested(2, {"b2": tile("wheat", (2, 1), pod=True), "b1": tile("dandelion")}, modules=FLOWERS)
    assert by_seat(state, "wheat_tokens") == (1, 0)


def test_a_pod_counts_on_its_own_tile_only() -> None:
    """Dente di Leone: other tiles score as usual."""
    field = {"b2": tile("cotton", (2, 1), pod=True), "c1": tile("cotton", (2, 1)), "b1": tile("dandelion")}
    assert by_seat(harvested(2, field, modules=FLOWERS), "points") == (4 + 5, 1 + 2)


@pytest.mark.parametrize(
    ("crop", "drops", "points"), [("cotton", (3, 2, 1), (5, 2, 0)), ("grass", (3, 2, 1), (4, 3, 2))]
)
def test_a_pod_and_fertilizer(crop: str, drops: Numbers, points: Numbers) -> None:
    """Fertilizer tokens, Dente di Leone: one more and one less for each score cancel out."""
    field = {
        "b2": tile(crop, drops, pod=True, fertilizer=True),
        "c1": tile("wheat", fertilizer=True),
        "a3": tile("wheat", fertilizer=True),
        "b1": tile("dandelion"),
    }
    assert by_seat(harvested(3, field, modules=("fertilizer", "flower_tiles")), "points") == points


def test_all_pods_go_back_after_a_harvest() -> None:
    """Dente di Leone: after the points of the Harvest all pods are removed, also from tiles that were not harvested."""
    field = {"b2": tile("dandelion"), "b1": tile("cotton", (2,), pod=True), "a2": tile("wheat", (1, 1), pod=True)}
    state = harvested(2, {**field, **podded("b3", "a3")}, modules=FLOWERS)
    assert with_pods(state) == set()
    assert on_tile(state, "a2") == (1, 1)


# --- Harvest: the Dandelion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("pods", range(9))
def test_dandelion_scores_the_pods_on_other_tiles(pods: int) -> None:
    """Dente di Leone: first place scores the pods on other tiles, second half of that rounded down, others 0."""
    names = [name for name in FIELDS[3] if name != "b2"]
    field = {"b2": tile("dandelion", (3, 2, 1)), **podded(*names[:pods])}
    state = harvested(3, field, modules=FLOWERS)
    assert by_seat(state, "points") == (pods, pods // 2, 0)
    assert on_tile(state, "b2") == (0, 0, 0)
    assert growing(state, "b2") == "none"
    assert with_pods(state) == set()


def test_first_on_the_dandelion_without_pods() -> None:
    """Dente di Leone: without pods first place scores nothing; the drops still go back."""
    state = harvested(2, {"b2": tile("dandelion", (4, 1))}, modules=FLOWERS)
    assert by_seat(state, "points") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((2, 1), (6, 3)),
        ((0, 1), (0, 6)),
        ((1, 1), (3, 3)),
        ((1, 1, 0), (3, 3, 0)),
        ((2, 2, 1), (3, 3, 0)),
        ((2, 1, 1), (6, 0, 0)),
        ((1, 1, 1), (0, 0, 0)),
        ((0, 2, 5), (0, 3, 6)),
        ((4, 3, 2, 1), (6, 3, 0, 0)),
        ((1, 1, 1, 1, 2), (0, 0, 0, 0, 6)),
    ],
)
def test_places_on_the_dandelion(drops: Numbers, points: Numbers) -> None:
    """Dente di Leone; Ties: two tied for first both score as second, two tied for second as third."""
    names = [name for name in FIELDS[len(drops)] if name != "b2"]
    state = harvested(len(drops), {"b2": tile("dandelion", drops), **podded(*names[:6])}, modules=FLOWERS)
    assert by_seat(state, "points") == points


def test_dandelion_with_fertilizer() -> None:
    """Fertilizer tokens: every place scores one more, the third too (ruling 4.1)."""
    field = {
        "b2": tile("dandelion", (3, 2, 1), fertilizer=True),
        "c1": tile("wheat", fertilizer=True, pod=True),
        "a3": tile("wheat", fertilizer=True, pod=True),
        **podded("a1", "b3"),
    }
    assert by_seat(harvested(3, field, modules=("fertilizer", "flower_tiles")), "points") == (5, 3, 1)


def test_pods_on_harvested_and_other_tiles_all_count() -> None:
    """Dente di Leone: pods on all other tiles count, harvested or not; then the pods go back."""
    field = {
        "b2": tile("dandelion", (1, 2)),
        "b1": tile("cotton", (2,), pod=True),
        "b3": tile("cotton", (1, 1), pod=True),
        "a3": tile("wheat", (1,), pod=True),
        **podded("c2"),
    }
    assert by_seat(harvested(2, field, modules=FLOWERS), "points") == (2 + 4 + 1, 4 + 1)


def test_pods_of_the_final_wind_score_at_once() -> None:
    """Weather Phase, then Harvest: pods of the last round's Wind weather count in its Harvest."""
    field = {"b2": tile("dandelion", (2, 1)), "b1": BLOWN, "b3": tile("cotton", (1, 2))}
    state = wind_blows(resolving("wind", field=field, modules=FLOWERS, round=4), "b1")
    state = place(state, "a2", "b3")
    assert asked(state) == ("pod_tile", 1)
    state = place(state, "b1", "c1")
    assert over(state)
    one_voting_win = 1
    assert by_seat(state, "points") == (4 + 1 + one_voting_win, 2 + 4)
    assert with_pods(state) == set()


# --- random games --------------------------------------------------------------------------------------------------


def test_pods_in_random_games() -> None:
    """Dente di Leone: where pods may be placed, by whom, and how many there are, in the positions of random games."""
    asked_of: Counter[int] = Counter()
    config = Config(players=4, modules=("lake", "flower_tiles", "powers"))
    for before, after in random_play(config, 60, 600, seed=12):
        for old, new in zip(before, after, strict=True):
            pods = with_pods(new)
            crops = {name: Crop(new["crop"][TILE_NAMES.index(name)]) for name in FIELDS[4]}
            assert len(pods) <= 8
            assert len(pods) % 2 == 0 or asked(new)[0] == "pod_tile"
            never = {
                name
                for name, crop in crops.items()
                if crop in (Crop.DANDELION, Crop.PRIMROSE, Crop.LAKE)
                or (crop is Crop.SNOWDROP and not blooms(new, name))
            }
            assert not pods & never
            assert not pods or Crop.DANDELION in crops.values()
            decision, seat = asked(new)
            if decision != "pod_tile":
                continue
            dandelion = next(name for name, crop in crops.items() if crop is Crop.DANDELION)
            assert growing(new, dandelion) == "developed"
            assert on_tile(new, dandelion)[seat] > 0
            left = int(new["choices_left"])
            free = [name for name in FIELDS[4] if name not in never | pods]
            if left == 2:
                assert len(pods) <= 6
                assert legal_names(new) == tiles(*free[:-1])
            else:
                first = int(new["target"])
                assert legal_names(new) == tiles(*(name for name in free if TILE_NAMES.index(name) > first))
                assert asked(old) == ("pod_tile", seat)
            asked_of[left] += 1
    assert min(asked_of[1], asked_of[2]) > 50
