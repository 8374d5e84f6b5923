"""Growing Crops."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import asked, cloud, game, growing, legal_names, on_tile, tile, tiles
from tests.support.play import play

DROPS_TO_GROW = {"wheat": 3, "cotton": 2, "grass": 4, "potato": 3, "coffee": 4, "rice": 4, "corn": 5}
"""Rulings 1."""

GROWN = {name: "sprouting" if name in ("coffee", "rice") else "developed" for name in DROPS_TO_GROW}
EVERY = pytest.mark.parametrize("crop", DROPS_TO_GROW)


def after_rain(crop: str, before: tuple[int, ...]) -> State:
    """A tile with these drops after one more drop of player_0, in a game of 3."""
    field = {"b2": tile(crop, before, cloud=(2,))}
    return play(game(3, hands=("rain", "frost", "frost"), field=field), "play rain")


@EVERY
def test_starts_growing_at_its_number_of_drops(crop: str) -> None:
    """Growing Crops: a crop with enough drops gets a token; Coffee and Rice first show the sprouting side."""
    number = DROPS_TO_GROW[crop]
    assert growing(after_rain(crop, (number - 2,)), "b2") == "none"
    assert growing(after_rain(crop, (number - 1,)), "b2") == GROWN[crop]


@EVERY
def test_the_total_of_all_players_counts(crop: str) -> None:
    """Growing Crops: the drops of all players count together."""
    others = (0, 1, DROPS_TO_GROW[crop] - 2)
    assert growing(after_rain(crop, others), "b2") == GROWN[crop]


@EVERY
def test_more_than_the_number_grows_as_well(crop: str) -> None:
    """Growing Crops: a crop grows if its number is met or exceeded."""
    state = game(3, hands=("sun", "frost", "frost"), field={"b2": tile(crop, cloud=(6, 1))})
    state = play(state, "play sun")
    assert on_tile(state, "b2") == (8, 1, 0)
    assert growing(state, "b2") == GROWN[crop]


def short_supply(field: dict[str, Any], kind: str) -> State:
    """player_0 acts with all 20 drops out: 6 on `field`, 14 in clouds."""
    clouds = {"c1": tile(cloud=(7,)), "a3": tile(cloud=(7,))}
    return play(game(2, hands=(kind, "frost"), field={**clouds, **field}), f"play {kind}")


@pytest.mark.parametrize(
    ("crop", "drops", "side"),
    [
        ("wheat", (1, 2), "developed"),
        ("cotton", (2, 0), "developed"),
        ("grass", (2, 2), "developed"),
        ("coffee", (3, 1), "sprouting"),
        ("coffee", (3, 1), "developed"),
        ("rice", (1, 3), "developed"),
    ],
)
def test_dries_out_below_its_number(crop: str, drops: tuple[int, int], side: str) -> None:
    """Growing Crops: below its number a crop loses its token, whichever side shows; the drops stay."""
    field = {"b2": tile(crop, drops, growing=side), "b3": tile("grass", (6 - drops[0], 0))}
    state = play(short_supply(field, "frost"), "tile b1", "tile b2")
    assert growing(state, "b2") == "none"
    assert on_tile(state, "b2") == (drops[0] - 1, drops[1])


@pytest.mark.parametrize(("crop", "side"), [("wheat", "developed"), ("coffee", "developed"), ("rice", "sprouting")])
def test_keeps_growing_at_its_number(crop: str, side: str) -> None:
    """Growing Crops: losing a drop changes nothing while there are enough."""
    field = {"b2": tile(crop, (3, DROPS_TO_GROW[crop] - 2), growing=side), "b3": tile("grass", (3, 0))}
    state = play(short_supply(field, "frost"), "tile b1", "tile b2")
    assert growing(state, "b2") == side


def test_drying_out_is_immediate() -> None:
    """Ruling 2.7: Coffee that gives up a drop dries out at once; drops that pour back make it sprout again."""
    field = {"b2": tile("coffee", (4,), growing="developed", cloud=(1, 6)), "b3": tile("wheat", (1,))}
    state = short_supply(field, "sun")
    assert asked(state) == ("sun_cloud", 0)
    assert legal_names(state) == {"decline"} | tiles("c1", "a3", "b2")
    state = play(state, "tile b2")
    assert asked(state) == ("take_drop", 0)
    assert legal_names(state) == tiles("b2", "b3")
    taken = play(state, "tile b2")
    assert growing(taken, "b2") == "none"
    poured = play(taken, "tile b2")
    assert cloud(poured, "b2") is None
    assert on_tile(poured, "b2") == (2 + 3, 6)
    assert growing(poured, "b2") == "sprouting"
