"""Results of measured agents: the reports and the intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from petrichor_env.config import MODULES, VARIANTS, Config
from tabletop_agents import GreedyAgent, RandomAgent
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_training.measure.evaluation import EvaluationStopped, play_games
from tabletop_training.measure.results import Results, mean_interval, wilson_interval
from tabletop_training.petrichor.summaries import ALL_VARIANTS, summarize


def test_all_variants_are_the_16_combinations() -> None:
    assert len(ALL_VARIANTS) == len(set(ALL_VARIANTS)) == 16
    assert ALL_VARIANTS[0] == ()
    assert ALL_VARIANTS[-1] == VARIANTS
    assert all(Config(variants=variants).variants == variants for variants in ALL_VARIANTS)


def test_wilson_interval_has_the_known_numbers() -> None:
    """By the formula of Wilson (1927): 8 of 10, and the ends."""
    assert wilson_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson_interval(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    for wins, games in ((11, 10), (-1, 10), (0, 0)):
        with pytest.raises(ValueError, match="0 to games"):
            wilson_interval(wins, games)


def test_mean_interval_has_the_known_numbers() -> None:
    """1 … 5: mean 3, standard error 1/sqrt(2), Student's quantile for 4 degrees of freedom 2.7764."""
    assert mean_interval(np.arange(1.0, 6.0)) == pytest.approx((3 - 1.9633, 3 + 1.9633), abs=1e-3)
    assert mean_interval(np.array([4.0])) == (-np.inf, np.inf)
    assert mean_interval(np.array([2.0, 2.0])) == (2, 2)


@pytest.mark.parametrize("agent", [RandomAgent(), GreedyAgent()], ids=lambda agent: agent.name)
def test_evaluation_is_the_same_for_a_seed(agent: Any) -> None:
    first, second, other = (play_games([agent], Config(), 60, seed) for seed in (3, 3, 4))
    assert np.array_equal(first.points, second.points)
    assert np.array_equal(first.lengths, second.lengths)
    assert not np.array_equal(first.points, other.points)


def test_evaluation_reports_the_games_that_were_played() -> None:
    """One game, followed by hand."""
    results = play_games([GreedyAgent()], Config(variants=("one_more_turn",)), 1, seed=8)
    batch = Batch(Config(variants=("one_more_turn",)), 1, 8, autoreset="disabled")
    generator, decisions = np.random.default_rng([8, 0]), 0
    while not batch.terminations[0]:
        batch.step(GreedyAgent().act(Decisions.of(batch), generator))
        decisions += 1
    points = batch.states["points"][0, :2]
    assert results.points.tolist() == [points.tolist()]
    assert results.lengths.tolist() == [decisions]
    assert results.won.tolist() == [[bool(points[0] > points[1])]]
    assert results.margins.tolist() == [points[0] - points[1]]


@pytest.mark.parametrize(
    "config", [Config(players=3), Config(players=5, modules=MODULES)], ids=lambda config: config.name
)
def test_evaluation_with_more_players_names_every_winner(config: Config) -> None:
    finished: list[int] = []
    players = config.players
    results = play_games([RandomAgent()] * players, config, 200, seed=0, on_finished=finished.append)
    assert sum(finished) == 200
    assert results.points.shape == results.won.shape == (200, players)
    most = results.points == results.points.max(axis=1, keepdims=True)
    assert (results.won <= most).all()
    assert (results.won.sum(axis=1) >= 1).all()
    alone = most.sum(axis=1) == 1
    assert np.array_equal(results.won[alone], most[alone])


def test_evaluation_refuses_bad_input() -> None:
    with pytest.raises(ConfigError, match="1 agent for 2 players"):
        play_games([RandomAgent()], Config(players=2), 5, 0)
    with pytest.raises(ConfigError, match="games=0"):
        play_games([RandomAgent()], Config(), 0, 0)
    with pytest.raises(EvaluationStopped):
        play_games([RandomAgent()], Config(), 5, 0, should_stop=lambda: True)


def test_summary() -> None:
    points = np.array([[30, 20], [25, 25], [10, 25], [41, 40]])
    places = np.array([[1], [2], [2], [1]])
    summary = summarize(
        Results(Config(variants=VARIANTS[:2]), ("someone",), 9, points, places, np.array([60, 70, 50, 60]))
    )
    assert (summary.variants, summary.modules) == ("double_card+non_random_targets", "")
    assert summary.variant_names == VARIANTS[:2]
    assert (summary.agent, summary.games, summary.seed, summary.wins, summary.win_rate) == ("someone", 4, 9, 2, 0.5)
    assert (summary.win_rate_low, summary.win_rate_high) == wilson_interval(2, 4)
    assert (summary.margin, summary.points, summary.neutral_points, summary.decisions) == (-1, 26.5, 27.5, 60)
    assert summary.margin_low < -1 < summary.margin_high
    added = Config(modules=("powers", "cactus"), powers=("rain",))
    summary = summarize(Results(added, ("someone",), 9, points, places, np.array([60, 70, 50, 60])))
    assert (summary.variants, summary.modules) == ("base", "cactus+powers=rain")
