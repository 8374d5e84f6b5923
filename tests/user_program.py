"""A user's program: every interface once, with the types that a type checker has to know.

`make release-check` runs it with the wheel alone, and checks it there with mypy and pyright. It prints what it played.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, assert_type

import gymnasium
import numpy as np
import pettingzoo  # type: ignore[import-untyped, unused-ignore] # it has no py.typed
from numpy.typing import NDArray

import evergreen_env
import petrichor_env
from petrichor_env import Batch, Config, describe, petrichor_v0, scenario
from petrichor_env.envs import SoloEnv, SoloVectorEnv, VersusEnv
from tabletop_agents import make_agent
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_engine.play.kernels import sample_actions
from tabletop_engine.replays.recorder import Recorder
from tabletop_engine.replays.replay import Replay


class FirstAgent:
    """A user's own agent: the first legal action."""

    name = "first"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> NDArray[np.int64]:
        return np.asarray(decisions.action_masks.argmax(axis=1), np.int64)


def play_alone() -> float:
    env = SoloEnv(variants=("double_card",), reward="points", render_mode="ansi")
    observation, info = env.reset(seed=1)
    assert_type(observation, NDArray[Any])
    assert_type(info, dict[str, Any])
    total, terminated = 0.0, False
    while not terminated:
        action = int(np.flatnonzero(env.action_masks())[0])
        _, reward, terminated, _, _ = env.step(action)
        assert_type(reward, float)
        assert_type(terminated, bool)
        total += reward
    assert isinstance(env.render(), str)
    return total


def play_many_alone() -> int:
    envs = SoloVectorEnv(64, reward="margin")
    observations, info = envs.reset(seed=0)
    assert_type(observations, NDArray[Any])
    generator = np.random.default_rng(0)
    ended = 0
    for _ in range(100):
        actions = sample_actions(info["action_mask"], generator)
        _, rewards, terminations, _, info = envs.step(actions)
        assert_type(rewards, NDArray[np.float64])
        assert_type(terminations, NDArray[np.bool_])
        ended += int(terminations.sum())
    assert_type(envs.action_masks(), NDArray[np.bool_])
    return ended


def play_all_seats() -> dict[str, float]:
    env = petrichor_v0.env(num_players=3, modules=("cactus", "powers"))
    env.reset(seed=0)
    rewards = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        rewards[agent] += reward
        assert observation is not None
        env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    return rewards


def play_against_agents() -> list[Replay]:
    opponent: Agent = make_agent("greedy", petrichor_env.GAME)
    own: Agent = FirstAgent()
    env = VersusEnv(players=3, opponents=(opponent, own), seat=0)
    with Recorder(env) as recorder:
        env.reset(seed=2)
        terminated = False
        while not terminated:
            _, _, terminated, _, _ = env.step(np.int64(np.flatnonzero(env.action_masks())[0]))
    return recorder.finished


def play_batch() -> NDArray[np.float64]:
    batch = Batch(Config(players=2), num_games=16, seed=0, reward="points", observation_dtype="int8")
    totals = np.zeros((16, 2))
    for _ in range(50):
        assert_type(batch.action_masks, NDArray[np.int8])
        batch.step(batch.random_actions())
        totals += batch.rewards
    saved = batch.save()
    assert_type(saved, bytes)
    batch.load(saved)
    assert_type(batch.copy(), Batch)
    return totals


def set_up() -> str:
    tile = {"crop": "coffee", "cloud": {"kind": "light", "drops": {"player_0": 3}}}
    state = scenario({"players": 2, "field": {"b1": tile}, "hands": {"player_0": {"sun": 1}}})
    description = describe(state)
    assert_type(description, dict[str, Any])
    return str(description["field"]["b1"]["crop"])


def refuse() -> str:
    try:
        Config(players=9)
    except ConfigError as error:
        return str(error)
    raise AssertionError("nine players are too many")


def main() -> None:
    print("alone:", play_alone(), "points;", play_many_alone(), "games ended in a batch")
    print("all seats:", play_all_seats())
    with tempfile.TemporaryDirectory() as folder:
        (replay,) = play_against_agents()
        replay.save(path := Path(folder, "game.json"))
        print("against agents:", Replay.load(path, petrichor_env.GAME).points)
    print("batch:", play_batch().mean(), "points; set up:", set_up(), "; refused:", refuse())
    made = gymnasium.make("evergreen_env:Evergreen/Solo-v0", render_mode="ansi")
    made.reset(seed=0)
    registered = pettingzoo.make("aec", evergreen_env.AEC_ID, num_players=2)
    registered.reset(seed=0)
    print("Evergreen:", len(str(made.render())), "characters;", registered.agent_selection, "begins")


if __name__ == "__main__":
    main()
