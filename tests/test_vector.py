"""The native vector environment: equal to N single ones in every autoreset mode, and to itself on any threads."""

from __future__ import annotations

import copy
import itertools
import pickle
import warnings
from collections.abc import Iterator
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import VARIANTS, Config
from petrichor_env.envs import SoloEnv, SoloVectorEnv
from petrichor_env.observation import OBSERVATION_SIZE
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, ScenarioError
from tabletop_engine.play.kernels import sample_actions
from tests.support.configurations import SOLO_MODULES

SOLO = "petrichor_env:Petrichor/Solo-v0"
MODES = list(AutoresetMode)
SCENARIO = {"hands": {"player_0": {"frost": 2, "sun": 1}}, "field": {"P1": {"cloud": {"drops": {"player_0": 1}}}}}
Envs: TypeAlias = Any
"""A vector environment; Gymnasium's own class knows neither lists of seeds nor what is under a wrapper."""


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def native(num_envs: int = 4, **arguments: Any) -> Envs:
    return gymnasium.make_vec(SOLO, num_envs=num_envs, **arguments)


def singles(num_envs: int, autoreset_mode: AutoresetMode, **arguments: Any) -> Envs:
    return SyncVectorEnv([lambda: gymnasium.make(SOLO, **arguments)] * num_envs, autoreset_mode=autoreset_mode)


def some_actions(infos: dict[str, Any], generator: np.random.Generator, illegal: float) -> np.ndarray:
    """Random legal actions. With probability `illegal` an action is any number of the space."""
    actions = sample_actions(infos["action_mask"], generator)
    slips = generator.random(len(actions)) < illegal
    actions[slips] = generator.integers(NUM_ACTIONS, size=int(slips.sum()))
    return actions


def reset_finished(envs: Envs, ended: np.ndarray, infos: dict[str, Any], observations: Any) -> None:
    """Reset the games that ended, as DISABLED requires; their start is written into `observations` and `infos`."""
    new_observations, new_infos = envs.reset(options={"reset_mask": ended.copy()})
    observations[ended] = new_observations[ended]
    infos["action_mask"][ended] = new_infos["action_mask"][ended]
    assert new_infos["_action_mask"][ended].all()


# --- one batch is N single environments ---


@pytest.mark.one_in(5)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"variants": ("double_card", "no_more_tricks"), "reward": "margin"},
        {"variants": ("non_random_targets", "one_more_turn"), "reward": "points", "illegal_action": "random"},
        {"illegal_action": "lose", "reward": "margin"},
        {"modules": SOLO_MODULES, "illegal_action": "random", "reward": "margin"},
        {"variants": VARIANTS, "modules": ["powers"], "powers": ["harvest"]},
    ],
    ids=str,
)
def test_equals_single_environments(mode: AutoresetMode, arguments: dict[str, Any]) -> None:
    ours, theirs = native(5, autoreset_mode=mode, **arguments), singles(5, mode, **arguments)
    illegal = 0.05 if "illegal_action" in arguments else 0.0
    generator = np.random.default_rng(3)
    results: tuple[Any, Any] = (ours.reset(seed=10), theirs.reset(seed=10))
    assert data_equivalence(*results, exact=True)
    infos, ended_games = results[0][1], 0
    for _ in range(400):
        actions = some_actions(infos, generator, illegal)
        results = (ours.step(actions), theirs.step(actions))
        assert data_equivalence(*results, exact=True)
        _, _, terminations, _, infos = results[0]
        ended_games += int(terminations.sum())
        if mode is AutoresetMode.DISABLED and terminations.any():
            for envs, result in zip((ours, theirs), results, strict=True):
                reset_finished(envs, terminations, result[4], result[0])
            assert data_equivalence(results[0][0], results[1][0], exact=True)
            assert data_equivalence(results[0][4]["action_mask"], results[1][4]["action_mask"], exact=True)
    assert ended_games > 5


@pytest.mark.parametrize("mode", MODES)
def test_threads_change_nothing(mode: AutoresetMode) -> None:
    one, three = (native(301, autoreset_mode=mode, num_threads=threads) for threads in (1, 3))
    generator = np.random.default_rng(3)
    results: tuple[Any, Any] = (one.reset(seed=1), three.reset(seed=1))
    for _ in range(80):
        infos = results[0][-1]
        actions = sample_actions(infos["action_mask"], generator)
        results = (one.step(actions), three.step(actions))
        assert data_equivalence(*results, exact=True)
        if mode is AutoresetMode.DISABLED and results[0][2].any():
            results = tuple(envs.reset(options={"reset_mask": results[0][2]}) for envs in (one, three))


