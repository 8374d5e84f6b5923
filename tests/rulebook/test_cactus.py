"""Kickstarter Promos, New tiles: The Maltese Cactus."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import CROP_NAMES, Crop, State
from tabletop_engine.errors import ScenarioError
from tests.rulebook.base_game import (
    Numbers,
    asked,
    by_seat,
    cloud,
    crop,
    end_round,
    game,
    growing,
    hand,
    last_turn,
    legal_names,
    on_tile,
    over,
    tile,
    tiles,
    with_seeds,
)
from tests.rulebook.modules import frequency, harvest
from tests.rulebook.southern_winds import TILES as SOLO_TILES
from tests.rulebook.southern_winds import Pair, act, by_die, neutral_turn, pair, solo, target, tile_drops
from tests.rulebook.southern_winds import growing as solo_growing
from tests.support.play import play

CACTUS = ["cactus"]
FROST_AND_RAIN = {"frost": (1,), "rain": (1,)}
FROST_AND_WIND = {"frost": (1,), "wind": (1,)}


def token(total: int) -> str:
    """The token that so many drops bring to a tile without one."""
    return "none" if total < 2 else "developed" if total < 4 else "drowned"


# --- New tiles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "share"), [(1, 6 / 15), (2, 7 / 15), (3, 9 / 17), (4, 12 / 17), (5, 16 / 17)])
def test_shuffled_in_with_the_other_tiles(players: int, share: float) -> None:
    """New tiles; ruling 4.4: the field is drawn from a pile with one more tile (2 players: without Corn)."""
    assert frequency(Batch(Config(players=players, modules=("cactus",)), 1000, seed=5), Crop.CACTUS) == pytest.approx(
        share, abs=0.07
    )


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_anywhere_on_the_field(players: int) -> None:
    """New tiles: the tiles are shuffled, so the Cactus can lie on every position."""
    found = Batch(Config(players=players, modules=("cactus",)), 600, seed=3).states["crop"]
    on_field = (found >= 0).any(axis=0)
    assert ((found == Crop.CACTUS).any(axis=0) == on_field).all()


@pytest.mark.parametrize("players", [1, 2, 5])
def test_without_the_module(players: int) -> None:
    """Kickstarter Promos: the game is fully playable without them; then it has no Cactus."""
    assert frequency(Batch(Config(players=players), 300, seed=1), Crop.CACTUS) == 0


# --- growing and drowning ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 2), (3, 0), (0, 4), (3, 4)])
def test_drop_by_drop(before: Numbers) -> None:
    """The Cactus develops with 2 drops and drowns with 4, of any players. Here a Rain action brings one drop."""
    state = game(hands=("rain", "frost"), field={"b2": tile("cactus", before, cloud=(2,))}, modules=CACTUS)
    assert crop(state, "b2") == "cactus"
    assert growing(state, "b2") == token(sum(before))
    state = play(state, "play rain")
    assert on_tile(state, "b2") == (before[0] + 1, before[1])
    assert growing(state, "b2") == token(sum(before) + 1)


@pytest.mark.parametrize("poured", [(1, 0), (1, 1), (3, 0), (1, 2), (4, 0), (2, 2), (3, 4)])
def test_in_one_go(poured: Numbers) -> None:
    """The Cactus: drops that Rain weather pours count together: 2 or 3 develop it, 4 or more drown it."""
    state = end_round(field={"b2": tile("cactus", cloud=poured)}, votes=FROST_AND_RAIN, modules=CACTUS)
    assert on_tile(state, "b2") == poured
    assert growing(state, "b2") == token(sum(poured))


@pytest.mark.parametrize("players", [3, 4])
def test_the_total_of_all_players(players: int) -> None:
    """Growing Crops: the total of all players' drops."""
    each = (1,) * players
    state = end_round(players, field={"b2": tile("cactus", cloud=each)}, votes=FROST_AND_RAIN, modules=CACTUS)
    assert growing(state, "b2") == token(players)


def test_poured_on_a_developed_cactus() -> None:
    """The Cactus: a developed Cactus that reaches 4 drops drowns."""
    state = end_round(field={"b2": tile("cactus", (1, 1), cloud=(0, 2))}, votes=FROST_AND_RAIN, modules=CACTUS)
    assert growing(state, "b2") == "drowned"


