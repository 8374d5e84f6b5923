"""Descriptions of small games that contradict themselves are refused: compiled rules would read past their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tabletop_engine.errors import ScenarioError, StateError
from tabletop_engine.game import Game
from tabletop_engine.play.batch import Batch
from tests.games import gem_market, row_houses

Change = Callable[[dict[str, Any]], Any]


def lay(*path: Any) -> Change:
    """A change of a description. The last of `path` is the value; the parts before it lead to its place."""
    *way, last, value = path

    def change(description: dict[str, Any]) -> None:
        place: Any = description
        for step in way:
            place = place[step]
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("game", "answers", "change", "told"),
    [
        (gem_market.GAME, 0, lay("deck", 2, 0, 89), "more cards than the tier has"),
        (gem_market.GAME, 0, lay("deck", 0, 0, 41), "more cards than the tier has"),
        (gem_market.GAME, 0, lay("deck", 1, 1, 5), "of another tier"),
        (gem_market.GAME, 0, lay("market", 1, 3, 89), "of another tier"),
        (gem_market.GAME, 0, lambda told: lay("reserved", 0, 0, told["market"][0][0])(told), "in two places"),
        (gem_market.GAME, 0, lambda told: lay("reserved", 0, 0, told["deck"][2][3])(told), "in two places"),
        (gem_market.GAME, 0, lay("secret", 1, 2, 1), "no card is reserved there"),
        (row_houses.GAME, 0, lay("row", 0), "not a house for each"),
        (row_houses.GAME, 0, lambda told: lay("row", told["row"] & told["row"] - 1)(told), "not a house for each"),
        (row_houses.GAME, 0, lambda told: lay("deck", told["deck"] | told["row"])(told), "in two places"),
        (row_houses.GAME, 1, lay("actor", 0), "one who bids has passed"),
        (row_houses.GAME, 0, lay("round", 2), "more or fewer houses"),
        (row_houses.GAME, 10, lay("owned", 0, 0), "more or fewer houses"),
        (row_houses.GAME, 10, lay("decision", 0), "not a house for each"),
    ],
)
def test_what_no_game_reaches_is_refused(game: Game, answers: int, change: Change, told: str) -> None:
    """The position is reached by some answers, which in Row Houses are always to pass."""
    batch = Batch(game.config(), 1, 3, autoreset="disabled")
    for _ in range(answers):
        batch.step([row_houses.PASS])
    description = game.described(batch.states[0])
    change(description)
    with pytest.raises(ScenarioError, match=told):
        game.scenario(description, None)
    states = np.zeros(1, game.state)
    states[:] = batch.states
    for name, value in description.items():
        states[name] = value
    with pytest.raises(StateError, match=told):
        game.check(states, batch.tables)
