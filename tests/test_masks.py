"""Action masks where each library looks for them: in dictionaries, in the AEC's infos, as plain arrays."""

from __future__ import annotations

import copy
import importlib
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.monitor import Monitor

import evergreen_env
import petrichor_env
from petrichor_env import petrichor_v0
from petrichor_env.actions import NUM_ACTIONS
from tabletop_engine.envs import MaskInObservation, VectorMaskInObservation
from tabletop_engine.envs.aec import AgentMaskInObservation
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.kernels import sample_actions
from tests.support.environments import legal_action

IDS = (petrichor_env.SOLO_ID, petrichor_env.VERSUS_ID, evergreen_env.SOLO_ID, evergreen_env.VERSUS_ID)
NAMES = ("observation", "observations")
DTYPES = (np.int8, np.float32, np.bool_)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's tests import its own games in a deprecated way
    api, seeding = (importlib.import_module(f"pettingzoo.test.{name}") for name in ("api_test", "seed_test"))


@pytest.mark.parametrize("made", IDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_single_environment(made: str, dtype: Any) -> None:
    """Up to the end of a game, the dictionary has what observation and info have without the wrapper."""
    plain, env = gymnasium.make(made), MaskInObservation(gymnasium.make(made), "observations", "mask", dtype)
    expected, told = plain.reset(seed=5)
    seen, info = env.reset(seed=5)
    generator, terminated = np.random.default_rng(1), False
    while True:
        assert env.observation_space.contains(seen)
        assert list(seen) == ["observations", "mask"]
        assert seen["mask"].dtype == dtype
        assert np.array_equal(seen["observations"], expected)
        assert np.array_equal(seen["mask"], told["action_mask"])
        assert np.array_equal(info["action_mask"], told["action_mask"])
        if terminated:
            break
        action = legal_action(told, generator)
        expected, reward, terminated, _, told = plain.step(action)
        seen, same, ended, _, info = env.step(np.int64(action))
        assert (same, ended) == (reward, terminated)
    assert seen["mask"].all()


@pytest.mark.parametrize("made", IDS)
def test_gymnasiums_own_check(made: str) -> None:
    """It plays actions that no mask allows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version")
        check_env(MaskInObservation(gymnasium.make(made, illegal_action="random")), skip_render_check=True)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("made", IDS[::2])
def test_many_games(made: str, mode: AutoresetMode) -> None:
    """The games are as without the wrapper, in each autoreset mode. Final observations are dictionaries of one game."""
    plain: VectorEnv[Any, Any, Any] = gymnasium.make_vec(made, num_envs=6, autoreset_mode=mode)
    inner: VectorEnv[Any, Any, Any] = gymnasium.make_vec(made, num_envs=6, autoreset_mode=mode)
    env = VectorMaskInObservation(inner, "observations", dtype=np.float32)
    assert env.autoreset_mode is env.metadata["autoreset_mode"] is mode
    (expected, told), (seen, _) = (one.reset(seed=2) for one in (plain, env))
    generator, ends = np.random.default_rng(3), 0
    for _ in range(300):
        assert env.observation_space.contains(seen)
        assert np.array_equal(seen["observations"], expected)
        assert np.array_equal(seen["action_mask"], told["action_mask"])
        actions = sample_actions(told["action_mask"], generator)
        expected, rewards, terminations, _, told = plain.step(actions)
        seen, same, ended, _, infos = env.step(actions)
        assert np.array_equal(rewards, same) and np.array_equal(terminations, ended)
        ends += int(terminations.sum())
        if mode is AutoresetMode.SAME_STEP and terminations.any():
            for game in np.flatnonzero(terminations):
                final = infos["final_obs"][game]
                assert env.single_observation_space.contains(final)
                assert np.array_equal(final["observations"], told["final_obs"][game])
                assert final["action_mask"].all()
        if mode is AutoresetMode.DISABLED and terminations.any():
            mask = {"reset_mask": terminations}
            expected, told = plain.reset(options=mask)
            seen, _ = env.reset(options=mask)
    assert ends >= 6


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"key": "mask", "mask_key": "mask"}, "key='mask', mask_key='mask': must be two different names"),
        ({"dtype": "U3"}, "dtype='U3': must be the dtype of a number"),
        ({"dtype": "no dtype"}, "dtype='no dtype': must be the dtype of a number"),
        ({"dtype": np.complex64}, "the dtype of a number, such as np.float32, or bool"),
    ],
)
def test_bad_names_and_dtypes(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        MaskInObservation(gymnasium.make(IDS[0]), **arguments)
    with pytest.raises(ConfigError, match=error):
        VectorMaskInObservation(gymnasium.make_vec(IDS[0], num_envs=2), **arguments)
    with pytest.raises(ConfigError, match=error):
        AgentMaskInObservation(petrichor_v0.env(action_mask="info"), **arguments)


def test_an_environment_without_discrete_actions() -> None:
    with pytest.raises(ConfigError, match="a Discrete action space"):
        MaskInObservation(gymnasium.make("Pendulum-v1"))


def test_a_limit_of_steps_is_refused_in_words() -> None:
    """A vector environment can't cut games short."""
    with pytest.raises(ConfigError, match="max_episode_steps: every game ends by itself"):
        gymnasium.make_vec(IDS[0], num_envs=2, max_episode_steps=50)
    spec = copy.deepcopy(gymnasium.spec(IDS[0]))
    spec.max_episode_steps = 50
    with pytest.raises(ConfigError, match="leave it out of make_vec and of the spec"):
        gymnasium.make_vec(spec, num_envs=2)
    env = gymnasium.make(spec)  # the single environment can be cut short, by Gymnasium's wrapper
    _, info = env.reset(seed=1)
    for step in range(50):
        _, _, terminated, truncated, info = env.step(legal_action(info, np.random.default_rng(step)))
        assert not terminated
    assert truncated


@pytest.mark.parametrize("name", IDS)
def test_the_last_info_of_a_game_that_is_cut_short(name: str) -> None:
    """Stable-Baselines3's `Monitor` records the state of the game, whatever cut it short."""
    keywords = ("points", "others_points", "won", "seat", "illegal")
    for cut in (gymnasium.make(name, max_episode_steps=9), gymnasium.wrappers.TimeLimit(gymnasium.make(name), 9)):
        env = Monitor(cut, info_keywords=keywords)
        _, info = env.reset(seed=1)
        truncated = False
        while not truncated:
            assert not {*keywords} & {*info}
            _, _, terminated, truncated, info = env.step(legal_action(info, np.random.default_rng(0)))
            assert not terminated
        state, seat = env.unwrapped.state, env.unwrapped.seat
        points = state["points"][: state["owners"]].tolist()
        others = points[:seat] + points[seat + 1 :]
        expected = {
            "points": points[seat],
            "others_points": sum(others) / max(1, len(others)),
            "won": False,
            "seat": seat,
            "illegal": False,
        }
        assert {key: info[key] for key in keywords} == expected
        assert {key: info["episode"][key] for key in keywords} == expected
        assert "illegal" in info and info.get("weather") is None
        with pytest.raises(KeyError, match="weather"):
            info["weather"]
        assert type(copy.deepcopy(info)) is type(pickle.loads(pickle.dumps(info))) is dict


def test_an_info_keeps_what_was_true_at_its_step() -> None:
    env = gymnasium.make(IDS[0])
    _, info = env.reset(seed=1)
    generator, infos, points = np.random.default_rng(1), [], []
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(legal_action(info, generator))
        infos.append(info)
        points.append(int(env.unwrapped.state["points"][0]))
    assert [info["points"] for info in infos] == points and len(set(points)) > 3


@pytest.mark.parametrize("action_mask", ["observation", "info"])
def test_masks_in_the_infos_of_all_seats(action_mask: str) -> None:
    """The actor's mask has the legal actions, the others' masks nothing; at the end all masks allow everything."""
    env = petrichor_v0.env(num_players=3, action_mask=action_mask)
    env.reset(seed=4)
    generator = np.random.default_rng(5)
    while not all(env.terminations.values()):
        agent = env.agent_selection
        for one in env.agents:
            mask, seen = env.infos[one]["action_mask"], env.observe(one)
            assert mask.dtype == np.int8 and mask.shape == (NUM_ACTIONS,)
            assert mask.any() == (one == agent)
            assert env.observation_space(one).contains(seen)
            if action_mask == "observation":
                assert np.array_equal(seen["action_mask"], mask)
            else:
                assert np.array_equal(seen, env.unwrapped.batch.observe(env.possible_agents.index(one))[0])
        assert np.array_equal(env.infos[agent]["action_mask"], env.unwrapped.batch.action_masks[0])
        env.step(legal_action(env.infos[agent], generator))
    assert all(env.infos[agent]["action_mask"].all() for agent in env.agents)


def test_all_agents_find_mask_and_observation_in_a_dictionary() -> None:
    """Like the environment's own dictionaries, with the names and the dtype that are asked for."""
    own = petrichor_v0.env(num_players=3)
    env = AgentMaskInObservation(petrichor_v0.env(num_players=3, action_mask="info"), "observations", dtype=np.float32)
    own.reset(seed=6)
    env.reset(seed=6)
    generator = np.random.default_rng(7)
    while env.agents:
        for one in env.agents:
            seen, expected = env.observe(one), own.observe(one)
            assert list(seen) == ["observations", "action_mask"]
            assert env.observation_space(one).contains(seen) and seen["action_mask"].dtype == np.float32
            assert np.array_equal(seen["observations"], expected["observation"])
            assert np.array_equal(seen["action_mask"], expected["action_mask"])
        seen, reward, terminated, truncated, info = env.last()
        assert (reward, terminated, truncated) == own.last()[1:4]
        action = None if terminated else legal_action(info, generator)
        env.step(action)
        own.step(action)
    assert not own.agents


def test_pettingzoos_checks_of_dictionaries_with_other_names() -> None:
    env = AgentMaskInObservation(petrichor_v0.env(action_mask="info"), mask_key="mask", dtype=np.bool_)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Observation")  # only PettingZoo's own games may have dictionaries
        api.api_test(env, num_cycles=200)


def test_pettingzoos_checks_with_plain_observations() -> None:
    env = petrichor_v0.env(num_players=3, action_mask="info")
    assert all(isinstance(env.observation_space(agent), gymnasium.spaces.Box) for agent in env.possible_agents)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api.api_test(env, num_cycles=200)
    seeding.seed_test(lambda: petrichor_v0.env(action_mask="info", illegal_action="random"), 50)


def test_where_masks_can_be() -> None:
    with pytest.raises(ConfigError, match=r"action_mask='both': must be \"observation\" or \"info\""):
        petrichor_v0.env(action_mask="both")
