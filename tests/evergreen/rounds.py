"""Rounds of random games. Their turns are taken back and then played in another way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evergreen_env import Config
from evergreen_env.state import NOBODY, Decision
from tabletop_engine.play.batch import Batch


def turns(players: int, seed: int) -> Iterator[Batch]:
    """Yields a game at the start of each round's turns.

    Afterwards what was played is taken back, and other turns follow.
    """
    batch = Batch(Config(players), 1, seed, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        while batch.states[0]["decision"] == Decision.DRAFT:
            batch.step(batch.random_actions())
        start = batch.states.copy()
        yield batch
        batch.states[:] = start
        batch.refresh()
        while goes_on(batch, start):
            batch.step(batch.random_actions())


def goes_on(batch: Batch, start: np.ndarray) -> bool:
    """Whether the round whose turns began at `start` still lasts."""
    return in_turns(batch) and batch.states[0]["round"] == start[0]["round"]


def in_turns(batch: Batch) -> bool:
    return batch.states[0]["decision"] not in (Decision.DRAFT, Decision.GAME_OVER)


def choose(batch: Batch, generator: np.random.Generator) -> int:
    return int(generator.choice(np.flatnonzero(batch.action_masks[0])))
