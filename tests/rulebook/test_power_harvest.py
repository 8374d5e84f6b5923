"""Flowers, Poteri dei giocatori: Raccolto. player_0 has the power that is tested."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import (
    asked,
    by_seat,
    end_round,
    growing,
    legal_names,
    on_tile,
    over,
    tile,
    tiles,
)
from tests.rulebook.modules import (
    alone,
    blooms,
    powers,
    with_pods,
)
from tests.rulebook.southern_winds import act, tile_drops
from tests.support.play import play

# --- Harvest -------------------------------------------------------------------------------------------------------


def harvesting(field: dict[str, Any], players: int = 2, modules: tuple[str, ...] = (), **changes: Any) -> State:
    """The Harvest in which player_0 has the Harvest power, after Sun and Rain weather without clouds."""
    votes = {"sun": (1,), "rain": (1,)}
    start = powers("harvest", players, modules)
    return end_round(players, field=field, votes=votes, dice=["harvest"] * 3, **start, **changes)


FOUR_TILES = {
    "b1": tile("cotton", (2, 1)),
    "a2": tile("wheat", (1, 2)),
    "b2": tile("cotton", (1, 3)),
    "a3": tile("potato", (3,)),
    "c2": tile("grass", (1, 1)),
    "b3": tile("cotton", (0, 2)),
}
"""player_0 has drops on four harvested tiles, and on a grass that isn't growing."""


def test_harvest_power_keeps_a_drop_on_up_to_three_harvested_tiles() -> None:
    """Raccolto: at the end of the Harvest the player may keep one own drop on three different harvested tiles."""
    state = harvesting(FOUR_TILES)
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("b1", "a2", "b2", "a3") | {"decline"}
    assert by_seat(state, "points") == (5 + 3 + 2 + 3, 2 + 2 + 5 + 5), "scored with all drops before"
    state = play(state, "tile b1")
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("a2", "b2", "a3") | {"decline"}
    state = play(state, "tile a2")
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("b2", "a3") | {"decline"}
    state = play(state, "tile a3")
    assert state["round"] == 2
    kept = {name: on_tile(state, name) for name in FOUR_TILES}
    assert kept == {"b1": (1, 0), "a2": (1, 0), "b2": (0, 0), "a3": (1, 0), "c2": (1, 1), "b3": (0, 0)}
    assert by_seat(state, "supply") == (16, 19)
    assert [growing(state, name) for name in FOUR_TILES] == ["none"] * 6


@pytest.mark.parametrize(("kept", "supply"), [((), 19), (("b2",), 18), (("a2", "b2"), 17), (("b1", "a3"), 17)])
def test_harvest_power_is_optional(kept: tuple[str, ...], supply: int) -> None:
    """Ruling 5.5: each drop is optional, so the player may keep none, one or two."""
    state = play(harvesting(FOUR_TILES), *(f"tile {name}" for name in kept))
    state = play(state, *("decline",) * (asked(state)[0] == "keep_drop"))
    assert state["round"] == 2
    for name in ("b1", "a2", "b2", "a3", "b3"):
        assert on_tile(state, name) == (int(name in kept), 0)
    assert by_seat(state, "supply") == (supply, 19)


def test_harvest_power_needs_drops_on_harvested_tiles() -> None:
    """Raccolto: a player without drops on harvested tiles is not asked."""
    state = harvesting({"b1": tile("cotton", (0, 2)), "b2": tile("grass", (2, 1))})
    assert asked(state)[0] == "turn"
    assert (on_tile(state, "b1"), on_tile(state, "b2")) == ((0, 0), (2, 1))


def test_harvest_power_without_a_harvest() -> None:
    """Raccolto: without a Harvest there is nothing to keep."""
    start = powers("harvest")
    state = end_round(votes={"sun": (1,), "rain": (1,)}, field=FOUR_TILES, **start)
    assert asked(state)[0] == "turn"
    assert on_tile(state, "b1") == (2, 1)


def test_harvest_power_of_somebody_else() -> None:
    """Raccolto: only its owner has it, no matter who is first player."""
    start: dict[str, Any] = {"votes": {"sun": (1,), "rain": (1,)}, "dice": ["harvest"] * 3, "field": FOUR_TILES}
    state = end_round(**start, **powers("sun", others=("harvest",)))
    assert asked(state) == ("keep_drop", 1)
    assert legal_names(state) == tiles("b1", "a2", "b2", "b3") | {"decline"}
    state = play(state, "tile b3")
    assert on_tile(state, "b3") == (0, 1)
    assert asked(end_round(**start, **powers("sun", others=("rain",))))[0] == "turn"


def test_kept_drop_counts_for_growth_at_once() -> None:
    """Raccolto, Dente di Leone: one kept drop makes the Dandelion grow again; its pods have still gone back."""
    field = {"b2": tile("dandelion", (2, 1)), "c1": tile(pod=True), "a3": tile(pod=True)}
    state = harvesting(field, modules=("flower_tiles",))
    assert by_seat(state, "points") == (2, 1)
    state = play(state, "tile b2")
    assert state["round"] == 2
    assert on_tile(state, "b2") == (1, 0)
    assert growing(state, "b2") == "developed"
    assert with_pods(state) == set()


