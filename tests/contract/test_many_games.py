"""One seat of many games as a Gymnasium vector environment: N single ones, in every autoreset mode."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from tabletop_engine.envs import VectorMaskInObservation
from tabletop_engine.errors import ConfigError, GameOver, IllegalAction, ScenarioError
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.replays.recorder import Recorder
from tabletop_engine.replays.replay import frames
from tests.support.cases import WITHOUT_CHANCE, over_one_seat, with_fixed_opponents
from tests.support.environments import through_pickle

pytestmark = [over_one_seat, pytest.mark.filterwarnings("error")]
over_modes = pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)


def made(name: str, num_envs: int, arguments: dict[str, Any], **more: Any) -> Any:
    return gymnasium.make_vec(name, num_envs=num_envs, **{**arguments, **more})


def some_actions(infos: dict[str, Any], generator: np.random.Generator, illegal: float) -> np.ndarray:
    """Random legal actions. With probability `illegal` an action is any number of the space."""
    actions = sample_actions(infos["action_mask"], generator)
    slips = generator.random(len(actions)) < illegal
    actions[slips] = generator.integers(infos["action_mask"].shape[1], size=int(slips.sum()))
    return actions


def steps(envs: Any, seed: int, number: int) -> Iterator[tuple[Any, ...]]:
    """Play random legal actions, and reset finished games where the mode asks for it: yields each step's results."""
    generator = np.random.default_rng(seed)
    _, infos = envs.reset(seed=seed)
    for _ in range(number):
        results = envs.step(sample_actions(infos["action_mask"], generator))
        yield results
        infos = results[-1]
        if envs.unwrapped.metadata["autoreset_mode"] is AutoresetMode.DISABLED and results[2].any():
            _, infos = envs.reset(options={"reset_mask": results[2].copy()})