def test_overflow_drowns_it() -> None:
    """The Cactus: 8 drops of an overflowing cloud, by a Sun action or Sun weather."""
    state = game(hands=("sun", "frost"), field={"b2": tile("cactus", cloud=(6,))}, modules=CACTUS)
    assert growing(play(state, "play sun"), "b2") == "drowned"
    votes = {"frost": (1,), "sun": (1,)}
    state = end_round(field={"b2": tile("cactus", cloud=(4,))}, votes=votes, modules=CACTUS)
    assert on_tile(state, "b2") == (8, 0)
    assert growing(state, "b2") == "drowned"


def test_needs_no_weather_to_develop() -> None:
    """Growing Crops: only Rice and Coffee sprout first; neither Sun nor Rain weather changes the Cactus' token."""
    for weather in ("sun", "rain"):
        for drops, side in (((1, 1), "developed"), ((2, 2), "drowned"), ((1, 0), "none")):
            votes = {"frost": (1,), weather: (1,)}
            state = end_round(field={"b2": tile("cactus", drops)}, votes=votes, modules=CACTUS)
            assert growing(state, "b2") == side


# --- staying drowned, drying out -----------------------------------------------------------------------------------


def windy(drops: Numbers, side: str | None = None) -> State:
    """player_1's move in Wind weather: a Cactus on b2, a drop of each player on b1."""
    field = {"b2": tile("cactus", drops, growing=side), "b1": tile("grass", (1, 1))}
    state = end_round(field=field, votes=FROST_AND_WIND, modules=CACTUS)
    assert asked(state) == ("wind_weather_drop", 1)
    return state


def test_the_wind_drowns_it() -> None:
    """Wind Weather: a 4th drop is blown onto the Cactus; ruling 4.2: it stays drowned when that drop leaves."""
    state = play(windy((3, 0)), "drop b1 own", "move south")
    assert growing(state, "b2") == "drowned"
    assert on_tile(state, "b2") == (3, 1)
    state = play(state, "drop b2 1st to the left", "move south")
    assert on_tile(state, "b2") == (3, 0)
    assert growing(state, "b2") == "drowned"


def test_the_wind_develops_it_and_dries_it_out() -> None:
    """Wind Weather: a developed Cactus dries out below 2 drops, and develops again."""
    state = play(windy((1, 1)), "drop b2 own", "move south")
    assert growing(state, "b2") == "none"
    state = play(state, "drop b1 own", "move south")
    assert on_tile(state, "b2") == (2, 0)
    assert growing(state, "b2") == "developed"


@pytest.mark.parametrize("drops", [(3, 0), (2, 1), (2, 2), (5, 0)])
def test_stays_drowned_with_two_drops_or_more(drops: Numbers) -> None:
    """Ruling 4.2: a drowned Cactus stays drowned until its token is removed."""
    state = play(windy(drops, "drowned"), "drop b2 1st to the left", "move south")
    assert sum(on_tile(state, "b2")) == sum(drops) - 1
    assert growing(state, "b2") == "drowned"


def test_a_drowned_cactus_dries_out_and_grows_afresh() -> None:
    """Growing Crops; ruling 4.2: below 2 drops it loses its token, whichever side shows; 2 drops develop it again."""
    state = play(windy((1, 1), "drowned"), "drop b2 1st to the left", "move south")
    assert on_tile(state, "b2") == (0, 1)
    assert growing(state, "b2") == "none"
    state = play(state, "drop b1 own", "move south")
    assert on_tile(state, "b2") == (1, 1)
    assert growing(state, "b2") == "developed"


def short_supply(cactus: dict[str, Any], kind: str) -> State:
    """player_0 acts with an empty supply: 14 drops in clouds on c1 and a3, 6 on the Cactus (b2) and grass (b3)."""
    own = cactus["drops"].get("player_0", 0)
    field = {"c1": tile(cloud=(7,)), "a3": tile(cloud=(7,)), "b2": cactus, "b3": tile("grass", (6 - own,))}
    return play(game(hands=(kind, "frost"), field=field, modules=CACTUS), f"play {kind}")


