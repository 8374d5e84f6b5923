"""Evaluation, matches and tournaments: games are counted correctly, and intervals have the promised coverage.

The coverage of every interval is measured on simulated games of known strength, with fixed seeds: 95 % of 4000
samples, which is exact to about ± 0.7 percentage points.
"""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from petrichor_env import GAME, Batch, Config
from petrichor_env.state import NOBODY, STATE_VERSION, Source
from tabletop_agents import Agent, GreedyAgent, RandomAgent, checkpoint_path
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ConfigError, IllegalAction
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.files.provenance import provenance
from tabletop_training.files.tables import MARGIN, ReplayFiles
from tabletop_training.measure import matches, tournament
from tabletop_training.measure.evaluation import (
    EVALUATION_SEED,
    EvaluationStopped,
    play_games,
    play_lineups,
    rotations,
)
from tabletop_training.measure.matches import FIRST_LOOK, evaluate, evaluation_of, labels_of, play_match
from tabletop_training.measure.results import (
    Estimate,
    Results,
    concatenate,
    difference_estimate,
    mean_estimate,
    share_estimate,
    wilson_interval,
)
from tabletop_training.study.cells import block_seeds
from tests.support.processes import in_python
from tests.support.results import rows_of
from tests.support.workers import stopping_after

SAMPLES = 4000
NAMES = ("weak", "fair", "good", "best")


class First:
    """Takes the first legal action, so it has no randomness."""

    name = "first"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return np.asarray(decisions.action_masks.argmax(axis=1), np.int64)


class Answers:
    """Answers with the given actions."""

    name = "odd"

    def __init__(self, answer: Callable[[Decisions], Any]) -> None:
        self._answer = answer

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return self._answer(decisions)


def made_up(points: np.ndarray, lineups: np.ndarray, seeds: np.ndarray, names: Sequence[str] = NAMES) -> Results:
    """Results of games with these points. The most points win; equal ones share the victory."""
    places = stats.rankdata(-points, method="min", axis=1).astype(np.int64)
    decisions = np.full(points.shape, 70)
    config = Config(players=points.shape[1])
    return Results(
        config, tuple(names), 0, points, places, decisions.sum(axis=1), decisions, seeds=seeds, lineups=lineups,
        seconds=np.ones(len(names)),
    )  # fmt: skip


# --- Intervals -------------------------------------------------------------------------------------------------------


def test_shares_of_zeros_and_ones_have_wilsons_interval() -> None:
    for wins, games in ((0, 10), (8, 10), (10, 10), (50, 100), (1, 1)):
        estimate = share_estimate(np.arange(games) < wins)
        assert estimate.value == wins / games
        assert estimate[1:] == pytest.approx(wilson_interval(wins, games), abs=1e-12)


def test_equal_shares_leave_an_interval() -> None:
    for value in (0.0, 0.5, 1.0):
        few, many = (share_estimate(np.full(n, value)) for n in (10, 1000))
        for estimate in (few, many):
            assert estimate.value == value
            assert 0 <= estimate.low <= value <= estimate.high <= 1
        assert few.width > 0.15 > 0.005 > many.width > 0


def test_seeds_that_decide_the_game_widen_the_interval_and_seats_that_do_narrow_it() -> None:
    """60 victories in 100 games, from 50 seeds of two: both games alike, independent, or one victory each."""
    alike = np.repeat([1.0, 0.0], [30, 20])
    independent = np.repeat([1.0, 0.5, 0.0], [18, 24, 8])
    opposed = np.repeat([1.0, 0.5], [10, 40])
    widths = [share_estimate(shares).width for shares in (opposed, independent, alike)]
    assert widths[0] < 0.7 * widths[1] < widths[1] < 0.8 * widths[2]
    low, high = wilson_interval(60, 100)
    assert widths[1] == pytest.approx(high - low, rel=0.03)


def test_intervals_refuse_what_they_are_not_for() -> None:
    for values in (np.array([]), np.array([0.5, 1.1]), np.array([-0.1])):
        with pytest.raises(ValueError, match="all from 0 to 1"):
            share_estimate(values)
    for values in (np.array([]), np.array([0.5, 1.1]), np.array([-1.1])):
        with pytest.raises(ValueError, match="all from -1 to 1"):
            difference_estimate(values)


def _shares(generator: np.random.Generator, chances: np.ndarray) -> np.ndarray:
    """Mean victories of seeds. `chances` are those of each game, (samples, seeds, games a seed)."""
    return np.asarray((generator.random(chances.shape) < chances).mean(axis=2))


def _coverage(estimates: Sequence[Estimate], truth: float) -> float:
    return float(np.mean([estimate.low <= truth <= estimate.high for estimate in estimates]))


