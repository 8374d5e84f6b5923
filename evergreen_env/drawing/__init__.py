"""States of the game in words and in pictures.

The functions are those of `Words` and `Drawing` in `tabletop_engine.presentation`, which says what each of them does.
"""

from __future__ import annotations

from collections.abc import Sequence

from evergreen_env.drawing.board import marks, panes, render_svg
from evergreen_env.drawing.cover import cover
from evergreen_env.drawing.decisions import (
    action_text,
    aside,
    asked_text,
    continues_answer,
    declines,
    gives_up,
    hides_actor,
    is_taking_turns,
    lesson,
    question,
    told_action,
)
from evergreen_env.drawing.events import events, in_brief, story
from evergreen_env.drawing.first_game import first_game
from evergreen_env.drawing.places import places
from evergreen_env.drawing.rules_text import rules
from evergreen_env.drawing.text import about, projected, render_text, sources, text_blocks
from evergreen_env.state import NOBODY, Decision, State
from evergreen_env.words import answer_name
from tabletop_engine.presentation import Facts
from tabletop_engine.text.words import player_names as owner_names

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

opponent = ""
examples = ("plant up to 3", "c1")


def facts(state: State, viewer: int | None = None, names: Sequence[str] | None = None) -> Facts:
    """`Words.facts`."""
    labels = owner_names(state.players) if names is None else names
    phase = "turns" if is_taking_turns(state) else "game over" if state.decision == Decision.GAME_OVER else "draft"
    return Facts(phase, asked_text(state, viewer, labels), NOBODY if hides_actor(state, viewer) else state.actor)
