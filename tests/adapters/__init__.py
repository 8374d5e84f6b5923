"""Frameworks for language models: whole games by text, played by each framework's own runner."""
