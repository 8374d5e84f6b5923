"""Leads, decisions and luck: by hand, and by enumeration of a small game whose luck is known exactly."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from petrichor_env import GAME, Config
from tabletop_agents import RandomAgent, make_agent
from tabletop_engine.errors import TabletopError
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.record import FORFEIT
from tabletop_training.measure import course
from tabletop_training.measure.course import MARGIN, QUARTERS, REDRAWS, WIN, Course, course_of
from tabletop_training.measure.evaluation import play_games, play_lineups
from tests.games import leduc_poker, row_houses
from tests.games.leduc_poker import CALL, NO_CARD
from tests.support.networks import network_for

DEALS = list(itertools.permutations([0, 0, 1, 1, 2, 2], 3))
"""All that chance can bring in Leduc poker, equally likely: both cards and the open one."""


class Caller:
    """Always calls, so that only chance decides."""

    name = "caller"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return np.full(len(decisions), CALL)


def ends(first: int, second: int, opened: int) -> np.ndarray:
    """(2, 2) WIN and MARGIN by seat if both call: the ante of one chip is won, lost or kept."""
    worth = [10 * (card == opened) + card for card in (first, second)]
    ahead = np.sign(worth[0] - worth[1])
    return np.array([[(1 + ahead) / 2, (1 - ahead) / 2], [2 * ahead, -2 * ahead]])


def left_of(cards: Any) -> list[int]:
    """The ranks of the four cards that are left."""
    left = [0, 0, 1, 1, 2, 2]
    for card in cards:
        left.remove(card)
    return left


EXPECTED = np.array(
    [
        [
            [
                ends(cards[0], cards[1], opened)
                if opened != NO_CARD
                else np.mean([ends(cards[0], cards[1], one) for one in left_of(cards)], axis=0)
            ]
            for opened in (0, 1, 2, NO_CARD)
        ]
        for cards in itertools.product(range(3), repeat=2)
    ]
).reshape(3, 3, 4, 2, 2)
"""By both cards and the open one, the mean of what may come."""


def perfect(batch: Batch, games: np.ndarray) -> np.ndarray:
    states = batch.states[games]
    return np.asarray(EXPECTED[states["cards"][:, 0], states["cards"][:, 1], states["open_card"]])


def ignorant(batch: Batch, games: np.ndarray) -> np.ndarray:
    """Something that has little to do with the end."""
    cards = batch.states["cards"][games]
    said = np.sin(3.0 * cards + 2.0 * batch.states["open_card"][games, None])
    return np.stack([0.5 + said / 4, 2 * said + 1], axis=1)


@pytest.fixture(scope="module")
def called() -> Any:
    return play_games([Caller(), Caller()], leduc_poker.GAME.config(), 3000, 7, record_actions=True)


def test_the_share_of_luck_is_that_of_the_rules(called: Any) -> None:
    """What the cards and the open card decide, by enumeration of all deals; nothing else decides."""
    for what in (WIN, MARGIN):
        results = np.array([ends(*deal)[what, 0] for deal in DEALS])
        hands = [deal[:2] for deal in DEALS]
        means = [np.mean([r for r, other in zip(results, hands, strict=True) if other == own]) for own in hands]
        set_up = np.var(means) / results.var()
        shares = course_of(called, perfect).share_of_luck(what)
        assert shares[0] == pytest.approx(set_up, abs=0.04)
        assert shares[1] == pytest.approx(1 - set_up, abs=0.04)
        assert (shares[2:] == 0).all()


def test_without_luck_only_the_noise_of_the_redraws_is_left(called: Any) -> None:
    """By symmetry the mean margin is 0 and either wins half of the games; of n redraws 1 / (n + 1) stays."""
    found = course_of(called, perfect)
    for what, mean in ((WIN, 0.5), (MARGIN, 0.0)):
        estimate, left = found.corrected(what)
        assert estimate.low < mean < estimate.high
        assert left == pytest.approx(1 / (REDRAWS + 1), rel=0.15)
        plain = 2 * 1.96 * found.results[:, what, 0].std() / np.sqrt(3000)
        assert estimate.width == pytest.approx(np.sqrt(left) * plain, rel=0.02)


def test_luck_is_0_in_the_mean_whoever_judges(called: Any) -> None:
    """A judge that knows little changes no mean, and finds a smaller share."""
    found = course_of(called, ignorant)
    luck = found.luck.reshape(len(called), -1)
    moved = luck.std(axis=0) > 0
    assert moved.sum() == 8
    assert (np.abs(luck.mean(axis=0)) < 4 * luck.std(axis=0) / np.sqrt(len(called)))[moved].all()
    assert found.share_of_luck(MARGIN).sum() < 0.5
    assert found.skill[0, MARGIN] < course_of(called, perfect).skill[0, MARGIN] < 1


def test_a_perfect_judge_has_the_skill_that_the_rules_allow(called: Any) -> None:
    """In the first round (half of a game) the hands are known, in the second everything."""
    results = np.array([ends(*deal)[MARGIN, 0] for deal in DEALS])
    means = [np.mean([ends(*deal[:2], one)[MARGIN, 0] for one in left_of(deal[:2])]) for deal in DEALS]
    skill = course_of(called, perfect).skill
    assert skill[0, MARGIN] == pytest.approx(1 - np.mean((results - means) ** 2) / results.var(), abs=0.04)
    assert skill[2, MARGIN] == pytest.approx(1) and skill[2, WIN] == pytest.approx(1)
    assert np.isnan(skill[[1, 3]]).all()


def test_the_quarter_in_which_a_game_is_decided() -> None:
    """Ten rounds. As the judge says, seat 0 has won in the second, not yet in the fourth, and for good in the fifth."""
    config = row_houses.GAME.config(players=3)
    results = play_games(["random"] * 3, config, 40, 3, record_actions=True)
    said = np.array([0.5, 0.95, 0.95, 0.3, 0.9, 0.92, 0.99, 0.99, 0.99, 0.99])

    def judge(batch: Batch, games: np.ndarray) -> np.ndarray:
        first = said[batch.states["round"][games] - 1]
        wins = np.stack([first, (1 - first) / 2, (1 - first) / 2], axis=1)
        return np.stack([wins, np.zeros_like(wins)], axis=1)

    first, alone = results.won[:, 0], results.won.sum(axis=1) == 1
    assert (first & alone).any() and (~first).any()
    decided = course_of(results, judge).decided
    assert (decided[first] == (5 - 1) * QUARTERS // 10).all()
    assert (decided[~first] == QUARTERS).all()
    said[9] = 0.5
    assert (course_of(results, judge).decided[first & alone] == QUARTERS).all()


def even(batch: Batch, games: np.ndarray) -> np.ndarray:
    """All players are alike."""
    players = batch.config.players
    return np.stack([np.full((len(games), players), 1 / players), np.zeros((len(games), players))], axis=1)


def test_lead_changes_one_game_at_a_time() -> None:
    """A lead is to have more points than all others; equal points leave it with who had it."""
    config = row_houses.GAME.config(players=3)
    results = play_games([RandomAgent(), RandomAgent(), RandomAgent()], config, 30, 5, record_actions=True)
    assert results.actions is not None
    wanted = []
    for seed, actions in zip(results.seeds, results.actions, strict=True):
        batch, leaders = Batch(config, 1, int(seed), autoreset="disabled"), list[int]()
        for action in actions:
            batch.step([action])
            points = batch.states["points"][0, :3].tolist()
            if points.count(max(points)) == 1:
                leaders.append(points.index(max(points)))
        wanted.append(sum(one != other for one, other in itertools.pairwise(leaders)))
    assert course_of(results, even).lead_changes.tolist() == wanted
    assert max(wanted) > 3


def test_other_games_are_refused(called: Any) -> None:
    with pytest.raises(TabletopError, match="the games of caller end otherwise when they are played again"):
        course_of(replace(called, points=called.points + 1), perfect)


def test_a_game_that_was_forfeited() -> None:
    class GivesUp(RandomAgent):
        name = "gives up"
        forfeits = True

        def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
            answers = super().act(decisions, generator)
            answers[:2] = FORFEIT
            return answers

    results = play_games([GivesUp(), "random"], Config(players=2), 3, 1, record_actions=True)
    assert (results.forfeited == 0).any()
    found = course_of(results, even)
    assert np.array_equal(found.results[:, WIN], results.win_shares)


# --- Statistics ------------------------------------------------------------------------------------------------------


def made_up(games: int, weight: float, seed: int = 0) -> Course:
    """Results 3 + weight x luck of the set-up + noise of variance 1, for one player."""
    draw = np.random.default_rng(seed)
    luck = np.zeros((games, 1 + QUARTERS, 2, 1))
    luck[:, 0] = draw.normal(size=(games, 1, 1))
    ahead = 3 + weight * luck[:, 0, MARGIN, 0] + draw.normal(size=games)
    results = np.stack([ahead > 3, ahead], axis=1)[:, :, None].astype(float)
    none = np.zeros(games, np.int64)
    return Course(results, luck, none, none, np.zeros((QUARTERS, 2)))


def test_corrected_intervals_contain_the_mean_as_often_as_they_say() -> None:
    """The variance left is 1 / (1 + 2²); a share of luck is the squared correlation."""
    found = [made_up(100, 2.0, seed).corrected(MARGIN) for seed in range(400)]
    assert np.mean([one.low < 3 < one.high for one, _ in found]) == pytest.approx(0.95, abs=0.035)
    assert np.mean([left for _, left in found]) == pytest.approx(0.2, rel=0.05)
    one = made_up(5000, 2.0)
    assert one.share_of_luck(MARGIN)[0] == pytest.approx(0.8 * (1 + 1 / REDRAWS), rel=0.03)


def test_a_win_rate_without_luck_is_a_share() -> None:
    """Its interval stays within 0 to 1, and is Wilson's where nothing is explained."""
    one = made_up(400, 0.0)
    estimate, left = one.corrected(WIN)
    assert 0.97 < left <= 1
    assert estimate.width == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.05)
    won = replace(one, results=np.ones_like(one.results))
    assert won.corrected(WIN)[0].high == pytest.approx(1) and won.corrected(WIN)[0].low < 1


