"""The programs of the pages run with what their page names: the core, and the extras that it says one needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.library_snippets import FOLDER, SNIPPETS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BLOCK = re.compile(r"^```python\n(?!>>>)(.*?)^```", re.DOTALL | re.MULTILINE)
ELSEWHERE = {
    "adding-a-game.md": "its blocks are one game, in test_adding_a_game",
    "evaluation.md": "its program reads what a command has written",
    "variant.md": "its programs need its changes of the code, in test_variant_of_your_own",
    "language-models.md": "its blocks ask models, in test_language_models_docs",
    "libraries.md": "its programs are files, each with extras of its own",
}
"""Pages whose programs are tried in another way."""

RUN = """
import importlib.machinery, importlib.metadata, json, re, sys
sources, there = json.load(sys.stdin)
made_by = importlib.metadata.packages_distributions()
kept = {name for name, makers in made_by.items() if {re.sub("[-_.]+", "-", one).lower() for one in makers} & {*there}}
class Found(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        top = name.partition(".")[0]
        return super().find_spec(name, path, target) if top in kept or top not in made_by else None
sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Found
names = {"__name__": "__main__"}
for name, source in sources:
    exec(compile(source, name, "exec"), names)
"""
"""Runs programs as if only some of the distributions were installed."""


def brought_by(extras: list[str]) -> list[str]:
    """The distributions that the package with these extras brings."""
    waiting = [Requirement(f"petrichor-env[{','.join(extras)}]")]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if str(one) in seen:
            continue
        seen |= {str(one), name}
        if name == "petrichor-env":  # as it is now, not as it was when it was installed
            lines = [
                *PROJECT["dependencies"],
                *(line for each in one.extras for line in PROJECT["optional-dependencies"][each]),
            ]
        else:
            try:
                lines = metadata.requires(name) or []
            except metadata.PackageNotFoundError:  # for another system
                continue
        for needed in map(Requirement, lines):
            if needed.marker is None or any(needed.marker.evaluate({"extra": each}) for each in ("", *one.extras)):
                needed.marker = None
                waiting.append(needed)
    return sorted(seen)


def named_on(page: str) -> list[str]:
    """The extras that a page says one needs: `the extra train`, `".[train]"`."""
    words = re.findall(r"\[?extras?(?:\]\([^)]*\))? `(\w+)`", page)
    for several in re.findall(r'"\.\[([\w,]+)\]"', page):
        words += several.split(",")
    return sorted({*words})


def cases() -> list[tuple[str, list[str], list[str]]]:
    """Pages, and programs of docs/libraries.md that are no page: a name, programs, and extras."""
    found: list[tuple[str, list[str], list[str]]] = []
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        if path.name not in ELSEWHERE and (blocks := BLOCK.findall(text)):
            found.append((path.relative_to(ROOT).as_posix(), blocks, named_on(text)))
    for name, snippet in SNIPPETS.items():
        if not snippet.environment:
            found.append((name, [(FOLDER / f"{name}.py").read_text(encoding="utf-8")], [*snippet.extras]))
    parallel = [
        one for one in BLOCK.findall((ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")) if "aec_to" in one
    ]
    return [*found, ("turn_based_aec_to_parallel", parallel, [])]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "programs", "extras"), [pytest.param(*one, id=one[0]) for one in cases()])
def test_programs_run_with_what_their_page_names(
    name: str, programs: list[str], extras: list[str], tmp_path: Path
) -> None:
    """Those that learn do so for one rollout."""
    short = [re.sub(r"\.learn\([\d_]+\)", ".learn(1)", one) for one in programs]
    given = json.dumps([[(f"{name} {i}", one) for i, one in enumerate(short, start=1)], brought_by(extras)])
    paths = os.pathsep.join(map(str, [ROOT, ROOT / "agents", ROOT / "training"]))
    environment = os.environ | {"PYTHONPATH": paths, "STEPS": "1", "MPLBACKEND": "agg"}
    command = [sys.executable, "-c", RUN]
    ran = subprocess.run(
        command, input=given, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert programs and ran.returncode == 0, ran.stderr[-3000:]
