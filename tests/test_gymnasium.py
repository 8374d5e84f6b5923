"""Gymnasium's and Stable-Baselines3's own checks of every registered id and configuration, and further tests."""

from __future__ import annotations

import copy
import importlib
import itertools
import json
import pickle
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env, data_equivalence

import petrichor_env
from petrichor_env import Batch, Config, describe
from petrichor_env.actions import ACTIONS, NUM_ACTIONS
from petrichor_env.config import MODULES, POWERS, VARIANTS
from tabletop_engine.errors import ComponentsError, ConfigError, GameOver, IllegalAction, ScenarioError
from tabletop_engine.play.kernels import sample_actions
from tests.support.configurations import MODULE_CONFIGURATIONS, SOLO_MODULES
from tests.support.environments import check_docstring, legal_action, play_out
from tests.support.processes import in_python

SOLO = "petrichor_env:Petrichor/Solo-v0"
ALL_VARIANTS = [names for number in range(5) for names in itertools.combinations(VARIANTS, number)]
WITH_MODULES: list[dict[str, Any]] = [
    {"variants": config.variants, "modules": config.modules, "powers": config.powers}
    for config in MODULE_CONFIGURATIONS
    if config.solo
]
GAMES: list[dict[str, Any]] = [*({"variants": variants} for variants in ALL_VARIANTS), *WITH_MODULES]
REWARDS = ("win", "margin", "points")
ILLEGAL_ACTIONS = ("lose", "raise", "random")
CONFIGURATIONS: list[dict[str, Any]] = [
    *GAMES,
    *({"reward": reward, "illegal_action": illegal} for reward in REWARDS for illegal in ILLEGAL_ACTIONS),
]
# the checkers step with actions that the mask forbids
CHECKED = [arguments for arguments in CONFIGURATIONS if arguments.get("illegal_action") != "raise"]
SCENARIO = {"hands": {"player_0": {"frost": 2, "sun": 1}}, "field": {"P1": {"cloud": {"drops": {"player_0": 1}}}}}


@pytest.fixture
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def env() -> Iterator[gymnasium.Env[Any, Any]]:
    with gymnasium.make(SOLO) as made:
        yield made


# --- the official checks ---


def test_what_is_registered() -> None:
    """Versus-v0 has its checks in `test_versus.py`."""
    registered = {name for name in gymnasium.registry if name.startswith("Petrichor/")}
    assert registered == {petrichor_env.SOLO_ID, petrichor_env.VERSUS_ID}
    assert f"petrichor_env:{petrichor_env.SOLO_ID}" == SOLO


@pytest.mark.one_in(3)
@pytest.mark.parametrize("arguments", CHECKED, ids=str)
def test_gymnasium_check_env(arguments: dict[str, Any], no_warnings: None) -> None:
    check_env(gymnasium.make(SOLO, **arguments).unwrapped)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("arguments", CHECKED, ids=str)
def test_stable_baselines_check_env(arguments: dict[str, Any], no_warnings: None) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(gymnasium.make(SOLO, render_mode="ansi", **arguments), skip_render_check=False)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("arguments", CONFIGURATIONS, ids=str)
def test_whole_games_stay_in_the_spaces(arguments: dict[str, Any], no_warnings: None) -> None:
    env = gymnasium.make(SOLO, **arguments)
    generator = np.random.default_rng(1)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            assert env.observation_space.contains(observation)
            assert info["action_mask"].dtype == np.int8
            observation, reward, terminated, truncated, info = env.step(legal_action(info, generator))
            assert type(reward) is float and type(terminated) is bool and truncated is False
        assert env.observation_space.contains(observation)
        assert info["action_mask"].all()


# --- registration and specs ---


def test_registering_again_says_nothing(no_warnings: None) -> None:
    importlib.reload(petrichor_env)


def test_importing_does_not_load_the_compiler() -> None:
    code = "import sys, petrichor_env; assert petrichor_env.SOLO_ID; sys.exit('numba' in sys.modules)"
    in_python(code)


