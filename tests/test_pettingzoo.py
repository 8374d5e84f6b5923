"""PettingZoo's own checks in every configuration, and further tests."""

from __future__ import annotations

import copy
import importlib
import itertools
import pickle
import warnings
from typing import Any, TypeAlias

import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

import petrichor_env
from petrichor_env import Batch, Config, describe, petrichor_v0
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import MODULES, POWERS
from petrichor_env.observation import HIGH, LAYOUT, LOW, OBSERVATION_SIZE
from petrichor_env.state import Decision
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, ScenarioError
from tests.support.configurations import BASE, CHOSEN_POWERS, RANDOM, TOGETHER
from tests.support.environments import legal_action

# modules are imported, because the package has functions of the same names, and pytest collects all that begins with
# test_
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's tests import its own games in a deprecated way
    api, rendering, seeding, state_checks = (
        importlib.import_module(f"pettingzoo.test.{name}")
        for name in ("api_test", "render_test", "seed_test", "state_test")
    )

Env: TypeAlias = AECEnv[str, Any, Any]
PLAYERS = (2, 3, 4, 5)
WITHOUT_MODULES: list[dict[str, Any]] = [
    {"num_players": players, "rounds": rounds, "drafting": drafting}
    for players, rounds, drafting in itertools.product(PLAYERS, (4, 6), (False, True))
]
WITH_MODULES: list[dict[str, Any]] = [
    {
        "num_players": config.players,
        "rounds": config.rounds,
        "drafting": config.drafting,
        "modules": config.modules,
        "powers": config.powers,
    }
    for config in (*TOGETHER, *CHOSEN_POWERS, *RANDOM[:8])
    if not config.solo
]
GAMES = [*WITHOUT_MODULES, *WITH_MODULES]
REWARDS = ("win", "margin", "points")
ILLEGAL_ACTIONS = ("lose", "raise", "random")
CONFIGURATIONS = [
    *GAMES,
    *(
        {"num_players": 3, "reward": reward, "illegal_action": illegal}
        for reward, illegal in itertools.product(REWARDS, ILLEGAL_ACTIONS)
    ),
]
EXPECTED_WARNINGS = {
    # api_test has a fixed list of the environments that may have dictionary observations: PettingZoo's own
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


def config_of(arguments: dict[str, Any]) -> Config:
    """The configuration of an environment with these arguments."""
    others = {key: arguments[key] for key in ("rounds", "drafting", "modules", "powers") if key in arguments}
    return Config(arguments["num_players"], **others)


def play_out(env: Env, seed: int = 0) -> tuple[dict[str, float], dict[str, dict[str, Any]]]:
    """Random legal actions until every agent is gone: the returns and the last infos."""
    generator = np.random.default_rng(seed)
    returns = dict.fromkeys(env.agents, 0.0)
    infos = {}
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        returns[agent] += reward
        if termination or truncation:
            infos[agent] = info
            env.step(None)
        else:
            env.step(legal_action(observation, generator))
    return returns, infos


def an_illegal_action(env: Env) -> int:
    return int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0])


def some_steps(env: Env, number: int, seed: int = 0) -> None:
    generator = np.random.default_rng(seed)
    for _ in range(number):
        env.step(legal_action(env.last()[0], generator))


