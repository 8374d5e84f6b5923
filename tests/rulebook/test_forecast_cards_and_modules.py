"""Flowers, Carte Previsione: forecast cards and the Lake, the flower tiles, the Cactus and the players' powers."""

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
    cards,
    cloud,
    clouds,
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
from tests.rulebook.modules import controller, forecasts, harvest, offer, resolving
from tests.support.play import play

Field = Mapping[str, dict[str, Any]]

EVERYWHERE = frozenset(FIELDS[2])


def turn(number: int, field: Field, module: str) -> State:
    """player_0's turn, holding this card and two that no turn can play."""
    return game(field=field, **forecasts((number, 7, 8), modules=(module,)))


def can_play(state: State, number: int) -> bool:
    assert asked(state) == ("turn", 0)
    return f"forecast {number}" in legal_names(state)


def weather(kind: str, number: int, field: Field, module: str) -> State:
    """The final round's Weather Phase with this weather only; player_0 holds this card and two for turns."""
    return resolving(kind, field=field, round=4, **forecasts((number, 13, 16), modules=(module,)))


def offered(state: State, number: int) -> bool:
    if asked(state) != ("forecast", 0):
        return False
    assert legal_names(state) == offer(number)
    return True


# --- the Lake: Le carte Previsione non possono essere usate sulla tessera lago ---------------------------------------

LAKE = {"b2": tile("lake", cloud=(0, 1)), "b1": tile(cloud=(0, 1)), "c1": tile(cloud=(0, 2))}


def test_10_not_from_and_not_to_the_lake() -> None:
    """Card 10: it can't move the Lake's cloud, nor another cloud to the Lake."""
    state = play(turn(10, LAKE, "lake"), "forecast 10")
    assert legal_names(state) == tiles("b1", "c1")
    assert legal_names(play(state, "tile b1")) == tiles(*EVERYWHERE - {"b1", "b2"})


def test_12_not_the_lakes_cloud() -> None:
    """Card 12: the Lake's cloud can't get its drops."""
    assert legal_names(play(turn(12, LAKE, "lake"), "forecast 12")) == tiles("b1", "c1")


def test_14_leaves_the_lakes_cloud_out() -> None:
    """Card 14: the Lake's cloud gets no drop, so none is needed for it (ruling 5.8)."""
    state = play(turn(14, LAKE, "lake"), "forecast 14")
    assert clouds(state) == {"b2": ("light", 0, 1), "b1": ("light", 1, 1), "c1": ("light", 1, 2)}
    state = turn(14, {**LAKE, "c1": tile(cloud=(1, 2)), "a3": tile("rice", (18,))}, "lake")
    assert by_seat(state, "supply")[0] == 1
    assert can_play(state, 14)


def test_15_leaves_the_lakes_cloud_out() -> None:
    """Card 15: no drop falls from the Lake's cloud."""
    state = play(turn(15, LAKE, "lake"), "forecast 15")
    assert clouds(state) == {"b2": ("light", 0, 1), "c1": ("light", 0, 1)}


def test_16_not_on_the_lake() -> None:
    """Card 16: no new cloud on the Lake."""
    field = {"b2": tile("lake"), "c1": tile(cloud=(0, 1))}
    assert legal_names(play(turn(16, field, "lake"), "forecast 16")) == tiles(*EVERYWHERE - {"b2", "c1"})
    full = {name: tile(cloud=(0, 1)) for name in EVERYWHERE - {"b2"}}
    assert not can_play(turn(16, {**full, "b2": tile("lake")}, "lake"), 16)


@pytest.mark.parametrize("number", [10, 12, 14, 15])
def test_turn_cards_not_with_the_lakes_cloud_alone(number: int) -> None:
    """Cards 10, 12, 14, 15: they can't be played if the only cloud is the Lake's."""
    assert not can_play(turn(number, {"b2": tile("lake", cloud=(0, 2))}, "lake"), number)


def test_4_not_on_the_lake() -> None:
    """Card 4: no new cloud on the Lake."""
    field = {"b2": tile("lake"), "c1": tile(cloud=(0, 1))}
    state = play(final_round(field=field, **forecasts((4, 13, 16), modules=("lake",))), "forecast 4")
    assert legal_names(state) == tiles(*EVERYWHERE - {"b2", "c1"})
    full = {name: tile(cloud=(0, 1)) for name in EVERYWHERE - {"b2"}}
    state = final_round(field={**full, "b2": tile("lake")}, **forecasts((4, 13, 16), modules=("lake",)))
    assert over(state)


