"""The `evergreen` command: the same commands as every game's, with the files that they leave."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path

import pytest

from evergreen_env import GAME, Config
from evergreen_env.state import SOURCE_NAMES
from tabletop_agents import make_agent, shipped_policies
from tabletop_agents.checkpoint import read_notes
from tabletop_cli.evergreen import main
from tabletop_engine.replays.replay import Replay
from tabletop_training.measure.ladder import LADDER, measure_step
from tabletop_training.measure.matches import evaluate
from tests.support.settings import TINY

ROOT = Path(__file__).parents[2]


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(str(ended.value.code or 0))


@pytest.mark.slow
def test_evaluate_and_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, kept = tmp_path / "out", tmp_path / "games"
    words = ("evaluate", "random", "greedy", "random", "--games", "6", "--seed", "5", "--output", str(folder))
    assert run(*words, "--save-replays", str(kept)) == 0
    assert "3p: 2 seeds, 3 rotations" in capsys.readouterr().out
    report = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert report["config"] == {"players": 3, "components": None}
    with (folder / "games.csv").open(newline="", encoding="utf-8") as file:
        assert {f"{source}" for source in SOURCE_NAMES} <= {name.rpartition("_")[2] for name in next(csv.reader(file))}
    replays = sorted(kept.iterdir())
    assert len(replays) == 6
    replay = Replay.load(replays[0], GAME)
    assert len(replay.winners or ()) == 1 and len(replay.points) == 3
    assert run("replay", str(replays[0]), "--html", str(tmp_path / "page.html"), "--seat", "1") == 0
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert run("replay", str(replays[0]), "--gif", str(tmp_path / "game.gif"), "--width", "64") == 0


def test_train_and_play_against_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings, folder = tmp_path / "tiny.toml", tmp_path / "run"
    settings.write_text(TINY)
    assert run("train", str(settings), "--players", "2", "--output", str(folder)) == 0
    learned = f"policy:{folder / 'best.zip'}"
    assert read_notes(GAME, folder / "best.zip")["training"]["players"] == 2
    words = ("tournament", learned, "random", "greedy", "--games", "4", "--output", str(tmp_path / "cup"))
    assert run(*words) == 0
    capsys.readouterr()
    assert run("train", str(settings), "--players", "1", "--output", str(tmp_path / "solo")) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "won" not in printed and "points (in the games that chose it" in printed


def test_the_demonstration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("demo", "--minutes", "0.02", "--games", "4", "--output", str(tmp_path / "demo"))
    assert run(*words, "--json", str(tmp_path / "told.json")) == 0
    assert (tmp_path / "told.json").read_bytes() == (tmp_path / "demo" / "tournament.json").read_bytes()
    left = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"training", "final_board.png", "game.html", "standings.csv", "cross_table.png"} <= left
    assert "trained" in capsys.readouterr().out


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_greedy_is_better_than_random(players: int) -> None:
    row = measure_step("random", "greedy", Config(players), 24, 7)
    assert row["margin"][1] > 50


def test_the_published_ladder_rises() -> None:
    """As docs/evergreen/agents.md says. Checked in the file that the page is made from."""
    published = json.loads((ROOT / "docs" / "evergreen" / "ladder.json").read_text(encoding="utf-8"))
    assert (published["game"], published["rules_version"]) == ("evergreen", GAME.rules_version)
    steps = {(row["players"], row["lower"], row["upper"]): row for row in published["steps"]}
    for players in (1, 2, 3, 4):
        for lower, upper in pairwise(LADDER[:4]):
            row = steps[players, lower, upper]
            assert row["margin"][1] > 0, row
            if players > 1:
                assert row["above"][1] > 0, row


@pytest.mark.parametrize(
    ("players", "at_least"),
    [(2, 0.85), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((3, 0.75), (4, 0.65)))],
)
def test_the_shipped_policy_beats_greedy(players: int, at_least: float) -> None:
    assert shipped_policies(GAME) == ("versus",)
    agents = [make_agent("policy:versus", GAME), *[make_agent("greedy", GAME)] * (players - 1)]
    report = evaluate(agents, Config(players), 120, 77).reports[0]
    assert report.estimates["win_rate"].low > at_least


def test_slips_are_answered_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate", "greedy", "policy:solo") == 2
    assert "nor a shipped policy of that name (there are: versus)" in capsys.readouterr().err
    assert run("play", "greedy", "--components", "missing.toml") == 2
    assert capsys.readouterr().err.startswith("evergreen: missing.toml: no such file")
