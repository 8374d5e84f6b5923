"""Replays of what environments, batches and loops of one's own play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from petrichor_env.config import Config
from petrichor_env.state import NOBODY, State
from tabletop.batch import Batch, Seed
from tabletop.errors import ConfigError
from tabletop.replays.files import FORFEIT, check_names, printable
from tabletop.replays.replay import Replay, replays_of

_AT_ONCE = 256
"""Games that are played again side by side."""


@dataclass
class _Running:
    """A game that is being recorded: its seed or its first state, and the actions so far."""

    start: int | State
    actions: list[int] = field(default_factory=list)


class _Finished(NamedTuple):
    """A game that was recorded, before it is played again for its replay."""

    config: Config
    names: tuple[str, ...]
    game: _Running


class Recorder:
    """Records all games of a batch while anything else steps it: an environment, its opponents, a loop of one's own.

        env = gymnasium.make("petrichor_env:Petrichor/Versus-v0")
        with Recorder(env, names=...) as recorder:
            ...                                 # reset, step
        recorder.finished[0].save("game.json")

    A game starts with a `reset`, with the automatic one after an end, or with states that were changed by hand; it is
    finished when it is over.

    Arguments:
        games: a `Batch`, or what plays on one in its attribute `batch`: any environment of this package, wrapped or
            not, `tabletop.versus.VersusBatch`.
        names: who sits where, P strings; or what tells them of a game by its index in the batch, asked when it ends.
            None: `player_0` …; in `Petrichor/Versus` the opponents' names, and `learner`.

    Attributes:
        batch: the `Batch`.

    Raises ConfigError for what has no batch, and for a batch with illegal_action="random": the action that was taken
    instead of an illegal one is not told.
    """

    def __init__(self, games: Any, names: Sequence[str] | Callable[[int], Sequence[str]] | None = None) -> None:
        seating, inner = None, getattr(games, "unwrapped", games)
        while not isinstance(inner, Batch):
            if hasattr(inner, "lineups"):
                seating = inner
            inner = getattr(inner, "batch", None)
            if inner is None:
                raise ConfigError(f"games={games!r:.80}: a Batch, or an environment that plays on one")
        if inner.illegal_action == "random":
            raise ConfigError("illegal_action='random': which action was taken instead is not told; 'raise' or 'lose'")
        self.batch: Batch = inner
        self._finished: list[Replay] = []
        self._pending: list[_Finished] = []
        if callable(names):
            self._names: Callable[[int], Sequence[str]] | None = names
        elif names is not None:
            check_names(tuple(names), inner.config)
            self._names = lambda game: names
        else:
            self._names = None if seating is None else lambda game: _seated(seating, game)
        self._before = {name: vars(inner).get(name) for name in ("step", "reset")}
        self._step, self._reset = inner.step, inner.reset
        # on the instance: whoever steps this batch comes by here, and no other batch pays for it
        inner.step = self._recorded_step  # type: ignore[method-assign]
        inner.reset = self._recorded_reset  # type: ignore[method-assign]
        self._last = inner.states.copy()
        self._running = [_Running(state) for state in self._last.copy()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the batch be stepped unrecorded again; of several recorders the last one closes first."""
        for name, before in self._before.items():
            if before is None:
                vars(self.batch).pop(name, None)
            else:
                vars(self.batch)[name] = before

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
                games = [some[number].game for number in numbers]
                names = [some[number].names for number in numbers]
                starts, actions = [game.start for game in games], [game.actions for game in games]
                replays |= zip(numbers, replays_of(config, starts, actions, names=names), strict=True)
            self._finished += [replays[number] for number in range(len(some))]
            del self._pending[:_AT_ONCE]
        return self._finished

    def running(self, game: int = 0) -> Replay:
        """The replay, so far, of a game that is not finished."""
        running = self._running[game]
        return Replay.of(self.batch.configs[game], running.start, running.actions, names=self._names_of(game))

    def _recorded_reset(
        self, seed: Seed = None, mask: np.ndarray | None = None, config: Config | Sequence[Config] | None = None
    ) -> None:
        self._reset(seed, mask, config)
        for game in range(self.batch.num_games) if mask is None else np.flatnonzero(mask).tolist():
            start = self.batch.states[game].copy()
            if seed is not None:
                start = int(seed[game]) if np.ndim(seed) else int(seed) + game  # type: ignore[index, arg-type]
            self._running[game] = _Running(start)
        self._last[:] = self.batch.states

    def _recorded_step(self, actions: np.ndarray | Sequence[int], which: np.ndarray | None = None) -> None:
        batch = self.batch
        for game in np.flatnonzero(_differ(batch.states, self._last)).tolist():
            self._running[game] = _Running(batch.states[game].copy())
        asked = batch.states["actor"] != NOBODY
        self._step(actions, which)
        stepped = np.ones(batch.num_games, np.bool_) if which is None else np.asarray(which)
        taken = np.where(batch.illegal, FORFEIT, np.asarray(actions)).tolist()
        for game in np.flatnonzero(stepped & asked).tolist():
            self._running[game].actions.append(taken[game])
        for game in np.flatnonzero(stepped & asked & batch.terminations).tolist():
            self._pending.append(_Finished(batch.configs[game], self._names_of(game), self._running[game]))
            self._running[game] = _Running(batch.states[game].copy())
        for game in np.flatnonzero(stepped & ~asked).tolist():
            self._running[game] = _Running(batch.states[game].copy())
        self._last[:] = batch.states

    def _names_of(self, game: int) -> tuple[str, ...]:
        config = self.batch.configs[game]
        names = config.agents if self._names is None else tuple(self._names(game))
        check_names(names, config)
        return names


def _differ(states: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(N,) bool: which records are not the same bytes."""
    bytes_of, others_bytes = (array.view(np.uint8).reshape(len(array), -1) for array in (states, others))
    return np.asarray((bytes_of != others_bytes).any(axis=1))


def _seated(versus: Any, game: int) -> list[str]:
    """Who sits where in a game of a `VersusBatch`."""
    players, seat = versus.players, int(versus.seats[game])
    names = ["learner"] * players
    for place, opponent in enumerate(versus.lineups[game], 1):
        names[(seat + place) % players] = printable(versus.opponents[opponent].name)
    return names
