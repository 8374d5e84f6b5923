"""The tests. A regular package: others, such as pgx, install one of this name, which a mere folder gives way to."""
