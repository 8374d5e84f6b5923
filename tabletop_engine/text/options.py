"""The legal actions of a position as answers in words."""

from __future__ import annotations

from typing import Any

from tabletop_engine.game import Game
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.text.answers import Option


def legal_options(game: Game, state: Any) -> list[Option]:
    """The legal actions of a record as `read_answer` takes them."""
    words, names = game.words, game.actions
    return [
        Option(one, words.action_text(state, one), (words.answer_name(state, one), names[one]))
        for one in legal_actions(state).tolist()
    ]
