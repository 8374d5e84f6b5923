"""A board with its spaces, and what a player has on one."""

from __future__ import annotations

from tests.reference_evergreen.printed import Printed
from tests.reference_evergreen.words import BIOMES, GROWN, LETTERS, OUTSIDE, PIECES, RAVINE


class Board:
    """The spaces of a planet, the same for everybody.

    Attributes:
        spaces: names in reading order with their biome or "ravine".
        places: row and column of each.
    """

    def __init__(self, printed: Printed) -> None:
        self.height, self.width = len(printed.rows), len(printed.rows[0])
        self.spaces: dict[str, str] = {}
        self.places: dict[str, tuple[int, int]] = {}
        for row, letters in enumerate(printed.rows):
            for column, letter in enumerate(letters):
                if letter != OUTSIDE:
                    name = f"{chr(ord('a') + column)}{row + 1}"
                    self.spaces[name] = LETTERS[letter]
                    self.places[name] = (row, column)

    def at(self, row: int, column: int) -> str | None:
        """The space at this row and column; None if there is none."""
        for name, place in self.places.items():
            if place == (row, column):
                return name
        return None

    def neighbours(self, space: str) -> list[str]:
        """The orthogonally adjacent spaces."""
        row, column = self.places[space]
        found = (self.at(row - 1, column), self.at(row, column - 1), self.at(row, column + 1), self.at(row + 1, column))
        return [name for name in found if name is not None]

    def biome(self, biome: str) -> set[str]:
        """The spaces of a biome."""
        return {name for name, terrain in self.spaces.items() if terrain == biome}

    def biomes(self) -> set[str]:
        """All spaces but the ravines."""
        return {name for name, terrain in self.spaces.items() if terrain in BIOMES}


class Planet:
    """A player's board with its pieces, by space."""

    def __init__(self, board: Board, printed: Printed, pieces: dict[str, str] | None = None) -> None:
        self.board = board
        self.printed = printed
        self.pieces = dict(pieces or {})

    def copy(self) -> Planet:
        return Planet(self.board, self.printed, self.pieces)

    def result(self, verb: str, space: str) -> str | None:
        """What stands on a space after an action; None if the action is impossible.

        Arguments:
            verb: "plant" a sprout, "grow" by one step, grow to a "small_tree" or "big_tree", place a "bush" or "lake".
        """
        here = self.pieces.get(space)
        if verb in ("plant", "bush", "lake"):
            piece = "sprout" if verb == "plant" else verb
            ravine = self.board.spaces[space] == RAVINE
            fits = here is None and (not ravine or piece in self.printed.flag("ravine_allows"))
        else:
            if here not in GROWN:
                return None
            piece = GROWN[here]
            fits = verb in ("grow", piece)
        return piece if fits and self.in_supply(piece) else None

    def in_supply(self, piece: str) -> bool:
        """Whether another one is left of the player's own pieces (E12)."""
        supply = self.printed.flag("supply")
        if supply == "unlimited":
            return True
        return bool(list(self.pieces.values()).count(piece) < supply[PIECES.index(piece)])

    def do(self, verb: str, space: str) -> None:
        piece = self.result(verb, space)
        if piece is None:
            raise ValueError(f"{verb} is not possible on {space}")
        self.pieces[space] = piece
