"""The site of the documentation: `make site` builds it; these tests check what can be checked without building it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
import yaml

from docs.generate import WHOLE_PAGES
from docs.site import public_names

ROOT = Path(__file__).parents[1]
GENERATED = {"changes.md", "contributing.md"} | {
    f"notebooks/{path.stem}.md" for path in (ROOT / "notebooks").glob("*.ipynb")
}
"""Pages that docs/site/hooks.py makes of files outside docs/."""


def pages_of(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for one in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from pages_of(one)


def test_every_page_is_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = list(pages_of(yaml.safe_load(text[text.index("\nnav:") :])["nav"]))  # extensions above have Python's tags
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(pages) == sorted(there | GENERATED)


def test_pages_say_whom_they_are_for() -> None:
    """In their first words; but for the first page, lists of names, and what commands write."""
    written = {*WHOLE_PAGES, "index.md"}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path.relative_to(ROOT / "docs").as_posix() not in written and path.parent.name != "api":
            title, first, *_ = path.read_text(encoding="utf-8").split("\n\n")
            assert title.startswith("# ") and first.startswith("This page is ") and " for " in first, path.name


def test_public_names_are_documented_on_an_api_page() -> None:
    assert list(public_names.problems()) == []


MADE = '''
def silent(): ...

class Shy:
    """A class."""

    def method(self): ...
    def _private(self): ...

def wrong(first):
    """A function.

    Arguments:
        first: is there.
        second, third: are not.
    """
'''


def test_missing_words_are_found() -> None:
    module = griffe.visit("made", filepath=Path("made.py"), code=MADE)
    assert [problem for name in ("silent", "Shy", "wrong") for problem in public_names.lacking(module[name])] == [
        "made.silent is public and has no docstring",
        "made.Shy.method is public and has no docstring",
        "made.wrong has no argument second",
        "made.wrong has no argument third",
    ]


def test_public_are_names_of_all_and_names_in_texts() -> None:
    names = public_names.public()
    assert names["tabletop_engine.play.names.make_agent"] == "tabletop_agents.__all__"
    assert names["tabletop_engine.play.kernels.sample_actions"] == "docs/start.md"
    assert "petrichor_env.config.Config" in names  # imported as petrichor_env.Config
    assert not any(".rules." in name for name in names)
