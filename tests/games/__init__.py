"""Small games that show what the engine asks of one: proof that it knows none, and examples. They are no products."""