def test_the_id_alone_is_enough_in_a_new_process() -> None:
    code = f"import gymnasium; print(gymnasium.make('{SOLO}').reset(seed=5)[0].sum())"
    assert float(in_python(code).stdout) == pytest.approx(gymnasium.make(SOLO).reset(seed=5)[0].sum())


def test_unknown_attribute_of_the_package() -> None:
    with pytest.raises(AttributeError, match="no attribute 'batches'"):
        petrichor_env.batches  # noqa: B018


@pytest.mark.parametrize("arguments", CONFIGURATIONS, ids=str)
def test_spec_survives_json(arguments: dict[str, Any]) -> None:
    spec = gymnasium.make(SOLO, **arguments).spec
    assert spec is not None
    again = EnvSpec.from_json(spec.to_json())
    assert json.loads(again.to_json()) == json.loads(spec.to_json())
    first, second = gymnasium.make(spec), gymnasium.make(again)
    assert data_equivalence(first.reset(seed=3), second.reset(seed=3), exact=True)
    assert first.unwrapped.batch.config == second.unwrapped.batch.config


def test_docstring_has_the_spaces(env: gymnasium.Env[Any, Any]) -> None:
    check_docstring(env, (*VARIANTS, *SOLO_MODULES, *POWERS))


# --- seeds ---


@pytest.mark.parametrize("arguments", GAMES, ids=str)
def test_seeded_reset_is_the_first_game_of_the_batch(arguments: dict[str, Any]) -> None:
    env = gymnasium.make(SOLO, **arguments)
    batch = Batch(Config(**arguments), 1, seed=11, autoreset="disabled")
    for games in range(3):
        observation, info = env.reset(seed=11) if games == 0 else env.reset()
        if games > 0:
            batch.reset()
        np.testing.assert_array_equal(observation, batch.observations[0])
        generator = np.random.default_rng(games)
        while batch.actors[0] >= 0:
            action = legal_action(info, generator)
            batch.step([action])
            observation, reward, terminated, _, info = env.step(action)
            np.testing.assert_array_equal(observation, batch.observations[0])
            np.testing.assert_array_equal(info["action_mask"], batch.action_masks[0])
            assert (reward, terminated) == (batch.rewards[0, 0], batch.terminations[0])
        assert env.unwrapped.state.tobytes() == batch.states[0].tobytes()


@pytest.mark.filterwarnings("error")
def test_numpys_seeds_do_not_wrap_around() -> None:
    """The games after the first take the numbers after a seed, also if its type ends there."""
    seed: Any = np.uint32(2**32 - 2)
    wanted = Batch(Config(), 4, int(seed)).states["rng"]
    assert (Batch(Config(), 4, seed).states["rng"] == wanted).all()
    envs: Any = gymnasium.make_vec(SOLO, 4)
    envs.reset(seed=seed)
    assert (envs.unwrapped.batch.states["rng"] == wanted).all()
    env: Any = gymnasium.make(SOLO)
    env.reset(seed=seed)
    assert env.unwrapped.batch.states["rng"] == wanted[0]


def test_an_unknown_argument_is_told_those_that_there_are() -> None:
    """Those of the configuration that this environment takes, and of its own kind."""
    of_one, of_many = "variants, modules", ["players", "rounds", "drafting", "opponents", "seat"]
    for make, number in ((gymnasium.make, False), (gymnasium.make_vec, True)):
        with pytest.raises(ConfigError, match=f"unknown argument 'sead'; there are {of_one}") as told:
            make(SOLO, sead=1)
        listed = str(told.value).partition("there are ")[2].split(", ")
        assert not set(listed) & set(of_many) and ("num_envs" in listed) == number and "render_mode" in listed
        with pytest.raises(ConfigError, match="players, rounds, drafting, modules") as told:
            make("petrichor_env:Petrichor/Versus-v0", sead=1)
        assert "variants" not in str(told.value) and "opponents, seat" in str(told.value)


def test_unseeded_reset_draws_from_np_random_once(env: gymnasium.Env[Any, Any]) -> None:
    observations = []
    for _ in range(2):
        env = gymnasium.make(SOLO)
        env.unwrapped.np_random = np.random.default_rng(7)
        observations.append([env.reset()[0], env.reset()[0]])
    assert data_equivalence(observations[0], observations[1], exact=True)
    assert not np.array_equal(*observations[0])


