"""Information-set Monte Carlo tree search as an agent."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from agents.base import Decisions
from agents.search.one_turn import MAX_DEPTH
from agents.search.position_value import weights_record
from agents.search.threads import in_threads
from agents.search.tree import NODE, NODES_A_SIMULATION, search_tree
from agents.search.utility import settings_record
from petrichor_env.errors import ConfigError
from petrichor_env.state import STATE

DEFAULT_SETTINGS = {
    "scale": 10.0,
    "scale_a_round": 0.0,
    "win": 0.0,
    "exploration": 0.3,
    "prior_visits": 2.0,
    "max_nodes": 60,
    "rounds": 1,
    "playout_nodes": 20,
}


class IsmctsAgent:
    def __init__(
        self,
        simulations: int | None = None,
        milliseconds: float | None = None,
        *,
        settings: Mapping[str, float] | None = None,
        weights: Mapping[str, float] | None = None,
        num_threads: int | None = None,
        name: str | None = None,
    ) -> None:
        if (simulations is None) == (milliseconds is None):
            raise ConfigError("ismcts: simulations or milliseconds, one of them")
        self.simulations = simulations
        self.milliseconds = milliseconds
        self.num_threads = num_threads
        self._settings = settings_record({**DEFAULT_SETTINGS, **(settings or {})})
        self._weights = weights_record(weights)
        self.name = name or (f"ismcts-{simulations}" if simulations is not None else f"ismcts-{milliseconds:g}ms")

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        actions = np.zeros(len(decisions), np.int64)
        roots = decisions.sample_states(generator)

        def choose(part: slice) -> None:
            tree = _Tree(decisions.tables, self._weights, self._settings, self.simulations or 20000)
            for game in range(part.start, part.stop):
                tree.start(roots[game : game + 1])
                if self.simulations is not None:
                    tree.add(self.simulations)
                else:
                    end = time.monotonic() + self.milliseconds / 1000
                    while time.monotonic() < end:
                        tree.add(32)
                children = tree.children()
                actions[game] = children["action"][np.lexsort((children["total"], children["visits"]))[-1]]

        in_threads(choose, len(decisions), 1, self.num_threads)
        return actions


class _Tree:
    def __init__(self, tables: np.ndarray, weights: np.ndarray, settings: np.ndarray, simulations: int) -> None:
        self.nodes = np.zeros(1 + NODES_A_SIMULATION * simulations, NODE)
        self.stack = np.zeros(MAX_DEPTH + 1, STATE)
        self.fixed = (tables, weights, settings)

    def start(self, root: np.ndarray) -> None:
        self.root = root
        self.nodes[0] = np.zeros(1, NODE)[0]
        self.used = 1

    def add(self, simulations: int) -> None:
        self.used = search_tree(self.root, *self.fixed, self.nodes, self.used, self.stack, simulations)

    def children(self) -> np.ndarray:
        indices = []
        child = int(self.nodes["child"][0])
        while child:
            indices.append(child)
            child = int(self.nodes["sibling"][child])
        return self.nodes[indices]
