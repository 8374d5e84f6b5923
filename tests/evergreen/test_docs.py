"""docs/evergreen: generated pages are current, tables complete, and what the pages show runs."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from docs import game_pages
from docs.game_pages import EVERGREEN
from evergreen_env import describe, scenario
from evergreen_env.component_files import COMPONENTS, KEYS
from evergreen_env.observation import LAYOUT
from evergreen_env.state import DECISION_NAMES, MAX_SPACES, SOURCE_NAMES
from tabletop_engine.errors import ComponentsError

PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted(EVERGREEN.folder.glob("*.md"))}
RUNNING = [name for name, page in PAGES.items() if "```python" in page and ">>>" not in page]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.DOTALL)


def first_cells(page: str, heading: str) -> list[list[str]]:
    """The names in the first column of each table below a heading, as far as they are code."""
    tables = re.findall(r"(?:^\|.*\n)+", PAGES[page].split(f"\n{heading}\n")[1].split("\n## ")[0], re.MULTILINE)
    return [re.findall(r"^\| `([^`]*)` \|", table, re.MULTILINE) for table in tables]


def test_generated_pages_are_current() -> None:
    for path, text in EVERGREEN.written().items():
        assert PAGES[path.name] == text


@pytest.mark.parametrize("page", RUNNING)
def test_what_a_page_shows_runs(page: str) -> None:
    """All blocks of a page run one after another, as a reader would run them."""
    exec(compile("\n".join(blocks(page, "python")), page, "exec"), {"__name__": "docs"})


def test_examples_of_scenarios() -> None:
    results = doctest.testfile(str(EVERGREEN.folder / "scenarios.md"), module_relative=False)
    assert results.attempted > 20 and results.failed == 0


def test_pages_that_show_code_are_found() -> None:
    assert RUNNING == ["components.md", "index.md", "observation.md"]


# --- Rules -----------------------------------------------------------------------------------------------------------


def test_every_flag_stands_in_the_rules() -> None:
    """The generated table of docs/evergreen/components.md has the values."""
    for key in KEYS:
        table, name = key.split(".")
        assert table != "flags" or f"`{name}" in PAGES["rules.md"], name


def test_every_edge_case_stands_in_the_rules() -> None:
    for number in range(1, 25):
        assert len(re.findall(rf"(^\| |\| )E{number}( \||:)", PAGES["rules.md"], re.MULTILINE)) == 1, number


# --- Components ------------------------------------------------------------------------------------------------------


def test_overlays_that_the_page_shows(tmp_path: Path) -> None:
    """Each overlay is allowed and changes something."""
    shown = blocks("components.md", "toml")
    assert len(shown) == 4
    for example in shown:
        (tmp_path / "my-edition.toml").write_text(example, encoding="utf-8")
        assert COMPONENTS.own_numbers(str(tmp_path / "my-edition.toml"))


def test_every_key_of_component_files_is_in_the_table() -> None:
    assert first_cells("components.md", "## Keys") == [list(KEYS)]


def test_the_message_that_the_page_shows() -> None:
    (message,) = blocks("components.md", "text")
    with pytest.raises(ComponentsError) as error:
        COMPONENTS.read("flags.power_cap = 15", "my-edition.toml", COMPONENTS.load())
    assert message == f"evergreen: {error.value}\n"


# --- Scenarios -------------------------------------------------------------------------------------------------------


def test_every_key_of_a_description_is_in_the_tables() -> None:
    keys, pending = first_cells("scenarios.md", "## Keys")
    drafted = {"player_0": "swamp bush"}
    full = describe(scenario({"players": 1, "cards": drafted}))
    assert set(full) == set(keys) - {"forfeited"}
    assert list(full["pending"]) == pending
    assert set(describe(scenario({"players": 1}))) == set(keys) - {"forfeited", "pending"}
    for name in (*DECISION_NAMES, *SOURCE_NAMES):
        assert f"`{name}`" in PAGES["scenarios.md"]


# --- Observation and actions -----------------------------------------------------------------------------------------


def test_planes_stand_side_by_side() -> None:
    """As the page of the observation says."""
    at = LAYOUT["planets"].start
    for name in ("planets", "lit_trees", "largest_forest", "choices"):
        block = LAYOUT[name]
        assert block.start == at and block.shape[-2:] == (7, 7)
        at += block.size
    assert at - LAYOUT["planets"].start == 23 * 49


def test_the_shipped_planet_is_drawn_with_its_numbers() -> None:
    numbers = re.findall(r"\d+", game_pages._shipped_spaces())
    assert [int(number) for number in numbers if int(number) > 7] == list(range(8, MAX_SPACES + 1))