def test_global_generators_are_left_alone(env: gymnasium.Env[Any, Any]) -> None:
    before = str(np.random.get_state()), random.getstate()  # noqa: NPY002
    _, info = env.reset(seed=1)
    play_out(env, info)
    assert before == (str(np.random.get_state()), random.getstate())  # noqa: NPY002


# --- rewards and the last info ---


@pytest.mark.parametrize("reward", REWARDS)
def test_returns_agree_with_the_last_info(reward: str) -> None:
    env = gymnasium.make(SOLO, reward=reward)
    outcomes = set()
    for seed in range(40):
        _, info = env.reset(seed=seed)
        total, info, _ = play_out(env, info, seed)
        assert set(info) == {"action_mask", "points", "others_points", "won", "seat", "illegal"}
        assert info["illegal"] is False
        assert info["won"] is (info["points"] > info["others_points"])
        margin = info["points"] - info["others_points"]  # it includes the neutral player's points at the first decision
        assert total == {"win": 1 if info["won"] else -1, "margin": margin, "points": info["points"]}[reward]
        outcomes.add(info["won"])
    assert False in outcomes


def test_action_masks_for_maskable_ppo(env: gymnasium.Env[Any, Any]) -> None:
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_ and masks.shape == (NUM_ACTIONS,)
    np.testing.assert_array_equal(masks, info["action_mask"])
    masks[:] = False
    assert env.get_wrapper_attr("action_masks")().any()


# --- illegal actions and other bad input ---


def an_illegal_action(info: dict[str, Any]) -> int:
    return int(np.flatnonzero(info["action_mask"] == 0)[0])


@pytest.mark.parametrize(("reward", "expected"), [("win", -1), ("margin", -100), ("points", 0)])
@pytest.mark.parametrize("steps", [0, 30])
def test_illegal_action_loses(reward: str, expected: float, steps: int) -> None:
    env = gymnasium.make(SOLO, reward=reward)
    _, info = env.reset(seed=2)
    generator = np.random.default_rng(2)
    total = 0.0
    for _ in range(steps):
        _, step_reward, _, _, info = env.step(legal_action(info, generator))
        total += float(step_reward)
    _, step_reward, terminated, truncated, info = env.step(an_illegal_action(info))
    assert (total + float(step_reward), terminated, truncated) == (expected, True, False)
    assert info["illegal"] is True and info["won"] is False


def test_illegal_action_raises_and_changes_nothing() -> None:
    env = gymnasium.make(SOLO, illegal_action="raise")
    _, info = env.reset(seed=2)
    before = env.unwrapped.state.tobytes()
    with pytest.raises(IllegalAction, match="legal are"):
        env.step(an_illegal_action(info))
    assert env.unwrapped.state.tobytes() == before
    play_out(env, info)


def test_illegal_action_is_replaced_at_random() -> None:
    env = gymnasium.make(SOLO, illegal_action="random")
    _, info = env.reset(seed=2)
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(an_illegal_action(info))
        assert info["illegal"] is True
    assert info["points"] + info["others_points"] > 0


@pytest.mark.parametrize("illegal_action", ILLEGAL_ACTIONS)
@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 1.5, "pass", None, np.array([1, 2])], ids=str)
def test_what_is_no_action_raises_always(illegal_action: str, action: Any) -> None:
    env = gymnasium.make(SOLO, illegal_action=illegal_action)
    _, info = env.reset(seed=2)
    before = env.unwrapped.state.tobytes()
    with pytest.raises(IllegalAction, match=f"an integer from 0 to {NUM_ACTIONS - 1}"):
        env.step(action)
    assert env.unwrapped.state.tobytes() == before
    play_out(env, info)


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint8, np.array])
def test_every_kind_of_integer_is_an_action(kind: Any) -> None:
    env, plain = gymnasium.make(SOLO), gymnasium.make(SOLO)
    _, info = env.reset(seed=2)
    plain.reset(seed=2)
    action = int(np.flatnonzero(info["action_mask"])[-1])
    assert data_equivalence(env.step(kind(action)), plain.step(action), exact=True)


