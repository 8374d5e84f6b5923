"""Tools for drawing a game: SVG, letters as outlines, pixels, a window, elements of a page."""

from pathlib import Path

ELEMENTS = Path(__file__).with_name("elements.js")
"""A module of JavaScript that the pages of the project share."""
