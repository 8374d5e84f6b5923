"""`petrichor demo`: learning, a table and pictures in one folder, and Ctrl-C at every stage."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from petrichor_env import GAME
from petrichor_env.config import VARIANTS, Config
from tabletop_agents import Agent, GreedyAgent
from tabletop_agents.checkpoint import read_notes
from tabletop_agents.policy import PolicyAgent
from tabletop_training.measure.evaluation import play_games
from tabletop_training.petrichor import demo
from tabletop_training.petrichor.summaries import ALL_VARIANTS, summarize

SMALL = """[learning]
num_envs = 16
steps = 32
minibatch = 128
epochs = 1
layers = [16]
threads = 1
[games]
players = [1]
variety = true
"""
FILES = {"policy.zip", "learning_curve.csv", "learning_curve.png", "difficulty.csv", "difficulty.png"}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A settings file for a run that takes seconds."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Torch's threads wait for each other by spinning, which is many times slower if other programs use the cores."""
    torch.set_num_threads(1)


def test_demo_leaves_everything_in_one_folder(tmp_path: Path, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = demo.main(minutes=0.05, output=tmp_path / "demo", games=8, seed=3, settings=small)
    assert folder == tmp_path / "demo"
    assert {path.name for path in folder.iterdir()} == FILES
    printed = capsys.readouterr().out
    assert str(folder) in "".join(printed.split("\n"))
    with (folder / "difficulty.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["variants"], row["agent"]) for row in rows] == [
        ("+".join(variants) or "base", agent) for variants in ALL_VARIANTS for agent in ("greedy", "trained")
    ]
    for row in rows:
        assert int(row["games"]) == 8
        assert int(row["seed"]) == 3 + demo.EVALUATION_SEED
        assert float(row["win_rate_low"]) <= float(row["win_rate"]) <= float(row["win_rate_high"])
        assert float(row["margin_low"]) <= float(row["margin"]) <= float(row["margin_high"])
        assert f"{float(row['margin']):+.1f}" in printed
    for picture in ("learning_curve.png", "difficulty.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    # the row of greedy follows from the seed, the trained row from the checkpoint
    agents: list[Agent] = [GreedyAgent(), PolicyAgent.load(folder / "policy.zip", GAME, name="trained")]
    for row, agent in zip(rows[-2:], agents, strict=True):
        again = summarize(play_games([agent], Config(variants=VARIANTS), 8, int(row["seed"])))
        assert int(row["wins"]) == again.wins
        assert float(row["margin"]) == pytest.approx(again.margin.value, abs=1e-4)
    with (folder / "learning_curve.csv").open() as file:
        curve = list(csv.DictReader(file))
    assert sum(int(point["games"]) for point in curve) > 0
    trained = read_notes(GAME, folder / "policy.zip")["training"]
    assert trained["general"] and trained["players"] == 1  # one network for all sets


@pytest.mark.slow
def test_demo_writes_over_nothing(tmp_path: Path, small: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "policy.zip").write_text("mine")
    folder = demo.main(minutes=0.0, output=tmp_path / "demo", games=1, settings=small)
    assert folder == tmp_path / "demo-2"
    assert {path.name for path in folder.iterdir()} == FILES
    assert (tmp_path / "demo" / "policy.zip").read_text() == "mine"


def _run_demo_until(folder: Path, small: Path, ready: str, games: int) -> subprocess.Popen[str]:
    """Start the demo in a process of its own, and wait until it has written this file."""
    program = (
        "import sys; from tabletop_training.petrichor import demo;"
        "from tabletop_training.learn import learner; learner.SECONDS_BETWEEN_CHECKPOINTS = 1;"
        f"demo.main(minutes=float(sys.argv[1]), output=sys.argv[2], games={games}, settings=sys.argv[3])"
    )
    minutes = "60" if ready == "policy.zip" else "0"
    process = subprocess.Popen(
        [sys.executable, "-c", program, minutes, str(folder), str(small)],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 240
    while not (folder / ready).exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return process


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
def test_ctrl_c_while_learning_goes_on_to_the_evaluation(tmp_path: Path, small: Path) -> None:
    process = _run_demo_until(tmp_path / "demo", small, "policy.zip", games=2)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert "Learning stopped early" in output
    assert {path.name for path in (tmp_path / "demo").iterdir()} == FILES
    assert read_notes(GAME, tmp_path / "demo" / "policy.zip")["training"]["steps"] > 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
@pytest.mark.slow
def test_ctrl_c_while_evaluating_keeps_what_is_done(tmp_path: Path, small: Path) -> None:
    process = _run_demo_until(tmp_path / "demo", small, "difficulty.csv", games=400)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert "Evaluation stopped early" in output
    assert {path.name for path in (tmp_path / "demo").iterdir()} == FILES
    with (tmp_path / "demo" / "difficulty.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert 2 <= len(rows) < 32
    assert all(int(row["games"]) == 400 for row in rows)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to one process")
def test_ctrl_c_twice_ends_the_program_and_keeps_the_checkpoint(tmp_path: Path, small: Path) -> None:
    process = _run_demo_until(tmp_path / "demo", small, "policy.zip", games=3000)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert str(tmp_path / "demo") in "".join(output.split("\n"))
    read_notes(GAME, tmp_path / "demo" / "policy.zip")
