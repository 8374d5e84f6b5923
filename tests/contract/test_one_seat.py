"""One seat of any game as a Gymnasium environment: what every game and every argument must keep to."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env, data_equivalence
from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines
from stable_baselines3.common.monitor import Monitor

from tabletop_engine.envs import MaskInObservation
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, ScenarioError
from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_engine.replays.recorder import Recorder
from tabletop_engine.replays.replay import frames
from tests.support.cases import WITHOUT_CHANCE, over_one_seat
from tests.support.environments import legal_action, play_out, through_pickle

pytestmark = over_one_seat
RESULT = {"points": int, "others_points": float, "won": bool, "illegal": bool, "seat": int}


def made(name: str, arguments: dict[str, Any], **more: Any) -> Any:
    return gymnasium.make(name, **{**arguments, **more})


def illegal_action(info: dict[str, Any]) -> int | None:
    """An action that the mask forbids; None if it allows all."""
    return None if info["action_mask"].all() else int(info["action_mask"].argmin())


def started(name: str, arguments: dict[str, Any], **more: Any) -> tuple[Any, dict[str, Any]]:
    """An environment before the first decision that has an illegal action."""
    env = made(name, arguments, **more)
    _, info = env.reset(seed=2)
    while illegal_action(info) is None:
        _, _, terminated, _, info = env.step(0)
        info = env.reset()[1] if terminated else info
    return env, info


@pytest.mark.filterwarnings("error", "ignore:.*is different from the unwrapped version")
def test_official_checks(name: str, arguments: dict[str, Any]) -> None:
    check_env(made(name, arguments).unwrapped)
    check_for_stable_baselines(made(name, arguments, render_mode="ansi"), skip_render_check=False)
    check_env(MaskInObservation(made(name, arguments)), skip_render_check=True)


def test_games_of_a_spec(name: str, arguments: dict[str, Any]) -> None:
    """A spec survives JSON. Whole games stay in the spaces, end with a result, and touch no global generator."""
    before = str(np.random.get_state()), random.getstate()  # noqa: NPY002
    spec = made(name, arguments).spec
    again = EnvSpec.from_json(spec.to_json())
    assert json.loads(again.to_json()) == json.loads(spec.to_json())
    first, second = gymnasium.make(spec), gymnasium.make(again)
    assert first.unwrapped.batch.config == second.unwrapped.batch.config
    for seed in (3, None, None):
        starts = first.reset(seed=seed), second.reset(seed=seed)
        assert data_equivalence(*starts, exact=True)
        assert first.observation_space.contains(starts[0][0])
        assert set(starts[0][1]) == {"action_mask"} and starts[0][1]["action_mask"].dtype == np.int8
        total, info, steps = play_out(first, starts[0][1])
        assert data_equivalence((total, info, steps), play_out(second, starts[1][1]), exact=True)
        assert {key: type(info[key]) for key in info if key != "action_mask"} == RESULT
        assert info["action_mask"].all() and not info["illegal"] and info["seat"] == first.unwrapped.seat
        state, batch = first.unwrapped.state, first.unwrapped.batch.batch
        points = state["points"][: state["owners"]].tolist()
        others = points[: info["seat"]] + points[info["seat"] + 1 :]
        assert info["points"] == points[info["seat"]] and info["won"] == batch.winners()[0, info["seat"]]
        assert info["others_points"] == pytest.approx(sum(others) / max(1, len(others)))
        assert steps > 0
    assert before == (str(np.random.get_state()), random.getstate())  # noqa: NPY002


def test_a_seed_is_the_game_of_the_batch(name: str, arguments: dict[str, Any]) -> None:
    """With others, the same record is set up; alone, it goes on as in the batch, also in the next game."""
    env = made(name, arguments)
    config = env.unwrapped.batch.config
    dtype, reward = env.observation_space.dtype.name, env.unwrapped.batch.batch.reward
    batch = Batch(config, 1, 11, autoreset="disabled", reward=reward, observation_dtype=dtype)
    if config.players > 1:
        seat = int(batch.actors[0])
        env.reset(seed=11, options={"seat": seat})
        assert env.unwrapped.seat == seat and env.unwrapped.state.tobytes() == batch.states[0].tobytes()
        return
    for number in range(2):
        observation, info = env.reset(seed=11) if number == 0 else env.reset()
        if number > 0:
            batch.reset()
        generator = np.random.default_rng(number)
        while batch.actors[0] != NOBODY:
            np.testing.assert_array_equal(observation, batch.observations[0])
            np.testing.assert_array_equal(info["action_mask"], batch.action_masks[0])
            action = legal_action(info, generator)
            batch.step([action])
            observation, reward, terminated, _, info = env.step(action)
            assert (reward, terminated) == (batch.rewards[0, 0], batch.terminations[0])
        assert env.unwrapped.state.tobytes() == batch.states[0].tobytes()


def test_the_first_unseeded_game_is_drawn_from_np_random(name: str, arguments: dict[str, Any]) -> None:
    starts = []
    for _ in range(2):
        env = made(name, arguments)
        env.unwrapped.np_random = np.random.default_rng(7)
        states = []
        for _ in range(2):
            _, info = env.reset()
            states.append(env.unwrapped.state.tobytes())
            play_out(env, info)
        starts.append(states)
    assert starts[0] == starts[1]
    assert starts[0][0] != starts[0][1] or name in WITHOUT_CHANCE


def test_copies_play_on_alike_and_apart(name: str, arguments: dict[str, Any]) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    env = made(name, arguments)
    _, info = env.reset(seed=4)
    _, _, terminated, _, info = env.step(legal_action(info, np.random.default_rng(4)))
    if terminated:
        _, info = env.reset()
    twins = [copy.deepcopy(env), through_pickle(env), pickle.loads(cloudpickle.dumps(env))]
    before = env.unwrapped.state.tobytes()
    results = [(play_out(twin, info, seed=9), twin.reset()) for twin in twins]
    assert env.unwrapped.state.tobytes() == before
    expected = (play_out(env, info, seed=9), env.reset())
    for twin, result in zip(twins, results, strict=True):
        assert data_equivalence(result, expected, exact=True)
        assert twin.unwrapped.state.tobytes() == env.unwrapped.state.tobytes()


def test_illegal_actions(name: str, arguments: dict[str, Any]) -> None:
    """Each loses, raises and changes nothing, or is replaced. `test_rewards.py` has what it costs."""
    env, info = started(name, arguments, illegal_action="lose")
    _, _, terminated, truncated, info = env.step(illegal_action(info))
    assert (terminated, truncated, info["illegal"], info["won"]) == (True, False, True, False)
    with pytest.raises(GameOver):
        env.step(0)

    env, info = started(name, arguments, illegal_action="raise")
    before = env.unwrapped.state.tobytes()
    with pytest.raises(IllegalAction, match=r"does not answer|legal are"):
        env.step(illegal_action(info))
    assert env.unwrapped.state.tobytes() == before
    play_out(env, info)

    env, info = started(name, arguments, illegal_action="random")
    terminated = False
    while not terminated:
        action = illegal_action(info)
        _, _, terminated, _, info = env.step(0 if action is None else action)
        assert action is None or info["illegal"] is True
    assert {*RESULT} <= {*info}


def test_what_is_no_action_raises_always(name: str, arguments: dict[str, Any]) -> None:
    for effect in ("lose", "raise", "random"):
        env = made(name, arguments, illegal_action=effect)
        _, info = env.reset(seed=2)
        before = env.unwrapped.state.tobytes()
        for action in (-1, env.action_space.n, 1.5, "pass", None, np.array([1, 2])):
            with pytest.raises(IllegalAction, match=f"an integer from 0 to {env.action_space.n - 1}"):
                env.step(action)
        assert env.unwrapped.state.tobytes() == before
        play_out(env, info)


def test_every_kind_of_integer_is_an_action(name: str, arguments: dict[str, Any]) -> None:
    results = []
    for kind in (int, np.int8, np.int32, np.int64, np.uint8, np.array):
        env = made(name, arguments)
        _, info = env.reset(seed=2)
        results.append(env.step(kind(int(info["action_mask"].argmax()))))
    assert all(data_equivalence(result, results[0], exact=True) for result in results)


def test_stepping_too_early_or_too_late(name: str, arguments: dict[str, Any]) -> None:
    env = made(name, arguments)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    with pytest.raises(GameOver, match="call reset"):
        env.unwrapped.step(0)
    _, info = env.reset(seed=1)
    play_out(env, info)
    with pytest.raises(GameOver, match="reset"):
        env.step(0)
    env.reset()


def test_a_described_position(name: str, arguments: dict[str, Any]) -> None:
    """It starts there, with chance of its own unless the description has it. Bad options change nothing."""
    env = made(name, arguments)
    config = env.unwrapped.batch.config
    game, seat = config.game, env.unwrapped.seat
    _, info = env.reset(seed=5)
    first = env.unwrapped.state.tobytes()
    generator = np.random.default_rng(5)
    for _ in range(6):
        _, _, terminated, _, info = env.step(legal_action(info, generator))
        if terminated:
            _, info = env.reset()
    state, seat = env.unwrapped.state, env.unwrapped.seat
    described = json.loads(json.dumps(game.described(state)))
    options: dict[str, Any] = {"scenario": described}
    if config.players > 1:
        options["seat"] = seat
    given = copy.deepcopy(options)
    streams = []
    for seed in (1, 2):
        observation, again = env.reset(seed=seed, options=options)
        assert env.observation_space.contains(observation)
        for field in set(game.state.names or ()) - {"rng", "edition"}:
            np.testing.assert_array_equal(env.unwrapped.state[field], state[field], field)
        np.testing.assert_array_equal(again["action_mask"], info["action_mask"])
        streams.append(int(env.unwrapped.state["rng"]))
    assert options == given
    assert (streams[0] == streams[1]) == (described.get("random") is not None)

    before = env.unwrapped.state.tobytes()
    bad: list[tuple[Any, type[Exception], str]] = [
        ({"scenarios": {}}, ConfigError, "unknown key 'scenarios'; allowed are scenario"),
        ("scenario", ConfigError, "a dictionary"),
        ({"scenario": "P1"}, ScenarioError, "not a dictionary"),
        ({"scenario": {**described, "no such key": 1}}, ScenarioError, "no such key"),
        ({"scenario": {**described, "players": 9}}, ScenarioError, r"players|9"),
    ]
    for wrong, error, message in bad:
        with pytest.raises(error, match=message):
            env.reset(seed=2, options=wrong)
        assert env.unwrapped.state.tobytes() == before
    play_out(env, again)
    env.reset(seed=5)
    assert env.unwrapped.state.tobytes() == first  # a position is for one reset


def test_rendering(name: str, arguments: dict[str, Any]) -> None:
    """As the seat sees it. A window and `picture` are tested in `test_render_environments.py`."""
    shown = []
    for mode in ("ansi", "rgb_array"):
        env = made(name, arguments, render_mode=mode, **({"render_size": 64} if mode == "rgb_array" else {}))
        _, info = env.reset(seed=1)
        first = env.render()
        state, batch = env.unwrapped.state, env.unwrapped.batch.batch
        if mode == "ansi":
            assert first == batch.game.drawing.render_text(state, viewer=env.unwrapped.seat, tables=batch.tables_of(0))
        else:
            assert first.shape == (64, 64, 3) and first.dtype == np.uint8
        play_out(env, info)
        shown.append(np.array_equal(first, env.render()))
    assert shown == [False, False]
    env = made(name, arguments)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None
    with pytest.warns(UserWarning, match="render_mode"), pytest.raises(ConfigError, match="'human' or None"):
        made(name, arguments, render_mode="svg")


def test_masks_beside_observations(name: str, arguments: dict[str, Any]) -> None:
    """Up to the end of a game, the dictionary has what observation and info have without the wrapper."""
    for dtype in (np.int8, np.float32, np.bool_):
        plain = made(name, arguments)
        env = MaskInObservation(made(name, arguments), "observations", "mask", dtype)
        expected, told = plain.reset(seed=5)
        seen, info = env.reset(seed=5)
        generator, terminated = np.random.default_rng(1), False
        while True:
            assert env.observation_space.contains(seen) and list(seen) == ["observations", "mask"]
            assert seen["mask"].dtype == dtype
            for mask in (seen["mask"], info["action_mask"], plain.unwrapped.action_masks()):
                np.testing.assert_array_equal(mask, told["action_mask"])
            np.testing.assert_array_equal(seen["observations"], expected)
            if terminated:
                break
            action = legal_action(told, generator)
            expected, reward, terminated, _, told = plain.step(action)
            seen, same, ended, _, info = env.step(np.int64(action))
            assert (same, ended) == (reward, terminated)
        assert seen["mask"].all()


def test_masks_for_maskable_ppo(name: str, arguments: dict[str, Any]) -> None:
    env = made(name, arguments)
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_ and masks.tolist() == info["action_mask"].astype(bool).tolist()
    masks[:] = False
    assert env.get_wrapper_attr("action_masks")().any()


def test_a_game_that_is_cut_short(name: str, arguments: dict[str, Any]) -> None:
    """Stable-Baselines3's `Monitor` records the state of the game, whatever cut it short."""
    for cut in (made(name, arguments, max_episode_steps=1), gymnasium.wrappers.TimeLimit(made(name, arguments), 1)):
        env = Monitor(cut, info_keywords=(*RESULT,))
        _, info = env.reset(seed=1)
        assert not {*RESULT} & {*info}
        _, _, terminated, truncated, info = env.step(legal_action(info, np.random.default_rng(0)))
        if terminated:  # a game of one decision
            continue
        assert truncated
        state, seat = env.unwrapped.state, env.unwrapped.seat
        points = state["points"][: state["owners"]].tolist()
        others = points[:seat] + points[seat + 1 :]
        expected = {"points": points[seat], "others_points": sum(others) / max(1, len(others))}
        expected |= {"won": False, "seat": seat, "illegal": False}
        assert {key: info[key] for key in RESULT} == expected == {key: info["episode"][key] for key in RESULT}
        assert "illegal" in info and info.get("weather") is None
        with pytest.raises(KeyError, match="weather"):
            info["weather"]
        assert type(copy.deepcopy(info)) is type(pickle.loads(pickle.dumps(info))) is dict


def test_recorded(name: str, arguments: dict[str, Any]) -> None:
    """A replay of each game, with all that the others did, gives its last record again."""
    if arguments.get("illegal_action") == "random":
        with pytest.raises(ConfigError, match="random"):
            Recorder(made(name, arguments))
        return
    env = made(name, arguments)
    recorder = Recorder(env)
    ends = []
    for seed in (5, None, 6):
        _, info = env.reset(seed=seed)
        play_out(env, info)
        ends.append((env.unwrapped.state.tobytes(), env.unwrapped.seat))
    recorder.close()
    env.reset(seed=7)
    assert recorder.batch.listeners == [] and [replay.seed for replay in recorder.finished] == [5, None, 6]
    for replay, (end, seat) in zip(recorder.finished, ends, strict=True):
        assert list(frames(replay))[-1].state.tobytes() == end
        if env.unwrapped.batch.config.players > 1:
            others = [one.name for one in env.unwrapped.batch.opponents] * (len(replay.names) - 1)
            clockwise = [replay.names[(seat + place) % len(replay.names)] for place in range(len(replay.names))]
            assert clockwise == ["learner", *others[: len(replay.names) - 1]]
