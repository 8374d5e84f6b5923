"""Simulations of searches on one core, on positions of games that the greedy agent plays.

ISMCTS, and for games that a shipped network knows the search that it guides (`search-200:solo`, `search-200:versus`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.games import Measured
from benchmarks.measure import Result, compare
from tabletop_agents import Decisions, GreedyAgent, IsmctsAgent
from tabletop_agents.names import checkpoint_path, shipped_policies
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.agents import Agent
from tabletop_engine.play.batch import Batch

SIMULATIONS = 200
_EVERY = 6
_POSITIONS = 16


def search(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Simulations a second on one core, by configuration."""
    results = []
    for name, config in game.search.items():
        target = game.search_target if name in ("solo", "2p") else None
        ismcts = IsmctsAgent(SIMULATIONS, num_threads=1)
        results += compare("search", {name: _think(config, ismcts)}, "simulations/s", repeats, seconds, target=target)
    for name, config in game.search.items():
        network = "solo" if config.players == 1 else "versus"
        if network in shipped_policies(config.game):
            path = checkpoint_path(network, config.game)
            guided = GuidedSearchAgent.load(path, config.game, simulations=SIMULATIONS, num_threads=1)
            what = f"{name}, guided by policy:{network}"
            results += compare("search", {what: _think(config, guided)}, "simulations/s", repeats, seconds)
    return results


def _think(config: Config, agent: Agent) -> Callable[[], int]:
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
