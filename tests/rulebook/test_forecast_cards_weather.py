"""Flowers, Carte Previsione 5 to 9: the forecast cards that are played in the Weather Phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import (
    FIELDS,
    asked,
    by_seat,
    cards,
    cloud,
    clouds,
    end_round,
    final_round,
    growing,
    legal_names,
    moves,
    on_tile,
    over,
    tile,
    tiles,
    votes_on,
    weathers,
)
from tests.rulebook.modules import forecasts, forecasts_of, offer, resolving
from tests.support.play import play

Field = Mapping[str, dict[str, Any]]

EVERYWHERE = frozenset(FIELDS[2])
TURN_CARDS = (13, 16)


def holding(number: int, seat: int = 0) -> dict[str, Any]:
    """The seat holds this card and two that can be played only in a turn."""
    return forecasts(*((),) * seat, (number, *TURN_CARDS))


def weather(kind: str, number: int, field: Field, players: int = 2, **changes: Any) -> State:
    """The final round's Weather Phase with this weather only; player_0, who is first, holds the card."""
    return resolving(kind, players=players, field=field, round=4, **holding(number), **changes)


def offered(state: State, number: int, seat: int = 0) -> bool:
    if asked(state) != ("forecast", seat):
        return False
    assert legal_names(state) == offer(number)
    return True


# --- 5: at the start of the Weather Phase ----------------------------------------------------------------------------

CLOSE = {"frost": (2, 1), "sun": (1, 1), "wind": (1, 1)}
"""Frost is selected, Sun and Wind tie for the second place."""


def test_5_adds_a_vote_to_any_weather() -> None:
    """Card 5: a vote on any of the four spaces, before they are selected."""
    state = end_round(votes=CLOSE, **holding(5))
    assert offered(state, 5)
    assert asked(play(state, "decline")) == ("choose_weather", 0)
    state = play(state, "forecast 5")
    assert asked(state) == ("forecast_vote", 0)
    assert legal_names(state) == {"vote frost", "vote sun", "vote wind", "vote rain"}
    after = play(state, "vote frost")
    assert asked(after) == ("choose_weather", 0)
    assert votes_on(after, "frost") == (3, 1)
    assert by_seat(after, "vote_supply") == (12 - 5, 12 - 3)


def test_5_changes_the_selection() -> None:
    """Card 5: the vote counts for selecting the spaces, and for winning them."""
    state = play(end_round(votes=CLOSE, **holding(5)), "forecast 5", "vote wind")
    assert state["round"] == 2
    assert votes_on(state, "sun") == (1, 1)
    assert votes_on(state, "frost") == votes_on(state, "wind") == (0, 0)
    assert by_seat(state, "voting_wins") == (2, 0)
    assert by_seat(state, "vote_supply") == (11, 11)


def test_5_in_the_final_round() -> None:
    """Card 5: in the final round the vote makes a space without votes one that is resolved."""
    field = {"b1": tile("grass", cloud=(1, 1), thunder=True)}
    state = final_round(field=field, **holding(5))
    assert cloud(play(state, "decline"), "b1") == ("thunder", 1, 1)
    state = play(state, "forecast 5", "vote rain")
    assert over(state)
    assert clouds(state) == {}
    assert on_tile(state, "b1") == (1, 1)
    assert by_seat(state, "voting_wins") == (1, 0)


def test_5_with_an_empty_vote_supply_moves_a_vote() -> None:
    """Card 5; ruling 2.8: with all 12 votes placed, one is moved from another space, which the player chooses."""
    votes = {"frost": (5, 1), "sun": (4, 2), "wind": (3, 3)}
    state = play(end_round(votes=votes, **holding(5)), "forecast 5")
    assert legal_names(state) == {"vote frost", "vote sun", "vote wind", "vote rain"}
    to_rain = play(state, "vote rain")
    assert asked(to_rain) == ("move_vote", 0)
    assert legal_names(to_rain) == weathers("frost", "sun", "wind")
    state = play(state, "vote frost")
    assert legal_names(state) == weathers("sun", "wind")
    state = play(state, "weather sun")
    assert state["round"] == 2
    assert votes_on(state, "sun") == (3, 2)
    state = play(to_rain, "weather wind")
    assert state["round"] == 2
    assert [votes_on(state, name) for name in ("wind", "rain")] == [(2, 3), (1, 0)]


def test_5_never_moves_a_vote_from_its_target() -> None:
    """Card 5; ruling 2.8: a space that holds all of the player's votes can't be the target."""
    state = play(end_round(votes={"sun": (12, 0), "rain": (0, 1)}, **holding(5)), "forecast 5")
    assert legal_names(state) == {"vote frost", "vote wind", "vote rain"}
    state = play(state, "vote rain")
    assert state["round"] == 2
    assert by_seat(state, "voting_wins") == (1, 0), "Sun with 11 votes; on Rain 1 against 1"


