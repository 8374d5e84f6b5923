"""The package as a user meets it: names, imports, documents, layers."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import petrichor_env
from docs import pictures
from docs.game_pages import PETRICHOR, actions_page
from petrichor_env.state import DECISION_NAMES
from tabletop_engine.drawing.raster import rgb_array
from tests import release
from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    pytest.param(block, id=f"{Path(page).stem}-{number}")
    for page in (
        "README.md",
        *(f"docs/{name}.md" for name in ("index", "start", "first-agent", "petrichor", "batch", "extend")),
    )
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL), start=1
    )
]
"""What the pages for beginners show."""


def test_version_is_the_projects() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert petrichor_env.__version__ == project["version"]
    assert f"version: {project['version']}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_supported_pythons_are_the_same_everywhere() -> None:
    """In the metadata, in the release check, and in the public CI."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    numbers = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert tuple(f"python{number}" for number in numbers) == release.SUPPORTED
    assert project["requires-python"] == f">={numbers[0]}"
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    matrices = [re.findall(r"3\.\d+", line) for line in re.findall(r"python: \[.*\]", workflow)]
    assert numbers in matrices and [numbers[0], numbers[-1]] in matrices


def test_public_names_are_there() -> None:
    for name in petrichor_env.__all__:
        assert getattr(petrichor_env, name) is not None


def test_the_core_is_light() -> None:
    """Importing and playing load no package of the extras, except SciPy, which Numba loads if it is installed."""
    program = (
        "import sys, gymnasium\n"
        "env = gymnasium.make('petrichor_env:Petrichor/Solo-v0')\n"
        "env.reset(seed=0)\n"
        "heavy = {'torch', 'matplotlib', 'stable_baselines3', 'sb3_contrib', 'pandas', 'envpool', 'pygame', 'PIL'}\n"
        "sys.exit(repr(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    in_python(program)


def test_pinned_versions_fit_the_requirements() -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    def pins(file: Path) -> dict[str, str]:
        lines = file.read_text(encoding="utf-8").splitlines()
        pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
        return {canonicalize_name(name): version for name, version in pairs}

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = pins(ROOT / "constraints.txt")
    for extra, lines in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        # frameworks for language models are pinned in files of their own, as they contradict each other
        own = ROOT / "tests" / "adapters" / "requirements" / f"{extra}.txt"
        pinned = pins(own) if own.exists() else ours
        for requirement in map(Requirement, lines):
            if requirement.name != "petrichor-env":
                name = canonicalize_name(requirement.name)
                assert pinned[name] in requirement.specifier, name


def test_start_lists_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = (ROOT / "docs" / "start.md").read_text(encoding="utf-8").partition("| extra |")[2].partition("\n\n")[0]
    listed = [name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(listed) == sorted(project["optional-dependencies"])


def tracked_files() -> list[str]:
    """The names of the files that git tracks. The test is skipped where there is no git, or no clone."""
    git = shutil.which("git")
    listed = (
        git and subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    )
    if not listed:
        pytest.skip("this is no git clone")
    return listed.rstrip("\0").split("\0")


def test_the_import_names_are_ours() -> None:
    """No other project on PyPI has these names."""
    packages = {Path(line).parent for line in tracked_files() if line.endswith("/__init__.py")}
    shipped = {path.name for path in packages if path.parent.name in ("", "agents", "training", "apps")}
    games = {"evergreen_env", "petrichor_env"}
    apps = {"tabletop_cli", "tabletop_play", "tabletop_text"}
    ours = games | apps | {"tabletop_agents", "tabletop_engine", "tabletop_training"}
    assert shipped - {"benchmarks", "machine_code", "tests"} == ours


def test_a_clone_stays_small() -> None:
    """Checks the sum of the tracked files. How often large files are replaced can't be checked (CONTRIBUTING.md)."""
    sizes = {name: path.stat().st_size for name in tracked_files() if (path := ROOT / name).is_file()}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:5]
    assert sum(sizes.values()) < 25_000_000, f"the largest: {', '.join(largest)}"


def test_no_file_names_a_machine_or_a_package_index() -> None:
    """Checked in a clone, because an unpacked archive has no list of tracked files."""
    listed = tracked_files()
    indexes = re.compile(r"(extra-)?index-url|find-links|/home/\w|/root/|/work/\w|file://|pypi\.", re.IGNORECASE)
    for name in listed:
        path = ROOT / name
        if path.suffix not in {".png", ".ipynb", ".zip"} and path.name not in {
            Path(__file__).name,
            "test_notebooks.py",
        }:
            assert not indexes.search(path.read_text(encoding="utf-8")), name


def test_generated_pages_are_current() -> None:
    for page, text in PETRICHOR.written().items():
        assert page.read_text(encoding="utf-8") == text


def test_pictures_are_current() -> None:
    """Compared pixel by pixel, except for differences at edges, which other versions of a library make."""
    for name, svg in pictures.drawings():
        with Image.open(pictures.FOLDER / f"{name}.png") as picture:
            stored = np.asarray(picture, np.int64)
        assert np.abs(stored - rgb_array(svg, pictures.WIDTH)).mean() < 1, name


def test_the_page_of_actions_speaks_of_every_decision() -> None:
    table = actions_page(PETRICHOR).split("| action | name |")[0]
    answered = " ".join(line.split("|")[3] for line in table.splitlines() if line.startswith("|"))
    for name in DECISION_NAMES[1:]:
        assert name.split("_")[0] in answered, name


@pytest.mark.parametrize("block", BLOCKS)
def test_code_of_the_first_pages_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block runs by itself in an empty folder. Blocks that learn do so for one rollout."""
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    try:
        exec(compile(re.sub(r"\.learn\([\d_]+\)", ".learn(1)", block), "page", "exec"), {"__name__": "page"})
    finally:
        torch.set_num_threads(threads)


def test_the_ten_lines_play_the_same_game_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Random actions have a seed, too."""
    block = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    shown = []
    for _ in range(2):
        exec(compile(block, "page", "exec"), {"__name__": "page"})
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_knows_its_commands() -> None:
    listed = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.split()[0] for line in listed.splitlines()} >= {"demo", "test", "lint", "bench"}
