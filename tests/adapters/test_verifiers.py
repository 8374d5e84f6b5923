"""Whole games through verifiers' `run_eval`, compared with the same games played by `TextGame` itself."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.adapters.framework import HOMES, directly, played

pytestmark = pytest.mark.adapters


def evaluated(*tasksets: tuple[dict[str, Any], str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of tasksets, each with its arguments, the scripted player, and verifiers' settings of the agent."""
    found: list[dict[str, Any]] = played("verifiers", "play_verifiers.py", json.dumps(tasksets))
    return found


@pytest.mark.parametrize("home", HOMES)
def test_whole_games_end_as_text_games_do(home: str) -> None:
    task: dict[str, Any] = {"game": home, "seeds": 1, "first_seed": 5}
    growing, fresh, solo = evaluated(
        ({**task, "reward": "margin"}, "first", {}),
        ({**task, "memory": "none"}, "first", {}),
        ({**task, "players": 1, "reward": "points", "memory": "none"}, "first", {}),
    )
    for players, found, reward in ((2, growing, "margin"), (2, fresh, "win"), (1, solo, "points")):
        assert [(one["seed"], one["seat"]) for one in found["games"]] == [(5, seat) for seat in range(players)]
        for one in found["games"]:
            assert one["ok"], one["errors"]
            assert one["metrics"] == directly(home, players, 5, one["seat"])
            assert one["reward"] == one["metrics"][reward]
            assert one["turns"] == one["metrics"]["answers"] > 0

    # With a memory the game is one conversation; without one each decision is a branch, a training sample of its own.
    assert growing["longest"] == 2 * max(one["turns"] for one in growing["games"])
    assert fresh["longest"] == solo["longest"] == 2
    assert all(one["branches"] == 1 for one in growing["games"])
    assert all(one["branches"] == one["turns"] for one in fresh["games"] + solo["games"])
    assert re.search(r"You are player_[01]\.", fresh["last"][0])


@pytest.mark.parametrize("home", HOMES)
def test_an_invalid_end_is_never_a_win(home: str) -> None:
    task = {"game": home, "seeds": 1}
    *invalid, left = evaluated(
        (task, "nonsense", {}),
        ({**task, "memory": "none"}, "nonsense", {}),
        (task, "cut off", {}),
        ({**task, "players": 1, "reward": "points"}, "nonsense", {}),
        (task, "first", {"max_turns": 4}),
    )
    for found in invalid:
        for one in found["games"]:
            metrics = one["metrics"]
            assert one["ok"] and metrics["invalid"] == 1 and metrics["unfinished"] == 0
            assert metrics["answers"] == 0 and metrics["problems"] == 3 and metrics["points"] == 0
            assert metrics.get("win", 0) == 0 and metrics.get("margin", 0) <= 0 and one["reward"] == 0
            assert one["branches"] == 1  # the three replies to one decision are one conversation
        assert found["longest"] == 6
    assert "was cut off" in invalid[2]["last"][-1]
    for one in left["games"]:  # by a limit of verifiers
        metrics = one["metrics"]
        assert one["stop"] == "max_turns" and metrics["unfinished"] == 1 and metrics["invalid"] == 0
        assert metrics["win"] == 0 and metrics["margin"] <= 0 and metrics["points"] == 0 and one["reward"] == 0