def test_few_games_stay_as_they_are() -> None:
    one = made_up(15, 2.0)
    estimate, left = one.corrected(MARGIN)
    assert left == 1 and estimate.value == pytest.approx(one.results[:, MARGIN, 0].mean())


# --- Shipped games ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [1, 3])
def test_heads_of_all_seats(players: int) -> None:
    """A softmax over those who play, or the logit alone; clockwise from the actor."""
    network = network_for(GAME)
    batch = Batch(Config(players=players), 6, 3)
    numbers = batch.states["players"]
    wins, margins = network.wins_and_margins(batch.observations, numbers)
    with torch.no_grad():
        assert network.win_margin_heads is not None
        outputs = network.win_margin_heads(network.trunk(torch.from_numpy(batch.observations)))
    shares = outputs[:, :players].softmax(dim=1) if players > 1 else outputs[:, :1].sigmoid()
    assert np.allclose(wins[:, :players], shares.numpy(), atol=1e-6) and (wins[:, players:] == 0).all()
    assert np.allclose(margins[:, 0], 10 * outputs[:, 5].numpy(), atol=1e-5)


def test_a_policy_judges_every_seat() -> None:
    """What is said of a seat does not depend on who is to move: seat s is (s - actor) clockwise from the actor."""
    results = play_lineups(
        ["random"] * 3, Config(players=3), [4, 5], np.array([[0, 1, 2], [1, 2, 0]]), record_actions=True
    )
    judged = course.shipped_judge(GAME, 3)
    assert judged is not None and judged[0] == "policy:versus"
    batch = Batch(results.config, 5, 0)
    for _ in range(9):
        batch.step(batch.random_actions())
    said = judged[1](batch, np.arange(5))
    assert np.allclose(said[:, WIN].sum(axis=1), 1)
    policy: Any = make_agent("policy:versus", GAME)
    own = policy.assess(Decisions.of(batch), np.random.default_rng(0)).value
    assert np.allclose(said[np.arange(5), WIN, batch.actors], own)


def test_a_section_for_two_agents() -> None:
    games = [
        (agent, what, play_games([agent], Config(variants=variants), 60, 9, record_actions=True))
        for agent in ("random", "greedy")
        for what, variants in (("base game", ()), ("Double card", ("double_card",)))
    ]
    rows = course.rows_of(games)
    assert [(row["agent"], row["what"]) for row in rows] == [(who, what) for who, what, _ in games]
    assert all(np.all(np.diff(row["decided"]) >= 0) for row in rows)
    text = "\n\n".join(course.section(rows))
    assert "`policy:solo` judges the positions" in text and text.count("| `greedy` | Double card |") == 4
    assert course.rows_of([("greedy", "base game", replace(games[0][2], actions=None))]) == []
    assert course.section([]) == []
