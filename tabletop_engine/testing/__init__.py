"""Checks of a game: what a game declares, every state of random games, and what is hidden.

`check_game(GAME)` in a test of yours does all of it; the command `check` does it with progress.
"""

from tabletop_engine.testing.every import CHECKS, check_game, problems_of
from tabletop_engine.testing.problems import CheckFailed, Problem

__all__ = ["CHECKS", "CheckFailed", "Problem", "check_game", "problems_of"]
