"""Measuring agents: matches, tournaments, tables, and the workers that play the games."""
