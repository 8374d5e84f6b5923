"""The printed numbers of a batch: one table for all games, or a table for each of many editions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.checks import is_whole, whole
from tabletop_engine.editions import MOST_EDITIONS
from tabletop_engine.errors import ConfigError, StateError
from tabletop_engine.game import Config, Game

Editions = int | Sequence[int | str | Path | Mapping[str, Any] | tuple[Any, ...]] | np.ndarray
"""Editions that games are played with: their number, which stands for the seeds 0, 1, …; or for each of them a seed for
`Game.draw_components`, or its `components`."""


def editions_of(config: Config, editions: Editions | None) -> tuple[Any, ...]:
    """The `components` of each edition; those of the configuration alone for None.

    Seeds draw what the configuration's own `components` leave open. Raises ConfigError for anything but `Editions`, and
    ComponentsError for numbers that are not allowed.
    """
    if editions is None:
        return (config.components,)
    wanted = f"must be their number, 1 to {MOST_EDITIONS:,}, or a list of seeds and components"
    given: Any = editions.tolist() if isinstance(editions, np.ndarray) else editions
    if is_whole(editions):
        given = range(whole("editions", editions, 1, MOST_EDITIONS))
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not 1 <= len(given) <= MOST_EDITIONS:
        raise ConfigError(f"editions={editions!r:.80}: {wanted}")
    for one in given:
        if not is_whole(one) and not isinstance(one, str | Path | Mapping | tuple):
            raise ConfigError(f"editions: {one!r:.80} is neither a seed nor components; {wanted}")
    frozen: Any = config  # a frozen dataclass, which protocols cannot say
    return tuple(
        _draw(frozen, int(one)) if is_whole(one) else replace(frozen, components=one).components for one in given
    )


@lru_cache(maxsize=4096)
def _draw(config: Any, seed: int) -> Any:
    return replace(config, components=config.game.draw_components(seed, config.components)).components


def tables_of(game: Game, editions: tuple[Any, ...]) -> np.ndarray:
    """(K,) of `game.tables`: the numbers of each edition, read-only."""
    if len(editions) == 1:
        return game.load_tables(editions[0])
    return _tables(game, editions)


@lru_cache(maxsize=4)  # each block of a study's games asks for the same
def _tables(game: Game, editions: tuple[Any, ...]) -> np.ndarray:
    tables = np.concatenate([game.load_tables(one) for one in editions])
    tables.flags.writeable = False
    return tables


def editions_in(states: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """(n,) ints: the index of the table that each of n records is played with; 0 for one that does not exist."""
    editions = states["edition"].astype(np.int64)
    return np.where((editions >= 0) & (editions < len(tables)), editions, 0)


def edition_in(state: Any, tables: np.ndarray) -> int:
    """The index of the table that one record is played with, as `editions_in`."""
    edition = int(state["edition"])
    return edition if 0 <= edition < len(tables) else 0


def own_tables(state: Any, tables: np.ndarray) -> np.ndarray:
    """(1,) the table of `tables` that a game is played with; `state` is its record."""
    edition = edition_in(state, tables)
    return tables[edition : edition + 1]


def check_states(game: Game, states: np.ndarray, tables: np.ndarray) -> None:
    """Raise StateError for the first of the records, (N,), that no game with its own table can reach."""
    if len(tables) == 1:
        game.check(states, tables)
        return
    outside = (states["edition"] < 0) | (states["edition"] >= len(tables))
    if outside.any():
        number = int(outside.argmax())
        raise StateError(f"game {number}: it has edition {states['edition'][number]}; there are {len(tables)}")
    for edition in np.unique(states["edition"]).tolist():
        games = np.flatnonzero(states["edition"] == edition)
        own = tables[edition : edition + 1]
        try:
            game.check(states[games], own)
        except StateError:
            for number in games.tolist():  # one by one, since the message tells the place among these games
                try:
                    game.check(states[number : number + 1], own)
                except StateError as error:
                    raise StateError(f"game {number}: {error}") from None
            raise
