"""Phase 2: Weather Phase, Resolving Weather Spaces."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import (
    NEXT,
    Numbers,
    asked,
    cloud,
    clouds,
    end_round,
    final_round,
    legal_names,
    on_tile,
    over,
    phase,
    tile,
    votes_on,
    weathers,
)
from tests.support.play import play


def resolved(state: State, votes: Mapping[str, Numbers]) -> set[str]:
    """The voted spaces that were resolved: their votes went back; other spaces keep theirs."""
    for space, numbers in votes.items():
        assert votes_on(state, space) in (numbers, (0,) * len(numbers))
    return {space for space in votes if not any(votes_on(state, space))}


EXAMPLE_1 = {"frost": (3, 2), "sun": (4, 3), "wind": (2, 2), "rain": (2, 3)}
"""Sun 7, Frost and Rain 5 each, Wind 4."""


@pytest.mark.parametrize("chosen", ["frost", "rain"])
def test_example_1(chosen: str) -> None:
    """Resolving Weather Spaces, example 1: Sun, and Frost or Rain as the First Player chooses."""
    state = end_round(votes=EXAMPLE_1)
    assert phase(state) == "weather"
    assert asked(state) == ("choose_weather", 0)
    assert legal_names(state) == weathers("frost", "rain")
    assert resolved(play(state, f"weather {chosen}"), EXAMPLE_1) == {"sun", chosen}


def test_example_1_order_with_frost() -> None:
    """Resolving Weather Spaces, example 1: Frost, then Sun: clouds are thunderclouds when Sun doubles drops."""
    field = {"b1": tile(cloud=(1,)), "b3": tile(cloud=(2,))}
    state = end_round(2, "weather frost", votes=EXAMPLE_1, field=field)
    assert asked(state) == ("sun_weather_cloud", 0)
    assert clouds(state) == {"b1": ("thunder", 1, 0), "b3": ("thunder", 2, 0)}


def test_example_1_order_with_rain() -> None:
    """Resolving Weather Spaces, example 1: Sun, then Rain: a light cloud of 3 is doubled, then pours."""
    state = end_round(2, "weather rain", votes=EXAMPLE_1, field={"b1": tile("wheat", cloud=(3,))})
    assert clouds(state) == {}
    assert on_tile(state, "b1") == (6, 0)


def test_example_2() -> None:
    """Resolving Weather Spaces, example 2: Sun and Wind with 6 votes each, Frost and Rain 4: nothing to choose."""
    votes = {"frost": (2, 2), "sun": (3, 3), "wind": (3, 3), "rain": (2, 2)}
    state = end_round(votes=votes)
    assert resolved(state, votes) == {"sun", "wind"}
    assert state["round"] == 2


def test_example_2_order() -> None:
    """Resolving Weather Spaces, example 2: Sun, then Wind: drops that overflow in the Sun can be blown away."""
    votes = {"frost": (2, 2), "sun": (3, 3), "wind": (3, 3), "rain": (2, 2)}
    state = end_round(votes=votes, field={"b2": tile("rice", cloud=(4,))})
    assert on_tile(state, "b2") == (8, 0)
    assert asked(state) == ("wind_weather_direction", 1)


def test_wind_before_rain() -> None:
    """Resolving Weather Spaces: Wind comes before Rain, so it cannot move the drops that Rain brings."""
    votes = {"wind": (1, 0), "rain": (1, 0)}
    state = end_round(votes=votes, field={"b2": tile("rice", cloud=(1,), thunder=True)})
    assert (state["round"], on_tile(state, "b2")) == (2, (1, 0))


def test_frost_before_rain() -> None:
    """Resolving Weather Spaces: Frost comes first, and Rain then pours out its thunderclouds."""
    state = end_round(votes={"frost": (1, 0), "rain": (1, 0)}, field={"b2": tile("rice", cloud=(1, 2))})
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (1, 2)


@pytest.mark.parametrize(
    "votes",
    [
        {"frost": (3, 0), "sun": (0, 2), "wind": (1, 0), "rain": (0, 0)},
        {"frost": (1, 3), "sun": (1, 0), "wind": (2, 0), "rain": (1, 0)},
        {"frost": (1, 1), "sun": (0, 0), "wind": (0, 1), "rain": (2, 3)},
    ],
)
def test_two_spaces_with_the_most_votes_of_all_players(votes: dict[str, Numbers]) -> None:
    """Resolving Weather Spaces: exactly the two with the most total votes; the others' votes stay."""
    top = sorted(votes, key=lambda space: -sum(votes[space]))[:2]
    state = end_round(votes=votes)
    assert state["round"] == 2
    assert resolved(state, {space: numbers for space, numbers in votes.items() if any(numbers)}) == set(top)


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in NEXT for b in NEXT if "rain" not in (a, b) and a != b])
def test_three_tied_for_the_most(first: str, second: str) -> None:
    """Ties; ruling 2.10: the First Player chooses among tied spaces one at a time, here twice."""
    votes = {"frost": (2, 0), "sun": (1, 1), "wind": (0, 2), "rain": (1, 0)}
    state = end_round(votes=votes)
    assert asked(state) == ("choose_weather", 0)
    assert legal_names(state) == weathers("frost", "sun", "wind")
    state = play(state, f"weather {first}")
    assert asked(state) == ("choose_weather", 0)
    assert legal_names(state) == weathers("frost", "sun", "wind") - weathers(first)
    assert resolved(play(state, f"weather {second}"), votes) == {first, second}


