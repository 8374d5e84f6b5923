"""Replays of what environments, batches and loops of one's own play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from tabletop.batch import Batch, Seed
from tabletop.errors import ConfigError
from tabletop.game import NOBODY, Config
from tabletop.record import FORFEIT
from tabletop.replays.files import check_names, printable
from tabletop.replays.replay import Replay, replays_of

_AT_ONCE = 256
"""Games that are played again side by side."""


@dataclass
class _Game:
    """What is played, its seed or its first state, the actions so far, and who sat where once it is over."""

    config: Config
    start: Any
    actions: list[int] = field(default_factory=list)
    names: tuple[str, ...] = ()


class Recorder:
    """Records all games of a batch while anything else steps it: an environment, its opponents, a loop of one's own.

        env = gymnasium.make(...)
        with Recorder(env, names=...) as recorder:
            ...                                 # reset, step
        recorder.finished[0].save("game.json")

    A game starts with a `reset`, with the automatic one after an end, or with states that were changed by hand; it is
    finished when it is over.

    Arguments:
        games: a `Batch`, or what plays on one in its attribute `batch`: any environment of this package, wrapped or
            not, `tabletop.versus.VersusBatch`.
        names: who sits where, P strings; or what tells them of a game by its index in the batch, asked when it ends.
            None: `player_0` …; with opponents in a `VersusBatch` their names, and `learner`.

    Raises ConfigError for what has no batch, and for a batch with illegal_action="random": the action that was taken
    instead of an illegal one is not told.
    """

    def __init__(self, games: Any, names: Sequence[str] | Callable[[int], Sequence[str]] | None = None) -> None:
        versus, inner = None, getattr(games, "unwrapped", games)
        while not isinstance(inner, Batch):
            if hasattr(inner, "lineups"):
                versus = inner
            inner = getattr(inner, "batch", None)
            if inner is None:
                raise ConfigError(f"games={games!r:.80}: a Batch, or an environment that plays on one")
        if inner.illegal_action == "random":
            raise ConfigError("illegal_action='random': which action was taken instead is not told; 'raise' or 'lose'")
        self.batch: Batch = inner
        self._finished: list[Replay] = []
        self._pending: list[_Game] = []  # finished, and not yet played again for their replays
        self._names: Callable[[int], Sequence[str]] = lambda game: inner.configs[game].agents
        if callable(names):
            self._names = names
        elif names is not None:
            check_names(tuple(names), inner.config)
            self._names = lambda game: names
        elif versus is not None and inner.config.players > 1:
            self._names = lambda game: _seated(versus, game)
        self._last = inner.states.copy()
        self._running = [_Game(*pair) for pair in zip(inner.configs, self._last.copy(), strict=True)]
        self._asked = np.zeros(inner.num_games, np.bool_)
        inner.listeners.append(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Record nothing more; what was recorded stays."""
        if self in self.batch.listeners:
            self.batch.listeners.remove(self)

    @property
    def finished(self) -> list[Replay]:
        """Replays of the finished games, in the order in which they ended. May be emptied at any time.

        They are made when they are read, many at once: each is played again for its checksums.
        """
        while self._pending:
            some = self._pending[:_AT_ONCE]
            replays: dict[int, Replay] = {}
            for config in dict.fromkeys(one.config for one in some):
                numbers = [number for number, one in enumerate(some) if one.config == config]
                games = [(some[number].start, some[number].actions, some[number].names) for number in numbers]
                starts, actions, names = zip(*games, strict=True)
                replays |= zip(numbers, replays_of(config, starts, actions, names=names), strict=True)
            self._finished += [replays[number] for number in range(len(some))]
            del self._pending[:_AT_ONCE]
        return self._finished

    def running(self, game: int = 0) -> Replay:
        """The replay, so far, of a game that is not finished."""
        running = self._running[game]
        return Replay.of(running.config, running.start, running.actions, names=self._names_of(game))

    # --- what the batch tells ---

    def on_reset(self, batch: Batch, which: np.ndarray, seed: Seed) -> None:
        self._begin(which)
        if seed is not None and batch.starts is None:
            for game in np.flatnonzero(which).tolist():
                start = int(seed[game]) if np.ndim(seed) else int(seed) + game  # type: ignore[index, arg-type]
                self._running[game].start = start
        self._last[which] = batch.states[which]

    def before_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        now, last = (array.view(np.uint8).reshape(len(array), -1) for array in (batch.states, self._last))
        self._begin((now != last).any(axis=1))  # changed by hand
        self._asked[:] = batch.states["actor"] != NOBODY

    def after_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        taken = np.where(batch.illegal, FORFEIT, actions).tolist()
        for game in np.flatnonzero(which & self._asked).tolist():
            self._running[game].actions.append(taken[game])
        for game in np.flatnonzero(which & self._asked & batch.terminations).tolist():
            self._running[game].names = self._names_of(game)
            self._pending.append(self._running[game])
        self._begin(which & (batch.terminations | ~self._asked))
        self._last[:] = batch.states

    def _begin(self, which: np.ndarray) -> None:
        for game in np.flatnonzero(which).tolist():
            self._running[game] = _Game(self.batch.configs[game], self.batch.states[game].copy())

    def _names_of(self, game: int) -> tuple[str, ...]:
        names = tuple(self._names(game))
        check_names(names, self.batch.config)
        return names


def _seated(versus: Any, game: int) -> list[str]:
    """Who sits where in a game of a `VersusBatch`."""
    players, seat = versus.players, int(versus.seats[game])
    names = ["learner"] * players
    for place, opponent in enumerate(versus.lineups[game], 1):
        names[(seat + place) % players] = printable(versus.opponents[opponent].name)
    return names