@pytest.mark.parametrize("seeds", [30, 200])
@pytest.mark.parametrize(
    ("kind", "truth"),
    [("even", 0.5), ("strong", 0.9), ("nearly always", 0.98), ("seeds decide", 0.7), ("first seat wins", 0.75)],
)
def test_coverage_of_win_rates(kind: str, truth: float, seeds: int) -> None:
    """Two rotations a seed. If chances differ by seed, its games are correlated; if by seat, they are opposed."""
    generator = np.random.default_rng(seeds)
    shape = (SAMPLES, seeds, 2)
    chances = {
        "seeds decide": np.repeat(generator.beta(0.7, 0.3, (SAMPLES, seeds, 1)), 2, axis=2),
        "first seat wins": np.broadcast_to(np.array([0.95, 0.55]), shape),
    }.get(kind, np.full(shape, truth))
    shares = _shares(generator, chances)
    assert 0.94 < _coverage([share_estimate(sample) for sample in shares], truth) < 0.985


def test_games_of_one_seed_are_not_independent_observations() -> None:
    """If they were, intervals would be too narrow where the seed decides."""
    generator = np.random.default_rng(2)
    chances = np.repeat(generator.beta(0.35, 0.15, (SAMPLES, 100, 1)), 2, axis=2)
    wins = (generator.random(chances.shape) < chances).reshape(SAMPLES, -1).sum(axis=1)
    ends = {int(w): wilson_interval(int(w), 200) for w in np.unique(wins)}
    assert np.mean([ends[int(w)][0] <= 0.7 <= ends[int(w)][1] for w in wins]) < 0.91


@pytest.mark.parametrize(
    ("first", "second", "alike", "seeds", "most"),
    [(0.85, 0.8, 0.5, 30, 0.98), (0.85, 0.8, 0.5, 300, 0.965), (0.5, 0.5, 0.0, 100, 0.965), (0.99, 0.98, 0.0, 64, 1)],
)
def test_coverage_of_paired_differences(first: float, second: float, alike: float, seeds: int, most: float) -> None:
    """Solo victories of two agents on the same seeds. In a part of them the same luck decides for both."""
    generator = np.random.default_rng(seeds)
    luck, other = generator.random((2, SAMPLES, seeds))
    same = generator.random((SAMPLES, seeds)) < alike
    differences = (luck < first) * 1.0 - (np.where(same, luck, other) < second)
    covered = _coverage([difference_estimate(sample) for sample in differences], first - second)
    assert 0.94 < covered <= most


def test_pairing_narrows_the_difference() -> None:
    generator = np.random.default_rng(0)
    luck = generator.random(400)
    first, second = (luck < 0.54) * 1.0, (luck < 0.5) * 1.0
    paired, shuffled = difference_estimate(first - second), difference_estimate(first - generator.permutation(second))
    assert paired.width < 0.6 * shuffled.width
    assert paired.low > 0 > shuffled.low


def test_coverage_of_means() -> None:
    """Margins of 40 seeds, with a skewed distribution like that of points."""
    generator = np.random.default_rng(0)
    margins = generator.gamma(4.0, 5.0, (SAMPLES, 40)) - 15
    assert 0.935 < _coverage([mean_estimate(sample) for sample in margins], 5.0) < 0.965


