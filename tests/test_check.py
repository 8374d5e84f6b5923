"""The check of a stranger's game: it finds the mistakes of newcomers, and nothing in sound games."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from evergreen_env.game import GAME as EVERGREEN
from petrichor_env.game import GAME as PETRICHOR
from tabletop_cli import evergreen, petrichor
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.testing import CHECKS, CheckFailed, Problem, check_game, declared, hidden, played, problems_of
from tests.games import connect_four, gem_market, leduc_poker, row_houses
from tests.mistakes import MISTAKES, Mistake, write
from tests.support import hints, mistaken_tricks

ROOT = Path(__file__).parent.parent
LONG = "a later draw of other frequencies"
GROUPS = [sorted({*MISTAKES} - {LONG})[i::2] for i in range(2)]


@pytest.mark.parametrize("names", [*GROUPS, pytest.param([LONG], marks=pytest.mark.slow)], ids=range(len(GROUPS) + 1))
def test_a_mistake_is_found_and_named(names: list[str], tmp_path: Path) -> None:
    """Each mistake has a game of its own. All run as plain Python, because compiling 45 games would take minutes."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.mistakes", str(tmp_path), *names],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    found = {line["name"]: line["found"] for line in map(json.loads, ran.stdout.splitlines())}
    assert list(found) == names
    for name in names:
        assert found[name], f"nothing is found: {name}"
        assert re.search(MISTAKES[name].found, found[name][0]), (name, found[name])


def test_the_list_of_mistakes_is_long() -> None:
    assert len(MISTAKES) >= 36


def test_a_sound_game_has_no_mistakes() -> None:
    """The other games are checked in tests/contract/test_games.py."""
    check_game(connect_four.GAME)


def test_progress_names_every_check() -> None:
    heard: list[tuple[str, int, int]] = []
    check_game(connect_four.GAME, games=2, on_check=lambda *one: heard.append(one))
    assert [name.split(",")[0] for name, _, _ in heard] == list(CHECKS)
    assert [done for _, done, _ in heard] == list(range(len(CHECKS)))
    assert {of for _, _, of in heard} == {len(CHECKS)}


def test_players_that_the_game_does_not_have() -> None:
    with pytest.raises(ConfigError, match="players=3: there can be 2"):
        list(problems_of(connect_four.GAME, players=(3,)))


def test_configurations_of_ones_own() -> None:
    heard: list[str] = []
    config = EVERGREEN.config(players=1, components={"flags.season_rounds": [1, 1, 1, 1]})
    check_game(EVERGREEN, games=2, configs=[config], on_check=lambda name, done, of: heard.append(name))
    assert heard == [CHECKS[0], *(f"{check}, {config.name}" for check in CHECKS[1:])]
    with pytest.raises(ConfigError, match=r"configs: .* is not one of Connect Four"):
        list(problems_of(connect_four.GAME, configs=[config]))
    with pytest.raises(ConfigError, match="configs and players: one of them"):
        list(problems_of(EVERGREEN, configs=[config], players=(1,)))


def test_a_mistake_is_told_with_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    game = importlib.import_module(write(tmp_path, "an index past the end")).GAME
    (found,) = problems_of(game, games=6, configs=[game.config()])
    assert str(found).endswith("(config 2p, players 2, seed 2, step 2, seat 0)")


def test_a_failed_check_says_where() -> None:
    problem = Problem("legal set", "no answer", players=2, seed=4, step=0, seat=1)
    assert str(problem) == "legal set: no answer (players 2, seed 4, step 0, seat 1)"
    assert str(Problem("declarations", "no name")) == "declarations: no name"
    failed = CheckFailed([problem, problem])
    assert failed.problems == (problem, problem)
    assert isinstance(failed, AssertionError)  # so that pytest shows a failed test, not an error


def test_a_configuration_is_for_the_games_players() -> None:
    """Otherwise `check`, which gives the number of players, would find nothing, and no other command would start."""
    with pytest.raises(TypeError, match=r"has players=2 by default, but the game is for 3 or 4 players: .* int = 3 in"):
        replace(connect_four.GAME, players=(3, 4))


