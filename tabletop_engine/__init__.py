"""An engine for turn-based games on NumPy records: batches of games, environments, replays. It contains no game."""
