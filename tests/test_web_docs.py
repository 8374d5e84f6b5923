"""`docs/web.md`: its commands, files and table are right."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from docs import generate
from tabletop_cli import petrichor
from tabletop_engine.drawing import CURVE_STYLE, SCRIPTS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")
WEB = ROOT / "apps" / "tabletop_play" / "web"


def test_its_commands_have_these_options(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    listed = re.findall(r"^ {4}petrichor (.*?)(?:  +#.*)?$", PAGE, re.MULTILINE)
    commands = [*listed, *re.findall(r"`(?:petrichor )?(web --\S+)`", PAGE)]
    assert len(listed) == 4
    for command in commands:
        words = shlex.split(command)
        petrichor.app([words[0], "--help"], standalone_mode=False)
        assert {word for word in words if word.startswith("--")} <= set(re.findall("--[a-z]+", capsys.readouterr().out))


def test_the_table_is_what_was_measured() -> None:
    table = generate.web_table()
    measured = json.loads((ROOT / "docs" / "web.json").read_text(encoding="utf-8"))
    assert measured["tables"] >= 50 and measured["memory"][-1]["games"] >= 1000
    assert table.count(" ms |") == 3 * len(measured["answers"])


def test_its_pictures_are_there() -> None:
    for picture in re.findall(r"\]\((pictures/\w+\.png)\)", PAGE):
        assert (ROOT / "docs" / picture).stat().st_size > 10_000


def test_what_a_game_loads_is_small() -> None:
    """A game loads less than 190 kB, before compression, as docs/web.md says. Other files are loaded when needed."""
    files = {path.name: path for path in (*(WEB / "page").iterdir(), *SCRIPTS, CURVE_STYLE)}
    loaded, coming = {"index.html", *(name for name in files if name.endswith(".css"))}, ["main.js"]
    while coming:
        name = coming.pop()
        loaded.add(name)
        imports = re.findall(r'^(?:im|ex)port .*"\./(\w+\.js)";$', files[name].read_text("utf-8"), re.MULTILINE)
        coming += [one for one in imports if one not in loaded]
    later = ("editor", "faces", "form", "guide", "position", "review", "start")
    assert set(files) - loaded == {f"{name}.js" for name in later}
    assert sum(files[name].stat().st_size for name in loaded) < 190_000
