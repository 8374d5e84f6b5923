"""Games as Gymnasium environments: one game, and a native batch of games."""
