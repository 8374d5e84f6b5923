"""Ratings of players by the places in their games."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from petrichor_env.config import Config
from petrichor_env.state import NOBODY, STATE
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.batch import Batch
from tabletop_training.measure.bradley_terry import elo_ratings
from tabletop_training.measure.ratings import START_MU, START_SIGMA, Rating, Ratings, rate_games


def places(scores: np.ndarray) -> np.ndarray:
    """Places for these scores: 1 for the highest; equal scores share the better place."""
    return np.asarray(stats.rankdata(-scores, method="min", axis=1), np.int64)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_ratings_find_the_order_and_the_distance(players: int) -> None:
    """In games drawn from the model itself, ratings tell who is stronger, and by how much in the model's unit."""
    generator = np.random.default_rng(players)
    ratings, scale = Ratings(), np.sqrt(players) * 25 / 6
    names = [f"strength {i}" for i in range(players)]
    for _ in range(1500):
        scores = generator.gumbel(size=players) + 0.8 * np.arange(players)
        ratings.add(names, places(scores[None])[0])
    assert [rating.name for rating in ratings.table()] == names[::-1]
    gaps = np.diff([ratings[name].mu for name in names]) / scale
    assert np.allclose(gaps.mean(), 0.8, atol=0.25)
    for name in names:
        rating = ratings[name]
        assert rating.games == 1500
        assert rating.low < rating.mu < rating.high
        assert rating.high - rating.low == pytest.approx(2 * 1.959964 * rating.sigma)
        assert 0 < rating.sigma < START_SIGMA / 3


def test_ratings_do_not_depend_on_seats() -> None:
    players, order = ("a", "b", "c", "d"), (1, 2, 2, 4)
    expected = None
    for seats in permutations(range(4)):
        ratings = Ratings()
        ratings.add(["c", "d"], [1, 2])
        ratings.add([players[i] for i in seats], [order[i] for i in seats])
        got = [(rating.name, rating.mu, rating.sigma) for rating in ratings.table()]
        expected = expected or got
        for (name, mu, sigma), (other, other_mu, other_sigma) in zip(got, expected, strict=True):
            assert name == other
            assert (mu, sigma) == pytest.approx((other_mu, other_sigma), abs=1e-9)


def test_a_tie_brings_ratings_together() -> None:
    ratings = Ratings()
    ratings.add(["a", "b"], [1, 1])
    assert ratings["a"].mu == pytest.approx(ratings["b"].mu) == START_MU
    assert ratings["a"].sigma < START_SIGMA
    for _ in range(5):
        ratings.add(["a", "c"], [1, 2])
    before = ratings["a"].mu - ratings["c"].mu
    assert before > 5
    ratings.add(["a", "c"], [1, 1])
    assert 0 < ratings["a"].mu - ratings["c"].mu < before


def test_fixed_and_drifting_players() -> None:
    ratings = Ratings(fixed={"anchor": 25.0}, drifting=("learner",))
    for game in range(2000):
        order = [1, 2] if game % 4 else [2, 1]
        ratings.add(["learner", "anchor"], order)
        ratings.add(["still", "anchor"], order)
    assert (ratings["anchor"].mu, ratings["anchor"].games) == (25.0, 4000)
    assert ratings["anchor"].sigma < 0.01
    assert 25 < ratings["still"].mu < 35
    assert ratings["learner"].sigma > 1.5 * ratings["still"].sigma
    before = ratings["learner"].mu - ratings["still"].mu
    for _ in range(100):
        ratings.add(["learner", "anchor"], [2, 1])
        ratings.add(["still", "anchor"], [2, 1])
    assert ratings["learner"].mu - ratings["still"].mu < before  # it may have changed since


def test_one_player_in_several_seats() -> None:
    ratings = Ratings()
    ratings.add(["a", "a", "a"], [1, 2, 3])
    assert ratings["a"] == Rating("a", games=1)
    ratings.add(["a", "b", "a"], [1, 2, 3])  # the other player is between the two seats
    assert ratings["a"].mu == pytest.approx(START_MU, abs=1.0)
    above = Ratings()
    above.add(["a", "b", "a"], [1, 3, 2])
    assert above["a"].mu > START_MU > above["b"].mu
    assert above["a"].games == above["b"].games == 1


def test_copies_forgotten_players_and_saved_ratings() -> None:
    ratings = Ratings(fixed={"anchor": 25.0})
    ratings.add(["a", "anchor"], [1, 2])
    ratings.start("copy", ratings["a"])
    assert (ratings["copy"].mu, ratings["copy"].sigma, ratings["copy"].games) == (
        ratings["a"].mu,
        ratings["a"].sigma,
        0,
    )
    with pytest.raises(ConfigError, match="'copy' has been rated already"):
        ratings.start("copy", ratings["a"])
    again = Ratings(fixed={"anchor": 25.0})
    again.set_state(json.loads(json.dumps(ratings.get_state())))
    for one in (ratings, again):
        one.add(["copy", "a", "anchor"], [1, 2, 3])
    assert again.table() == ratings.table()
    ratings.forget("a")
    assert "a" not in ratings and "copy" in ratings
    assert ratings["a"] == Rating("a")