@pytest.mark.one_in(2)
@over_modes
def test_equals_single_environments(name: str, arguments: dict[str, Any], mode: AutoresetMode) -> None:
    """With slips, which lose or are replaced. What draws of its own has one game, as all games share a generator."""
    fixed = with_fixed_opponents(name, arguments)
    ours = made(name, 4, fixed, autoreset_mode=mode)
    theirs: Any = SyncVectorEnv([lambda: gymnasium.make(name, **fixed)] * 4, autoreset_mode=mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    generator = np.random.default_rng(3)
    results: tuple[Any, Any] = (ours.reset(seed=10), theirs.reset(seed=10))
    assert data_equivalence(*results, exact=True)
    infos, ended, step = results[0][1], 0, 0
    while ended < 6:
        actions = some_actions(infos, generator, 0.02 if step > 100 else 0.0)
        results, step = (ours.step(actions), theirs.step(actions)), step + 1
        assert data_equivalence(*results, exact=True)
        observations, _, terminations, _, infos = results[0]
        assert ours.observation_space.contains(observations)
        ended += int(terminations.sum())
        if mode is AutoresetMode.DISABLED and terminations.any():
            for envs, result in zip((ours, theirs), results, strict=True):
                new, new_infos = envs.reset(options={"reset_mask": terminations.copy()})
                result[0][terminations] = new[terminations]
                result[4]["action_mask"][terminations] = new_infos["action_mask"][terminations]
            assert data_equivalence(results[0][0], results[1][0], exact=True)
            assert data_equivalence(results[0][4]["action_mask"], results[1][4]["action_mask"], exact=True)


def test_one_game_with_opponents_that_draw(name: str, arguments: dict[str, Any]) -> None:
    single = gymnasium.make(name, **arguments)
    envs = made(name, 1, arguments)
    results: tuple[Any, Any] = (envs.reset(seed=3), single.reset(seed=3))
    for _ in range(60):
        np.testing.assert_array_equal(results[0][0][0], results[1][0])
        action = int(results[1][-1]["action_mask"].argmax())
        results = (envs.step([action]), single.step(action))
        assert (results[0][1][0], results[0][2][0]) == results[1][1:3]
        if results[1][2]:
            break


@pytest.mark.one_in(2)
@over_modes
def test_threads_change_nothing(name: str, arguments: dict[str, Any], mode: AutoresetMode) -> None:
    one, three = (made(name, 101, arguments, autoreset_mode=mode, num_threads=threads) for threads in (1, 3))
    for first, second in zip(steps(one, 1, 30), steps(three, 1, 30), strict=True):
        assert data_equivalence(first, second, exact=True)


@pytest.mark.one_in(2)
@over_modes
def test_masks_beside_observations(name: str, arguments: dict[str, Any], mode: AutoresetMode) -> None:
    """The games are as without the wrapper. Final observations are dictionaries of one game."""
    plain = made(name, 6, arguments, autoreset_mode=mode)
    inner = made(name, 6, arguments, autoreset_mode=mode)
    env: Any = VectorMaskInObservation(inner, "observations", dtype=np.float32)
    assert env.autoreset_mode is env.metadata["autoreset_mode"] is mode
    for results, (seen, rewards, terminations, _, infos) in zip(steps(plain, 2, 60), steps(env, 2, 60), strict=True):
        assert env.observation_space.contains(seen)
        np.testing.assert_array_equal(seen["observations"], results[0])
        np.testing.assert_array_equal(seen["action_mask"], results[4]["action_mask"])
        np.testing.assert_array_equal(rewards, results[1])
        np.testing.assert_array_equal(terminations, results[2])
        if mode is AutoresetMode.SAME_STEP and terminations.any():
            for game in np.flatnonzero(terminations):
                final = infos["final_obs"][game]
                assert env.single_observation_space.contains(final) and final["action_mask"].all()
                np.testing.assert_array_equal(final["observations"], results[4]["final_obs"][game])


def test_what_a_step_gives_stays_as_it_is(name: str, arguments: dict[str, Any]) -> None:
    """Final observations, rewards and ends are new arrays, whatever `copy` says of observations and masks."""
    for keep in (True, False):
        envs = made(name, 2, arguments, autoreset_mode="same_step", copy=keep)
        kept: list[tuple[np.ndarray, np.ndarray]] = []
        results = []
        for result in steps(envs, 1, 400):
            results.append(result)
            ends = [result[-1]["final_obs"][game] for game in np.flatnonzero(result[2])]
            kept += [(end, end.copy()) for end in ends]
            if len(kept) > 4 and len(results) > 2:
                break
        assert len(kept) > 4 and all((end == before).all() for end, before in kept)
        for first, second in itertools.pairwise(results[:3]):
            assert np.shares_memory(first[0], second[0]) is not keep
            assert np.shares_memory(first[-1]["action_mask"], second[-1]["action_mask"]) is not keep
            assert not any(np.shares_memory(first[i], second[i]) for i in (1, 2, 3))


def test_modes(name: str, arguments: dict[str, Any]) -> None:
    """Each has names. The step after an end ignores its action, or is an error, as the mode says."""
    for mode in AutoresetMode:
        for spelled in (mode, mode.name, mode.name.lower(), mode.value):
            assert made(name, 2, arguments, autoreset_mode=spelled).metadata["autoreset_mode"] is mode
    assert made(name, 2, arguments).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP

    envs = made(name, 3, arguments)
    generator = np.random.default_rng(1)
    _, infos = envs.reset(seed=1)
    over = np.zeros(3, np.bool_)
    while not over.any():
        _, _, over, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
    assert infos["action_mask"][over].all() and (infos["_won"] == over).all()
    actions = sample_actions(infos["action_mask"], generator)
    actions[over] = -1  # ignored, so it needn't even be an action
    _, rewards, again, _, _ = envs.step(actions)
    assert not rewards[over].any() and not again[over].any()

    envs = made(name, 3, arguments, autoreset_mode="disabled")
    _, infos = envs.reset(seed=1)
    over = np.zeros(3, np.bool_)
    while not over.any():
        _, _, over, _, infos = envs.step(sample_actions(infos["action_mask"], generator))
    with pytest.raises(GameOver, match=f"game {int(np.argmax(over))} is over"):
        envs.step(sample_actions(infos["action_mask"], generator))
    kept = infos["action_mask"][~over]
    _, infos = envs.reset(options={"reset_mask": over})
    np.testing.assert_array_equal(infos["action_mask"][~over], kept)
    envs.step(sample_actions(infos["action_mask"], generator))


@over_modes
def test_episode_statistics(name: str, arguments: dict[str, Any], mode: AutoresetMode) -> None:
    envs = RecordEpisodeStatistics(made(name, 3, arguments, autoreset_mode=mode))
    returns: list[float] = []
    for _, rewards, terminations, _, _ in steps(envs, 1, 40):
        returns += list(rewards[terminations])
    assert len(envs.return_queue) == len(returns)


def test_interface(name: str, arguments: dict[str, Any]) -> None:
    envs, single = made(name, 7, arguments), gymnasium.make(name, **arguments)
    number = single.action_space.n
    with pytest.raises(GameOver, match="call reset first"):
        envs.step([0] * 7)
    assert envs.num_envs == 7 and envs.spec is not None
    assert {key: envs.spec.kwargs[key] for key in arguments} == arguments
    assert envs.unwrapped.batch.config == single.unwrapped.batch.config
    assert envs.action_space == gymnasium.spaces.MultiDiscrete([number] * 7)
    _, infos = envs.reset(seed=1)
    assert infos["action_mask"].shape == (7, number) and infos["action_mask"].dtype == np.int8
    masks = envs.unwrapped.action_masks()
    assert masks.dtype == np.bool_ and np.array_equal(masks, infos["action_mask"])
    results = envs.step(sample_actions(infos["action_mask"], envs.np_random))
    assert [array.dtype for array in results[1:4]] == [np.float64, np.bool_, np.bool_]
    assert all(array.shape == (7,) for array in results[1:4])


def test_rendering(name: str, arguments: dict[str, Any]) -> None:
    """Pictures are in `test_render_environments.py`."""
    fixed = with_fixed_opponents(name, arguments)
    envs, single = made(name, 2, fixed, render_mode="ansi"), gymnasium.make(name, render_mode="ansi", **fixed)
    envs.reset(seed=1)
    single.reset(seed=2)
    first, second = envs.render()
    assert isinstance(first, str) and second == single.render()
    with pytest.warns(UserWarning, match="render mode"):
        assert made(name, 2, arguments).render() is None
    with pytest.raises(ConfigError, match="'ansi', 'rgb_array' or None"):
        made(name, 2, arguments, render_mode="human")


def test_copies_play_on_alike_and_apart(name: str, arguments: dict[str, Any]) -> None:
    for duplicate in (copy.deepcopy, through_pickle):
        envs = made(name, 3, arguments)
        *_, (_, _, _, _, infos) = steps(envs, 1, 2)
        twin = duplicate(envs)
        actions = sample_actions(infos["action_mask"], np.random.default_rng(2))
        before = envs.unwrapped.batch.batch.states.tobytes()
        result = twin.step(actions)
        assert envs.unwrapped.batch.batch.states.tobytes() == before
        assert data_equivalence(result, envs.step(actions), exact=True)
        assert data_equivalence(twin.reset(), envs.reset(), exact=True)


def test_starts(name: str, arguments: dict[str, Any]) -> None:
    """Seeds for all games or for each, chance of its own without one, positions for all or some games."""
    arguments = with_fixed_opponents(name, arguments)
    envs = made(name, 3, arguments)
    batch = envs.unwrapped.batch.batch
    envs.reset(seed=5)
    by_int = batch.states.copy()
    list(steps(envs, 1, 20))
    envs.reset(seed=[5, 6, 7])
    assert batch.states.tobytes() == by_int.tobytes()
    list(steps(envs, 1, 20))
    envs.reset(seed=[5, None, 7])
    assert batch.states[[0, 2]].tobytes() == by_int[[0, 2]].tobytes()
    assert batch.states[1]["rng"] != by_int[1]["rng"] or name in WITHOUT_CHANCE
    drawn = []
    for _ in range(2):
        other = made(name, 3, arguments)
        other.np_random = np.random.default_rng(7)
        other.reset()
        drawn.append(other.unwrapped.batch.batch.states.copy())
    assert drawn[0].tobytes() == drawn[1].tobytes() and len(set(drawn[0]["rng"].tolist())) == 3

    described = json.loads(json.dumps(batch.game.described(by_int[0])))
    fields = set(batch.game.state.names or ()) - {"rng", "edition"}
    options: dict[str, Any] = {"scenario": described}
    envs.reset(seed=1, options=options)
    for state in batch.states:
        assert all((state[field] == by_int[0][field]).all() for field in fields)
    envs.reset(seed=2)
    mask, kept = np.array([True, False, True]), batch.states[1].tobytes()
    options["reset_mask"] = mask
    given = dict(options)
    envs.reset(options=options)
    assert options == given and batch.states[1].tobytes() == kept
    for state in batch.states[mask]:
        assert all((state[field] == by_int[0][field]).all() for field in fields)
    fresh = made(name, 3, arguments)
    _, infos = fresh.reset(options=options)  # at the first reset all games start, and those of the mask there
    assert infos["action_mask"].any(axis=1).all()
    for state in fresh.unwrapped.batch.batch.states[mask]:
        assert all((state[field] == by_int[0][field]).all() for field in fields)


def test_bad_input_changes_nothing(name: str, arguments: dict[str, Any]) -> None:
    envs = made(name, 2, arguments, illegal_action="raise")
    _, infos = envs.reset(seed=1)
    states = envs.unwrapped.batch.batch.states
    before = states.tobytes()
    calls: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"options": {"mask": 1}}, ConfigError, "unknown key 'mask'; allowed are scenario, reset_mask"),
        ({"options": {"reset_mask": [True, False]}}, ConfigError, r"bool array of shape \(2,\)"),
        ({"options": {"reset_mask": np.array([1, 0])}}, ConfigError, r"bool array of shape \(2,\)"),
        ({"options": {"reset_mask": np.array([True])}}, ConfigError, r"bool array of shape \(2,\)"),
        ({"options": {"reset_mask": np.zeros(2, np.bool_)}}, ConfigError, "at least one True"),
        ({"options": {"scenario": {"players": 9}}}, ScenarioError, "9"),
        ({"seed": [1]}, ConfigError, "1 seeds for 2 games"),
        ({"seed": [1, -1]}, ConfigError, "-1"),
        ({"seed": [1, "a"]}, ConfigError, "'a'"),
        ({"seed": "one"}, ConfigError, "one"),
        ({"seed": -1}, ConfigError, "-1"),
    ]
    for call, error, message in calls:
        with pytest.raises(error, match=message):
            envs.reset(**call)
        assert states.tobytes() == before
    number = int(envs.single_action_space.n)
    no_actions: list[Any] = [[0], [0, 0, 0], [0.5, 0.5], [0, number], [-1, 0], ["a", "b"], None]
    for effect in ("lose", "raise", "random"):
        others = made(name, 2, arguments, illegal_action=effect)
        others.reset(seed=1)
        for actions in no_actions:
            with pytest.raises(IllegalAction, match="action"):
                others.step(actions)
        assert others.unwrapped.batch.batch.states.tobytes() == before
    if not infos["action_mask"][1].all():
        actions = sample_actions(infos["action_mask"], np.random.default_rng(1))
        actions[1] = int(infos["action_mask"][1].argmin())
        with pytest.raises(IllegalAction, match=r"game 1: .*(does not answer|legal are)"):
            envs.step(actions)
        assert states.tobytes() == before


