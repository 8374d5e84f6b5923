"""The checks of a release: sdist and wheel are built, checked, and installed without the clone.

    python -m tests.release [--output dist] [--quick]

Needs `git` and the extra `release`. For each Python the wheel is installed into a new virtual environment without any
extra, and `tests/user_program.py` runs there, with the newest Gymnasium and with the oldest one. The environment
variable PYTHONS names the interpreters, with spaces between; without it, those of SUPPORTED that are found are taken.
REQUIRE_PYTHONS=1 makes a missing one an error.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUPPORTED = ("python3.11", "python3.12", "python3.13", "python3.14")
OLDEST = "gymnasium==1.2.0"
PROGRAM = ROOT / "tests" / "user_program.py"
SOURCES = ("tabletop_engine", "petrichor_env", "evergreen_env", "tabletop_cli", "agents", "training", "apps")
"""Where the packages of the wheel are."""
COPIES = {
    "evergreen_env/rules.md",
    "petrichor_env/rules.md",
    "tabletop_training/tables/evergreen.json",
    "tabletop_training/tables/petrichor.json",
}
"""What setup.py adds."""
TYPED = {"tabletop_engine": 0.95, "petrichor_env": 0.8, "evergreen_env": 0.8}
"""The least share of each package's public names that must have a known type."""
COMMANDS = (
    "petrichor --version",
    "evergreen --help",
    "petrichor components",
    "python -m evergreen_env --version",
    "python -c import\\ tabletop_agents,tabletop_training,tabletop_play,tabletop_text,tabletop_cli",
)


def run(*words: str | Path, where: Path, **more: str) -> str:
    """What a program prints. Ends the check where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [str(word) for word in words],
        cwd=where,
        env={**environment, "PYTHONUTF8": "1", **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if ran.returncode != 0:
        sys.exit(f"{shlex.join(map(str, words))} failed:\n{ran.stdout}")
    return ran.stdout


def say(text: str, since: float) -> float:
    """Print it with the seconds that it took; the time now."""
    now = time.monotonic()
    print(f"{text} ({now - since:.0f} s)", flush=True)
    return now


def tracked() -> set[str]:
    """The files of the clone that git does not ignore."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", where=ROOT).splitlines()
    return {name for name in listed if (ROOT / name).is_file()}


def build(files: set[str], folder: Path, output: Path) -> tuple[Path, Path]:
    """The sdist of these files, and the wheel that is built from it."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    shutil.rmtree(output, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", output, where=folder)
    (sdist,), (wheel,) = output.glob("*.tar.gz"), output.glob("*.whl")
    return sdist, wheel


def check_contents(files: set[str], sdist: Path, wheel: Path) -> None:
    """The wheel has every file of the packages and nothing else; the sdist has nothing that is not in the clone."""
    packages = {name for name in files if name.startswith(tuple(f"{source}/" for source in SOURCES))}
    wanted = {
        name.removeprefix("agents/").removeprefix("training/").removeprefix("apps/") for name in packages
    } | COPIES
    with zipfile.ZipFile(wheel) as archive:
        there = {name for name in archive.namelist() if ".dist-info/" not in name}
    if there != wanted:
        sys.exit(f"{wheel.name}: missing {sorted(wanted - there)}, too much {sorted(there - wanted)}")
    with tarfile.open(sdist) as tar:
        names = {name.name.partition("/")[2] for name in tar.getmembers() if name.isfile()}
    made = {name for name in names if ".egg-info/" in name} | {"PKG-INFO", "setup.cfg"}
    if extra := {name for name in names - made if name not in files or name.startswith("tests/")}:
        sys.exit(f"{sdist.name}: too much: {sorted(extra)}")


def pythons() -> list[str]:
    """The interpreters to check with."""
    named = os.environ.get("PYTHONS", "").split()
    wanted = named or list(SUPPORTED)
    found = [name for name in wanted if _starts(name)]
    if missing := [name for name in wanted if name not in found]:
        print(f"Not found, so not checked: {', '.join(missing)}", flush=True)
    if not found or (missing and (named or os.environ.get("REQUIRE_PYTHONS"))):
        sys.exit("An interpreter that must be checked is missing.")
    return found


def _starts(python: str) -> bool:
    path = shutil.which(python)
    return path is not None and subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def install(python: str, wheel: Path, folder: Path) -> Path:
    """The folder of programs of a new virtual environment that has the wheel."""
    run(shutil.which(python) or python, "-m", "venv", folder, where=wheel.parent)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    _install(programs, wheel, wheel.parent)
    return programs


def _install(programs: Path, what: str | Path, where: Path) -> None:
    run(programs / "python", "-m", "pip", "install", "--quiet", what, where=where)
    run(programs / "python", "-m", "pip", "check", where=where)


def play(programs: Path, where: Path) -> None:
    """Run the user's program, and the commands."""
    run(programs / "python", "-W", "error::DeprecationWarning:__main__", PROGRAM.name, where=where)
    for command in COMMANDS:
        program, *words = shlex.split(command)
        run(programs / program, *words, where=where)


