"""One seat of many games: the same games as played by hand, in every mode. Environments are in tests/contract."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from petrichor_env import Batch, Config
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.state import NOBODY
from tabletop_agents import Agent, Decisions, RandomAgent
from tabletop_engine.errors import ConfigError, IllegalAction, StateError
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.play.learner_games import LearnerGames, learner_games
from tests.support.cases import First

CONFIGS = [
    Config(players=2),
    Config(players=3, drafting=True),
    Config(players=4, rounds=6, modules=("lake", "powers")),
    Config(players=5, modules=MODULES),
]


class Answers:
    """Answers every decision with the value that it was made with."""

    name = "answers"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return np.array([self.answer] * len(decisions))


class OnlyForTwo(RandomAgent):
    name = "only for two"

    def check(self, config: Config) -> None:
        if config.players != 2:
            raise ConfigError(f"agent 'only for two': players={config.players}")


def play(
    batch: LearnerGames, steps: int, generator: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Random legal actions: observations, rewards and terminations of every step."""
    seen = []
    for _ in range(steps):
        batch.step(sample_actions(batch.action_masks, generator))
        seen.append((batch.observations.copy(), batch.rewards.copy(), batch.terminations.copy()))
    return seen


def assert_same(first: Sequence[tuple[np.ndarray, ...]], second: Sequence[tuple[np.ndarray, ...]]) -> None:
    for one, other in zip(first, second, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


# --- the same games as played by hand ---


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("chooses", [False, True])
def test_solo_is_the_plain_batch(autoreset: str, chooses: bool) -> None:
    config = Config(variants=("double_card",))
    arguments: dict[str, Any] = {"autoreset": autoreset, "illegal_action": "random", "reward": "margin"}
    plain = Batch(config, 6, 5, **arguments)
    choose = (lambda games: [config] * len(games)) if chooses else None
    ours = learner_games(config, 6, seed=5, choose_config=choose, **arguments)
    generator = np.random.default_rng(0)
    ended = 0
    for _ in range(200):
        actions = sample_actions(plain.action_masks, generator)
        actions[generator.random(6) < 0.05] = 3
        for batch in (plain, ours):
            batch.step(actions)
        for name in ("observations", "action_masks", "terminations", "illegal"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(plain, name), name)
        np.testing.assert_array_equal(ours.rewards, plain.rewards[:, 0])
        over = plain.terminations.copy()
        np.testing.assert_array_equal(ours.final_states[over], plain.final_states[over])
        np.testing.assert_array_equal(ours.final_observations[over], plain.final_observations[over])
        ended += int(over.sum())
        if autoreset == "disabled" and over.any():
            plain.reset(mask=over)
            ours.reset(mask=over)
    assert ended >= 12
    assert not ours.seats.any() and ours.lineups.shape == (6, 0)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
@pytest.mark.parametrize("reward", ["win", "margin", "points"])
def test_games_are_those_played_by_hand(config: Config, reward: str) -> None:
    """Each is compared with a game in which every seat is played from outside."""
    others = [First(f"first {k}", skip=k) for k in range(config.players - 1)]
    seat = config.players - 1
    ours = learner_games(config, 3, others, seat=seat, seed=7, reward=reward)
    by_hand = [Batch(config, 1, 7 + game, autoreset="same_step", reward=reward) for game in range(3)]
    pending = [self_play(batch, seat, others)[0] for batch in by_hand]
    generator = np.random.default_rng(1)
    ended = 0
    while ended < 5:
        np.testing.assert_array_equal(ours.observations, [batch.observations[0] for batch in by_hand])
        np.testing.assert_array_equal(ours.action_masks, [batch.action_masks[0] for batch in by_hand])
        actions = sample_actions(ours.action_masks, generator)
        ours.step(actions)
        for game, batch in enumerate(by_hand):
            batch.step(actions[game : game + 1])
            gained, end, later = self_play(batch, seat, others)
            assert ours.rewards[game] == pytest.approx(pending[game] + gained, abs=1e-9)
            assert ours.terminations[game] == (end is not None)
            pending[game] = later
            if end is not None:
                ended += 1
                assert ours.final_states[game].tobytes() == end.tobytes()
                view = batch.views_of(end[None], np.array([seat]))
                np.testing.assert_array_equal(ours.final_observations[game], view[0])


def self_play(batch: Batch, seat: int, others: Sequence[Agent]) -> tuple[float, Any, float]:
    """Take the others' decisions one by one, up to the learner's. `batch` has one game and may just have been stepped.

    Returns what the learner gained (the batch's last step included), the state of a game that ended or None, and what
    the learner gained in the game after it.
    """
    gained, later, end = float(batch.rewards[0, seat]), 0.0, None
    end = batch.final_states[0].copy() if batch.terminations[0] else None
    while batch.actors[0] != seat:
        agent = others[(batch.actors[0] - seat - 1) % batch.config.players]
        batch.step(agent.act(Decisions.of(batch), np.random.default_rng(0)))
        if end is None:
            gained += float(batch.rewards[0, seat])
        else:
            later += float(batch.rewards[0, seat])
        if batch.terminations[0]:
            end = batch.final_states[0].copy()
    return gained, end, later


# --- seats, line-ups, calls ---


def test_one_call_asks_for_all_games() -> None:
    agent = First()
    batch = learner_games(Config(players=2), 40, (agent,), seat=0, seed=1)
    starts = Batch(Config(players=2), 40, 1)
    assert agent.calls[0] == int((starts.actors == 1).sum())
    assert agent.seats == {1}
    assert (batch.batch.actors == 0).all()
    calls = len(agent.calls)
    play(batch, 20, np.random.default_rng(0))
    assert max(agent.calls[calls:]) > 5


def test_opponents_sit_clockwise_from_the_learner() -> None:
    for seat in range(4):
        others = [First() for _ in range(3)]
        play(learner_games(Config(players=4), 4, others, seat=seat, seed=1), 30, np.random.default_rng(0))
        assert [agent.seats for agent in others] == [{(seat + 1 + k) % 4} for k in range(3)]


def test_one_opponent_plays_all_other_seats() -> None:
    agent = First()
    play(learner_games(Config(players=4), 4, [agent], seat=2, seed=1), 30, np.random.default_rng(0))
    assert agent.seats == {0, 1, 3}


def test_random_seats() -> None:
    batch = learner_games(Config(players=3), 300, ("random",), seed=1)
    counts = np.bincount(batch.seats, minlength=3)
    assert counts.min() > 60
    before = batch.seats.copy()
    seen = np.zeros(300, bool)
    generator = np.random.default_rng(0)
    while seen.sum() < 100:
        batch.step(sample_actions(batch.action_masks, generator))
        over = batch.terminations & ~seen
        np.testing.assert_array_equal(batch.final_seats[over], before[over])
        seen |= over
        np.testing.assert_array_equal(batch.seats[~seen], before[~seen])
    assert (batch.seats[seen] != before[seen]).any()


def test_assign_says_who_plays() -> None:
    asked: list[np.ndarray] = []

    def assign(games: np.ndarray) -> np.ndarray:
        asked.append(games.copy())
        return np.stack([games % 3, np.full(len(games), 3)], axis=1)

    agents = [First() for _ in range(4)]
    batch = learner_games(Config(players=3), 6, agents, seat=0, seed=1, assign=assign)
    assert asked[0].tolist() == list(range(6)) and len(asked) == 1
    np.testing.assert_array_equal(batch.lineups[:, 0], np.arange(6) % 3)
    generator = np.random.default_rng(0)
    while not batch.terminations.any():
        batch.step(sample_actions(batch.action_masks, generator))
    np.testing.assert_array_equal(asked[-1], np.flatnonzero(batch.terminations))
    assert [agent.seats for agent in agents] == [{1}, {1}, {1}, {2}]
    over = batch.terminations
    np.testing.assert_array_equal(batch.final_lineups[over, 0], np.flatnonzero(over) % 3)
    replaced = First()
    batch.opponents[3] = replaced
    play(batch, 20, generator)
    assert replaced.seats == {2}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((2, 1), np.int64), r"\(2, 1\)"),
        (np.zeros((2, 2)), "float64"),
        (np.full((2, 2), 1), "1 to 1, but there are"),
    ],
)
def test_assign_must_answer_well(answer: np.ndarray, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        learner_games(Config(players=3), 2, ("random",), assign=lambda games: answer)


def test_choose_config_mixes_variants() -> None:
    configs = [Config(variants=(name,)) for name in VARIANTS]
    started: list[int] = []

    def choose(games: np.ndarray) -> list[Config]:
        started.extend(games.tolist())
        return [configs[(len(started) + k) % 4] for k in range(len(games))]

    for autoreset in ("same_step", "next_step"):
        started.clear()
        batch = learner_games(Config(), 8, seed=1, autoreset=autoreset, choose_config=choose)
        assert started == list(range(8)) and set(batch.configs) == set(configs)
        before = list(batch.configs)
        generator = np.random.default_rng(0)
        while not batch.terminations.any():
            batch.step(sample_actions(batch.action_masks, generator))
        for game in np.flatnonzero(batch.terminations).tolist():
            assert batch.final_configs[game] == before[game]
            assert Config.of(batch.final_states[game]) == before[game]
        batch.step(sample_actions(batch.action_masks, generator))
        assert len(started) > 8
        for game in range(8):
            assert Config.of(batch.batch.states[game]) == batch.configs[game]


# --- chance, saving ---


@pytest.mark.one_in(3)
@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
@pytest.mark.parametrize(
    ("config", "opponents", "more"),
    [
        (Config(), (), {}),
        (Config(), (), {"choose_config": lambda games: [Config(variants=VARIANTS[: game % 3]) for game in games]}),
        (Config(players=2), ("greedy",), {"reward": "margin"}),
        (Config(players=3), ("random", "greedy"), {"assign": lambda games: np.stack([games % 2, 1 - games % 2], 1)}),
    ],
    ids=["solo", "curriculum", "2p", "league"],
)
def test_a_saved_batch_goes_on_exactly(
    config: Config, opponents: Sequence[str], more: dict[str, Any], autoreset: str
) -> None:
    first = learner_games(config, 6, opponents, seed=1, autoreset=autoreset, **more)
    play(first, 50, np.random.default_rng(0))
    saved = pickle.loads(pickle.dumps(first.get_state()))
    expected = play(first, 80, np.random.default_rng(1))
    second = learner_games(config, 6, opponents, seed=99, autoreset=autoreset, **more)
    second.set_state(saved)
    assert_same(expected, play(second, 80, np.random.default_rng(1)))
    np.testing.assert_array_equal(first.seats, second.seats)
    np.testing.assert_array_equal(first.lineups, second.lineups)
    assert first.configs == second.configs
    assert sum(int(step[2].sum()) for step in expected) > 3


def test_what_is_no_saved_state() -> None:
    batch = learner_games(Config(players=2), 3, ("random",), seed=1)
    saved = batch.get_state()
    other = learner_games(Config(players=2), 4, ("random",), seed=1).get_state()
    for bad, message in (
        ("states", "the keys states"),
        ({}, "the keys states"),
        (other, "states has shape"),
        ({**saved, "generator": {"state": 1}}, "generator is not the state of a generator"),
    ):
        with pytest.raises(StateError, match=message):
            batch.set_state(bad)  # type: ignore[arg-type]
    solo = learner_games(Config(), 3, seed=1).get_state()
    with pytest.raises(StateError):
        batch.set_state(solo)
    assert data_equivalence(batch.get_state(), saved, exact=True)


# --- the end of a game ---


def test_new_observations_stay_as_they_are() -> None:
    for keep in (False, True):
        batch = learner_games(Config(players=2), 4, ("random",), seed=1, new_observations=keep)
        first = batch.observations
        play(batch, 1, np.random.default_rng(0))
        assert (batch.observations is first) is not keep


# --- bad input ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": "2p"}, "a game's configuration"),
        ({"opponents": ()}, "0 of them with players=3; allowed: 1 for every other seat, or 2 clockwise"),
        ({"opponents": ("random",) * 3}, "3 of them with players=3"),
        ({"opponents": "random"}, "a sequence of agents or of their names"),
        ({"opponents": ("randon",)}, "'randon'.*random, greedy"),
        ({"opponents": (3,)}, "3 is not an agent"),
        ({"opponents": (OnlyForTwo(),)}, "'only for two': players=3"),
        ({"opponents": (), "assign": lambda games: games}, "at least 1"),
        ({"config": Config()}, "nobody else has a seat"),
        ({"seat": 3}, "seat=3: must be 0 to 2"),
        ({"seat": "first"}, "'random'"),
        ({"seat": True}, "seat=True"),
        ({"autoreset": "later"}, "'same_step', 'next_step', 'disabled'"),
        ({"reward": "score"}, "'win', 'margin', 'points'"),
        ({"illegal_action": "ignore"}, "'raise', 'lose', 'random'"),
        ({"num_games": 0}, "num_games=0"),
        ({"choose_config": lambda games: [Config(players=2)] * len(games)}, "number of players"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        learner_games(**{"config": Config(players=3), "num_games": 2, "opponents": ("random",), "seed": 1, **arguments})


@pytest.mark.parametrize("answer", [-1, NUM_ACTIONS, 142, 0.5, (0, 1)], ids=str)
def test_an_opponents_illegal_action_is_its_own_fault(answer: Any) -> None:
    """Whatever the setting for the learner's illegal actions is."""
    with pytest.raises(IllegalAction, match="agent 'answers'"):
        learner_games(Config(players=2), 8, (Answers(answer),), seed=1, illegal_action="lose")


def test_no_game_is_asked_of_nobody() -> None:
    """After every step either the learner has a decision or, where games wait for their reset, nobody has."""
    for mode in ("same_step", "next_step"):
        batch = learner_games(Config(players=5, modules=MODULES), 12, ("random",), seed=2, autoreset=mode)
        generator = np.random.default_rng(0)
        for _ in range(80):
            batch.step(sample_actions(batch.action_masks, generator))
            actors = batch.batch.actors
            over = actors == NOBODY
            assert (actors[~over] == batch.seats[~over]).all()
            assert not over.any() or mode == "next_step"
