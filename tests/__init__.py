"""The tests.

This is a regular package, because a package of this name that others install, such as pgx, would hide a mere folder.
"""
