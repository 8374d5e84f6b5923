"""Games that are long, have many actions, or no end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tabletop_engine.testing import check_game
from tests.support import go

ROOT = Path(__file__).parent.parent
PROGRAM = """
import numpy as np
from tabletop_agents import make_agent
from tabletop_agents.search import playouts
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import Batch
from tests.support.endless import GAME

playouts.MOST_DECISIONS = 60
ask(make_agent({name!r}, GAME), Decisions.of(Batch(GAME.config())), np.random.default_rng(1))
"""


@pytest.mark.parametrize("name", ["rollout-1", "ismcts-2"])
def test_a_search_of_a_game_without_an_end_says_so(name: str) -> None:
    """In plain Python, which is faster here than compiling a game."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode != 0
    assert "StateError: Connect Four: a playout of a search has no end after 60 decisions. A game needs" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
def test_a_match_without_an_end_can_be_stopped(tmp_path: Path) -> None:
    words = ["evaluate", "random", "greedy", "--games", "2", "--output", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-m", "tabletop_cli", "tests.support.endless", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 240
    while not (tmp_path / "out" / "games").exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "Stopped early" in output, output


@pytest.mark.slow
def test_check_of_a_large_board() -> None:
    """Go on 19 x 19 spaces: games of 500 moves, and searches whose playouts are as long."""
    check_game(go.GAME, games=3)
