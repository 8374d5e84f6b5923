"""Phase 2: Weather Phase, Winning the Weather Vote and Changing the First Player - 2 player games."""

from __future__ import annotations

import pytest

from tests.rulebook.base_game import NEXT, Numbers, by_seat, end_round, final_round, over, votes_on

# --- Winning the Weather Vote --------------------------------------------------------------------------------------

GREEN, BLUE, YELLOW, RED = range(4)


@pytest.mark.parametrize(("blue_on_sun", "wins"), [(2, (1, 1, 1, 0)), (3, (1, 2, 1, 0))])
def test_example(blue_on_sun: int, wins: Numbers) -> None:
    """Winning the Weather Vote, example: all but Red win on Sun or Wind. With one more vote on Sun, Blue wins on both.

    Red's most votes are on Frost, which is not resolved. (The picture with the numbers is lost.)
    """
    votes = {"frost": (0, 1, 0, 3), "sun": (3, blue_on_sun, 1, 0), "wind": (0, 2, 2, 1), "rain": (1, 0, 0, 1)}
    state = end_round(4, votes=votes)
    assert by_seat(state, "voting_wins") == wins
    assert votes_on(state, "frost") == (0, 1, 0, 3)


@pytest.mark.parametrize(
    ("frost", "rain", "wins"),
    [
        ((3, 1), (0, 2), (1, 1)),
        ((3, 1), (2, 1), (2, 0)),
        ((2, 2), (0, 1), (0, 1)),
        ((2, 2), (1, 1), (0, 0)),
        ((0, 4), (0, 1), (0, 2)),
    ],
)
def test_two_players(frost: Numbers, rain: Numbers, wins: Numbers) -> None:
    """Winning the Weather Vote: the most votes on each resolved space win; if 2 players tie, neither advances."""
    assert by_seat(end_round(votes={"frost": frost, "rain": rain}), "voting_wins") == wins


@pytest.mark.parametrize(
    ("frost", "rain", "wins"),
    [
        ((2, 1, 1), (0, 0, 1), (1, 0, 1)),
        ((2, 2, 1), (0, 0, 1), (1, 1, 1)),
        ((1, 1, 1), (1, 1, 1), (2, 2, 2)),
        ((0, 2, 2), (3, 0, 3), (1, 1, 2)),
        ((3, 0, 0), (1, 0, 0), (2, 0, 0)),
    ],
)
def test_three_players(frost: Numbers, rain: Numbers, wins: Numbers) -> None:
    """Winning the Weather Vote, 3 or more players: all tied players advance; ruling 2.11: never without a vote."""
    assert by_seat(end_round(3, votes={"frost": frost, "rain": rain}), "voting_wins") == wins


def test_wins_add_up() -> None:
    """Winning the Weather Vote: each win is one space further on the Voting Wins track."""
    state = end_round(votes={"frost": (3, 1), "rain": (0, 1)}, voting_wins=(4, 2), round=3)
    assert by_seat(state, "voting_wins") == (5, 3)
    assert by_seat(state, "points") == (0, 0)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_space_without_votes_has_no_winner(players: int) -> None:
    """Ruling 2.11: a player with no vote on a space never wins it."""
    state = end_round(players, "weather rain", votes={"frost": (1,)})
    assert by_seat(state, "voting_wins") == (1, *(0,) * (players - 1))
    state = end_round(players, "weather frost", "weather rain")
    assert by_seat(state, "voting_wins") == (0,) * players


def test_votes_of_resolved_spaces_return() -> None:
    """Winning the Weather Vote: votes on resolved spaces go back to their owners; the others stay."""
    votes = {"frost": (3, 1), "sun": (1, 1), "wind": (1, 0), "rain": (2, 2)}
    state = end_round(votes=votes)
    assert [votes_on(state, space) for space in NEXT] == [(0, 0), (1, 1), (1, 0), (0, 0)]
    assert by_seat(state, "vote_supply") == (10, 11)


def test_final_round_counts_two_spaces_only() -> None:
    """Winning the Weather Vote, exception: all voted spaces resolve, but only the two with the most votes count."""
    votes = {"frost": (0, 0, 2), "sun": (3, 1, 0), "wind": (0, 3, 1), "rain": (0, 0, 1)}
    state = final_round(3, votes=votes)
    assert over(state)
    assert by_seat(state, "voting_wins") == (1, 1, 0)
    assert by_seat(state, "vote_supply") == (12, 12, 12)


# --- Changing the First Player - 2 player games --------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("own", "other", "keeps"), [(2, 1, True), (1, 1, False), (0, 0, False), (1, 2, False), (1, 0, True)]
)
def test_two_players_change(first: int, own: int, other: int, keeps: bool) -> None:
    """Changing the First Player: the marker moves unless the First Player has more votes left on the board."""
    left = (own, other) if first == 0 else (other, own)
    votes = {"frost": (3, 3), "rain": (4, 4), "wind": left}
    state = end_round(votes=votes, first_player=f"player_{first}")
    assert votes_on(state, "wind") == left
    assert state["first_player"] == (first if keeps else 1 - first)


def test_two_players_votes_that_returned_do_not_count() -> None:
    """Changing the First Player: only the remaining votes count, on all spaces together."""
    state = end_round(votes={"frost": (8, 0), "rain": (4, 0), "sun": (0, 1)})
    assert state["first_player"] == 1
    state = end_round(votes={"frost": (3, 3), "rain": (4, 0), "sun": (1, 1), "wind": (2, 1)})
    assert state["first_player"] == 0


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("left", [0, 1])
def test_more_players_change_by_passing_only(players: int, left: int) -> None:
    """Changing the First Player is for 2 players; with more, the marker stays where passing put it."""
    state = end_round(players, votes={"frost": (0, 3), "rain": (0, 4), "wind": (left, 0)})
    assert state["first_player"] == 0


def test_first_player_begins_the_next_round() -> None:
    """Phase 1: play begins with the (new) First Player."""
    state = end_round(votes={"frost": (3, 3), "rain": (4, 4), "wind": (0, 1)})
    assert (state["round"], state["first_player"], state["actor"]) == (2, 1, 1)
