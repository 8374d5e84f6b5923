"""The rules of a game as HTML for a web page: how it is played, then how its rules are read."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from markdown_it import MarkdownIt

from tabletop_engine.game import Game


def rules_page(game: Game, config: Any, tables: np.ndarray | None = None) -> str:
    """How this configuration is played, and the game's page of how its rules are read, as HTML, headings from h2 on.

    Markup in the texts is shown as text. Links become their text, since what they lead to is not served.

    Arguments:
        tables: (1,) printed numbers of the game; None for those of the configuration.
    """
    read = _rulings(game)
    return "\n".join(part for part in (_html(game.words.rules(config, tables)), read) if part)


@lru_cache(maxsize=8)
def _rulings(game: Game) -> str:
    return "" if game.rules_page is None else _html(game.rules_page.read_text(encoding="utf-8"))


def _html(markdown: str) -> str:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    for end in ("link_open", "link_close"):
        reader.add_render_rule(end, lambda *_: "")
    tokens = reader.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"
    return str(reader.renderer.render(tokens, reader.options, {}))
