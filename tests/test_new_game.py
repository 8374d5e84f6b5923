"""`python -m tabletop_cli new`: the package that it writes works under any allowed name; others are refused."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from petrichor_env import __version__
from tabletop_cli.__main__ import main
from tabletop_cli.new import TEMPLATE, package_of
from tabletop_cli.new import new as new_game
from tests.support.effort import THOROUGH, games

ROOT = Path(__file__).parents[1]
PATHS = os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "training", "apps"))
LONGEST = "a_game_of_dice_and_more_cards1"
"""A name of the greatest length."""


def new(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code of `new`, and what it printed."""
    with pytest.raises(SystemExit) as ended:
        main(["new", *words])
    printed = capsys.readouterr()
    return int(str(ended.value.code or 0)), printed.out, printed.err


def there(folder: Path, *words: str, given: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, which also keeps the compiled code. The program finds this clone's packages."""
    return subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PATHS, "TABLETOP_CACHE_DIR": str(folder / "cache"), **environment},
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=600,
    )


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with another name than the template's, in a folder with another name than the package's."""
    folder = tmp_path_factory.mktemp("new")
    made = there(folder, sys.executable, "-m", "tabletop_cli", "new", "dice_env", "--folder", "some/where else")
    assert (made.returncode, made.stderr) == (0, "")
    first, *others = made.stdout.splitlines()
    assert first.startswith("cd 'some/where else' ") and len(others) == 2
    assert all(line.startswith("python -m tabletop_cli dice_env ") for line in others)
    return folder / "some" / "where else"


def write(folder: Path, name: str) -> None:
    """Write the package as the command does."""
    for path, text in package_of(name).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def test_the_files_and_their_names(package: Path) -> None:
    files = package_of("dice_env")
    assert all((package / path).read_text(encoding="utf-8") == text for path, text in files.items())
    assert set(files) == {
        *(".gitignore", "README.md", "pyproject.toml", "tests/test_dice_env.py"),
        *(f"dice_env/{name}.py" for name in ("__init__", "envs", "game", "dice_v0")),
    }
    for path, text in files.items():
        assert not re.search("my.?game|VERSIONS", text, re.IGNORECASE), path
    project = tomllib.loads(files["pyproject.toml"])["project"]
    major, minor = __version__.split(".")[:2]
    assert (project["name"], project["dependencies"]) == (
        "dice-env",
        [f"petrichor-env>={__version__},<{major}.{int(minor) + 1}"],
    )
    for text in ('name="dice_env"', 'title="Dice Env"', f'version="{project["version"]}"'):
        assert text in files["dice_env/game.py"]


def test_its_own_tests(package: Path) -> None:
    """They compare the game with a slow game. `make test-slow` also runs the one that checks it with `check_game`."""
    chosen = [] if THOROUGH else ["-k", "not no_mistake"]
    ran = there(package, sys.executable, "-m", "pytest", "-q", "-W", "error", *chosen)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(rf"\b{games(10, 11)} passed", ran.stdout), ran.stdout


@pytest.mark.slow
def test_one_number_makes_it_a_game_for_four(tmp_path: Path) -> None:
    """Its own tests check it, too."""
    write(tmp_path, "dice_env")
    game = tmp_path / "dice_env" / "game.py"
    rules = game.read_text(encoding="utf-8")
    assert rules.count("PLAYERS, ROUNDS, SIDES, FULL_POT = 2, ") == 1
    four = rules.replace("PLAYERS, ROUNDS, SIDES, FULL_POT = 2, ", "PLAYERS, ROUNDS, SIDES, FULL_POT = 4, ")
    game.write_text(four, encoding="utf-8")
    code = (
        "import gymnasium\n"
        "from dice_env.dice_v0 import env\n"
        "one = gymnasium.make('dice_env:DiceEnv/Versus-v0')\n"
        "one.reset(seed=1)\n"
        "every = env()\n"
        "every.reset(seed=1)\n"
        "print(one.unwrapped.batch.config.players, len(every.agents))\n"
    )
    agents = ["greedy", "random", "random", "random"]
    for words, told in (
        (["-m", "pytest", "-q"], "passed"),
        (["-c", code], "4 4\n"),
        (["-m", "tabletop_cli", "dice_env", "evaluate", *agents, "--games", "4"], "greedy"),
    ):
        ran = there(tmp_path, sys.executable, *words)
        assert ran.returncode == 0 and told in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.slow
def test_a_mistake_in_it_is_found(tmp_path: Path) -> None:
    """So its tests do look at its rules. Plain Python is enough."""
    write(tmp_path, "dice_env")
    game = tmp_path / "dice_env" / "game.py"
    rules = game.read_text(encoding="utf-8")
    for right, wrong, failed in (
        ("s.cards == s.cards[seat]) == 1:", "s.cards == s.cards[seat]) >= 1:", ["cards_score", "slow_game"]),
        ("if pips == 1:", "if pips == 2:", ["a_1_loses", "slow_game"]),
        ("s.deck[s.cards[other]] += 1\n", "s.deck[s.cards[other]] += 0\n", ["no_mistake"]),
    ):
        assert rules.count(right) == 1, right
        game.write_text(rules.replace(right, wrong), encoding="utf-8")
        chosen = ["-k", " or ".join(failed)]
        ran = there(tmp_path, sys.executable, "-m", "pytest", "-q", *chosen, NUMBA_DISABLE_JIT="1")
        assert ran.returncode == 1
        assert all(re.search(f"FAILED.*{name}", ran.stdout) for name in failed), ran.stdout


@pytest.mark.slow
def test_the_commands_of_its_page(package: Path, tmp_path: Path) -> None:
    """All commands that play or measure, with fewer games. pip would need a network, and the tests have run above."""
    page = (package / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    commands = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    extras = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras) == {"test", "train", "evaluate"}
    elsewhere = [["pip", "install", "-e", f".[{extra}]"] for extra in ("test", "test,train")]
    elsewhere += [["python", "-m", "pytest"]]
    assert all(words in commands for words in elsewhere)
    told = {}
    for words in (words for words in commands if words not in elsewhere):
        assert words[:4] == ["python", "-m", "tabletop_cli", "dice_env"]
        given = "roll\nq\nn\n" if words[4] == "play" else None
        fewer = ["20" if word == "200" else "2000" if word == "100000" else word for word in words[1:]]
        fewer += ["--games", "2"] if words[4] == "check" and not THOROUGH else []  # its tests check more games
        ran = there(package, sys.executable, *fewer, given=given)
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
        told[" ".join(words[4:6])] = ran.stdout
    assert list(told) == [
        *("rules", "play greedy", "check"),
        *("evaluate greedy", "train selfplay", "evaluate policy:runs/first/policy.zip"),
    ]
    assert told["rules"].startswith("# Dice Env: rules")
    assert "greedy's card: secret" in told["play greedy"]
    not_run = "rule lines that never ran in random games in plain Python: roll in game.py, line 111\n"
    assert told["check"] == ("" if THOROUGH else not_run) + "Dice Env: no mistake was found\n"
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    ran = there(package, sys.executable, "-c", code)
    assert re.fullmatch(r"(-1|0|1)\.0 .*\n", ran.stdout), (ran.stdout, ran.stderr)


def test_pettingzoo_and_vector_environments_have_its_names(package: Path) -> None:
    code = (
        "import gymnasium, pettingzoo, dice_env\n"
        "from dice_env import dice_v0\n"
        "made = pettingzoo.make('aec', 'dice_env/dice_env-v0')\n"
        "assert made.unwrapped.__class__ is dice_v0.raw_env\n"
        "envs = gymnasium.make_vec('DiceEnv/Versus-v0', num_envs=3, opponents=('random',))\n"
        "print(envs.reset(seed=1)[0].shape)\n"
    )
    ran = there(package, sys.executable, "-c", code)
    assert ran.returncode == 0 and ran.stdout.startswith("(3, "), ran.stderr


@pytest.mark.parametrize("name", ["a", LONGEST])
def test_it_is_formatted_whatever_its_name(name: str, tmp_path: Path) -> None:
    write(tmp_path, name)
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    ruff = [sys.executable, "-m", "ruff"]
    for words in (
        ("check", "--extend-select", ",".join(lint["select"]), "--ignore", ",".join(lint["ignore"]), "."),
        ("format", "--check", "."),
    ):
        ran = there(tmp_path, *ruff, *words, RUFF_NO_CACHE="true")
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
def test_its_types(package: Path, tmp_path: Path) -> None:
    settings = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache")]
    ran = there(package, sys.executable, "-m", "mypy", *settings, "dice_env", "tests", MYPYPATH=PATHS)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_file_of_the_template_is_written() -> None:
    files = [path for path in TEMPLATE.rglob("*") if path.is_file()]
    assert all(path.suffix == ".txt" for path in files)
    assert len(package_of("a")) == len(files)


# --- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *(
            (name, "must be lower-case words")
            for name in ("My_game", "my-game", "1st", "_my", "my__game", "é", "", "a/b")
        ),
        ("../my_game", "must be lower-case words"),
        (f"{LONGEST}2", "must have at most 30 letters"),
        *((name, "is a word of Python's own") for name in ("class", "list")),
        *((name, "there is a module of this name already") for name in ("random", "numpy", "tabletop_engine")),
        ("pyyaml", "a package of this name is installed already"),
        ("tests", "the package has another folder of this name"),
        ("new", "is this command"),
    ],
)
def test_a_name_that_can_not_be(
    name: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = new(capsys, name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"tabletop_cli new: name={name!r}: {reason}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "broken link"])
def test_nothing_is_overwritten(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "there"
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.write_text("kept", encoding="utf-8")
    else:
        place.symlink_to(tmp_path / "nowhere")
    code, out, err = new(capsys, "my_own_dice", "--folder", str(place))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith("exists already; name a folder that does not, as nothing is overwritten\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
    assert kind != "file" or place.read_text(encoding="utf-8") == "kept"


def test_a_folder_that_can_not_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    code, out, err = new(capsys, "my_own_dice", "--folder", str(tmp_path / "file" / "below"))
    assert (code, out, err.count("\n")) == (2, "", 1) and "can't be made" in err


def test_the_page_of_commands_has_what_the_help_says() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    app = typer.Typer(add_completion=False)
    app.command()(new_game)
    name, folder = (param for param in typer.main.get_command(app).params if param.name != "help")
    assert str(name.help).partition(": ")[2] in page and folder.opts == ["--folder"] and "new my_game --folder " in page


def test_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = new(capsys)
    assert code == 2 and "Usage: tabletop_cli new" in out and err == ""
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2 and "python -m tabletop_cli new NAME" in capsys.readouterr().out
