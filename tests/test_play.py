"""The loop that plays games: who is asked when, what listeners hear, and when it ends."""

from __future__ import annotations

import numpy as np

from petrichor_env import Config
from tabletop_agents import RandomAgent
from tabletop_engine.game import NOBODY
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.play import PlayListener, play


class Heard(PlayListener):
    """Checks each call against the batch, and counts."""

    def __init__(self, batch: Batch, lineups: np.ndarray) -> None:
        self.batch, self.lineups = batch, lineups
        self.asked: list[int] = []
        self.steps = 0
        self.given = np.zeros(batch.num_games, np.int64)

    def on_decisions(self, agent: int, games: np.ndarray, decisions: Decisions) -> None:
        assert (self.lineups[games, self.batch.actors[games]] == agent).all()
        np.testing.assert_array_equal(decisions.observations, self.batch.observations[games])
        self.asked.append(agent)

    def on_actions(self, agent: int, games: np.ndarray, actions: np.ndarray) -> None:
        assert agent == self.asked[-1]
        assert self.batch.action_masks[games, actions].all()
        self.given[games] += 1

    def on_step(self, which: np.ndarray) -> None:
        self.steps += 1
        assert (self.given[which] == self.given.max()).all()  # each game takes part in all steps until its end
        assert self.asked == sorted(self.asked) and len(set(self.asked)) == len(self.asked)
        self.asked.clear()


def generators(number: int) -> list[np.random.Generator]:
    return [np.random.default_rng(i) for i in range(number)]


def test_every_agent_answers_once_a_step_until_all_games_are_over() -> None:
    batch = Batch(Config(players=2), 20, seed=1, autoreset="disabled")
    lineups = np.stack([np.arange(20) % 3, (np.arange(20) + 1) % 3], axis=1)
    heard = Heard(batch, lineups)
    assert play([RandomAgent()] * 3, batch, lineups, generators(3), listeners=[heard])
    assert (batch.actors == NOBODY).all()
    assert heard.steps == heard.given.max() > heard.given.min()
    assert play([RandomAgent()] * 3, batch, lineups, generators(3), listeners=[heard])  # no game is left
    assert heard.steps == heard.given.max()


def test_games_wait_for_a_seat_without_an_agent() -> None:
    batch = Batch(Config(players=3), 30, seed=1, autoreset="disabled")
    lineups = np.tile([0, -1, 0], (30, 1))
    assert play([RandomAgent()], batch, lineups, generators(1))
    assert set(batch.actors.tolist()) == {1}
    before = batch.save()
    assert play([RandomAgent()], batch, lineups, generators(1))
    assert batch.save() == before


def test_it_is_asked_whether_to_stop_before_each_step() -> None:
    batch = Batch(Config(players=2), 5, seed=1, autoreset="disabled")
    lineups = np.tile([0, 1], (5, 1))
    heard = Heard(batch, lineups)
    answers = iter([False, False, True])
    listening = {"listeners": [heard], "should_stop": lambda: next(answers)}
    assert not play([RandomAgent()] * 2, batch, lineups, generators(2), **listening)  # type: ignore[arg-type]
    assert heard.steps == 2
