"""Petrichor's environments, beyond what tests/contract holds of every game: names, arguments, positions, masks."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence

import petrichor_env
from petrichor_env import Batch, Config, describe, petrichor_v0
from petrichor_env.actions import ACTIONS
from petrichor_env.config import MODULES, POWERS, VARIANTS
from petrichor_env.envs import SoloEnv, VersusEnv
from petrichor_env.observation import LAYOUT
from petrichor_env.state import Decision
from tabletop_agents import RandomAgent
from tabletop_engine.envs import MaskInObservation, VectorMaskInObservation
from tabletop_engine.envs.aec import AgentMaskInObservation
from tabletop_engine.errors import ConfigError, ScenarioError
from tabletop_engine.play.kernels import sample_actions
from tests.support.cases import First
from tests.support.configurations import SOLO_MODULES
from tests.support.environments import legal_action, play_all, play_out
from tests.support.processes import in_python

SOLO = "petrichor_env:Petrichor/Solo-v0"
VERSUS = "petrichor_env:Petrichor/Versus-v0"
SCENARIO = {"hands": {"player_0": {"frost": 2, "sun": 1}}, "field": {"P1": {"cloud": {"drops": {"player_0": 1}}}}}
ENDS_AT_ONCE = {"round": 4, "actor": "player_1", "passed": "player_0"}
"""player_1 takes the last turn of the game, with no card in hand."""


# --- names and processes ---


def test_registering_again_says_nothing() -> None:
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


@pytest.mark.skipif(not hasattr(pettingzoo, "aec_registry"), reason="PettingZoo has a registry from 1.27 on")
def test_registry() -> None:
    registered = [name for name in pettingzoo.aec_registry if name.startswith("petrichor")]
    assert registered == [petrichor_env.AEC_ID]
    for name in ("petrichor/petrichor-v0", "petrichor/petrichor_v0", "petrichor/petrichor"):
        env = pettingzoo.make("aec", name, num_players=3, drafting=True)
        env.reset(seed=3)
        assert env.unwrapped.batch.config == Config(3, drafting=True)
        assert len(env.agents) == 3
    env = pettingzoo.make("aec", petrichor_env.AEC_ID, num_players=5, modules=["lake", "powers"], powers=list(POWERS))
    env.reset(seed=3)
    assert env.unwrapped.batch.config == Config(5, modules=("lake", "powers"), powers=POWERS)
    assert env.agents == [f"player_{seat}" for seat in range(5)]


def test_pages_name_all_that_can_be_chosen() -> None:
    """`test_environment_pages.py` has the arguments, spaces and examples of the pages."""
    for made, names in (
        (SoloEnv, (*VARIANTS, *SOLO_MODULES, *POWERS)),
        (VersusEnv, MODULES),
        (petrichor_v0.raw_env, (*MODULES, *POWERS)),
    ):
        assert [name for name in names if f"`{name}`" not in (made.__doc__ or "")] == []


# --- seeds and arguments ---


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


def test_bad_arguments() -> None:
    """`Config`'s own are in `test_properties.py`, those of every environment in `tests/contract`."""
    arguments: dict[str, Any]
    for arguments, allowed in (
        ({"variants": ("double",)}, "double_card, non_random_targets, no_more_tricks, one_more_turn"),
        ({"modules": ("lake",)}, "'lake' with players=1: the Lake is not used in solo play"),
        ({"reward": "score"}, "'win', 'margin', 'points'"),
        ({"illegal_action": "ignore"}, "'raise', 'lose', 'random'"),
        ({"components": 3}, "neither a path nor a mapping of keys to numbers"),
        ({"components": "missing.toml"}, "missing.toml: no such file"),
    ):
        with pytest.raises(ConfigError, match=allowed):
            gymnasium.make(SOLO, **arguments)
    for arguments, allowed in (
        ({"num_players": 1}, r"2, 3, 4 or 5; .*Solo-v0"),
        ({"num_players": 6}, "2, 3, 4 or 5"),
        ({"num_players": "two"}, "2, 3, 4 or 5"),
        ({"modules": ("powers",), "powers": ("sun",)}, "one for each of 2 players"),
    ):
        for make in (petrichor_v0.env, petrichor_v0.raw_env):
            with pytest.raises(ConfigError, match=allowed):
                make(**arguments)
    for arguments, allowed in (
        ({"players": 1}, r"2, 3, 4 or 5; the solo game is Petrichor/Solo-v0"),
        ({"players": 6}, "players=6"),
        ({"opponents": ("random",) * 3}, "3 of them with players=2"),
        ({"opponents": ("nobody",)}, "agent 'nobody'"),
        ({"seat": 2}, "0 to 1"),
    ):
        with pytest.raises(ConfigError, match=allowed):
            gymnasium.make(VERSUS, **arguments)
        with pytest.raises(ConfigError, match=allowed):
            gymnasium.make_vec(VERSUS, num_envs=2, **arguments)


