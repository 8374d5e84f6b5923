"""Game End & Victory, and Wheat's bonus."""

from __future__ import annotations

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.state import NOBODY, STATE, State
from tests.rulebook.base_game import Numbers, by_seat, end_round, final_round, over, phase, tile

TRACK = (0, 1, 3, 5, 8, 11, 15, 19, 24, 29, 35, 41, 48)
"""Points by Voting Wins (rulings 1)."""


def winners(state: State) -> set[int]:
    states = np.zeros(1, STATE)
    states[0] = state
    won = Batch(Config(players=int(state["players"])), 1, seed=0).winners(states)
    return set(np.flatnonzero(won[0]).tolist())


def places_of(players: int, points: Numbers, wins: Numbers, forfeited: int) -> Numbers:
    """The places of a game with this end; the winners have to be in place 1."""
    states = Batch(Config(players=players), 1, seed=0).states
    owners = len(points)
    states["points"][0, :owners], states["voting_wins"][0, :owners], states["forfeited"] = points, wins, forfeited
    batch = Batch(Config(players=players), 1, seed=0)
    places = batch.places(states)[0]
    assert len(places) == owners and batch.winners(states)[0].tolist() == (places[:players] == 1).tolist()
    return tuple(places.tolist())


@pytest.mark.parametrize(("rounds", "last"), [(4, 4), (6, 6)])
def test_game_ends_after_the_final_round(rounds: int, last: int) -> None:
    """Game End: the game ends after round 4 of the short form, round 6 of the long form."""
    quiet = {"frost": (1, 1), "rain": (1, 1)}
    for number in range(1, last + 1):
        state = end_round(votes=quiet, rounds=rounds, round=number)
        assert over(state) == (number == last)
        assert phase(state) == ("over" if number == last else "action")


def test_points_beyond_a_lap_of_the_track() -> None:
    """Goal of the Game: the +50/+100 tokens count points beyond 50 and 100."""
    state = final_round(points=(49, 148), voting_wins=(2, 2))
    assert by_seat(state, "points") == (52, 151)


# --- Voting Wins ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wins", range(13))
def test_points_for_voting_wins(wins: int) -> None:
    """Game End: each player gains the points of their space on the Voting Wins track."""
    other = 12 - wins  # two wins in each of 6 rounds are the most
    state = end_round(rounds=6, round=6, voting_wins=(wins, other), points=(10, 20))
    assert by_seat(state, "points") == (10 + TRACK[wins], 20 + TRACK[other])


def test_wins_of_the_final_round_count() -> None:
    """Game End: the space after the final Weather Phase counts."""
    state = final_round(votes={"frost": (2, 1), "rain": (0, 1)}, voting_wins=(3, 0))
    assert by_seat(state, "voting_wins") == (4, 1)
    assert by_seat(state, "points") == (8, 1)


def test_voting_wins_score_at_the_end_only() -> None:
    """Winning the Weather Vote: the track scores at the end of the game."""
    state = end_round(votes={"frost": (2, 1), "rain": (0, 1)}, voting_wins=(3, 0), round=3)
    assert by_seat(state, "points") == (0, 0)


# --- Wheat ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "bonus"),
    [
        ((1, 0), (12, 0)),
        ((1, 3), (0, 12)),
        ((2, 2), (12, 12)),
        ((0, 0), (0, 0)),
        ((2, 2, 1), (12, 12, 0)),
        ((1, 1, 1), (12, 12, 12)),
        ((0, 0, 0), (0, 0, 0)),
        ((3, 0, 1, 3), (12, 0, 0, 12)),
    ],
)
def test_wheat_bonus(tokens: Numbers, bonus: Numbers) -> None:
    """Game End, Wheat; ruling 2.17: 12 points for the most tokens, at least one; every tied player scores 12."""
    assert by_seat(final_round(len(tokens), wheat_tokens=tokens), "points") == bonus


