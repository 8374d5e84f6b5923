"""The board, the deck and the flags as a flat vector with a named layout, for networks that read them.

They are public, the same for all seats and for the whole game. Blocks whose shape ends with 7, 7 are planes of the
planets' grid, as in the observation.
"""

from __future__ import annotations

import numpy as np

from evergreen_env.state import COLUMNS, MAX_PLAYERS, NUM_BIOMES, NUM_CARDS, NUM_SUNS, PLACES, ROWS, Piece, Season
from evergreen_env.tables import UNLIMITED, WildFertility
from tabletop_engine.observation import Layout

_SWITCHES = {
    "reshuffles_each_season": "the discards go back into the deck after every season",
    "next_player_first": "if nobody takes the marked card, the next player clockwise is first",
    "partial_actions": "an action may be left half done",
    "voluntary_pass": "a possible action may be left out",
    "canonical_sets": "the spaces of one set are named in reading order",
    "wild_anywhere": "a wild card's action is not held to one biome",
    "lake_growth_mandatory": "trees beside a lake must grow",
    "top_card_only": "an aridity flips only the card on top of its pile",
    "aridity_waits": "an aridity that finds no flower waits for the next one",
    "skulls_count": "every skull on a card flips a card",
    "buds_score_each_use": "buds score their level once for every use",
}

_BLOCKS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    ("biomes", (NUM_BIOMES, ROWS, COLUMNS), "0/1", "planes: the spaces of each biome"),
    ("ravines", (ROWS, COLUMNS), "0/1", "a plane: the spaces that are ravines"),
    ("bush_ground", (ROWS, COLUMNS), "0/1", "a plane: where a bush can be placed"),
    ("lake_ground", (ROWS, COLUMNS), "0/1", "a plane: where a lake can be placed"),
    ("cards", (NUM_CARDS,), "0/1", "the cards that are in the deck at first"),
    ("flowers", (NUM_CARDS,), "flowers / 3", "flowers on each card"),
    ("skulls", (NUM_CARDS,), "skulls / 2", "skulls on each card"),
    ("season_rounds", (len(Season),), "rounds / 5", "rounds of each season"),
    ("start_points", (MAX_PLAYERS,), "points / 5", "points at the start, by place in the first round's order"),
    ("setup_flowers", (1,), "flowers / 10", "flowers that setup reveals at least"),
    ("sun_start", (NUM_SUNS,), "one-hot", "where the Sun is in spring"),
    *((name, (1,), "0/1", f"1: {meaning}") for name, meaning in _SWITCHES.items()),
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
