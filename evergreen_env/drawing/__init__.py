"""States of the game in words and in pictures.

`render_text` draws it as text, `render_svg` as an SVG picture; `events` says what an action did, `action_text` what an
answer means, `places` where in the picture it can be clicked.
"""

from __future__ import annotations

from collections.abc import Sequence

from evergreen_env.drawing.board import marks, panes, render_svg
from evergreen_env.drawing.cover import cover
from evergreen_env.drawing.decisions import (
    action_text,
    asked_text,
    gives_up,
    goes_on,
    hides_actor,
    is_taking_turns,
    question,
    told_action,
)
from evergreen_env.drawing.events import events, in_brief, story
from evergreen_env.drawing.lessons import introduction, lesson
from evergreen_env.drawing.places import places
from evergreen_env.drawing.rules_text import rules
from evergreen_env.drawing.text import about, compact_text, render_text, small_blocks, sources, text_blocks
from evergreen_env.state import NOBODY, Decision, State
from evergreen_env.words import answer_name
from tabletop_engine.presentation import Facts
from tabletop_engine.text.words import player_names as owner_names

__all__ = [
    "about",
    "action_text",
    "answer_name",
    "compact_text",
    "cover",
    "events",
    "examples",
    "facts",
    "gives_up",
    "goes_on",
    "guide",
    "in_brief",
    "introduction",
    "lesson",
    "marks",
    "opponent",
    "owner_names",
    "panes",
    "places",
    "question",
    "render_svg",
    "render_text",
    "rules",
    "small_blocks",
    "sources",
    "story",
    "text_blocks",
    "told_action",
]

opponent = ""
examples = ("plant up to 3", "c1")
guide = (
    "Points: at the end of each season every small tree in the light brings 1 point, every big tree 2, and each space "
    "of the largest forest 1: trees and bushes that touch at their sides. At the end of the game each big tree brings "
    "the fertility of its biome. Buds bring their level.",
    "Light comes from the sun's side. A small tree's shadow is 1 space long, a big one's 2; a tree in a shadow is dark "
    "unless it is bigger than the tree that casts it. The sun moves on after each season: north, east, south, west.",
    "The spaces of one action, or of one power, are named in reading order, row by row: after c3 comes d3 or row 4. "
    "Only lakes can be placed in any order.",
    "The card that nobody takes changes the fertility: flowers add to it, a skull takes the latest flowers away.",
    "The board: a letter for the biome (M meadow, F flowers, G grain, R rock, W swamp, N snow, # a ravine), then s "
    "sprout, t small tree, T big tree, b bush, l lake; * a tree that is in the light now. In a small terminal the "
    "others' spaces show the piece or, without one, the biome; light 3 for 2 is their light and their largest forest.",
)
"""Explanations that `play` shows on request."""


def facts(state: State, viewer: int | None = None, names: Sequence[str] | None = None) -> Facts:
    """The part of the round, the pending decision and its actor, as far as the viewer may know them."""
    labels = owner_names(state.players) if names is None else names
    phase = "turns" if is_taking_turns(state) else "game over" if state.decision == Decision.GAME_OVER else "draft"
    return Facts(phase, asked_text(state, viewer, labels), NOBODY if hides_actor(state, viewer) else state.actor)
