"""If Numba can't compile a rule, its author reads the rule, its file and line, and the reason in a sentence."""

from __future__ import annotations

import importlib
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.compiling.failures import WHOLE
from tabletop_engine.errors import RuleError, TabletopError
from tabletop_engine.game import Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.testing import problems_of
from tests.mistakes import UNCOMPILED, write

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled here")


def game_with(mistake: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Game:
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    name = write(folder, mistake, UNCOMPILED)
    monkeypatch.delitem(sys.modules, name, raising=False)  # that of another test, from another folder
    game: Game = importlib.import_module(name).GAME
    return game


def refusal(game: Game) -> RuleError:
    """The error of the first kernels that reach `reset` and `observe`. The others are not compiled."""
    states, tables = np.zeros(1, game.state), game.load_tables(None)
    counts = np.zeros((1, game.observation.size), np.int16)
    try:
        game.kernels.reset_games(states, tables, np.ones(1, np.bool_), np.zeros(1, np.int64))
        game.kernels.count_games(states, tables, np.zeros(1, np.int64), counts)
    except RuleError as error:
        return error
    pytest.fail("everything is compiled")


@pytest.mark.parametrize("name", UNCOMPILED)
def test_a_mistake_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "rules that call each other" and os.environ.get("TABLETOP_PLAIN_NJIT"):
        pytest.skip("plain njit compiles them")
    error = refusal(game_with(name, tmp_path, monkeypatch))
    message = str(error)
    assert re.search(UNCOMPILED[name].found, message), message
    assert "\n" not in message and len(message) < 1000
    assert not re.search(r"\x1b|nestedarray|reflected|Literal|Record\(| at 0x", message), message
    path = next(tmp_path.glob("*.py"))
    assert error.file == str(path)
    assert f"at {path}, line {error.line}: " in message
    source = path.read_text(encoding="utf-8").splitlines()
    assert message.endswith(f": {source[error.line - 1].strip()} ({WHOLE}=1 shows all that Numba says)")
    above = [line for line in source[: error.line] if line.startswith("def ")]
    assert above[-1].startswith(f"def {error.rule}("), "the line is of another rule"


@pytest.mark.parametrize("name", ["an undefined name", "a field that is not there", "a rule without the numbers"])
def test_later_calls_say_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba does not compile a failed rule again, neither for the same kernel nor for another one."""
    game = game_with(name, tmp_path, monkeypatch)
    first = str(refusal(game))
    assert re.search(UNCOMPILED[name].found, first), first
    assert str(refusal(game)) == first
    with pytest.raises(RuleError) as raised:
        Batch(game.config(), 1)
    assert str(raised.value) == first


def test_numbas_text_is_kept_and_shown_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = game_with("a name of two types", tmp_path, monkeypatch)
    error = refusal(game)
    assert "Cannot unify Literal[int](0) and nestedarray(int8, (3,))" in error.numba
    assert "During: resolving callee type" in error.numba
    assert capsys.readouterr().err == ""
    again = pickle.loads(pickle.dumps(error))  # as from another process
    assert (str(again), again.rule, again.file, again.line) == (str(error), error.rule, error.file, error.line)
    monkeypatch.setenv(WHOLE, "1")
    refusal(game)
    assert error.numba in capsys.readouterr().err


def test_a_batch_and_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = game_with("a function of Python", tmp_path, monkeypatch)
    with pytest.raises(TabletopError, match="the rule reset can't be compiled: 'plain' is a function of Python"):
        Batch(game.config(), 1)
    (found,) = problems_of(game, games=2)
    assert found.check == "compiled"
    assert found.message.startswith("the rule reset can't be compiled: 'plain' is a function of Python, not a rule")


@pytest.mark.parametrize(
    "command",
    [["evaluate", "random", "random", "--games", "2"], pytest.param(["check", "--games", "2"], marks=pytest.mark.slow)],
)
def test_commands(command: list[str], tmp_path: Path) -> None:
    """Commands print one line after the progress of compiling. `check` lists it as a mistake."""
    module = write(tmp_path, "a name of two types", UNCOMPILED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT), *sys.path])}
    ran = subprocess.run(
        [sys.executable, "-m", "tabletop_cli", module, *command],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 2, ran.stderr
    assert "Traceback" not in ran.stderr
    told = [line for line in (ran.stdout + ran.stderr).splitlines() if "the rule helper can't be compiled" in line]
    assert len(told) == 1, ran.stdout + ran.stderr
    if command[0] == "evaluate":
        assert ran.stderr.splitlines()[-1].startswith(
            f"python -m tabletop_cli {module}: the rule helper can't be compiled: 'x' is int"
        )


def test_an_error_in_a_game_stays_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that compiled rules raise during a game is no compile error."""
    monkeypatch.syspath_prepend(tmp_path)
    source = (ROOT / "tests" / "games" / "leduc_poker.py").read_text(encoding="utf-8")
    mark = "    s.turn = 0\n    legal(s, t)\n\n\n@rule\ndef step"
    assert mark in source
    (tmp_path / "raising_game.py").write_text(
        source.replace(mark, "    if s.deck[0] >= 0:\n        raise ValueError('no such deck')\n" + mark)
    )
    importlib.invalidate_caches()
    game: Any = importlib.import_module("raising_game").GAME
    with pytest.raises(ValueError, match="no such deck") as raised:
        game.kernels.reset_games(
            np.zeros(1, game.state), game.load_tables(None), np.ones(1, np.bool_), np.zeros(1, np.int64)
        )
    assert not isinstance(raised.value, RuleError)