def test_harvest_power_on_sprouting_rice() -> None:
    """Raccolto: a sprouting Rice is harvested too, without points."""
    votes = {"frost": (1,), "sun": (1,)}
    field = {"b2": tile("rice", (2, 2))}
    state = end_round(votes=votes, field=field, dice=["harvest"] * 3, **powers("harvest"))
    assert legal_names(state) == tiles("b2") | {"decline"}
    state = play(state, "tile b2")
    assert (on_tile(state, "b2"), growing(state, "b2"), by_seat(state, "points")) == ((1, 0), "none", (0, 0))


def test_harvest_power_on_every_kind_of_tile() -> None:
    """Raccolto: one drop of each tile may be kept, whatever else lies there."""
    field = {"b2": tile("cactus", (1, 1)), "c1": tile("coffee", (5, 1)), "a3": tile("grass", (1, 4))}
    state = harvesting(field, modules=("cactus",))
    state = play(state, "tile c1", "tile b2", "tile a3")
    assert [on_tile(state, name) for name in field] == [(1, 0)] * 3
    assert by_seat(state, "supply") == (17, 20)


def test_harvest_power_comes_before_forecast_cards_after_the_harvest() -> None:
    """Raccolto: the power comes first; a kept drop is not in the supply for forecast card 4, which needs two."""
    field = {"b2": tile("cotton", (1, 1)), "a2": tile("grass", (1,)), "c1": tile("primrose", (17,))}
    start: dict[str, Any] = {"modules": ["flower_tiles", "powers", "forecasts"], "powers": ["harvest", "frost"]}
    votes = {"sun": (1,), "rain": (1,)}
    held = {"player_0": [4, 10, 11]}
    state = end_round(votes=votes, field=field, dice=["harvest"] * 3, forecasts=held, **start)
    assert asked(state) == ("keep_drop", 0)
    none_kept = play(state, "decline")
    assert asked(none_kept) == ("forecast", 0)
    assert legal_names(none_kept) == {"forecast 4", "decline"}
    assert asked(play(state, "tile b2"))[0] == "turn"


def test_harvest_power_on_the_snowdrop() -> None:
    """Raccolto, Bucaneve: a drop may be kept on the harvested Snowdrop, which loses its bloom token."""
    state = harvesting({"b2": tile("snowdrop", (2, 1), blooms=1)}, modules=("flower_tiles",))
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("b2") | {"decline"}
    state = play(state, "tile b2")
    assert on_tile(state, "b2") == (1, 0)
    assert (blooms(state, "b2"), growing(state, "b2")) == (0, "none")


def test_harvest_power_not_on_tiles_that_were_not_harvested() -> None:
    """Raccolto: the Primrose and a Snowdrop with one drop are not harvested; their drops stay anyway."""
    field = {
        "b2": tile("primrose", (3, 1)),
        "a2": tile("snowdrop", (1,), blooms=1),
        "b1": tile("cotton", (1, 1)),
    }
    state = harvesting(field, modules=("flower_tiles",))
    assert legal_names(state) == tiles("b1") | {"decline"}
    state = play(state, "decline")
    assert (on_tile(state, "b2"), on_tile(state, "a2"), on_tile(state, "b1")) == ((3, 1), (1, 0), (0, 0))


def test_harvest_power_may_be_used_in_every_harvest() -> None:
    """Setup: powers can be used any number of times, also in the final Harvest, where it may change nothing."""
    field = {"b2": tile("cotton", (2, 1))}
    for round_ in (1, 2, 3):
        state = play(harvesting(field, round=round_), "tile b2")
        assert on_tile(state, "b2") == (1, 0)
    state = harvesting(field, round=4)
    state = play(state, *("decline",) * (asked(state)[0] == "keep_drop"))
    assert over(state)


def test_harvest_power_with_five_players() -> None:
    """Raccolto: it is the same with five players; everybody else's drops go back."""
    state = harvesting({"b2": tile("grass", (1, 1, 1, 1, 1))}, 5)
    state = play(state, "tile b2")
    assert on_tile(state, "b2") == (1, 0, 0, 0, 0)
    assert by_seat(state, "supply") == (19, 20, 20, 20, 20)


def test_harvest_power_in_solo() -> None:
    """Ruling 3.8: powers in solo; the neutral player keeps nothing."""
    votes = {"sun": (1, 0), "rain": (1, 0)}
    state = alone("harvest", drops={1: (1, 1), 3: (2, 3)}, dice=["harvest"] * 3, votes=votes, winds=(4,))
    state = play(state, "pass")
    assert asked(state) == ("keep_drop", 0)
    assert legal_names(state) == tiles("a1", "a2") | {"decline"}
    state = act(state, "tile P1", "decline")
    assert (tile_drops(state, 1), tile_drops(state, 3)) == ((1, 0), (0, 0))
