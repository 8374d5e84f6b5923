"""Flowers, Primula (the Primrose), which lies on b2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import NOBODY, Crop, Phase, State
from tests.rulebook.base_game import (
    Numbers,
    asked,
    by_seat,
    cloud,
    clouds,
    game,
    growing,
    last_turn,
    legal_names,
    on_tile,
    over,
    tile,
    tiles,
)
from tests.rulebook.modules import blooms, controller, harvested, random_play, resolving, wind_blows, with_crop
from tests.support.effort import games
from tests.support.play import play

FLOWERS = ("flower_tiles",)


def primrose(drops: Numbers = (), *, tokens: int = 1, **described: Any) -> dict[str, Any]:
    """The Primrose with this number of bloom tokens."""
    return tile("primrose", drops, blooms=tokens, **described)


def owned_by(seat: int) -> dict[str, Any]:
    """The scenario's key for the Primrose's controller, where it doesn't follow from the drops."""
    return {"controller": f"player_{seat}"}


def acting(kind: str, field: dict[str, Any], players: int = 2, **changes: Any) -> State:
    """player_0 has played one card of the kind, the last in hand."""
    hands = (kind, *("frost",) * 4)
    return play(game(players, hands=hands, field=field, modules=FLOWERS, **changes), f"play {kind}")


def weather(*kinds: str, field: dict[str, Any], players: int = 2, **changes: Any) -> State:
    return resolving(*kinds, players=players, field=field, modules=FLOWERS, **changes)


def rained(drops: Numbers, poured: Numbers, tokens: int = 1, **changes: Any) -> State:
    """Rain weather pours a thundercloud on the Primrose with these drops."""
    field = {"b2": primrose(drops, tokens=tokens, cloud=poured, thunder=True)}
    return weather("frost", "rain", players=len(drops), field=field, **changes)


def ending_with(first: int, players: int = 3) -> dict[str, Any]:
    """`first` passed and is First Player; it is the turn of the last of the others."""
    hands = ["" if seat == first else "frost" for seat in range(players)]
    seats = {"first_player": first, "passed": first, "actor": (first - 1) % players}
    return {"hands": hands, **{key: f"player_{seat}" for key, seat in seats.items()}}


# --- Setup and bloom tokens ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_primrose_begins_with_one_token_and_nobody_in_control(players: int) -> None:
    """Primula: at the beginning of a game one bloom token is placed on it."""
    batch = Batch(Config(players=players, modules=FLOWERS), 100, seed=1)
    primroses = batch.states["crop"] == Crop.PRIMROSE
    assert primroses.any()
    assert (batch.states["blooms"][primroses] == 1).all()
    assert not batch.states["blooms"][~primroses].any()
    assert (batch.states["controller"] == NOBODY).all()
    state, name = with_crop(batch, Crop.PRIMROSE)
    assert blooms(state, name) == 1


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 3), (3, 4), (4, 4)])
def test_a_token_at_the_end_of_each_harvest_phase(before: int, after: int) -> None:
    """Primula: at the end of each Harvest Phase a new bloom token, up to 4."""
    state = harvested(2, {"b2": primrose((1,), tokens=before)}, modules=FLOWERS)
    assert state["round"] == 2
    assert blooms(state, "b2") == after


def test_no_token_without_a_harvest() -> None:
    """Primula: without a Harvest there is no new token."""
    assert blooms(weather("sun", "rain", field={"b2": primrose((1,))}, dice=["harvest", "harvest", 4]), "b2") == 1


def test_unwatered_primrose_blooms_too() -> None:
    """Primula: the new token doesn't depend on drops or control."""
    state = harvested(2, {"b2": primrose()}, modules=FLOWERS)
    assert (blooms(state, "b2"), controller(state)) == (2, NOBODY)


