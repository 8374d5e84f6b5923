"""The VecEnv, evaluation, checkpoints and the demo."""

from __future__ import annotations

import csv
import errno
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from scipy import stats
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from petrichor_env import GAME
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.component_files import load_tables
from petrichor_env.config import MODULES, VARIANTS, Config
from petrichor_env.observation import OBSERVATION_SIZE
from tabletop.agents import Decisions
from tabletop.batch import Batch
from tabletop.errors import (
    CheckpointError,
    ComponentsError,
    ConfigError,
    IllegalAction,
    ScenarioError,
    TabletopError,
)
from tabletop.kernels import sample_actions
from tabletop.versus import VersusBatch
from tabletop_agents import Agent, GreedyAgent, RandomAgent, checkpoint, make_agent
from tabletop_agents.checkpoint import MEMBER, read_checkpoint, read_notes, save_checkpoint, versions
from tabletop_agents.networks import Network
from tabletop_agents.policy import PolicyAgent
from tabletop_cli import petrichor as cli
from tabletop_training import resume
from tabletop_training.curriculum import Curriculum
from tabletop_training.evaluation import (
    EvaluationStopped,
    Results,
    mean_interval,
    play_games,
    wilson_interval,
)
from tabletop_training.evaluation_files import read_log
from tabletop_training.job import Interruptions, Job, make_folder
from tabletop_training.league import LeagueSettings
from tabletop_training.learn.devices import MAX_THREADS, fastest_threads, torch_settings
from tabletop_training.learn.learner import BEST, CHOOSING_SEED, CURVE, EVALUATIONS, POLICY, RESUME
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.task import EvaluationSettings, GamesSettings
from tabletop_training.learn.train import TABLES
from tabletop_training.learning import (
    BaseLearner,
    Budget,
    Judgement,
    Learner,
    learn,
)
from tabletop_training.petrichor import demo
from tabletop_training.petrichor.summaries import ALL_VARIANTS, summarize
from tabletop_training.ppo import new_model
from tabletop_training.resume import load_tree, save_tree
from tabletop_training.runs import RUN, main, read_run
from tabletop_training.selfplay import SelfPlaySettings, SoloSettings, TaskHook, new_learner
from tabletop_training.settings import CONFIGS, Settings, read_settings
from tabletop_training.vec_env import SeatsVecEnv
from tests.support.configurations import SOLO_MODULES

SMALL = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1)
FILES = {"policy.zip", "learning_curve.csv", "learning_curve.png", "difficulty.csv", "difficulty.png"}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Torch's threads wait for each other by spinning: many times slower where other programs use the cores."""
    torch.set_num_threads(1)


def solo_games(num_games: int, config: Config | None = None, **options: Any) -> VersusBatch:
    return VersusBatch(config or Config(), num_games, new_observations=True, **options)


def train_solo(settings: Path | str | None = None, **options: Any) -> Path:
    return main(GAME, "solo", settings, **options)


# --- VecEnv ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config", [Config(variants=("double_card",)), Config(modules=SOLO_MODULES)], ids=lambda config: config.name
)
def test_vec_env_plays_the_games_of_a_batch(config: Config) -> None:
    env = SeatsVecEnv(solo_games(40, config, reward="margin", seed=7), reward_scale=0.5)
    batch = Batch(config, 40, 7, reward="margin")
    observations: Any = env.reset()
    batch.reset()
    generator = np.random.default_rng(0)
    finished = 0
    returns, lengths = np.zeros(40), np.zeros(40, int)
    for _ in range(150):
        assert observations.dtype == np.float32
        assert np.array_equal(observations, batch.observations)
        masks = env.env_method("action_masks")
        assert masks.dtype == np.bool_
        assert np.array_equal(masks, batch.action_masks == 1)
        actions = sample_actions(masks, generator)
        batch.step(actions)
        kept = observations.copy()
        before, (observations, rewards, dones, infos) = observations, env.step(actions)
        assert np.array_equal(before, kept)  # SB3 reads the last observations and masks after the step
        assert rewards.dtype == np.float32
        assert np.array_equal(rewards, (0.5 * batch.rewards[:, 0]).astype(np.float32))
        assert np.array_equal(dones, batch.terminations)
        returns += rewards
        lengths += 1
        for game, info in enumerate(infos):
            if not dones[game]:
                assert info == {}
                continue
            finished += 1
            points = batch.final_states["points"][game]
            assert np.array_equal(info["terminal_observation"], batch.final_observations[game])
            assert info["TimeLimit.truncated"] is False
            assert (info["points"], info["others_points"]) == (points[0], points[1])
            assert info["won"] == (points[0] > points[1])
            assert info["episode"]["r"] == pytest.approx(returns[game], abs=1e-4)
            assert info["episode"]["l"] == lengths[game]
            returns[game], lengths[game] = 0, 0
    assert finished > 40


def test_vec_env_seeds() -> None:
    env = SeatsVecEnv(solo_games(8, seed=1))
    env.seed(30)
    first = env.reset()
    assert np.array_equal(first, Batch(Config(), 8, 30).observations)
    assert not np.array_equal(first, env.reset())  # a seed holds for one reset
    env.seed(30)
    assert np.array_equal(first, env.reset())


def test_vec_env_starts_where_its_options_say() -> None:
    """As in the Gymnasium environments, for all games or for each of them, and for one reset."""
    env = VecMonitor(SeatsVecEnv(VersusBatch(Config(players=2), 4, ("random",), seed=1, new_observations=True)))
    states = env.unwrapped.games.states
    hands = {"player_0": {"frost": 2}, "player_1": {"sun": 1}}
    second, third = ({"scenario": {"round": number, "hands": hands}} for number in (2, 3))
    env.set_options(third)
    assert states["round"].tolist() == [1] * 4  # only at the next reset
    env.reset()
    assert states["round"].tolist() == [3] * 4
    assert len({states[game].tobytes() for game in range(4)}) > 1  # each has its own random stream
    assert env.reset_infos is not None and env.unwrapped.reset_infos[2]["action_mask"].dtype == np.int8
    env.reset()
    assert states["round"].tolist() == [1] * 4
    env.set_options([third, {}, second, third])
    env.reset()
    assert states["round"].tolist() == [3, 1, 2, 3]
    infos = env.unwrapped.reset_infos
    assert np.array_equal([info["action_mask"] for info in infos], env.unwrapped.games.action_masks)
    env.set_options()
    env.reset()
    assert states["round"].tolist() == [1] * 4
    generator, ended = np.random.default_rng(0), 0
    while ended < 4:
        *_, dones, _ = env.step(sample_actions(env.unwrapped.action_masks(), generator))
        for game in np.flatnonzero(dones):
            assert np.array_equal(infos[game]["action_mask"], env.unwrapped.games.action_masks[game])
            ended += 1


