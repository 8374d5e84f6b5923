"""Tools for drawing a game: SVG, letters as outlines, pixels, a window, elements of a page."""

from pathlib import Path

SCRIPTS = tuple(Path(__file__).with_name(f"{name}.js") for name in ("elements", "curve"))
"""Modules of JavaScript that the pages of the project share; each uses only those before it."""
CURVE_STYLE = Path(__file__).with_name("curve.css")
"""The style of what `curve.js` draws."""