# --- the first control ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [1, 2, 3, 4])
def test_first_control_by_a_rain_action(tokens: int) -> None:
    """Primula: the first to water it takes control and at once gains 2 points for each bloom token there."""
    state = acting("rain", {"b2": primrose(tokens=tokens, cloud=(2,))})
    assert asked(state) == ("vote", 0)
    assert controller(state) == 0
    assert by_seat(state, "points") == (2 * tokens, 0)
    assert on_tile(state, "b2") == (1, 0)


def test_first_control_goes_to_the_owner_of_the_drop() -> None:
    """Primula: what counts is whose drop it is, not whose Rain action."""
    state = play(acting("rain", {"b2": primrose(cloud=(1, 1))}), "drop b2 1st to the left")
    assert controller(state) == 1
    assert by_seat(state, "points") == (0, 2)


def test_first_control_by_wind_weather() -> None:
    """Primula: a drop blown there waters it."""
    field = {"b2": primrose(), "b1": tile("grass", (0, 1)), "a3": tile("grass", (1,))}
    state = play(weather("sun", "wind", field=field), "drop b1 own", "move south")
    assert asked(state) == ("wind_weather_drop", 0)
    assert controller(state) == 1
    assert by_seat(state, "points") == (0, 2)


@pytest.mark.parametrize(
    ("drops", "first", "owner"),
    [
        ((1, 3, 2), 0, 1),
        ((2, 1, 3), 1, 2),
        ((2, 2, 1), 0, 0),
        ((2, 2, 1), 1, 1),
        ((2, 2, 1), 2, 0),
        ((1, 2, 2), 0, 1),
        ((2, 1, 2), 1, 2),
        ((2, 2, 2), 2, 2),
        ((2, 2, 2), 1, 1),
    ],
)
def test_first_control_of_several_at_once(drops: Numbers, first: int, owner: int) -> None:
    """Ruling 5.4: the player with most drops; if tied, the first clockwise from the First Player. All drops stay."""
    state = rained((0, 0, 0), drops, **ending_with(first))
    assert controller(state) == owner
    assert by_seat(state, "points") == tuple(2 * (seat == owner) for seat in range(3))
    assert on_tile(state, "b2") == drops
    assert by_seat(state, "supply") == tuple(20 - number for number in drops)


def test_first_control_by_an_overflow() -> None:
    """Primula, Overflowing: a cloud that overflows waters it."""
    state = acting("sun", {"b2": primrose(tokens=2, cloud=(1, 5))})
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (3, 5)
    assert controller(state) == 1
    assert by_seat(state, "points") == (0, 4)


def test_watering_what_one_controls_gains_nothing() -> None:
    """Primula: points come only with a change of control."""
    state = acting("rain", {"b2": primrose((1,), tokens=3, cloud=(2,))})
    assert on_tile(state, "b2") == (2, 0)
    assert controller(state) == 0
    assert by_seat(state, "points") == (0, 0)


# --- changes of control --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [1, 2, 3, 4])
def test_change_of_control_by_a_rain_action(tokens: int) -> None:
    """Primula 1 to 3: a player with more drops takes control, for 2 points a bloom token; drops go back."""
    state = acting("rain", {"b2": primrose((1, 1), tokens=tokens, cloud=(2,))}, **owned_by(1))
    assert controller(state) == 0
    assert by_seat(state, "points") == (2 * tokens, 0)
    assert on_tile(state, "b2") == (2, 0)
    assert by_seat(state, "supply") == (17, 20)


def test_change_of_control_waits_for_both_drops_of_a_rain_action() -> None:
    """Primula; ruling 2.6: the two drops of a Rain action fall together before control is checked."""
    field = {"b2": primrose((1, 1), cloud=(2,)), "b1": tile(cloud=(2,))}
    state = play(acting("rain", field, **owned_by(1)), "drop b2 own")
    assert asked(state) == ("rain_second_drop", 0)
    assert (controller(state), by_seat(state, "points")) == (1, (0, 0))
    for second in ("drop b1 own", "decline"):
        after = play(state, second)
        assert (controller(after), by_seat(after, "points"), on_tile(after, "b2")) == (0, (2, 0), (2, 0))


