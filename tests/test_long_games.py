"""Games that are long, have many actions, or no end."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_engine.positions.position import positions_of
from tabletop_engine.replays.page import page_data
from tabletop_engine.replays.replay import Replay
from tabletop_engine.testing import check_game
from tabletop_training.measure.matches import evaluate
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
    while not (tmp_path / "out" / "settings.json").exists():  # from now on it plays, and no game of it ends
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "Stopped before the first games were finished" in output, output


def test_points_with_halves(tmp_path: Path) -> None:
    """The komi of Go is in rewards, texts, replays, results and what OpenSpiel is told."""
    config = go.Config()
    batch = Batch(config, 4, 1, autoreset="disabled", reward="margin")
    total, actions = np.zeros((4, 2)), []
    while (running := batch.actors != NOBODY).any():
        taken = batch.random_actions()
        if running[0]:
            actions.append(int(taken[0]))
        batch.step(taken, which=running)
        total += np.where(running[:, None], batch.rewards, 0)
    points = batch.states["points"]
    assert (points[:, 0] % 1 == 0).all() and (points[:, 1] % 1 == 0.5).all()
    assert np.array_equal(total, points - points[:, ::-1])
    first, second = points[0].tolist()
    assert f"player_0 {int(first)}, player_1 {second}" in go.GAME.drawing.render_text(batch.states[0])
    Replay.of(config, 1, actions).save(tmp_path / "game.json")
    replay = Replay.load(tmp_path / "game.json", go.GAME)
    assert replay.points == (first, second)
    assert f"with {max(replay.points)} points" in page_data(replay, None)[0]["result"]
    position = positions_of(config).at(batch.states[0])
    assert position.points.tolist() == [first, second]
    report = evaluate(["random", "random"], config, 4, seed=1).reports[0]
    assert report.estimates["points"].value * 4 % 1 in (0, 0.5)


@pytest.mark.slow
def test_check_of_a_large_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go on 19 x 19 spaces: games of 541 moves, and searches whose playouts are as long."""
    small = Path(go.__file__).read_text(encoding="utf-8")
    large = small.replace("\nSIZE = 9\n", "\nSIZE = 19\n").replace('name="go"', 'name="large_go"')
    assert large.count("\nSIZE = 19\n") == large.count('name="large_go"') == 1
    (tmp_path / "large_go.py").write_text(large, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    check_game(importlib.import_module("large_go").GAME, games=3)