@pytest.mark.parametrize(
    ("drops", "side", "left"),
    [
        ((4, 0), "drowned", "drowned"),
        ((1, 2), "drowned", "drowned"),
        ((1, 1), "drowned", "none"),
        ((2, 0), "developed", "none"),
        ((3, 0), "developed", "developed"),
    ],
)
def test_giving_a_drop_up(drops: Numbers, side: str, left: str) -> None:
    """Frost action: the drop comes from the Cactus; ruling 4.2 and Growing Crops."""
    state = play(short_supply(tile("cactus", drops, growing=side), "frost"), "tile b1")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("b2", "b3")
    assert growing(play(state, "tile b2"), "b2") == left


def test_drying_out_between_two_drops_taken() -> None:
    """Ruling 2.7: crops dry out immediately; here a drowned Cactus with 3 drops gives two up, one by one."""
    state = short_supply(tile("cactus", (3, 0), growing="drowned"), "sun")
    state = play(state, "tile c1", "tile b2")
    assert growing(state, "b2") == "drowned"
    state = play(state, "tile b2")
    assert on_tile(state, "b2") == (1, 0)
    assert growing(state, "b2") == "none"
    assert cloud(state, "c1") is None


# --- harvest -------------------------------------------------------------------------------------------------------


def scores(drops: Numbers, **described: Any) -> Numbers:
    """Points by seat of harvesting a Cactus, which leaves it empty."""
    players = len(drops)
    state = harvest(players, {"b2": tile("cactus", drops, **described)}, modules=CACTUS)
    assert on_tile(state, "b2") == (0,) * players
    assert growing(state, "b2") == "none"
    assert by_seat(state, "supply") == (20,) * players
    return by_seat(state, "points")


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((2, 1), (6, 3)),
        ((0, 3), (0, 6)),
        ((2, 0), (6, 0)),
        ((1, 1), (3, 3)),
        ((1, 0, 2), (3, 0, 6)),
        ((1, 1, 1), (1, 1, 1)),
        ((1, 0, 1, 1), (1, 0, 1, 1)),
    ],
)
def test_developed_scores(drops: Numbers, points: Numbers) -> None:
    """Rulings 1: developed 6/3/1/0 by place, with the usual ties."""
    assert scores(drops) == points


@pytest.mark.parametrize(
    ("drops", "points"),
    [
        ((3, 1), (2, 1)),
        ((1, 3), (1, 2)),
        ((4, 0), (2, 0)),
        ((2, 2), (1, 1)),
        ((3, 2, 1), (2, 1, 1)),
        ((2, 2, 1), (1, 1, 1)),
        ((4, 3, 2, 1), (2, 1, 1, 0)),
        ((1, 1, 1, 1), (0, 0, 0, 0)),
    ],
)
def test_drowned_scores(drops: Numbers, points: Numbers) -> None:
    """The Cactus; rulings 1: drowned 2/1/1/0, lower for the two players with the most drops."""
    assert scores(drops) == points


@pytest.mark.parametrize(("drops", "points"), [((2, 1), (2, 1)), ((2, 0), (2, 0)), ((1, 1), (1, 1))])
def test_drowned_scores_with_fewer_drops(drops: Numbers, points: Numbers) -> None:
    """Ruling 4.2: with 2 or 3 drops left a drowned Cactus is still harvested as drowned."""
    assert scores(drops, growing="drowned") == points


@pytest.mark.parametrize(("poured", "points"), [((3, 1), (2, 1)), ((2, 1), (6, 3)), ((1, 0), (0, 0))])
def test_harvest_after_rain(poured: Numbers, points: Numbers) -> None:
    """The Cactus: what Rain weather poured counts in the Harvest of the round, and may have drowned it."""
    state = harvest(2, {"b2": tile("cactus", cloud=poured)}, modules=CACTUS)
    assert by_seat(state, "points") == points


def test_not_harvested_with_one_drop() -> None:
    """Scoring: without a token the Cactus isn't harvested and keeps its drop."""
    state = harvest(2, {"b2": tile("cactus", (1, 0))}, modules=CACTUS)
    assert by_seat(state, "points") == (0, 0)
    assert on_tile(state, "b2") == (1, 0)


