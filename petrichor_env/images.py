"""Turned and mirrored images of the Fields. With 2 and more players nothing in the rules tells them apart.

Only one thing differs, which hardly matters: where a player is asked about several tiles, one after the other, this
goes by the numbers of the tiles. These are Fertilizer tokens, pods, drops that a power keeps, and forecast card 15. In
the solo game dice name tiles, and the crops lie in the order of their priority, so it has no images.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from petrichor_env.actions import DIRECTION, DROP, NUM_ACTIONS, TILE
from petrichor_env.observation import LAYOUT
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.rules.setup import FIELD_POSITIONS
from petrichor_env.state import MAX_PLAYERS, NUM_TILES
from tabletop_engine.game import Image

_SIDE = int(NEIGHBOURS[0, 2])  # the tile south of the first one
_CENTRE = 5  # it and its four neighbours belong to every field


@cache
def images(players: int) -> tuple[Image, ...]:
    """A `Game.images`: at most seven, for square fields."""
    return () if players == 1 else tuple(image_of(*moved) for moved in ways_to_lay(players)[1:])


def ways_to_lay(players: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Where each tile (16,) and each direction (4,) goes if the field is turned or mirrored; first, where it is.

    The field covers the same positions afterwards. Positions outside it keep their numbers.
    """
    rows, columns = np.divmod(np.flatnonzero(FIELD_POSITIONS[players]), _SIDE)
    middle = np.array([rows.min() + rows.max(), columns.min() + columns.max()])  # twice its coordinates
    away = 2 * np.stack([rows, columns], axis=1) - middle
    ways = []
    for swapped, down, right in product((False, True), (1, -1), (1, -1)):
        doubled = (away[:, ::-1] if swapped else away) * (down, right) + middle
        tiles = np.arange(NUM_TILES)
        goes = doubled // 2 @ np.array([_SIDE, 1])
        if (doubled % 2).any() or set(goes) != set(rows * _SIDE + columns):
            continue
        tiles[rows * _SIDE + columns] = goes
        around = NEIGHBOURS[tiles[_CENTRE]].tolist()
        ways.append((tiles, np.array([around.index(tiles[one]) for one in NEIGHBOURS[_CENTRE]])))
    return ways


def image_of(tiles: np.ndarray, directions: np.ndarray) -> Image:
    """The image in which tiles and directions go to these places."""
    observation = np.arange(LAYOUT.size)
    for block in LAYOUT:
        if block.shape[0] == NUM_TILES and block.name.startswith(("tile_", "cloud_")):
            numbers = observation[block.slice].reshape(NUM_TILES, -1)
            observation[block.slice] = numbers[tiles].ravel()
    actions = np.arange(NUM_ACTIONS)
    actions[TILE:DROP] = TILE + tiles
    actions[DROP:DIRECTION] = (DROP + MAX_PLAYERS * tiles[:, None] + np.arange(MAX_PLAYERS)).ravel()
    actions[DIRECTION : DIRECTION + 4] = DIRECTION + directions
    return Image(observation, actions)
