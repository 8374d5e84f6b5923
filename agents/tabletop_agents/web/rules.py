"""The page of a game's rule readings, as HTML for a web page."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt

from tabletop_engine.game import Game

_LOWEST = 6


@lru_cache(maxsize=8)
def rules_page(game: Game) -> str:
    """The game's page of its rules as HTML, headings from h2 on; empty where there is none.

    Markup in the text is shown as text. Links become their text, since what they lead to is not served.
    """
    if game.rules_page is None:
        return ""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    for end in ("link_open", "link_close"):
        reader.add_render_rule(end, _nothing)
    tokens = reader.parse(game.rules_page.read_text(encoding="utf-8"))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_LOWEST, int(token.tag[1:]) + 1)}"
    return str(reader.renderer.render(tokens, reader.options, {}))


def _nothing(*_: object) -> str:
    return ""
