"""Ratings of players by the places in their games."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from petrichor_env.config import Config
from petrichor_env.state import NOBODY, STATE
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.batch import Batch
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
