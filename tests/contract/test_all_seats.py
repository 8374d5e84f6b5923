"""All seats of any game as a PettingZoo environment: what every game and every argument must keep to."""

from __future__ import annotations

import copy
import importlib
import json
import warnings
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from tabletop_engine.envs.aec import AgentMaskInObservation, wrapped
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, ScenarioError
from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_engine.replays.recorder import Recorder
from tabletop_engine.replays.replay import frames
from tests.support.cases import over_all_seats
from tests.support.environments import legal_action, play_all, through_pickle

# modules are imported, because the package has functions of the same names, and pytest collects all that begins with
# test_
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's tests import its own games in a deprecated way
    api, rendering, seeding, state_checks = (
        importlib.import_module(f"pettingzoo.test.{name}")
        for name in ("api_test", "render_test", "seed_test", "state_test")
    )

Env: TypeAlias = AECEnv[str, Any, Any]
EXPECTED_WARNINGS = {
    # api_test has a fixed list of the environments that may have dictionary observations: PettingZoo's own
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
EMPTY_BOARD = "Observation numpy array is all zeros."
pytestmark = over_all_seats


def mask_of(env: Env) -> np.ndarray:
    return np.asarray(env.infos[env.agent_selection]["action_mask"])


def some_steps(env: Env, number: int, seed: int = 0) -> None:
    """Random legal actions, in a game that goes on where the first one ends."""
    generator = np.random.default_rng(seed)
    for _ in range(number):
        env.step(legal_action(env.last()[4], generator))
        if any(env.terminations.values()):
            env.reset()


def before_a_slip(env: Env) -> int:
    """Play up to a decision that has an illegal action, and give it."""
    while mask_of(env).all():
        some_steps(env, 1)
    return int(mask_of(env).argmin())


def test_official_checks(made: Any, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def make(**more: Any) -> Env:
        return wrapped(made(**arguments, **more))

    for env in (make(), made(**arguments)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            api.api_test(env)
        assert {str(warning.message) for warning in caught} - {EMPTY_BOARD} == EXPECTED_WARNINGS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=EMPTY_BOARD)
        seeding.seed_test(make, num_cycles=60)
        state_checks.test_state_space(make())
        state_checks.test_state(make(), 50)
        monkeypatch.setitem(type(make().unwrapped).metadata, "render_fps", 10_000)  # how long a window shows a picture
        rendering.render_test(make, {"ansi": lambda text: len(text) > 20})
        plain = make(action_mask="info")
        assert all(isinstance(plain.observation_space(agent), gymnasium.spaces.Box) for agent in plain.possible_agents)
        api.api_test(plain)
        seeding.seed_test(lambda: make(action_mask="info"), 50)
        warnings.filterwarnings("ignore", message="Observation")
        api.api_test(AgentMaskInObservation(make(action_mask="info"), mask_key="mask", dtype=np.bool_), num_cycles=200)


def test_equals_the_batch(made: Any, arguments: dict[str, Any]) -> None:
    """Two games: selection, observations and masks of all seats, rewards, state and the last infos."""
    env = wrapped(made(**arguments))
    own = env.unwrapped.batch
    dtype = own.observations.dtype.name
    batch = Batch(own.config, 1, 8, autoreset="disabled", reward=own.reward, observation_dtype=dtype)
    generator = np.random.default_rng(8)
    for number in range(2):
        env.reset(seed=8) if number == 0 else env.reset()
        if number > 0:
            batch.reset()
        while batch.actors[0] != NOBODY:
            agent = env.agent_selection
            assert agent == f"player_{batch.actors[0]}"
            observation, _, termination, truncation, info = env.last()
            assert (termination, truncation, list(info)) == (False, False, ["action_mask"])
            np.testing.assert_array_equal(info["action_mask"], batch.action_masks[0])
            for seat, other in enumerate(env.agents):
                seen, mask = env.observe(other), env.infos[other]["action_mask"]
                assert env.observation_space(other).contains(seen)
                np.testing.assert_array_equal(seen["observation"], batch.observe(seat)[0])
                np.testing.assert_array_equal(seen["action_mask"], mask)
                assert mask.any() == (other == agent) and mask.dtype == np.int8
            views = [env.observe(other)["observation"] for other in env.possible_agents]
            np.testing.assert_array_equal(env.state(), np.concatenate(views))
            action = legal_action(observation, generator)
            batch.step([action])
            env.step(action)
            assert list(env.rewards.values()) == batch.rewards[0].tolist()
        assert all(env.terminations.values()) and not any(env.truncations.values())
        assert env.unwrapped.game.tobytes() == batch.states[0].tobytes()
        won, points = batch.winners()[0], batch.states[0]["points"]
        for seat, agent in enumerate(env.agents):
            observation, info = env.observe(agent), env.infos[agent]
            assert observation["action_mask"].all() and info["action_mask"].all()
            np.testing.assert_array_equal(observation["observation"], batch.observe(seat)[0])
            told = {key: info[key] for key in info if key != "action_mask"}
            assert told == {"points": int(points[seat]), "won": bool(won[seat]), "illegal": False}


def test_masks_beside_observations_and_in_infos(made: Any, arguments: dict[str, Any]) -> None:
    """A wrapper's dictionaries are like the environment's own, with the names and the dtype that are asked for."""
    own, inner = wrapped(made(**arguments)), wrapped(made(**arguments, action_mask="info"))
    env = AgentMaskInObservation(inner, "observations", dtype=np.float32)
    own.reset(seed=6)
    env.reset(seed=6)
    generator = np.random.default_rng(7)
    while env.agents:
        for one in env.agents:
            seen, expected = env.observe(one), own.observe(one)
            assert list(seen) == ["observations", "action_mask"]
            assert env.observation_space(one).contains(seen) and seen["action_mask"].dtype == np.float32
            np.testing.assert_array_equal(seen["observations"], expected["observation"])
            np.testing.assert_array_equal(inner.observe(one), expected["observation"])
            np.testing.assert_array_equal(seen["action_mask"], expected["action_mask"])
        _, reward, terminated, truncated, info = env.last()
        assert (reward, terminated, truncated) == own.last()[1:4]
        action = None if terminated else legal_action(info, generator)
        env.step(action)
        own.step(action)
    assert not own.agents


def test_names(made: Any, arguments: dict[str, Any]) -> None:
    env = wrapped(made(**arguments))
    players = env.unwrapped.batch.config.players
    assert str(env) == str(env.unwrapped) == f"{env.unwrapped.batch.game.name}_v0"
    assert env.metadata["is_parallelizable"] is False
    assert env.possible_agents == [f"player_{seat}" for seat in range(players)]


def test_observations_are_the_callers_own(made: Any, arguments: dict[str, Any]) -> None:
    env = wrapped(made(**arguments))
    env.reset(seed=1)
    first = env.last()[0]
    kept = copy.deepcopy(first)
    env.step(int(first["action_mask"].argmax()))
    assert data_equivalence(first, kept, exact=True)
    for values in first.values():
        values[:] = 0
    assert env.last()[0]["action_mask"].any()


def test_an_illegal_action_loses_as_with_terminate_illegal_wrapper(made: Any, arguments: dict[str, Any]) -> None:
    """At the first decision and later. `test_rewards.py` has what it costs."""
    for steps in (0, 30):
        ours = wrapped(made(**{**arguments, "illegal_action": "lose", "reward": "win"}))
        raw = made(**{**arguments, "illegal_action": "raise", "reward": "win"})
        theirs = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
        theirs = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(theirs))
        for env in (ours, theirs):
            env.reset(seed=3)
            some_steps(env, steps)
        action, offender = before_a_slip(ours), ours.agent_selection
        assert before_a_slip(theirs) == action and theirs.agent_selection == offender
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


def test_an_illegal_action_raises_or_is_replaced(made: Any, arguments: dict[str, Any]) -> None:
    env = wrapped(made(**{**arguments, "illegal_action": "raise"}))
    env.reset(seed=3)
    action, before = before_a_slip(env), env.unwrapped.game.tobytes()
    with pytest.raises(IllegalAction, match=r"does not answer|legal are"):
        env.step(action)
    assert env.unwrapped.game.tobytes() == before
    play_all(env)

    env = wrapped(made(**{**arguments, "illegal_action": "random"}))
    env.reset(seed=3)
    while not any(env.terminations.values()):
        agent, mask = env.agent_selection, mask_of(env)
        env.step(int(mask.argmin()))
        assert env.infos[agent].get("illegal", False) is not mask.all()
    assert not any(env.truncations.values())
    env.reset(seed=3)
    action, agent = before_a_slip(env), env.agent_selection
    env.step(action)
    while env.agent_selection != agent:
        some_steps(env, 1)
    some_steps(env, 1)
    assert list(env.infos[agent]) == ["action_mask"]  # it was said until the agent's next action


def test_what_is_no_action_raises_always(made: Any, arguments: dict[str, Any]) -> None:
    for effect in ("lose", "raise", "random"):
        raw = made(**{**arguments, "illegal_action": effect})
        for env, error in (
            (raw, IllegalAction),
            (wrapped(made(**{**arguments, "illegal_action": effect})), AssertionError),
        ):
            env.reset(seed=2)
            before = env.unwrapped.game.tobytes()
            for action in (-1, env.unwrapped.batch.game.num_actions, 1.5, "pass", None):
                with pytest.raises(error, match=r"an integer from 0 to|action is not in action space"):
                    env.step(action)
            assert env.unwrapped.game.tobytes() == before


def test_stepping_too_early_or_too_late(made: Any, arguments: dict[str, Any]) -> None:
    raw = made(**arguments)
    with pytest.raises(GameOver, match="call reset first"):
        raw.step(0)
    with pytest.raises(AssertionError, match="reset"):
        wrapped(made(**arguments)).step(0)
    raw.reset(seed=1)
    generator = np.random.default_rng(1)
    while not any(raw.terminations.values()):
        raw.step(legal_action(raw.last()[4], generator))
    with pytest.raises(ValueError, match="the only valid action is None"):
        raw.step(0)
    for _ in raw.possible_agents:
        raw.step(None)
    with pytest.raises(GameOver, match="no agent is left"):
        raw.step(None)
    raw.reset()
    assert raw.agents == raw.possible_agents


def test_a_described_position(made: Any, arguments: dict[str, Any]) -> None:
    """It starts there, with chance of its own unless the description has it. Bad options change nothing."""
    env = wrapped(made(**arguments))
    game = env.unwrapped.batch.game
    env.reset(seed=1)
    some_steps(env, 7)
    state, mask = env.unwrapped.game, mask_of(env)
    described = json.loads(json.dumps(game.described(state)))
    streams = []
    for seed in (1, 2):
        env.reset(seed=seed, options={"scenario": described})
        assert env.agent_selection == f"player_{state['actor']}"
        np.testing.assert_array_equal(mask_of(env), mask)
        for field in set(game.state.names or ()) - {"rng", "edition"}:
            np.testing.assert_array_equal(env.unwrapped.game[field], state[field], field)
        streams.append(int(env.unwrapped.game["rng"]))
    assert (streams[0] == streams[1]) == (described.get("random") is not None)
    before = env.unwrapped.game.tobytes()
    bad: list[tuple[Any, type[Exception], str]] = [
        ({"scenarios": {}}, ConfigError, "unknown key 'scenarios'; allowed are scenario"),
        ({"scenario": {**described, "no such key": 1}}, ScenarioError, "no such key"),
        ({"scenario": {**described, "players": 9}}, ScenarioError, r"players|9"),
    ]
    for options, error, message in bad:
        with pytest.raises(error, match=message):
            env.reset(seed=2, options=options)
        assert env.unwrapped.game.tobytes() == before
    play_all(env)


def test_copies_play_on_alike_and_apart(made: Any, arguments: dict[str, Any]) -> None:
    for env in (made(**arguments), wrapped(made(**arguments))):
        for duplicate in (copy.deepcopy, through_pickle):
            env.reset(seed=4)
            some_steps(env, 5)
            twin = duplicate(env)
            before = env.unwrapped.game.tobytes()
            result = play_all(twin, seed=5)
            assert env.unwrapped.game.tobytes() == before
            assert data_equivalence(result, play_all(env, seed=5), exact=True)
            env.reset()
            twin.reset()
            assert twin.unwrapped.game.tobytes() == env.unwrapped.game.tobytes()


def test_bad_arguments(made: Any, arguments: dict[str, Any]) -> None:
    for wrong, message in (
        ({"reward": "score"}, "'win', 'margin', 'points'"),
        ({"illegal_action": "ignore"}, "'raise', 'lose', 'random'"),
        ({"action_mask": "both"}, r"action_mask='both': must be \"observation\" or \"info\""),
        ({"render_mode": "svg"}, "'human', 'ansi', 'rgb_array' or None"),
        ({"render_size": 0}, "from 16 to 4096"),
    ):
        with pytest.raises(ConfigError, match=message):
            made(**{**arguments, **wrong})
    env = wrapped(made(**arguments))
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None


def test_recorded(made: Any, arguments: dict[str, Any]) -> None:
    """A replay of each game gives its last record again."""
    env = wrapped(made(**{**arguments, "illegal_action": "lose"}))
    names = tuple("abcde"[: env.unwrapped.batch.config.players])
    recorder = Recorder(env, names=names)
    env.reset(seed=2)
    play_all(env)
    (replay,) = recorder.finished
    assert (replay.seed, replay.names) == (2, names)
    assert list(frames(replay))[-1].state.tobytes() == env.unwrapped.game.tobytes()
