"""The official checks of every id, and tests of what is particular to this game."""

from __future__ import annotations

import copy
import importlib
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import evergreen_env
from evergreen_env import Batch, Config, evergreen_v0
from evergreen_env.actions import NUM_ACTIONS
from evergreen_env.observation import HIGH, LOW, OBSERVATION_SIZE
from tabletop_engine.errors import ComponentsError, ConfigError, GameOver, IllegalAction, ScenarioError
from tabletop_engine.play.kernels import sample_actions
from tests.support.environments import legal_action, play_out

SOLO = "evergreen_env:Evergreen/Solo-v0"
VERSUS = "evergreen_env:Evergreen/Versus-v0"
OVERLAY = {"flags.sun_start": "east", "flags.wild_biome": "anywhere"}
IDS: list[tuple[str, dict[str, Any]]] = [
    (SOLO, {}),
    (SOLO, {"illegal_action": "random"}),
    (SOLO, {"observation_dtype": "int8", "components": OVERLAY}),
    (VERSUS, {"opponents": ("greedy",), "players": 3}),
    (VERSUS, {"opponents": ("random",)}),
    (VERSUS, {"opponents": ("random",), "players": 4, "reward": "margin", "seat": 2}),
    (VERSUS, {"opponents": ("greedy",), "reward": "points", "illegal_action": "random"}),
]
MODES = list(AutoresetMode)

with warnings.catch_warnings():  # PettingZoo's tests import its own games in a deprecated way
    warnings.simplefilter("ignore")
    api, rendering, seeding, state_checks = (
        importlib.import_module(f"pettingzoo.test.{name}")
        for name in ("api_test", "render_test", "seed_test", "state_test")
    )


@pytest.fixture
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_what_is_registered() -> None:
    registered = {name for name in gymnasium.registry if name.startswith("Evergreen/")}
    assert registered == {evergreen_env.SOLO_ID, evergreen_env.VERSUS_ID}
    registry = getattr(pettingzoo, "aec_registry", None)  # PettingZoo has one from 1.27 on
    assert registry is None or evergreen_env.AEC_ID in registry


@pytest.mark.parametrize(("name", "arguments"), IDS, ids=str)
def test_official_checks(name: str, arguments: dict[str, Any], no_warnings: None) -> None:
    check_env(gymnasium.make(name, **arguments).unwrapped)


