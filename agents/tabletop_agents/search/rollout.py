"""Flat Monte Carlo: every action is tried in playouts, and the action with the best mean is played."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabletop_agents.search.lookahead import LooksAhead, check_end, search_for, settings_for
from tabletop_agents.search.one_turn import new_walk
from tabletop_engine.checks import checked, whole
from tabletop_engine.play.agents import Assessment, Decisions
from tabletop_engine.play.threads import in_threads

DEFAULT_SETTINGS: dict[str, float] = {
    "scale": 10.0,
    "scale_a_round": 0.0,
    "win": 0.0,
    "exploration": 0.0,
    "below": 1.0,
    "prior_visits": 0.0,
    "max_nodes": 0,
    "rounds": 1,
    "playout_nodes": 20,
}
"""The default settings, which `search.utility.SETTINGS` explains.

Only the tree search uses exploration, below, prior_visits and max_nodes.
"""

PLAYOUTS = 16
"""Playouts of each legal action of the agent named `rollout`."""


class RolloutAgent(LooksAhead):
    """Plays the action with the best mean result, if all players go on with the one-turn walk (as `greedy` would).

    Everything hidden from the agent is drawn anew for every playout, and every action gets the same draws. It plays
    every configuration.

    Arguments:
        playouts: of each legal action.
        settings: replaces some of `DEFAULT_SETTINGS`.
        weights: replaces some of the game's (`Game.weights`).
        num_threads: threads that share the games of one call; None for as many as there are cores.
        name: `rollout-N` if None.

    Raises ConfigError for playouts that are no int of at least 1, unknown settings and weights.
    """

    @checked
    def __init__(
        self,
        playouts: int = PLAYOUTS,
        *,
        settings: Mapping[str, float] | None = None,
        weights: Mapping[str, float] | None = None,
        num_threads: int | None = None,
        name: str | None = None,
    ) -> None:
        self.playouts = whole("playouts", playouts, 1)
        self.num_threads = num_threads
        super().__init__(weights, settings)
        self.name = name or f"rollout-{self.playouts}"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64 legal actions."""
        return np.asarray(self.utilities(decisions, generator).argmax(axis=1), np.int64)

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        """Values are means of the playouts, equally many for each action, in points (`LooksAhead.in_points`)."""
        utilities, roots, settings = self._play_out(decisions, generator)
        legal = np.where(decisions.action_masks == 1, utilities, np.nan)
        values, estimated = self.in_points(decisions, roots, legal, settings)
        value = np.nanmax(values, axis=1)
        return Assessment(actions=utilities.argmax(axis=1), values=values, value=value, estimated=estimated)

    def utilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N, A) float64: each legal action's mean utility, between 0 and 1; -1 for the others."""
        return self._play_out(decisions, generator)[0]

    def _play_out(
        self, decisions: Decisions, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`utilities`, the records (N,) that they belong to, and the settings (1,)."""
        search = search_for(decisions.game)
        settings = settings_for(decisions.game, DEFAULT_SETTINGS, self.settings)
        roots = decisions.sample_states(generator)
        chances = generator.integers(0, 2**64, (len(decisions), self.playouts), dtype=np.uint64)
        values = np.where(decisions.action_masks == 1, 0.0, -1.0)

        def play(part: slice) -> None:
            walk = new_walk(decisions.game, self.weights)
            for game in range(part.start, part.stop):
                fixed = (roots[game : game + 1], decisions.tables, settings, walk)
                check_end(decisions.game, search.mean_utilities(*fixed, chances[game], values[game]))

        in_threads(play, len(decisions), 1, self.num_threads)
        return values, roots, settings