def test_as_many_drops_change_nothing() -> None:
    """Primula: a change needs more drops than the controller has."""
    state = acting("rain", {"b2": primrose((1, 2), cloud=(2,))})
    assert controller(state) == 1
    assert by_seat(state, "points") == (0, 0)
    assert on_tile(state, "b2") == (2, 2)


def test_drops_of_others_stay() -> None:
    """Primula 3: only the former owner's drops go back to the supply."""
    state = acting("rain", {"b2": primrose((2, 2, 1), cloud=(1,))}, 3, **owned_by(1))
    assert controller(state) == 0
    assert on_tile(state, "b2") == (3, 0, 1)
    assert by_seat(state, "supply") == (17, 20, 19)
    assert by_seat(state, "points") == (2, 0, 0)


def test_change_of_control_by_anothers_rain_action() -> None:
    """Primula: a Rain action may drop another player's drop, which changes control to that player."""
    field = {"b2": primrose((1, 1), cloud=(1, 1))}
    state = play(acting("rain", field, **owned_by(0)), "drop b2 1st to the left")
    assert controller(state) == 1
    assert by_seat(state, "points") == (0, 2)
    assert on_tile(state, "b2") == (0, 2)
    assert cloud(state, "b2") == ("light", 1, 0)


@pytest.mark.parametrize(
    ("before", "poured", "owner", "lies"),
    [
        ((2, 0), (0, 3), 1, (0, 3)),
        ((2, 0), (1, 3), 0, (3, 3)),
        ((2, 1), (1, 3), 1, (0, 4)),
        ((2, 0), (0, 2), 0, (2, 2)),
    ],
)
def test_change_of_control_by_rain_weather(before: Numbers, poured: Numbers, owner: int, lies: Numbers) -> None:
    """Primula: all drops of a cloud pour together before control is checked."""
    state = rained(before, poured, tokens=2)
    assert controller(state) == owner
    assert on_tile(state, "b2") == lies
    assert by_seat(state, "points") == ((0, 4) if owner else (0, 0))
    assert by_seat(state, "supply") == (20 - lies[0], 20 - lies[1])


def test_change_of_control_by_an_overflow() -> None:
    """Primula: an overflow by a Sun action or Sun weather."""
    state = acting("sun", {"b2": primrose((0, 3), cloud=(6,))})
    assert controller(state) == 0
    assert on_tile(state, "b2") == (8, 0)
    assert by_seat(state, "points") == (2, 0)
    state = weather("sun", "rain", field={"b2": primrose((3,), cloud=(0, 4))})
    assert controller(state) == 1
    assert on_tile(state, "b2") == (0, 8)
    assert by_seat(state, "points") == (0, 2)


def test_change_of_control_by_a_merge() -> None:
    """Primula: an overflow after a Wind action merged two clouds."""
    field = {"b1": tile(cloud=(4,)), "b2": primrose((0, 3), cloud=(0, 4))}
    state = play(acting("wind", field), "move south")
    assert controller(state) == 1, "3 + 4 drops against 4"
    assert on_tile(state, "b2") == (4, 7)
    field = {"b1": tile(cloud=(5,)), "b2": primrose((0, 1), cloud=(0, 3))}
    state = play(acting("wind", field), "move south")
    assert controller(state) == 0
    assert on_tile(state, "b2") == (5, 0)
    assert by_seat(state, "points") == (2, 0)