def test_harvest_takes_the_token() -> None:
    """Scoring; ruling 4.2: the Harvest takes the token, so 2 later drops develop the Cactus again."""
    field = {"b2": tile("cactus", (2, 2), cloud=(1, 1))}
    before = last_turn(field=field, votes={"frost": (1,), "sun": (1,)}, dice=["harvest"] * 3, modules=CACTUS)
    after = next(state for state in with_seeds(before, 50, "pass") if all("rain" in hand(state, i) for i in (0, 1)))
    assert by_seat(after, "points") == (1, 1)
    assert growing(after, "b2") == "none"
    assert cloud(after, "b2") == ("thunder", 2, 2)
    sides = []
    for turn in range(2):
        seat = (int(after["first_player"]) + turn) % 2
        after = play(after, "play rain", "drop b2 own", "vote rain")
        sides.append(growing(after, "b2"))
        if asked(after) == ("optional_action", seat):
            after = play(after, "decline")
    assert on_tile(after, "b2") == (1, 1)
    assert sides == ["none", "developed"]


# --- solo ----------------------------------------------------------------------------------------------------------

PRIORITIES = (
    *("cotton", "grass", "cotton", "potato", "potato", "cactus", "wheat", "grass"),
    *("wheat", "cotton", "grass", "wheat", "rice", "coffee", "coffee"),
)
"""Ascending: RULINGS 1, with the Cactus at 5.5."""
CROPS = ("cotton", "potato", "cactus", "wheat", "grass", "coffee")
"""P3 is the Cactus."""


def solo_fields(**switches: Any) -> list[tuple[str, ...]]:
    found = Batch(Config(modules=("cactus",), **switches), 1500, seed=4).states["crop"][:, SOLO_TILES]
    return [tuple(CROP_NAMES[number] for number in row) for row in found]


def in_order(field: tuple[str, ...], order: tuple[str, ...]) -> bool:
    remaining = iter(order)
    return all(name in remaining for name in field)


def test_solo_priority() -> None:
    """The Cactus, note: solo priority 5.5, higher than the Potato's but lower than one of the Wheat's."""
    fields = solo_fields()
    assert all(in_order(field, PRIORITIES) for field in fields)
    with_cactus = [field for field in fields if "cactus" in field]
    assert {name for field in with_cactus for name in field[: field.index("cactus")]} == {"cotton", "grass", "potato"}
    after = {name for field in with_cactus for name in field[field.index("cactus") + 1 :]}
    assert after == {"wheat", "grass", "cotton", "rice", "coffee"}
    assert any(field[field.index("cactus") - 1] == "potato" for field in with_cactus)
    assert any(field[field.index("cactus") + 1 :][:1] == ("wheat",) for field in with_cactus)


def test_no_more_tricks_keeps_it() -> None:
    """Ruling 3.8: with "No More Tricks" Wheat and Potato leave the pile; the Cactus stays: 6 of 10 tiles."""
    fields = solo_fields(variants=("no_more_tricks",))
    assert {name for field in fields for name in field} == {"cotton", "grass", "cactus", "rice", "coffee"}
    order = tuple(name for name in PRIORITIES if name not in ("wheat", "potato"))
    assert all(in_order(field, order) for field in fields)
    assert sum("cactus" in field for field in fields) / len(fields) == pytest.approx(6 / 10, abs=0.06)


@pytest.mark.parametrize(
    "crops",
    [
        ("cotton", "cactus", "potato", "wheat", "grass", "coffee"),
        ("cotton", "potato", "wheat", "wheat", "wheat", "cactus"),
        ("cotton", "grass", "wheat", "cactus", "rice", "coffee"),
    ],
)
def test_solo_field_out_of_order(crops: tuple[str, ...]) -> None:
    """The Cactus, note: it lies neither before a Potato nor after a Wheat."""
    with pytest.raises(ScenarioError):
        solo(crops=crops, modules=CACTUS)


