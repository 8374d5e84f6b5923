"""Scenarios that no game can have are refused at once.

No scenario leaves the observation space: every number in a description is set to extremes, one at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

import evergreen_env
import petrichor_env
from evergreen_env import evergreen_v0
from petrichor_env import petrichor_v0
from tabletop_engine.described.invariants import first_outside
from tabletop_engine.errors import ScenarioError, StateError
from tabletop_engine.play.batch import Batch

EXTREMES = (-1, 99, 127, 128, 2_001, 30_000, 32_767)
GAMES: list[Any] = [
    pytest.param(petrichor_env, {"players": 1}, "Petrichor/Solo-v0", id="petrichor alone", marks=pytest.mark.slow),
    pytest.param(petrichor_env, {"players": 5, "modules": ("flower_tiles", "powers")}, "", id="petrichor, 5 players"),
    pytest.param(evergreen_env, {"players": 1}, "Evergreen/Solo-v0", id="evergreen alone"),
    pytest.param(evergreen_env, {"players": 4}, "", id="evergreen, 4 players"),
]


def numbers_in(told: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all numbers in a description."""
    if isinstance(told, dict | list):
        for key, value in told.items() if isinstance(told, dict) else enumerate(told):
            yield from numbers_in(value, (*path, key))
    elif isinstance(told, int) and not isinstance(told, bool):
        yield path


def changed(told: dict[str, Any], path: tuple[Any, ...], value: int) -> dict[str, Any]:
    """A copy of a description with another number there; points are by source, so that they add up."""
    copied = copy.deepcopy(told)
    part: Any = copied
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    if path[0] == "scored" and isinstance(copied["points"], dict) and len(path) == 3:
        copied["points"][path[2]] = sum(by_owner.get(path[2], 0) for by_owner in copied["scored"].values())
    return copied


@pytest.mark.parametrize(("package", "switches", "env_id"), GAMES)
def test_extreme_scenarios_are_refused_or_seen(package: Any, switches: dict[str, Any], env_id: str) -> None:
    """At several points of a game, what is accepted has float32 and int8 observations within their spaces."""
    config = package.Config(**switches)
    batch = Batch(config, 1, seed=4, autoreset="disabled")
    batch.reset(4)
    layout, accepted, outside = config.game.observation, 0, 0
    for _ in range(4):
        for _ in range(9):
            batch.step(batch.random_actions())
        told = package.describe(batch.states[0])
        assert package.scenario(told).tobytes() == batch.states[0].tobytes()
        for path in numbers_in(told):
            for value in EXTREMES:
                try:
                    state = package.scenario(changed(told, path, value))
                except ScenarioError as error:
                    outside += f"allowed are 0 to {layout.most('points')}" in str(error)
                    continue
                accepted += 1
                seen = batch.views_of(np.array([state] * config.players), np.arange(config.players))
                assert layout.low <= seen.min() and seen.max() <= layout.high, (path, value)
                if env_id and path[0] in ("points", "scored", "round"):
                    env: Any = gymnasium.make(f"{package.__name__}:{env_id}").unwrapped
                    first, _ = env.reset(seed=0, options={"scenario": changed(told, path, value)})
                    assert env.observation_space.contains(first), (path, value)
    assert accepted > 20 and outside > 0


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("make", [petrichor_v0.env, evergreen_v0.env], ids=["petrichor", "evergreen"])
def test_games_that_go_on_from_the_most_points(make: Any, dtype: str) -> None:
    """They end with more points than the space allows. Observations then show the maximum, in dictionaries, too."""
    env = make(num_players=2, observation_dtype=dtype)
    layout = env.unwrapped.batch.game.observation
    most, at = layout.most("points"), layout["points"].slice
    env.reset(seed=1, options={"scenario": {"points": {"player_0": most, "player_1": most}}})
    for agent in env.agent_iter():
        observation, _, termination, _, _ = env.last()
        for one in env.agents:
            seen = env.observe(one)
            assert env.observation_space(one).contains(seen)
            assert (seen["observation"][at][:2] == (127 if dtype == "int8" else layout.high)).all()
        env.step(None if termination else env.action_space(agent).sample(observation["action_mask"]))
    assert (env.unwrapped.game["points"] > most).any()


def test_points_that_no_game_reaches() -> None:
    """For example 30,000 points."""
    batch = Batch(evergreen_env.Config(2), 1, seed=0)
    batch.reset(0)
    told = evergreen_env.describe(batch.states[0])
    for points, fits in ((2_000, True), (2_001, False), (30_000, False)):
        told |= {"round": 6, "points": {"player_0": points, "player_1": 1}}
        told["scored"] = {"start": {"player_1": 1}, "light": {"player_0": points}}
        if fits:
            assert evergreen_env.scenario(told)["points"][0] == points
            continue
        with pytest.raises(ScenarioError, match=f"points.player_0: {points}; allowed are 0 to 2000"):
            evergreen_env.scenario(told)
    state = evergreen_env.scenario({"players": 2, "points": {"player_0": 2_000}})
    state["points"][0] += 1
    state["scored"][0] += np.arange(5) == 0
    with pytest.raises(StateError, match="points is 2001; allowed are 0 to 2000"):
        evergreen_env.describe(state)
    outside = first_outside(evergreen_env.GAME, np.array([state]), evergreen_env.GAME.load_tables(None))
    assert outside == (0, "2001 points in 'points' of the observation; allowed are 0 to 2000")
