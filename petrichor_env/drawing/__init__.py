"""States of the game in words and in pictures.

`render_text` draws a state as text, `render_svg` as an SVG picture. `events` tells what an action did, `action_text`
what an answer means, and `places` where in the picture it can be clicked.
"""

from __future__ import annotations

from petrichor_env.drawing.board import facts, marks, panes, render_svg
from petrichor_env.drawing.cover import cover
from petrichor_env.drawing.decisions import action_text, answer_name, gives_up, goes_on, question, told_action
from petrichor_env.drawing.events import events, in_brief, story
from petrichor_env.drawing.lessons import introduction, lesson
from petrichor_env.drawing.places import places
from petrichor_env.drawing.rules_text import rules
from petrichor_env.drawing.text import about, compact_text, render_text, small_blocks, sources, text_blocks
from petrichor_env.words import owner_names

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

opponent = "the Southern Winds"
examples = ("vote sun", "P4")
guide = (
    "Points: a Harvest pays for each tile with a growing token. 6/4/2 is 6 for the most drops, 4 for the second most, "
    "2 for the third; who ties takes the lower place. Corn pays by how many have drops there, Rice for each own drop "
    "once it is developed. A vote less on a Harvest die is a point, the last one two. At the end the Voting Wins pay, "
    "and the most Wheat tokens bring a bonus.",
    "A Harvest comes when all three dice show Harvest, and in the last round.",
    "The board: p0 3 is three drops of player_0 (n: of the neutral player), 2/4 behind a crop the drops that are there "
    "and that it needs to grow. Behind a cloud it is its drops, and how many make it a thundercloud, or overflow.",
    "In a small terminal, p0:2 ~3/4 p1:3 is two drops on the tile and a light cloud with three of 4; * is a "
    "thundercloud. s, d, w: sprouting, developed, drowned; f fertilizer, p pod; o, c: an open or closed Snowdrop; "
    "after the Primrose its blooms and who controls it.",
)
"""Explanations that `play` shows on request."""
