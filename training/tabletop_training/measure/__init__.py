"""Agents are measured: matches, tournaments, tables, and who plays the games."""