def test_change_of_control_by_a_drop_that_wind_weather_brings() -> None:
    """Primula: Wind weather moves a drop there; the change comes at once, before the next player's move."""
    field = {"b2": primrose((1, 1)), "b1": tile("grass", (0, 1)), "a3": tile("grass", (1,))}
    state = play(weather("sun", "wind", field=field, **owned_by(0)), "drop b1 own", "move south")
    assert asked(state) == ("wind_weather_drop", 0)
    assert controller(state) == 1
    assert on_tile(state, "b2") == (0, 2)
    assert by_seat(state, "points") == (0, 2)
    assert legal_names(state) == {"drop b2 1st to the left", "drop a3 own"}


def test_change_of_control_by_a_drop_that_wind_weather_takes() -> None:
    """Primula: control also changes if the controller is left with fewer drops than another player."""
    field = {"b2": primrose((2, 2)), "a3": tile("grass", (1,))}
    state = play(weather("sun", "wind", field=field, **owned_by(0)), "drop b2 1st to the left", "move north")
    assert controller(state) == 1
    assert on_tile(state, "b2") == (0, 2)
    assert on_tile(state, "b1") == (1, 0)
    assert by_seat(state, "points") == (0, 2)
    assert by_seat(state, "supply") == (18, 18)


SPENT = {"b1": tile(cloud=(1,)), "a2": tile(cloud=(7,)), "a3": tile(cloud=(7,))}
"""15 drops of player_0 in clouds."""


def test_change_of_control_by_a_short_supply_for_sun() -> None:
    """Primula, Sun action: a controller with a short supply takes drops from the Primrose and loses control."""
    field = {**SPENT, "b2": primrose((3, 2)), "c1": tile("grass", (2,))}
    state = play(acting("sun", field), "tile b1")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("b2", "c1")
    state = play(state, "tile b2")
    assert (on_tile(state, "b2"), controller(state)) == ((2, 2), 0)
    state = play(state, "tile b2")
    assert cloud(state, "b1") == ("light", 3, 0)
    assert controller(state) == 1
    assert on_tile(state, "b2") == (0, 2)
    assert by_seat(state, "points") == (0, 2)
    assert by_seat(state, "supply") == (1, 18), "the last drop goes back to the supply"


def test_change_of_control_between_two_drops_for_sun() -> None:
    """Primula 3, Sun action: taking the first drop changes control, so the owner's other drops go back.

    The Sun action still adds two drops to the cloud, and no drop gets lost.
    """
    field = {**SPENT, "b2": primrose((3, 3)), "c1": tile("grass", (2,))}
    state = play(acting("sun", field, **owned_by(0)), "tile b1", "tile b2")
    while asked(state)[0] == "take_drop":
        state = play(state, "tile c1")
    assert asked(state) == ("vote", 0)
    assert cloud(state, "b1") == ("light", 3, 0)
    assert (controller(state), on_tile(state, "b2")) == (1, (0, 3))
    assert by_seat(state, "points") == (0, 2)
    assert int(state["supply"][0]) + on_tile(state, "c1")[0] + 3 + 7 + 7 == 20


def test_change_of_control_by_a_short_supply_for_sun_weather() -> None:
    """Primula, Sun Weather: drops to double a cloud come from the Primrose."""
    spent = {"b1": tile(cloud=(2,)), "a2": tile(cloud=(7,)), "a3": tile(cloud=(7,))}
    field = {**spent, "b2": primrose((2, 1)), "c1": tile("grass", (2,))}
    state = weather("frost", "sun", field=field)
    assert legal_names(state) == tiles("b1") | {"decline"}
    state = play(state, "tile b1", "tile b2", "tile b2")
    assert cloud(state, "b1") == ("thunder", 4, 0)
    assert (controller(state), on_tile(state, "b2")) == (1, (0, 1))
    assert by_seat(state, "points") == (0, 2)


def test_change_of_control_by_a_short_supply_for_frost() -> None:
    """Primula, Frost action: control also changes if the drop comes from the Primrose."""
    field = {**SPENT, "b2": primrose((1, 1)), "c1": tile("grass", (4,))}
    state = play(acting("frost", field, **owned_by(0)), "tile b3", "tile b2")
    assert cloud(state, "b3") == ("light", 1, 0)
    assert controller(state) == 1
    assert on_tile(state, "b2") == (0, 1)
    assert by_seat(state, "points") == (0, 2)


