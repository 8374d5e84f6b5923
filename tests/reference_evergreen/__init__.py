"""Evergreen played by the book: a second implementation, written from the rule text alone, simple and slow."""

from tests.reference_evergreen.chance import Chance, ScriptedChance, SeededChance
from tests.reference_evergreen.game import Game
from tests.reference_evergreen.table import Question

__all__ = ["Chance", "Game", "Question", "ScriptedChance", "SeededChance"]