# --- modes ---


def test_next_step_ignores_the_action_after_the_end() -> None:
    envs = native(3)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    _, infos = envs.reset(seed=1)
    generator = np.random.default_rng(1)
    terminations = np.zeros(3, np.bool_)
    while not terminations.any():
        _, _, terminations, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
    assert infos["action_mask"][terminations].all()
    assert (infos["_won"] == terminations).all()
    actions = sample_actions(infos["action_mask"], generator)
    actions[terminations] = -1  # ignored, so it needn't even be an action
    _, rewards, again, _, infos = envs.step(actions)
    assert not rewards[terminations].any() and not again[terminations].any()
    assert not infos["action_mask"][terminations].all(axis=1).any()


def test_same_step_gives_the_end_and_the_next_start() -> None:
    envs = native(3, autoreset_mode="same_step", reward="points")
    _, infos = envs.reset(seed=1)
    generator = np.random.default_rng(1)
    totals = np.zeros(3)
    terminations = np.zeros(3, np.bool_)
    while not terminations.any():
        observations, rewards, terminations, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
        totals += rewards
    assert not infos["action_mask"].all(axis=1).any()
    assert (infos["_final_obs"] == terminations).all() and (infos["_final_info"] == terminations).all()
    for game in np.flatnonzero(terminations):
        assert infos["final_info"]["points"][game] == totals[game]
        assert infos["final_obs"][game].shape == (OBSERVATION_SIZE,)
        assert not np.array_equal(infos["final_obs"][game], observations[game])
    assert all(infos["final_obs"][game] is None for game in np.flatnonzero(~terminations))


@pytest.mark.parametrize("copy", [True, False])
def test_final_observations_stay_as_they_are(copy: bool) -> None:
    """They are new arrays, whatever `copy` says of the others: learners keep them when games have gone on."""
    envs = native(2, autoreset_mode="same_step", copy=copy)
    _, infos = envs.reset(seed=1)
    generator = np.random.default_rng(1)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    while len(kept) < 5:
        _, _, terminations, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
        ends = [infos["final_obs"][game] for game in np.flatnonzero(terminations)]
        kept += [(end, end.copy()) for end in ends]
    assert all((end == before).all() for end, before in kept)


def test_disabled_games_stay_over() -> None:
    envs = native(3, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = envs.reset(seed=1)
    generator = np.random.default_rng(1)
    terminations = np.zeros(3, np.bool_)
    while not terminations.any():
        _, _, terminations, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
    with pytest.raises(GameOver, match=f"game {int(np.argmax(terminations))} is over"):
        envs.step(sample_actions(infos["action_mask"], generator))
    kept = infos["action_mask"][~terminations]
    _, infos = envs.reset(options={"reset_mask": terminations})
    np.testing.assert_array_equal(infos["action_mask"][~terminations], kept)
    envs.step(sample_actions(infos["action_mask"], generator))


@pytest.mark.parametrize("mode", MODES)
def test_mode_by_name(mode: AutoresetMode) -> None:
    before = dict(SoloVectorEnv.metadata)
    for name in (mode, mode.name, mode.name.lower(), mode.value):
        assert native(autoreset_mode=name).metadata["autoreset_mode"] is mode
    assert SoloVectorEnv.metadata == before


@pytest.mark.parametrize("mode", MODES)
def test_episode_statistics(mode: AutoresetMode) -> None:
    envs = RecordEpisodeStatistics(native(3, autoreset_mode=mode))
    _, infos = envs.reset(seed=1)
    generator = np.random.default_rng(1)
    returns = []
    for _ in range(300):
        _, rewards, terminations, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
        returns += list(rewards[terminations])
        if mode is AutoresetMode.DISABLED and terminations.any():
            _, infos = envs.reset(options={"reset_mask": terminations})
    assert len(returns) > 3
    assert list(envs.return_queue) == returns
    assert min(envs.length_queue) > 20


# --- interface ---


def test_spaces_and_attributes() -> None:
    envs = native(7, variants=("double_card",), modules=SOLO_MODULES, powers=("rain",))
    assert envs.num_envs == 7 and envs.spec is not None and envs.spec.kwargs["variants"] == ("double_card",)
    assert envs.unwrapped.batch.config == Config(variants=("double_card",), modules=SOLO_MODULES, powers=("rain",))
    single = gymnasium.make(SOLO)
    assert envs.single_observation_space == single.observation_space
    assert envs.single_action_space == single.action_space
    assert envs.action_space == gymnasium.spaces.MultiDiscrete([NUM_ACTIONS] * 7)
    observations, infos = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)
    assert infos["action_mask"].shape == (7, NUM_ACTIONS) and infos["action_mask"].dtype == np.int8
    masks = envs.unwrapped.action_masks()
    assert masks.dtype == np.bool_ and np.array_equal(masks, infos["action_mask"])
    actions = sample_actions(infos["action_mask"], envs.np_random)
    observations, rewards, terminations, truncations, _ = envs.step(actions)
    assert envs.observation_space.contains(observations)
    assert (rewards.dtype, terminations.dtype, truncations.dtype) == (np.float64, np.bool_, np.bool_)
    assert rewards.shape == terminations.shape == truncations.shape == (7,)


