"""A tree search guided by a network: the agents named `search-N:POLICY`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from tabletop_agents.networks import Network, flat_network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search import guided_tree, one_turn
from tabletop_agents.search.budget import check_budget, portions
from tabletop_agents.search.forward import LAYER, FlatNetwork
from tabletop_agents.search.guided_tree import (
    EDGE,
    MAX_PATH,
    NODE,
    SETTINGS,
    TREE,
    Layout,
    Scratch,
    Tree,
    hash_factors,
)
from tabletop_agents.search.lookahead import new_walk
from tabletop_agents.search.visits import assessed
from tabletop_engine.checks import checked, fit_fields
from tabletop_engine.compiling.compiled import templates_in
from tabletop_engine.compiling.once import Call, compile_once
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import CHANCE_TO_WIN, POINTS, Assessment, Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import write_places
from tabletop_engine.play.threads import in_threads

DEFAULT_SETTINGS: dict[str, float] = {"exploration": 1.2, "temperature": 3.0, "widening": 2.0, "margin": 0.02}
"""The default settings, which `guided_tree.SETTINGS` explains. They were found by playing games (docs/agents.md)."""
OF_SEVERAL = {"exploration": 0.5}
"""Defaults that differ in games of several players: hidden cards and the others make each value less certain."""

SIMULATIONS = 800
"""Simulations a decision of the agent named `search:POLICY`."""
_MOST_SIMULATIONS = 20_000
"""Simulations of one decision that a tree has space for. Later ones only update existing nodes."""
_NODES_A_SIMULATION, _EDGES_A_SIMULATION = 2, 20
_MOST_NETWORKS = 64
"""If a network reads numbers, each box has its own copy. So many copies are kept for later decisions."""
_NO_HEADS = "its network has no win and margin heads, which a search needs to value positions"


class GuidedSearch:
    """The compiled parts of the search for one game."""

    def __init__(self, game: Game) -> None:
        self.game = game
        rng_at = int(game.state.fields["rng"][1])  # type: ignore[index]
        self.layout = Layout(rng_at, hash_factors(game.observation.size), game.observation.divisors)
        self.__dict__.update(game.made([write_places, *templates_in(guided_tree, one_turn)]))
        what = f"the search with a network for {game.title}"
        compile_once(what, "half a minute", self.read_guided_root, self._calls)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def _calls(self) -> list[Call]:
        """Every kernel with arguments of its types."""
        game, values = self.game, np.zeros(self.game.num_actions)
        batch = Batch(game.config(players=game.players[0]), 1, 0)
        sizes = (game.observation.size, game.num_actions + 2 * game.players[-1])
        layers = np.array([(0, 0, *sizes, 0)], LAYER)
        parts, weights = np.array([(0, 0), (0, 1), (0, 1)], np.int64), np.zeros((sizes[0] + 1) * sizes[1], np.float32)
        tree = GuidedTree(self, FlatNetwork(layers, parts, weights), 4, closed=True)
        return [
            ("the tree", tree.grow, (batch.states.copy(), batch.tables, settings_record({}), 2)),
            ("its result", tree.read_root, (values, values.copy(), values.copy())),
        ]


@cache
def guided_search_for(game: Game) -> GuidedSearch:
    """The search of a game, compiled or taken from the cache."""
    return GuidedSearch(game)


class GuidedTree:
    """A tree of one thread, with space for so many simulations; `closed` as in `guided_tree.Tree`."""

    def __init__(self, search: GuidedSearch, network: FlatNetwork, simulations: int, closed: bool) -> None:
        self.search, self.network = search, network
        game, num_nodes = search.game, _NODES_A_SIMULATION * simulations + 64
        edges = np.zeros(_EDGES_A_SIMULATION * simulations + 512, EDGE)
        states = np.zeros(num_nodes if closed else 1, game.state)
        self.tree = Tree(np.zeros(1, TREE), np.zeros(num_nodes, NODE), edges, states, _bytes_of(states), closed)
        stack, seats = np.zeros(1, game.state), game.state["points"].shape[0]
        self.scratch = Scratch(
            stack=stack,
            raw_stack=_bytes_of(stack),
            path=np.zeros((3, MAX_PATH), np.int64),
            counts=np.zeros(game.observation.size, np.int16),
            inputs=np.zeros(game.observation.size, np.float32),
            outputs=np.zeros((len(network.layers), network.layers["outputs"].max()), np.float32),
            utilities=np.zeros(seats),
            wins=np.zeros(seats),
            walk=new_walk(game),
            shortfalls=np.zeros(game.num_actions, np.float32),
        )

    def clear(self) -> None:
        """Begin a new tree."""
        self.tree.size[0] = 0

    def grow(self, root: np.ndarray, tables: np.ndarray, settings: np.ndarray, simulations: int) -> None:
        """Add simulations from `root` (1,), whose random stream goes on."""
        search, given = self.search, (root, tables, settings)
        search.search_guided_tree(*given, search.layout, self.network, self.tree, self.scratch, simulations)

    def read_root(self, visits: np.ndarray, utilities: np.ndarray, wins: np.ndarray) -> None:
        """Write the results of each action, (A,) each, as `guided_tree.read_guided_root` does."""
        self.search.read_guided_root(self.tree.nodes, self.tree.edges, visits, utilities, wins)


@dataclass(eq=False)
class GuidedSearchAgent:
    """Searches a tree guided by a network (`tabletop_agents.search.guided_tree`) and plays the most visited action.

    Arguments:
        policy: the network, and the numbers of players it was trained for.
        simulations: for each decision.
        milliseconds: time for each decision, instead of simulations. What it plays then depends on the machine.
        settings: replaces some of `DEFAULT_SETTINGS`, and of `OF_SEVERAL` in games of several players.
        num_threads: threads that share the games of one call; None for as many as there are cores.

    Raises ConfigError unless exactly one of simulations (an int of at least 1) and milliseconds (above 0) is given, for
    unknown settings, and for a network without win and margin heads.
    """

    policy: PolicyAgent
    simulations: int | None = None
    milliseconds: float | None = None
    settings: Mapping[str, float] | None = None
    num_threads: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        fit_fields(self)
        check_budget("search", self.simulations, self.milliseconds)
        if self.policy.network.win_margin_heads is None:
            raise ConfigError(f"{self.policy.name}: {_NO_HEADS}")
        self._settings = settings_record(self.settings or {})
        self._settings_of_several = settings_record({**OF_SEVERAL, **(self.settings or {})})
        budget = f"{self.simulations}" if self.simulations is not None else f"{self.milliseconds:g}ms"
        self.name = self.name or f"search-{budget}:{self.policy.name.partition(':')[2] or self.policy.name}"
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

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions: the most visited ones, among equals those with the highest mean utility."""
        return _most_visited(decisions, *self.search(decisions, generator))

    def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N, A) float64: the shares of the simulations that began with each action."""
        visits, _ = self.search(decisions, generator)
        return np.asarray(visits / visits.sum(axis=1, keepdims=True))

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        """As `search.visits.assessed`, with win probabilities; the margins in the utilities are left out.

        In a game without opponents the values are points, unless the search gives points no weight.
        """
        visits, utilities, wins = self._search(decisions, generator, np.ones(len(decisions), np.bool_))
        actions = _most_visited(decisions, visits, utilities)
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
            tree = GuidedTree(search, networks[0], room, closed)
            for one in chosen[part]:
                tree.clear()
                tree.network = networks[which[one]]
                for simulations in portions(self.simulations, self.milliseconds):
                    tree.grow(roots[one : one + 1], tables, settings, simulations)
                tree.read_root(visits[one], utilities[one], wins[one])

        if len(chosen):
            in_threads(think, len(chosen), 1, self.num_threads)
        if not (visits[chosen].any(axis=1) & np.isfinite(utilities[chosen]).all(axis=1)).all():
            raise CheckpointError(f"{self.name}: the network's outputs are not finite, so it cannot guide a search")
        return visits, utilities, wins

    def _networks_for(self, decisions: Decisions) -> tuple[list[FlatNetwork], np.ndarray]:
        """Networks for compiled code, one for each box if numbers are read; and the index of each decision's, (N,)."""
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