def test_games_in_a_drawn_order() -> None:
    generator = np.random.default_rng(1)
    games = [
        (["a", "b"] if pairing == 0 else ["b", "c"], [1, 2] if generator.random() < 0.7 else [2, 1])
        for pairing in (0, 1)
        for _ in range(200)
    ]
    first, again, other, as_given = (rate_games(games, seed=seed).table() for seed in (1, 1, 2, None))
    assert first == again
    assert first != other != as_given
    for one in (first, other):
        assert [rating.name for rating in one] == ["a", "b", "c"]
        assert [rating.games for rating in one] == [200, 400, 200]
    assert max(abs(a.mu - b.mu) for a, b in zip(first, other, strict=True)) < 3 * first[0].sigma


@pytest.mark.parametrize(("players", "order"), [(["a"], [1]), (["a", "b"], [1]), ([], [])])
def test_games_that_cannot_be_rated(players: list[str], order: list[int]) -> None:
    with pytest.raises(ConfigError, match="must be two or more, with a place each"):
        Ratings().add(players, order)


def test_final_places() -> None:
    states = np.zeros(4, STATE)
    states["forfeited"] = NOBODY
    states["actor"] = NOBODY
    states["players"] = states["owners"] = 3
    states["points"][:, :3] = [[30, 20, 20], [30, 30, 30], [30, 30, 30], [50, 40, 60]]
    states["voting_wins"][:, :3] = [[0, 3, 1], [2, 2, 1], [1, 1, 1], [9, 9, 9]]
    states["forfeited"][3] = 2
    assert Batch(Config(players=3)).places(states).tolist() == [[1, 2, 3], [1, 1, 3], [1, 1, 1], [1, 1, 3]]


# --- Bradley and Terry -----------------------------------------------------------------------------------------------


def simulated(strengths: dict[str, float], seeds: int, seed: int = 0) -> dict[tuple[str, str], np.ndarray]:
    """Shares of two games a seed between players whose log odds are these."""
    draw = np.random.default_rng(seed)
    return {
        (one, other): draw.binomial(2, 1 / (1 + np.exp(strengths[other] - strengths[one])), seeds) / 2
        for one, other in combinations(strengths, 2)
    }


def test_elo_is_the_likeliest_one() -> None:
    """Against scipy's optimizer on the likelihood itself, with the part of a game that everybody shares."""
    scores = simulated({"greedy": 0.0, "a": 0.7, "b": -0.4}, 40)
    pairs = list(scores)

    def unlikely(free: np.ndarray) -> float:
        strength = {"greedy": 0.0, "a": free[0], "b": free[1]}
        total = 0.0
        for one, other in pairs:
            won, games = 2 * scores[one, other].sum() + 0.025, 2 * len(scores[one, other]) + 0.05
            expected = 1 / (1 + np.exp(strength[other] - strength[one]))
            total -= won * np.log(expected) + (games - won) * np.log(1 - expected)
        return float(total)

    best = minimize(unlikely, np.zeros(2), tol=1e-12).x
    found, _ = elo_ratings(scores)
    assert found["greedy"] == (0, 0, 0)
    assert [found[name].value for name in "ab"] == pytest.approx(list(best * 400 / np.log(10)), abs=0.01)


def test_elo_does_not_depend_on_the_order_of_players_or_pairings() -> None:
    scores = simulated({"greedy": 0.0, "a": 0.7, "b": -0.4}, 30)
    turned = {(other, one): 1 - shares for (one, other), shares in reversed(scores.items())}
    first, second = elo_ratings(scores)[0], elo_ratings(turned)[0]
    assert {name: pytest.approx(tuple(one)) for name, one in second.items()} == first


def test_elo_intervals_hold_what_was_drawn() -> None:
    """95 % of 60 draws, for the difference of two players."""
    truth, held = 0.7 * 400 / np.log(10), 0
    for seed in range(60):
        interval = elo_ratings(simulated({"greedy": 0.0, "a": 0.7, "b": -0.4}, 40, seed))[0]["a"]
        held += interval.low <= truth <= interval.high
    assert held >= 51  # 50 or fewer of 60 have a chance of 1 in 1,000


def test_misfit_tells_a_circle_from_a_line() -> None:
    line = simulated({"greedy": 0.0, "a": 0.7, "b": -0.4, "c": 1.0}, 60)
    assert elo_ratings(line)[1].p > 0.01
    circle = {("greedy", "a"): 0.9, ("a", "b"): 0.9, ("b", "greedy"): 0.9}
    draw = np.random.default_rng(0)
    found = elo_ratings({pair: draw.binomial(2, share, 60) / 2 for pair, share in circle.items()})[1]
    assert found.p < 1e-6 and found.degrees == 1
    assert "on 1 degree of freedom" in found.text


def test_who_won_nothing_has_no_interval() -> None:
    found, misfit = elo_ratings({("greedy", "a"): np.ones(20), ("greedy", "b"): np.full(20, 0.5)})
    assert found["a"].value < -500 and not found["a"].has_interval
    assert found["b"].has_interval and misfit.degrees == 0
