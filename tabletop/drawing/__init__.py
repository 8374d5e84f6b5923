"""Tools for drawing a game: SVG, letters as outlines, pixels, a window."""
