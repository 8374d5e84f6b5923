"""The words of the game, spelled as decisions, answers and descriptions name them."""

from __future__ import annotations

TYPES = ("meadow", "flowers", "grain", "rock", "swamp", "snow", "wild")
"""The types of cards, in ascending card id; all but the last are biomes."""

BIOMES = TYPES[:6]

POWERS = ("sprout", "small_tree", "big_tree", "bush", "lake", "buds")
"""The powers of cards, in ascending card id within a type."""

PIECES = ("sprout", "small_tree", "big_tree", "bush", "lake")
"""What can stand on a space of a planet."""

GROWN = {"sprout": "small_tree", "small_tree": "big_tree"}
"""What a growth makes of a piece."""

HEIGHT = {"small_tree": 1, "big_tree": 2}
"""How far a tree's shadow reaches, and its points for light (End of Season)."""

SUNS = ("north", "east", "south", "west")
"""Where the sun stands, clockwise (End of Season)."""

RAVINE = "ravine"

LETTERS = {"M": "meadow", "F": "flowers", "G": "grain", "R": "rock", "W": "swamp", "N": "snow", "#": RAVINE}
"""The letters in the rows of a board."""

OUTSIDE = "."
"""The letter where a board has no space."""

ACTIONS = {"plant three": "plant", "grow two": "grow", "plant and grow": "plant_and_grow", "anywhere": "anywhere"}
"""The four actions, and the decision that asks for their spaces."""

SOURCES = ("start", "buds", "light", "forest", "fertility")
"""What brings points."""

DONE = "done"
