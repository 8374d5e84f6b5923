"""Learning, evaluation and their reports."""