def test_5_after_the_hand_limit() -> None:
    """Card 5; Hand limit: the Weather Phase begins after hands are discarded down to four."""
    state = end_round(hands=("", "frost frost frost frost sun"), votes=CLOSE, **holding(5))
    assert asked(state) == ("discard", 1)
    assert legal_names(state) == cards("frost", "sun")
    assert offered(play(state, "card sun"), 5)


# --- 6: before Rain weather ------------------------------------------------------------------------------------------


def test_6_any_cloud_pours_out() -> None:
    """Card 6: one cloud of any kind and any player pours out all its drops, and is removed."""
    field = {"b1": tile("grass", cloud=(1, 1)), "c1": tile("grass", cloud=(0, 2)), "b2": tile("grass", cloud=(0, 5))}
    state = weather("rain", 6, field)
    assert offered(state, 6)
    state = play(state, "forecast 6")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles("b1", "c1", "b2")
    after = play(state, "tile c1")
    assert clouds(after) == {"b1": ("light", 1, 1)}
    assert on_tile(after, "c1") == (0, 2)
    after = play(state, "tile b1")
    assert clouds(after) == {"c1": ("light", 0, 2)}
    assert on_tile(after, "b1") == (1, 1)


def test_6_comes_before_rain_weather() -> None:
    """Card 6; Rain Weather: Rice that sprouts by the card is then developed by the Rain."""
    field = {"b1": tile("rice", (1,), cloud=(2, 1))}
    assert by_seat(play(weather("rain", 6, field), "forecast 6"), "points") == (3 + 1, 1), "1 for the Voting Win"
    assert by_seat(play(weather("rain", 6, field), "decline"), "points") == (1, 0)


def test_6_not_without_a_cloud() -> None:
    """Card 6: without a cloud nothing could fall."""
    assert over(weather("rain", 6, {"b1": tile("rice", (1, 1))}))


# --- 7: in the own turn of Sun weather -------------------------------------------------------------------------------

SUN = {"b1": tile(cloud=(1, 1)), "c1": tile(cloud=(2,)), "b2": tile(cloud=(0, 1))}


def test_7_adds_two_drops_to_all_own_clouds() -> None:
    """Card 7: two drops into every cloud with own drops, instead of doubling one."""
    state = weather("sun", 7, SUN)
    assert offered(state, 7)
    state = play(state, "forecast 7")
    assert clouds(state) == {"b1": ("thunder", 3, 1), "c1": ("thunder", 4, 0), "b2": ("light", 0, 1)}
    assert by_seat(state, "supply") == (13, 18)
    assert asked(state) == ("sun_weather_cloud", 1)


def test_7_declined_leaves_doubling() -> None:
    """Card 7: a player who declines doubles as usual, which is mandatory."""
    state = play(weather("sun", 7, SUN), "decline")
    assert asked(state) == ("sun_weather_cloud", 0)
    assert legal_names(state) == tiles("b1", "c1")


def test_7_in_the_own_turn() -> None:
    """Card 7: its holder is asked in their own turn, after those of the players before."""
    state = resolving("sun", round=4, field={**SUN, "c2": tile(cloud=(0, 2))}, **holding(7, 1))
    assert asked(state) == ("sun_weather_cloud", 0)
    state = play(state, "tile c1")
    assert offered(state, 7, 1)
    state = play(state, "forecast 7")
    assert over(state)
    assert clouds(state) == {
        **{"b1": ("thunder", 1, 3), "c1": ("thunder", 4, 0)},
        **{"b2": ("light", 0, 3), "c2": ("thunder", 0, 4)},
    }


@pytest.mark.parametrize(("left", "can"), [(4, True), (3, False), (2, False)])
def test_7_needs_two_drops_a_cloud(left: int, can: bool) -> None:
    """Card 7; ruling 5.8: two own clouds need four drops in supply."""
    field = {"b1": tile(cloud=(1,)), "c1": tile(cloud=(1,)), "b2": tile("rice", (18 - left,)), "a3": tile(cloud=(0, 1))}
    state = weather("sun", 7, field)
    assert by_seat(state, "supply")[0] == left
    assert offered(state, 7) is can
    if can:
        after = play(state, "forecast 7")
        assert cloud(after, "b1") == cloud(after, "c1") == ("light", 3, 0)