def check_types(programs: Path, where: Path, quick: bool) -> str:
    """Check the types of the user's program against the wheel. Names the type checkers."""
    run(sys.executable, "-m", "mypy", "--strict", "--python-executable", programs / "python", PROGRAM.name, where=where)
    if quick:
        return "mypy"
    run(sys.executable, "-m", "pyright", "--pythonpath", programs / "python", PROGRAM.name, where=where)
    for package, least in TYPED.items():
        if (known := _share_of_known_types(programs, package, where)) < least:
            sys.exit(f"{package}: pyright knows the types of {known:.1%} of the public names, less than {least:.0%}")
    return "mypy, pyright"


def _share_of_known_types(programs: Path, package: str, where: Path) -> float:
    """The share of a package's public names whose types every type checker knows without guessing."""
    found = subprocess.run(
        [sys.executable, "-m", "pyright", "--ignoreexternal", "--outputjson", "--verifytypes", package],
        cwd=where,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},  # the first Python there is used
        capture_output=True,
        encoding="utf-8",
        check=False,  # it fails below 100 %
    )
    try:
        return float(json.loads(found.stdout)["typeCompleteness"]["completenessScore"])
    except (ValueError, KeyError):
        sys.exit(f"pyright --verifytypes {package} failed:\n{found.stdout}{found.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="for sdist and wheel; it is emptied first")
    help_of_quick = "without compiling the rules, pyright (which fetches itself) and the oldest Gymnasium"
    parser.add_argument("--quick", action="store_true", help=help_of_quick)
    options = parser.parse_args()
    if options.quick:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    with tempfile.TemporaryDirectory(prefix="release-") as temporary:
        folder, now, files = Path(temporary), time.monotonic(), tracked()
        sdist, wheel = build(files, folder / "source", options.output.resolve())
        run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel, where=folder)
        check_contents(files, sdist, wheel)
        now = say(f"{sdist.name} and {wheel.name} are built and checked", now)
        outside = folder / "outside"
        outside.mkdir()
        shutil.copy(PROGRAM, outside)
        checked = ""
        for number, python in enumerate(pythons()):
            programs = install(python, wheel, folder / f"environment-{number}")
            version = run(programs / "python", "--version", where=outside).strip()
            play(programs, outside)
            now = say(f"{version}: the wheel plays with the newest Gymnasium", now)
            if not checked:
                checked = check_types(programs, outside, options.quick)
                now = say(f"{version}: types are checked by {checked}", now)
            if options.quick:
                continue
            _install(programs, OLDEST, outside)  # the same environment: machine code is kept by the files' paths
            play(programs, outside)
            now = say(f"{version}: the wheel plays with {OLDEST}", now)


if __name__ == "__main__":
    main()
