"""A state in words and in pictures.

`render_text` draws it as text, `render_svg` as an SVG picture; `events` says what an action did, `action_text` what an
answer means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from petrichor_env.drawing.board import facts, marks, render_svg
from petrichor_env.drawing.decisions import action_text, question, told_action
from petrichor_env.drawing.events import events, in_brief
from petrichor_env.drawing.text import about, render_text, sources, text_blocks
from petrichor_env.words import owner_names

if TYPE_CHECKING:
    from tabletop.drawing.picture import Picture

__all__ = [
    "about",
    "action_text",
    "events",
    "examples",
    "facts",
    "in_brief",
    "marks",
    "opponent",
    "owner_names",
    "picture",
    "question",
    "render_svg",
    "render_text",
    "sources",
    "text_blocks",
    "told_action",
]

opponent = "the Southern Winds"
examples = ("vote sun", "P4")


def picture(shown: Any, viewer: int | None = None) -> Picture:
    """A game as a picture, which a notebook shows when it is a cell's last value, and `save` writes as SVG or PNG.

    As `tabletop.envs.rendering.picture`, which says what may be `shown`, for Petrichor.
    """
    from petrichor_env.game import GAME  # it has this package's drawings in it
    from tabletop.envs import rendering

    return rendering.picture(shown, viewer, GAME)
