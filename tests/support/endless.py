"""Connect Four whose board is emptied in place of an end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tabletop_engine.compiling.compiled import rule
from tabletop_engine.game import NOBODY, Game
from tests.games import connect_four
from tests.games.connect_four import State


class Config(connect_four.Config):
    """Two players."""


@rule
def step(s: State, t: Any, action: int) -> None:
    connect_four.step(s, t, action)
    if s.actor == NOBODY:
        connect_four.reset(s, t)


GAME: Game = replace(
    connect_four.GAME,
    name="endless",
    home=__name__,
    command="",
    sources=(),
    config=Config,
    rules=replace(connect_four.GAME.rules, step=step),
)