def test_control_stays_without_drops_until_somebody_has_more() -> None:
    """Primula: the controller keeps control until another player has more drops, even without drops there."""
    field = {"b2": primrose((1,)), "a3": tile("grass", (0, 1))}
    state = play(weather("sun", "wind", field=field), "drop b2 1st to the left", "move north")
    assert on_tile(state, "b2") == (0, 0)
    assert controller(state) == 0
    own = acting("rain", {"b2": primrose(cloud=(1,))}, **owned_by(0))
    assert (controller(own), by_seat(own, "points")) == (0, (0, 0))
    another = acting("rain", {"b2": primrose(cloud=(1,))}, **owned_by(1))
    assert (controller(another), by_seat(another, "points")) == (0, (2, 0))


# --- several at once -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("owner", "before", "poured", "gains", "lies"),
    [
        (0, (1, 0, 0), (0, 2, 2), (1,), (0, 2, 2)),
        (0, (1, 0, 0), (0, 3, 2), (1,), (0, 3, 2)),
        (0, (1, 0, 0), (1, 3, 2), (1,), (0, 3, 2)),
        (1, (0, 1, 0), (2, 0, 2), (2,), (2, 0, 2)),
        (1, (0, 1, 0), (2, 0, 3), (2,), (2, 0, 3)),
        (2, (0, 0, 1), (2, 2, 0), (0,), (2, 2, 0)),
        (2, (0, 0, 1), (3, 2, 0), (0,), (3, 2, 0)),
        (1, (0, 1, 0, 0), (2, 0, 0, 2), (3,), (2, 0, 0, 2)),
        (3, (0, 0, 0, 1), (0, 2, 2, 0), (1,), (0, 2, 2, 0)),
        (4, (0, 0, 0, 0, 1), (1, 0, 3, 3, 0), (2,), (1, 0, 3, 3, 0)),
    ],
)
def test_of_several_the_nearest_takes_control(
    owner: int, before: Numbers, poured: Numbers, gains: Numbers, lies: Numbers
) -> None:
    """Primula, Nota; ruling 5.4: if several exceed the owner, the nearest clockwise from the owner takes control."""
    state = rained(before, poured, tokens=2, **owned_by(owner))
    assert controller(state) == gains[-1]
    assert by_seat(state, "points") == tuple(4 * (seat in gains) for seat in range(len(before)))
    assert on_tile(state, "b2") == lies
    assert by_seat(state, "supply") == tuple(20 - number for number in lies)


@pytest.mark.parametrize(
    ("owner", "before", "poured", "gains", "lies"),
    [
        (0, (1, 0, 0), (0, 2, 3), (1, 2), (0, 0, 3)),
        (1, (0, 1, 0), (3, 0, 2), (2, 0), (3, 0, 0)),
        (2, (0, 0, 1), (2, 3, 0), (0, 1), (0, 3, 0)),
        (0, (1, 1, 1, 1), (0, 1, 2, 3), (1, 2, 3), (0, 0, 0, 4)),
        (0, (1, 1, 1, 1), (0, 1, 3, 2), (1, 2), (0, 0, 4, 3)),
    ],
)
def test_it_is_looked_at_again_after_a_change(
    owner: int, before: Numbers, poured: Numbers, gains: Numbers, lies: Numbers
) -> None:
    """Primula: if anybody has more drops than the new controller, control changes again: several gain in turn."""
    state = rained(before, poured, tokens=2, **owned_by(owner))
    assert controller(state) == gains[-1]
    assert by_seat(state, "points") == tuple(4 * (seat in gains) for seat in range(len(before)))
    assert on_tile(state, "b2") == lies
    assert by_seat(state, "supply") == tuple(20 - number for number in lies)


