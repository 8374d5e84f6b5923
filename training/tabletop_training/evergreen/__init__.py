"""Parts for Evergreen only: the plan of its reference table."""