def test_three_tied_for_second() -> None:
    """Ties: the space with the most votes is certain; the First Player chooses among the three behind it."""
    votes = {"frost": (2, 0), "sun": (1, 1), "wind": (3, 2), "rain": (1, 1)}
    state = end_round(votes=votes)
    assert legal_names(state) == weathers("frost", "sun", "rain")
    assert resolved(play(state, "weather sun"), votes) == {"sun", "wind"}


@pytest.mark.parametrize("voted", NEXT)
def test_one_voted_space(voted: str) -> None:
    """Resolving Weather Spaces: with votes on one space only, all others are tied for second place (ruling 2.10)."""
    state = end_round(votes={voted: (1, 2)})
    assert asked(state) == ("choose_weather", 0)
    assert legal_names(state) == weathers(*NEXT) - weathers(voted)


def test_a_space_without_votes_is_resolved() -> None:
    """Resolving Weather Spaces: a voted space and a chosen one without votes both take effect."""
    field = {"b1": tile("rice", cloud=(1,)), "b3": tile("wheat", cloud=(0, 2))}
    state = end_round(2, "weather rain", votes={"frost": (1, 2)}, field=field)
    assert clouds(state) == {}
    assert on_tile(state, "b1") == (1, 0)
    assert on_tile(state, "b3") == (0, 2)


def test_no_voted_space() -> None:
    """Ruling 2.10: with no votes at all, all four tie, and two are chosen one after another."""
    state = end_round()
    assert asked(state) == ("choose_weather", 0)
    assert legal_names(state) == weathers(*NEXT)
    state = play(state, "weather wind")
    assert asked(state) == ("choose_weather", 0)
    assert legal_names(state) == weathers("frost", "sun", "rain")
    assert play(state, "weather sun")["round"] == 2


def test_the_weather_affects_every_player() -> None:
    """Resolving Weather Spaces: weather affects all players, whether they voted for it or not."""
    field = {"b1": tile("rice", cloud=(1, 0)), "b3": tile("wheat", cloud=(0, 1))}
    state = end_round(votes={"sun": (1, 0), "wind": (1, 0)}, field=field)
    assert cloud(state, "b1") == ("light", 2, 0)
    assert cloud(state, "b3") == ("light", 0, 2)


# --- the final round -----------------------------------------------------------------------------------------------


def test_final_round_resolves_every_voted_space() -> None:
    """Resolving Weather Spaces, exception: all four resolve clockwise, though the fourth has only one vote."""
    votes = {"frost": (2, 2), "sun": (3, 1), "wind": (1, 1), "rain": (1, 0)}
    state = final_round(votes=votes, field={"b2": tile("rice", cloud=(1,))})
    assert over(state)
    assert clouds(state) == {}
    assert on_tile(state, "b2") == (2, 0)
    assert [votes_on(state, space) for space in NEXT] == [(0, 0)] * 4


def test_final_round_leaves_spaces_without_votes() -> None:
    """Resolving Weather Spaces, exception: only spaces with at least one vote are resolved."""
    field = {"b2": tile("rice", cloud=(1,)), "b1": tile("wheat", cloud=(0, 2), thunder=True)}
    state = final_round(votes={"frost": (1, 0)}, field=field)
    assert over(state)
    assert clouds(state) == {"b2": ("thunder", 1, 0), "b1": ("thunder", 0, 2)}
    state = final_round(votes={"sun": (1, 0)}, field=field)
    assert over(state)
    assert clouds(state) == {"b2": ("light", 2, 0), "b1": ("thunder", 0, 4)}
    state = final_round(field=field)
    assert over(state)
    assert clouds(state) == {"b2": ("light", 1, 0), "b1": ("thunder", 0, 2)}


def test_final_round_of_the_long_form_is_the_6th() -> None:
    """Game Flow: with 6 rounds the 6th is the final round, not the 4th."""
    votes = {"frost": (2, 0), "sun": (2, 0), "wind": (1, 0)}
    state = end_round(votes=votes, rounds=6, round=4)
    assert (int(state["round"]), votes_on(state, "wind")) == (5, (1, 0))
    state = end_round(votes=votes, rounds=6, round=6)
    assert over(state)
    assert votes_on(state, "wind") == (0, 0)


@pytest.mark.parametrize("chosen", ["sun", "wind"])
def test_final_round_ties_settle_which_two_count(chosen: str) -> None:
    """Winning the Weather Vote, exception; ruling 2.10: all resolve; the First Player chooses which two count."""
    votes = {"frost": (3, 0), "sun": (2, 0), "wind": (0, 2)}
    state = final_round(votes=votes)
    assert asked(state) == ("choose_weather", 0)
    assert legal_names(state) == weathers("sun", "wind")
    state = play(state, f"weather {chosen}")
    assert over(state)
    assert [votes_on(state, space) for space in NEXT] == [(0, 0)] * 4
    assert tuple(state["voting_wins"][:2]) == ((2, 0) if chosen == "sun" else (1, 1))


def test_final_round_with_one_voted_space_has_no_tie() -> None:
    """Ruling 2.10: spaces without votes are not resolved in the final round, so there is nothing to choose."""
    state = final_round(votes={"wind": (2, 0)})
    assert over(state)
    assert tuple(state["voting_wins"][:2]) == (1, 0)
