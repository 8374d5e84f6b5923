"""Petrichor played by the book: a second implementation, written from the rule texts alone."""

from tests.reference.chance import Chance, dealing_order, southern_winds_order
from tests.reference.game import Game
from tests.reference.table import Question

__all__ = ["Chance", "Game", "Question", "dealing_order", "southern_winds_order"]
