"""Words that every game's texts need."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """`1 card`, `2 cards`, `1,000 games`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