def test_6_not_the_lakes_cloud() -> None:
    """Card 6: the Lake's cloud can't be made to rain."""
    assert legal_names(play(weather("rain", 6, LAKE, "lake"), "forecast 6")) == tiles("b1", "c1")
    assert not offered(weather("rain", 6, {"b2": tile("lake", cloud=(1, 1))}, "lake"), 6)


def test_7_leaves_the_lakes_cloud_out() -> None:
    """Card 7: each own cloud except the Lake's gets two drops; no more are needed (ruling 5.8)."""
    field = {"b2": tile("lake", cloud=(1,)), "b1": tile(cloud=(2,)), "a3": tile("rice", (15,))}
    state = weather("sun", 7, field, "lake")
    assert by_seat(state, "supply")[0] == 2
    assert offered(state, 7)
    assert clouds(play(state, "forecast 7")) == {"b2": ("light", 1, 0), "b1": ("thunder", 4, 0)}
    field = {"b2": tile("lake", cloud=(1,)), "b1": tile(cloud=(0, 1)), "c1": tile(cloud=(0, 1))}
    assert not offered(weather("sun", 7, field, "lake"), 7)


def test_8_not_onto_the_lake() -> None:
    """Card 8: no drop is moved onto the Lake."""
    field = {"b2": tile("lake"), "b1": tile("rice", (1,))}
    state = play(weather("wind", 8, field, "lake"), "forecast 8")
    assert asked(state)[0] != "forecast_direction", "b1 has no other tile beside c1 and the Lake below"
    assert on_tile(state, "c1") == (1, 0)
    field = {"b2": tile("lake"), "b3": tile("rice", (1,)), "c2": tile("grass", (1,))}
    state = play(weather("wind", 8, field, "lake"), "forecast 8", "drop c2 own")
    assert on_tile(state, "c1") == (1, 0), "c2 has no other tile beside c1 and the Lake to its left"


def test_9_not_on_the_lake() -> None:
    """Card 9: no drop is placed on the Lake."""
    state = play(weather("rain", 9, {"b2": tile("lake")}, "lake"), "forecast 9")
    assert legal_names(state) == tiles(*EVERYWHERE - {"b2"})


def test_3_not_the_lakes_cloud() -> None:
    """Card 3: the Lake is never harvested, so its cloud counts for nothing."""
    assert over(final_round(field={"b2": tile("lake", cloud=(3,))}, **forecasts((3, 13, 16), modules=("lake",))))


# --- the Snowdrop ----------------------------------------------------------------------------------------------------


FLOWERS = "flower_tiles"


def snowdrop(above: Numbers = (), blooms: int = 0) -> dict[str, Any]:
    return tile("snowdrop", cloud=above, blooms=blooms)


def test_8_not_where_every_neighbour_is_closed() -> None:
    """Card 8: a drop between the Lake and a closed Snowdrop can't be moved, so the card can't be played."""
    field = {"b1": tile("rice", (1,)), "c1": tile("lake"), "b2": snowdrop(), "c2": tile("grass", (0, 1))}
    held = forecasts((8, 13, 16), modules=("lake", FLOWERS))
    assert asked(resolving("wind", field=field, round=4, **held)) == ("wind_weather_drop", 1)
    field = {**field, "c2": tile("grass", (1, 1))}
    assert asked(resolving("wind", field={**field, "a2": tile("grass", (1,))}, round=4, **held)) == ("forecast", 0)


def test_15_drop_on_a_closed_snowdrop_goes_back() -> None:
    """Card 15; Bucaneve; ruling 5.2: the drop that falls there returns to its owner."""
    state = play(turn(15, {"b2": snowdrop((1, 1))}, FLOWERS), "forecast 15", "drop b2 1st to the left")
    assert cloud(state, "b2") == ("light", 1, 0)
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (19, 20)


def test_clouds_above_a_closed_snowdrop() -> None:
    """Bucaneve; ruling 5.2: clouds above it can be used; drops that they pour return to their owners."""
    assert cloud(play(turn(12, {"b2": snowdrop((0, 4))}, FLOWERS), "forecast 12"), "b2") == ("thunder", 3, 4)
    state = play(turn(14, {"b2": snowdrop((0, 7))}, FLOWERS), "forecast 14")
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)