@pytest.mark.parametrize("keep", [True, False])
def test_copy_says_whether_buffers_are_reused(keep: bool) -> None:
    envs = native(3, copy=keep)
    results: list[Any] = [envs.reset(seed=1)]
    for _ in range(2):
        infos = results[-1][-1]
        results.append(envs.step(sample_actions(infos["action_mask"], np.random.default_rng(1))))
    for first, second in itertools.pairwise(results):
        assert np.shares_memory(first[0], second[0]) is not keep
        assert np.shares_memory(first[-1]["action_mask"], second[-1]["action_mask"]) is not keep
    assert not any(np.shares_memory(results[1][i], results[2][i]) for i in (1, 2, 3))


def test_ansi_rendering() -> None:
    envs = native(2, render_mode="ansi")
    envs.reset(seed=1)
    frames = envs.render()
    assert frames is not None and len(frames) == 2 and all(isinstance(frame, str) for frame in frames)
    single = gymnasium.make(SOLO, render_mode="ansi")
    single.reset(seed=2)
    assert frames[1] == single.render()
    with pytest.warns(UserWarning, match="render mode"):
        assert native(2).render() is None


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_copies_play_on_alike_and_apart(duplicate: Any) -> None:
    envs = native(3)
    _, infos = envs.reset(seed=1)
    actions = sample_actions(infos["action_mask"], np.random.default_rng(1))
    _, _, _, _, infos = envs.step(actions)
    twin = duplicate(envs)
    actions = sample_actions(infos["action_mask"], np.random.default_rng(2))
    before = envs.unwrapped.batch.states.tobytes()
    result = twin.step(actions)
    assert envs.unwrapped.batch.states.tobytes() == before
    assert data_equivalence(result, envs.step(actions), exact=True)
    assert data_equivalence(twin.reset(), envs.reset(), exact=True)


# --- seeds and options ---


def test_seeds() -> None:
    envs = native(3)
    by_int, _ = envs.reset(seed=5)
    again, _ = envs.reset()
    by_list, _ = envs.reset(seed=[5, 6, 7])
    np.testing.assert_array_equal(by_int, by_list)
    np.testing.assert_array_equal(again, envs.reset()[0])
    with_none, _ = envs.reset(seed=[5, None, 7])
    np.testing.assert_array_equal(with_none[[0, 2]], by_int[[0, 2]])
    assert not np.array_equal(with_none[1], by_int[1])


def test_unseeded_start_draws_from_np_random() -> None:
    starts = []
    for _ in range(2):
        envs = native(3)
        envs.np_random = np.random.default_rng(7)
        starts.append(envs.reset()[0])
    np.testing.assert_array_equal(*starts)
    assert not np.array_equal(starts[0][0], starts[0][1])


def test_reset_to_a_scenario() -> None:
    envs = native(3)
    envs.reset(seed=1, options={"scenario": SCENARIO})
    states = envs.unwrapped.batch.states
    assert (states["hand"][:, 0] == [2, 1, 0, 0]).all()
    assert len(set(states["rng"])) == 3
    single = SoloEnv()
    single.reset(seed=2, options={"scenario": SCENARIO})
    assert states[1].tobytes() == single.state.tobytes()
    mask = np.array([True, False, True])
    kept = states[1].tobytes()
    envs.reset(options={"reset_mask": mask, "scenario": {**SCENARIO, "random": 3}})
    assert (states["rng"] == 3).tolist() == mask.tolist()
    assert states[1].tobytes() == kept


