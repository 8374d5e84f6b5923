"""The table of decisions, and the rule made from one."""

from __future__ import annotations

import numpy as np
import pytest

from petrichor_env.rules.game_flow import DECISIONS
from petrichor_env.state import Decision
from tabletop.compiled import kernel, rule
from tabletop.decisions import by_decision
from tabletop.record import Record, array, dtype_of, number


class Game(Record):
    """A decision, and what was called with what."""

    decision = number(np.int64, "what is asked")
    called = array(np.int64, 3, "by function")


@rule
def _first(s: Game) -> None:
    s.called[0] += 1


@rule
def _second(s: Game, action: int) -> None:
    s.called[1] += action


@rule
def _third(action: int, s: Game) -> None:
    s.decision = 1  # what a function asks next is not answered at once
    s.called[2] += 2 * action


_answer = by_decision({7: _first, 1: _second, 40: _third}, "s", "action")


@kernel
def _play(games: np.ndarray, action: int) -> None:
    for i in range(games.shape[0]):
        _answer(games[i], action)


def test_the_function_of_the_decision_is_called_with_what_it_takes() -> None:
    games = np.zeros(5, dtype_of(Game))
    games["decision"] = [1, 40, 7, 2, 0]
    _play(games, 5)
    assert games["called"].tolist() == [[0, 5, 0], [0, 0, 10], [1, 0, 0], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("decision", Decision)
def test_every_decision_is_in_the_table(decision: Decision) -> None:
    assert (decision in DECISIONS) == (decision != Decision.GAME_OVER)
