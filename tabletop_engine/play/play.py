"""The loop that plays games: agents decide for their seats, and listeners hear what happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tabletop_engine.game import NOBODY
from tabletop_engine.play.agents import Agent, Decisions, ask
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.past import remember
from tabletop_engine.record import FORFEIT


class PlayListener:
    """What `play` tells of its games, for records and statistics. A subclass has the methods that it needs."""

    def on_decisions(self, agent: int, games: np.ndarray, decisions: Decisions) -> None:
        """Called before an agent (its index) answers these n decisions of the games (n,), indices."""

    def on_actions(self, agent: int, games: np.ndarray, actions: np.ndarray) -> None:
        """Called with the agent's legal answers, (n,) int64, before any game is stepped."""

    def on_step(self, which: np.ndarray) -> None:
        """Called after the games `which`, (N,) bool, have been stepped."""


def play(
    agents: Sequence[Agent],
    batch: Batch,
    lineups: np.ndarray,
    generators: Sequence[np.random.Generator],
    *,
    listeners: Sequence[PlayListener] = (),
    should_stop: Callable[[], bool] | None = None,
) -> bool:
    """Play until every game is over or waits for a seat that no agent has.

    In each step every agent answers its decisions of all games at once, in the agents' order; then these games go on.

    Arguments:
        agents: ready for the configurations of the games.
        batch: N games. If it restarts games that end, they are played on.
        lineups: (N, players) ints, the agent in each seat as an index into `agents`, or -1 for none. A listener may
            change it between steps.
        generators: the randomness of each agent; several may share one.
        listeners: called in this order.
        should_stop: asked before every step; None for never.

    Returns whether it has played to the end: False if it was stopped. Raises IllegalAction for an illegal answer.
    """
    if any(getattr(agent, "remembers", False) for agent in agents):
        remember(batch)
    every_game, actions = np.arange(batch.num_games), np.zeros(batch.num_games, np.int64)
    while True:
        asked = np.where(batch.actors == NOBODY, -1, lineups[every_game, batch.actors])
        deciding = np.flatnonzero(np.bincount(asked + 1)[1:]).tolist()  # much faster than `np.unique`
        if not deciding:
            return True
        if should_stop is not None and should_stop():
            return False
        for agent in deciding:
            games = np.flatnonzero(asked == agent)
            decisions = Decisions.of(batch, games)
            for listener in listeners:
                listener.on_decisions(agent, games, decisions)
            actions[games] = ask(agents[agent], decisions, generators[agent])
            for listener in listeners:
                listener.on_actions(agent, games, actions[games])
        which = asked >= 0
        lost = which & (actions == FORFEIT)
        if lost.any():
            batch.forfeit(lost)
            for listener in listeners:
                listener.on_step(lost)
            which &= ~lost
        if not lost.any() or which.any():
            batch.step(actions, which)
            for listener in listeners:
                listener.on_step(which)
