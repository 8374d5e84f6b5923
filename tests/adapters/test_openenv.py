"""Whole games through OpenEnv's server and clients are those of `TextGame`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tabletop_engine.game import game_of
from tabletop_text import TextGame, Turn
from tests.adapters.framework import ROOT, played

pytestmark = pytest.mark.adapters

SEED = 5
GAMES = [("petrichor_env.game", 1), ("petrichor_env.game", 2), ("evergreen_env.game", 1), ("evergreen_env.game", 2)]


def told(turn: Turn) -> list[Any]:
    parts = [turn.text, turn.question, list(turn.answers), turn.problem, turn.message]
    return [*parts, turn.reward, turn.done, dict(turn.info)]


def expected(game: TextGame, last: bool = False) -> list[Any]:
    turn = game.reset(SEED)
    messages = [told(turn)]
    while not turn.done:
        turn = game.step(str(len(turn.answers)) if last else json.dumps({"answer": turn.answers[0]}))
        messages.append(told(turn))
    return messages


@pytest.mark.parametrize(("home", "players"), GAMES)
def test_games_through_the_server(home: str, players: int) -> None:
    seen = played("openenv", "play_openenv.py", home, str(players), str(SEED))
    game = TextGame(game_of(home).config(players=players))
    whole = expected(game)
    assert seen["whole"]["told"] == whole
    state = seen["whole"]["state"]
    assert (state["game"], state["config"], state["seed"], state["seat"]) == (
        home,
        {"players": players},
        SEED,
        game.seat,
    )
    assert state["step_count"] == len(whole) - 1 and state["episode_id"]

    assert seen["two"] == {"first": whole[1:], "last": expected(game, last=True)[1:]}

    problems, *end = seen["invalid"]
    text, *_, reward, done, info = end
    assert problems == ["truncated", "unknown", ""] and done and "lost" in text
    assert info["invalid"] and not info["won"] and reward <= 0

    assert "seed" in seen["mistake"]
    assert seen["unseeded"][0] != seen["unseeded"][1] and seen["running"] is None
    assert seen["metadata"]["name"] == game.game.title
    assert {"answers", "done", "problem", "question", "reward", "text"} <= set(seen["schema"])


def test_places_are_given_back() -> None:
    """Clients that go away without a word lose their places. One whose connection is still open can go on."""
    seen = played("openenv", "play_openenv.py", "petrichor_env.game")
    assert seen["at_first"][0] == "" and "at capacity" in seen["at_first"][1]
    assert 0 < seen["tries"] < 600 and seen["problem"] == ""


def test_the_file_for_its_tools_names_the_server() -> None:
    folder = ROOT / "apps" / "tabletop_text"
    text = (folder / "openenv" / "openenv.yaml").read_text(encoding="utf-8")
    assert "\napp: tabletop_text.openenv_server:app\n" in text
    assert "\ndef app() " in Path(folder / "openenv_server.py").read_text(encoding="utf-8")
