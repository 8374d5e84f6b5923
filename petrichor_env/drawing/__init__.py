"""A state in words and in pictures.

`render_text` draws it as text, `render_svg` as an SVG picture, `rgb_array` makes pixels of that; `changes` says what
happened, `action_text` what an answer means.
"""

from petrichor_env.drawing.board import Picture, render_svg
from petrichor_env.drawing.changes import changes
from petrichor_env.drawing.decisions import action_text, question, told_action
from petrichor_env.drawing.text import render_text
from tabletop.drawing.raster import rgb_array, save_png

__all__ = [
    "Picture",
    "action_text",
    "changes",
    "question",
    "render_svg",
    "render_text",
    "rgb_array",
    "save_png",
    "told_action",
]
