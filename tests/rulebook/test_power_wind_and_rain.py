"""Flowers, Poteri dei giocatori: Vento and Pioggia. player_0 has the power that is tested."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env.state import Cloud
from tests.rulebook.base_game import (
    FIELDS,
    Numbers,
    asked,
    by_seat,
    cloud,
    clouds,
    end_round,
    growing,
    legal_names,
    moves,
    on_tile,
    tile,
    tiles,
    votes_on,
)
from tests.rulebook.modules import (
    alone,
    controller,
    holding,
    powers,
)
from tests.rulebook.southern_winds import cloud as solo_cloud
from tests.rulebook.southern_winds import tile_drops
from tests.support.play import play

# --- Wind ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_wind_power_moves_a_cloud_to_any_tile(players: int) -> None:
    """Vento: a player's clouds may move more than one space orthogonally, so to any other tile."""
    state = play(holding("wind", "wind", {"b2": tile(cloud=(2, 1))}, players), "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles(*FIELDS[players]) - {"tile b2"}
    for name in FIELDS[players]:
        if name != "b2":
            after = play(state, f"tile {name}")
            assert clouds(after) == {name: ("light", 2, 1, *(0,) * (players - 2))}
            assert asked(after) == ("vote", 0)
            assert legal_names(after) == {"vote wind", "vote rain", "die 4"}


def test_wind_power_chooses_the_cloud_first() -> None:
    """Vento: the player first chooses a cloud with an own drop, as usual."""
    field = {"b1": tile(cloud=(1,)), "a2": tile(cloud=(0, 3)), "b3": tile(cloud=(1, 3))}
    state = play(holding("wind", "wind", field), "play wind")
    assert asked(state) == ("wind_cloud", 0)
    assert legal_names(state) == tiles("b1", "b3")
    state = play(state, "tile b3")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles("b1", "c1", "a2", "b2", "c2", "a3")


def test_wind_power_passes_over_clouds() -> None:
    """Vento: the cloud may pass through other clouds without merging, here one above each neighbouring tile."""
    field = {name: tile(cloud=(0, 4)) for name in ("b1", "a2", "c2")} | {"b3": tile(cloud=(0, 2))}
    state = play(holding("wind", "wind", {**field, "b2": tile(cloud=(3, 1))}), "play wind", "tile c1")
    around = dict.fromkeys(("b1", "a2", "c2"), ("thunder", 0, 4))
    assert clouds(state) == {**around, "b3": ("light", 0, 2), "c1": ("thunder", 3, 1)}
    assert not any(any(on_tile(state, name)) for name in FIELDS[2])


def test_wind_power_merges_at_the_end() -> None:
    """Vento: the cloud merges only on the tile where the movement ends."""
    field = {"b1": tile(cloud=(1,)), "b2": tile(cloud=(0, 1)), "b3": tile(cloud=(0, 2))}
    state = play(holding("wind", "wind", field), "play wind", "tile b3")
    assert clouds(state) == {"b2": ("light", 0, 1), "b3": ("thunder", 1, 2)}


def test_wind_power_overflows_at_the_end() -> None:
    """Vento: the cloud overflows only on the tile where the movement ends."""
    field = {"b1": tile(cloud=(4,)), "b2": tile(cloud=(0, 7)), "b3": tile("rice", cloud=(0, 4))}
    state = play(holding("wind", "wind", field), "play wind", "tile b3")
    assert clouds(state) == {"b2": ("thunder", 0, 7)}
    assert on_tile(state, "b3") == (4, 4)
    assert growing(state, "b3") == "sprouting"


def test_wind_power_overflows_onto_flowers() -> None:
    """Vento; Primula, Bucaneve: drops that pour at the end water the Primrose, and go back from the closed Snowdrop."""
    field = {
        "b1": tile(cloud=(5, 1)),
        "b3": tile("primrose", (0, 1), cloud=(0, 2)),
        "c2": tile("snowdrop", blooms=0, cloud=(0, 2)),
        "b2": tile(cloud=(0, 5)),
    }
    start = holding("wind", "wind", field, modules=("flower_tiles",))
    state = play(start, "play wind", "tile b3")
    assert (controller(state), on_tile(state, "b3"), by_seat(state, "points")) == (0, (5, 0), (2, 0))
    assert clouds(state) == {"c2": ("light", 0, 2), "b2": ("thunder", 0, 5)}
    state = play(start, "play wind", "tile c2")
    assert on_tile(state, "c2") == (0, 0)
    assert by_seat(state, "supply") == (20, 20 - 1 - 2 - 5)


def test_wind_power_in_the_optional_action_too() -> None:
    """Setup: powers can be used any number of times."""
    state = holding("wind", "wind wind wind", {"b1": tile(cloud=(1,))})
    state = play(state, "play wind", "tile b3", "vote wind", "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert clouds(play(state, "tile c1")) == {"c1": ("light", 1, 0)}


def test_wind_power_onto_the_lake() -> None:
    """The Lake: a cloud moved onto it gets three drops of the mover; ruling 4.3: or what the supply has."""
    field = {"c1": tile("lake"), "b3": tile(cloud=(1, 1)), "c2": tile(cloud=(0, 1))}
    state = play(holding("wind", "wind", field, modules=("lake",)), "play wind", "tile c1")
    assert clouds(state) == {"c1": ("thunder", 4, 1), "c2": ("light", 0, 1)}
    assert by_seat(state, "supply") == (16, 18)
    spent = {**field, "b1": tile("grass", (9,)), "b2": tile("rice", (8,))}
    state = play(holding("wind", "wind", spent, modules=("lake",)), "play wind", "tile c1")
    assert cloud(state, "c1") == ("thunder", 3, 1)
    assert by_seat(state, "supply")[0] == 0


def test_wind_power_from_the_lake_and_across_it() -> None:
    """The Lake, Vento: a cloud moves from there to any other tile; passing over the Lake adds nothing."""
    field = {"b2": tile("lake", cloud=(1, 1)), "b1": tile(cloud=(0, 1)), "a2": tile(cloud=(0, 1))}
    state = play(holding("wind", "wind", field, modules=("lake",)), "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles("b1", "c1", "a2", "c2", "a3", "b3")
    assert clouds(play(state, "tile c1"))["c1"] == ("light", 1, 1)
    corner = {"b1": tile("lake", cloud=(1, 1)), "c1": tile(cloud=(0, 1)), "b2": tile(cloud=(0, 1))}
    state = play(holding("wind", "wind", corner, modules=("lake",)), "play wind")
    assert legal_names(state) == tiles("c1", "a2", "b2", "c2", "a3", "b3"), "past the clouds that enclose the Lake"
    field = {"b2": tile("lake"), "b1": tile(cloud=(1, 1))}
    state = play(holding("wind", "wind", field, modules=("lake",)), "play wind", "tile b3")
    assert clouds(state) == {"b3": ("light", 1, 1)}


def test_wind_power_of_somebody_else() -> None:
    """Vento: only its owner has it."""
    state = play(holding("sun", "wind", {"b2": tile(cloud=(2, 1))}), "play wind")
    assert asked(state) == ("wind_direction", 0)
    assert legal_names(state) == moves("north", "east", "south", "west")


def test_wind_power_does_nothing_in_wind_weather() -> None:
    """Vento: it moves clouds; Wind weather still moves a drop to a neighbouring tile."""
    field = {"b1": tile("grass", (1,)), "a3": tile("grass", (1,))}
    state = end_round(votes={"sun": (1,), "wind": (1,)}, field=field, **powers("rain", others=("wind",)))
    assert asked(state) == ("wind_weather_drop", 1)
    assert legal_names(play(state, "drop b1 1st to the left")) == moves("east", "south")


def test_wind_power_in_solo() -> None:
    """Ruling 3.8: powers in solo."""
    state = play(alone("wind", {1: (2, 1), 3: (0, 1)}, hands={"player_0": {"wind": 2}}), "play wind")
    assert asked(state) == ("wind_tile", 0)
    assert legal_names(state) == tiles("b1", "a2", "b2", "a3", "b3")
    assert solo_cloud(play(state, "tile P6"), 6) == (Cloud.LIGHT, 2, 1)


# --- Rain ----------------------------------------------------------------------------------------------------------


def test_rain_power_drops_onto_a_tile_without_a_cloud() -> None:
    """Pioggia: instead of the Rain action an own drop goes on a crop tile without a cloud; the vote is as usual."""
    field = {"b2": tile("cotton", (1,)), "b1": tile(cloud=(1, 2)), "a2": tile(cloud=(0, 1)), "c2": tile(cloud=(1,))}
    state = play(holding("rain", "rain", field), "play rain")
    assert asked(state) == ("rain_drop", 0)
    normal = {"drop b1 own", "drop b1 1st to the left", "drop c2 own"}
    assert legal_names(state) == normal | tiles("c1", "b2", "a3", "b3")
    state = play(state, "tile b2")
    assert asked(state) == ("vote", 0), "instead of the normal action: no drop from a cloud"
    assert legal_names(state) == {"vote rain", "vote frost", "die 4"}
    assert on_tile(state, "b2") == (2, 0)
    assert growing(state, "b2") == "developed"
    assert by_seat(state, "supply") == (16, 17)
    assert clouds(state) == {"b1": ("light", 1, 2), "a2": ("light", 0, 1), "c2": ("light", 1, 0)}
    state = play(state, "vote rain")
    assert votes_on(state, "rain") == (1, 0)


def test_rain_power_or_the_normal_action() -> None:
    """Pioggia: the normal action is still possible, with its second drop from another cloud."""
    state = play(
        holding("rain", "rain", {"b1": tile(cloud=(1, 2)), "c2": tile(cloud=(1,))}), "play rain", "drop c2 own"
    )
    assert asked(state) == ("rain_second_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop b1 1st to the left", "decline"}
    assert on_tile(play(state, "decline"), "c2") == (1, 0)


def test_rain_power_without_own_cloud_can_be_declined() -> None:
    """Pioggia; ruling 5.5: the power is optional; the normal action is impossible without an own cloud."""
    state = play(holding("rain", "rain", {"b1": tile(cloud=(0, 2))}), "play rain")
    assert asked(state) == ("rain_drop", 0)
    assert legal_names(state) == tiles("c1", "a2", "b2", "c2", "a3", "b3") | {"decline"}
    declined = play(state, "decline")
    assert asked(declined) == ("vote", 0)
    assert by_seat(declined, "supply") == (20, 18)
    assert on_tile(play(state, "tile a3"), "a3") == (1, 0)


def test_rain_power_with_an_own_cloud_has_no_declining() -> None:
    """Ruling 2.5, 5.5: with an own cloud at least one drop must fall, one way or the other."""
    state = play(holding("rain", "rain", {"b1": tile(cloud=(2,))}), "play rain")
    assert "decline" not in legal_names(state)


def test_rain_power_needs_a_drop_in_the_supply() -> None:
    """Pioggia: the own drop comes from the supply, never from tiles."""
    spent = {"b1": tile("grass", (9,)), "b2": tile("rice", (9,)), "a3": tile(cloud=(1, 1)), "a2": tile(cloud=(1, 1))}
    state = play(holding("rain", "rain", spent), "play rain")
    assert by_seat(state, "supply")[0] == 0
    assert legal_names(state) == {
        f"drop {name} {owner}" for name in ("a2", "a3") for owner in ("own", "1st to the left")
    }
    spent = {"b1": tile("grass", (10,)), "b2": tile("rice", (10,)), "a3": tile(cloud=(0, 1))}
    assert asked(play(holding("rain", "rain", spent), "play rain")) == ("vote", 0)


def test_rain_power_with_clouds_everywhere() -> None:
    """Pioggia: the power needs a tile without a cloud."""
    field = {name: tile(cloud=(0, 1)) for name in FIELDS[2]}
    assert asked(play(holding("rain", "rain", field), "play rain")) == ("vote", 0)
    field["b2"] = tile(cloud=(1, 1))
    state = play(holding("rain", "rain", field), "play rain")
    assert legal_names(state) == {"drop b2 own", "drop b2 1st to the left"}


@pytest.mark.parametrize("opened", [0, 1])
def test_rain_power_not_on_the_lake_nor_the_closed_snowdrop(opened: int) -> None:
    """Pioggia: the Lake is no crop tile; Bucaneve: no player may put drops on the closed Snowdrop."""
    field = {"b1": tile("lake"), "b2": tile("snowdrop", blooms=opened), "a2": tile("dandelion"), "c2": tile("primrose")}
    state = play(holding("rain", "rain", field, modules=("lake", "flower_tiles")), "play rain")
    allowed = tiles("c1", "a2", "c2", "a3", "b3") | (tiles("b2") if opened else set())
    assert legal_names(state) == allowed | {"decline"}


def test_rain_power_with_the_only_own_cloud_above_the_closed_snowdrop() -> None:
    """Pioggia, Bucaneve: the normal action is impossible here, so the power may be declined."""
    field = {"b2": tile("snowdrop", blooms=0, cloud=(2, 1))}
    state = play(holding("rain", "rain", field, modules=("flower_tiles",)), "play rain")
    assert legal_names(state) == tiles("b1", "c1", "a2", "c2", "a3", "b3") | {"decline"}


def test_rain_power_makes_the_dandelion_grow() -> None:
    """Pioggia, Dente di Leone: one drop is enough for the Dandelion."""
    state = holding("rain", "rain", {"b2": tile("dandelion")}, modules=("flower_tiles",))
    assert growing(play(state, "play rain", "tile b2"), "b2") == "developed"


@pytest.mark.parametrize(("drops", "gains", "lies"), [((), 2, (1, 0)), ((1, 1), 2, (2, 0)), ((0, 1), 0, (1, 1))])
def test_rain_power_on_the_primrose(drops: Numbers, gains: int, lies: Numbers) -> None:
    """Pioggia, Primula: the drop waters the Primrose, and can take control."""
    owner: dict[str, Any] = {"controller": "player_1"} if drops else {}
    state = holding("rain", "rain", {"b2": tile("primrose", drops)}, modules=("flower_tiles",), **owner)
    state = play(state, "play rain", "tile b2")
    assert by_seat(state, "points") == (gains, 0)
    assert controller(state) == (0 if gains else 1)
    assert on_tile(state, "b2") == lies


@pytest.mark.parametrize("crop", ["wheat", "cotton", "grass", "potato", "coffee", "rice", "corn", "cactus"])
def test_rain_power_on_every_crop(crop: str) -> None:
    """Pioggia: any crop tile without a cloud."""
    state = holding("rain", "rain", {"b2": tile(crop)}, 5, modules=("cactus",))
    state = play(state, "play rain")
    assert legal_names(state) == tiles(*FIELDS[5]) | {"decline"}
    assert on_tile(play(state, "tile b2"), "b2") == (1, 0, 0, 0, 0)


def test_rain_power_in_both_actions_of_a_turn() -> None:
    """Setup: powers can be used any number of times, also for substituted cards."""
    state = holding("rain", "rain rain frost sun", {"b2": tile("wheat", (0, 1))})
    state = play(state, "substitute rain", "card frost", "card sun", "tile b2", "vote rain")
    state = play(state, "play rain", "tile b2", "vote frost")
    assert on_tile(state, "b2") == (2, 1)
    assert growing(state, "b2") == "developed"
    assert by_seat(state, "supply") == (18, 19)


def test_rain_power_of_somebody_else() -> None:
    """Pioggia: only its owner has it."""
    assert asked(play(holding("wind", "rain"), "play rain")) == ("vote", 0)


def test_rain_power_does_nothing_in_rain_weather() -> None:
    """Pioggia: the power is for the Rain action only."""
    field = {"b2": tile("grass", cloud=(1,), thunder=True)}
    state = end_round(votes={"frost": (1,), "rain": (1,)}, field=field, **powers("rain"))
    assert asked(state)[0] == "turn"
    assert on_tile(state, "b2") == (1, 0)


def test_rain_power_in_solo() -> None:
    """Ruling 3.8: powers in solo."""
    state = play(alone("rain", {1: (2, 1), 3: (0, 1)}, hands={"player_0": {"rain": 2}}), "play rain")
    assert legal_names(state) == {"drop a1 own", "drop a1 1st to the left", *tiles("b1", "b2", "a3", "b3")}
    assert tile_drops(play(state, "tile P6"), 6) == (1, 0)
