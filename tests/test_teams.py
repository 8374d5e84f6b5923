"""Teams: partners (Tricks) and all together (Tiny Hanabi) win, lose, are measured and learn as one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tabletop_agents import RandomAgent
from tabletop_engine.defaults import own_team
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import NOBODY, Limits
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import learner_games
from tabletop_engine.replays.page import page_data
from tabletop_engine.replays.replay import Replay
from tabletop_engine.testing import declared, played
from tabletop_play.session import Session, started
from tabletop_text.games import TextTable
from tabletop_training.files.settings import Settings
from tabletop_training.learn.curriculum import Curriculum
from tabletop_training.learn.games import SeatGames
from tabletop_training.learn.learner import Learner
from tabletop_training.learn.opponents import LEARNER, Opponents, OpponentSettings
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.ppo import new_network
from tabletop_training.learn.targets import play_out
from tabletop_training.learn.task import EvaluationSettings, Evaluator, GamesSettings
from tabletop_training.measure.evaluation import play_lineups, seating
from tabletop_training.measure.matches import config_for, evaluate, table_of
from tabletop_training.measure.tournament import play_tournament, rated_games
from tests.games import connect_four, tiny_hanabi, tricks

TRICKS, HANABI = tricks.Config(), tiny_hanabi.Config()
PARTNERS = [0, 1, 0, 1]


def finished(batch: Batch) -> np.ndarray:
    """Play random games to their end; returns the sums of their rewards, (N, P)."""
    total = np.zeros_like(batch.rewards)
    while (running := batch.actors != NOBODY).any():
        batch.step(batch.random_actions(), which=running)
        total += np.where(running[:, None], batch.rewards, 0)
    return total


def play_first(session: Session) -> None:
    """Play the first legal answers of the person to the end of the game."""
    while not session.over:
        if session.waits_for_agent:
            session.let_agent_act()
        else:
            session.play(session.options()[0].action)


def test_a_seat_has_the_points_of_its_team() -> None:
    assert tricks.GAME.teams(TRICKS) == (0, 1, 0, 1) and tiny_hanabi.GAME.teams(HANABI) == (0, 0)
    assert connect_four.GAME.teams(connect_four.Config()) == (0, 1)


def test_tricks_by_hand() -> None:
    """One must follow suit; the best card of a trick decides who leads; the points are the tricks of both partners."""
    batch = Batch(TRICKS, 50, 1, autoreset="disabled")
    won, led, laid = np.zeros((50, 2), int), np.zeros(50, int), [list[tuple[int, int]]() for _ in range(50)]
    hands = [[set(np.flatnonzero(one == seat).tolist()) for seat in range(4)] for one in batch.states["holder"]]
    for _ in range(12):
        actions = batch.random_actions()
        for game, (seat, card) in enumerate(zip(batch.actors.tolist(), actions.tolist(), strict=True)):
            assert seat == (led[game] + len(laid[game])) % 4
            suit = laid[game][0][0] // 4 if laid[game] else card // 4
            following = {one for one in hands[game][seat] if one // 4 == suit}
            expected = following if laid[game] and following else hands[game][seat]
            assert set(np.flatnonzero(batch.action_masks[game]).tolist()) == expected
            hands[game][seat] -= {card}
            laid[game].append((card, seat))
            if len(laid[game]) == 4:
                led[game] = max((one, who) for one, who in laid[game] if one // 4 == suit)[1]
                won[game, led[game] % 2] += 1
                laid[game] = []
        batch.step(actions)
    assert np.array_equal(batch.states["points"], won) and (won.sum(axis=1) == 3).all()


@pytest.mark.parametrize("reward", ["win", "margin", "points"])
def test_rewards_of_partners(reward: str) -> None:
    batch = Batch(TRICKS, 60, 1, autoreset="disabled", reward=reward)
    total, points = finished(batch), batch.states["points"].astype(float)
    ahead = points - points[:, ::-1]
    expected = {"win": np.sign(ahead), "margin": ahead, "points": points}[reward][:, PARTNERS]
    assert np.array_equal(total, expected)
    assert np.array_equal(batch.winners(batch.states), ahead[:, PARTNERS] > 0)
    assert [tricks.GAME.winners(one) for one in batch.states] == [[0, 2] if one[0] > 0 else [1, 3] for one in ahead]


def test_all_together_get_the_points() -> None:
    for reward in ("margin", "points"):
        batch = Batch(HANABI, 60, 1, autoreset="disabled", reward=reward)
        assert np.array_equal(finished(batch), np.repeat(batch.states["points"], 2, axis=1))
    assert batch.winners(batch.states).all()
    assert not finished(Batch(HANABI, 10, 1, autoreset="disabled", reward="win")).any()


@pytest.mark.parametrize(
    ("config", "reward", "expected"),
    [
        (TRICKS, "win", [-1, 1, -1, 1]),
        (TRICKS, "margin", [-100, 100, -100, 100]),
        (HANABI, "margin", [-100, -100]),
        (HANABI, "points", [0, 0]),
    ],
)
def test_a_team_forfeits_together(config: tricks.Config, reward: str, expected: list[float]) -> None:
    batch = Batch(config, 1, 1, autoreset="disabled", illegal_action="lose", reward=reward)
    batch.step([99])
    assert batch.rewards[0].tolist() == expected
    assert config.game.winners(batch.states[0]) == ([1, 3] if config is TRICKS else [])


def test_results_of_one_seat() -> None:
    games = learner_games(TRICKS, 20, ("random",), seat=3, seed=1, autoreset="disabled")
    while not games.terminations.all():
        games.step(np.where(games.terminations, 0, games.batch.random_actions()))
        if len(results := games.results()["points"]):
            final = games.final_states[games.terminations]["points"]
            assert results.tolist() == final[:, 1].tolist()
            assert games.results()["others_points"].tolist() == final[:, 0].tolist()


# --- Measuring -------------------------------------------------------------------------------------------------------


def test_two_names_are_two_teams() -> None:
    assert seating(TRICKS, 2).tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert seating(HANABI, 1).tolist() == [[0, 0]]
    assert seating(connect_four.Config(), 2).tolist() == [[0, 1], [1, 0]]
    for config, agents in ((TRICKS, 3), (HANABI, 2)):
        with pytest.raises(ConfigError, match="one for each of"):
            seating(config, agents)


def test_with_four_names_every_two_are_partners_equally_often() -> None:
    lineups = seating(TRICKS, 4)
    partners = Counter(frozenset(line[[seat, seat + 2]].tolist()) for line in lineups for seat in (0, 1))
    assert set(partners.values()) == {4} and len(partners) == 6
    assert (np.stack([np.bincount(seat) for seat in lineups.T]) == 3).all()


def test_partners_of_one_name_are_one_result() -> None:
    results = play_lineups(["random", "greedy"], TRICKS, range(30), np.tile(seating(TRICKS, 2), (15, 1)))
    won = results.points[:, 0] > results.points[:, 1]
    assert np.array_equal(results.by_agent(results.win_shares)[::2, 0], won[::2])
    assert np.array_equal(results.by_agent(results.win_shares)[1::2, 1], won[1::2])
    assert (results.by_agent(results.decisions, add=True) == 6).all()
    assert all(len(names) == 2 and sorted(places) == [1, 2] for names, places in rated_games(results, ("a", "b")))
    with pytest.raises(ConfigError, match="different numbers"):
        play_lineups(["random", "greedy"], TRICKS, range(1), np.array([[0, 0, 1, 1]]))


def test_a_search_plays_for_its_team() -> None:
    reports = evaluate(["ismcts-50", "random"], TRICKS, 300, seed=3).reports
    assert reports[0].estimates["win_rate"].low > 0.5 and reports[0].seeds == 150
    assert reports[0].estimates["advantage"].value == pytest.approx(reports[0].estimates["win_rate"].value - 0.5)


def test_all_together_are_compared_by_points() -> None:
    evaluation = evaluate(["random", "ismcts-50", "greedy"], HANABI, 200, seed=3)
    assert [one.games for one in evaluation.reports] == [200] * 3
    assert evaluation.comparisons[0].margin.high < 0
    assert [column.key for column in table_of(evaluation).columns] == ["agent", "points"]
    config = config_for(tiny_hanabi.GAME, 3)
    assert config == HANABI and config_for(tricks.GAME, 2) == config_for(tricks.GAME, 4) == TRICKS


def test_a_tournament_is_one_of_teams() -> None:
    found = play_tournament(["random", "ismcts-50", "greedy"], TRICKS, 20, seed=1)
    assert all(len(set(line)) == 2 and line[0] == line[2] for line in found.results.lineups.tolist())
    assert len(found.results) == 3 * 20 and found.misfit is not None
    with pytest.raises(ConfigError, match="play together"):
        play_tournament(["random", "greedy"], HANABI, 20)


# --- Learning --------------------------------------------------------------------------------------------------------


def test_partners_have_the_same_targets() -> None:
    def choose(decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        seats = decisions.sample_states(generator)["actor"].astype(np.int64)
        return RandomAgent().act(decisions, generator), {"seat": seats}

    for config, number in ((TRICKS, 2), (HANABI, 1)):
        played_out = play_out(choose, [config] * 20, 1)
        assert played_out is not None
        targets, won, ahead = played_out
        assert (targets["teams"] == number).all() and np.array_equal(won[:, 0], won[:, -number])
        if number == 2:
            assert (targets["won"][:, :2].sum(axis=1) == 1).all() and not targets["won"][:, 2:].any()
            assert np.array_equal(targets["margins"][:, 0], -targets["margins"][:, 1])
            first = targets["seat"] == 0
            assert targets["margins"][first, 0].sum() == pytest.approx(3 * ahead[:, 0].sum() / 10, abs=3)


def test_the_learner_has_whole_teams() -> None:
    opponents = Opponents(OpponentSettings(league=0.0, agents={"random": 1.0}), [TRICKS], None, 5)
    settings = Settings(trunk=(8,), layers=(8,), reward="win")
    games = SeatGames({4: Curriculum([[TRICKS]], 0.0, 0.0, 5)}, 30, settings, 3, opponents)
    assert np.array_equal(games.players[:, :2], games.players[:, 2:])
    assert ((games.players == LEARNER).sum(axis=1) == 2).all()
    rollout, ended = games.play(new_network(tricks.GAME, settings), 30)
    assert len(ended.configs) > 30 and np.array_equal(ended.won[:, :2], ended.won[:, 2:])
    mine, seats = ended.of_learner()
    assert len(mine) == len(ended.configs) and set(seats.tolist()) == {0, 1}
    assert rollout.teams.tolist() == [PARTNERS] * 30
    over = rollout.won[rollout.dones]
    assert (over[:, :2].sum(dim=1) == 1).all()


def test_nobody_learns_to_win_where_all_play_together(tmp_path: Path) -> None:
    plan = Plan(
        learning=Settings(reward="win"), games=GamesSettings(players=(2,)), opponents=OpponentSettings(league=0.0)
    )
    with pytest.raises(ConfigError, match="take 'points'"):
        Learner(tiny_hanabi.GAME, plan, tmp_path)


def test_evaluations_while_learning() -> None:
    numbers = Evaluator([TRICKS], EvaluationSettings(games=40, against=("random",)), 1).evaluate(RandomAgent()).numbers
    assert 0.2 < numbers["win_rate"] < 0.8
    together = Evaluator([HANABI], EvaluationSettings(games=40), 1).evaluate(RandomAgent())
    assert together.score == together.numbers["margin"] > 1


# --- What is shown ---------------------------------------------------------------------------------------------------


def test_pages_and_verdicts() -> None:
    batch = Batch(TRICKS, 1, 1, autoreset="disabled")
    actions = []
    while batch.actors[0] != NOBODY:
        actions.append(int(batch.random_actions()[0]))
        batch.step(actions[-1:])
    replay = Replay.of(TRICKS, 1, actions)
    page, _ = page_data(replay, None)
    assert page["winners"] == tricks.GAME.winners(batch.states[0])
    assert page["steps"][-1]["points"] == batch.states["points"][0][PARTNERS].tolist()
    names = [f"player_{seat}" for seat in page["winners"]]
    assert f"{names[0]} and {names[1]} win with" in page["result"]
    session = started(Session, tricks.GAME, ["random"] * 3, people=(0,), seed=1)
    play_first(session)
    assert "win" in session.verdict() and len(session.points()[-1][1]) == 4
    together = started(Session, tiny_hanabi.GAME, ["random"], people=(0,), seed=1)
    play_first(together)
    assert together.verdict() == f"You have {together.state['points'][0]} points."


def test_rewards_of_text_games() -> None:
    for config, total in ((TRICKS, 0.0), (HANABI, None)):
        games = TextTable(config)
        games.reset(seed=1)
        while not games.done:
            games.step("1")
        rewards = [games._reward(seat) for seat in range(config.players)]
        assert rewards[:2] == rewards[2:] or total is None
        assert sum(rewards) == (2 * float(games.session.state["points"][0]) if total is None else total)


def test_what_openspiel_is_told() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is in the extra openspiel")
    from tabletop_engine.envs.openspiel import register

    kind = pyspiel.GameType.Utility
    partners, hanabi = register(tricks.GAME), register(tiny_hanabi.GAME)
    for reward, utility, least, most in (
        ("win", kind.ZERO_SUM, -1, 1),
        ("margin", kind.ZERO_SUM, -3, 3),
        ("points", kind.GENERAL_SUM, 0, 3),
    ):
        game = pyspiel.load_game(partners, {"reward": reward})
        assert (game.get_type().utility, game.min_utility(), game.max_utility()) == (utility, least, most)
    ours, theirs = pyspiel.load_game(hanabi), pyspiel.load_game("tiny_hanabi")
    assert ours.get_type().utility == theirs.get_type().utility == kind.IDENTICAL
    assert (ours.min_utility(), ours.max_utility()) == (theirs.min_utility(), theirs.max_utility())
    for path in product(range(2), range(2), range(3), range(3)):
        states = [game.new_initial_state() for game in (ours, theirs)]
        for action in path:
            for state in states:
                state.apply_action(action)
        assert states[0].is_terminal() and states[0].returns() == states[1].returns()


def test_mistakes_are_found() -> None:
    assert not list(declared.problems(tricks.GAME))
    wrong = replace(tiny_hanabi.GAME, rules=replace(tiny_hanabi.GAME.rules, team=own_team))
    assert any("teams are (0, 1)" in str(problem) for problem in declared.problems(wrong))
    narrow = replace(tricks.GAME, limits=lambda config: Limits(points=(0, 1)))
    state = Batch(TRICKS, 1, 1).states[0].copy()
    state["points"] = [2, 0]
    assert "declares 0 to 1" in next(played._wrong_points(narrow, TRICKS, state))[1]
