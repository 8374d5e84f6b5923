"""docs/variant.md: its changes, made to a copy of the game, which is not compiled: that would take longer."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.support.processes import ROOT, in_python

PAGE = (ROOT / "docs" / "variant.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(SHELL,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = """
from tabletop_cli.petrichor import main

for line in {lines!r}:
    try:
        main(line.split()[1:])
    except SystemExit as ended:
        assert not ended.code, line
"""
POSITIONS = """
from petrichor_env.game import check

scenario({"players": 2})
for _ in range(60):
    batch.step(batch.random_actions())
    check(batch.states)
"""
FEW = """
[learning]
num_envs = 4
steps = 8
minibatch = 32
epochs = 1
threads = 1
layers = [16]
[games]
players = [1]
variety = true
[evaluation]
games = 1
[budget]
steps = 32
"""
SHORTER = {
    "--games 200": "--games 2",
    "random greedy": "random",
    "general_solo --start solo --minutes 20": "few.toml --output runs/general_solo",  # tests/test_checkpoints.py starts
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the game, changed as the page says."""
    folder = tmp_path_factory.mktemp("variant")
    shutil.copytree(ROOT / "petrichor_env", folder / "petrichor_env", ignore=shutil.ignore_patterns("__pycache__"))
    blocks = list(re.finditer(r"^```diff\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    assert len(blocks) == 5
    for block in blocks:
        file = folder / re.findall(r"`(petrichor_env/\S+\.py)`", PAGE[: block.start()])[-1]
        lines, text = block[1].splitlines(keepends=True), file.read_text(encoding="utf-8")
        before, after = ("".join(line[1:] for line in lines if line[0] != mark) for mark in "+-")
        assert text.count(before) == 1, before
        file.write_text(text.replace(before, after), encoding="utf-8")
    (folder / "few.toml").write_text(FEW, encoding="utf-8")
    return folder


def in_copy(folder: Path, code: str) -> str:
    paths = os.pathsep.join(map(str, (folder, ROOT, ROOT / "agents", ROOT / "training")))
    return in_python(code, env={"PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"}, cwd=folder).stdout


def test_its_rule_and_its_positions(changed: Path) -> None:
    in_copy(changed, EXAMPLE + POSITIONS)


def test_it_plays_is_learned_and_is_measured(changed: Path) -> None:
    shell = SHELL
    for long, short in SHORTER.items():
        assert long in shell
        shell = shell.replace(long, short)
    lines = [line for line in shell.splitlines() if not line.startswith("petrichor check")]
    assert "- Strong wind: on each of these tiles" in in_copy(changed, COMMANDS.format(lines=lines))
    report = (changed / "runs" / "difficulty" / "report.md").read_text(encoding="utf-8")
    for words in ("32 sets", "of the 496 pairs of sets", "the five variants", "**Strong wind**", "31 effects"):
        assert words in report, words


@pytest.mark.slow
def test_it_is_checked(changed: Path) -> None:
    (line,) = [line for line in SHELL.splitlines() if line.startswith("petrichor check")]
    assert "no mistake was found" in in_copy(changed, COMMANDS.format(lines=[f"{line} --games 2"]))
