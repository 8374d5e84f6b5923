"""The most decisions, draws and points in a game of Evergreen, counted from the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from evergreen_env.component_files import load_tables
from evergreen_env.config import Config
from evergreen_env.rules.cards import biome_of
from evergreen_env.rules.powers import buds_points
from evergreen_env.state import NUM_BIOMES, NUM_CARDS, WILD, Season
from evergreen_env.tables import WildFertility
from tabletop_engine.game import Limits

_TURN = 1 + 2 + 3
"""The most decisions of one turn without those of its power: the card, the order of action and power, three spaces."""
_USE = 1 + 2
"""The most decisions for one use of a power: a space, and for a lake two more spaces beside it."""


def limits(config: Config) -> Limits:
    """Upper bounds for a configuration. Games are much shorter (docs/openspiel.md)."""
    tables = load_tables(config.components)[0]
    rounds = int(tables["season_rounds"].sum())
    uses = rounds * (rounds + 1) // 2  # the level of a power rises at most once in a round
    return Limits(
        decisions=config.players * (rounds * _TURN + uses * _USE),
        draws=1 + NUM_CARDS + rounds * (config.players + 1),
        outcomes=NUM_CARDS,
        points=(min(0, int(tables["start_points"].min())), _most_points(tables, rounds)),
    )


def _most_points(t: Any, rounds: int) -> int:
    """The start, buds in every round, and all spaces full of big trees that get light, on all flowers of the deck."""
    buds = sum(buds_points(t, min(level, int(t["power_cap"]))) for level in range(1, rounds + 1))
    flowers = np.bincount([biome_of(card) for card in range(NUM_CARDS)], t["flowers"], NUM_BIOMES + 1)
    wild = flowers[WILD] if t["wild_fertility"] == WildFertility.ALL_BIOMES else 0
    spaces = np.bitwise_count(t["biome"])
    fertility = int(((flowers[:NUM_BIOMES] + wild) * spaces).sum())
    light_and_forest = (2 + 1) * int(np.bitwise_count(t["outline"])) * len(Season)
    return int(t["start_points"].max()) + buds + light_and_forest + fertility