def test_vec_env_refuses_options_that_it_does_not_know() -> None:
    env = SeatsVecEnv(solo_games(3, seed=1))
    refused: list[tuple[Any, str]] = [
        ({"round": 3}, "unknown key 'round'; allowed are scenario"),
        ({"reset_mask": [True] * 3}, "unknown key 'reset_mask'"),
        ([{}, {}], "2 of them for 3 games"),
        (["scenario"] * 3, "must be a dictionary"),
    ]
    for wrong, said in refused:
        with pytest.raises(ConfigError, match=said):
            env.set_options(wrong)
    env.set_options({"scenario": {"round": 300}})
    before = env.games.states.tobytes()
    with pytest.raises(ScenarioError, match="round"):
        env.reset()
    assert env.games.states.tobytes() == before
    assert env.reset().shape == (3, OBSERVATION_SIZE)


def test_vec_env_answers_what_sb3_asks() -> None:
    env = SeatsVecEnv(solo_games(6, seed=0))
    env.reset()
    assert env.observation_space.shape == (OBSERVATION_SIZE,)
    assert env.observation_space.contains(env.games.observations[0])
    assert env.action_space.n == NUM_ACTIONS
    assert is_masking_supported(env)
    assert np.array_equal(get_action_masks(env), env.games.action_masks == 1)
    assert np.array_equal(env.env_method("action_masks", indices=[4, 1]), env.action_masks()[[4, 1]])
    assert env.env_method("action_masks", indices=2).shape == (1, NUM_ACTIONS)
    assert env.env_is_wrapped(Monitor) == [False] * 6
    assert env.get_attr("render_mode", indices=[0, 2]) == [None, None]
    assert env.has_attr("action_masks")
    assert not env.has_attr("gravity")
    env.set_attr("reward_scale", 3.0)
    assert env.get_attr("reward_scale", indices=0) == [3.0]
    assert env.tally.reward_scale == 3.0
    with pytest.raises(ValueError, match="leave indices=None"):
        env.set_attr("reward_scale", 2.0, indices=[0])
    with pytest.raises(AttributeError, match="one method, action_masks"):
        env.env_method("fly")
    env.close()


def test_vec_env_refuses_bad_input() -> None:
    for wrong in (VersusBatch(Config(), 2, new_observations=False), VersusBatch(Config(), 2, autoreset="next_step")):
        with pytest.raises(ValueError, match="new_observations=True"):
            SeatsVecEnv(wrong)
    env = SeatsVecEnv(solo_games(4, seed=0))
    before = env.games.batch.save()
    with pytest.raises(IllegalAction):
        env.step(np.full(4, NUM_ACTIONS - 1))
    assert env.games.batch.save() == before
    losing = SeatsVecEnv(solo_games(4, seed=0, illegal_action="lose"))
    _, rewards, dones, infos = losing.step(np.full(4, NUM_ACTIONS - 1))
    assert dones.all()
    assert (rewards == -1).all()
    assert not any(info["won"] for info in infos)


def test_vec_env_of_three_players_tells_who_won() -> None:
    """Against random opponents from random seats, with a bonus for winning."""
    games = VersusBatch(Config(players=3), 60, ("random",), reward="points", seed=1, new_observations=True)
    env = SeatsVecEnv(games, reward_scale=0.1, win_bonus=2.0)
    env.reset()
    generator = np.random.default_rng(0)
    seen = 0
    for _ in range(150):
        _, _, dones, infos = env.step(sample_actions(env.action_masks(), generator))
        over = np.flatnonzero(dones)
        ended = env.take_ended()
        assert len(ended) == len(over)
        seen += len(over)
        for i, game in enumerate(over):
            points = games.final_states["points"][game, :3]
            seat = games.final_seats[game]
            assert (ended.points[i], ended.seats[i]) == (points[seat], seat)
            assert ended.others_points[i] == pytest.approx(np.delete(points, seat).mean())
            assert ended.margins[i] == pytest.approx(points[seat] - np.delete(points, seat).mean())
            assert ended.lineups[i].tolist() == [0, 0]
            assert ended.configs[i] == games.config
            winners = games.batch.winners(games.final_states[[game]])[0]
            assert ended.won[i] == infos[game]["won"] == winners[seat] / winners.sum()
            bonus = 2.0 * (2 * ended.won[i] - 1)
            assert ended.returns[i] == pytest.approx(0.1 * points[seat] + bonus)
            assert infos[game]["episode"]["r"] == ended.returns[i]
            assert np.array_equal(infos[game]["terminal_observation"], games.final_observations[game])
    assert seen > 60
    assert len(env.take_ended()) == 0


class _NoIllegalAction(BaseCallback):
    seen = 0

    def _on_step(self) -> bool:
        self.seen += 1
        return not self.training_env.get_attr("games", 0)[0].illegal.any()


def test_maskable_ppo_learns_without_an_illegal_action() -> None:
    games = solo_games(16, reward="margin", illegal_action="random", seed=0)
    env = VecMonitor(SeatsVecEnv(games), info_keywords=("won",))
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=256, seed=0, device="cpu")
    callback = _NoIllegalAction()
    model.learn(4096, callback=callback)
    assert model.num_timesteps == 4096  # the callback would have stopped it
    assert callback.seen == 256
    finished = list(model.ep_info_buffer or ())
    assert len(finished) > 16
    assert {"r", "l", "t", "won"} <= finished[0].keys()


# --- Evaluation ------------------------------------------------------------------------------------------------------


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


# --- Checkpoints -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[MaskablePPO, Path]:
    folder = tmp_path_factory.mktemp("trained")
    model, _ = learn(Config(), 0.02, folder, 0, SMALL)
    return model, folder / "policy.zip"


@pytest.mark.parametrize("config", [Config(), Config(modules=SOLO_MODULES)], ids=lambda config: config.name)
def test_checkpoint_plays_as_the_model_that_was_saved(trained: tuple[MaskablePPO, Path], config: Config) -> None:
    model, path = trained
    batch = Batch(config, 50, 0)
    loaded, sampling = make_agent(f"policy:{path}", GAME), PolicyAgent.load(path, GAME, sample=True)
    for _ in range(30):
        decisions = Decisions.of(batch)
        actions = loaded.act(decisions, np.random.default_rng(0))
        expected, _ = model.predict(batch.observations, deterministic=True, action_masks=batch.action_masks)
        assert np.array_equal(actions, expected)
        first, second = (sampling.act(decisions, np.random.default_rng(1)) for _ in range(2))
        assert np.array_equal(first, second)
        assert batch.action_masks[np.arange(50), first].all()
        batch.step(actions)
    other = sampling.act(Decisions.of(batch), np.random.default_rng(2))
    assert not np.array_equal(other, sampling.act(Decisions.of(batch), np.random.default_rng(1)))


def test_checkpoint_tells_how_it_was_made(trained: tuple[MaskablePPO, Path]) -> None:
    model, path = trained
    notes = read_notes(GAME, path)
    assert versions(GAME).items() <= notes.items()
    assert notes["training"]["steps"] == model.num_timesteps
    assert notes["training"]["settings"]["num_envs"] == 16
    assert notes["network"] == {
        "trunk": [],
        "policy": ["Linear", "ReLU", "Linear"],
        "value": ["Linear", "ReLU", "Linear"],
    }