def test_wheat_bonus_counts_the_final_harvest() -> None:
    """Wheat: tokens of the final Harvest count at the end of the game."""
    state = final_round(wheat_tokens=(1, 0), field={"b1": tile("wheat", (1, 2)), "b3": tile("wheat", (0, 3))})
    assert by_seat(state, "wheat_tokens") == (1, 2)
    assert by_seat(state, "points") == (3, 2 + 2 + 12)


def test_wheat_bonus_at_the_end_only() -> None:
    """Wheat: the bonus is scored only at the end of the game."""
    votes = {"frost": (1, 1), "rain": (1, 1)}
    assert by_seat(end_round(votes=votes, wheat_tokens=(2, 0), round=3), "points") == (0, 0)


# --- Victory -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "wins", "won"),
    [
        ((5, 4), (0, 0), {0}),
        ((5, 9), (0, 0), {1}),
        ((5, 5), (0, 0), {0, 1}),
        ((5, 6), (1, 0), {0}),
        ((5, 5), (2, 2), {0, 1}),
        ((4, 5, 5), (0, 0, 0), {1, 2}),
        ((7, 6, 4), (0, 1, 2), {2}),
        ((7, 6, 3), (0, 1, 2), {1}),
        ((6, 6, 3), (1, 1, 2), {0, 1}),
        ((8, 5, 5, 0), (0, 2, 2, 3), {1, 2}),
        ((1, 1, 1, 1), (0, 0, 0, 0), {0, 1, 2, 3}),
    ],
)
def test_victory(points: Numbers, wins: Numbers, won: set[int]) -> None:
    """Victory; ruling 2.18: most points, then the highest on the Voting Wins track, then a shared victory."""
    state = final_round(len(points), points=points, voting_wins=wins)
    assert over(state)
    assert winners(state) == won


@pytest.mark.parametrize(
    ("points", "wins", "forfeited", "places"),
    [
        ((5, 4), (0, 0), NOBODY, (1, 2)),
        ((5, 5), (1, 2), NOBODY, (2, 1)),
        ((5, 5), (2, 2), NOBODY, (1, 1)),
        ((5, 7, 5), (0, 0, 1), NOBODY, (3, 1, 2)),
        ((5, 7, 5, 3), (1, 0, 1, 9), NOBODY, (2, 1, 2, 4)),
        ((7, 7, 7, 2, 2), (0, 3, 3, 1, 0), NOBODY, (3, 1, 1, 4, 5)),
        ((9, 4, 5), (0, 0, 0), 0, (3, 1, 1)),
        ((9, 4, 5, 5, 5), (0, 0, 0, 1, 2), 4, (1, 1, 1, 1, 5)),
        ((9, 4), (0, 0), 1, (1, 2)),
    ],
)
def test_places(points: Numbers, wins: Numbers, forfeited: int, places: Numbers) -> None:
    """Victory; ruling 2.18: players equal in points and Voting Wins share a place. One who forfeits comes last."""
    assert places_of(len(points), points, wins, forfeited) == places


@pytest.mark.parametrize(
    ("points", "forfeited", "places"),
    [((5, 4), NOBODY, (1, 2)), ((5, 5), NOBODY, (2, 1)), ((4, 5), NOBODY, (2, 1)), ((9, 4), 0, (2, 1))],
)
def test_places_in_solo(points: Numbers, forfeited: int, places: Numbers) -> None:
    """Southern Winds, ruling 3.7: the player needs more points than the neutral player, no matter the Voting Wins."""
    for wins in ((3, 0), (0, 3)):
        assert places_of(1, points, wins, forfeited) == places


def test_wheat_tokens_break_no_ties() -> None:
    """Victory: points come first; Wheat tokens count only by their bonus."""
    state = final_round(points=(12, 0), wheat_tokens=(0, 1), voting_wins=(0, 0))
    assert by_seat(state, "points") == (12, 12)
    assert winners(state) == {0, 1}
