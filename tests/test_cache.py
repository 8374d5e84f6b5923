"""Where machine code is kept when neither the home nor the installation can be written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock

from tabletop_engine import extras
from tabletop_engine.compiling import cache, once
from tabletop_engine.compiling.cache import CACHE_VARIABLE
from tabletop_engine.compiling.compiled import Kernel, _in_cache
from tabletop_engine.compiling.rule_compiler import compile_kernel
from tabletop_engine.compiling.shipped import SWITCH
from tabletop_engine.compiling.sources import ENGINE_SOURCES, PACKAGE, Sources, files_of
from tabletop_engine.errors import TabletopError
from tests.games import connect_four

NOWHERE = str(Path(__file__, "nowhere"))
"""No user can make this folder, on any system: a file is in the way."""
USERS = {"darwin": "HOME", "win32": "LOCALAPPDATA"}.get(sys.platform, "XDG_CACHE_HOME")
"""The environment variable that says where the user's cache folder is."""
FOLDERS = """
import subprocess, sys
from pathlib import Path
from tabletop_engine.compiling.cache import code_folder
own = code_folder(Path("."))
assert code_folder(Path(".")) == own and own.is_dir()
child = "from pathlib import Path; from tabletop_engine.compiling.cache import code_folder as f; print(f(Path('.')))"
inherited = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=True)
assert not inherited.stderr, inherited.stderr
print(own, inherited.stdout.strip())
"""


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != CACHE_VARIABLE} | {SWITCH: "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, check=True)


def test_a_folder_that_cannot_be_written() -> None:
    """A temporary folder takes its place, for children too, and is deleted at the end; stderr names the variable."""
    for environment in ({"HOME": NOWHERE, "LOCALAPPDATA": NOWHERE, "XDG_CACHE_HOME": ""}, {CACHE_VARIABLE: NOWHERE}):
        made = run(FOLDERS, **environment)
        own, inherited = made.stdout.split()
        assert own == inherited and not Path(own).exists()
        assert NOWHERE in made.stderr and CACHE_VARIABLE in made.stderr
        assert made.stderr.count("can't be written") == 1


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may not know the user, as in a container. Then the cache is sought where it can't be kept."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", CACHE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.setattr(cache, "_is_writable", lambda folder: False)
    monkeypatch.setattr(cache, "_temporary_folder", lambda wanted: wanted)
    assert cache.code_folder(Path("gems")).is_relative_to(os.sep)


def test_a_library_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there, so the extra is not what is missing."""

    def broken(name: str) -> None:
        raise OSError("requires access to a writable cache directory")

    monkeypatch.setattr(extras, "import_module", broken)
    with pytest.raises(TabletopError, match="a picture needs matplotlib, which does not start here"):
        extras.needed("matplotlib", "a picture", "render")


def test_a_second_game_in_a_process_comes_from_the_cache() -> None:
    """Its shared rules are known to all kernels, so the first game's have met them before the second is made."""
    run(SECOND_GAME.format(first=False))
    assert run(SECOND_GAME.format(first=True)).stdout == "0\n"


SMALL = """
import numpy as np
from tabletop_engine.play.kernels import masked_random_actions as kernel
ready = kernel.is_ready()
kernel(np.ones((1, 2), np.int8), np.zeros(1), np.zeros(1, np.int64))
print(ready, sum(kernel.compiled.stats.cache_hits.values()))
"""
"""Calls a kernel that is compiled in a second. Prints whether it was ready, and whether it was loaded."""


def doubled(number: int) -> int:
    return 2 * number


@pytest.mark.parametrize("used", [True, False])
def test_what_is_damaged_is_compiled_again(tmp_path: Path, used: bool, caplog: pytest.LogCaptureFixture) -> None:
    """Files that are empty, cut off or in part zeros, as a full disk or a crash of the machine leaves them."""

    def loaded() -> bool:
        made = _in_cache(tmp_path, partial(compile_kernel, doubled, used=used))
        assert made(4) == 8 and made._cache.is_filled()
        return sum(made.stats.cache_hits.values()) == 1

    assert not loaded() and loaded()
    for ending in ("nbi", "nbc"):
        (file,) = tmp_path.rglob(f"*.{ending}")
        whole = file.read_bytes()
        zeros = [whole[:at] + bytes(64) + whole[at + 64 :] for at in range(0, len(whole) - 64, len(whole) // 8)]
        for damaged in (b"", whole[: len(whole) // 2], b"no pickle", *(zeros if ending == "nbc" else ())):
            file.write_bytes(damaged)
            caplog.clear()
            assert not loaded() and loaded()
            (told,) = caplog.messages
            assert str(tmp_path) in told and "doubled is damaged, so it is compiled again" in told


READ_ONLY = """
import os, sys
def refuse(event, arguments):
    writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    if event in ("os.mkdir", "os.rename", "os.remove") or (event == "open" and (arguments[2] or 0) & writes):
        if str(arguments[0]) != os.devnull:
            raise PermissionError(13, "Permission denied", arguments[0])
sys.addaudithook(refuse)
"""
"""Nothing can be written from here on, not even by an administrator, and there is no place for a temporary folder."""


def test_a_filled_cache_that_can_only_be_read(tmp_path: Path) -> None:
    folder = {CACHE_VARIABLE: str(tmp_path)}
    run(SMALL, **folder)
    again = run(READ_ONLY + SMALL, **folder)
    assert (again.stdout, again.stderr) == ("True 1\n", "")
    (file,) = tmp_path.rglob("*.nbc")
    file.unlink()
    assert run(READ_ONLY + SMALL, **folder).stdout == "True 0\n"


def test_no_folder_at_all_that_can_be_written(tmp_path: Path) -> None:
    """It is compiled in memory. A line says so."""
    made = run(READ_ONLY + SMALL, **{CACHE_VARIABLE: str(tmp_path / "new")})
    assert made.stdout == "False 0\n"
    assert made.stderr.count("\n") == 1 and "compiled again at every start; set TABLETOP_CACHE_DIR" in made.stderr


def test_compiled_code_goes_there(tmp_path: Path) -> None:
    """Into the folder of the variable, or without it below the user's cache folder. Nothing is printed."""
    code = "import tabletop_engine.play.kernels as k, numpy as n; k.sample_actions(n.ones((1, 2), n.int8), "
    code += "n.random.default_rng(0))"
    for name, variable in (("one", CACHE_VARIABLE), ("two", USERS)):
        assert run(code, **{variable: str(tmp_path / name)}).stderr == ""
        assert list((tmp_path / name).rglob("*.nbc"))


HOME = "tests.games.connect_four"
PLAY = f"""
from tabletop_engine.play.batch import Batch
from {HOME} import GAME
Batch(GAME.config(), 2, 0).step([1, 1])
"""
SAY = """
from tabletop_engine.compiling import once
from tests.games.leduc_poker import GAME
parts = [(part, print, ()) for part in ("one", "two", "three")]
once.compile_once("the rules of nothing", "no time", GAME.kernels.playout, lambda: parts)
"""
"""Prints the messages about compiling, without compiling."""


SECOND_GAME = """
from evergreen_env.config import Config
from evergreen_env.rules import game_flow
from petrichor_env.config import Config as First
from tabletop_engine.play.batch import Batch
if {first}:
    Batch(First(), 1, 0)
Batch(Config(), 1, 0)
print(sum(sum(rule.compiled.stats.cache_misses.values()) for rule in (game_flow.reset, game_flow.legal)))
"""
"""Sets up Evergreen, after Petrichor or not, and counts what was compiled."""


@pytest.mark.parametrize("wanted", ["", "warning", "a root handler", "from Python"])
def test_progress_is_logged(wanted: str, tmp_path: Path) -> None:
    """To stderr, or to the program's own handlers. The level of the logger leaves it out, here or by a variable."""
    first = {
        "a root handler": "import logging; logging.basicConfig(format='%(name)s|%(message)s')",
        "from Python": "import logging; logging.getLogger('tabletop').setLevel('WARNING')",
    }.get(wanted, "")
    level = {"TABLETOP_LOG": wanted} if wanted == "warning" else {}
    said = run(f"import tabletop_engine.play.batch\n{first}\n{SAY}", **{CACHE_VARIABLE: str(tmp_path)}, **level).stderr
    if wanted in ("warning", "from Python"):
        assert said == ""
        return
    start = "tabletop|" if wanted else "tabletop: "
    lines = said.splitlines()
    assert len(lines) == 4 and all(line.startswith(start) for line in lines)
    assert lines[2] == f"{start}compiling the rules of nothing, once, no time: 3/3 three"


def started(folder: Path, code: str) -> subprocess.Popen[str]:
    environment = {**os.environ, CACHE_VARIABLE: str(folder)}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_nothing_promises_a_cache_that_is_not_kept() -> None:
    """Neither the process with a temporary folder nor its child promises one, and nothing is compiled in advance."""
    said = run(
        f"{PLAY}\nimport subprocess, sys; subprocess.run([sys.executable, '-c', {SAY!r}], check=True)",
        **{CACHE_VARIABLE: NOWHERE},
    ).stderr
    assert said.count("the rules are compiled again at every start") == 1
    assert "compiling the rules of Connect Four, half a minute: 1/15" in said
    assert "compiling the rules of nothing, no time: 3/3 three" in said
    assert said.count("tabletop: compiled in") == 2
    assert "once" not in said and "later" not in said
    command = [sys.executable, "-m", "tabletop_cli", HOME, "compile"]
    environment = {**os.environ, CACHE_VARIABLE: NOWHERE}
    ahead = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ahead.returncode != 0 and "compiling" not in ahead.stderr
    assert f"nothing is compiled, as it could not be kept: set {CACHE_VARIABLE}" in ahead.stderr


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the rules of a game. Several processes wanted them at once, after one had died in the middle."""
    folder = tmp_path_factory.mktemp("cache")
    first = started(folder, PLAY)
    while not list(folder.rglob("*.nbc")):
        time.sleep(0.05)
    first.kill()
    first.communicate()
    processes = [started(folder, PLAY) for _ in range(3)]
    said = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert sorted("tabletop: compiled in" in text for text in said) == [False, False, True]
    waited = ["another process is compiling the rules of Connect Four" in text for text in said]
    assert sum(waited) + sum(not text for text in said) == 2  # one that starts late finds the cache filled
    return folder


@pytest.mark.slow
def test_processes_that_start_cold_compile_once(filled: Path) -> None:
    """One compiles; the others wait and say so, and use the result. Nobody waits for a process that died."""
    files = {path: path.stat().st_mtime_ns for path in filled.rglob("*.nbc")}
    assert run(PLAY, **{CACHE_VARIABLE: str(filled)}).stderr == ""
    assert {path: path.stat().st_mtime_ns for path in filled.rglob("*.nbc")} == files


BEGIN = """
import numpy as np
from {home} import GAME
states = np.zeros(1, GAME.state)
GAME.config().write_switches(states)
GAME.kernels.reset_games(states, GAME.load_tables(None), np.ones(1, np.bool_), np.zeros(1, np.int64))
assert states["legal"][0, 0] == 127
"""


@pytest.mark.slow
def test_a_game_whose_module_is_moved(tmp_path: Path) -> None:
    """Machine code names the modules of its functions, so the game compiles anew."""
    package = tmp_path / "mypkg"
    package.mkdir()
    (package / "__init__.py").touch()
    (tmp_path / "gems.py").write_bytes(Path(connect_four.__file__).read_bytes())
    environment = {CACHE_VARIABLE: str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    run(BEGIN.format(home="gems"), **environment)
    (tmp_path / "gems.py").rename(package / "gems.py")
    run(BEGIN.format(home="mypkg.gems"), **environment)


def test_where_machine_code_is_kept(tmp_path: Path) -> None:
    """Other modules, other paths of the rules, and other rules have other folders."""
    sources = [tmp_path / "rules", tmp_path / "logic"]
    for source in sources:
        source.mkdir()
        (source / "stones.py").write_text("STONES = 7\n", encoding="utf-8")
    first = Sources("gems", "gems", files_of(sources[:1])).folder
    assert first == Sources("gems", "gems", files_of(sources[:1])).folder
    others = [
        Sources("gems", "mypkg.gems", files_of(sources[:1])).folder,
        Sources("gems", "gems", files_of(sources[1:])).folder,
        Sources("gems", "gems", files_of(sources[:1]), files_of(sources[1:])).folder,
    ]
    (sources[0] / "stones.py").write_text("STONES = 8\n", encoding="utf-8")
    others.append(Sources("gems", "gems", files_of(sources[:1])).folder)
    assert len({first, *others}) == 5


def test_every_file_of_the_engine_with_compiled_functions_counts() -> None:
    decorated = re.compile(r"^@(rule|shared_rule|kernel)\b|^@\w+_template$|^@rule_with_alternative", re.MULTILINE)
    compiled = {path for path in PACKAGE.rglob("*.py") if decorated.search(path.read_text(encoding="utf-8"))}
    assert len(compiled) > 10 and compiled <= {*ENGINE_SOURCES}


def test_a_process_that_hangs_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a quarter of an hour they compile for themselves."""
    made: list[int] = []
    monkeypatch.setattr(once, "_LONGEST_WAIT", 0.2)
    monkeypatch.setattr(Kernel, "is_ready", lambda self: False)
    last = connect_four.GAME.kernels.playout
    folder = last.sources.folder
    with FileLock(folder / "playout.lock"):
        once.compile_once("what hangs", "for ever", last, lambda: [("all", made.append, (1,))])
    assert made == [1]


@pytest.mark.slow
def test_compiled_ahead(filled: Path, tmp_path: Path) -> None:
    """`compile` leaves nothing to be compiled by agents that search."""
    folder = {CACHE_VARIABLE: str(filled)}
    made = run(f"from tabletop_cli.__main__ import main; main(['{HOME}', 'compile'])", **folder)
    assert f"rules, positions one by one, searches, search with a network: compiled in {filled}" in made.stdout
    assert "tabletop: compiled in" in made.stderr
    words = [HOME, "evaluate", "ismcts-10", "greedy", "--games", "2", "--output", str(tmp_path / "runs")]
    assert "compil" not in run(f"from tabletop_cli.__main__ import main; main({words})", **folder).stderr
