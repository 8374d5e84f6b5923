"""Checks of a game: what a game declares, every state of random games, and what is hidden.

`check_game(GAME)` in a test of yours does all of it; the command `check` does it with progress. `compare` plays a slow
implementation of yours beside the game.
"""

from tabletop_engine.testing.comparing import Difference, RandomStream, SlowGame, compare
from tabletop_engine.testing.every import CHECKS, check_game, problems_of
from tabletop_engine.testing.problems import CheckFailed, Problem

__all__ = [
    "CHECKS",
    "CheckFailed",
    "Difference",
    "Problem",
    "RandomStream",
    "SlowGame",
    "check_game",
    "compare",
    "problems_of",
]
