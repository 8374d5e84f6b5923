"""A tree search guided by a network: the agents named `search-N:POLICY` and `exploit-N:POLICY`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from tabletop_agents.networks import Network, flat_network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.forward import LAYER, NO_BOARD, NONE, FlatNetwork
from tabletop_agents.search.guided_tree import SETTINGS, Guide, new_guide
from tabletop_agents.search.lookahead import Search, kernels_for
from tabletop_agents.search.tree import Tree, new_tree
from tabletop_agents.search.tree_agent import TreeAgent, assessed, best_of_visited, check_budget
from tabletop_engine.checks import checked, fit_fields
from tabletop_engine.compiling.once import Call, compile_once
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import CHANCE_TO_WIN, POINTS, Assessment, Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.threads import in_threads

DEFAULT_SETTINGS: dict[str, float] = {"exploration": 1.2, "temperature": 3.0, "widening": 2.0, "margin": 0.02}
"""The default settings, which `guided_tree.SETTINGS` explains. They were found by playing games (docs/agents.md)."""
OF_SEVERAL = {"temperature": 2.0}
"""Defaults that differ in games of several players: with flatter priors the others would play too badly in the tree."""

SIMULATIONS = 800
"""Simulations a decision of the agent named `search:POLICY`."""
_MOST_SIMULATIONS = 20_000
"""Simulations of one decision that a tree has space for. Later ones only update existing nodes."""
_NODES_A_SIMULATION, _EDGES_A_SIMULATION = 2, 20
_MOST_NETWORKS = 64
"""If a network reads numbers, each edition has its own copy. So many copies are kept for later decisions."""
_NO_HEADS = "its network has no win and margin heads, which a search needs to value positions"


@cache
def guided_search_for(game: Game) -> Search:
    """The kernels of a game, with those of the search with a network compiled or taken from the cache."""
    search = kernels_for(game)
    what = f"the search with a network for {game.title}"
    compile_once(what, "half a minute", search.search_guided_tree, lambda: calls(game, search))
    return search


def calls(game: Game, search: Search) -> list[Call]:
    """The kernels that `guided_search_for` compiles, with arguments of their types."""
    batch, values = Batch(game.config(players=game.players[0]), 1, 0), np.zeros(game.num_actions)
    sizes = (game.observation.size, game.num_actions + 2 * game.players[-1])
    layers = np.array([(0, 0, *sizes, NONE, *NO_BOARD)], LAYER)
    parts, weights = np.array([(0, 0), (0, 1), (0, 1)], np.int64), np.zeros((sizes[0] + 1) * sizes[1], np.float32)
    network = FlatNetwork(layers, parts, weights)
    tree, guide = new_guided_tree(game, network, 4, closed=True)
    grown = (batch.states.copy(), batch.tables, settings_record({}), network, tree, guide, 2)
    return [
        ("a tree's result", search.read_root, (tree, values, values.copy(), values.copy())),
        ("the tree", search.search_guided_tree, grown),
    ]


def new_guided_tree(game: Game, network: FlatNetwork, simulations: int, closed: bool) -> tuple[Tree, Guide]:
    """A new tree with space for so many simulations, and what one thread needs to grow it."""
    num_nodes, num_edges = 64 + _NODES_A_SIMULATION * simulations, 512 + _EDGES_A_SIMULATION * simulations
    return new_tree(game, num_nodes, num_edges, closed), new_guide(game, network, num_nodes if closed else 0)


@dataclass(eq=False)
class GuidedSearchAgent(TreeAgent):
    """Searches a tree guided by a network (`tabletop_agents.search.guided_tree`).

    It plays the action with the highest mean utility of those with at least half the visits of the most visited one.

    Arguments:
        policy: the network, and the numbers of players it was trained for.
        simulations: for each decision.
        milliseconds: time for each decision, instead of simulations. What it plays then depends on the machine.
        settings: replaces some of `DEFAULT_SETTINGS`, and of `OF_SEVERAL` in games of several players.
        num_threads: threads that share the games of one call; None for as many as there are cores.
        exploits: whether all other players are taken to play the policy's likeliest actions. By default each is taken
            to play for itself.

    Raises ConfigError unless exactly one of simulations (an int of at least 1) and milliseconds (above 0) is given, for
    unknown settings, and for a network without win and margin heads.
    """

    least_visits: ClassVar[float] = 0.5

    policy: PolicyAgent
    simulations: int | None = None
    milliseconds: float | None = None
    settings: Mapping[str, float] | None = None
    num_threads: int | None = None
    exploits: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        fit_fields(self)
        budget = check_budget("search", self.simulations, self.milliseconds)
        if self.policy.network.win_margin_heads is None:
            raise ConfigError(f"{self.policy.name}: {_NO_HEADS}")
        self._settings = settings_record(self.settings or {})
        self._settings_of_several = settings_record({**OF_SEVERAL, **(self.settings or {})}, self.exploits)
        kind = "exploit" if self.exploits else "search"
        self.name = self.name or f"{kind}-{budget}:{self.policy.name.partition(':')[2] or self.policy.name}"
        self._networks: dict[bytes, FlatNetwork] = {}

    @classmethod
    @checked
    def load(cls, path: str | Path, game: Game, **options: Any) -> Self:
        """Create one from a checkpoint. Raises CheckpointError if it is missing or damaged, or has no such heads."""
        policy = PolicyAgent.load(path, game, name=str(path))
        if policy.network.win_margin_heads is None:
            raise CheckpointError(f"{path}: {_NO_HEADS}; `{game.command} distil outcomes {path}` trains them")
        return cls(policy, **options)

    @property
    def network(self) -> Network:
        """The network that guides the search."""
        return self.policy.network

    def check(self, config: Config) -> None:
        """Raises ConfigError for another number of players than the network was trained for."""
        self.policy.check(config)

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        """As `search.tree_agent.assessed`, with win probabilities; the margins in the utilities are left out.

        In a game without opponents the values are points, unless the search gives points no weight.
        """
        visits, utilities, wins = self._search(decisions, generator, np.ones(len(decisions), np.bool_))
        actions = best_of_visited(decisions, visits, utilities, self.least_visits)
        points_weight = self._settings["margin"][0]
        if (decisions.owners == 1).all() and points_weight > 0:
            return assessed(actions, visits, (utilities - wins) / points_weight, POINTS)
        return assessed(actions, visits, wins, CHANCE_TO_WIN)

    def search(self, decisions: Decisions, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Simulations that began with each action, and their mean utility: both (N, A) float64.

        The utility is the win probability plus `margin` for each point of margin; it is 0 for actions without a
        simulation. A single legal action is not searched; it counts as one simulation.

        Raises CheckpointError where the network gives numbers that are not finite.
        """
        forced = decisions.action_masks.sum(axis=1) == 1
        visits, utilities, _ = self._search(decisions, generator, ~forced)
        visits[forced] = decisions.action_masks[forced]
        return visits, utilities

    def _search(
        self, decisions: Decisions, generator: np.random.Generator, searched: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Visits, utilities and the utilities' part from wins, (N, A) each, for the decisions `searched`, (N,) bool.

        Raises as `search` does.
        """
        game, search = decisions.game, guided_search_for(decisions.game)
        visits, utilities, wins = np.zeros((3, len(decisions), game.num_actions))
        roots, tables = decisions.sample_states(generator), decisions.tables
        closed = bool((roots["players"] == 1).all())
        settings = self._settings if closed else self._settings_of_several
        room = min(self.simulations or _MOST_SIMULATIONS, _MOST_SIMULATIONS)
        chosen = np.flatnonzero(searched)
        networks, which = self._networks_for(decisions)

        def think(part: slice) -> None:
            tree, guide = new_guided_tree(game, networks[0], room, closed)
            for one in chosen[part]:
                tree.size[0] = 0
                root, network = roots[one : one + 1], networks[which[one]]
                for simulations in self.portions():
                    search.search_guided_tree(root, tables, settings, network, tree, guide, simulations)
                search.read_root(tree, visits[one], utilities[one], wins[one])

        if len(chosen):
            in_threads(think, len(chosen), 1, self.num_threads)
        if not (visits[chosen].any(axis=1) & np.isfinite(utilities[chosen]).all(axis=1)).all():
            raise CheckpointError(f"{self.name}: the network's outputs are not finite, so it cannot guide a search")
        return visits, utilities, wins

    def _networks_for(self, decisions: Decisions) -> tuple[list[FlatNetwork], np.ndarray]:
        """Networks for compiled code, one an edition if numbers are read; and the index of each decision's, (N,)."""
        if self.network.inputs == decisions.game.observation.size:
            read, which = np.zeros((1, 0), np.float32), np.zeros(len(decisions), np.int64)
        else:
            read, which = np.unique(decisions.numbers, axis=0, return_inverse=True)
        if len(self._networks) + len(read) > _MOST_NETWORKS:
            self._networks.clear()
        for row in read:
            if row.tobytes() not in self._networks:
                self._networks[row.tobytes()] = flat_network(self.network, row if row.size else None)
        return [self._networks[row.tobytes()] for row in read], which


def settings_record(settings: Mapping[str, float], exploits: bool = False) -> np.ndarray:
    """(1,) SETTINGS with some in place of the defaults. Raises ConfigError for an unknown one and a wrong value."""
    unknown = sorted(set(settings) - set(DEFAULT_SETTINGS))
    if unknown:
        raise ConfigError(f"settings: unknown {', '.join(unknown)}; there are {', '.join(DEFAULT_SETTINGS)}")
    for name, value in settings.items():
        least = 0.1 if name in ("temperature", "widening") else 0.0
        if not least <= value < float("inf"):
            raise ConfigError(f"settings: {name}={value}: must be a finite number of at least {least:g}")
    return np.array([(*{**DEFAULT_SETTINGS, **settings}.values(), exploits)], SETTINGS)
