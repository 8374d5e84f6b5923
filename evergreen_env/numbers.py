"""The board, the deck and the flags as a flat vector with a named layout, for networks that read them.

They are public, the same for all seats and for the whole game. Blocks whose shape ends with 7, 7 are planes of the
planets' grid, as in the observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evergreen_env.state import COLUMNS, NUM_BIOMES, NUM_CARDS, NUM_SUNS, PLACES, ROWS, Piece
from evergreen_env.tables import UNLIMITED, Tables, WildFertility
from tabletop_engine.observation import Layout
from tabletop_engine.record import Field, fields_of

_SWITCHES = tuple(field.name for field in fields_of(Tables) if field.meaning.startswith("1: "))


def _field(name: str, unit: str) -> tuple[str, tuple[int, ...], str, str]:
    """A block with the values of a field of the tables."""
    field: Field[Any] = getattr(Tables, name)
    return name, field.shape or (1,), unit, field.meaning


_BLOCKS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    ("biomes", (NUM_BIOMES, ROWS, COLUMNS), "0/1", "planes: the spaces of each biome"),
    ("ravines", (ROWS, COLUMNS), "0/1", "a plane: the spaces that are ravines"),
    ("bush_ground", (ROWS, COLUMNS), "0/1", "a plane: where a bush can be placed"),
    ("lake_ground", (ROWS, COLUMNS), "0/1", "a plane: where a lake can be placed"),
    ("cards", (NUM_CARDS,), "0/1", "the cards that are in the deck at first"),
    _field("flowers", "flowers / 3"),
    _field("skulls", "skulls / 2"),
    _field("season_rounds", "rounds / 5"),
    _field("start_points", "points / 5"),
    _field("setup_flowers", "flowers / 10"),
    ("sun_start", (NUM_SUNS,), "one-hot", "where the Sun is in spring"),
    *(_field(name, "0/1") for name in _SWITCHES),
    ("wild_fertility", (len(WildFertility),), "one-hot", "the place of a wild card with icons that nobody took"),
    ("power_cap", (1,), "levels / 10", "the highest level of a power; 0 without one"),
    ("limited", (len(Piece),), "0/1", "kinds of pieces of which a player has only so many"),
    ("supply", (len(Piece),), "pieces / 20", "how many, by kind; 0 for as many as needed"),
)

NUMBERS = Layout.of(_BLOCKS, 0.0, 8.0)
"""The layout of the numbers."""


def write_numbers(tables: np.ndarray) -> np.ndarray:
    """(K, M) int16: the numbers of `NUMBERS` for each of K tables, as plain counts."""
    limited = tables["supply"] != UNLIMITED
    values = {
        "biomes": _planes(tables["biome"]),
        "ravines": _planes(tables["ravines"]),
        "bush_ground": _planes(tables["bush_ground"]),
        "lake_ground": _planes(tables["lake_ground"]),
        "cards": _bits(tables["cards"], NUM_CARDS),
        "sun_start": tables["sun_start"][:, None] == np.arange(NUM_SUNS),
        "wild_fertility": tables["wild_fertility"][:, None] == np.arange(len(WildFertility)),
        "power_cap": np.where(tables["power_cap"] == UNLIMITED, 0, tables["power_cap"]),
        "limited": limited,
        "supply": np.where(limited, tables["supply"], 0),
    }
    same = {block.name: tables[block.name] for block in NUMBERS if block.name not in values}
    return NUMBERS.joined({**same, **values}, len(tables))


def _planes(sets: np.ndarray) -> np.ndarray:
    return _bits(sets, PLACES)


def _bits(sets: np.ndarray, number: int) -> np.ndarray:
    """The first bits of uint64 sets, one more axis."""
    return sets[..., None] >> np.arange(number, dtype=np.uint64) & np.uint64(1)
