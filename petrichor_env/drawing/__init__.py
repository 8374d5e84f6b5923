"""States of the game in words and in pictures.

The functions are those of `Words` and `Drawing` in `tabletop_engine.presentation`, which says what each of them does.
"""

from __future__ import annotations

from petrichor_env.drawing.board import facts, marks, panes, render_svg
from petrichor_env.drawing.cover import cover
from petrichor_env.drawing.decisions import (
    action_text,
    answer_name,
    aside,
    continues_answer,
    declines,
    gives_up,
    lesson,
    question,
    told_action,
)
from petrichor_env.drawing.events import events, in_brief, story
from petrichor_env.drawing.first_game import first_game
from petrichor_env.drawing.places import places
from petrichor_env.drawing.rules_text import rules
from petrichor_env.drawing.text import about, projected, render_text, sources, text_blocks
from petrichor_env.words import owner_names

__all__ = [
    "about",
    "action_text",
    "answer_name",
    "aside",
    "continues_answer",
    "cover",
    "declines",
    "events",
    "examples",
    "facts",
    "first_game",
    "gives_up",
    "in_brief",
    "lesson",
    "marks",
    "opponent",
    "owner_names",
    "panes",
    "places",
    "projected",
    "question",
    "render_svg",
    "render_text",
    "rules",
    "sources",
    "story",
    "text_blocks",
    "told_action",
]

opponent = "the Southern Winds"
examples = ("vote sun", "P4")