def test_10_and_16_may_put_a_cloud_above_a_closed_snowdrop() -> None:
    """Bucaneve: only drops are forbidden on the tile; a cloud hangs above it."""
    assert "tile b2" in legal_names(play(turn(16, {"b2": snowdrop()}, FLOWERS), "forecast 16"))
    state = play(turn(10, {"b2": snowdrop(), "c1": tile(cloud=(3, 4))}, FLOWERS), "forecast 10", "tile b2")
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20)


def test_6_not_above_a_closed_snowdrop() -> None:
    """Card 6; ruling 5.2: no player can choose to put drops on a closed Snowdrop, only on an open one."""
    others = {"b1": tile("grass", cloud=(0, 1)), "c1": tile("grass", cloud=(0, 1))}
    state = play(weather("rain", 6, {"b2": snowdrop((1, 1)), **others}, FLOWERS), "forecast 6")
    assert legal_names(state) == tiles("b1", "c1")
    assert not offered(weather("rain", 6, {"b2": snowdrop((1, 1))}, FLOWERS), 6)
    state = play(weather("rain", 6, {"b2": snowdrop((1, 1), 1), **others}, FLOWERS), "forecast 6")
    assert legal_names(state) == tiles("b1", "c1", "b2")


@pytest.mark.parametrize("blooms", [0, 1])
def test_9_on_an_open_snowdrop_only(blooms: int) -> None:
    """Card 9; ruling 5.2: with the bloom token drops can be put there, without it they can't."""
    state = play(weather("rain", 9, {"b2": snowdrop(blooms=blooms)}, FLOWERS), "forecast 9")
    assert ("tile b2" in legal_names(state)) is bool(blooms)
    assert tiles(*EVERYWHERE - {"b2"}) <= legal_names(state)


def test_9_after_frost_opened_the_snowdrop() -> None:
    """Cards 6 and 9; Bucaneve: Frost weather opens the Snowdrop, so drops can fall there before the Rain."""
    held = forecasts((6, 9, 13), modules=(FLOWERS,))
    state = resolving("frost", "rain", field={"b2": snowdrop((1,))}, **held)
    assert legal_names(state) == offer(6, 9)
    assert "tile b2" in legal_names(play(state, "forecast 9"))
    state = play(state, "forecast 6", "forecast 9", "tile b2")
    assert (on_tile(state, "b2"), growing(state, "b2")) == ((2, 0), "developed")


@pytest.mark.parametrize("blooms", [0, 1])
def test_8_onto_an_open_snowdrop_only(blooms: int) -> None:
    """Card 8; ruling 5.2: onto a closed Snowdrop no drop is moved."""
    field = {"b2": snowdrop(blooms=blooms), "a2": tile("grass", (1,)), "c1": tile("grass", (0, 1))}
    state = weather("wind", 8, field, FLOWERS)
    if not blooms:
        state = play(state, "forecast 8")
        assert on_tile(state, "a3") == (1, 0), "the only other neighbour of a2"
    else:
        state = play(state, "forecast 8")
        assert asked(state) == ("forecast_direction", 0)
        assert legal_names(state) == moves("east", "south")


@pytest.mark.parametrize(("blooms", "points"), [(0, 0), (1, 6)])
def test_3_counts_above_an_open_snowdrop_only(blooms: int, points: int) -> None:
    """Card 3; Bucaneve: the Snowdrop grows, with 2 drops and for 6 points, only with its bloom token."""
    field = {"b2": snowdrop((2, 1), blooms), "b1": tile("grass", cloud=(1,))}
    state = final_round(field=field, **forecasts((3, 13, 16), modules=(FLOWERS,)))
    state = play(state, "forecast 3")
    assert by_seat(state, "points") == (points, 0)
    assert cloud(state, "b2") == ("light", 2, 1)


# --- the Primrose and the Dandelion ----------------------------------------------------------------------------------


def test_11_primrose_changes_hands() -> None:
    """Card 11; Primula: a player who then has more drops than the controller takes over, for 2 points a bloom."""
    field = {"b1": tile("primrose", (2, 3), blooms=2, cloud=(1,))}
    state = game(field=field, controller="player_1", **forecasts((11, 7, 8), modules=(FLOWERS,)))
    state = play(state, "forecast 11", "drop b1 1st to the left")
    assert cloud(state, "b1") == ("thunder", 1, 3)
    assert controller(state) == 0
    assert by_seat(state, "points") == (4, 0)
    assert on_tile(state, "b1") == (2, 0)


