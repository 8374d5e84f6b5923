"""docs/libraries.md: each program that it links to runs with the page's versions and plays legally.

`make test-libraries` runs those that need packages of their own, and installs these packages.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from docs import library_snippets
from docs.library_snippets import FILE, FOLDER, GAMES, INSTALLED, ROOT, SNIPPETS, STEPS, run_apart
from tabletop_engine.errors import IllegalAction

FEW = 2000
"""Decisions; learners round them up to a rollout."""


def pinned(name: str) -> dict[str, str]:
    """The versions of a snippet's packages that are installed for it."""
    files = [ROOT / "constraints.txt"]
    if SNIPPETS[name].environment:
        files.append(FOLDER / "requirements" / f"{SNIPPETS[name].environment}.txt")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    versions = dict(line.split("==") for line in lines)  # the last line is first on the path
    return {package: versions[package] for package in SNIPPETS[name].packages}


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    """Snippets with packages of their own need these packages."""
    if SNIPPETS[name].environment:
        return [pytest.mark.libraries]
    return [pytest.mark.slow]


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in SNIPPETS])
def test_snippet_learns_and_plays_legally(name: str) -> None:
    """One illegal action would end it, in the environment that it learns from or among the agents that play."""
    assert (INSTALLED / SNIPPETS[name].environment).is_dir() or not SNIPPETS[name].environment, "make test-libraries"
    try:
        result = run_apart(name, FEW, timeout=500)
    except subprocess.CalledProcessError as error:
        pytest.fail(error.stderr[-3000:])
    assert result["games"] >= GAMES and result["versions"] == pinned(name)


def test_an_unmasked_snippet_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a snippet that ends without an error has played only legal actions."""
    text = (FOLDER / "cleanrl_style.py").read_text(encoding="utf-8")
    unmasked = re.sub(r"\.masked_fill\(.*?, -1e8\)", "", text)
    assert unmasked != text
    (tmp_path / "cleanrl_style.py").write_text(unmasked, encoding="utf-8")
    monkeypatch.setattr(library_snippets, "FOLDER", tmp_path)
    monkeypatch.setenv("STEPS", str(FEW))
    with pytest.raises(IllegalAction, match="does not answer"):
        library_snippets.run_here("cleanrl_style")


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet_is_short_and_strict(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    assert 'os.environ.get("STEPS", 204_800)' in text and STEPS == 204_800
    if name not in ("minari_cloning", "openspiel_ppo"):  # they play nothing, or refuse illegal actions anyway
        assert re.search(r"\"?illegal_action\"?[=:] ?\"raise\"", text)


def test_every_file_is_a_snippet() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SNIPPETS)
    wanted = {one.environment for one in SNIPPETS.values()} - {""}
    assert {path.stem for path in (FOLDER / "requirements").glob("*.txt")} == wanted
    listed = re.search(r"^LIBRARIES := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed and set(listed[1].split()) == wanted


def test_page_tells_the_pinned_versions() -> None:
    """After a change of versions the figures have to be measured anew."""
    for name, result in json.loads(FILE.read_text(encoding="utf-8")).items():
        assert result["versions"] == pinned(name), name
        assert result["steps"] == STEPS
