"""Positions of finished games for supervised learning: observations, targets of the policy, and the games' results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tabletop import seeds
from tabletop.agents import Decisions
from tabletop.batch import Batch
from tabletop.game import NOBODY, Config
from tabletop.scores import margins, win_shares


class Chosen(NamedTuple):
    """What was chosen in n decisions."""

    actions: np.ndarray  # (n,) int64
    wishes: np.ndarray | None = None  # (n, A) target probabilities of a policy
    shortfalls: np.ndarray | None = None  # (n, A) in points, for a network that weighs them


Choose = Callable[[Decisions, np.random.Generator], Chosen]


class Positions(NamedTuple):
    """Decisions of finished games and the games' results: n decisions, A actions, space for K seats.

    observations: (n, D) float16. masks: (n, A) bool, the legal actions.
    wishes, shortfalls: (n, A) float16, as in `Chosen`; zeros if there are none.
    won, margins: (n, K) float32, each seat's share of the victory and its margin in points, clockwise from the actor;
        0 for seats that the game does not have.
    players: (n,) int64.
    """

    observations: np.ndarray
    masks: np.ndarray
    wishes: np.ndarray
    shortfalls: np.ndarray
    won: np.ndarray
    margins: np.ndarray
    players: np.ndarray


class Games(NamedTuple):
    """Results of finished games: `won` and `margins`, (games, P) float64 by seat, as in `Positions`."""

    won: np.ndarray
    margins: np.ndarray


def play_positions(
    choose: Choose,
    configs: Sequence[Config],
    seed: int,
    share: float,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Positions, Games] | None:
    """Play one game of each configuration. Returns a `share` of the decisions with more than one answer, and results.

    The configurations have the same number of players and the same components. Returns None if `should_stop`, which is
    asked at every step, asks to stop.
    """
    first = configs[0]
    generator = seeds.generator(seed, seeds.Stream.POSITIONS)
    batch = Batch(first, len(configs), seed, autoreset="disabled")
    batch.reset(seed, config=list(configs))
    kept: list[tuple[np.ndarray, ...]] = []
    actions = np.zeros(len(configs), np.int64)
    while len(playing := np.flatnonzero(batch.actors != NOBODY)):
        if should_stop():
            return None
        decisions = Decisions.of(batch, playing)
        chosen = choose(decisions, generator)
        actions[playing] = chosen.actions
        masks = decisions.action_masks == 1
        rows = np.flatnonzero((generator.random(len(playing)) < share) & (masks.sum(axis=1) > 1))
        nothing = np.zeros((len(rows), masks.shape[1]), np.float16)
        told = [nothing if part is None else part[rows].astype(np.float16) for part in chosen[1:]]
        seen = decisions.observations[rows].astype(np.float16)
        kept.append((seen, masks[rows], *told, playing[rows], batch.actors[playing[rows]].astype(np.int64)))
        batch.step(actions, which=batch.actors != NOBODY)
    observations, masks, wishes, shortfalls, game, actor = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    players, seats = first.players, first.game.players[-1]
    games = Games(
        win_shares(batch.places(batch.states))[:, :players],
        margins(batch.states["points"][:, : first.owners].astype(np.int64))[:, :players],
    )
    clockwise = (actor[:, None] + np.arange(players)) % players
    won, ahead = np.zeros((2, len(game), seats), np.float32)
    won[:, :players] = np.take_along_axis(games.won[game], clockwise, axis=1)
    ahead[:, :players] = np.take_along_axis(games.margins[game], clockwise, axis=1)
    positions = Positions(observations, masks, wishes, shortfalls, won, ahead, np.full(len(game), players))
    return positions, games


class Replay:
    """The newest `most` positions."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.added = 0
        self._arrays: list[np.ndarray] = []

    def __len__(self) -> int:
        return min(self.added, self.most)

    def add(self, positions: Positions) -> None:
        """Add positions; they replace the oldest ones."""
        if not self._arrays:
            self._arrays = [np.zeros((self.most, *part.shape[1:]), part.dtype) for part in positions]
        count = len(positions.players)
        rows = (self.added + np.arange(max(0, count - self.most), count)) % self.most
        for array, part in zip(self._arrays, positions, strict=True):
            array[rows] = part[-len(rows) :]
        self.added += count

    def draw(self, generator: np.random.Generator, number: int) -> Positions:
        """Draw this many of them, with repetition."""
        rows = generator.integers(len(self), size=number)
        return Positions(*(array[rows] for array in self._arrays))
