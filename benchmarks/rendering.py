"""Pictures of the board as environments give them, on one core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium

from benchmarks.games import Measured
from benchmarks.measure import Result, rates

TARGET = 30.0


def rendering(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Milliseconds of a random legal step and its picture, drawn and rasterised."""
    contenders = {"solo": _solo(game)}
    contenders |= {name: _aec(game, **arguments) for name, arguments in game.pictures.items()}
    results = []
    for name, measured in rates(contenders, repeats, seconds).items():
        runs = [1000 / rate for rate in measured]
        what = f"rgb_array 640 px, {name}"
        results.append(Result("rendering", what, "ms", runs, TARGET, f"at most {TARGET:.0f}", at_most=True))
    return results


def _solo(game: Measured) -> Callable[[], int]:
    env: gymnasium.Env[Any, Any] = gymnasium.make(game.solo, render_mode="rgb_array")
    env.action_space.seed(0)
    _, info = env.reset(seed=0)
    masks = [info["action_mask"]]

    def run() -> int:
        _, _, terminated, _, info = env.step(env.action_space.sample(masks[0]))
        env.render()
        masks[0] = env.reset()[1]["action_mask"] if terminated else info["action_mask"]
        return 1

    return run


def _aec(game: Measured, **arguments: Any) -> Callable[[], int]:
    env: Any = game.aec(render_mode="rgb_array", **arguments)
    env.reset(seed=0)
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)

    def run() -> int:
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.reset()
            observation = env.last()[0]
        env.step(env.action_space(env.agent_selection).sample(observation["action_mask"]))
        env.render()
        return 1

    return run
