"""Small games as examples of what the engine asks of a game. They prove that it knows no game; they are no products."""