def test_several_players_gain_in_one_round() -> None:
    """Primula: several players may gain in one round, by changes in the Action Phase and the Weather Phase. player_1's
    Rain action takes control; Rain weather gives it back to player_0.
    """
    field = {"b2": primrose((1, 1), tokens=2, cloud=(4, 2))}
    votes = {"frost": (2,), "rain": (2,)}
    state = last_turn(hands=("", "rain"), field=field, votes=votes, modules=FLOWERS, **owned_by(0))
    state = play(state, "play rain", "drop b2 own")
    assert controller(state) == 1
    assert by_seat(state, "points") == (0, 4)
    assert on_tile(state, "b2") == (0, 2)
    state = play(state, "vote rain")
    assert state["round"] == 2
    assert controller(state) == 0
    assert by_seat(state, "points") == (4, 4)
    assert on_tile(state, "b2") == (4, 0)


def test_a_former_owner_gains_again() -> None:
    """Primula: every change of control scores, also for a former owner in the same Wind weather."""
    field = {"b2": primrose((1, 1, 0)), "a2": tile("grass", (1,))}
    state = weather("sun", "wind", players=3, field=field, **owned_by(0))
    state = play(state, "drop b2 1st to the left", "move north")
    assert (controller(state), by_seat(state, "points")) == (1, (0, 2, 0))
    state = play(state, "drop b2 own", "move north")
    assert (controller(state), on_tile(state, "b2")) == (1, (0, 0, 0))
    state = play(state, "drop a2 own", "move east")
    assert (controller(state), on_tile(state, "b2")) == (0, (1, 0, 0))
    assert by_seat(state, "points") == (2, 2, 0)


# --- never grown, never harvested ----------------------------------------------------------------------------------


@pytest.mark.parametrize("drops", [(1, 0), (9, 8), (5, 2)])
def test_primrose_never_grows(drops: Numbers) -> None:
    """Primula: it never gets a growing token."""
    state = game(field={"b2": primrose(drops)}, modules=FLOWERS)
    assert growing(state, "b2") == "none"
    for kinds in (("frost", "sun"), ("sun", "rain"), ("frost", "rain")):
        assert growing(weather(*kinds, field={"b2": primrose(drops, cloud=(1,), thunder=True)}), "b2") == "none"


@pytest.mark.parametrize(("drops", "owner"), [((5, 3), 0), ((2, 2), 1), ((0, 1), 1)])
def test_drops_and_control_stay_after_a_harvest(drops: Numbers, owner: int) -> None:
    """Primula: the Harvest Phase neither scores it nor removes its drops, and control stays."""
    state = harvested(2, {"b2": primrose(drops)}, modules=FLOWERS, **owned_by(owner))
    assert state["round"] == 2
    assert on_tile(state, "b2") == drops
    assert controller(state) == owner
    assert by_seat(state, "points") == (0, 0)
    assert blooms(state, "b2") == 2


def test_final_harvest_scores_nothing_for_it() -> None:
    """Primula: it is too beautiful to be harvested, even in the last round."""
    state = resolving(field={"b2": primrose((3, 1)), "b1": tile("cotton", (0, 2))}, modules=FLOWERS, round=4)
    assert over(state)
    assert by_seat(state, "points") == (0, 5)
    assert on_tile(state, "b2") == (3, 1)


def test_changes_before_the_harvest_score_the_tokens_of_before() -> None:
    """Primula: points are gained immediately; the new token comes at the end of the Harvest Phase."""
    state = rained((1, 0), (0, 2), tokens=1, dice=["harvest"] * 3)
    assert by_seat(state, "points") == (0, 2)
    assert blooms(state, "b2") == 2


