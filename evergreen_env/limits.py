"""The most decisions and draws in a game of Evergreen, counted from the rules."""

from __future__ import annotations

from evergreen_env.component_files import load_tables
from evergreen_env.config import Config
from evergreen_env.state import NUM_CARDS
from tabletop_engine.game import Limits

_TURN = 1 + 2 + 3
"""The most decisions of one turn without those of its power: the card, the order of action and power, three spaces."""
_USE = 1 + 2
"""The most decisions for one use of a power: a space, and for a lake two more spaces beside it."""


def limits(config: Config) -> Limits:
    """Upper bounds for a configuration. Games are much shorter (docs/openspiel.md)."""
    rounds = int(load_tables(config.components)["season_rounds"].sum())
    uses = rounds * (rounds + 1) // 2  # the level of a power rises at most once in a round
    return Limits(
        decisions=config.players * (rounds * _TURN + uses * _USE),
        draws=1 + NUM_CARDS + rounds * (config.players + 1),
        outcomes=NUM_CARDS,
    )
