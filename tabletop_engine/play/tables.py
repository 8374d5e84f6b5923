"""The printed numbers of a batch: one table for all games, or a table for each of many boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.boxes import MOST_BOXES
from tabletop_engine.checks import is_whole, whole
from tabletop_engine.errors import ConfigError, StateError
from tabletop_engine.game import Config, Game

Boxes = int | Sequence[int | str | Path | Mapping[str, Any] | tuple[Any, ...]] | np.ndarray
"""Boxes that games are played with: their number, which stands for the seeds 0, 1, …; or for each of them a seed for
`Game.draw_components`, or its `components`."""


def boxes_of(config: Config, boxes: Boxes | None) -> tuple[Any, ...]:
    """The `components` of each box; those of the configuration alone for None.

    Seeds draw what the configuration's own `components` leave open. Raises ConfigError for anything but `Boxes`, and
    ComponentsError for numbers that are not allowed.
    """
    if boxes is None:
        return (config.components,)
    wanted = f"must be their number, 1 to {MOST_BOXES:,}, or a list of seeds and components"
    if is_whole(boxes):
        return _drawn(config, range(whole("boxes", boxes, 1, MOST_BOXES)))
    given: Any = boxes.tolist() if isinstance(boxes, np.ndarray) else boxes
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not 1 <= len(given) <= MOST_BOXES:
        raise ConfigError(f"boxes={boxes!r:.80}: {wanted}")
    for one in given:
        if not is_whole(one) and not isinstance(one, str | Path | Mapping | tuple):
            raise ConfigError(f"boxes: {one!r:.80} is neither a seed nor components; {wanted}")
    drawn = iter(_drawn(config, [int(one) for one in given if is_whole(one)]))
    return tuple(next(drawn) if is_whole(one) else replace(config, components=one).components for one in given)


def _drawn(config: Any, seeds: Sequence[int]) -> tuple[Any, ...]:
    return tuple(_draw(config, seed) for seed in seeds)


@lru_cache(maxsize=4096)
def _draw(config: Any, seed: int) -> Any:
    """One box."""
    return replace(config, components=config.game.draw_components(seed, config.components)).components


def tables_of(game: Game, boxes: tuple[Any, ...]) -> np.ndarray:
    """(K,) of `game.tables`: the numbers of each box, read-only."""
    if len(boxes) == 1:
        return game.load_tables(boxes[0])
    return _tables(game, boxes)


@lru_cache(maxsize=4)  # each block of a study's games asks for the same
def _tables(game: Game, boxes: tuple[Any, ...]) -> np.ndarray:
    tables = np.concatenate([game.load_tables(one) for one in boxes])
    tables.flags.writeable = False
    return tables


def boxes_in(states: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """(n,) ints: the index of the table that each of n records is played with; 0 for one that does not exist."""
    boxes = states["box"].astype(np.int64)
    return np.where((boxes >= 0) & (boxes < len(tables)), boxes, 0)


def box_in(state: Any, tables: np.ndarray) -> int:
    """The index of the table that one record is played with, as `boxes_in`."""
    box = int(state["box"])
    return box if 0 <= box < len(tables) else 0


def own_tables(state: Any, tables: np.ndarray) -> np.ndarray:
    """(1,) the table of `tables` that a game is played with; `state` is its record."""
    box = box_in(state, tables)
    return tables[box : box + 1]


def check_states(game: Game, states: np.ndarray, tables: np.ndarray) -> None:
    """Raise StateError for the first of the records, (N,), that no game with its own table can reach."""
    if len(tables) == 1:
        game.check(states, tables)
        return
    outside = (states["box"] < 0) | (states["box"] >= len(tables))
    if outside.any():
        number = int(outside.argmax())
        raise StateError(f"game {number}: it has box {states['box'][number]}; there are {len(tables)}")
    for box in np.unique(states["box"]).tolist():
        games = np.flatnonzero(states["box"] == box)
        own = tables[box : box + 1]
        try:
            game.check(states[games], own)
        except StateError:
            for number in games.tolist():  # one by one, since the message tells the place among these games
                try:
                    game.check(states[number : number + 1], own)
                except StateError as error:
                    raise StateError(f"game {number}: {error}") from None
            raise
