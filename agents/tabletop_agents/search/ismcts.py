"""Information-set Monte Carlo tree search: the strongest agent that needs no training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabletop_agents.search import rollout
from tabletop_agents.search.budget import check_budget, portions
from tabletop_agents.search.lookahead import LooksAhead, new_walk, search_for
from tabletop_agents.search.tree import NODE
from tabletop_agents.search.visits import assessed
from tabletop_engine.checks import checked
from tabletop_engine.play.agents import Assessment, Decisions
from tabletop_engine.play.threads import in_threads

DEFAULT_SETTINGS = rollout.DEFAULT_SETTINGS | {"exploration": 0.3, "prior_visits": 10.0, "max_nodes": 60}
"""The default settings, which `search.utility.SETTINGS` explains. They were found by playing games (docs/agents.md)."""

SIMULATIONS = 2000
"""Simulations a decision of the agent named `ismcts`."""

NODES_A_SIMULATION = 40
"""Space for the children of one expanded node; few decisions have more legal actions."""
_MOST_SIMULATIONS = 50_000
"""Simulations of one decision that the tree has space for. Later ones only update existing nodes."""


class IsmctsAgent(LooksAhead):
    """Searches a tree of possible continuations. For every simulation, everything hidden from the agent is drawn anew.

    It plays the action with the most simulations, in every configuration of a game. `tabletop_agents.search.tree`
    explains the method.

    Arguments:
        simulations: of each decision.
        milliseconds: time for each decision, instead of simulations. What it plays then depends on the machine.
        settings, weights, num_threads, name: as in `RolloutAgent`. Each tree is searched by one thread.

    Raises ConfigError unless one of simulations (an int of at least 1) and milliseconds (above 0) is given, and for
    unknown settings and weights.
    """

    @checked
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
        check_budget("ismcts", simulations, milliseconds)
        self.simulations = simulations
        self.milliseconds = milliseconds
        self.num_threads = num_threads
        super().__init__(weights, settings)
        self.name = name or (f"ismcts-{simulations}" if simulations is not None else f"ismcts-{milliseconds:g}ms")

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions: the most visited ones, among equals those with the highest mean utility."""
        visits, utilities = self.search(decisions, generator)
        return _most_visited(visits, utilities)

    def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N, A) float64: the shares of the simulations that began with each action."""
        visits, _ = self.search(decisions, generator)
        return np.asarray(visits / visits.sum(axis=1, keepdims=True))

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        """As `search.visits.assessed`, with mean utilities in points (`LooksAhead.in_points`)."""
        visits, utilities, roots, settings = self._search(decisions, generator)
        actions = _most_visited(visits, utilities)
        values, estimated = self.in_points(decisions, roots, utilities, settings)
        return assessed(actions, visits, values, estimated)

    def search(self, decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Simulations that began with each action, and their mean utility: both (N, A) float64.

        The utility is between 0 and 1, 0 for actions without a simulation.
        """
        visits, utilities, _, _ = self._search(decisions, generator)
        return visits, utilities

    def _search(
        self, decisions: Decisions, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """`search`, the records (N,) that it began at, and the settings (1,)."""
        game, search = decisions.game, search_for(decisions.game)
        settings = search.settings(DEFAULT_SETTINGS, self.settings)
        visits, utilities = np.zeros((2, len(decisions), game.num_actions))
        roots, tables = decisions.sample_states(generator), decisions.tables
        room = 1 + NODES_A_SIMULATION * min(self.simulations or _MOST_SIMULATIONS, _MOST_SIMULATIONS)

        def think(part: slice) -> None:
            walk, nodes = new_walk(game, self.weights), np.zeros(room, NODE)
            for one in range(part.start, part.stop):
                root = roots[one : one + 1]
                nodes[:1] = np.zeros(1, NODE)
                used = 1
                for simulations in portions(self.simulations, self.milliseconds):
                    used = search.search_tree(root, tables, settings, walk, nodes, used, simulations)
                search.read_root(nodes, visits[one], utilities[one])

        in_threads(think, len(decisions), 1, self.num_threads)
        return visits, utilities, roots, settings


def _most_visited(visits: np.ndarray, utilities: np.ndarray) -> np.ndarray:
    return np.asarray((visits + utilities).argmax(axis=1), np.int64)
