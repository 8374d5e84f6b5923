"""Light, forests and fertility (End of Season, End of Game)."""

from __future__ import annotations

from tests.reference_evergreen.planet import Board, Planet
from tests.reference_evergreen.table import Player, Table
from tests.reference_evergreen.words import BIOMES, HEIGHT


def lines(board: Board, sun: str) -> list[list[str | None]]:
    """All columns or rows, each read from the sun's side; None where the board has no space."""
    rows, columns = range(board.height), range(board.width)
    if sun in ("north", "south"):
        found = [[board.at(row, column) for row in rows] for column in columns]
    else:
        found = [[board.at(row, column) for column in columns] for row in rows]
    return [line if sun in ("north", "west") else line[::-1] for line in found]


def lit_trees(planet: Planet, sun: str) -> set[str]:
    """The spaces of the trees that collect light: no equal or bigger tree throws its shadow on them (b7)."""
    lit = set()
    for line in lines(planet.board, sun):
        heights = [HEIGHT.get(planet.pieces.get(space or "", ""), 0) for space in line]
        for here, space in enumerate(line):
            dark = any(
                heights[before] > 0 and here - before <= heights[before] and heights[before] >= heights[here]
                for before in range(here)
            )
            if space is not None and heights[here] > 0 and not dark:
                lit.add(space)
    return lit


def light(planet: Planet, sun: str) -> int:
    return sum(HEIGHT[planet.pieces[space]] for space in lit_trees(planet, sun))


def forest(planet: Planet) -> int:
    """The size of the largest group of adjacent trees and bushes."""
    left = {space for space, piece in planet.pieces.items() if piece in ("small_tree", "big_tree", "bush")}
    largest = 0
    while left:
        reached = [left.pop()]
        for space in reached:
            found = left & set(planet.board.neighbours(space))
            left -= found
            reached += found
        largest = max(largest, len(reached))
    return largest


def fertility(table: Table, planet: Planet) -> int:
    """Each big tree brings the fertility of its biome."""
    terrains = [planet.board.spaces[space] for space, piece in planet.pieces.items() if piece == "big_tree"]
    return sum(table.zone.fertility(terrain) for terrain in terrains if terrain in BIOMES)


def score_season(table: Table) -> None:
    for player in table.players:
        player.scored["light"] += light(player.planet, table.sun)
        player.scored["forest"] += forest(player.planet)


def score_game(table: Table) -> None:
    for player in table.players:
        player.scored["fertility"] += fertility(table, player.planet)


def ranking(table: Table) -> list[Player]:
    """By points; equal ones in the order of the last round (End of Game)."""
    order = table.order()
    return sorted(table.players, key=lambda player: (-player.points, order.index(player)))
