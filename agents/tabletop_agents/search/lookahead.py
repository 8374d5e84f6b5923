"""What agents that look ahead share: their compiled searches of a game, and the weights of its evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from tabletop_agents.search import guided_tree, ismcts_tree, one_turn, playouts, tree, utility
from tabletop_agents.search.one_turn import new_walk, weights_of
from tabletop_agents.search.utility import SETTINGS, points_expected
from tabletop_engine.compiling.compiled import templates_in
from tabletop_engine.compiling.once import Call, compile_once
from tabletop_engine.errors import ConfigError, StateError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import POINTS, POINTS_AHEAD, RESULT, Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import write_places


class Search:
    """The kernels of this folder for one game, by their names. Numba compiles each when it is first called."""

    def __init__(self, game: Game) -> None:
        modules = (one_turn, playouts, utility, tree, ismcts_tree, guided_tree)
        self.__dict__.update(game.made([write_places, *templates_in(*modules)]))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


kernels_for = cache(Search)
"""The kernels of a game. `search_for` and `guided_search_for` compile what their agents need of them."""


@cache
def search_for(game: Game) -> Search:
    """The kernels of a game, with those of agents that need no network compiled or taken from the cache."""
    search = kernels_for(game)
    what = f"the agents' searches for {game.title}"
    compile_once(what, "up to a minute", search.search_tree, lambda: calls(game, search))
    return search


def calls(game: Game, search: Search) -> list[Call]:
    """The kernels that `search_for` compiles, with arguments of their types.

    They play no playout: a game may be long, or have no end.
    """
    batch = Batch(game.config(players=game.players[0]), num_games=1, seed=0)
    root, tables, walk = batch.states.copy(), batch.tables, new_walk(game)
    settings, new = np.ones(1, SETTINGS), tree.new_tree(game, 4, 40, closed=False)
    actions, values = np.zeros(1, np.int64), np.zeros(game.num_actions)
    chances = np.ones(0, np.uint64)
    return [
        ("one turn", search.choose_best_actions, (root, tables, walk, np.zeros(1), 20, actions)),
        ("its values", search.values_of_actions, (root, tables, walk, 20, values[None])),
        ("shortfalls", search.write_shortfalls, (root, tables, walk, 20, values[None].astype(np.float32))),
        ("par", search.pars, (root, tables, walk, np.zeros(1))),
        ("playouts", search.mean_utilities, (root, tables, settings, walk, chances, values)),
        ("a tree's result", search.read_root, (new, values, values.copy(), values.copy())),
        ("tree search", search.search_tree, (root, tables, settings, walk, new, 0)),
    ]


def check_end(game: Game, is_there: int) -> None:
    """Raises StateError if a playout came to no end."""
    if not is_there:
        raise StateError(
            f"{game.title}: a playout of a search has no end after {playouts.MOST_DECISIONS:,} decisions. A game needs "
            f"an end that no play can put off: let the rules count turns or rounds, and end it after the last one"
        )


def settings_for(game: Game, defaults: Mapping[str, float], replaced: Mapping[str, float]) -> np.ndarray:
    """(1,) SETTINGS: an agent's defaults, overridden by the game's own, and these by the given ones."""
    return utility.settings_record({**defaults, **game.search_settings, **replaced})


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
        weights_of(config.game, self.weights)
        search_for(config.game)  # compiles, with a line of progress, before the first game begins
