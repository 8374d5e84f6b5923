"""Information-set Monte Carlo tree search: the strongest agent that needs no training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabletop_agents.search import rollout
from tabletop_agents.search.lookahead import LooksAhead, check_end, search_for, settings_for
from tabletop_agents.search.one_turn import new_walk
from tabletop_agents.search.tree import new_tree
from tabletop_agents.search.tree_agent import TreeAgent, assessed, best_of_visited, check_budget
from tabletop_engine.checks import checked
from tabletop_engine.play.agents import Assessment, Decisions
from tabletop_engine.play.threads import in_threads

DEFAULT_SETTINGS = rollout.DEFAULT_SETTINGS | {"exploration": 0.3, "prior_visits": 10.0, "max_nodes": 60}
"""The default settings, which `search.utility.SETTINGS` explains. They were found by playing games (docs/agents.md)."""

SIMULATIONS = 2000
"""Simulations a decision of the agent named `ismcts`."""

_NODES_A_SIMULATION, _EDGES_A_SIMULATION = 2, 40
"""Most simulations give edges to one node; few decisions have more legal actions than there is space for."""
_MOST_SIMULATIONS = 50_000
"""Simulations of one decision that the tree has space for. Later ones only update existing nodes."""


class IsmctsAgent(TreeAgent, LooksAhead):
    """Searches a tree of possible continuations. For every simulation, everything hidden from the agent is drawn anew.

    It plays the action with the most simulations, in every configuration of a game.
    `tabletop_agents.search.ismcts_tree` explains the method.

    Arguments:
        simulations: of each decision.
        milliseconds: time for each decision, instead of simulations. What it plays then depends on the machine.
        settings, weights, num_threads, name: as in `RolloutAgent`. Each tree is searched by one thread.

    Raises ConfigError unless one of simulations (an int of at least 1) and milliseconds (above 0) is given, and for
    unknown settings and weights.
    """

    least_visits = 1.0

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
        budget = check_budget("ismcts", simulations, milliseconds)
        self.simulations = simulations
        self.milliseconds = milliseconds
        self.num_threads = num_threads
        super().__init__(weights, settings)
        self.name = name or f"ismcts-{budget}"

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        """As `search.tree_agent.assessed`, with mean utilities in points (`LooksAhead.in_points`)."""
        visits, utilities, roots, settings = self._search(decisions, generator)
        actions = best_of_visited(decisions, visits, utilities, self.least_visits)
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
        settings = settings_for(game, DEFAULT_SETTINGS, self.settings)
        visits, utilities, wins = np.zeros((3, len(decisions), game.num_actions))
        roots, tables = decisions.sample_states(generator), decisions.tables
        room = min(self.simulations or _MOST_SIMULATIONS, _MOST_SIMULATIONS)
        num_nodes, num_edges = 2 + _NODES_A_SIMULATION * room, 1 + _EDGES_A_SIMULATION * room

        def think(part: slice) -> None:
            walk, tree = new_walk(game, self.weights), new_tree(game, num_nodes, num_edges, closed=False)
            for one in range(part.start, part.stop):
                tree.size[0] = 0
                for simulations in self.portions():
                    root = roots[one : one + 1]
                    check_end(game, search.search_tree(root, tables, settings, walk, tree, simulations))
                search.read_root(tree, visits[one], utilities[one], wins[one])

        in_threads(think, len(decisions), 1, self.num_threads)
        return visits, utilities, roots, settings
