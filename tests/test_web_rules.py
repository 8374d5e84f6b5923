"""How the rules are read, on the web page: safe HTML of the pages in docs/."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import evergreen_env
import petrichor_env
from tabletop_engine.game import Game
from tabletop_play.web.rules import rules_page
from tests.games import connect_four

DOCS = Path(__file__).parents[1] / "docs"
ELEMENTS = {"pre", "h2", "h3", "p", "ul", "li", "strong", "code", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize(
    ("game", "path"), [(petrichor_env.GAME, "rules.md"), (evergreen_env.GAME, "evergreen/rules.md")], ids=str
)
def test_the_page_of_a_game(game: Game, path: str) -> None:
    config = game.config(players=2)
    html, written = rules_page(game, config), (DOCS / path).read_text(encoding="utf-8")
    assert set(re.findall(r"<(\w+)", html)) <= ELEMENTS
    assert not re.search(r"<\w+[^>]*(href|src|on\w+)=", html)
    headings = re.findall("^## ", game.words.rules(config) + written, re.MULTILINE)
    assert html.count("<h2>") == 2 and html.count("<h3>") == len(headings)
    assert html.index("rules for 2 players") < html.index("How the rules of ")
    assert html.count("<table>") == len(re.findall(r"^\|[-|]+\|$", written, re.MULTILINE)) > 3
    assert "components.md" in html


def test_markup_and_links_stay_text(tmp_path: Path) -> None:
    page = tmp_path / "rules.md"
    page.write_text(
        "# A\n\n###### B\n\n<script>alert(1)</script> <b onclick='x'>c</b> [here](https://example.org) "
        "[there](javascript:x) ![a picture](x.png)\n\n<img src=x onerror=y>\n",
        encoding="utf-8",
    )
    game = replace(connect_four.GAME, rules_page=page)
    html = rules_page(game, game.config())
    assert set(re.findall(r"<(\w+)", html)) == {"h2", "h6", "p", "ul", "li"}
    assert "&lt;script&gt;" in html and "here" in html and "example.org" not in html


def test_a_game_without_a_page() -> None:
    html = rules_page(connect_four.GAME, connect_four.Config())
    assert "Four own stones" in html and html.count("<h2>") == 1
