"""Flowers, Carte Previsione: at which points of the timeline cards are asked for, and in which order (ruling 5.7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rulebook.base_game import (
    NEXT,
    asked,
    by_seat,
    cloud,
    end_round,
    final_round,
    legal_names,
    on_tile,
    over,
    tile,
    votes_on,
)
from tests.rulebook.modules import FORECAST_FIELD, asked_for, final_rain, forecasts, offer
from tests.support.play import play

TIE = {"frost": (2,), "sun": (2,), "wind": (2,)}
"""Keeps the Weather Phase at its first decision."""
QUIET = {"frost": (1, 1), "rain": (1, 1)}
"""Frost and Rain, which ask nobody anything."""


# --- the points of the timeline (ruling 5.7)

WEATHER_OF = {5: None, 7: "sun", 8: "wind", 6: "rain", 9: "rain"}
PAIRS = [(first, second) for first in NEXT for second in NEXT if first < second]


@pytest.mark.parametrize("pair", PAIRS)
def test_points_of_weather_that_is_resolved(pair: tuple[str, str]) -> None:
    """Uso: a card is asked for only if its weather is resolved; card 5 at the start of every Weather Phase."""
    for number, kind in WEATHER_OF.items():
        state = end_round(field=FORECAST_FIELD, votes=dict.fromkeys(pair, (1, 1)), **forecasts((number, 13, 16)))
        assert asked_for(state) == ([(0, str(number))] if kind in (None, *pair) else [])


@pytest.mark.parametrize("kind", NEXT)
def test_points_in_the_final_round(kind: str) -> None:
    """Uso; Resolving Weather Spaces, exception: the final round resolves the voted spaces and has a Harvest."""
    for number, needed in {**WEATHER_OF, 1: None, 2: None, 3: None, 4: None}.items():
        state = final_round(field=FORECAST_FIELD, votes={kind: (1,)}, **forecasts((number, 13, 16)))
        assert asked_for(state) == ([(0, str(number))] if needed in (None, kind) else [])


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_points_of_the_harvest(number: int) -> None:
    """Ruling 5.7: cards before and after the Harvest can be played only in a round with a Harvest."""
    held, votes = forecasts((number, 13, 16)), {"frost": (1, 1), "sun": (1, 1)}
    assert asked_for(end_round(field=FORECAST_FIELD, votes=votes, **held)) == []
    assert asked_for(end_round(field=FORECAST_FIELD, votes=votes, dice=["harvest"] * 3, **held)) == [(0, str(number))]


def test_before_and_after_the_last_harvest() -> None:
    """Ruling 5.7: also in the final round 1 and 3 come before the Harvest, 2 and 4 after it."""
    state = final_round(field=FORECAST_FIELD, **forecasts((1, 4, 13), (2, 3)))
    assert (asked(state), legal_names(state)) == (("forecast", 1), offer(3)), "the marker has moved (2 player games)"
    state = play(state, "decline")
    assert (asked(state), legal_names(state)) == (("forecast", 0), offer(1))
    assert on_tile(state, "b1") == (5, 1)
    declined, state = play(state, "decline"), play(state, "forecast 1")
    assert by_seat(state, "points")[0] == by_seat(declined, "points")[0] + 3
    assert on_tile(state, "b1") == (0, 0)
    assert (asked(state), legal_names(state)) == (("forecast", 0), offer(4)), "player_1 had no four drops on a tile"
    assert over(play(state, "decline"))


def test_a_harvest_with_nothing_growing() -> None:
    """Harvest Phase: the dice bring the Harvest and its cards, whether crops are growing or not."""
    state = end_round(field={"b1": tile("grass", (1,))}, votes=QUIET, dice=["harvest"] * 3, **forecasts((1, 4, 13)))
    assert asked_for(state) == [(0, "1"), (0, "4")]


# --- the order of asking (ruling 5.7)


def first_is(first: int) -> dict[str, Any]:
    """3 players: `first` passed and is First Player; it is the turn of the last of the others."""
    hands = ["" if seat == first else "frost" for seat in range(3)]
    seats = {"first_player": first, "passed": first, "actor": (first - 1) % 3}
    return {"hands": hands, **{key: f"player_{seat}" for key, seat in seats.items()}}


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("holders", [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
def test_from_the_first_player_clockwise(first: int, holders: tuple[int, int]) -> None:
    """Ruling 5.7: holders of a playable card are asked clockwise from the First Player, each in turn."""
    held: list[tuple[int, ...]] = [(), (), ()]
    held[holders[0]], held[holders[1]] = (6, 13, 16), (9, 10, 14)
    state = final_rain(forecasts(*held), {"b1": tile("grass", cloud=(1,))}, 3, **first_is(first))
    order = sorted(zip(holders, ("6", "9"), strict=True), key=lambda pair: (pair[0] - first) % 3)
    assert asked_for(state) == order


def test_who_declined_is_not_asked_again() -> None:
    """Ruling 5.7: nobody is asked again after declining; a player who played is asked for a second card."""
    held = forecasts((9, 13, 16), (6, 10, 14))
    state = play(final_rain(held, {"b1": tile("grass", cloud=(1,))}), "decline", "forecast 6")
    assert over(state)
    state = final_round(field=FORECAST_FIELD, **forecasts((1, 3, 13), (2, 4, 16)))
    assert legal_names(state) == offer(1, 3)
    state = play(state, "forecast 3")
    assert (asked(state), legal_names(state)) == (("forecast", 0), offer(1))
    state = play(state, "decline")
    assert (asked(state), legal_names(state)) == (("forecast", 1), offer(4))


def test_an_earlier_card_can_make_a_later_one_playable() -> None:
    """Ruling 5.7: whether a player can play is decided when they would be asked."""
    field = {"b1": tile("primrose", (0, 2), cloud=(3,), blooms=1), "c1": tile("rice", (0, 18))}
    held = forecasts((6, 13, 16), (9, 10, 14), modules=("flower_tiles",))
    state = final_rain(held, field, controller="player_1")
    assert (asked(state), by_seat(state, "supply")) == (("forecast", 0), (17, 0))
    assert over(play(state, "decline")), "player_1 has no drop for card 9"
    state = play(state, "forecast 6")
    assert by_seat(state, "supply") == (17, 2), "the Primrose's old controller takes their drops back"
    assert (asked(state), legal_names(state)) == (("forecast", 1), offer(9))


def test_harvest_cards_go_by_the_new_first_player() -> None:
    """Changing the First Player, 2 players: the marker moves at the end of the Weather Phase, before these cards."""
    field = {"b1": tile("rice", (1,)), "a3": tile("cotton", cloud=(0, 1))}
    held = forecasts((1, 13, 16), (3, 10, 14))
    state = end_round(field=field, votes={"frost": (0, 1), "sun": (0, 1)}, dice=["harvest"] * 3, **held)
    assert int(state["first_player"]) == 1
    assert asked_for(state) == [(1, "3"), (0, "1")]


def test_5_for_its_holder_wherever_they_sit() -> None:
    """Ruling 5.7: the only holder is asked, no matter who is First Player."""
    state = end_round(3, votes=TIE, **forecasts((), (), (5, 13, 16)))
    assert (asked(state), legal_names(state)) == (("forecast", 2), offer(5))
    state = play(state, "forecast 5", "vote wind")
    assert votes_on(state, "wind") == (2, 0, 1)
    assert asked(state) == ("choose_weather", 0)


def test_only_what_changes_something() -> None:
    """Ruling 5.7, "a playable card": without own drops on tiles or in clouds these cards would change nothing."""
    field, votes = {"b1": tile(cloud=(0, 1))}, {"frost": (4,), "sun": (3,), "wind": (2,), "rain": (1,)}
    assert over(final_round(field=field, votes=votes, **forecasts((1, 2, 3))))
    assert over(final_round(field=field, votes=votes, **forecasts((7, 8))))


def test_free_tiles_of_the_last_cloud() -> None:
    """Card 6 empties a cloud, so its tile is free for card 4 after the Harvest."""
    field = {name: tile(cloud=(0, 1)) for name in ("b1", "c1", "a2", "b2", "c2", "a3", "b3")}
    state = play(final_rain(forecasts((4, 6, 13)), field), "forecast 6", "tile b2")
    assert legal_names(state) == offer(4)
    assert cloud(play(state, "forecast 4"), "b2") == ("light", 2, 0)
