"""The commands that every game has, with the small games of tests/games: `python -m tabletop_cli HOME …`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tabletop_agents import make_agent
from tabletop_agents.checkpoint import read_notes
from tabletop_cli.__main__ import main
from tabletop_engine.errors import CheckpointError
from tabletop_engine.game import Game
from tests.games import connect_four, leduc_poker
from tests.support.results import rows_of
from tests.support.settings import TINY

pytestmark = pytest.mark.parametrize("game", [connect_four.GAME, leduc_poker.GAME], ids=lambda game: game.name)


def run(game: Game, *words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main([game.home, *words])
    return int(str(ended.value.code or 0))


def test_evaluate_and_replay(game: Game, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, kept = tmp_path / "out", tmp_path / "games"
    assert run(game, "--version") == 0
    assert f"{game.name} {game.version}" in capsys.readouterr().out
    words = ("evaluate", "random", "greedy", "--games", "6", "--seed", "5")
    assert run(game, *words, "--save-replays", str(kept), "--output", str(folder)) == 0
    printed = capsys.readouterr().out
    assert "2p: 3 seeds, 2 rotations" in printed and f"{game.command} replay FILE" in " ".join(printed.split())
    report = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    assert (report["config"], report["state_version"]) == ({"players": 2, "components": None}, game.state_version)
    rows = rows_of(folder / "games.csv")
    assert len(rows) == 12 and list(rows[0])[-1] == "length"  # these games don't count where points come from
    assert len(replays := sorted(kept.iterdir())) == 6
    assert run(game, "replay", str(replays[0]), "--html", str(tmp_path / "page.html")) == 0
    assert game.title in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_tournament_of_what_was_learned(game: Game, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings, folder = tmp_path / "tiny.toml", tmp_path / "run"
    settings.write_text(TINY, encoding="utf-8")
    assert run(game, "train", str(settings), "--output", str(folder)) == 0
    told = tmp_path / "told.json"
    assert run(game, "train", "--resume", str(folder), "--steps", "500", "--json", str(told)) == 0
    learned = json.loads(told.read_text(encoding="utf-8"))
    steps = learned["steps"]
    assert (learned["game"], learned["kind"]) == (game.name, "tiny") and steps >= 500
    assert learned["evaluations"][-1]["steps"] == learned["league"][0]["steps"] == steps
    notes = read_notes(game, folder / "policy.zip")
    assert (notes["game"], notes["training"]["steps"]) == (game.name, steps)
    policy = f"policy:{folder / 'best.zip'}"
    assert run(game, "tournament", "random", policy, "--games", "4", "--output", str(tmp_path / "cup")) == 0
    assert (tmp_path / "cup" / "cross_table.png").read_bytes().startswith(b"\x89PNG")
    other = leduc_poker.GAME if game is connect_four.GAME else connect_four.GAME
    with pytest.raises(CheckpointError, match=f"the game is {game.name}, here {other.name}"):
        make_agent(policy, other)


def test_what_the_game_has_not_is_refused_in_words(
    game: Game, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ("--output", str(tmp_path / "out"))
    for words, text in (
        (("evaluate", "random", "random", "--solo", *output), "No such option: --solo"),
        (("evaluate", "nobody", "random", *output), "agent 'nobody'"),
        (("evaluate", "random", *output), f"1 agent: {game.title} has no game for one; it is for 2 players"),
        (("evaluate", "random", "random", "random", *output), "3 agents: at most 2 play one game"),
        (("evaluate", "policy:solo", "random", *output), "nor a shipped policy of that name (there are: none)"),
        (("train", "nowhere", *output), "no such settings file; shipped ones: none"),
        (("train", "solo", *output), "players=1: must be"),
        (("components",), "No such command 'components'"),
    ):
        assert run(game, *words) == 2
        assert text in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_as_a_module_and_for_no_game_at_all(game: Game) -> None:
    for home, code, text in ((game.home, 0, game.title), ("tests.games", 2, "a module with a GAME in it")):
        words = [sys.executable, "-m", "tabletop_cli", home, "--help"]
        ran = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
        assert ran.returncode == code, ran.stderr
        assert text in ran.stdout + ran.stderr
