"""How much random play tests do: enough that everything comes up, or as much as some minutes allow."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("PETRICHOR_THOROUGH", "") not in ("", "0")
"""Whether `make test-slow` runs the tests."""


def games(usual: int, thorough: int) -> int:
    """How many games, positions or examples: `usual` of `make test`, `thorough` of `make test-slow`."""
    return thorough if THOROUGH else usual
