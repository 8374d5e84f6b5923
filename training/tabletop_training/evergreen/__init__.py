"""What is Evergreen's alone: what its reference table has."""
