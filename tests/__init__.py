"""The tests.

This is a regular package, because others install a package of this name, for example pgx; it would hide a mere folder.
"""
