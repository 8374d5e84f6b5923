"""docs/migrating.md: what it says about old and new names, commands and settings is true."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import tabletop_agents
import tabletop_training
from petrichor_env.game import GAME
from tabletop_cli.petrichor import app
from tabletop_cli.run import with_new_names
from tabletop_engine.errors import ConfigError
from tabletop_training.files.settings import read_settings, shipped_settings
from tabletop_training.learn.train import TABLES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "migrating.md").read_text(encoding="utf-8")
MOVED = {**tabletop_agents.MOVED, **tabletop_training.MOVED}
NEVER_RELEASED = {"tabletop_agents.shortfalls", "tabletop_training.results"}
"""Old names that came after 0.2.0, so the page leaves them out."""


def part(name: str) -> str:
    """What the page has between the comments of this name."""
    return PAGE.split(f"<!-- {name} -->\n")[1].split(f"<!-- {name}, end -->")[0]


def rows(name: str) -> Iterator[list[str]]:
    """The cells of a table, without its head."""
    for line in part(name).splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("| ").split("|")]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return hasattr(importlib.import_module(module), last)
    return True


def modules_of_the_engine() -> dict[str, str]:
    return {module: names(new)[0] for old, new in rows("modules of the engine") for module in names(old)}


def renames() -> Any:
    """The program of the page as a module that was loaded without renaming anything."""
    space: dict[str, Any] = {}
    before, sys.argv = sys.argv, ["rename.py"]
    try:
        exec(re.sub(r"^```\w*$", "", part("program that renames"), flags=re.MULTILINE), space)
    finally:
        sys.argv = before
    return space


def test_modules_of_the_engine_are_where_the_page_says() -> None:
    for module, package in modules_of_the_engine().items():
        assert is_there(f"{package}.{module}"), module
    assert importlib.util.find_spec("tabletop") is None, "another project's package is installed"


def test_the_program_renames_as_the_table_says() -> None:
    renamed = renames()["renamed"]
    for module, package in modules_of_the_engine().items():
        new = f"{package}.{module}"
        assert renamed(f"import tabletop.{module}\n") == f"import {new}\n"
        assert renamed(f"from tabletop.{module} import Name\n") == f"from {new} import Name\n"
        assert renamed(f"from tabletop import {module}\n") == f"from {package} import {module}\n"
        assert renamed(f'entry_point="tabletop.{module}:Name"') == f'entry_point="{new}:Name"'
    kept = "a tabletop. 'tabletop_agents' and tabletop_training.files.settings\n"
    assert renamed(kept) == kept


def test_the_program_rewrites_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mine.py"
    program.write_text("from tabletop.batch import Batch\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["rename.py", str(program)])
    exec(re.sub(r"^```\w*$", "", part("program that renames"), flags=re.MULTILINE), {})
    assert program.read_text(encoding="utf-8") == "from tabletop_engine.play.batch import Batch\n"


def test_the_tables_of_old_names_are_whole() -> None:
    shown = {
        names(old)[0]: names(new)[0]
        for table in ("agents", "training")
        for old, new in rows(f"names that warn: {table}")
    }
    assert shown == {old: new for old, new in MOVED.items() if old not in NEVER_RELEASED}


def test_names_without_an_old_one() -> None:
    for old, new in rows("names without an old one"):
        assert is_there(names(new)[0]), new
        module, _, last = names(old)[0].rpartition(".")
        if module in MOVED:
            assert not hasattr(importlib.import_module(MOVED[module]), last), old
        else:
            assert importlib.util.find_spec(module) is None, old


def test_modules_that_are_gone() -> None:
    gone = names(PAGE.split("gone without a successor")[1].split("There is one")[0])
    modules = [name if "." in name[1:] else f"tabletop_training{name}" for name in gone]
    assert len(modules) == 12
    assert [name for name in modules if importlib.util.find_spec(name) is not None] == []


def test_commands() -> None:
    command = typer.main.get_command(app)
    for old, new, _ in rows("commands"):
        first, second = (names(cell)[0].split() for cell in (old, new))
        assert second[0] in command.commands, second
        if second[0] == "distil":
            assert with_new_names("petrichor", first)[:2] == second[:2]
        elif second[1] != "FILE":
            assert second[1] in shipped_settings(GAME)


def test_old_settings_files_are_read_and_the_new_ones_say_the_same(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n# (0\.[23]\.0)\n(.*?)```", PAGE, re.DOTALL)
    assert [version for version, _ in blocks] == ["0.2.0", "0.3.0"]
    read = []
    for version, text in blocks:
        path = tmp_path / f"{version}.toml"
        path.write_text(text, encoding="utf-8")
        read.append(read_settings(path, GAME, **TABLES))
    assert read[0] == {**read[1], "opponents": read[0]["opponents"]}
    assert read[0]["opponents"] == read[1]["opponents"]


def test_settings_files_with_general_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "general.toml"
    path.write_text("[general]\nearlier = 0.25\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown table or key general"):
        read_settings(path, GAME, **TABLES)