def test_9_waters_the_primrose() -> None:
    """Card 9; Primula: the first drop there takes control and scores at once."""
    state = play(weather("rain", 9, {"b1": tile("primrose", blooms=3)}, FLOWERS), "forecast 9", "tile b1")
    assert controller(state) == 0
    assert on_tile(state, "b1") == (1, 0)
    assert by_seat(state, "points") == (6 + 1, 0), "and one Voting Win"


def test_1_counts_flower_tiles() -> None:
    """Card 1: every tile with own drops, the Primrose too; clouds don't count."""
    field = {
        "b1": tile("primrose", (1,), blooms=1),
        "c1": tile("dandelion", (1,)),
        "b2": tile("grass", (1, 1), cloud=(1,)),
        "a3": tile("grass", cloud=(1,)),
    }
    state = final_round(field=field, controller="player_0", **forecasts((1, 13, 16), modules=(FLOWERS,)))
    without = by_seat(play(state, "decline"), "points")[0]
    assert by_seat(play(state, "forecast 1"), "points") == (without + 3, 0)


def test_2_not_the_primrose() -> None:
    """Card 2; Primula: the Primrose is never harvested, so its drops don't count."""
    field = {"b1": tile("primrose", (6,), blooms=1), "b2": tile("grass", (5,))}
    state = final_round(field=field, controller="player_0", **forecasts((2, 13, 16), modules=(FLOWERS,)))
    assert by_seat(play(state, "forecast 2"), "points") == (4 + 2, 0)
    state = final_round(field={"b1": field["b1"]}, controller="player_0", **forecasts((2, 13, 16), modules=(FLOWERS,)))
    assert over(state)


def test_3_not_on_the_primrose() -> None:
    """Card 3; Primula: the Primrose isn't harvested, so drops above it change nothing."""
    field = {"b1": tile("primrose", (0, 1), cloud=(3,), blooms=1), "b2": tile("cotton", cloud=(2,))}
    state = final_round(field=field, controller="player_1", **forecasts((3, 13, 16), modules=(FLOWERS,)))
    state = play(state, "forecast 3")
    assert controller(state) == 1
    assert by_seat(state, "points") == (5, 0)
    assert (on_tile(state, "b1"), cloud(state, "b1")) == ((0, 1), ("light", 3, 0))


def test_8_waters_the_dandelion_before_the_wind() -> None:
    """Card 8; Dente di Leone: one drop makes it grow, so after this Wind weather its player places two pods."""
    field = {"b1": tile("rice", (1,)), "b2": tile("dandelion"), "a3": tile("grass", (0, 1))}
    state = play(weather("wind", 8, field, FLOWERS), "forecast 8", "move south")
    assert (on_tile(state, "b2"), growing(state, "b2")) == ((1, 0), "developed")
    state = play(state, "drop a3 own", "move east", "drop b3 1st to the left", "move west")
    assert asked(state) == ("pod_tile", 0)


def test_3_makes_the_dandelion_grow() -> None:
    """Card 3; Dente di Leone: one drop is enough; the first scores the pods on the other tiles."""
    field = {"b1": tile("dandelion", cloud=(1,)), "c1": tile("grass", pod=True), "b2": tile("grass", pod=True)}
    state = final_round(field=field, **forecasts((3, 13, 16), modules=(FLOWERS,)))
    assert by_seat(play(state, "decline"), "points") == (0, 0)
    assert by_seat(play(state, "forecast 3"), "points") == (2, 0)


def test_3_takes_the_fertilizer_along() -> None:
    """Card 3; Fertilizer tokens: a place that comes from drops in a cloud scores the additional point, too."""
    field = {"b1": tile("cotton", (0, 2), cloud=(1,), fertilizer=True)}
    state = final_round(field=field, **forecasts((3, 13, 16), modules=("fertilizer",)))
    assert by_seat(play(state, "decline"), "points") == (0, 5 + 1)
    assert by_seat(play(state, "forecast 3"), "points") == (2 + 1, 5 + 1)


