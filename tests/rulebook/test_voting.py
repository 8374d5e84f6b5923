"""Phase 1: Action Phase, Voting. Without clouds a Sun, Wind or Rain action leads straight to the vote."""

from __future__ import annotations

from typing import Any

import pytest

from petrichor_env.state import State
from tests.rulebook.base_game import NEXT, asked, by_seat, dice, game, legal_names, votes_on, weathers
from tests.support.play import play

HARVEST = "harvest"


def voting(kind: str, **changes: Any) -> State:
    """player_0 has done an action of the kind and is about to vote."""
    hands = (f"{kind}", "frost frost")
    state = play(game(hands=hands, **changes), f"play {kind}")
    return play(state, "tile b2") if kind == "frost" else state


@pytest.mark.parametrize("kind", NEXT)
def test_three_options(kind: str) -> None:
    """Voting: the space of the action, the next one clockwise, or a Harvest die; a vote cannot be declined."""
    state = voting(kind, dice=[1, 3, 4])
    assert asked(state) == ("vote", 0)
    assert legal_names(state) == {f"vote {kind}", f"vote {NEXT[kind]}", "die 1", "die 3", "die 4"}


@pytest.mark.parametrize("kind", NEXT)
def test_vote_on_the_space_or_the_next(kind: str) -> None:
    """Voting, first and second option: Frost > Sun > Wind > Rain > Frost."""
    for space in (kind, NEXT[kind]):
        state = play(voting(kind), f"vote {space}")
        assert {name: votes_on(state, name) for name in NEXT} == {name: (int(name == space), 0) for name in NEXT}
        assert by_seat(state, "vote_supply") == (11, 12)
        assert by_seat(state, "points") == (0, 0)


@pytest.mark.parametrize(
    ("rolled", "votes", "after", "points"),
    [
        ([4, 4, 4], 4, [3, 4, 4], 1),
        ([2, 3, 4], 3, [2, 2, 4], 1),
        ([2, 3, 4], 2, [1, 3, 4], 1),
        ([1, 3, 4], 1, [0, 3, 4], 2),
        ([HARVEST, HARVEST, 1], 1, [0, 0, 0], 2),
    ],
)
def test_decreasing_a_die(rolled: list[Any], votes: int, after: list[int], points: int) -> None:
    """Voting, third option: one vote less for 1 point; from 1 vote to the Harvest icon for 2."""
    state = play(voting("sun", dice=rolled), f"die {votes}")
    assert dice(state) == after
    assert by_seat(state, "points") == (points, 0)
    assert by_seat(state, "vote_supply") == (12, 12)


@pytest.mark.parametrize(
    ("rolled", "sides"),
    [([HARVEST, 2, 2], {2}), ([HARVEST, HARVEST, 4], {4}), ([HARVEST] * 3, set()), ([1, 2, 3], {1, 2, 3})],
)
def test_which_die_is_chosen(rolled: list[Any], sides: set[int]) -> None:
    """Voting, third option: any die without the Harvest icon; with three icons the option can't be chosen."""
    assert legal_names(voting("wind", dice=rolled)) == {"vote wind", "vote rain", *(f"die {side}" for side in sides)}


def test_a_substituted_action_votes_as_the_action() -> None:
    """Playing Cards: the vote goes by the action that was resolved, not by the cards played."""
    state = play(game(hands=("frost sun", "frost")), "substitute wind", "card frost", "card sun")
    assert legal_names(state) == {"vote wind", "vote rain", "die 4"}


# --- no votes left in the supply -----------------------------------------------------------------------------------

ALL_OUT = {"frost": (5, 1), "sun": (4, 2), "wind": (3, 3)}
"""All 12 votes of player_0 are on the board."""


def test_without_votes_one_is_moved_from_a_chosen_space() -> None:
    """Voting, no votes left; ruling 2.8: the player chooses the space that loses a vote, never the target itself."""
    state = voting("rain", votes=ALL_OUT)
    assert legal_names(state) == {"vote rain", "vote frost", "die 4"}
    to_rain, to_frost = play(state, "vote rain"), play(state, "vote frost")
    assert asked(to_rain) == ("move_vote", 0)
    assert legal_names(to_rain) == weathers("frost", "sun", "wind")
    assert asked(to_frost) == ("move_vote", 0)
    assert legal_names(to_frost) == weathers("sun", "wind")
    after = play(to_rain, "weather sun")
    assert [votes_on(after, name) for name in NEXT] == [(5, 1), (3, 2), (3, 3), (1, 0)]
    after = play(to_frost, "weather wind")
    assert [votes_on(after, name) for name in NEXT] == [(6, 1), (4, 2), (2, 3), (0, 0)]
    assert by_seat(after, "vote_supply") == (0, 6)


def test_only_own_votes_are_moved() -> None:
    """Voting, no votes left: players move *their* votes, so a space with only votes of others is no source."""
    state = play(voting("rain", votes={"frost": (7, 0), "sun": (5, 0), "wind": (0, 3)}), "vote rain")
    assert legal_names(state) == weathers("frost", "sun")


def test_only_source_needs_no_choice() -> None:
    """Voting, no votes left: if all own votes are on one space, one comes from there."""
    state = play(voting("rain", votes={"sun": (12, 0)}), "vote frost")
    assert [votes_on(state, name) for name in NEXT] == [(1, 0), (11, 0), (0, 0), (0, 0)]
    assert asked(state) == ("turn", 1)


def test_a_space_that_holds_all_own_votes_cannot_be_voted_for() -> None:
    """Ruling 2.8: a vote is never taken from the target itself, and never skipped."""
    state = voting("sun", votes={"sun": (12, 0)})
    assert legal_names(state) == {"vote wind", "die 4"}
    state = voting("sun", votes={"wind": (12, 0)})
    assert legal_names(state) == {"vote sun", "die 4"}


def test_no_votes_needed_for_a_die() -> None:
    """Voting, third option: decreasing a die places no vote."""
    state = play(voting("rain", votes=ALL_OUT), "die 4")
    assert [votes_on(state, name) for name in NEXT] == [(5, 1), (4, 2), (3, 3), (0, 0)]
    assert by_seat(state, "points") == (1, 0)


def test_with_votes_in_supply_none_is_moved() -> None:
    """Voting: a vote comes from the personal supply while it has one."""
    state = play(voting("rain", votes={"frost": (5, 0), "sun": (4, 0), "wind": (2, 0)}), "vote frost")
    assert [votes_on(state, name) for name in NEXT] == [(6, 0), (4, 0), (2, 0), (0, 0)]
    assert by_seat(state, "vote_supply") == (0, 12)