def both(drops: Pair) -> dict[str, int]:
    return {owner: number for owner, number in zip(("player_0", "neutral"), drops, strict=True) if number}


def solo_cactus(
    drops: Pair,
    *,
    winds: int = 8,
    side: str | None = None,
    cloud_drops: Pair = (0, 0),
    others: dict[str, dict[str, int]] | None = None,
    **changes: Any,
) -> State:
    """A Cactus on P3 with these drops and cloud, (yours, neutral)."""
    field: dict[str, dict[str, Any]] = {f"P{i}": {"crop": name} for i, name in enumerate(CROPS, 1)}
    field["P3"]["drops"] = both(drops)
    if side is not None:
        field["P3"]["growing"] = side
    if any(cloud_drops):
        field["P3"]["cloud"] = {"drops": both(cloud_drops)}
    for name, owned in (others or {}).items():
        field[name]["drops"] = owned
    return solo(field=field, winds=(winds,), modules=CACTUS, **changes)


@pytest.mark.parametrize(("card", "added"), [(1, 1), (2, 2)])
@pytest.mark.parametrize("before", [(0, 0), (0, 1), (1, 1), (1, 2), (3, 1)])
def test_neutral_drops_on_the_tile(card: int, added: int, before: Pair) -> None:
    """Southern Winds cards 1 and 2: neutral drops count for growing and for drowning."""
    after = by_die(solo_cactus(before, winds=card))[3]
    assert target(after) == 3
    assert tile_drops(after, 3) == (before[0], before[1] + added)
    assert ("none", "sprouting", "developed", "drowned")[solo_growing(after, 3)] == token(sum(before) + added)


@pytest.mark.parametrize(
    ("before", "side", "left"),
    [
        ((1, 3), "drowned", "drowned"),
        ((2, 1), "drowned", "drowned"),
        ((1, 1), "drowned", "none"),
        ((1, 1), "developed", "none"),
        ((2, 1), "developed", "developed"),
    ],
)
def test_card_3_takes_a_drop_of_yours(before: Pair, side: str, left: str) -> None:
    """Southern Winds card 3: the tile may dry out; a drowned Cactus stays drowned with 2 drops (ruling 4.2)."""
    after = neutral_turn(solo_cactus(before, winds=3, side=side))
    assert target(after) == 3
    assert tile_drops(after, 3) == (before[0] - 1, before[1])
    assert ("none", "sprouting", "developed", "drowned")[solo_growing(after, 3)] == left


def test_card_5_makes_a_cloud_overflow_onto_it() -> None:
    """Southern Winds card 5: with its 8th drop the cloud overflows and drowns the Cactus."""
    after = neutral_turn(solo_cactus((0, 0), winds=5, cloud_drops=(3, 4)))
    assert tile_drops(after, 3) == (3, 5)
    assert solo_growing(after, 3) == 3


@pytest.mark.parametrize(("drops", "left"), [((2, 2), 3), ((2, 0), 0), ((1, 1), 0), ((2, 1), 2)])
def test_southern_wind_blows_a_drop_off(drops: Pair, left: int) -> None:
    """Weather phase differences, Wind: one of your drops on P3 goes to P1; for a drowned Cactus see ruling 4.2."""
    votes = {"wind": (3, 0), "frost": (2, 0)}
    state = solo_cactus(drops, winds=4, decision="turn", votes=votes, others={"P6": {"neutral": 1}})
    after = act(state, "pass", "drop b3 1st to the left", "move west")
    assert tile_drops(after, 3) == (drops[0] - 1, drops[1])
    assert tile_drops(after, 1) == (1, 0)
    assert solo_growing(after, 3) == left


@pytest.mark.parametrize(
    ("drops", "points"), [((2, 1), (6, 3)), ((0, 2), (0, 6)), ((1, 1), (3, 3)), ((3, 2), (2, 1)), ((1, 4), (1, 2))]
)
def test_solo_harvest(drops: Pair, points: Pair) -> None:
    """Harvest Phase: the neutral player scores as any player does; the Cactus drowns from 4 drops on."""
    after = act(solo_cactus(drops, decision="turn", round=4), "pass")
    assert over(after)
    assert pair(after, "points") == points
