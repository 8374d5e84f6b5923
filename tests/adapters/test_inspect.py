"""Whole games through Inspect's `eval`, compared with the same games played by `TextGame` itself."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from tests.adapters.framework import HOMES, directly, played

pytestmark = pytest.mark.adapters


def evaluated(*tasks: tuple[dict[str, Any], str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of tasks, each with its arguments, the scripted player, and Inspect's limits."""
    found: list[dict[str, Any]] = played("inspect", "play_inspect.py", json.dumps(tasks))
    return found


@pytest.mark.parametrize("home", HOMES)
def test_whole_games_end_as_text_games_do(home: str) -> None:
    task: dict[str, Any] = {"game": home, "seeds": 3, "first_seed": 5}
    fresh, growing, solo = evaluated(
        (task, "first", {}),
        ({**task, "seeds": 1, "memory": "game"}, "first", {}),
        ({"game": home, "players": 1, "seeds": 1}, "first", {}),
    )
    ids = ("id", "seed", "seat", "limit")
    for players, found in ((2, fresh), (2, growing), (1, solo)):
        for one in found["samples"]:
            scores = {name: value for name, value in one.items() if name not in ids}
            assert scores == directly(home, players, one["seed"], one["seat"]), one["id"]
            assert one["limit"] is None and not one["invalid"] and one["answers"]
    assert [(one["seed"], one["seat"]) for one in fresh["samples"]] == [(5, 0), (5, 1), (6, 0), (6, 1), (7, 0), (7, 1)]

    # Without a memory each decision is asked alone; with one, all that was said is sent again.
    assert fresh["longest"] == 2
    assert growing["longest"] == 2 * max(one["answers"] for one in growing["samples"])
    assert re.search(r"You are player_[01]\.", fresh["last asked"][0])

    # The games of one seed are one observation.
    margins = np.array([one["margin"] for one in fresh["samples"]]).reshape(3, 2).mean(axis=1)
    assert fresh["metrics"]["margin"]["mean"] == pytest.approx(margins.mean())
    assert fresh["metrics"]["margin"]["stderr"] == pytest.approx(margins.std(ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("home", HOMES)
def test_an_invalid_end_is_never_a_win(home: str) -> None:
    task = {"game": home, "seeds": 1}
    *invalid, retried, left = evaluated(
        (task, "nonsense", {}),
        (task, "cut off", {}),
        ({**task, "players": 1}, "nonsense", {}),
        ({**task, "on_failure": "random", "tries": 1, "opponents": "random"}, "nonsense", {}),
        ({**task, "memory": "game"}, "first", {"message_limit": 10}),
    )
    for found in invalid:
        for one in found["samples"]:
            assert one["invalid"] == 1 and one["unfinished"] == 0
            assert one["answers"] == 0 and one["problems"] == 3 and one["points"] == 0
            assert one.get("win", 0) == 0 and one.get("margin", 0) <= 0
        assert found["metrics"]["invalid"]["mean"] == 1
        assert set(found["texts"]) == {"Replies without a legal answer lost the game."}
        assert found["longest"] == 6  # the three replies to one decision are one conversation
    assert all(one["invalid"] == 0 and one["problems"] > 10 for one in retried["samples"])
    for one in left["samples"]:  # by a limit of Inspect
        assert one["limit"] == "message" and one["unfinished"] == 1 and one["invalid"] == 0
        assert one["win"] == 0 and one["margin"] <= 0 and one["points"] == 0
