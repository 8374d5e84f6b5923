"""Playthroughs through OpenSpiel."""
