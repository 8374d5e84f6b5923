"""OpenSpiel's own searches as agents: plain MCTS, and IS-MCTS."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tabletop_agents.search.tree_agent import check_budget
from tabletop_engine.checks import checked
from tabletop_engine.envs.openspiel import Playouts, Resampler, SpielGame, parameters_of, pyspiel, spiel_class
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.tables import own_tables
from tabletop_engine.positions.position import positions_of

MCTS, ISMCTS = "mcts", "ismcts"
EXPLORATION = 2.0
"""`uct_c`, as in OpenSpiel's own examples. It fits results from -1 to 1."""


class OpenSpielAgent:
    """Lets a search from OpenSpiel decide. The search sees only what this agent may know.

    "ismcts" draws everything hidden anew for every simulation. "mcts" does so once for each decision and then searches
    as if nothing were hidden. Both sample chance events. Positions are valued by random playouts.

    Arguments:
        kind: "mcts" or "ismcts". simulations: of each decision. name: `openspiel-KIND-N` if None.

    Raises ConfigError unless simulations is an int of at least 1.
    """

    @checked
    def __init__(self, kind: str, simulations: int, *, name: str | None = None) -> None:
        check_budget(kind, simulations, None)
        self.kind, self.simulations = kind, simulations
        self.name = name or f"openspiel-{kind}-{simulations}"

    def check(self, config: Config) -> None:
        """Raises ConfigError for games for one, and with IS-MCTS for games in which nothing is hidden."""
        if config.owners < 2:
            raise ConfigError(f"agent {self.name!r}: it plays to win, and {config.name} has nobody to win against")
        information = pyspiel.GameType.Information.IMPERFECT_INFORMATION
        if self.kind == ISMCTS and spiel_game(config).get_type().information != information:
            raise ConfigError(f"agent {self.name!r}: in {config.name} nothing is hidden; take openspiel-{MCTS}-N")

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions."""
        config = decisions.game.config
        return np.array(
            [
                self._choose(
                    spiel_game(config.of(state), own_tables(state, decisions.tables).tobytes()), state, generator
                )
                for state in decisions.sample_states(generator)
            ],
            np.int64,
        )

    def _choose(self, game: SpielGame, state: np.void, generator: np.random.Generator) -> int:
        from open_spiel.python.algorithms.ismcts import ISMCTSBot
        from open_spiel.python.algorithms.mcts import MCTSBot

        evaluator = Playouts(seed=generator)
        chance = np.random.RandomState(int(generator.integers(2**32)))
        if self.kind == MCTS:
            bot = MCTSBot(game, EXPLORATION, self.simulations, evaluator, random_state=chance)
        else:
            bot = ISMCTSBot(game, evaluator, EXPLORATION, self.simulations, random_state=chance)
            bot.set_resampler(Resampler(generator))
        return int(bot.step(game.state_of(game.positions.at(state, check=False))))


def spiel_game(config: Config, tables: bytes | None = None) -> SpielGame:
    """OpenSpiel's game of a configuration with these numbers on the pieces. Equal arguments give the same object."""
    return _spiel_game(config, tables)  # type: ignore[arg-type]  # configurations are frozen dataclasses


@lru_cache(maxsize=64)
def _spiel_game(config: Config, tables: bytes | None) -> SpielGame:
    return spiel_class(config.game)(parameters_of(config), positions_of(config, tables))
