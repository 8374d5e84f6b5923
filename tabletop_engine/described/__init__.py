"""Positions and printed numbers as data, read and checked against what a game declares."""