def _most_visited(decisions: Decisions, visits: np.ndarray, utilities: np.ndarray) -> np.ndarray:
    legal = decisions.action_masks == 1
    best = utilities.max(axis=1, where=legal, initial=-np.inf)[:, None]
    ties = 1.0 / (2.0 + best - utilities)  # at most a half
    return np.asarray(np.where(legal, visits + ties, -1.0).argmax(axis=1), np.int64)


def settings_record(settings: Mapping[str, float]) -> np.ndarray:
    """(1,) SETTINGS with some in place of the defaults. Raises ConfigError for an unknown one and a wrong value."""
    unknown = sorted(set(settings) - set(DEFAULT_SETTINGS))
    if unknown:
        raise ConfigError(f"settings: unknown {', '.join(unknown)}; there are {', '.join(DEFAULT_SETTINGS)}")
    for name, value in settings.items():
        least = 0.1 if name in ("temperature", "widening") else 0.0
        if not least <= value < float("inf"):
            raise ConfigError(f"settings: {name}={value}: must be a finite number of at least {least:g}")
    return np.array([tuple({**DEFAULT_SETTINGS, **settings}.values())], SETTINGS)


def _bytes_of(records: np.ndarray) -> np.ndarray:
    return records.view(np.uint8).reshape(len(records), records.dtype.itemsize)
