"""Whole games in a step of TRL's trainer are those of `TextGame`."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from tabletop_engine.errors import ConfigError, GameOver
from tabletop_engine.game import game_of
from tabletop_text import Form, TextGame
from tabletop_text.trl_environment import OVER, GameTool
from tests.adapters.framework import played

pytestmark = pytest.mark.adapters

FORM = Form(rules=False, board="none")
GAMES = [("petrichor_env.game", 1), ("petrichor_env.game", 2), ("evergreen_env.game", 1), ("evergreen_env.game", 2)]
SEED = 3


def expected(game: TextGame, player: str) -> dict[str, Any]:
    """What the game itself says to a player of play_trl.py, and its result."""
    turn = game.reset(SEED)
    first = turn.text
    replies: list[str] = []
    while not turn.done and (player != "quits" or not replies):
        reply = {"last": str(len(turn.answers)), "illegal": "nothing"}.get(player, "1")
        turn = game.step(reply)
        replies.append(f"{turn.text}\n\n{OVER}" if turn.done else turn.text)
    while not turn.done:
        turn = game.step("")
    assert turn.info["invalid"] == (player in ("illegal", "quits"))
    return {"player": player, "seed": SEED, "first": f"A game.\n\n{first}", "replies": replies, "reward": turn.reward}


@pytest.mark.parametrize(("home", "players"), GAMES)
def test_games_in_a_training_step(home: str, players: int) -> None:
    seen = played("trl", "play_trl.py", home, str(players), str(SEED), seconds=1200)
    games = sorted(seen["games"], key=lambda game: str(game["player"]))
    assert len(games) == 2 * 4
    game = TextGame(game_of(home).config(players=players), form=FORM)
    for player, group in groupby(games, key=lambda game: str(game["player"])):
        wanted = expected(game, player)
        assert list(group) == [wanted, wanted], player
        assert player in ("first", "last") or wanted["reward"] <= 0
    assert seen["logged"]["step"] == 1 and seen["logged"]["tools/failure_frequency"] == 0
    mean = sum(game["reward"] for game in games) / len(games)
    assert seen["logged"]["rewards/GameTool/mean"] == pytest.approx(mean, abs=1e-4)
    assert seen["tools"] == 1 and seen["schema"]["name"] == "answer"
    assert seen["schema"]["parameters"]["required"] == ["text"]


def test_two_games_at_once_and_replies_that_are_no_texts() -> None:
    config = game_of("petrichor_env.game").config(players=2)
    game = TextGame(config)
    one, two = (GameTool("petrichor_env.game", {"players": 2}) for _ in range(2))
    assert one.reset(seed=7, prompt="anything") == two.reset(seed=7) == game.reset(7).text
    wanted = game.step("2").text
    assert one.answer("1") != wanted
    assert two.answer(2) == wanted  # type: ignore[arg-type] # what a model may send
    one.reset(seed=8)
    assert two.answer("nothing") == game.step("nothing").text
    assert two.get_reward() == two.get_reward() == -1
    assert two.answer("1") == OVER


def test_mistakes() -> None:
    with pytest.raises(ConfigError, match="colour"):
        GameTool("petrichor_env.game", {"colour": 2})
    with pytest.raises(ConfigError, match="colour"):
        GameTool("petrichor_env.game", colour=2)
    tool = GameTool("petrichor_env.game")
    with pytest.raises(ConfigError, match="seed"):
        tool.reset(prompt="no seed")
    with pytest.raises(GameOver):
        tool.get_reward()