def test_11_leaves_a_drowned_cactus_drowned() -> None:
    """Card 11; ruling 4.2: the Cactus stays drowned while it has its token; two drops are enough for that."""
    field = {"b1": tile("cactus", (0, 5), cloud=(1,))}
    state = play(turn(11, field, "cactus"), "forecast 11")
    assert (on_tile(state, "b1"), growing(state, "b1")) == ((0, 2), "drowned")
    field = {"b1": tile("cactus", (0, 4), cloud=(1,))}
    assert growing(play(turn(11, field, "cactus"), "forecast 11"), "b1") == "none"


def test_3_drowns_the_cactus() -> None:
    """Card 3; The Maltese Cactus: with four drops, including those in the cloud, it scores as drowned: 2 and 1."""
    field = {"b1": tile("cactus", (1, 1), cloud=(2,))}
    state = final_round(field=field, **forecasts((3, 13, 16), modules=("cactus",)))
    assert by_seat(play(state, "decline"), "points") == (3, 3)
    assert by_seat(play(state, "forecast 3"), "points") == (2, 1)


# --- Le carte previsione non possono essere usate sui Poteri dei Giocatori -------------------------------------------


def powered(power: str, held: tuple[int, ...], hand: str = "", **changes: Any) -> State:
    """player_0's turn with a power."""
    shared = forecasts(held, modules=("powers",))
    return game(hands=(hand, "frost sun"), power={"player_0": power}, **shared, **changes)


def test_forecasts_do_not_pay_for_the_sun_power() -> None:
    """Sole: "any card as if it were the Sun" means an action card, not a forecast card."""
    assert legal_names(powered("sun", (13, 7, 8))) == {"forecast 13", "pass"}
    assert legal_names(powered("sun", (13, 7, 8), "wind")) == {"play wind", "substitute sun", "forecast 13", "pass"}
    assert legal_names(play(powered("sun", (13, 7, 8), "frost wind"), "substitute sun")) == cards("frost", "wind")


def test_16_has_no_drop_of_the_frost_power() -> None:
    """Gelo: the extra drop is the Frost action's; card 16's cloud holds three."""
    state = play(powered("frost", (16, 7, 8), "frost"), "forecast 16", "tile b2")
    assert asked(state) == ("turn", 1)
    assert cloud(state, "b2") == ("light", 3, 0)


def test_4_has_no_drop_of_the_frost_power() -> None:
    """Gelo: the extra drop is the Frost action's; card 4's cloud holds two."""
    shared = forecasts((4, 13, 16), modules=("powers",))
    state = play(final_round(power={"player_0": "frost"}, **shared), "forecast 4", "tile b2")
    assert over(state)
    assert cloud(state, "b2") == ("light", 2, 0)


def test_15_is_no_rain_action() -> None:
    """Pioggia: the power goes with the Rain action, not with card 15."""
    state = play(powered("rain", (15, 7, 8), "frost", field={"b2": tile("rice", cloud=(1, 0))}), "forecast 15")
    assert asked(state) == ("turn", 1)
    assert on_tile(state, "b2") == (1, 0)


@pytest.mark.parametrize("real", [0, 1])
def test_3_leaves_only_real_drops_to_keep(real: int) -> None:
    """Raccolto, card 3: only a drop on a harvested tile can be kept, not one in the cloud above it."""
    field, shared = {"b2": tile("cotton", (real, 1), cloud=(1,))}, forecasts((3, 13, 16), modules=("powers",))
    state = final_round(field=field, power={"player_0": "harvest"}, **shared)
    state = play(state, "forecast 3")
    if real:
        assert asked(state) == ("keep_drop", 0)
        state = play(state, "tile b2")
    assert over(state)
    assert by_seat(state, "points") == ((5, 2) if real else (2, 2))
    assert (on_tile(state, "b2"), cloud(state, "b2")) == ((real, 0), ("light", 1, 0))


def test_2_counts_the_drops_that_were_scored() -> None:
    """Ruling 5.7; Raccolto: the card counts the drops that were scored, whatever the Harvest power keeps."""
    field, shared = {"b2": tile("grass", (6, 1))}, forecasts((2, 13, 16), modules=("powers",))
    state = harvest(2, field, power={"player_0": "harvest"}, **shared)
    assert asked(state) == ("keep_drop", 0)
    for kept in ("tile b2", "decline"):
        after = play(state, kept)
        assert asked(after) == ("forecast", 0)
        after = play(after, "forecast 2")
        assert by_seat(after, "points") == (4 + 3, 3)
        assert on_tile(after, "b2") == (int(kept != "decline"), 0)
        assert growing(after, "b2") == "none"