def test_stepping_too_early_or_too_late(env: gymnasium.Env[Any, Any]) -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    with pytest.raises(GameOver, match="call reset"):
        env.unwrapped.step(0)
    _, info = env.reset(seed=1)
    play_out(env, info)
    with pytest.raises(GameOver, match="reset"):
        env.step(0)
    env.reset()


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ({"variants": ("double",)}, "double_card, non_random_targets, no_more_tricks, one_more_turn"),
        ({"variants": "double_card"}, "sequence of names"),
        ({"variants": 3}, "sequence of"),
        ({"variants": ("double_card", "double_card")}, "at most once"),
        ({"modules": ("lake",)}, "'lake' with players=1: the Lake is not used in solo play"),
        ({"modules": MODULES}, "solo play"),
        ({"modules": ("flower_tiles",)}, "'flower_tiles' with players=1: the Southern Winds don't support"),
        ({"modules": ("flowers",)}, "fertilizer, cactus, lake, flower_tiles, powers, forecasts"),
        ({"modules": "cactus"}, "sequence of names"),
        ({"powers": ("rain",)}, r"only with modules=\('powers',\)"),
        ({"modules": ("powers",), "powers": ("rain", "sun")}, "one for each of 1 players"),
        ({"modules": ("powers",), "powers": ("hail",)}, "frost, sun, wind, rain, harvest"),
        ({"reward": "score"}, "'win', 'margin', 'points'"),
        ({"illegal_action": "ignore"}, "'raise', 'lose', 'random'"),
        ({"components": 3}, "neither a path nor a mapping of keys to numbers"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ConfigError, match=allowed):
        gymnasium.make(SOLO, **arguments)


def test_bad_render_mode() -> None:
    modes = "'ansi', 'rgb_array', 'human' or None"
    with pytest.warns(UserWarning, match="render_mode"), pytest.raises(ConfigError, match=modes):
        gymnasium.make(SOLO, render_mode="svg")


def test_bad_overlay(tmp_path: Path) -> None:
    with pytest.raises(ComponentsError):
        gymnasium.make(SOLO, components=str(tmp_path / "missing.toml"))


# --- options ---


def test_reset_to_a_scenario(env: gymnasium.Env[Any, Any]) -> None:
    observation, info = env.reset(seed=1, options={"scenario": SCENARIO})
    described = describe(env.unwrapped.state)
    assert described["hands"]["player_0"] == {"frost": 2, "sun": 1}
    assert env.observation_space.contains(observation)
    _, info, steps = play_out(env, info)
    assert steps > 0 and info["points"] >= 0
    env.reset()
    assert describe(env.unwrapped.state)["hands"] != described["hands"]


def test_a_scenario_keeps_the_seeds_random_stream_unless_it_has_its_own(env: gymnasium.Env[Any, Any]) -> None:
    streams = []
    for seed in (1, 2):
        env.reset(seed=seed, options={"scenario": SCENARIO})
        streams.append(int(env.unwrapped.state["rng"]))
        env.reset(seed=seed, options={"scenario": {**SCENARIO, "random": 77}})
        assert env.unwrapped.state["rng"] == 77
    assert streams[0] != streams[1]


def test_a_scenario_has_the_environments_variants() -> None:
    env = gymnasium.make(SOLO, variants=("one_more_turn",))
    env.reset(seed=1, options={"scenario": SCENARIO})
    assert describe(env.unwrapped.state)["variants"] == ["one_more_turn"]