def test_bad_arguments(name: str, arguments: dict[str, Any]) -> None:
    for wrong, message in (
        ({"num_envs": 0}, "num_envs=0"),
        ({"autoreset_mode": "later"}, "NEXT_STEP, SAME_STEP, DISABLED"),
        ({"autoreset_mode": 1}, "NEXT_STEP, SAME_STEP, DISABLED"),
        ({"num_threads": 0}, "num_threads=0"),
        ({"reward": "score"}, "reward='score': must be .*'points'"),
        ({"illegal_action": "ignore"}, "'raise', 'lose', 'random'"),
        ({"render_size": 5000}, "from 16 to 4096"),
        ({"max_episode_steps": 50}, "max_episode_steps: every game ends by itself"),
    ):
        with pytest.raises(ConfigError, match=message):
            gymnasium.make_vec(name, **{"num_envs": 2, **arguments, **wrong})


def test_recorded(name: str, arguments: dict[str, Any]) -> None:
    """A replay of each game gives its last record again."""
    envs = made(name, 2, {**arguments, "illegal_action": "lose"})
    recorder = Recorder(envs)
    batch, ends = envs.unwrapped.batch, []
    for _, _, terminations, _, _ in steps(envs, 3, 10**4):
        ends += [batch.final_states[game].tobytes() for game in np.flatnonzero(terminations)]
        if len(ends) > 2:
            break
    assert {replay.seed for replay in recorder.finished} >= {3, 4}
    assert set(ends) <= {list(frames(replay))[-1].state.tobytes() for replay in recorder.finished}
