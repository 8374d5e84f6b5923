"""`SeatsVecEnv`: the games of a batch as Stable-Baselines3 wants them, and sb3-contrib's MaskablePPO on it."""

from __future__ import annotations

from functools import partial
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

from evergreen_env.game import GAME as EVERGREEN
from petrichor_env import GAME
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import Config
from petrichor_env.observation import OBSERVATION_SIZE
from tabletop_agents import RandomAgent, make_agent
from tabletop_engine.errors import ConfigError, IllegalAction, ScenarioError
from tabletop_engine.game import Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.play.learner_games import LearnerGames, learner_games
from tabletop_training import sb3_maskable_ppo
from tabletop_training.learn.vec_env import SeatsVecEnv
from tabletop_training.measure.evaluation import play_games
from tests.support.configurations import SOLO_MODULES


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Torch's threads wait for each other by spinning, which is many times slower if other programs use the cores."""
    torch.set_num_threads(1)


def solo_games(num_games: int, config: Config | None = None, **options: Any) -> LearnerGames:
    return learner_games(config or Config(), num_games, new_observations=True, **options)


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
    env = VecMonitor(SeatsVecEnv(learner_games(Config(players=2), 4, ("random",), seed=1, new_observations=True)))
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
    assert env.reward_scale == 3.0
    with pytest.raises(ValueError, match="leave indices=None"):
        env.set_attr("reward_scale", 2.0, indices=[0])
    with pytest.raises(AttributeError, match="one method, action_masks"):
        env.env_method("fly")
    env.close()


def test_vec_env_refuses_bad_input() -> None:
    for wrong in (
        learner_games(Config(), 2, new_observations=False),
        learner_games(Config(), 2, autoreset="next_step"),
    ):
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
    games = learner_games(Config(players=3), 60, ("random",), reward="points", seed=1, new_observations=True)
    env = SeatsVecEnv(games, reward_scale=0.1, win_bonus=2.0)
    env.reset()
    generator = np.random.default_rng(0)
    seen = 0
    for _ in range(150):
        _, _, dones, infos = env.step(sample_actions(env.action_masks(), generator))
        for game in np.flatnonzero(dones):
            info, seat = infos[game], games.final_seats[game]
            points = games.final_states["points"][game, :3]
            assert info["points"] == points[seat]
            assert info["others_points"] == pytest.approx(np.delete(points, seat).mean())
            winners = games.batch.winners(games.final_states[[game]])[0]
            assert info["won"] == winners[seat] / winners.sum()
            bonus = 2.0 * (2 * info["won"] - 1)
            assert info["episode"]["r"] == pytest.approx(0.1 * points[seat] + bonus)
            assert np.array_equal(info["terminal_observation"], games.final_observations[game])
            seen += 1
    assert seen > 60


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
    assert model.num_timesteps == 4096  # otherwise the callback would have stopped it
    assert callback.seen == 256
    finished = list(model.ep_info_buffer or ())
    assert len(finished) > 16
    assert {"r", "l", "t", "won"} <= finished[0].keys()


@pytest.mark.parametrize(
    ("game", "players"),
    [(GAME, 1), (EVERGREEN, 2), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((GAME, 3), (EVERGREEN, 1)))],
)
def test_the_script_of_maskable_ppo_leaves_an_agent(
    game: Game, players: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs for one rollout, and the saved agent plays as it says."""
    path = tmp_path / "sb3.zip"
    monkeypatch.setattr(sb3_maskable_ppo, "MaskablePPO", partial(MaskablePPO, n_epochs=1))
    sb3_maskable_ppo.main(game.home, players, steps=1, output=path)
    command = f"python -m tabletop_cli {game.home} evaluate {'--solo ' if players == 1 else ''}greedy policy:{path}"
    assert capsys.readouterr().out == f"To measure it: {command}\n"
    agents = [make_agent(f"policy:{path}", game), *[RandomAgent()] * (players - 1)]
    assert len(play_games(agents, game.config(players=players), 4, 0)) == 4