# --- the official checks ---


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arguments", CONFIGURATIONS, ids=str)
def test_api_test(arguments: dict[str, Any]) -> None:
    for make in (petrichor_v0.env, petrichor_v0.raw_env):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            api.api_test(make(**arguments))
        assert {str(warning.message) for warning in caught} == EXPECTED_WARNINGS


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arguments", CONFIGURATIONS, ids=str)
def test_seed_test(arguments: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seeding.seed_test(lambda: petrichor_v0.env(**arguments))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("arguments", GAMES, ids=str)
def test_render_test(arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests draw the boards of all configurations, without PettingZoo."""
    monkeypatch.setitem(petrichor_v0.raw_env.metadata, "render_fps", 10_000)  # how long a window shows a picture
    texts = {"ansi": lambda text: "frost" in text.lower()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rendering.render_test(lambda render_mode: petrichor_v0.env(render_mode=render_mode, **arguments), texts)


@pytest.mark.parametrize("modules", [(), MODULES], ids=str)
@pytest.mark.parametrize("players", PLAYERS)
def test_state_test(players: int, modules: tuple[str, ...]) -> None:
    env = petrichor_v0.env(num_players=players, modules=modules)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state_checks.test_state_space(env)
        state_checks.test_state(env, 50)


def test_every_configuration_has_been_checked() -> None:
    assert {config_of(arguments) for arguments in GAMES} >= {*BASE, *TOGETHER[1:]}
    assert {config_of(arguments).players for arguments in WITH_MODULES if arguments["powers"]} == set(PLAYERS)


# --- registration ---


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


def test_name_and_metadata() -> None:
    env = petrichor_v0.env()
    assert str(env) == str(env.unwrapped) == "petrichor_v0"
    assert env.metadata["is_parallelizable"] is False
    assert env.possible_agents == ["player_0", "player_1"]


def test_docstring_has_the_spaces() -> None:
    page = petrichor_v0.raw_env.__doc__ or ""
    space = petrichor_v0.env().observation_space("player_0")
    assert f"Box({LOW:g}, {HIGH:g}, ({OBSERVATION_SIZE},), float32)" in page
    assert f"Box(0, 1, ({NUM_ACTIONS},), int8)" in page and f"`Discrete({NUM_ACTIONS})`" in page
    assert space["observation"].shape == (OBSERVATION_SIZE,) and space["action_mask"].shape == (NUM_ACTIONS,)
    for name in (*MODULES, *POWERS):
        assert f"`{name}`" in page


# --- the game ---


@pytest.mark.one_in(4)
@pytest.mark.parametrize("arguments", CONFIGURATIONS, ids=str)
def test_equals_the_batch(arguments: dict[str, Any]) -> None:
    env = petrichor_v0.env(**arguments)
    batch = Batch(config_of(arguments), 1, seed=8, autoreset="disabled", reward=arguments.get("reward", "win"))
    generator = np.random.default_rng(8)
    for games in range(2):
        env.reset(seed=8) if games == 0 else env.reset()
        if games > 0:
            batch.reset()
        stayed = 0
        while batch.actors[0] >= 0:
            agent = env.agent_selection
            assert agent == f"player_{batch.actors[0]}"
            observation, _, termination, truncation, info = env.last()
            assert env.observation_space(agent).contains(observation)
            np.testing.assert_array_equal(observation["observation"], batch.observations[0])
            np.testing.assert_array_equal(observation["action_mask"], batch.action_masks[0])
            assert (termination, truncation, list(info)) == (False, False, ["action_mask"])
            np.testing.assert_array_equal(info["action_mask"], batch.action_masks[0])
            action = legal_action(observation, generator)
            batch.step([action])
            env.step(action)
            assert list(env.rewards.values()) == batch.rewards[0].tolist()
            stayed += agent == env.agent_selection
        assert stayed > 10  # several decisions in a row
        assert all(env.terminations.values()) and not any(env.truncations.values())
        assert env.unwrapped.game.tobytes() == batch.states[0].tobytes()


@pytest.mark.one_in(5)
@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize(("players", "modules"), [(2, ()), (3, ()), (4, MODULES), (5, ())], ids=str)
def test_returns_agree_with_the_last_infos(players: int, modules: tuple[str, ...], reward: str) -> None:
    env = petrichor_v0.env(num_players=players, modules=modules, reward=reward)
    for seed in range(10):
        env.reset(seed=seed)
        returns, infos = play_out(env, seed)
        points = np.array([infos[agent]["points"] for agent in env.possible_agents])
        winners = sum(info["won"] for info in infos.values())
        assert not any(info["illegal"] for info in infos.values())
        for agent, info in infos.items():
            others = (points.sum() - info["points"]) / (players - 1)
            won = 0 if winners == players else 1 / winners if info["won"] else -1 / (players - winners)
            wanted = {"win": won, "margin": info["points"] - others, "points": info["points"]}[reward]
            assert returns[agent] == pytest.approx(wanted)
        if reward != "points":
            assert sum(returns.values()) == pytest.approx(0)


def test_observations_of_the_others() -> None:
    env = petrichor_v0.env(num_players=3)
    env.reset(seed=1)
    some_steps(env, 40)
    batch = env.unwrapped.batch
    for seat, agent in enumerate(env.agents):
        observation = env.observe(agent)
        assert env.infos[agent]["action_mask"].any() == (agent == env.agent_selection)
        np.testing.assert_array_equal(observation["observation"], batch.observe(seat)[0])
        assert observation["action_mask"].any() == (agent == env.agent_selection)
        assert env.observation_space(agent).contains(observation)
    views = [env.observe(agent)["observation"] for agent in env.possible_agents]
    np.testing.assert_array_equal(env.state(), np.concatenate(views))


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


def test_observations_are_the_callers_own() -> None:
    env = petrichor_v0.env()
    env.reset(seed=1)
    first = env.last()[0]
    kept = copy.deepcopy(first)
    env.step(int(np.flatnonzero(first["action_mask"])[0]))
    assert data_equivalence(first, kept, exact=True)
    for values in first.values():
        values[:] = 0
    assert env.last()[0]["action_mask"].any()


def test_when_the_game_is_over_every_mask_is_ones() -> None:
    env = petrichor_v0.env(num_players=3)
    env.reset(seed=1)
    while not any(env.terminations.values()):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    for seat, agent in enumerate(env.agents):
        observation = env.observe(agent)
        assert observation["action_mask"].all()
        np.testing.assert_array_equal(observation["observation"], env.unwrapped.batch.observe(seat)[0])


# --- illegal actions ---


def with_pettingzoos_wrapper(**arguments: Any) -> Env:
    raw = petrichor_v0.raw_env(illegal_action="raise", **arguments)
    wrapped = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


@pytest.mark.parametrize(("players", "modules"), [(2, ()), (3, ()), (4, ()), (5, MODULES)], ids=str)
@pytest.mark.parametrize("steps", [0, 50])
def test_an_illegal_action_loses_as_with_terminate_illegal_wrapper(
    players: int, modules: tuple[str, ...], steps: int
) -> None:
    arguments: dict[str, Any] = {"num_players": players, "modules": modules}
    ours, theirs = petrichor_v0.env(**arguments), with_pettingzoos_wrapper(**arguments)
    for env in (ours, theirs):
        env.reset(seed=3)
        some_steps(env, steps)
    offender, action = ours.agent_selection, an_illegal_action(ours)
    for env in (ours, theirs):
        env.step(action)
    assert ours.terminations == theirs.terminations == dict.fromkeys(ours.agents, True)
    assert ours.truncations == theirs.truncations == dict.fromkeys(ours.agents, True)
    assert ours.rewards[offender] == theirs.rewards[offender] == -1
    assert sum(ours.rewards.values()) == pytest.approx(0)  # PettingZoo's wrapper gives the others nothing
    while ours.agents:
        assert ours.agent_selection == theirs.agent_selection
        assert ours.last()[4]["illegal"] is (ours.agent_selection == offender)
        ours.step(None)
        theirs.step(None)
    assert not theirs.agents


@pytest.mark.parametrize(("reward", "expected"), [("win", -1), ("margin", -100), ("points", 0)])
def test_return_of_an_illegal_action(reward: str, expected: float) -> None:
    env = petrichor_v0.env(num_players=3, reward=reward)
    env.reset(seed=3)
    generator = np.random.default_rng(3)
    returns = dict.fromkeys(env.agents, 0.0)
    for _ in range(150):
        env.step(legal_action(env.last()[0], generator))
        for agent in env.agents:
            returns[agent] += env.rewards[agent]
    offender = env.agent_selection
    env.step(an_illegal_action(env))
    assert returns[offender] + env.rewards[offender] == pytest.approx(expected)
    if reward != "points":
        assert sum(returns.values()) + sum(env.rewards.values()) == pytest.approx(0)


def test_illegal_action_raises_and_changes_nothing() -> None:
    env = petrichor_v0.env(illegal_action="raise")
    env.reset(seed=3)
    before = env.unwrapped.game.tobytes()
    with pytest.raises(IllegalAction, match="legal are"):
        env.step(an_illegal_action(env))
    assert env.unwrapped.game.tobytes() == before
    play_out(env)


def test_illegal_action_is_replaced_at_random() -> None:
    env = petrichor_v0.env(illegal_action="random")
    env.reset(seed=3)
    steps = 0
    while not any(env.terminations.values()):
        agent = env.agent_selection
        env.step(an_illegal_action(env))
        assert env.infos[agent]["illegal"] is True
        steps += 1
    assert steps > 20 and not any(env.truncations.values())
    env.reset(seed=3)
    agent = env.agent_selection
    env.step(an_illegal_action(env))
    while env.agent_selection != agent:
        some_steps(env, 1)
    some_steps(env, 1)
    assert list(env.infos[agent]) == ["action_mask"]


# --- other bad input ---


@pytest.mark.parametrize("illegal_action", ILLEGAL_ACTIONS)
@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 1.5, "pass", None], ids=str)
def test_what_is_no_action_raises_always(illegal_action: str, action: Any) -> None:
    raw, wrapped = (make(illegal_action=illegal_action) for make in (petrichor_v0.raw_env, petrichor_v0.env))
    for env, error in ((raw, IllegalAction), (wrapped, AssertionError)):
        env.reset(seed=2)
        before = env.unwrapped.game.tobytes()
        with pytest.raises(error, match=r"an integer from 0 to|action is not in action space"):
            env.step(action)
        assert env.unwrapped.game.tobytes() == before
        play_out(env)


def test_stepping_too_early_or_too_late() -> None:
    raw = petrichor_v0.raw_env()
    with pytest.raises(GameOver, match="call reset first"):
        raw.step(0)
    with pytest.raises(AssertionError, match="reset"):
        petrichor_v0.env().step(0)
    raw.reset(seed=1)
    while not any(raw.terminations.values()):
        raw.step(int(np.flatnonzero(raw.last()[0]["action_mask"])[0]))
    with pytest.raises(ValueError, match="the only valid action is None"):
        raw.step(0)
    raw.step(None)
    raw.step(None)
    with pytest.raises(GameOver, match="no agent is left"):
        raw.step(None)
    raw.reset()
    assert len(raw.agents) == 2


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ({"num_players": 1}, r"2, 3, 4 or 5; .*Solo-v0"),
        ({"num_players": 6}, "2, 3, 4 or 5"),
        ({"num_players": "two"}, "2, 3, 4 or 5"),
        ({"modules": ("flowers",)}, "fertilizer, cactus, lake, flower_tiles, powers, forecasts"),
        ({"modules": "lake"}, "sequence of names"),
        ({"modules": ("lake", "lake")}, "at most once"),
        ({"powers": ("sun", "rain")}, r"only with modules=\('powers',\)"),
        ({"modules": ("powers",), "powers": ("sun",)}, "one for each of 2 players"),
        ({"modules": ("powers",), "powers": ("sun", "sun")}, "at most once"),
        ({"modules": ("powers",), "powers": ("sun", "hail")}, "frost, sun, wind, rain, harvest"),
        ({"rounds": 5}, "4 .short form. or 6"),
        ({"drafting": "yes"}, "True or False"),
        ({"reward": "score"}, "'win', 'margin', 'points'"),
        ({"illegal_action": "ignore"}, "'raise', 'lose', 'random'"),
        ({"render_mode": "svg"}, "'human', 'ansi', 'rgb_array' or None"),
        ({"render_size": 0}, "from 16 to 4096"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], allowed: str) -> None:
    for make in (petrichor_v0.env, petrichor_v0.raw_env):
        with pytest.raises(ConfigError, match=allowed):
            make(**arguments)


# --- options ---


def test_reset_to_a_scenario() -> None:
    env = petrichor_v0.env(num_players=3, drafting=True, rounds=6)
    hands = {"player_1": {"wind": 3}, "player_0": {"sun": 1}}
    scenario = {"actor": "player_1", "first_player": "player_1", "hands": hands}
    env.reset(seed=1, options={"scenario": scenario})
    described = describe(env.unwrapped.game)
    assert env.agent_selection == "player_1" and described["hands"]["player_1"] == {"wind": 3}
    assert (described["players"], described["rounds"], described["drafting"]) == (3, 6, True)
    assert env.unwrapped.batch.states["decision"][0] == Decision.TURN
    stream = env.unwrapped.game["rng"]
    env.reset(seed=2, options={"scenario": scenario})
    assert env.unwrapped.game["rng"] != stream
    play_out(env)


def test_a_scenario_has_the_environments_modules_and_powers() -> None:
    powers = ["harvest", "frost", "rain", "sun", "wind"]
    env = petrichor_v0.env(num_players=5, modules=["lake", "powers"], powers=powers)
    env.reset(seed=1, options={"scenario": {"field": {"d4": {"crop": "lake"}}}})
    described = describe(env.unwrapped.game)
    assert (described["modules"], described["powers"]) == (["lake", "powers"], powers)
    assert described["field"]["d4"]["crop"] == "lake"
    play_out(env)


def test_readings_and_numbers_of_ones_own() -> None:
    env = petrichor_v0.env(modules=["flower_tiles"], readings=["primrose_passes_once"], components={"pieces.clouds": 9})
    env.reset(seed=1)
    config = env.unwrapped.batch.config
    assert (config.readings, config.components) == (("primrose_passes_once",), (("pieces.clouds", 9),))
    play_out(env)
    with pytest.raises(ConfigError, match="forecasts_end_actions"):
        petrichor_v0.env(readings=["forecasts_end_actions"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scenarios": {}}, ConfigError, "unknown key 'scenarios'; allowed are scenario"),
        ({"scenario": {"players": 3}}, ScenarioError, "'3p'.*'2p'"),
        ({"scenario": {"modules": ["lake"]}}, ScenarioError, r"'2p\+lake'.*'2p'"),
        ({"scenario": {"votes": {"sun": {"player_0": 13}}}}, ScenarioError, "13 votes"),
    ],
)
def test_bad_options_change_nothing(options: Any, error: type, message: str) -> None:
    env = petrichor_v0.env()
    env.reset(seed=1)
    before = env.unwrapped.game.tobytes()
    with pytest.raises(error, match=message):
        env.reset(seed=2, options=options)
    assert env.unwrapped.game.tobytes() == before
    play_out(env)


# --- copies and rendering ---


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("make", [petrichor_v0.env, petrichor_v0.raw_env])
def test_copies_play_on_alike_and_apart(make: Any, duplicate: Any) -> None:
    env = make(num_players=3, modules=MODULES, reward="margin")
    env.reset(seed=4)
    some_steps(env, 30)
    twin = duplicate(env)
    before = env.unwrapped.game.tobytes()
    result = play_out(twin, seed=5)
    assert env.unwrapped.game.tobytes() == before
    assert data_equivalence(result, play_out(env, seed=5), exact=True)
    env.reset()
    twin.reset()
    assert twin.unwrapped.game.tobytes() == env.unwrapped.game.tobytes()


def test_rendering_without_a_mode_warns() -> None:
    env = petrichor_v0.env()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None