@pytest.mark.parametrize("width", [0.2, 0.1])
@pytest.mark.parametrize("truth", [0.5, 0.8, 0.95, 0.99])
def test_coverage_when_the_width_stops_the_games(truth: float, width: float) -> None:
    """`evaluate` looks after blocks of two rotations a seed. docs/evaluation.md states the coverage asserted here."""
    looks: list[int] = []
    while not looks or looks[-1] < 400:
        played = looks[-1] if looks else 0
        looks.append(played + block_seeds(played, 2))
    assert min(look for look in looks if look >= FIRST_LOOK) < 100
    generator = np.random.default_rng(int(1000 * truth))
    covered = []
    for shares in _shares(generator, np.full((SAMPLES // 2, looks[-1], 2), truth)):
        for look in looks:
            estimate = share_estimate(shares[:look])
            if look >= FIRST_LOOK and estimate.width <= width:
                break
        else:
            pytest.fail(f"{looks[-1]} seeds, and still wider than {width}")
        covered.append(estimate.low <= truth <= estimate.high)
    assert 0.935 < np.mean(covered) < 0.985


# --- Results ---------------------------------------------------------------------------------------------------------


def test_results_by_agent_and_by_seed() -> None:
    """Two seeds, two rotations of agents 0 and 2 of three."""
    lineups = np.array([[0, 2], [2, 0], [0, 2], [2, 0]])
    results = made_up(np.array([[30, 20], [25, 25], [10, 40], [44, 20]]), lineups, np.array([7, 7, 8, 8]), NAMES[:3])
    points = results.by_agent(results.points)
    assert points[:, 0].tolist() == [30, 25, 10, 20]
    assert np.isnan(points[:, 1]).all()
    assert points[:, 2].tolist() == [20, 25, 40, 44]
    by_seed = results.by_seed(points)
    assert by_seed[:, [0, 2]].tolist() == [[27.5, 22.5], [15, 42]]
    assert np.isnan(by_seed[:, 1]).all()
    assert results.win_shares.tolist() == [[1, 0], [0.5, 0.5], [0, 1], [1, 0]]
    assert results.places.tolist() == [[1, 2], [1, 1], [2, 1], [1, 2]]
    assert results.margins_by_seat.tolist() == [[10, -10], [0, 0], [-30, 30], [24, -24]]
    assert results.margins.tolist() == [10, 0, -30, 24]


def test_places_of_four() -> None:
    lineups = np.arange(4)[None, :]
    results = made_up(np.array([[20, 30, 20, 10]]), lineups, np.array([0]))
    assert results.places.tolist() == [[2, 1, 2, 4]]
    assert results.margins_by_seat[0, 1] == pytest.approx(30 - 50 / 3)


def test_results_are_put_together_only_if_they_fit() -> None:
    first, second = (play_games([RandomAgent()], Config(), 5, seed, record_actions=True) for seed in (0, 5))
    both = concatenate([first, second])
    whole = play_games([RandomAgent()], Config(), 10, 0)
    assert both.seeds.tolist() == whole.seeds.tolist() == list(range(10))
    assert len(both) == 10
    assert both.seconds[0] == first.seconds[0] + second.seconds[0]
    assert both.actions is not None and [len(actions) for actions in both.actions] == both.lengths.tolist()
    other = play_games([RandomAgent()], Config(variants=("double_card",)), 5, 0)
    for parts in ([], [first, other]):
        with pytest.raises(ValueError, match="of the same agents, configuration and editions"):
            concatenate(parts)


# --- Playing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 5])
def test_every_agent_sits_in_every_seat(players: int) -> None:
    turns = rotations(players)
    for seat in range(players):
        assert sorted(turns[:, seat]) == list(range(players))
    for row in turns.tolist():
        assert all((after - before) % players == 1 for before, after in pairwise(row))


def test_a_match_plays_every_seed_in_all_rotations() -> None:
    finished: list[int] = []
    agents: list[Agent] = [RandomAgent(), First(), RandomAgent()]
    results = play_match(agents, Config(players=3), [5, 9], on_finished=finished.append)
    assert results.seeds.tolist() == [5, 5, 5, 9, 9, 9]
    assert results.lineups.tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 2
    assert sum(finished) == len(results) == 6
    assert np.array_equal(results.decisions.sum(axis=1), results.lengths)
    again = play_match(agents, Config(players=3), [5, 9])
    assert np.array_equal(results.points, again.points)


def test_an_agent_plays_the_seats_that_the_lineup_gives_it() -> None:
    """`First` has no randomness, so a game is the same however it is grouped, and can be followed by hand."""
    config = Config(players=2)
    results = play_lineups([First(), RandomAgent()], config, [3, 4], np.array([[0, 1], [1, 0]]), record_actions=True)
    assert results.actions is not None
    for game, seat in ((0, 0), (1, 1)):
        batch = Batch(config, 1, 3 + game, autoreset="disabled")
        for action in results.actions[game]:
            if batch.actors[0] == seat:
                assert action == batch.action_masks[0].argmax()
            batch.step(np.array([int(action)]))
        assert batch.actors[0] == NOBODY  # the recorded actions are the whole game
        assert batch.states["points"][0, :2].tolist() == results.points[game].tolist()
        assert batch.winners(batch.states)[0].tolist() == results.won[game].tolist()


@pytest.mark.parametrize("players", [1, 2, 4])
def test_points_and_places_are_the_rules(players: int) -> None:
    results = play_games([RandomAgent()] * players, Config(players=players), 60, 0)
    assert results.scored.shape == (60, max(2, players), len(Source))
    assert np.array_equal(results.scored.sum(axis=2), results.points)
    assert np.array_equal(results.places == 1, results.won)
    if players > 1:
        better = results.points[:, :, None] > results.points[:, None, :]
        assert (results.places[:, :, None] < results.places[:, None, :])[better].all()
    assert (results.decisions.sum(axis=1) == results.lengths).all()
    assert results.seconds.min() > 0


def test_wrong_answers_name_the_agent() -> None:
    """The words are the same in an evaluation and in a game where the agent plays another seat."""
    config = Config(players=2)
    for answer, text in (
        (lambda decisions: np.zeros(len(decisions)), r"act returns float64 \(\d,\), not ints of shape \(\d,\)"),
        (lambda decisions: np.zeros(9, int), r"act returns int64 \(9,\), not ints of shape \(\d,\)"),
        (lambda decisions: np.full(len(decisions), -1), r"action -1 does not answer '\w+' of player_\d; legal are "),
        (lambda decisions: np.full(len(decisions), 10**6), "action 1000000 does not answer"),
        (lambda decisions: decisions.action_masks.argmin(axis=1), r"action \d+ \(.*\) does not answer"),
    ):
        odd = Answers(answer)
        with pytest.raises(IllegalAction, match=f"agent 'odd': {text}"):
            play_games([odd, RandomAgent()], config, 5, 0)
        with pytest.raises(IllegalAction, match=f"agent 'odd': {text}"):
            learner_games(config, 5, (odd,), seed=0)


def test_playing_refuses_bad_input() -> None:
    two: list[Agent] = [RandomAgent(), First()]
    for lineups in ([[0, 0]], [[0, 2]], [[-1, 0]], [[0, 1, 2]], [[0, 1], [1, 0]]):
        with pytest.raises(ConfigError, match="lineups: "):
            play_lineups(two, Config(players=2), [0], np.array(lineups))
    for config, seats in ((Config(), "1 player"), (Config(players=3), "3 players")):
        with pytest.raises(ConfigError, match=f"2 agents for {seats}: there must be one for each seat"):
            play_match(two, config, [0])
    with pytest.raises(ConfigError, match=r"seeds=\[\]: must be a list of at least one int"):
        play_match(two, Config(players=2), [])
    with pytest.raises(EvaluationStopped):
        play_match(two, Config(players=2), [0], should_stop=lambda: True)
    with pytest.raises(ConfigError, match="1 agent for 2 players"):
        play_games([RandomAgent()], Config(players=2), 5, 0)
    with pytest.raises(ConfigError, match="games=0"):
        play_games([RandomAgent()], Config(), 0, 0)


# --- Evaluations -----------------------------------------------------------------------------------------------------


def test_a_match_between_equals_is_even_for_certain() -> None:
    """An agent without randomness plays itself: each rotation gives the same result with the labels swapped."""
    evaluation = evaluate([First(), First()], Config(players=2), 60, 0)
    for report in evaluation.reports:
        estimates = report.estimates
        assert (report.games, report.seeds) == (60, 30)
        assert estimates["win_rate"].value == 0.5
        assert estimates["margin"].value == 0
        assert estimates["advantage"].low < 0 < estimates["advantage"].high
    assert [report.agent for report in evaluation.reports] == ["first", "first #2"]
    assert evaluation.comparisons[0].win_rate.value == 0
    assert sum(seat.value for seat in evaluation.seats) == pytest.approx(1)


def test_greedy_beats_random() -> None:
    evaluation = evaluate([GreedyAgent(), RandomAgent()], Config(players=2), 20, 0)
    greedy, weak = evaluation.reports
    assert greedy.estimates["advantage"].low > 0 > weak.estimates["advantage"].high
    assert greedy.estimates["win_rate"].value + weak.estimates["win_rate"].value == pytest.approx(1)
    assert greedy.estimates["margin"].low > 0
    assert greedy.estimates["place"].high < 1.5 < weak.estimates["place"].low
    (difference,) = evaluation.comparisons
    assert difference.win_rate == pytest.approx([2 * end for end in greedy.estimates["advantage"]])
    assert difference.margin.value == pytest.approx(2 * greedy.estimates["margin"].value)
    assert greedy.decisions_per_second is not None


def test_statistics_of_a_match_take_the_seed_as_the_unit() -> None:
    """In 20 seeds the seat decides, so no agent is better, and the interval is narrow."""
    lineups = np.tile(rotations(2), (20, 1))
    points = np.tile([30, 20], (40, 1))
    evaluation = evaluation_of([made_up(points, lineups, np.repeat(np.arange(20), 2), NAMES[:2])], NAMES[:2], "games")
    for report in evaluation.reports:
        assert report.estimates["win_rate"].value == 0.5
        assert 0 < report.estimates["win_rate"].width < 0.12
        assert report.estimates["margin"] == (0, 0, 0)
        assert report.estimates["place"].value == 1.5
        assert report.estimates["length"].value == 140
    assert [seat.value for seat in evaluation.seats] == [1, 0]
    assert evaluation.seats[0].low > 0.8


def test_shared_victories_count_in_equal_parts() -> None:
    lineups = np.tile(rotations(3), (4, 1))
    seats = np.tile([30, 30, 10], (12, 1))
    evaluation = evaluation_of([made_up(seats, lineups, np.repeat(np.arange(4), 3), NAMES[:3])], NAMES[:3], "games")
    assert [report.estimates["win_rate"].value for report in evaluation.reports] == pytest.approx([1 / 3] * 3)
    assert [seat.value for seat in evaluation.seats] == [0.5, 0.5, 0]


def test_agents_of_a_game_for_one_are_each_alone() -> None:
    """They need not be told, because there is no other way to play."""
    assert matches.config_for(replace(GAME, players=(1,)), 3).players == 1
    assert matches.config_for(GAME, 3).players == 3 and matches.config_for(GAME, 3, alone=True).players == 1


def test_solo_agents_are_compared_on_the_same_seeds() -> None:
    config = Config(variants=("double_card",))
    evaluation = evaluate([GreedyAgent(), RandomAgent(), RandomAgent()], config, 100, 3)
    assert all(results.seeds.tolist() == list(range(3, 103)) for results in evaluation.results)
    greedy, weak, same = evaluation.reports
    for report, results in zip(evaluation.reports, evaluation.results, strict=True):
        wins = int(results.won.sum())
        assert report.estimates["win_rate"].value == wins / 100
        assert report.estimates["win_rate"][1:] == pytest.approx(wilson_interval(wins, 100))
        assert report.estimates["others_points"].value == results.points[:, 1].mean()
        assert "place" not in report.estimates
    assert same.agent == "random #2"
    assert same.estimates == weak.estimates  # the same agent on the same seeds
    first, _, nothing = evaluation.comparisons
    assert (first.first, first.second) == ("greedy", "random")
    margins = evaluation.results[0].margins - evaluation.results[1].margins
    assert first.margin == mean_estimate(margins)
    assert first.margin.low > 0
    assert nothing.margin == (0, 0, 0)
    assert nothing.win_rate.value == 0 < nothing.win_rate.width
    assert greedy.games == 100
    assert evaluation.seats == ()


def test_evaluations_are_the_same_for_a_seed_and_replay_block_by_block() -> None:
    blocks: list[int] = []
    agents: list[Agent] = [RandomAgent(), First()]
    first = evaluate(
        agents, Config(players=2), 301, 0, on_block=lambda block, _: blocks.append(len(block[0])), record_actions=True
    )
    assert blocks == [64, 64, 64, 64, 46]  # 151 seeds of two games
    assert first.results[0].actions is not None
    again, other = (evaluate(agents, Config(players=2), 301, seed) for seed in (0, 1000))
    assert np.array_equal(first.results[0].points, again.results[0].points)
    assert not np.array_equal(first.results[0].points, other.results[0].points)


def test_the_width_stops_the_games() -> None:
    agents: list[Agent] = [RandomAgent(), First()]
    evaluation = evaluate(agents, Config(players=2), 5000, 0, until_width=0.15)
    assert evaluation.stopped == "width"
    assert evaluation.width <= 0.15
    assert FIRST_LOOK <= evaluation.reports[0].seeds < 500
    early = evaluate(agents, Config(players=2), 5000, 0, until_width=0.9)
    assert early.reports[0].seeds == FIRST_LOOK
    never = evaluate(agents, Config(players=2), 200, 0, until_width=0.01)
    assert (never.stopped, never.reports[0].games) == ("games", 200)
    assert never.width > 0.01


def test_stopping_keeps_whole_blocks() -> None:
    agents: list[Agent] = [RandomAgent(), First()]
    finished: list[int] = []
    evaluation = evaluate(
        agents, Config(players=2), 500, 0, on_finished=finished.append, should_stop=lambda: sum(finished) > 100
    )
    assert evaluation.stopped == "interrupted"
    assert evaluation.reports[0].games == 64
    whole = evaluate(agents, Config(players=2), 64, 0)
    assert evaluation.reports[0].estimates == whole.reports[0].estimates
    with pytest.raises(EvaluationStopped):
        evaluate(agents, Config(players=2), 500, 0, should_stop=lambda: True)


def test_blocks_grow_with_what_is_done() -> None:
    assert [block_seeds(played, 2) for played in (0, 100, 800, 10**6)] == [32, 32, 100, 512]
    assert block_seeds(0, 1000) == block_seeds(10**6, 1000) == 1
    assert labels_of(("a", "b", "a", "a")) == ("a", "b", "a #2", "a #3")


# --- Tournaments -----------------------------------------------------------------------------------------------------


def test_lineups_of_a_tournament() -> None:
    assert tournament.lineups_of(3, 2).tolist() == [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]
    threes = tournament.lineups_of(5, 3)
    assert len(threes) == 10 * 3
    assert len({tuple(row) for row in threes.tolist()}) == 30
    assert (np.bincount(threes.ravel()) == 6 * 3).all()
    for seat in range(3):
        assert (np.bincount(threes[:, seat]) == 6).all()


def _tournament(players: int, seeds: int) -> tournament.Tournament:
    """A tournament of four agents whose points are strength plus luck."""
    lineups = np.tile(tournament.lineups_of(4, players), (seeds, 1))
    luck = np.random.default_rng(0).normal(0, 8, lineups.shape)
    points = (np.array([0, 10, 14, 30])[lineups] + luck).round().astype(np.int64)
    return tournament.tournament_of(
        made_up(points, lineups, np.repeat(np.arange(seeds), len(lineups) // seeds)), NAMES, 5
    )


@pytest.mark.parametrize("players", [2, 3])
def test_cross_table_and_ratings_find_the_order(players: int) -> None:
    played = _tournament(players, 40)
    assert played.labels == ("best", "good", "fair", "weak")
    ratings = [standing.rating.mu for standing in played.standings]
    assert ratings == sorted(ratings, reverse=True)
    assert played.standings[0].rating.low > played.standings[1].rating.high
    assert all(standing.rating.games == standing.report.games for standing in played.standings)
    for i, scores in enumerate(played.scores):
        assert scores[i] is None
        for j, score in enumerate(scores):
            if score is not None:
                mirrored = played.scores[j][i]
                assert mirrored is not None
                assert score.value == pytest.approx(1 - mirrored.value)
                assert (score.low, score.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))
                assert (score.value > 0.5) == (i < j)
    rates = [standing.report.estimates["win_rate"].value for standing in played.standings]
    assert sum(rates) == pytest.approx(4 / players)
    if players == 2:  # the score against the others is the share of victories
        own = [score.value for score in played.scores[1] if score is not None]
        assert rates[1] == pytest.approx(np.mean(own))


def test_ratings_are_the_same_for_a_seed() -> None:
    first, again = _tournament(2, 10), _tournament(2, 10)
    assert [s.rating for s in first.standings] == [s.rating for s in again.standings]
    games = tournament.rated_games(first.results, NAMES)
    assert games[0] == (["weak", "fair"], first.results.places[0].tolist())
    assert tournament.rate(games, NAMES, 6) != tournament.rate(games, NAMES, 5)


def test_tournament_plays_all_groups_on_the_same_seeds() -> None:
    agents: list[Agent] = [RandomAgent(), First(), GreedyAgent()]
    played = tournament.play_tournament(agents, Config(players=2), 30, 4)
    results = played.results
    assert len(results) == 3 * 30
    for seed in range(4, 19):
        assert np.array_equal(results.lineups[results.seeds == seed], tournament.lineups_of(3, 2))
    assert played.finished
    assert played.labels[0] == "greedy"
    assert [standing.report.games for standing in played.standings] == [60, 60, 60]
    row = played.standings[0].row()
    assert row["agent"] == "greedy" and row["rating_low"] < row["rating"] < row["rating_high"]


def test_tournament_stopped_early_and_refused() -> None:
    two: list[Agent] = [RandomAgent(), First()]
    finished: list[int] = []
    played = tournament.play_tournament(
        two, Config(players=2), 200, 0, on_finished=finished.append, should_stop=lambda: sum(finished) > 70
    )
    assert not played.finished
    assert len(played.results) == 64
    with pytest.raises(EvaluationStopped):
        tournament.play_tournament(two, Config(players=2), 10, 0, should_stop=lambda: True)
    for agents, config, games, text in (
        (two, Config(), 10, "players=1: a tournament is of two or more"),
        (two, Config(players=3), 10, "2 agents for games of 3 players"),
        ([*two, First()], Config(players=2), 10, "agents: first more than once"),
        (two, Config(players=2), 0, "games=0: must be at least 1"),
    ):
        with pytest.raises(ConfigError, match=text):
            tournament.play_tournament(agents, config, games, 0)


# --- Commands --------------------------------------------------------------------------------------------------------


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    printed = capsys.readouterr()
    return int(str(caught.value.code or 0)), printed.out + printed.err


def test_a_result_says_what_it_comes_from() -> None:
    """Enough to play the same games again: the checkpoint, what computed with it, and all numbers."""
    overlay = Config(players=2, components={"pieces.drops": 9})
    told = provenance(overlay, 5, ["policy:versus", "greedy", "policy:versus #2"])
    shipped = checkpoint_path("versus", GAME).read_bytes()
    assert told["checkpoints"] == {"policy:versus": hashlib.sha256(shipped).hexdigest()}
    assert (told["python"], told["numpy"]) == (platform.python_version(), np.__version__)
    assert (told["torch"], told["threads"]) == (torch.__version__, torch.get_num_threads())
    assert told["config"]["components"] == (("pieces.drops", 9),) and told["first_seed"] == 5


def test_evaluate_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    words = ("evaluate", "greedy", "random", "--games", "9", "--seed", "5", "--modules", "fertilizer, lake")
    code, printed = _run(capsys, *words, "--output", str(folder))
    assert code == 0
    assert "2p+fertilizer+lake: 5 seeds, 2 rotations" in printed
    assert {path.name for path in folder.iterdir()} == {
        "agents.csv", "differences.csv", "evaluation.json", "games", "games.csv", "settings.json"
    }  # fmt: skip
    assert all(name in printed for name in ("agents.csv", "games.csv"))
    report = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert (report["state_version"], report["checkpoints"]) == (STATE_VERSION, {})
    assert report["config"]["modules"] == ["fertilizer", "lake"]
    assert (report["first_seed"], report["seeds"], report["stopped_by"]) == (5, 5, "games")
    games = rows_of(folder / "games.csv")
    assert len(games) == 5 * 2 * 2
    assert [(row["seed"], row["seat"], row["agent"]) for row in games[:4]] == [
        ("5", "0", "greedy"), ("5", "1", "random"), ("5", "0", "random"), ("5", "1", "greedy")
    ]  # fmt: skip
    agents = rows_of(folder / "agents.csv")
    for row, told in zip(agents, report["reports"], strict=True):
        own = [game for game in games if game["agent"] == row["agent"]]
        assert int(row["games"]) == len(own) == 10
        for column, name in (("won", "win_rate"), ("points", "points"), ("decisions", "decisions")):
            mean = sum(float(game[column]) for game in own) / len(own)
            assert float(row[name]) == pytest.approx(mean, abs=1e-4)
            assert told["estimates"][name]["value"] == pytest.approx(mean)
        assert float(row["win_rate_low"]) <= float(row["win_rate"]) <= float(row["win_rate_high"])
    for game in games:
        assert sum(int(game[source.name.lower()]) for source in Source) == int(game["points"])
    code, printed = _run(capsys, *words, "--output", str(folder))
    assert code == 0
    assert rows_of(tmp_path / "out-2" / "games.csv") == games


def test_evaluate_command_in_solo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("evaluate", "random", "--games", "200", "--until-width", "0.2", "--variants", "one_more_turn")
    code, printed = _run(capsys, *words, "--output", str(tmp_path / "one"))
    assert code == 0
    assert "solo+one_more_turn: 64 seeds" in printed
    assert "Stopped as soon as no interval of a win rate was wider than 20 points." in printed
    assert "100 %" in printed
    games = rows_of(tmp_path / "one" / "games.csv")
    assert [(row["agent"], row["seed"]) for row in games[:2]] == [
        ("random", str(EVALUATION_SEED)), ("neutral", str(EVALUATION_SEED))
    ]  # fmt: skip
    assert games[1]["won"] == ""
    assert not (tmp_path / "one" / "differences.csv").exists()
    code, printed = _run(
        capsys, "evaluate", "random", "greedy", "--solo", "--games", "20", "--output", str(tmp_path / "two")
    )
    assert code == 0
    assert "random less greedy, paired by seed" in printed
    (difference,) = rows_of(tmp_path / "two" / "differences.csv")
    assert float(difference["margin_high"]) < 0
    assert len(rows_of(tmp_path / "two" / "games.csv")) == 2 * 2 * 20


def test_one_seed_gives_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "one"
    code, printed = _run(capsys, "evaluate", "greedy", "random", "--games", "1", "--output", str(folder))
    assert code == 0
    assert "2p: 1 seed, 2 rotations" in printed
    report = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    margin = report["reports"][0]["estimates"]["margin"]
    assert f"{margin['value']:+.1f} ± –" in printed and "± 0" not in printed
    assert (margin["low"], margin["high"]) == (None, None)
    row = rows_of(folder / "agents.csv")[0]
    assert float(row["margin"]) == pytest.approx(margin["value"], abs=1e-4)
    assert (row["margin_low"], row["margin_high"]) == ("", "")
    assert float(row["win_rate_low"]) < float(row["win_rate_high"])
    assert MARGIN.write(Estimate(*margin.values())) == f"{margin['value']:+.1f} ± –"
    code, printed = _run(capsys, "tournament", "greedy", "random", "--games", "1", "--output", str(tmp_path / "cup"))
    assert code == 0
    assert "2 games, 1 seed, 95 %" in printed and "± –" in printed
    words = ("evaluate", "greedy", "random", "--solo", "--games", "1", "--output", str(tmp_path / "solo"))
    code, printed = _run(capsys, *words)
    assert code == 0
    assert re.search(r"margin \S+ \(no interval\)", " ".join(printed.split()))


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        ("random greedy", "random is 50.0 percentage points below"),
        ("greedy random", "greedy is 50.0 percentage points above"),
    ],
)
def test_a_distance_from_one_half_is_said_in_words(
    agents: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = _run(capsys, "evaluate", *agents.split(), "--games", "20", "--output", str(tmp_path / "out"))
    assert code == 0
    assert f"The win rate of {words} one half (" in " ".join(printed.split())


def test_verdicts_and_places_of_three(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verdict belongs to the number beside it. Bounded values are shown within their bounds."""
    words = ("evaluate", "greedy", "random", "greedy", "--games", "4", "--output", str(tmp_path / "out"))
    code, printed = _run(capsys, *words)
    assert code == 0
    text = " ".join(printed.split())
    assert "3p: 2 seeds, 3 rotations" in text
    assert re.search(r"greedy less greedy #2, .*; win rate \S+ percentage points \(\S+ to \S+\): no diff", text)
    assert "no difference of win rates shown" in text
    rows = rows_of(tmp_path / "out" / "agents.csv")
    for row in rows:
        place = [float(row[name]) for name in ("place", "place_low", "place_high")]
        assert 1 <= place[1] <= place[0] <= place[2] <= 3
        assert f"{place[0]:.2f} " in text and f"({place[1]:.2f}–{place[2]:.2f})" in text


def test_what_are_no_agents() -> None:
    """Numbers and classes are no agents; names are."""
    agents: Any = [RandomAgent, "random"]
    config = Config(players=2)
    for play in (
        lambda: evaluate(agents, config, 4),
        lambda: play_match(agents, config, [1]),
        lambda: play_games(agents, config, 2, 0),
        lambda: tournament.play_tournament(agents, config, 4),
    ):
        with pytest.raises(ConfigError, match=r"agents=\[<class .*RandomAgent'>.*: must be a list of Agent or str"):
            play()


def test_tournament_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "cup"
    code, printed = _run(capsys, "tournament", "random", "greedy", "--games", "10", "--output", str(folder))
    assert code == 0
    assert {path.name for path in folder.iterdir()} == {
        *("cross_table.csv", "cross_table.png", "standings.csv", "tournament.json"),
        *("games", "games.csv", "settings.json"),
    }  # fmt: skip
    assert [row["agent"] for row in rows_of(folder / "standings.csv")] == ["greedy", "random"]
    cells = rows_of(folder / "cross_table.csv")
    assert [(cell["agent"], cell["against"]) for cell in cells] == [("greedy", "random"), ("random", "greedy")]
    assert (folder / "cross_table.png").read_bytes().startswith(b"\x89PNG")
    report = json.loads((folder / "tournament.json").read_text(encoding="utf-8"))
    assert (report["games"], report["seeds"], report["finished"]) == (10, 5, True)
    assert "greedy" in printed and "cross_table.png" in printed


@pytest.mark.parametrize("main", [matches.main, tournament.main])
def test_games_with_numbers_of_ones_own(main: Callable[..., Path], tmp_path: Path) -> None:
    """An overlay file makes Cotton score nothing."""
    numbers = tmp_path / "numbers.toml"
    numbers.write_text("[tiles.cotton]\nscores = [0, 0, 0, 0]\n")
    cotton = {}
    for name, components in (("printed", None), ("own", numbers)):
        config = Config(players=2, components=None if components is None else str(components))
        folder = main(["random", "greedy"], config, games=20, output=tmp_path / name)
        with (folder / "games.csv").open(newline="", encoding="utf-8") as file:
            cotton[name] = sum(int(row["cotton"]) for row in csv.DictReader(file))
    assert cotton["printed"] > 0
    assert cotton["own"] == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("evaluate nobody", "agent 'nobody': must be one of"),
        ("evaluate greedy random --variants double_card", "variants=('double_card',): these are the solo game's"),
        ("evaluate random --modules lake", "the Lake is not used in solo play"),
        ("evaluate random --modules castle", "modules: unknown 'castle'; allowed are"),
        ("evaluate random --until-width 5", "until_width=5.0: must be between 0 and 1"),
        ("evaluate random random random random random random", "6 agents: at most 5 play one game"),
        ("evaluate policy:nothing.zip", "nothing.zip"),
        ("tournament random greedy --players 1", "players=1: a tournament is of two or more"),
        ("tournament random greedy --players 3", "2 agents for games of 3 players: there must be at least 3"),
        ("tournament random random", "agents: random more than once"),
    ],
)
def test_commands_refuse_bad_input(words: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = _run(capsys, *words.split(), "--output", str(tmp_path / "out"))
    assert code == 2
    assert text in printed
    assert len(printed.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
@pytest.mark.parametrize(
    ("command", "number"),
    [("evaluate", signal.SIGINT), pytest.param("tournament", signal.SIGTERM, marks=pytest.mark.slow)],
)
def test_a_signal_keeps_what_is_done(command: str, number: signal.Signals, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    result = tmp_path / "result.json"
    words = [command, "random", "greedy", "--games", "1000000", "--output", str(folder), "--json", str(result)]
    program = f"from tabletop_cli import petrichor; petrichor.main({words!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 240
    while not (folder / "games").exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert f"Stopped early. To continue: petrichor {command} --resume {folder}" in output
    told = json.loads(result.read_text(encoding="utf-8"))
    assert told["stopped_by"] == "interrupted" if command == "evaluate" else not told["finished"]
    games = rows_of(folder / "games.csv")
    name = "agents.csv" if command == "evaluate" else "standings.csv"
    assert {int(row["games"]) for row in rows_of(folder / name)} == {len(games) // 2}


@pytest.mark.parametrize("module", [matches, tournament])
def test_only_games_that_are_played_now_have_replays(module: Any, tmp_path: Path) -> None:
    folder = module.main(["random", "greedy"], Config(players=2), games=4, output=tmp_path / "out")
    module.resume(folder, GAME, workers=stopping_after(0), replays=ReplayFiles(tmp_path / "replays"))
    assert not list((tmp_path / "replays").iterdir())


def test_agents_of_ones_own_are_named_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that somebody sent runs nobody's code by itself. Settings can't be changed."""
    name = "tabletop_agents:GreedyAgent"
    folder = matches.main([name, "random"], Config(players=2), games=2, output=tmp_path / "out")
    code, printed = _run(capsys, "evaluate", "--resume", str(folder))
    assert code == 2 and f"add the agents {name}" in printed
    assert _run(capsys, "evaluate", name, "--resume", str(folder))[0] == 0
    code, printed = _run(capsys, "evaluate", name, "--resume", str(folder), "--games", "9", "--solo")
    assert code == 2 and "games, solo: not with --resume, which keeps its settings" in printed
    code, printed = _run(capsys, "tournament", "--resume", str(folder))
    assert code == 2 and "the settings of evaluate of petrichor, not of `petrichor tournament`" in printed
    code, printed = _run(capsys, "evaluate", "--output", str(tmp_path / "none"))
    assert code == 2 and "agents: name at least one" in printed


@pytest.mark.parametrize(
    "command", ["evaluate random greedy --games 2", pytest.param("difficulty random --games 1", marks=pytest.mark.slow)]
)
def test_an_output_that_is_not_utf_8(command: str, tmp_path: Path) -> None:
    """Characters that it can't show are replaced."""
    run = f"from tabletop_cli.petrichor import main; main('{command} --output out'.split())"
    done = in_python(run, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii", "COLUMNS": "100"})
    assert "random" in done.stdout and done.stdout.isascii()