def test_a_scenario_has_the_environments_modules_and_powers() -> None:
    env = gymnasium.make(SOLO, modules=["powers", "forecasts"], powers=["wind"])
    for more in ({}, {"modules": ["powers", "forecasts"]}, {"powers": ["wind"]}):
        _, info = env.reset(seed=1, options={"scenario": {**SCENARIO, "forecasts": {"player_0": [1, 10, 13]}, **more}})
        described = describe(env.unwrapped.state)
        assert (described["modules"], described["powers"]) == (["powers", "forecasts"], ["wind"])
        assert described["forecasts"] == {"player_0": [1, 10, 13]}
        assert info["action_mask"][ACTIONS["forecast 13"]] and not info["action_mask"][ACTIONS["forecast 14"]]
    play_out(env, info)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scenarios": {}}, ConfigError, "unknown key 'scenarios'; allowed are scenario"),
        ("scenario", ConfigError, "a dictionary"),
        ({"scenario": "P1"}, ScenarioError, "not a dictionary"),
        ({"scenario": {"players": 2}}, ScenarioError, "'2p'.*'solo'"),
        ({"scenario": {"variants": ["double_card"]}}, ScenarioError, "double_card"),
        ({"scenario": {"modules": ["cactus"]}}, ScenarioError, r"'solo\+cactus'.*'solo'"),
        ({"scenario": {"modules": ["lake"]}}, ScenarioError, "not used in solo play"),
        ({"scenario": {"hands": {"player_0": {"sun": 11}}}}, ScenarioError, "11"),
        ({"scenario": {"phase": "over"}}, ScenarioError, "over"),
    ],
)
def test_bad_options_change_nothing(env: gymnasium.Env[Any, Any], options: Any, error: type, message: str) -> None:
    _, info = env.reset(seed=1)
    before = env.unwrapped.state.tobytes()
    with pytest.raises(error, match=message):
        env.reset(seed=2, options=options)
    assert env.unwrapped.state.tobytes() == before
    play_out(env, info)


# --- rendering as text; pictures are in `test_render_environments.py` ---


def test_ansi_rendering_changes_with_the_game() -> None:
    env = gymnasium.make(SOLO, render_mode="ansi")
    _, info = env.reset(seed=1)
    first = env.render()
    play_out(env, info)
    assert isinstance(first, str) and first != env.render()


def test_rendering_without_a_mode_warns(env: gymnasium.Env[Any, Any]) -> None:
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None


# --- copies and other processes ---


def copies(env: gymnasium.Env[Any, Any]) -> dict[str, gymnasium.Env[Any, Any]]:
    cloudpickle = pytest.importorskip("cloudpickle")
    return {
        "deepcopy": copy.deepcopy(env),
        "pickle": pickle.loads(pickle.dumps(env)),
        "cloudpickle": cloudpickle.loads(cloudpickle.dumps(env)),
    }


def test_copies_play_on_alike_and_apart(env: gymnasium.Env[Any, Any]) -> None:
    _, info = env.reset(seed=4)
    generator = np.random.default_rng(4)
    for _ in range(10):
        _, _, _, _, info = env.step(legal_action(info, generator))
    made = copies(env)
    before = env.unwrapped.state.tobytes()
    results = {name: (play_out(twin, info, seed=9), twin.reset()) for name, twin in made.items()}
    assert env.unwrapped.state.tobytes() == before
    expected = (play_out(env, info, seed=9), env.reset())
    for name, result in results.items():
        assert data_equivalence(result, expected, exact=True), name
        assert made[name].unwrapped.state.tobytes() == env.unwrapped.state.tobytes(), name


@pytest.mark.parametrize(
    ("mode", "how"), [("sync", {}), pytest.param("async", {"context": "spawn"}, marks=pytest.mark.slow)]
)
def test_gymnasiums_own_vector_environments(mode: str, how: dict[str, str]) -> None:
    arguments: dict[str, Any] = {"variants": ("double_card",), "modules": ("cactus", "powers"), "powers": ("sun",)}
    envs = gymnasium.make_vec(SOLO, num_envs=2, vectorization_mode=mode, vector_kwargs=how, **arguments)
    single = gymnasium.make(SOLO, **arguments)
    observations, infos = envs.reset(seed=3)
    np.testing.assert_array_equal(observations[1], single.reset(seed=4)[0])
    generator = np.random.default_rng(3)
    for _ in range(100):
        observations, _, _, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
    assert envs.observation_space.contains(observations)
    envs.close()