def test_learning_with_modules(tmp_path: Path) -> None:
    config = Config(modules=SOLO_MODULES, powers=("sun",))
    learn(config, 0.0, tmp_path, 0, SMALL)
    notes = read_notes(GAME, tmp_path / "policy.zip")["training"]["config"]
    assert (notes["modules"], notes["powers"]) == (list(SOLO_MODULES), ["sun"])


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("game", "chess", "the game is chess, here petrichor"),
        ("observation", "0123", "the layout of the observation is 0123, here "),
        ("num_actions", 7, f"the number of actions is 7, here {NUM_ACTIONS}"),
        ("format", None, "the checkpoint format is missing, here 2"),
    ],
)
def test_checkpoint_of_another_version(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, key: str, value: object, text: str
) -> None:
    notes = {**read_notes(GAME, trained[1]), key: value, "package": "0.0.1"}
    if value is None:
        del notes[key]
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(trained[1]) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, json.dumps(notes) if name == MEMBER else source.read(name))
    with pytest.raises(CheckpointError, match=r"made by version 0\.0\.1") as caught:
        PolicyAgent.load(path, GAME)
    assert text in str(caught.value)


def test_checkpoint_of_another_state_version_fits(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(trained[1]) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            notes = json.dumps({**read_notes(GAME, trained[1]), "state_version": 0})
            target.writestr(name, notes if name == MEMBER else source.read(name))
    assert read_notes(GAME, path)["state_version"] == 0
    assert PolicyAgent.load(path, GAME)


def test_damaged_checkpoint(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    whole = trained[1].read_bytes()
    path = tmp_path / "policy.zip"
    for size in (0, 100, len(whole) - 100):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"policy\.zip: .*is damaged"):
            PolicyAgent.load(path, GAME)
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(CheckpointError, match=r"^\S*policy\.zip: has no tabletop\.json: it is damaged, or not a chec"):
        PolicyAgent.load(path, GAME)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MEMBER, json.dumps(versions(GAME)))
    with pytest.raises(CheckpointError, match=r"policy\.zip: is damaged: its network can't be read"):
        PolicyAgent.load(path, GAME)


