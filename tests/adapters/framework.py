"""Programs in the environment of one framework, which `make test-adapters` makes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tabletop_engine.game import game_of
from tabletop_text import TextGame

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
HOMES = ("petrichor_env.game", "evergreen_env.game")


def python_of(name: str) -> Path:
    """The interpreter of a framework's environment. The test fails where it is missing."""
    found = ROOT / ".venv" / "adapters" / name / "bin" / "python"
    if not found.exists():
        pytest.fail(f"{found} is missing: make test-adapters")
    return found


def played(name: str, program: str, *arguments: str, seconds: float = 600) -> Any:
    """Run `tests/adapters/PROGRAM` in the framework's environment; the JSON on the last line that it prints."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "training", "apps"))
    ran = subprocess.run(
        [python_of(name), FOLDER / program, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=seconds,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def directly(home: str, players: int, seed: int, seat: int) -> dict[str, float]:
    """The results of the same replies in a TextGame, without the adapter."""
    game = TextGame(game_of(home).config(players=players), seat=seat, reward="points")
    turn = game.reset(seed)
    while not turn.done:
        turn = game.step('The first.\n{"answer": "1"}')
    points = turn.info["points"]
    expected = {"points": turn.reward, "invalid": float(turn.info["invalid"]), "unfinished": 0.0}
    expected |= {"answers": turn.info["answers"], "problems": turn.info["problems"]}
    if len(points) > 1:
        others = [points[i] for i in range(len(points)) if i != seat]
        expected["margin"] = points[seat] - sum(others) / len(others)
        expected["win"] = turn.info["won"] / len(game.game.winners(game.session.state))
    return expected
