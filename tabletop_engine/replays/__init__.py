"""Replays: games as small files, which can be recorded, checked, stepped through, and shown as pages and pictures."""
