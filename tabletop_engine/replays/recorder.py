"""Recording replays of the games that an environment, a batch or the user's own loop plays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import Batch, Seed
from tabletop_engine.record import FORFEIT
from tabletop_engine.replays.files import check_names, printable
from tabletop_engine.replays.replay import Replay, replays_of

_AT_ONCE = 256
"""The number of games that are played again together."""


@dataclass
class _Game:
    """A game: its configuration, its seed or first state, its actions so far and, at the end, the players' names."""

    config: Config
    start: Any
    actions: list[int] = field(default_factory=list)
    names: tuple[str, ...] = ()


class Recorder:
    """Records all games of a batch while an environment, its opponents or the user's own loop steps it.

        env = gymnasium.make(...)
        with Recorder(env, names=...) as recorder:
            ...                                 # reset, step
        recorder.finished[0].save("game.json")

    A recorded game starts with a `reset`, with the automatic reset after an end, or when its state is changed by hand.
    It is finished when the game is over.

    Arguments:
        games: a `Batch`, or an object with a batch in its attribute `batch`: any environment of this package, wrapped
            or not, or `tabletop_engine.play.learner_games.LearnerGames`.
        names: the names of the players, P strings; or a function that returns them for the index of a game in the batch
            and is called at the game's end. None: `player_0` and so on; with opponents in `LearnerGames` their
            names, and `learner`.

    Raises ConfigError for an object without a batch, and for a batch with illegal_action="random", which does not
    report the action that was played in place of an illegal one.
    """

    @checked
    def __init__(self, games: Any, names: Sequence[str] | Callable[[int], Sequence[str]] | None = None) -> None:
        versus, inner = None, getattr(games, "unwrapped", games)
        while not isinstance(inner, Batch):
            if hasattr(inner, "lineups"):
                versus = inner
            inner = getattr(inner, "batch", None)
            if inner is None:
                raise ConfigError(f"games={games!r:.80}: must be a Batch, or an environment that plays on one")
        if inner.illegal_action == "random":
            raise ConfigError("illegal_action='random': games can be recorded only with 'raise' or 'lose'")
        self.batch: Batch = inner
        self._finished: list[Replay] = []
        self._pending: list[_Game] = []  # finished games without a replay yet
        self._names: Callable[[int], Sequence[str]] = lambda game: inner.config_of(game).agents
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
        """Stop recording. The recorded games stay."""
        if self in self.batch.listeners:
            self.batch.listeners.remove(self)

    @property
    def finished(self) -> list[Replay]:
        """Replays of the finished games, in the order in which they ended. The list may be emptied at any time.

        The replays are made when this is read, many at once, because each game is played again for its checksums.
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
        """The replay so far of an unfinished game, given by its index in the batch."""
        running = self._running[game]
        return Replay.of(running.config, running.start, running.actions, names=self._names_of(game))

    # --- calls from the batch ---

    def on_reset(self, batch: Batch, which: np.ndarray, seed: Seed) -> None:
        """Begin recordings of the games that start."""
        self._begin(which)
        if seed is not None and batch.starts is None:
            for game in np.flatnonzero(which).tolist():
                start = int(seed[game]) if np.ndim(seed) else int(seed) + game  # type: ignore[index, arg-type]
                self._running[game].start = start
        self._last[which] = batch.states[which]

    def before_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Begin new recordings of games whose states were changed by hand."""
        now, last = (array.view(np.uint8).reshape(len(array), -1) for array in (batch.states, self._last))
        self._begin((now != last).any(axis=1))  # changed by hand
        self._asked[:] = batch.states["actor"] != NOBODY

    def after_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Record the actions, and put away the games that are over."""
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
            self._running[game] = _Game(self.batch.config_of(game), self.batch.states[game].copy())

    def _names_of(self, game: int) -> tuple[str, ...]:
        names = tuple(self._names(game))
        check_names(names, self.batch.config)
        return names


def _seated(versus: Any, game: int) -> list[str]:
    """The names of the players in one of `LearnerGames`, by seat."""
    players, seat = versus.players, int(versus.seats[game])
    names = ["learner"] * players
    for place, opponent in enumerate(versus.lineups[game], 1):
        names[(seat + place) % players] = printable(versus.opponents[opponent].name)
    return names