def test_7_overflows_and_develops_coffee() -> None:
    """Card 7; Sun Weather: clouds may overflow, and Coffee that sprouts by this is developed."""
    field = {"b1": tile("coffee", cloud=(3, 3)), "c1": tile(cloud=(0, 1)), "b2": tile(cloud=(0, 1))}
    state = play(resolving("frost", "sun", field=field, **holding(7)), "forecast 7")
    assert asked(state) == ("sun_weather_cloud", 1)
    assert cloud(state, "b1") is None
    assert on_tile(state, "b1") == (5, 3)
    assert growing(state, "b1") == "sprouting"
    assert growing(play(state, "tile c1"), "b1") == "developed"


def test_7_not_without_an_own_cloud() -> None:
    """Card 7: it needs a cloud with own drops."""
    assert over(weather("sun", 7, {"b1": tile(cloud=(0, 1)), "c1": tile("grass", (1,))}))


# --- 8: before Wind weather ------------------------------------------------------------------------------------------


def test_8_moves_an_own_drop_to_a_neighbouring_tile() -> None:
    """Card 8: one own drop moves orthogonally, in addition to the moves of Wind weather."""
    field = {"b1": tile("rice", (2, 1)), "b2": tile("grass", (1, 1)), "c2": tile("grass", (0, 1))}
    state = weather("wind", 8, field)
    assert offered(state, 8)
    state = play(state, "forecast 8")
    assert asked(state) == ("forecast_drop", 0)
    assert legal_names(state) == {"drop b1 own", "drop b2 own"}
    edge = play(state, "drop b1 own")
    assert asked(edge) == ("forecast_direction", 0)
    assert legal_names(edge) == moves("east", "south")
    state = play(state, "drop b2 own")
    assert legal_names(state) == moves("north", "east", "south", "west")
    state = play(state, "move west")
    assert (on_tile(state, "b2"), on_tile(state, "a2")) == ((0, 1), (1, 0))
    assert asked(state) == ("wind_weather_drop", 1)
    state = play(state, "drop b1 own", "move east")
    assert asked(state) == ("wind_weather_drop", 0)
    state = play(state, "drop a2 own", "move south")
    assert over(state)
    assert (on_tile(state, "a3"), on_tile(state, "c1")) == ((1, 0), (0, 1))


def test_8_grows_and_dries_out() -> None:
    """Card 8; Growing Crops: the tiles grow or lose their token at once."""
    field = {"b1": tile("wheat", (3,)), "b2": tile("cotton", (0, 1))}
    state = play(weather("wind", 8, field), "forecast 8", "move south")
    assert asked(state) == ("wind_weather_drop", 1)
    assert (growing(state, "b1"), growing(state, "b2")) == ("none", "developed")


def test_8_not_without_an_own_drop_on_a_tile() -> None:
    """Card 8: it needs an own drop on a tile; drops in clouds or of others don't help."""
    state = weather("wind", 8, {"b1": tile("rice", (0, 2), cloud=(1,)), "c2": tile("grass", (0, 1))})
    assert asked(state) == ("wind_weather_drop", 1)


def test_8_between_sun_and_wind() -> None:
    """Card 8: it is played after Sun weather and before Wind weather."""
    field = {"b1": tile("grass", (1,), cloud=(1,)), "c1": tile(cloud=(1,))}
    state = resolving("sun", "wind", field=field, **holding(8))
    assert asked(state) == ("sun_weather_cloud", 0)
    assert offered(play(state, "tile c1"), 8)


# --- 9: before Rain weather ------------------------------------------------------------------------------------------


def test_9_places_a_drop_on_any_tile() -> None:
    """Card 9: a drop from the supply goes on any tile, also without own drops or under a cloud."""
    state = weather("rain", 9, {"b1": tile("grass", (0, 2), cloud=(0, 1)), "c1": tile("grass", (1,))})
    assert offered(state, 9)
    state = play(state, "forecast 9")
    assert asked(state) == ("forecast_tile", 0)
    assert legal_names(state) == tiles(*EVERYWHERE)
    state = play(state, "tile b1")
    assert on_tile(state, "b1") == (1, 2)
    assert by_seat(state, "supply") == (18, 17)


def test_9_comes_before_rain_weather() -> None:
    """Card 9; Rain Weather: Rice that sprouts by this drop is then developed by the Rain."""
    state = play(weather("rain", 9, {"b1": tile("rice", (1, 2))}), "forecast 9", "tile b1")
    assert by_seat(state, "points") == (2 + 1, 2), "1 for the Voting Win"


@pytest.mark.parametrize(("left", "can"), [(1, True), (0, False)])
def test_9_needs_a_drop_in_supply(left: int, can: bool) -> None:
    """Card 9; ruling 5.8."""
    state = weather("rain", 9, {"b1": tile("rice", (20 - left,))})
    assert offered(state, 9) is can
    if can:
        state = play(state, "forecast 9", "tile c1")
        assert forecasts_of(state, 0) == list(TURN_CARDS)
