"""docs/adding-a-game.md: its code is the modules of the small games, and what it shows of Connect Four runs."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text(encoding="utf-8")
BUILT, SHOWN, USED = (
    re.findall(r"^```python\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    for part in re.split("^## Larger games|^## What you", PAGE, flags=re.MULTILINE)
)
GAMES = ROOT / "tests" / "games"


def lines_of(code: str) -> list[str]:
    """Without empty lines and the lines between chapters."""
    return [line for line in code.splitlines() if line and not line.startswith("# ---")]


def test_the_page_builds_the_module() -> None:
    module = (GAMES / "connect_four.py").read_text(encoding="utf-8")
    assert lines_of("\n".join(BUILT)) == lines_of(module)
    assert len(BUILT) == 7


def test_excerpts_are_from_larger_games() -> None:
    modules = [(GAMES / name).read_text(encoding="utf-8") for name in ("gem_market.py", "tricks.py")]
    assert [excerpt for excerpt in SHOWN if not any(excerpt in module for module in modules)] == []
    assert len(SHOWN) == 5


def test_it_says_how_long_the_examples_are() -> None:
    lines = {name: int(number) for name, number in re.findall(r"\[(\w+\.py)\]\(\S+\) \| (\d+) \|", PAGE)}
    assert lines == {name: (GAMES / name).read_text(encoding="utf-8").count("\n") for name in lines}
    assert len(lines) == 6


def test_what_it_shows_runs(tmp_path: Path) -> None:
    """In a process of its own, so that what it registers stays there."""
    assert len(USED) == 6
    done = in_python("\n".join(USED), cwd=tmp_path)
    assert "(1024, 84) (1024, 7) (1024, 2)" in done.stdout
    assert (tmp_path / "connect-four.json").stat().st_size > 100
    assert "player_0 0, player_1 0" in done.stdout and re.search(r"^random", done.stdout, re.MULTILINE)