def test_wind_weather_to_and_fro_without_more_drops() -> None:
    """Primula: Wind weather that moves drops elsewhere changes nothing."""
    field = {"b2": primrose((2, 1)), "a3": tile("grass", (0, 1))}
    state = wind_blows(weather("sun", "wind", field=field), "a3", owner=1)
    assert (controller(state), on_tile(state, "b2"), by_seat(state, "points")) == (0, (2, 1), (0, 0))


# --- Fertilizer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [1, 4])
def test_fertilizer_adds_one_at_each_scoring(tokens: int) -> None:
    """Fertilizer tokens: every change of control scores one more point on the Primrose, also the first."""
    elsewhere = {"c1": tile("grass", fertilizer=True), "a3": tile("grass", fertilizer=True)}
    modules = ("fertilizer", "flower_tiles")
    for before in ((), (0, 1)):
        there = primrose(before, tokens=tokens, cloud=(2,), thunder=True, fertilizer=True)
        state = resolving("frost", "rain", field={"b2": there, **elsewhere}, modules=modules)
        assert by_seat(state, "points") == (2 * tokens + 1, 0)
    there = primrose((0, 1), tokens=tokens, cloud=(2,), thunder=True)
    elsewhere = {name: tile(fertilizer=True) for name in ("b1", "a2", "c2")}
    state = resolving("frost", "rain", field={"b2": there, **elsewhere}, modules=modules)
    assert by_seat(state, "points") == (2 * tokens, 0)


def test_fertilizer_counts_for_each_of_several_changes() -> None:
    """Fertilizer tokens: each player who gains in turn scores one more."""
    field = {
        "b2": primrose((1, 0, 0), tokens=2, cloud=(0, 2, 3), fertilizer=True),
        "c1": tile("grass", fertilizer=True),
        "a3": tile("grass", fertilizer=True),
    }
    state = resolving("frost", "rain", players=3, field=field, modules=("fertilizer", "flower_tiles"))
    assert by_seat(state, "points") == (0, 5, 5)


def test_fertilizer_gives_nothing_at_a_harvest() -> None:
    """Fertilizer tokens, Primula: the Primrose isn't harvested, so it scores nothing then."""
    field = {
        "b2": primrose((3, 1), fertilizer=True),
        "c1": tile("grass", fertilizer=True),
        "a3": tile("grass", fertilizer=True),
    }
    assert by_seat(harvested(2, field, modules=("fertilizer", "flower_tiles")), "points") == (0, 0)


# --- random games --------------------------------------------------------------------------------------------------


def test_primrose_in_random_games() -> None:
    """Primula: nobody has more drops than the controller; every change of control scores 2 points a bloom token."""
    changes = 0
    for before, after in random_play(
        Config(players=5, modules=("flower_tiles", "powers")), games(50, 100), 600, seed=13
    ):
        for old, new in zip(before, after, strict=True):
            (found,) = np.nonzero(new["crop"] == Crop.PRIMROSE)
            if not len(found):
                continue
            at = found[0]
            owner, drops = controller(new), new["drops"][at]
            assert new["growing"][at] == 0
            assert 1 <= new["blooms"][at] <= 4
            assert not drops.any() if owner == NOBODY else drops.max() == drops[owner]
            same_game = new["round"] >= old["round"] and new["phase"] != Phase.SETUP != old["phase"]
            if not same_game or new["phase"] != old["phase"] or new["round"] != old["round"]:
                continue
            assert old["blooms"][at] == new["blooms"][at]
            gained = (new["points"] - old["points"]).tolist()
            if asked(old)[0] == "vote" and sum(gained) in (1, 2) and owner == controller(old):
                continue  # a Harvest die
            worth = 2 * int(new["blooms"][at])
            if new["phase"] == Phase.ACTION or new["phase"] == Phase.WEATHER:
                if owner == controller(old):
                    assert not any(gained)
                else:
                    changes += 1
                    assert gained[owner] == worth
                    assert set(gained) <= {0, worth}
                    former = controller(old)
                    if former != NOBODY:
                        assert drops[former] == 0
    assert changes > 80