def test_agents_can_be_given_themselves() -> None:
    env = gymnasium.make(VERSUS, opponents=(First(), RandomAgent()), players=3, seat=1)
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    np.testing.assert_array_equal(masks, info["action_mask"])
    assert play_out(env, info)[1]["seat"] == 1


def test_readings_and_numbers_of_ones_own() -> None:
    env = petrichor_v0.env(modules=["flower_tiles"], readings=["primrose_passes_once"], components={"pieces.clouds": 9})
    env.reset(seed=1)
    config = env.unwrapped.batch.config
    assert (config.readings, config.components) == (("primrose_passes_once",), (("pieces.clouds", 9),))
    play_all(env)
    with pytest.raises(ConfigError, match="forecasts_end_actions"):
        petrichor_v0.env(readings=["forecasts_end_actions"])


# --- positions ---


def test_a_scenario_has_the_environments_modules_and_powers() -> None:
    env = gymnasium.make(SOLO, modules=["powers", "forecasts"], powers=["wind"])
    for more in ({}, {"modules": ["powers", "forecasts"]}, {"powers": ["wind"]}):
        _, info = env.reset(seed=1, options={"scenario": {**SCENARIO, "forecasts": {"player_0": [1, 10, 13]}, **more}})
        described = describe(env.unwrapped.state)
        assert (described["modules"], described["powers"]) == (["powers", "forecasts"], ["wind"])
        assert described["forecasts"] == {"player_0": [1, 10, 13]}
        assert info["action_mask"][ACTIONS["forecast 13"]] and not info["action_mask"][ACTIONS["forecast 14"]]
    play_out(env, info)


def test_many_games_reset_to_a_scenario() -> None:
    envs = gymnasium.make_vec(SOLO, 3)
    envs.reset(seed=1, options={"scenario": SCENARIO})
    states = envs.unwrapped.batch.states
    assert (states["hand"][:, 0] == [2, 1, 0, 0]).all()
    assert len(set(states["rng"])) == 3
    single = gymnasium.make(SOLO)
    single.reset(seed=2, options={"scenario": SCENARIO})
    assert states[1].tobytes() == single.unwrapped.state.tobytes()
    mask = np.array([True, False, True])
    kept = states[1].tobytes()
    envs.reset(options={"reset_mask": mask, "scenario": {**SCENARIO, "random": 3}})
    assert (states["rng"] == 3).tolist() == mask.tolist()
    assert states[1].tobytes() == kept


def test_others_act_first_in_a_scenario() -> None:
    scenario = {"actor": "player_1", "hands": {"player_0": {"frost": 2, "sun": 1}, "player_1": {"wind": 2}}}
    env = gymnasium.make(VERSUS, opponents=(First(skip=1),), seat=0, modules=("cactus",))
    observation, info = env.reset(seed=1, options={"scenario": scenario})
    described = describe(env.unwrapped.state)
    assert described["actor"] == "player_0" and described["hands"]["player_0"] == {"frost": 2, "sun": 1}
    assert described["hands"]["player_1"] != {"wind": 2}
    assert env.observation_space.contains(observation)
    assert play_out(env, info)[2] > 0


def test_a_scenario_that_is_over_before_the_learner_is_asked() -> None:
    env = gymnasium.make(VERSUS, opponents=("random",), seat=0)
    env.reset(seed=1)
    before = env.unwrapped.batch.get_state()
    for scenario, message in (
        (ENDS_AT_ONCE, "ends before player_0, the learner, has a decision"),
        ({"players": 3}, "'3p'"),
        ({"phase": "over"}, "over"),
    ):
        with pytest.raises(ScenarioError, match=message):
            env.reset(options={"scenario": scenario})
        assert data_equivalence(env.unwrapped.batch.get_state(), before, exact=True)
    env = gymnasium.make(VERSUS, opponents=("random",), seat=1)
    _, info = env.reset(seed=1, options={"scenario": ENDS_AT_ONCE})
    assert play_out(env, info)[2] < 5


