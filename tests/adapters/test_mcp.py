"""The command `mcp`: whole games through the client of the protocol's own SDK."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.adapters.framework import played

pytestmark = pytest.mark.adapters

TOOLS = ["new_game", "rules", "look", "legal", "act", "undo"]


@cache
def part(name: str) -> Any:
    """What a part of the program saw."""
    return played("mcp", "play_mcp.py", name)


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_whole_games(game: str) -> None:
    for result in part(game):
        assert result["tools"] == TOOLS
        assert result["errors"] == 0 and result["calls"] > 10
        assert "The game is over. Points: " in result["end"] and "Traceback" not in result["end"]
        assert result["rules"].startswith("# ") and result["rules"] in result["first"]
        assert result["same"], "a server changes nothing of a game"


def test_bad_input_is_answered_in_words() -> None:
    """In the words of `tests/test_text_tools.py`, as the client gets them."""
    works = {"started", "nothing to undo", "listed", "shown", "answered", "undone"}
    for name, text, is_error in part("words"):
        assert is_error == (name not in works), (name, text[:300])
        assert text and len(text) < 5000 and "Traceback" not in text, name
        assert all(letter.isprintable() or letter == "\n" for letter in text), name
    said = {name: text for name, text, _ in part("words")}
    assert "not available here" in said["own class"] and "not available here" in said["a file"]
    assert "not available here" in said["a model"]
    assert said["components"].startswith("options: unknown components")
    assert "No answer is declared" in said["megabyte"]
    assert "1. " in said["listed"] and "1. " not in said["shown"]
    assert len(said["shown"].splitlines()) > len(said["started"].splitlines()), "the board that messages lack"


def test_sessions_know_nothing_of_each_other() -> None:
    result = part("sessions")
    assert result["before"] == [["there is no game: new_game starts one.", True]] * 2
    assert result["same"] == [True, True]
    kept = [not is_error for _, is_error in result["dropped"]]
    assert kept in ([True, False], [False, True]), "two games are kept"
    assert result["status"] == 0 and "Traceback" not in result["said"]


def test_clients_without_sessions_name_their_game() -> None:
    result = part("sessions")
    assert result["required"] == {
        tool: ["game"] * (tool != "new_game") + ["answer"] * (tool == "act") for tool in TOOLS
    }
    assert len(set(result["handles"])) == 2
    assert [is_error for _, is_error in result["looks"]] == [False, False]
    assert result["looks"][0] != result["looks"][1]
    assert result["unnamed"][1] and "game: missing" in result["unnamed"][0]
    assert result["unknown"] == ["there is no game: new_game starts one.", True]


def test_the_server_ends_with_its_client() -> None:
    statuses = {"term": 143, "interrupt": 130}
    for name, result in part("ends").items():
        assert result["status"] == statuses.get(name.split()[0], 0), (name, result)
        assert "Traceback" not in result["said"] and "Fatal" not in result["said"], (name, result["said"])
        assert result["seconds"] < 10 and result["lines"] <= 5, name


def test_a_line_without_an_end_is_no_message() -> None:
    result = part("long line")
    assert result["lengths"] == [4_000_000, 5, 0]
    assert 1 <= result["lines"] <= 2, "the message after it is answered"
    assert result["status"] == 0 and "Traceback" not in result["said"]
