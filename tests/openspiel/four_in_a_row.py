"""Connect Four with declared limits, as a game of its own."""

from __future__ import annotations

from dataclasses import replace

from tabletop_engine.game import Game, Limits
from tests.games import connect_four


class Config(connect_four.Config):
    """Two players, nothing to choose."""


GAME: Game = replace(
    connect_four.GAME,
    name="four_in_a_row",
    home=__name__,
    config=Config,
    limits=lambda config: Limits(decisions=42, draws=0, outcomes=0),
)
