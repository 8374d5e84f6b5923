"""What drawing a game takes: SVG, letters as outlines, pixels, a window."""
