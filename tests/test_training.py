"""The VecEnv, evaluation, checkpoints and the demo."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from agents import Agent, GreedyAgent, RandomAgent, make_agent
from agents.base import Decisions
from agents.checkpoint import MEMBER, read_notes, save_checkpoint, versions
from agents.policy import PolicyAgent
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.batch import Batch
from petrichor_env.config import MODULES, VARIANTS, Config
from petrichor_env.errors import CheckpointError, ConfigError, IllegalAction, PetrichorError
from petrichor_env.kernels import sample_actions
from petrichor_env.observation import OBSERVATION_SIZE
from tests.configurations import SOLO_MODULES
from training import demo
from training.evaluation import (
    ALL_VARIANTS,
    EvaluationStopped,
    Results,
    mean_interval,
    play_games,
    summarize,
    wilson_interval,
)
from training.learning import MAX_THREADS, Settings, fastest_threads, learn
from training.progress import new_folder
from training.vec_env import PetrichorVecEnv

SMALL = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1)
FILES = {"policy.zip", "learning_curve.csv", "learning_curve.png", "difficulty.csv", "difficulty.png"}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Torch's threads wait for each other by spinning: many times slower where other programs use the cores."""
    torch.set_num_threads(1)


# --- VecEnv ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "config", [Config(variants=("double_card",)), Config(modules=SOLO_MODULES)], ids=lambda config: config.name
)
def test_vec_env_plays_the_games_of_a_batch(config: Config) -> None:
    env = PetrichorVecEnv(40, config, reward="margin", reward_scale=0.5, seed=7)
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
            assert (info["points"], info["neutral_points"]) == (points[0], points[1])
            assert info["won"] == (points[0] > points[1])
            assert info["episode"]["r"] == pytest.approx(returns[game], abs=1e-4)
            assert info["episode"]["l"] == lengths[game]
            returns[game], lengths[game] = 0, 0
    assert finished > 40


def test_vec_env_seeds() -> None:
    env = PetrichorVecEnv(8, seed=1)
    env.seed(30)
    first = env.reset()
    assert np.array_equal(first, Batch(Config(), 8, 30).observations)
    assert not np.array_equal(first, env.reset())  # a seed holds for one reset
    env.seed(30)
    assert np.array_equal(first, env.reset())


def test_vec_env_answers_what_sb3_asks() -> None:
    env = PetrichorVecEnv(6, seed=0)
    env.reset()
    assert env.observation_space.shape == (OBSERVATION_SIZE,)
    assert env.observation_space.contains(env.batch.observations[0])
    assert env.action_space.n == NUM_ACTIONS
    assert is_masking_supported(env)
    assert np.array_equal(get_action_masks(env), env.batch.action_masks == 1)
    assert np.array_equal(env.env_method("action_masks", indices=[4, 1]), env.action_masks()[[4, 1]])
    assert env.env_method("action_masks", indices=2).shape == (1, NUM_ACTIONS)
    assert env.env_is_wrapped(Monitor) == [False] * 6
    assert env.get_attr("render_mode", indices=[0, 2]) == [None, None]
    assert env.has_attr("action_masks")
    assert not env.has_attr("gravity")
    env.set_attr("reward_scale", 3.0)
    assert env.get_attr("reward_scale", indices=0) == [3.0]
    with pytest.raises(ValueError, match="leave indices=None"):
        env.set_attr("reward_scale", 2.0, indices=[0])
    with pytest.raises(AttributeError, match="one method, action_masks"):
        env.env_method("fly")
    env.close()


def test_vec_env_refuses_bad_input() -> None:
    with pytest.raises(ConfigError, match="players=2"):
        PetrichorVecEnv(4, Config(players=2))
    env = PetrichorVecEnv(4, seed=0)
    before = env.batch.save()
    with pytest.raises(IllegalAction):
        env.step(np.full(4, NUM_ACTIONS - 1))
    assert env.batch.save() == before
    losing = PetrichorVecEnv(4, seed=0, illegal_action="lose")
    _, rewards, dones, infos = losing.step(np.full(4, NUM_ACTIONS - 1))
    assert dones.all()
    assert (rewards == -1).all()
    assert not any(info["won"] for info in infos)


class _NoIllegalAction(BaseCallback):
    seen = 0

    def _on_step(self) -> bool:
        self.seen += 1
        return not self.training_env.get_attr("batch", 0)[0].illegal.any()


def test_maskable_ppo_learns_without_an_illegal_action() -> None:
    env = VecMonitor(PetrichorVecEnv(16, reward="margin", illegal_action="random", seed=0), info_keywords=("won",))
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
    assert mean_interval(np.array([4.0])) == (4, 4)
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
    with pytest.raises(ConfigError, match="1 agents for 2 players"):
        play_games([RandomAgent()], Config(players=2), 5, 0)
    with pytest.raises(ConfigError, match="games=0"):
        play_games([RandomAgent()], Config(), 0, 0)
    with pytest.raises(EvaluationStopped):
        play_games([RandomAgent()], Config(), 5, 0, should_stop=lambda: True)