def test_a_scenario_for_some_games_of_the_first_reset() -> None:
    """All games start; those of the mask start from the position."""
    envs = native(3)
    mask = np.array([True, False, True])
    _, infos = envs.reset(options={"reset_mask": mask, "scenario": {**SCENARIO, "random": 3}})
    assert (envs.unwrapped.batch.states["rng"] == 3).tolist() == mask.tolist()
    assert infos["action_mask"].any(axis=1).all()


def test_options_are_left_as_they_are() -> None:
    envs = native(2)
    options = {"reset_mask": np.array([True, False]), "scenario": SCENARIO}
    envs.reset(seed=1)
    envs.reset(options=options)
    assert list(options) == ["reset_mask", "scenario"]


# --- bad input ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs=0"),
        ({"autoreset_mode": "later"}, "NEXT_STEP, SAME_STEP, DISABLED"),
        ({"autoreset_mode": 1}, "NEXT_STEP, SAME_STEP, DISABLED"),
        ({"num_threads": 0}, "num_threads=0"),
        ({"reward": "score"}, "'win', 'margin', 'points'"),
        ({"illegal_action": "ignore"}, "'raise', 'lose', 'random'"),
        ({"variants": ("double",)}, "double_card"),
        ({"modules": ("cactus", "lake")}, "not used in solo play"),
        ({"modules": ("flower_tiles",)}, "three flower tiles"),
        ({"powers": ("rain",)}, "only with modules"),
        ({"render_mode": "human"}, "'ansi', 'rgb_array' or None"),
        ({"render_size": 5000}, "from 16 to 4096"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        native(**arguments)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"options": {"mask": 1}}, ConfigError, "unknown key 'mask'; allowed are scenario, reset_mask"),
        ({"options": {"reset_mask": [True, False]}}, ConfigError, r"bool array of shape \(2,\)"),
        ({"options": {"reset_mask": np.array([1, 0])}}, ConfigError, r"bool array of shape \(2,\)"),
        ({"options": {"reset_mask": np.array([True])}}, ConfigError, r"bool array of shape \(2,\)"),
        ({"options": {"reset_mask": np.zeros(2, np.bool_)}}, ConfigError, "at least one True"),
        ({"options": {"scenario": {"players": 3}}}, ScenarioError, "'3p'"),
        ({"options": {"scenario": {"modules": ["cactus"]}}}, ScenarioError, r"'solo\+cactus'"),
        ({"seed": [1]}, ConfigError, "1 seeds for 2 games"),
        ({"seed": [1, -1]}, ConfigError, "-1"),
        ({"seed": [1, "a"]}, ConfigError, "'a'"),
        ({"seed": "one"}, ConfigError, "one"),
    ],
    ids=str,
)
def test_bad_resets_change_nothing(call: dict[str, Any], error: type, message: str) -> None:
    envs = native(2)
    envs.reset(seed=1)
    before = envs.unwrapped.batch.states.tobytes()
    with pytest.raises(error, match=message):
        envs.reset(**call)
    assert envs.unwrapped.batch.states.tobytes() == before


@pytest.mark.parametrize("illegal_action", ["lose", "raise", "random"])
@pytest.mark.parametrize("actions", [[0], [0, 0, 0], [0.5, 0.5], [0, NUM_ACTIONS], [-1, 0], ["a", "b"], None], ids=str)
def test_what_are_no_actions_raises_always(illegal_action: str, actions: Any) -> None:
    envs = native(2, illegal_action=illegal_action)
    envs.reset(seed=1)
    before = envs.unwrapped.batch.states.tobytes()
    with pytest.raises(IllegalAction, match="action"):
        envs.step(actions)
    assert envs.unwrapped.batch.states.tobytes() == before


def test_illegal_action_raises_and_changes_nothing() -> None:
    envs = native(2, illegal_action="raise")
    _, infos = envs.reset(seed=1)
    before = envs.unwrapped.batch.states.tobytes()
    actions = sample_actions(infos["action_mask"], np.random.default_rng(1))
    actions[1] = int(np.flatnonzero(infos["action_mask"][1] == 0)[0])
    with pytest.raises(IllegalAction, match=r"game 1: .* legal are"):
        envs.step(actions)
    assert envs.unwrapped.batch.states.tobytes() == before


def test_stepping_before_the_first_reset() -> None:
    with pytest.raises(GameOver, match="call reset first"):
        native(2).step([0, 0])