@pytest.mark.parametrize(("name", "arguments"), IDS, ids=str)
def test_stable_baselines_checks(name: str, arguments: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(gymnasium.make(name, **arguments))


@pytest.mark.parametrize(("name", "arguments"), IDS, ids=str)
def test_random_games(name: str, arguments: dict[str, Any]) -> None:
    with gymnasium.make(name, **arguments) as env:
        _, info = env.reset(seed=3)
        total, info, steps = play_out(env, info)
        assert steps > 20 and info["illegal"] is False
        if name == SOLO:
            assert total == info["points"] and info["others_points"] == 0.0 and info["won"] is True
        elif arguments.get("reward", "win") == "win":
            assert total == (1.0 if info["won"] else -1.0 / (arguments.get("players", 2) - 1))


def test_spaces() -> None:
    env = gymnasium.make(SOLO)
    assert env.action_space == gymnasium.spaces.Discrete(NUM_ACTIONS)
    assert env.observation_space == gymnasium.spaces.Box(LOW, HIGH, (OBSERVATION_SIZE,), np.float32)


def test_the_game_for_one_is_for_points() -> None:
    for reward in ("win", "margin"):
        with pytest.raises(ConfigError, match="alone there is nobody to win against"):
            gymnasium.make(SOLO, reward=reward)
    for arguments in ({"players": 2}, {"opponents": ("greedy",)}, {"seat": 0}):
        with pytest.raises(ConfigError, match="use it with Evergreen/Versus-v0"):
            gymnasium.make(SOLO, **arguments)
    with pytest.raises(ConfigError, match="the solo game is Evergreen/Solo-v0"):
        gymnasium.make(VERSUS, players=1)
    with pytest.raises(ConfigError, match="2, 3 or 4"):
        evergreen_v0.env(num_players=5)
    with pytest.raises(ComponentsError, match=r"flags\.sun_start: 'up'; allowed: \"north\" or"):
        gymnasium.make(SOLO, components={"flags.sun_start": "up"})
    with pytest.raises(ConfigError, match="unknown argument 'rounds'"):
        gymnasium.make(SOLO, rounds=4)


def test_illegal_actions() -> None:
    env = gymnasium.make(SOLO)
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, _, info = env.step(illegal)
    assert terminated and info["illegal"] and reward == 0 and info["won"] is False
    with pytest.raises(GameOver):
        env.step(0)
    env = gymnasium.make(SOLO, illegal_action="raise")
    env.reset(seed=1)
    with pytest.raises(IllegalAction, match="draft"):
        env.step(illegal)


def test_start_from_a_scenario() -> None:
    described = {"players": 1, "cards": {"player_0": "swamp bush"}, "planets": {"player_0": {"b6": "sprout"}}}
    env = gymnasium.make(SOLO)
    _, info = env.reset(seed=1, options={"scenario": described})
    assert info["action_mask"].sum() == 6
    with pytest.raises(ScenarioError, match="unknown key 'planet'"):
        env.reset(options={"scenario": {"players": 1, "planet": {}}})


# --- Vectors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_vector_equals_single_environments(mode: AutoresetMode, dtype: str, no_warnings: None) -> None:
    arguments: dict[str, Any] = {"observation_dtype": dtype}
    native: Any = gymnasium.make_vec(SOLO, num_envs=4, autoreset_mode=mode, **arguments)
    singles: Any = SyncVectorEnv([lambda: gymnasium.make(SOLO, **arguments)] * 4, autoreset_mode=mode)
    assert native.observation_space == singles.observation_space and native.action_space == singles.action_space
    (seen, infos), (expected, expected_infos) = native.reset(seed=7), singles.reset(seed=7)
    generator, ends = np.random.default_rng(0), 0
    for _ in range(260):
        assert data_equivalence(seen, expected) and (infos["action_mask"] == expected_infos["action_mask"]).all()
        actions = sample_actions(infos["action_mask"], generator)
        seen, rewards, terminations, truncations, infos = native.step(actions)
        expected, expected_rewards, expected_ends, _, expected_infos = singles.step(actions)
        assert (rewards == expected_rewards).all() and (terminations == expected_ends).all() and not truncations.any()
        ends += int(terminations.sum())
        if mode == AutoresetMode.DISABLED and terminations.any():
            options = {"reset_mask": terminations.copy()}
            (new, infos), (expected_new, expected_infos) = native.reset(options=options), singles.reset(options=options)
            seen[terminations], expected[terminations] = new[terminations], expected_new[terminations]
            if not terminations.all():
                expected_infos["action_mask"] = infos["action_mask"]
    assert ends > 8


def test_a_vector_against_agents() -> None:
    envs: Any = gymnasium.make_vec(VERSUS, num_envs=16, opponents=("greedy",), players=3, reward="points")
    _, infos = envs.reset(seed=1)
    ended = 0
    for _ in range(120):
        _, rewards, terminations, _, infos = envs.step(sample_actions(infos["action_mask"], envs.np_random))
        assert rewards.shape == (16,)
        ended += int(terminations.sum())
    assert ended > 8


def test_copies_go_on_alike() -> None:
    env = gymnasium.make(VERSUS, opponents=("random",))
    _, info = env.reset(seed=1)
    for _ in range(20):
        _, _, _, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    action = int(np.flatnonzero(info["action_mask"])[-1])
    expected = env.step(action)
    for other in others:
        assert data_equivalence(other.step(action), expected)


# --- PettingZoo ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "players", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)]
)
def test_pettingzoo_checks(players: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fixed list of environments that may have dictionary observations
        api.api_test(evergreen_v0.env(num_players=players), num_cycles=150)
        seeding.seed_test(lambda: evergreen_v0.env(num_players=players), num_cycles=60)
        rendering.render_test(lambda **arguments: evergreen_v0.env(num_players=players, **arguments))
    if hasattr(pettingzoo, "make"):
        made = pettingzoo.make("aec", evergreen_env.AEC_ID, num_players=players)
        assert made.possible_agents == [f"player_{seat}" for seat in range(players)]


def test_aec_equals_the_batch() -> None:
    env: Any = evergreen_v0.env(num_players=3, reward="margin")
    env.reset(seed=5)
    batch = Batch(Config(3), 1, seed=5, autoreset="disabled", reward="margin")
    generator, totals = np.random.default_rng(0), dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        totals[agent] += reward
        if termination or truncation:
            env.step(None)
            continue
        assert agent == f"player_{batch.actors[0]}"
        assert (observation["observation"] == batch.observations[0]).all()
        action = legal_action(observation, generator)
        env.step(action)
        batch.step([action])
    points = batch.states[0]["points"][:3].astype(float)
    assert batch.states[0]["scored"][:3, 0].tolist() != [0, 0, 0]  # start points count, too
    for seat, agent in enumerate(totals):
        assert totals[agent] == pytest.approx(points[seat] - np.delete(points, seat).mean())
