"""The figures of the documents: tables of them are generated, name the command that measures them, and are current."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

from docs.generate import BLOCKS, DOCS, GAMES, STRENGTHS, WHOLE_PAGES, Block, measured_table, replace_block, strengths
from tabletop_cli import evergreen, petrichor

_ABOVE = [DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md")]
PAGES = {page: page.read_text(encoding="utf-8") for page in [*_ABOVE, *sorted(DOCS.rglob("*.md"))]}
WRITTEN = {DOCS / page for page in WHOLE_PAGES} | {page for game in GAMES for page in game.written()}
MEASURED = json.loads((DOCS / "measured.json").read_text(encoding="utf-8"))
COMMANDS = {"petrichor": petrichor.app, "evergreen": evergreen.app}

FIGURES = re.compile(r"\d ?%|/s\b|\d ?(?:ms|µs)\b")
"""How a table of measured figures is recognised: a percentage, a rate or a time."""
ESTIMATE = re.compile(r"\d+\.\d % \(\d+\.?\d*–\d+\.?\d*\)")
"""A share with its interval, as `63.1 % (59.0–67.1)`."""
PRINTED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
MARKED = re.compile(r"<!-- (?!end of)(.+?) -->\n.*?<!-- end of \1 -->\n?", re.DOTALL)
TABLE = re.compile(r"^\|.*(?:\n\|.*)*", re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}: {block.name}")
def test_block_is_current(block: Block) -> None:
    page = (DOCS / block.page).read_text(encoding="utf-8")
    assert f"<!-- {block.name} -->\n{block.text}\n<!-- end of {block.name} -->" in page, "`make docs` writes it"


def test_strengths_are_current() -> None:
    assert STRENGTHS.read_text(encoding="utf-8") == strengths(), "run `make docs`"


def test_every_marked_part_is_a_block() -> None:
    marked = Counter((page.resolve(), name) for page, text in PAGES.items() for name in MARKED.findall(text))
    assert marked == Counter(((DOCS / block.page).resolve(), block.name) for block in BLOCKS)


def test_tables_of_figures_are_generated() -> None:
    """A figure that was typed into a page soon differs from the file with the measurement."""
    for page, text in PAGES.items():
        if page not in WRITTEN:
            for table in TABLE.findall(MARKED.sub("", text)):
                assert not FIGURES.search(table), f"{page.name}: no block of docs/generate.py has\n{table}"


def test_tables_of_figures_say_how_they_were_made() -> None:
    for block in BLOCKS:
        if TABLE.search(block.text) and FIGURES.search(block.text):
            assert re.search(r"^(Made|Measured|Simulated) by ", block.text, re.MULTILINE), block.name
    assert {block.name for block in BLOCKS} >= MEASURED.keys()


def test_no_estimate_stands_twice_by_hand() -> None:
    """The output of a command in a block of code is an example, and may repeat a figure."""
    told = {page: PRINTED.sub("", text).replace(" to ", "–") for page, text in PAGES.items()}
    everywhere = Counter(estimate for text in told.values() for estimate in ESTIMATE.findall(text))
    for page, text in told.items():
        if page not in WRITTEN:
            for estimate in ESTIMATE.findall(MARKED.sub("", text)):
                assert everywhere[estimate] == 1, f"{page.name}: {estimate} stands elsewhere, too"


def test_the_commands_exist() -> None:
    texts = [*WHOLE_PAGES.values(), *(block.command for block in BLOCKS)]
    texts += [
        command for table in MEASURED.values() for command in re.findall(r"`((?:petrichor|evergreen) .+?)`", str(table))
    ]
    for text in filter(None, texts):
        name, *words = shlex.split(text)
        if name == "python":
            assert find_spec(words[1]), text
            continue
        command = get_command(COMMANDS[name])
        while (commands := getattr(command, "commands", None)) and words[0] in commands:
            command = commands[words.pop(0)]
        assert command.params, text
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, text


@pytest.mark.parametrize("name", MEASURED)
def test_a_measured_table_has_all_its_cells(name: str) -> None:
    head, rule, *rows = TABLE.findall(measured_table(name))[0].splitlines()
    assert {line.count(" |") for line in (head, *rows)} == {rule.count("|") - 1}


def test_a_block_is_replaced_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- one -->\nold\n<!-- end of one -->\nb\n<!-- two -->\n2\n<!-- end of two -->\n", "utf-8")
    replace_block(page, "one", "new\n\nlines")
    assert page.read_text("utf-8") == (
        "a\n<!-- one -->\nnew\n\nlines\n<!-- end of one -->\nb\n<!-- two -->\n2\n<!-- end of two -->\n"
    )
