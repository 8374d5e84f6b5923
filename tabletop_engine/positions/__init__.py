"""Positions outside of a game: saved, given as data, tried one by one."""