@pytest.mark.parametrize("module", [mistaken_tricks, hints])
def test_a_mistake_of_a_redraw_is_found(module: ModuleType) -> None:
    """Games in which no two begin alike: what redraws leave is found, and what they draw that can't be."""
    assert not problems_of_redraws(module.GAME.config())
    all_found = [""]
    for number, (mistake, expected) in enumerate(module.MISTAKES.items(), 1):
        (found,) = problems_of_redraws(module.GAME.config(mistake=number))
        assert re.search(expected, found), (mistake, found)
        all_found.append(found)
    if module is mistaken_tricks:
        page = " ".join((ROOT / "docs" / "adding-a-game.md").read_text(encoding="utf-8").split())
        assert all(all_found[one] in page for one in (module.EARLY, module.PARTNER, module.NO_SUITS))


def test_secret_choices_that_are_left_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(row_houses.__file__).read_text(encoding="utf-8")
    changed = text.replace("        take_back_choices(s, s.chosen, seat)\n        return\n", "        return\n")
    assert changed != text
    (tmp_path / "left_choices.py").write_text(changed, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (found,) = problems_of_redraws(importlib.import_module("left_choices").GAME.config())
    assert re.search("(not shown|draws what never occurs in games:) chosen", found)


def problems_of_redraws(config: Config) -> list[str]:
    """What the check of hidden information says."""
    return [problem.message for problem in hidden.problems(config, range(20))]


@pytest.mark.parametrize("game", [row_houses.GAME, gem_market.GAME, EVERGREEN, PETRICHOR], ids=lambda game: game.name)
def test_sound_redraws(game: Game) -> None:
    assert list(hidden.problems(game.config(players=3), range(1))) == []


def test_what_all_know_is_declared() -> None:
    assert declared_problems(replace(hints.GAME, known=("hands",))) == []
    (found,) = declared_problems(replace(hints.GAME, known=("hand",)))
    assert found.endswith("known: hand: not in the record")


def declared_problems(game: Game) -> list[str]:
    """What is wrong with the declarations of a game."""
    return [str(problem) for problem in declared.problems(game)]


def test_what_could_not_be_compared_is_told() -> None:
    """A game that starts with cards has no start that is its own image."""
    heard: list[str] = []
    assert list(played.problems(gem_market.GAME.config(), range(1), heard.append)) == []
    (note,) = heard
    assert note.startswith("not compared with 2 players: images, as games start")
    heard.clear()
    assert list(hidden.problems(leduc_poker.GAME.config(), range(1), heard.append)) == []
    assert heard == []


def test_a_switch_ends_games_with_wrong_indices_with_a_message(tmp_path: Path) -> None:
    """Compiled code without it reads and writes whatever is there, and may crash."""
    crashes = {
        "an index past the end": MISTAKES["an index past the end"],
        "a counter that overflows": Mistake("", (("    s.turn += 1\n", "    s.turn += 100\n"),)),
        "no modulo": Mistake("", (("    other = 1 - seat\n", "    other = seat + 1\n"),)),
    }
    modules = [write(tmp_path, name, crashes) for name in crashes]
    ran = subprocess.run(
        [sys.executable, "-c", PLAYING, *modules],
        cwd=ROOT,
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    told = ran.stdout.splitlines()
    assert len(told) == len(modules)
    for module, line in zip(modules, told, strict=True):
        assert line.startswith(f"{module}:") and "an index past the end of an array, or below its start" in line


def test_a_crash_ends_with_a_message(tmp_path: Path) -> None:
    """Plain Python plays no `greedy`, so that it does not meet the mistake of the rule that values positions."""
    crash = Mistake(
        "",
        (
            ("rules=Rules(", "rules=Rules(value=worth, "),
            (
                "# --- What a player sees",
                "@rule\ndef worth(s: State, t: Any, w: Any, owner: int, memo: np.ndarray) -> float:\n"
                "    memo[1 << 40] += s.points[owner]\n    return 0.0\n\n\n# --- What a player sees",
            ),
        ),
    )
    module = write(tmp_path, "a crash", {"a crash": crash})
    ran = subprocess.run(
        [sys.executable, "-m", "tabletop_cli", module, "check", "--games", "4"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (2, f"python -m tabletop_cli {module}: 1 mistake"), ran
    told = re.sub(r"\s+", " ", ran.stdout)
    assert re.search("every state: compiled code ends its process by .*: .* an index past the end of an array", told)


PLAYING = """
import sys
from tabletop_engine.errors import RuleError
from tabletop_engine.game import NOBODY, game_of
from tabletop_engine.play.batch import Batch

for module in sys.argv[1:]:
    try:
        batch = Batch(game_of(module).config(), 100, 1, autoreset="disabled")
        for _ in range(20):
            batch.step(batch.random_actions(), which=batch.actors != NOBODY)
    except RuleError as error:
        print(error)
"""


def test_lines_that_never_run_and_options_that_change_nothing_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leduc poker with two options, of which its rules read one."""
    changed = Mistake(
        "",
        (
            ("from typing import", "from dataclasses import dataclass\nfrom typing import"),
            (
                "    turn = number(",
                '    ante = number(np.int8, "")\n    unread = number(np.int8, "")\n    turn = number(',
            ),
            ("class Config(", "@dataclass(frozen=True)\nclass Config("),
            ('name="leduc_poker"', 'name="leduc_with_options"'),  # OpenSpiel keeps the parameters of a name
            ("] = ROUNDS\n", "] = ROUNDS\n\n    ante: int = 1\n    unread: bool = False\n"),
            ("    s.chips[:] = ANTE\n", "    s.chips[:] = s.ante\n    if s.ante > 5:\n        s.chips[:] = 5\n"),
        ),
    )
    monkeypatch.syspath_prepend(tmp_path)
    game = importlib.import_module(write(tmp_path, "options", {"options": changed})).GAME
    heard: list[str] = []
    check_game(game, games=2, on_note=heard.append)
    line = (tmp_path / "mistake_options.py").read_text(encoding="utf-8").splitlines().index(
        "        s.chips[:] = 5"
    ) + 1
    assert "the option unread=True changes nothing in 100 random games" in heard
    assert not any("ante=" in note for note in heard)
    (ran,) = (note for note in heard if note.startswith("rule lines that never ran"))
    assert f"reset in mistake_options.py, line {line}" in ran
    config = game.config(ante=2)
    assert (config.name, game.config.of(Batch(config, 1).states[0])) == ("2p-ante_2", config)
    for wrong in ({"ante": 200}, {"ante": 1.5}, {"ante": True}, {"unread": 2}):
        with pytest.raises(ConfigError, match=r"must be (int|bool), in the record int8"):
            game.config(**wrong)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    ran = CliRunner().invoke(evergreen.app, ["check", "--players", "1", "--games", "1", "--json", str(path)])
    assert ran.exit_code == 0, ran.output
    found = json.loads(path.read_text(encoding="utf-8"))
    (note,) = found["notes"]
    assert found["problems"] == [] and note.startswith("rule lines that never ran in random games in plain Python: ")
    assert ran.stdout == f"{note}\nEvergreen: no mistake was found\n"


def test_the_command_with_other_settings() -> None:
    """Numbers of players that the settings do not fit are left out."""
    heard: list[Any] = []

    def problems(game: Game, **told: Any) -> list[Problem]:
        heard.append((game, told["players"], told["configs"]))
        return [Problem("every state", "too loud", 2, config="2p-drafting")]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tabletop_engine.testing.problems_of", problems)
        ran = CliRunner().invoke(petrichor.app, ["check", "--drafting"])
        assert "every state: too loud (config 2p-drafting, players 2)" in ran.stdout
        CliRunner().invoke(petrichor.app, ["check", "--players", "3", "--modules", "cactus"])
        CliRunner().invoke(petrichor.app, ["check", "--players", "3"])
        refused = CliRunner().invoke(petrichor.app, ["check", "--players", "1", "--drafting"])
    assert isinstance(refused.exception, ConfigError) and "no draft in solo" in str(refused.exception)
    drafting = [PETRICHOR.config(players=players, drafting=True) for players in (2, 3, 4, 5)]
    cactus = [PETRICHOR.config(players=3, modules=("cactus",))]
    assert heard == [(PETRICHOR, (), drafting), (PETRICHOR, (), cactus), (PETRICHOR, (3,), ())]


def test_the_command_with_a_mistake(tmp_path: Path) -> None:
    module = write(tmp_path, "a name of two words")
    command = [sys.executable, "-m", "tabletop_cli", module, "check"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT), *sys.path])}
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=False, encoding="utf-8")
    assert ran.returncode == 2, ran.stderr
    assert "declarations: name='Leduc poker': must be one lower-case word" in ran.stdout
    assert ran.stderr.endswith("1 mistake\n")


def test_check_game_raises_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    game = importlib.import_module(write(tmp_path, "a unit without a number")).GAME
    with pytest.raises(CheckFailed, match="the unit 'chips / many' of 'chips'") as failed:
        check_game(game)
    assert len(failed.value.problems) == 1
