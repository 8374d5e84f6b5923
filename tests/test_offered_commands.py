"""Commands and options that a game has no use for are not offered, and those that are offered work."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tabletop_cli import __main__ as any_game
from tabletop_engine.game import Game
from tabletop_engine.testing import check_game
from tests.games import connect_four, leduc_poker
from tests.support import one_player
from tests.support.settings import TINY


def run(capsys: pytest.CaptureFixture[str], game: Game, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        any_game.main([game.home, *words])
    printed = capsys.readouterr()
    return int(str(ended.value.code or 0)), printed.out, printed.err


def offered(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, game: Game, *words: str) -> set[str]:
    """The commands of a game, or the options of a command."""
    monkeypatch.setenv("COLUMNS", "200")
    code, help_, _ = run(capsys, game, *words, "--help")
    assert code == 0
    return set(re.findall(r"^│ \*?\s*(--[\w-]+|[a-z][\w-]*) ", help_, re.MULTILINE)) - {"--help", "--version"}


EVERYWHERE = {"play", "web", "mcp", "replay", "review", "evaluate", "text-positions", "train", "distil", "dataset"}
EVERYWHERE |= {"check", "compile", "runs"}
SEVERAL = {"tournament", "benchmark-text"}


def test_commands(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for game in (connect_four.GAME, leduc_poker.GAME):
        assert offered(capsys, monkeypatch, game) == EVERYWHERE | SEVERAL | {"rules"}
    assert offered(capsys, monkeypatch, one_player.GAME) == EVERYWHERE  # this game has no rules as text


def test_options(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With only one number of players, or one seat, there is nothing to choose."""
    for command in ("rules", "evaluate", "tournament", "train", "text-positions", "check"):
        assert not {"--players", "--solo"} & offered(capsys, monkeypatch, connect_four.GAME, command)
    assert {"--rival", "--start"} <= offered(capsys, monkeypatch, connect_four.GAME, "train")
    alone = one_player.GAME
    assert not {"--players", "--rival", "--curriculum"} & offered(capsys, monkeypatch, alone, "train")
    assert not {"--people", "AGENTS"} & offered(capsys, monkeypatch, alone, "play")
    assert "--seat" not in offered(capsys, monkeypatch, alone, "review")
    for game, told in ((connect_four.GAME, "[default: (selfplay)]"), (alone, "[default: (solo)]")):
        assert told in " ".join(run(capsys, game, "train", "--help")[1].split())


def test_rules_that_fail_stop_no_other_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(config: Any, tables: Any = None) -> str:
        raise KeyError("a slip of the author")

    words = replace(one_player.words)
    monkeypatch.setattr(words, "rules", fail, raising=False)
    monkeypatch.setattr(one_player, "GAME", replace(one_player.GAME, words=words))
    assert offered(capsys, monkeypatch, one_player.GAME) == EVERYWHERE | {"rules"}


def test_what_is_offered_for_one_player_works(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = one_player.GAME
    monkeypatch.chdir(tmp_path)
    assert run(capsys, game, "evaluate", "random", "greedy", "--games", "4", "--save-replays", "games")[0] == 0
    replay = str(next(Path("games").glob("*.json")))
    code, out, _ = run(capsys, game, "review", replay, "rollout-4", "--moments", "2")
    assert code == 0 and "better" in out and "who" not in out and "player_0" not in out
    assert run(capsys, game, "replay", replay, "--html", "page.html")[0] == 0
    told = run(capsys, game, "text-positions", "--positions", "2", "--judge", "greedy", "--output", "positions.jsonl")
    assert told[0] == 0 and len(Path("positions.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    Path("tiny.toml").write_text(TINY, encoding="utf-8")
    for settings in ("tiny.toml", "general", None):
        words = ("train", *([settings] if settings else []), "--steps", "300", "--output", f"run-{settings}", "--json")
        code, out, err = run(capsys, game, *words)
        assert code == 0, err
        assert json.loads(out)["kind"] == {"tiny.toml": "tiny", None: "solo"}.get(settings, settings)
    code, _, err = run(capsys, game, "train", "selfplay")
    assert code == 2 and f"self-play is for two players or more; for one it is `{game.command} train solo`" in err
    policy = "run-None/policy.zip"
    for source in ("outcomes", "search"):
        words = ("distil", source, policy, "--steps", "50", "--games", "8", "--output", source)
        assert run(capsys, game, *words)[0] == 0


def test_the_game_for_one_is_sound() -> None:
    check_game(one_player.GAME, games=5)
