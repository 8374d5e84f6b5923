"""The wheel, installed into an environment of its own outside the repository, with nothing of the clone in reach."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
Run = Callable[..., str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # from a copy, because a build writes into its folder, and another process may build at the same time
    source = folder / "source"
    left_out = shutil.ignore_patterns(".*", "build", "runs", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, source, ignore=left_out)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "-w",
        str(folder),
        str(source),
    ]
    ran = subprocess.run(build, check=False, capture_output=True, text=True, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A function that runs programs in an environment with the wheel. Other libraries are those of this environment.

    By default the rules run as plain Python: compiling them there takes minutes, and `slow` tests do.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    where = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
    # a plain path: what makes this clone importable there (an editable install) isn't looked at
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    place = folder / "work"
    place.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))}
    environment = {**kept, "TABLETOP_CACHE_DIR": str(folder / "cache"), "COLUMNS": "100"}

    def run_there(*arguments: str, compiled: bool = False) -> str:
        told = environment | ({} if compiled else {"NUMBA_DISABLE_JIT": "1"})
        ran = subprocess.run(
            [str(python), *arguments], cwd=place, env=told, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        return ran.stdout

    return run_there


def test_top_level_names(wheel: Path) -> None:
    """The wheel installs only names that no other project has: not `agents`, `training`, `benchmarks` or `tests`."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {
        "evergreen_env",
        "petrichor_env",
        "tabletop_engine",
        "tabletop_agents",
        "tabletop_cli",
        "tabletop_play",
        "tabletop_text",
        "tabletop_training",
    }
    for data in (
        "components/base.toml",
        "drawing/curve.css",
        "drawing/curve.js",
        "drawing/elements.js",
        "page.js",
        "solo.zip",
        "versus.zip",
        "solo.toml",
        "py.typed",
        "petrichor_env/rules.md",
        "template/my_game/game.py.txt",
    ):
        assert any(name.endswith(data) for name in names), data


def test_it_is_the_wheel_that_runs(run: Run) -> None:
    packages = "evergreen_env, petrichor_env, tabletop_agents, tabletop_cli, tabletop_engine, tabletop_training"
    paths = run("-c", f"import {packages}; print(*[one.__file__ for one in ({packages})], sep='\\n')").split()
    assert len(paths) == len(packages.split()) and all(
        "elsewhere" in path and "site-packages" in path for path in paths
    ), paths


def test_a_new_game(run: Run) -> None:
    """The template is in the wheel."""
    said = run("-m", "tabletop_cli", "new", "wheel_dice", "--folder", "new")
    assert said.startswith("cd new ")
    program = "import os; os.chdir('new'); from tabletop_cli.__main__ import main; main(['wheel_dice', 'rules'])"
    assert run("-c", program).startswith("# Wheel Dice: rules")


@pytest.mark.slow
def test_blocks_of_the_first_pages(run: Run) -> None:
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/start.md")]
    blocks = re.findall(r"```python\n(.*?)```", "\n".join(texts), re.DOTALL)
    assert len(blocks) > 5
    run("-c", "\n".join(f"exec({block!r}, {{'__name__': 'page'}})" for block in blocks), compiled=True)


def _command(*words: str) -> tuple[str, ...]:
    return ("-c", f"from tabletop_cli.petrichor import main; main({list(words)!r})")


@pytest.mark.slow
def test_evaluate_a_shipped_policy_and_show_a_replay(run: Run) -> None:
    said = run(*_command("evaluate", "policy:versus", "random", "--games", "2", "--save-replays", "replays"))
    assert "policy:versus" in said
    (first, *_) = run("-c", "import os; print(*sorted(os.listdir('replays')))").split()
    run(*_command("replay", f"replays/{first}", "--html", "game.html"))
    assert run("-c", "print(len(open('game.html', encoding='utf-8').read()))").strip() > "1"


def test_the_table_of_agents_is_there(run: Run) -> None:
    plan = "from tabletop_training.petrichor.benchmark import PLAN"
    published = (ROOT / "docs" / "benchmark.json").read_text(encoding="utf-8")
    assert run("-c", f"{plan}; print(PLAN.reference.read_text(encoding='utf-8'), end='')") == published


@pytest.mark.slow
def test_an_agent_is_placed_among_those_of_the_table(run: Run) -> None:
    words = ("benchmark", "policy-sample:versus", "--quick", "--games", "1", "--duel-games", "2", "--search-games", "1")
    said = run(*_command(*words), compiled=True)
    assert "ismcts-2000" in said and "policy-sample:versus" in said


@pytest.mark.parametrize(("package", "page"), [("petrichor_env", "rules.md"), ("evergreen_env", "evergreen/rules.md")])
def test_the_pages_of_the_rules_are_there(run: Run, package: str, page: str) -> None:
    """The copy in the package is read, and made into HTML."""
    written = (ROOT / "docs" / page).read_text(encoding="utf-8")
    program = f"from {package} import GAME; "
    assert run("-c", f"{program}print(GAME.rules_page.read_text(encoding='utf-8'), end='')") == written
    named = run("-c", f"{program}print(GAME.rules_page.name, GAME.rules_page.parent.name)")
    assert named.split() == ["rules.md", package]
    program += "from tabletop_play.web.rules import rules_page; "
    assert run("-c", f"{program}print(rules_page(GAME, GAME.config()))").count("<h2>") == 2


def test_modules_are_commands(run: Run) -> None:
    assert run("-m", "petrichor_env", "--version").startswith("petrichor ")
    assert run("-m", "evergreen_env", "--version").startswith("evergreen ")


@pytest.mark.slow
def test_the_second_game(run: Run) -> None:
    """Its numbers, its policy and its settings are in the wheel, too."""
    said = run("-c", "from tabletop_cli.evergreen import main; main(['components'])")
    assert "MMNN#R." in said
    words = ["evaluate", "policy:versus", "greedy", "--games", "4"]
    assert "policy:versus" in run("-c", f"from tabletop_cli.evergreen import main; main({words!r})", compiled=True)
    settings = "from tabletop_training.files.settings import shipped_settings; from evergreen_env import GAME; "
    configs = (ROOT / "training" / "tabletop_training" / "configs" / "evergreen").glob("*.toml")
    assert run("-c", f"{settings}print(*shipped_settings(GAME))").split() == sorted(file.stem for file in configs)


@pytest.mark.slow
def test_difficulty(run: Run) -> None:
    run(*_command("difficulty", "random", "policy:solo", "--games", "2", "--output", "study"), compiled=True)
    report = run("-c", "print(open('study/report.md', encoding='utf-8').read())")
    assert "policy:solo" in report and "double card" in report.lower()


@pytest.mark.slow
def test_notebook(run: Run) -> None:
    """Its cells run one after another; what they show is drawn elsewhere."""
    cells = json.loads((ROOT / "notebooks" / "01_quickstart.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(sources) > 3
    run("-c", f"space = {{}}\nfor cell in {sources!r}:\n    exec(cell, space)", compiled=True)
