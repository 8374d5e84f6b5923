"""The table as plain data."""

from __future__ import annotations

from typing import Any

from tests.reference_evergreen.table import Question, Table
from tests.reference_evergreen.words import PIECES, POWERS, SOURCES


def describe(table: Table, question: Question | None) -> dict[str, Any]:
    """Every player has a planet and points. Other counts name only players with more than 0."""
    printed, players = table.printed, table.players
    return {
        "players": len(players),
        "round": table.round,
        "decision": question.decision if question else "game_over",
        "actor": players[question.seat].name if question else None,
        "first_player": table.first.name,
        "next_first": table.next_first.name if table.next_first else None,
        "marked": None if table.marked is None else table.marked + 1,
        "market": list(table.market),
        "cards": {player.name: player.card for player in players if player.card},
        "deck": printed.in_order(table.deck),
        "discards": printed.in_order(table.discards),
        "collected": printed.in_order(table.collected),
        "zone": [laid.card if laid.face_up else f"{laid.card} (face down)" for laid in table.zone.cards],
        "points": {player.name: player.points for player in players},
        "earned": {player.name: player.earned for player in players if player.earned},
        "scored": _scored(table),
        "levels": {player.name: _counts(player.levels) for player in players if +player.levels},
        "planets": {player.name: _in_reading_order(table, player.planet.pieces) for player in players},
        "shown": {
            "planets": {player.name: _in_reading_order(table, player.shown_pieces) for player in players},
            "levels": {player.name: _counts(player.shown_levels) for player in players if +player.shown_levels},
        },
        "finished": [player.name for player in players if player.seat in table.finished],
    }


def _scored(table: Table) -> dict[str, dict[str, int]]:
    """Points by source and player."""
    found = {
        source: {player.name: player.scored[source] for player in table.players if player.scored[source] > 0}
        for source in SOURCES
    }
    return {source: points for source, points in found.items() if points}


def _counts(levels: dict[str, int]) -> dict[str, int]:
    return {power: levels[power] for power in POWERS if levels.get(power, 0) > 0}


def _in_reading_order(table: Table, pieces: dict[str, str]) -> dict[str, str]:
    assert set(pieces.values()) <= set(PIECES)
    return {space: pieces[space] for space in table.board.spaces if space in pieces}