def test_summary() -> None:
    points = np.array([[30, 20], [25, 25], [10, 25], [41, 40]])
    won = np.array([[True], [False], [False], [True]])
    summary = summarize(
        Results(Config(variants=VARIANTS[:2]), ("someone",), 9, points, won, np.array([60, 70, 50, 60]))
    )
    assert (summary.variants, summary.modules) == ("double_card+non_random_targets", "")
    assert summary.variant_names == VARIANTS[:2]
    assert (summary.agent, summary.games, summary.seed, summary.wins, summary.win_rate) == ("someone", 4, 9, 2, 0.5)
    assert (summary.win_rate_low, summary.win_rate_high) == wilson_interval(2, 4)
    assert (summary.margin, summary.points, summary.neutral_points, summary.decisions) == (-1, 26.5, 27.5, 60)
    assert summary.margin_low < -1 < summary.margin_high
    added = Config(modules=("powers", "cactus"), powers=("rain",))
    summary = summarize(Results(added, ("someone",), 9, points, won, np.array([60, 70, 50, 60])))
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
    loaded, sampling = make_agent(f"policy:{path}"), PolicyAgent.load(path, sample=True)
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
    notes = read_notes(path)
    assert versions().items() <= notes.items()
    assert notes["training"]["steps"] == model.num_timesteps
    assert notes["training"]["settings"]["num_envs"] == 16
    assert MaskablePPO.load(path, device="cpu").num_timesteps == model.num_timesteps


def test_learning_with_modules(tmp_path: Path) -> None:
    config = Config(modules=SOLO_MODULES, powers=("sun",))
    learn(config, 0.0, tmp_path, 0, SMALL)
    notes = read_notes(tmp_path / "policy.zip")["training"]["config"]
    assert (notes["modules"], notes["powers"]) == (list(SOLO_MODULES), ["sun"])


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("state_version", 0, "the version of the game's state is 0, here "),
        ("observation", "0123", "the layout of the observation is 0123, here "),
        ("num_actions", 7, f"the number of actions is 7, here {NUM_ACTIONS}"),
        ("format", None, "the checkpoint format is missing, here 1"),
    ],
)
def test_checkpoint_of_another_version(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, key: str, value: object, text: str
) -> None:
    notes = {**read_notes(trained[1]), key: value, "package": "0.0.1"}
    if value is None:
        del notes[key]
    path = tmp_path / "old.zip"
    with zipfile.ZipFile(trained[1]) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, json.dumps(notes) if name == MEMBER else source.read(name))
    with pytest.raises(CheckpointError, match=r"made by version 0\.0\.1") as caught:
        PolicyAgent.load(path)
    assert text in str(caught.value)


def test_damaged_checkpoint(trained: tuple[MaskablePPO, Path], tmp_path: Path) -> None:
    whole = trained[1].read_bytes()
    path = tmp_path / "policy.zip"
    for size in (0, 100, len(whole) - 100):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"policy\.zip: .*is damaged"):
            PolicyAgent.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MEMBER, json.dumps(versions()))
    with pytest.raises(CheckpointError, match=r"policy\.zip: its network can't be read"):
        PolicyAgent.load(path)


def test_saving_leaves_the_old_checkpoint_until_the_new_one_is_whole(
    trained: tuple[MaskablePPO, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.zip"
    save_checkpoint(trained[0], path, {"which": "first"})

    def fail(source: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_checkpoint(trained[0], path, {"which": "second"})
    assert read_notes(path)["training"] == {"which": "first"}


def test_torch_gets_as_many_threads_as_are_fastest(tmp_path: Path) -> None:
    model, _ = learn(Config(), 0.0, tmp_path, 0, replace(SMALL, threads=None))
    assert 1 <= torch.get_num_threads() <= MAX_THREADS
    assert 1 <= fastest_threads(model.policy, 64) <= MAX_THREADS
    assert all(parameter.grad is None for parameter in model.policy.parameters())


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
    agents: list[Agent] = [RandomAgent(), GreedyAgent(), PolicyAgent.load(folder / "policy.zip", name="trained")]
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
        "import sys; from training import demo; from training.learning import Settings;"
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
    assert read_notes(tmp_path / "demo" / "policy.zip")["training"]["steps"] > 0


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
    read_notes(tmp_path / "demo" / "policy.zip")


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    """Whatever a flipped bit makes of the archive: CheckpointError, or the notes where it hit another member."""
    path = tmp_path / "policy.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MEMBER, json.dumps({**versions(), "training": {}}))
    whole = path.read_bytes()
    read_notes(path)
    refused = 0
    for bit in range(0, 8 * len(whole), 7):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            read_notes(path)
        except CheckpointError:
            refused += 1
    assert refused > 100


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PetrichorError, match="no folder can be made"):
        new_folder(tmp_path / "file" / "demo")