def test_many_games_in_which_others_act_first_in_a_scenario() -> None:
    envs: Any = gymnasium.make_vec(VERSUS, 3, opponents=(First(),), seat=0)
    envs.reset(seed=5)
    states = envs.unwrapped.batch.batch.states
    position = {"actor": "player_1", "hands": {"player_0": {"frost": 2}, "player_1": {"wind": 2}}}
    kept = states[1].tobytes()
    envs.reset(options={"reset_mask": np.array([True, False, True]), "scenario": position})
    assert (states["hand"][[0, 2], 0] == [2, 0, 0, 0]).all() and states[1].tobytes() == kept
    assert (states["actor"] == 0).all() and len(set(states["rng"].tolist())) == 3
    before = states.tobytes()
    with pytest.raises(ScenarioError, match="game 0 ends before"):
        envs.reset(options={"scenario": ENDS_AT_ONCE})
    assert states.tobytes() == before


def test_a_scenario_of_all_seats_has_the_modules_and_powers() -> None:
    powers = ["harvest", "frost", "rain", "sun", "wind"]
    env = petrichor_v0.env(num_players=5, modules=["lake", "powers"], powers=powers)
    env.reset(seed=1, options={"scenario": {"field": {"d4": {"crop": "lake"}}}})
    described = describe(env.unwrapped.game)
    assert (described["modules"], described["powers"]) == (["lake", "powers"], powers)
    assert described["field"]["d4"]["crop"] == "lake"
    play_all(env)


# --- masks, hidden information, infos ---


def test_only_the_asked_agent_sees_who_is_asked_for_a_forecast_card() -> None:
    env = petrichor_v0.env(num_players=3, modules=("forecasts",))
    windows = 0
    for seed in range(4):
        env.reset(seed=seed)
        generator = np.random.default_rng(seed)
        while not any(env.terminations.values()):
            window = env.unwrapped.game["decision"] == Decision.FORECAST
            windows += window
            for agent in env.agents:
                observation = env.observe(agent)
                asked = agent == env.agent_selection
                assert observation["action_mask"].any() == asked
                for name in ("decision", "actor"):
                    assert observation["observation"][LAYOUT[name].slice].any() == (asked or not window)
            env.step(legal_action(env.last()[0], generator))
    assert windows > 10


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
        MaskInObservation(gymnasium.make(SOLO), **arguments)
    with pytest.raises(ConfigError, match=error):
        VectorMaskInObservation(gymnasium.make_vec(SOLO, num_envs=2), **arguments)
    with pytest.raises(ConfigError, match=error):
        AgentMaskInObservation(petrichor_v0.env(action_mask="info"), **arguments)


def test_an_environment_without_discrete_actions() -> None:
    with pytest.raises(ConfigError, match="a Discrete action space"):
        MaskInObservation(gymnasium.make("Pendulum-v1"))


def test_a_limit_of_steps_is_refused_in_words() -> None:
    """A vector environment can't cut games short."""
    with pytest.raises(ConfigError, match="max_episode_steps: every game ends by itself"):
        gymnasium.make_vec(SOLO, num_envs=2, max_episode_steps=50)
    spec = copy.deepcopy(gymnasium.spec(petrichor_env.SOLO_ID))
    spec.max_episode_steps = 50
    with pytest.raises(ConfigError, match="leave it out of make_vec and of the spec"):
        gymnasium.make_vec(spec, num_envs=2)
    env = gymnasium.make(spec)  # the single environment can be cut short, by Gymnasium's wrapper
    _, info = env.reset(seed=1)
    for step in range(50):
        _, _, terminated, truncated, info = env.step(legal_action(info, np.random.default_rng(step)))
        assert not terminated
    assert truncated


def test_an_info_keeps_what_was_true_at_its_step() -> None:
    env = gymnasium.make(SOLO)
    _, info = env.reset(seed=1)
    generator, infos, points = np.random.default_rng(1), [], []
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(legal_action(info, generator))
        infos.append(info)
        points.append(int(env.unwrapped.state["points"][0]))
    assert [info["points"] for info in infos] == points and len(set(points)) > 3


# --- other vector environments ---


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