def test_a_file_of_stable_baselines_is_converted(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    """As the message says, for who made the file: it is a program, so nothing else loads it."""
    foreign, converted = tmp_path / "foreign.zip", tmp_path / "converted.zip"
    trained[0].save(foreign)
    with pytest.raises(CheckpointError, match="Stable-Baselines3's own file"):
        PolicyAgent.load(foreign, GAME)
    save_checkpoint(GAME, MaskablePPO.load(foreign), str(converted))
    agent, same = PolicyAgent.load(converted, GAME), PolicyAgent.of(trained[0])
    batch = Batch(Config(), 32, seed=0)
    seen, masks = batch.observations, batch.action_masks
    assert (agent.network.log_probabilities(seen, masks) == same.network.log_probabilities(seen, masks)).all()


def test_saving_leaves_the_old_checkpoint_until_the_new_one_is_whole(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.zip"
    save_checkpoint(GAME, trained[0], path, {"which": "first"})

    def fail(source: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(GAME, trained[0], path, {"which": "second"})
    assert read_notes(GAME, path)["training"] == {"which": "first"}


def test_the_page_has_every_key_of_a_settings_file() -> None:
    """With its default; where `[solo]` and `[selfplay]` differ, with both."""
    page = (Path(__file__).parents[1] / "docs" / "training.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z_`, 0-9]+`) \| (.+?) \| .+ \|$", page[page.index("### Every key") :], re.MULTILINE)
    listed = {name: default for names, default in rows for name in re.findall("`([a-z_0-9]+)`", names)}
    solo, several = SoloSettings(Config()), SelfPlaySettings(Config(players=2))
    tables: list[Any] = [Settings(), Budget(), LeagueSettings()]
    wanted = {one.name: [getattr(table, one.name)] for table in tables for one in fields(table)}
    wanted["steps"] = [128, None]  # of a rollout, and of a budget
    for one in fields(solo)[1:]:
        both = [getattr(solo, one.name), getattr(several, one.name)]
        wanted[one.name] = both[:1] if both[0] == both[1] else both
    wanted["players"] = [1, 2]
    for table in (GamesSettings(), OpponentSettings(), EvaluationSettings()):
        for one in [one for one in fields(table) if one.name != "switches"]:
            wanted.setdefault(one.name, []).append(getattr(table, one.name))
    as_above = ("threshold", "latest", "floor", "memory")
    assert all(wanted.pop(name)[1:] for name in as_above)
    for name, defaults in wanted.items():
        cells = " ".join(re.findall(rf"^\| `{name}` \| (.+?) \|", page, re.MULTILINE))
        values = re.findall("`(.+?)`|(none)", cells)
        found = [None if none else tomllib.loads(f"x = {value}")["x"] for value, none in values]
        assert found == [list(one) if isinstance(one, tuple) else one for one in defaults], name
    assert {one.name for one in fields(Config)} <= listed.keys()


def test_torch_gets_as_many_threads_as_are_fastest(tmp_path: Path) -> None:
    model, _ = learn(Config(), 0.0, tmp_path, 0, replace(SMALL, threads=None))
    assert 1 <= torch.get_num_threads() <= MAX_THREADS
    assert 1 <= fastest_threads(Network.of(model.policy), 64) <= MAX_THREADS
    assert all(parameter.grad is None for parameter in model.policy.parameters())


# --- The learner -----------------------------------------------------------------------------------------------------

TINY = replace(SMALL, trunk=(16,), evaluate_every=1024)
EVERYTHING = SoloSettings(Config(), curriculum=True, threshold=0.0, games=2)


@pytest.mark.parametrize("layers", [{}, {"trunk": (24, 16), "layers": (8,)}])
def test_policy_is_that_of_sb3_contrib(layers: dict[str, Any]) -> None:
    games = solo_games(64, seed=0)
    env = SeatsVecEnv(games)
    policy: Any = new_model(env, replace(SMALL, **layers), seed=0).policy
    with torch.no_grad():
        policy.action_net.weight.mul_(100)  # far from uniform
    observations, masks = torch.as_tensor(env.reset()), env.action_masks()
    torch.manual_seed(1)
    actions, values, log_probabilities = policy.forward(observations, action_masks=masks)
    assert masks[np.arange(64), actions].all()
    _, second, entropy = policy.evaluate_actions(observations, actions, torch.as_tensor(masks))
    theirs = MaskableActorCriticPolicy.evaluate_actions(policy, observations, actions, torch.as_tensor(masks))
    for ours, wanted in zip((values, log_probabilities, entropy), theirs, strict=True):
        torch.testing.assert_close(ours, wanted, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(second, log_probabilities)
    likeliest, _, _ = policy.forward(observations, deterministic=True, action_masks=masks)
    expected, _ = policy.predict(observations.numpy(), deterministic=True, action_masks=masks)
    assert np.array_equal(likeliest.numpy(), expected)


def test_policy_draws_actions_with_their_probabilities() -> None:
    """One position 20,000 times: a chi-squared test, at a seed that is fixed."""
    env = SeatsVecEnv(solo_games(1, seed=3))
    policy: Any = new_model(env, SMALL, seed=0).policy
    with torch.no_grad():
        policy.action_net.weight.mul_(100)
    observation, mask = env.reset(), env.action_masks()
    expected = policy.get_distribution(torch.as_tensor(observation), mask).distribution.probs[0].detach().numpy()
    drawn, _, _ = policy.forward(torch.as_tensor(observation.repeat(20_000, 0)), action_masks=mask.repeat(20_000, 0))
    counts = np.bincount(drawn.numpy(), minlength=NUM_ACTIONS)
    assert not counts[~mask[0]].any()
    often = expected * 20_000 > 5
    assert often.sum() > 2
    wanted, observed = expected[often].astype(np.float64), counts[often]
    assert observed.sum() > 19_900
    assert stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > 0.001


def test_minibatches_hold_every_decision_once() -> None:
    env = SeatsVecEnv(solo_games(6, seed=0))
    model = new_model(env, replace(SMALL, num_envs=6, steps=10, minibatch=16), seed=0)
    model.learn(60)
    buffer = model.rollout_buffer
    assert buffer.action_masks.dtype == np.bool_
    wanted = np.sort(buffer.advantages.ravel())
    orders = []
    for _ in range(2):
        samples = list(buffer.get(16))
        assert [len(sample.actions) for sample in samples] == [16, 16, 16, 12]
        order = torch.cat([sample.advantages for sample in samples]).numpy()
        assert np.array_equal(np.sort(order), wanted)
        orders.append(order)
        for sample in samples:
            assert sample.action_masks[torch.arange(len(sample.actions)), sample.actions].all()
            with torch.no_grad():
                values = model.policy.predict_values(sample.observations)
            assert values.shape == (len(sample.actions), 1)
    assert not np.array_equal(orders[0], orders[1])


def _weights(learner: Learner) -> list[np.ndarray]:
    return [parameter.detach().numpy().copy() for parameter in learner.model.policy.parameters()]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def _versus_learner(folder: Path, budget: Budget, **options: Any) -> Learner:
    games = VersusBatch(Config(players=2), 16, ("random",), seed=4, reward="margin", new_observations=True)
    return Learner(games, budget, folder, 4, TINY, **options)


@pytest.mark.parametrize("kind", ["curriculum", "versus"])
def test_a_resumed_run_ends_with_the_same_weights(kind: str, tmp_path: Path) -> None:
    """Interrupted after two of five updates, once more in the middle of the fourth, after which it was not saved."""
    budget = Budget(steps=5 * 512)

    def make(folder: Path, **options: Any) -> Learner:
        folder.mkdir(exist_ok=True)
        if kind == "curriculum":
            return new_learner(budget, folder, 4, TINY, EVERYTHING, **options)
        return _versus_learner(folder, budget, **options)

    whole = make(tmp_path / "whole")
    whole.run()
    assert whole.steps == 5 * 512

    folder = tmp_path / "parts"
    asked = itertools.count()
    first = make(folder, should_stop=lambda: next(asked) == 2)
    first.run()
    assert first.steps == 2 * 512
    second = make(folder)
    second.resume()
    with torch_settings(TINY), second._logs() as second._board:  # killed before it saves again
        second._iterate()
    third = make(folder)
    third.resume()
    assert third.steps == 2 * 512
    assert third.seconds >= first.seconds - 1
    third.run()
    for ours, expected in zip(_weights(third), _weights(whole), strict=True):
        assert np.array_equal(ours, expected)
    assert np.array_equal(third.games.batch.states, whole.games.batch.states)
    assert _rows(folder / CURVE) == _rows(tmp_path / "whole" / CURVE)
    assert len(_rows(folder / CURVE)) >= 3
    if kind == "curriculum":
        assert _rows(folder / EVALUATIONS) == _rows(tmp_path / "whole" / EVALUATIONS)
        hooks = [learner.hook for learner in (third, whole)]
        states = [hook.get_state()["curriculum"] for hook in hooks]
        assert states[0]["games"].tolist() == states[1]["games"].tolist()
        assert states[0]["level"] == states[1]["level"] > 0
        assert states[0]["generator"] == states[1]["generator"]


def test_a_network_that_is_not_finite_any_more(tmp_path: Path) -> None:
    """It is said so, and what was saved before stays."""
    learner = _versus_learner(tmp_path, Budget(steps=512))
    learner.run()
    kept = (tmp_path / POLICY).read_bytes()
    spoilt = _versus_learner(tmp_path, Budget(steps=4096))
    spoilt.resume()
    with torch.no_grad():
        next(iter(spoilt.model.policy.parameters())).fill_(torch.inf)
    with pytest.raises(CheckpointError, match="not finite"):
        spoilt.run()
    assert (tmp_path / POLICY).read_bytes() == kept
    agent = PolicyAgent.of(spoilt.model)
    batch = Batch(Config(players=2), 4, seed=1)
    with pytest.raises(CheckpointError, match="outputs are not finite"):
        agent.act(Decisions.of(batch), np.random.default_rng(0))


@pytest.mark.parametrize("rate", [1e10, 1e30])
def test_a_learning_rate_that_spoils_the_network(rate: float, tmp_path: Path) -> None:
    games = VersusBatch(Config(players=2), 16, ("random",), seed=4, reward="margin", new_observations=True)
    with pytest.raises(CheckpointError, match="not finite"):
        Learner(games, Budget(steps=8192), tmp_path, 4, replace(TINY, learning_rate=rate)).run()


def test_resume_refuses_another_run(tmp_path: Path) -> None:
    learner = _versus_learner(tmp_path, Budget(steps=512))
    with pytest.raises(CheckpointError, match="there is no such file"):
        learner.resume()
    learner.run()
    games = VersusBatch(Config(players=2), 16, ("random",), seed=4, reward="margin", new_observations=True)
    with pytest.raises(CheckpointError, match="has other settings: epochs=1"):
        Learner(games, Budget(), tmp_path, 4, replace(TINY, epochs=2)).resume()
    path = tmp_path / RESUME
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole[:5000] + b"?" * 100 + whole[5100:]):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"resume\.zip: is damaged"):
            learner.resume()
    save_tree(path, load_tree_of(whole, tmp_path) | {"versions": {**versions(GAME), "state_version": 0}})
    with pytest.raises(CheckpointError, match="differ in state_version"):
        learner.resume()


def load_tree_of(data: bytes, folder: Path) -> Any:
    (folder / "whole.zip").write_bytes(data)
    return load_tree(folder / "whole.zip")


def test_trees_come_back_as_they_were(tmp_path: Path) -> None:
    batch = Batch(Config(), 3, 0)
    tree = {
        "states": batch.states,
        "generator": batch.generator.bit_generator.state,
        "bytes": bytes(range(256)),
        "tuple": (1, ("two", None), [3.5, True]),
        "nested": {"$": [np.arange(6).reshape(2, 3).T, np.float32(0.1), np.array(5)]},
    }
    save_tree(tmp_path / "tree.zip", tree)
    back = load_tree(tmp_path / "tree.zip")
    assert back["states"].dtype == batch.states.dtype and np.array_equal(back["states"], batch.states)
    assert back["generator"] == tree["generator"]
    assert (back["bytes"], back["tuple"]) == (tree["bytes"], tree["tuple"])
    array, number, scalar = back["nested"]["$"]
    assert np.array_equal(array, np.arange(6).reshape(2, 3).T)
    assert np.float32(number) == np.float32(0.1)
    assert scalar.shape == () and scalar == 5
    for wrong in ({1: 2}, {"set": {1}}, [object()]):
        with pytest.raises(TypeError):
            save_tree(tmp_path / "wrong.zip", wrong)
    assert not (tmp_path / "wrong.zip").exists()


class _Scores(TaskHook):
    """Evaluations with scores that are given."""

    scores = iter((0.1, 0.7, 0.3, 0.7, 0.5))

    def evaluate(self, learner: BaseLearner) -> Judgement:
        torch.rand(7)  # must not disturb the learning
        return Judgement(next(self.scores), {"win_rate": 0.0})


def test_the_best_policy_is_kept(tmp_path: Path) -> None:
    learner = new_learner(Budget(steps=5 * 512), tmp_path, 0, replace(TINY, evaluate_every=512), SoloSettings(Config()))
    learner.hook = _Scores(SoloSettings(Config()), 0)
    progress = learner.run()
    assert [score.score for _, score in progress.evaluations] == [0.1, 0.7, 0.3, 0.7, 0.5]
    assert read_notes(GAME, tmp_path / BEST)["training"]["steps"] == 1024
    assert read_notes(GAME, tmp_path / POLICY)["training"]["steps"] == 2560
    assert [row["score"] for row in _rows(tmp_path / EVALUATIONS)] == ["0.1", "0.7", "0.3", "0.7", "0.5"]
    assert any((tmp_path / "tensorboard").iterdir())
    undisturbed = new_learner(
        Budget(steps=5 * 512), tmp_path / "..", 0, TINY, SoloSettings(Config(), games=1), tensorboard=False
    )
    undisturbed.folder = tmp_path / "other"
    undisturbed.folder.mkdir()
    undisturbed.run()
    assert all(np.array_equal(*pair) for pair in zip(_weights(learner), _weights(undisturbed), strict=True))


def test_checkpoints_are_of_the_network_alone(tmp_path: Path) -> None:
    """They have its weights, bit by bit, and no pickle; they open without any library for learning."""
    learner = new_learner(Budget(steps=512), tmp_path, 0, TINY, SoloSettings(Config(), games=1), tensorboard=False)
    learner.run()
    learner.model.save(tmp_path / "whole.zip")
    assert (tmp_path / POLICY).stat().st_size < 0.5 * (tmp_path / "whole.zip").stat().st_size
    network, notes = read_checkpoint(GAME, tmp_path / POLICY)
    assert notes["network"]["trunk"] == ["Linear", "ReLU"]
    policy: Any = learner.model.policy
    layers = [*policy.features_extractor.net, *policy.mlp_extractor.policy_net, policy.action_net]
    layers += [*policy.mlp_extractor.value_net, policy.value_net]
    for ours, wanted in zip(network.layers, layers, strict=True):
        assert type(ours) is type(wanted)
        for name, weights in wanted.state_dict().items():
            assert torch.equal(ours.state_dict()[name], weights)
    with zipfile.ZipFile(tmp_path / POLICY) as archive:
        assert {name.rpartition(".")[2] for name in archive.namelist()} == {"json", "npy"}
    program = (
        "import sys; from petrichor_env import GAME; from tabletop_agents import make_agent;"
        f"make_agent('policy:{tmp_path / POLICY}', GAME);"
        "sys.exit(bool({'stable_baselines3', 'sb3_contrib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_checkpoints_that_hold_too_much_or_something_else(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, name = tmp_path / "policy.zip", "policy.0.weight.npy"
    with zipfile.ZipFile(trained[1]) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}

    def refused(text: str, **changed: bytes | None) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for one, data in (members | changed).items():
                if data is not None:
                    archive.writestr(one, data)
        with pytest.raises(CheckpointError, match=text):
            PolicyAgent.load(path, GAME)

    def saved(array: np.ndarray) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()

    refused(r"policy\.zip: is damaged: its network can't be read", **{name: None})
    refused(r"policy\.zip: is damaged: its network can't be read", **{name: saved(np.array([{}], object))})
    refused(r"policy\.zip: its policy has a layer 0 of Linear \(3, 4\), not \(16, ", **{name: saved(np.ones((3, 4)))})
    line = r"save_checkpoint\(GAME, MaskablePPO\.load\('policy\.zip'\), 'converted\.zip'\)"
    refused(f"is Stable-Baselines3's own file.*{line}", **{MEMBER: None, "policy.pth": b""})
    monkeypatch.setattr(checkpoint, "MOST_BYTES", 3000)
    refused(r"policy\.zip: it unpacks to [\d,]+ bytes; at most 3,000 are read")


LOCKED = """
import sys, time
from tabletop_training.job import Job
with Job(sys.argv[1], resume=True):
    print("here", flush=True)
    time.sleep(600)
"""


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    """A process that was killed keeps nobody away."""
    with subprocess.Popen([sys.executable, "-c", LOCKED, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"here\n"
        with pytest.raises(TabletopError, match="another process is writing there"), Job(tmp_path, resume=True):
            pass
        other.kill()
    with Job(tmp_path, resume=True), Job(tmp_path, resume=True):  # a job within a job is one process's
        pass
    with Job(tmp_path, resume=True):
        pass


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said so, and the last checkpoint is whole."""
    learner = _versus_learner(tmp_path, Budget(steps=512))
    learner.run()
    kept = (tmp_path / POLICY).read_bytes()

    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    more = _versus_learner(tmp_path, Budget(steps=1024))
    kept_it = "No space left on device.*what was saved last is kept"
    with pytest.raises(TabletopError, match=kept_it), Job(tmp_path, resume=True):
        more.run()
    assert (tmp_path / POLICY).read_bytes() == kept


def test_the_state_of_a_run_is_unpacked_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file may unpack to anything."""
    save_tree(tmp_path / RESUME, {"zeros": np.zeros(1_000_000)})
    assert (tmp_path / RESUME).stat().st_size < 100_000
    assert load_tree(tmp_path / RESUME)["zeros"].shape == (1_000_000,)
    monkeypatch.setattr(resume, "MOST_UNPACKED", 1_000_000)
    with pytest.raises(CheckpointError, match=r"resume\.zip: .*it unpacks to 8,\d{3},\d{3} bytes; at most 1,000,000"):
        load_tree(tmp_path / RESUME)


# --- Settings --------------------------------------------------------------------------------------------------------


def test_settings_files_that_are_shipped() -> None:
    for name in ("solo", "solo_curriculum"):
        sections = read_settings(name, GAME, learning=Settings, solo=SoloSettings, budget=Budget)
        assert sections["solo"].curriculum == (name == "solo_curriculum")
        assert sections["budget"].steps or sections["budget"].minutes
    kinds: dict[str, Any] = {"selfplay": SelfPlaySettings, "league": LeagueSettings}
    for players in (2, 3, 4):
        sections = read_settings(f"selfplay_{players}p", GAME, learning=Settings, budget=Budget, **kinds)
        assert sections["selfplay"].config.players == players
    several = ("exploiter", "general", "general_gpu", "general_rollouts", "general_weighs")
    for name in (*several, "general_solo", "general_solo_gpu", "general_solo_weighs"):
        sections = read_settings(name, GAME, **TABLES, budget=Budget)
        numbers = list(sections["games"].levels(GAME))
        assert numbers == ([1] if "solo" in name else [2, 3, 4, 5]) and sections["games"].variety
    assert len(list((CONFIGS / "petrichor").glob("*.toml"))) == 13


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[learning]\nepoch = 3", r"\[learning\]: unknown key epoch; there are num_envs, steps"),
        ("[learing]", "unknown table or key learing; it has the tables learning, solo, budget"),
        ("learning = 3", r"\[learning\]: must be a table, not 3"),
        ("[learning]\nepochs = 2.5", "epochs=2.5: must be an int"),
        ("[learning]\nepochs = true", "epochs=True: must be an int"),
        ("[learning]\nlayers = [64, 'x']", "layers="),
        ("[learning]\nlayers = [64, 0]", "widths of at least 1"),
        ("[learning]\nepochs = 0", "epochs=0: must be more than 0"),
        ("[learning]\ndiscount = 1.5", "discount=1.5: must be from 0 to 1"),
        ("[learning]\nreward = 'fame'", "reward='fame': must be one of 'win', 'margin', 'points'"),
        ("[learning]\nthreads = 0", "threads=0"),
        ("[learning]\nlearning_rate = nan", "learning_rate=nan: must be more than 0"),
        ("[learning]\nlearning_rate = inf", "learning_rate=inf: must be more than 0"),
        ("[learning]\nentropy = -1.0", "entropy=-1.0: must be a finite number of at least 0"),
        ("[learning]\nclip = nan", "clip=nan: must be a finite number of at least 0"),
        ("[solo]\nthreshold = 'a'", "threshold='a': must be a number"),
        ("[solo]\ngames = 'a'", "games='a': must be an int"),
        ("[budget]\nminutes = 'x'", "minutes='x': must be a number"),
        ("[learning]\nnum_envs = 1\nsteps = 17\nminibatch = 16", "a minibatch of a single decision"),
        ("[solo]\nvariants = ['hard']", "variants: unknown 'hard'"),
        ("[solo]\ncurriculum = true\nvariants = ['double_card']", "give one of the two"),
        ("[solo]\ngames = 0", "games=0"),
        ("[solo]\nthreshold = 2.0", "threshold=2.0"),
        ("[budget]\nsteps = 5\nminutes = 1", "one of them"),
        ("[budget]\nminutes = -1", "at least 0"),
        ("[budget]\nminutes = nan", "at least 0"),
        ("[learning", "is not TOML"),
    ],
)
def test_settings_that_are_wrong(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=error):
        read_settings(path, GAME, learning=Settings, solo=SoloSettings, budget=Budget)


def test_settings_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[learning]\nlayers = [32]\nlearning_rate = 1\n[solo]\nmodules = ['cactus']\n")
    sections = read_settings(path, GAME, learning=Settings, solo=SoloSettings, budget=Budget)
    assert sections["learning"] == Settings(layers=(32,), learning_rate=1)
    assert sections["solo"].configs() == [Config(modules=("cactus",))]
    assert sections["budget"].fraction(10**9, 10**9) == 0
    with pytest.raises(ConfigError, match=r"no such settings file; shipped ones: .*solo, solo_curriculum"):
        read_settings("sol", GAME, learning=Settings)


def test_budgets() -> None:
    assert Budget(steps=200).fraction(50, 10**6) == 0.25
    assert Budget(minutes=2).fraction(10**9, 30) == 0.25
    assert Budget(minutes=0).fraction(0, 0) == Budget(steps=0).fraction(0, 0) == 1


# --- Solo ------------------------------------------------------------------------------------------------------------


def _ended(curriculum: Curriculum, won: float, games: int = 60) -> tuple[list[Any], np.ndarray]:
    """That many games of every open set, of which the share `won` was won."""
    configs = [config for config, on in zip(curriculum.configs, curriculum.open, strict=True) if on]
    wins = np.tile(np.arange(games) < won * games, len(configs)) * 1.0
    return [config for config in configs for _ in range(games)], wins


def test_the_curriculum_opens_levels_by_win_rate() -> None:
    curriculum = Curriculum(Config().curriculum(), threshold=0.5, latest=0.4, seed=0)
    assert curriculum.shares.tolist() == [1.0] + [0.0] * 15
    assert set(curriculum.choose(np.arange(30))) == {Config()}
    curriculum.update(*_ended(curriculum, 0.75, games=40), 0.0)
    assert curriculum.level == 0  # too few games to say
    curriculum.update(*_ended(curriculum, 0.4, games=400), 0.0)
    assert curriculum.level == 0
    for level in range(1, 5):
        curriculum.update(*_ended(curriculum, 0.9, games=400), 0.0)
        assert curriculum.level == level
    assert curriculum.open.all()
    curriculum.update(*_ended(curriculum, 0.9), 0.0)
    assert curriculum.level == 4


def test_the_curriculum_opens_levels_in_time_without_wins() -> None:
    curriculum = Curriculum(Config().curriculum(), threshold=0.5, latest=0.4, seed=0)
    levels = []
    for fraction in (0.05, 0.099, 0.1, 0.15, 0.2, 0.301, 0.4):
        curriculum.update(*_ended(curriculum, 0.0), fraction)
        levels.append(curriculum.level)
    assert levels == [0, 0, 1, 1, 2, 3, 4]


def test_the_curriculum_prefers_what_is_lost() -> None:
    curriculum = Curriculum(Config().curriculum(), threshold=0.5, latest=0.1, seed=0)
    curriculum.level = 1
    curriculum.win_rates[:5] = 1.0, 0.8, 0.8, 0.8, 0.6
    assert curriculum.shares == pytest.approx([0.1, 0.2, 0.2, 0.2, 0.3] + [0.0] * 11)
    chosen = curriculum.choose(np.arange(4000))
    counts = [chosen.count(config) for config in curriculum.configs[:5]]
    assert np.abs(np.array(counts) / 4000 - curriculum.shares[:5]).max() < 0.03
    curriculum.win_rates[:] = 1.0
    assert curriculum.shares[:5] == pytest.approx([0.2] * 5)


def test_a_learner_is_judged_by_the_games_of_the_evaluation(tmp_path: Path) -> None:
    """With the curriculum by those of all 16 sets of variants."""
    learner = new_learner(Budget(steps=512), tmp_path, 3, SMALL, replace(EVERYTHING, games=15), tensorboard=False)
    judgement = learner.hook.evaluate(learner)
    assert judgement is not None
    seed = 3 + CHOOSING_SEED
    results = [play_games([learner.agent()], Config(variants=variants), 15, seed) for variants in ALL_VARIANTS]
    assert judgement.numbers["win_rate"] == pytest.approx(np.mean([one.won.mean() for one in results]))
    assert judgement.numbers["margin"] == pytest.approx(np.mean([one.margins.mean() for one in results]))
    for one in results:
        assert judgement.numbers[one.config.name] == one.won.mean()


@pytest.fixture
def tiny_file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(
        "[learning]\nnum_envs = 16\nsteps = 32\nminibatch = 128\nepochs = 1\nlayers = [16]\nthreads = 1\n"
        "evaluate_every = 512\n[solo]\ngames = 3\n[budget]\nsteps = 512\n"
    )
    return path


def test_train_solo_from_the_command_line(tmp_path: Path, tiny_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    command = ["train", "solo", "--config", str(tiny_file), "--seed", "7", "--output", str(folder)]
    with pytest.raises(SystemExit) as ended:
        cli.main([*command, "--variants", "double_card, one_more_turn"])
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    assert "Best policy (best.zip): after 512 steps" in printed.out
    left = {"policy.zip", "best.zip", "resume.zip", "run.json", CURVE, EVALUATIONS, "tensorboard"}
    assert {path.name for path in folder.iterdir()} == left
    notes = read_notes(GAME, folder / BEST)["training"]
    assert (notes["players"], notes["config"]["variants"]) == (1, ["double_card", "one_more_turn"])
    assert notes["evaluation"]["steps"] == notes["steps"] == 512
    seed, budget, sections = read_run(folder, GAME, "solo")
    assert (seed, budget) == (7, Budget(steps=512))
    assert sections["solo"].config.variants == ("double_card", "one_more_turn")
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "solo", "--resume", str(folder), "--steps", "1024"])
    assert ended.value.code == 0
    assert read_notes(GAME, folder / POLICY)["training"]["steps"] == 1024
    assert [row["steps"] for row in read_log(folder / EVALUATIONS, 10**9)] == ["512", "1024"]
    capsys.readouterr()
    for words in ("--seed 0", "--output elsewhere", "--variants double_card", "--curriculum", f"--config {tiny_file}"):
        with pytest.raises(SystemExit) as ended:
            cli.main(["train", "solo", "--resume", str(folder), *words.split()])
        assert ended.value.code == 2
        name = words.split()[0].removeprefix("--")
        assert f"petrichor: {name}: not with --resume, which keeps its settings" in capsys.readouterr().err


def test_train_solo_with_numbers_of_ones_own(tmp_path: Path, tiny_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cotton that scores nothing; the run keeps its overlay file, in whatever folder it is resumed."""
    numbers, folder = tmp_path / "numbers.toml", tmp_path / "run"
    numbers.write_text("[tiles.cotton]\nscores = [0, 0, 0, 0]\n")
    monkeypatch.chdir(tmp_path)
    learners = []
    run = Learner.run

    def noting(learner: Learner) -> Any:
        learners.append(learner)
        return run(learner)

    monkeypatch.setattr(Learner, "run", noting)
    with pytest.raises(ComponentsError, match="nowhere"):
        train_solo(tiny_file, components="nowhere.toml", output=folder)
    assert not folder.exists()
    words = ["--config", str(tiny_file), "--components", "numbers.toml", "--output", str(folder)]
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "solo", *words])
    assert ended.value.code == 0
    assert read_notes(GAME, folder / POLICY)["training"]["config"]["components"] == str(numbers)
    monkeypatch.chdir(folder)
    train_solo(resume=folder, steps=1024)
    for learner in learners:
        assert learner.games.batch.tables.tobytes() == load_tables(numbers).tobytes() != load_tables().tobytes()
    with pytest.raises(ConfigError, match="components: not with --resume"):
        train_solo(resume=folder, components=numbers)
    numbers.write_text("[tiles.cotton]\nscores = [1, 0, 0, 0]\n")
    with pytest.raises(CheckpointError, match=r"resume\.zip: its games were played with other numbers on the pieces"):
        train_solo(resume=folder, steps=1536)
    assert read_notes(GAME, folder / POLICY)["training"]["steps"] == 1024


def test_a_settings_file_may_name_an_overlay(tmp_path: Path, tiny_file: Path) -> None:
    numbers = tmp_path / "numbers.toml"
    numbers.write_text("[tiles.cotton]\nscores = [0, 0, 0, 0]\n")
    tiny_file.write_text(tiny_file.read_text().replace("[solo]", f"[solo]\ncomponents = '{numbers}'"))
    folder = train_solo(tiny_file, curriculum=True, steps=1, output=tmp_path / "run")
    _, _, sections = read_run(folder, GAME, "solo")
    assert {config.components for config in sections["solo"].configs()} == {str(numbers)}


def test_a_cluster_needs_its_extra(
    tiny_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "tabletop_training.rllib_learning", raising=False)
    command = ["train", "solo", "--config", str(tiny_file), "--output", str(tmp_path / "run")]
    for options, problem in (
        (["--ray"], r'--ray needs the extra "ray"'),
        (["--ray", "auto", "--workers", "2"], r'--ray needs the extra "ray"'),
        (["--workers", "2"], "workers=2: only with --ray"),
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main([*command, *options])
        assert ended.value.code == 2
        assert problem in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("method", "code", "text"),
    [
        (None, 0, "Stopped before an update was saved: nothing was kept but the untrained network. To start: "),
        ("_iterate", 130, "Stopped before an update was saved: nothing was kept but the untrained network. To start: "),
        ("_prepare", 130, "Stopped before anything was saved: nothing was kept."),
    ],
    ids=["once", "while learning", "before"],
)
def test_a_run_that_is_stopped_says_what_is_kept(
    method: str | None,
    code: int,
    text: str,
    tmp_path: Path,
    tiny_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One Ctrl-C is waited for, a second one ends it at once. What it tells to start with does start it."""
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        if method is None:
            patch.setattr(Interruptions, "wanted", lambda self: True)
        else:
            patch.setattr(Learner, method, _interrupt)
        with pytest.raises(SystemExit) as ended:
            cli.main(["train", "solo", "--config", str(tiny_file), "--output", str(folder)])
    assert ended.value.code == code
    printed = capsys.readouterr().out
    assert text in printed
    if "To start" not in text:
        assert not (folder / RESUME).exists()
        return
    assert f"petrichor train solo --resume {folder}\n" in printed
    train_solo(resume=folder)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "_iterate", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            train_solo(resume=folder, steps=1024)
    printed = capsys.readouterr().out
    assert f"Stopped. What was saved last is kept. To continue: petrichor train solo --resume {folder}\n" in printed
    assert read_notes(GAME, folder / POLICY)["training"]["steps"] == 512


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"settings": "nowhere"}, "there is no such settings file"),
        ({"variants": ["hard"]}, "unknown 'hard'"),
        ({"variants": ["double_card"], "curriculum": True}, "give one of the two"),
        ({"steps": 5, "minutes": 5.0}, "one of them"),
        ({"steps": 0}, "steps=0: must be more than 0"),
        ({"minutes": 0.0}, "minutes=0.0: must be more than 0"),
        ({"components": "nowhere"}, "nowhere"),
    ],
)
def test_train_solo_refuses_bad_input(options: dict[str, Any], error: str, tmp_path: Path) -> None:
    with pytest.raises((ConfigError, ComponentsError), match=error):
        train_solo(**options, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_budget_that_is_used_up_is_refused(tmp_path: Path, tiny_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is written; a run that lacks its last evaluation alone goes on to it."""
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "_evaluate", lambda self: None)
        train_solo(tiny_file, variants=["double_card"], output=folder)
    before = (folder / RUN).read_bytes()
    with pytest.raises(ConfigError, match=r"^steps=100: .*run has used that up already: 512 steps in .* Give more$"):
        train_solo(resume=folder, steps=100)
    assert not (folder / BEST).exists()
    train_solo(resume=folder)
    assert (folder / BEST).exists()
    with pytest.raises(ConfigError, match=r"run: already finished after 512 steps; give more --steps or"):
        train_solo(resume=folder)
    assert (folder / RUN).read_bytes() == before


def test_runs_of_another_kind_are_not_resumed(tmp_path: Path) -> None:
    for text, error in (
        ('{"kind": "selfplay"}', r"run\.json: is a run of `petrichor train selfplay`, not of solo$"),
        ("{", "damaged"),
        ("[]", "damag"),
    ):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(CheckpointError, match=error):
            train_solo(resume=tmp_path)
    with pytest.raises(CheckpointError, match="--resume needs the folder of a run"):
        train_solo(resume=tmp_path / "nowhere")


def test_the_program_on_the_page_runs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "training.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    changes = {"minutes=5": "steps=512", '"runs"': repr(str(tmp_path)), "layers=(64, 64)": "num_envs=8, threads=1"}
    for old, new in changes.items():
        assert old in program
        program = program.replace(old, new)
    exec(program, {})
    assert read_notes(GAME, tmp_path / POLICY)["training"]["steps"] >= 512
    (settings,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine.toml").write_text(settings)
    sections = read_settings(tmp_path / "mine.toml", GAME, learning=Settings, solo=SoloSettings, budget=Budget)
    assert sections["solo"].config.variants == ("one_more_turn",)


# --- Demo ------------------------------------------------------------------------------------------------------------


def test_demo_leaves_everything_in_one_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = demo.main(minutes=0.05, output=tmp_path / "demo", games=20, seed=3, settings=SMALL)
    assert folder == tmp_path / "demo"
    assert {path.name for path in folder.iterdir()} == FILES
    printed = capsys.readouterr().out
    assert str(folder) in "".join(printed.split("\n"))
    with (folder / "difficulty.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["variants"], row["agent"]) for row in rows] == [
        ("+".join(variants) or "base", agent) for variants in ALL_VARIANTS for agent in ("random", "greedy", "trained")
    ]
    for row in rows:
        assert int(row["games"]) == 20
        assert int(row["seed"]) == 3 + demo.EVALUATION_SEED
        assert float(row["win_rate_low"]) <= float(row["win_rate"]) <= float(row["win_rate_high"])
        assert float(row["margin_low"]) <= float(row["margin"]) <= float(row["margin_high"])
        assert f"{float(row['margin']):+.1f}" in printed
    for picture in ("learning_curve.png", "difficulty.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    # the table's random and greedy rows are what anybody gets for this seed, the trained row what the checkpoint plays
    agents: list[Agent] = [RandomAgent(), GreedyAgent(), PolicyAgent.load(folder / "policy.zip", GAME, name="trained")]
    for row, agent in zip(rows[-3:], agents, strict=True):
        again = summarize(play_games([agent], Config(variants=VARIANTS), 20, int(row["seed"])))
        assert int(row["wins"]) == again.wins
        assert float(row["margin"]) == pytest.approx(again.margin, abs=1e-4)
    with (folder / "learning_curve.csv").open() as file:
        curve = list(csv.DictReader(file))
    assert sum(int(point["games"]) for point in curve) > 0


def test_demo_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "policy.zip").write_text("mine")
    folder = demo.main(minutes=0.0, output=tmp_path / "demo", games=1, settings=SMALL)
    assert folder == tmp_path / "demo-2"
    assert {path.name for path in folder.iterdir()} == FILES
    assert (tmp_path / "demo" / "policy.zip").read_text() == "mine"


def _run_demo_until(folder: Path, ready: str, games: int) -> subprocess.Popen[str]:
    """Start the demo in a process of its own and wait for a file of it."""
    program = (
        "import sys; from tabletop_training.petrichor import demo; from tabletop_training.settings import Settings;"
        "small = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1);"
        f"demo.main(minutes=float(sys.argv[1]), output=sys.argv[2], games={games}, settings=small)"
    )
    minutes = "60" if ready == "policy.zip" else "0"
    process = subprocess.Popen(
        [sys.executable, "-c", program, minutes, str(folder)],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 240
    while not (folder / ready).exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
def test_ctrl_c_while_learning_goes_on_to_the_evaluation(tmp_path: Path) -> None:
    process = _run_demo_until(tmp_path / "demo", "policy.zip", games=5)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert "Learning stopped early" in output
    assert {path.name for path in (tmp_path / "demo").iterdir()} == FILES
    assert read_notes(GAME, tmp_path / "demo" / "policy.zip")["training"]["steps"] > 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
def test_ctrl_c_while_evaluating_keeps_what_is_done(tmp_path: Path) -> None:
    process = _run_demo_until(tmp_path / "demo", "difficulty.csv", games=1000)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert "Evaluation stopped early" in output
    assert {path.name for path in (tmp_path / "demo").iterdir()} == FILES
    with (tmp_path / "demo" / "difficulty.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert 3 <= len(rows) < 48
    assert all(int(row["games"]) == 1000 for row in rows)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
def test_ctrl_c_twice_ends_the_program_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    process = _run_demo_until(tmp_path / "demo", "policy.zip", games=3000)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert str(tmp_path / "demo") in "".join(output.split("\n"))
    read_notes(GAME, tmp_path / "demo" / "policy.zip")


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    """Whatever a flipped bit makes of the archive: CheckpointError, or the notes where it hit another member."""
    path = tmp_path / "policy.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, json.dumps({**versions(GAME), "training": {}}))
    whole = path.read_bytes()
    read_notes(GAME, path)
    refused = 0
    for bit in range(0, 8 * len(whole), 7):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            read_notes(GAME, path)
        except CheckpointError:
            refused += 1
    assert refused > 100


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TabletopError, match="the folder cannot be created"):
        make_folder(tmp_path / "file" / "demo", new=True)


@pytest.mark.parametrize("wanted", ["", ".", "../here", "inner/.."])
def test_a_folder_that_is_the_current_one(wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has files; the new one is beside it, and no hidden one."""
    (tmp_path / "here" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert make_folder(wanted, new=True).resolve() == tmp_path / "here-2"
