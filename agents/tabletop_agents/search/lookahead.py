"""What agents that look ahead share: their compiled searches of a game, and the weights of its evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from tabletop_agents.search import one_turn, playouts, tree, utility
from tabletop_agents.search.one_turn import MAX_DEPTH, Walk
from tabletop_agents.search.tree import NODE
from tabletop_agents.search.utility import SETTINGS, points_expected
from tabletop_engine.compiling.compiled import templates_in
from tabletop_engine.compiling.once import Call, compile_once
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import POINTS, POINTS_AHEAD, RESULT, Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import write_places


class Search:
    """What agents that look ahead need for one game: the kernels of this folder."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.__dict__.update(game.made([write_places, *templates_in(one_turn, playouts, tree, utility)]))
        what = f"the agents' searches for {game.title}"
        compile_once(what, "up to a minute", self.read_root, self._calls)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def weights(self, replaced: Mapping[str, float]) -> np.ndarray:
        """`weights_of` this game."""
        return weights_of(self.game, replaced)

    def settings(self, defaults: Mapping[str, float], replaced: Mapping[str, float]) -> np.ndarray:
        """(1,) SETTINGS: an agent's defaults, overridden by the game's own, and these by the given ones."""
        return utility.settings_record({**defaults, **self.game.search_settings, **replaced})

    def _calls(self) -> list[Call]:
        """Every kernel with arguments of its types."""
        batch = Batch(self.game.config(players=self.game.players[0]), num_games=1, seed=0)
        root, tables, walk = batch.states.copy(), batch.tables, new_walk(self.game)
        settings, nodes = np.ones(1, SETTINGS), np.zeros(40, NODE)
        actions, values = np.zeros(1, np.int64), np.zeros(self.game.num_actions)
        chances = np.ones(1, np.uint64)
        return [
            ("one turn", self.choose_best_actions, (root, tables, walk, np.zeros(1), 20, actions)),
            ("its values", self.values_of_actions, (root, tables, walk, 20, values[None])),
            ("shortfalls", self.write_shortfalls, (root, tables, walk, 20, values[None].astype(np.float32))),
            ("par", self.pars, (root, tables, walk, np.zeros(1))),
            ("playouts", self.mean_utilities, (root, tables, settings, walk, chances, values)),
            ("tree search", self.search_tree, (root, tables, settings, walk, nodes, 1, 1)),
            ("its result", self.read_root, (nodes, values, values.copy())),
        ]


def weights_of(game: Game, replaced: Mapping[str, float]) -> np.ndarray:
    """(1,) record: the weights of the game's evaluation, some replaced. Raises ConfigError for an unknown name."""
    known = game.weights
    unknown = sorted(set(replaced) - set(known))
    if unknown:
        raise ConfigError(f"weights: unknown {', '.join(unknown)}; there are {', '.join(known) or 'none'}")
    return np.array([tuple({**known, **replaced}.values()) or (0.0,)], _weights_dtype(game))


@cache
def _weights_dtype(game: Game) -> np.dtype:
    """One dtype a game: Numba needs some microseconds for each new one, and keeps it for ever."""
    return np.dtype([(name, np.float64) for name in game.weights] or [("none", np.float64)])


def new_walk(game: Game, replaced: Mapping[str, float] | None = None) -> Walk:
    """A walk by the weights of the game's evaluation, some replaced. Raises ConfigError as `weights_of`."""
    weights, rows = weights_of(game, replaced or {}), MAX_DEPTH + 1
    return Walk(weights, game.new_memo(), np.zeros(rows, game.state), np.zeros((3, rows), np.int64))


@cache
def search_for(game: Game) -> Search:
    """The searches of a game, compiled or taken from the cache."""
    return Search(game)


class LooksAhead:
    """The common part of all agents that value positions by the game's own evaluation.

    Arguments:
        weights: replaces some of the game's (`Game.weights`).
        settings: replaces some of the agent's settings (`tabletop_agents.search.utility.SETTINGS`).
    """

    def __init__(self, weights: Mapping[str, float] | None, settings: Mapping[str, float] | None = None) -> None:
        self.weights = dict(weights or {})
        self.settings = dict(settings or {})
        unknown = sorted(set(self.settings) - set(SETTINGS.names or ()))
        if unknown:
            raise ConfigError(f"settings: unknown {', '.join(unknown)}; there are {', '.join(SETTINGS.names or ())}")

    def in_points(
        self, decisions: Decisions, roots: np.ndarray, utilities: np.ndarray, settings: np.ndarray
    ) -> tuple[np.ndarray, str]:
        """Utilities (N, A) at these roots as numbers for people, and what the numbers are in words. NaN stays NaN.

        The numbers are the points that the actor is ahead of the mean of the others, or its own points where there are
        no others. Where the settings mix wins into the utilities, the numbers are the utilities themselves.
        """
        search, pars = search_for(decisions.game), np.zeros(len(roots))
        margins = points_expected(utilities, settings)
        if margins is None:
            return utilities, RESULT
        search.pars(roots, decisions.tables, new_walk(decisions.game, self.weights), pars)
        return margins + pars[:, None], self.words_of_points(decisions)

    @staticmethod
    def words_of_points(decisions: Decisions) -> str:
        """What the values of the game's evaluation are, in words."""
        return POINTS if (decisions.owners == 1).all() else POINTS_AHEAD

    def check(self, config: Config) -> None:
        """Raises ConfigError for weights that the game doesn't have."""
        search_for(config.game).weights(self.weights)
