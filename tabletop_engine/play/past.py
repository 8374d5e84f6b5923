"""What has happened in running games, for agents that read it, such as language models."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_engine.record import FORFEIT, NOBODY, copied

if TYPE_CHECKING:
    from tabletop_engine.play.batch import Batch, Seed

_NUMBERS = count(secrets.randbits(48))


class Past:
    """A listener of a batch (`Batch.listeners`): the steps of each game since it began or since this was added.

    Attributes:
        numbers: a number for each game, which no other game has, not even one of another process.
    """

    def __init__(self, batch: Batch) -> None:
        self.numbers: list[int] = [next(_NUMBERS) for _ in range(batch.num_games)]
        self._steps: list[list[tuple[Any, int]]] = [[] for _ in range(batch.num_games)]

    def steps(self, game: int, seat: int) -> Sequence[tuple[Any, int]]:
        """Pairs of a record and the action that was played on it, from the seat's last own action on."""
        steps = self._steps[game]
        own = (i for i in reversed(range(len(steps))) if steps[i][0]["actor"] == seat)
        return steps[next(own, 0) :]

    def begin_with(self, game: int, steps: Sequence[tuple[Any, int]]) -> None:
        """Put these steps in place of what is known of a game: answers were taken back, or it was resumed."""
        self._steps[game] = list(steps)
        self.numbers[game] = next(_NUMBERS)

    def on_reset(self, batch: Batch, which: np.ndarray, seed: Seed) -> None:
        """Forget the games that start."""
        self._forget(np.flatnonzero(which).tolist())

    def before_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Keep the positions and what is played on them."""
        for game in np.flatnonzero(which & (batch.actors != NOBODY)).tolist():
            self._steps[game].append((copied(batch.states[game]), int(actions[game])))

    def after_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Forget the games that have ended; note illegal actions, which lose a game."""
        for game in np.flatnonzero(which & batch.illegal).tolist():
            before, _ = self._steps[game][-1]
            self._steps[game][-1] = before, FORFEIT
        self._forget(np.flatnonzero(which & batch.terminations).tolist())

    def _forget(self, games: Sequence[int]) -> None:
        for game in games:
            self._steps[game] = []
            self.numbers[game] = next(_NUMBERS)


def past_of(batch: Batch) -> Past | None:
    """The `Past` among the listeners of a batch; None if there is none."""
    return next((one for one in batch.listeners if isinstance(one, Past)), None)


def remember(batch: Batch) -> Past:
    """The `Past` of a batch, which is added if there is none."""
    found = past_of(batch)
    if found is None:
        found = Past(batch)
        batch.listeners.append(found)
    return found
