"""The games of tests/evergreen/playthroughs come out as they were read and found right."""

from __future__ import annotations

import pytest

from tests.evergreen.playthroughs import FOLDER, PLAYERS, told


@pytest.mark.parametrize("players", PLAYERS)
def test_playthrough(players: int) -> None:
    """After a change of the rules: `python -m tests.evergreen.playthroughs`, then read what has changed."""
    assert told(players) == (FOLDER / f"{players}_players.txt").read_text(encoding="utf-8")


def test_every_number_of_players_has_one() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.txt")) == [f"{players}_players.txt" for players in PLAYERS]
