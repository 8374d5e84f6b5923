"""ISMCTS simulations on one core, on positions of games that the greedy agent plays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.games import Measured
from benchmarks.measure import Result, compare
from tabletop_agents import Decisions, GreedyAgent, IsmctsAgent
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import Batch

SIMULATIONS = 200
_EVERY = 6
_POSITIONS = 16


def search(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Simulations a second on one core, by configuration."""
    results = []
    for name, config in game.search.items():
        target = game.search_target if name in ("solo", "2p") else None
        results += compare("search", {name: _think(config)}, "simulations/s", repeats, seconds, target=target)
    return results


def _think(config: Config) -> Callable[[], int]:
    agent = IsmctsAgent(SIMULATIONS, num_threads=1)
    decisions = [_positions(config, steps) for steps in range(0, 60, _EVERY)]
    generator = np.random.default_rng(0)
    turn = 0

    def run() -> int:
        nonlocal turn
        asked = decisions[turn % len(decisions)]
        turn += 1
        agent.act(asked, generator)
        return SIMULATIONS * len(asked)

    return run


def _positions(config: Config, steps: int) -> Decisions:
    """The decisions of games after so many steps, without those that have ended."""
    batch = Batch(config, _POSITIONS, seed=0, num_threads=1, autoreset="same_step")
    greedy, generator = GreedyAgent(num_threads=1), np.random.default_rng(0)
    for _ in range(steps):
        batch.step(greedy.act(Decisions.of(batch), generator))
    return Decisions.of(batch.copy(), np.flatnonzero(batch.actors != NOBODY))
