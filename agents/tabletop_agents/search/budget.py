"""How long a tree search thinks about a decision: a number of simulations, or of milliseconds."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tabletop_engine.checks import fitted, whole
from tabletop_engine.errors import ConfigError

_SIMULATIONS_A_LOOK_AT_THE_CLOCK = 16


def check_budget(kind: str, simulations: int | None, milliseconds: float | None) -> None:
    """Raise ConfigError unless one of simulations (an int of at least 1) and milliseconds (above 0) is given."""
    if (simulations is None) == (milliseconds is None):
        raise ConfigError(f"{kind}: give either simulations or milliseconds")
    if simulations is not None:
        whole("simulations", simulations, 1)
    fitted("milliseconds", milliseconds, float | None)
    if milliseconds is not None and not milliseconds > 0:
        raise ConfigError(f"milliseconds={milliseconds!r}: must be a number above 0")


def portions(simulations: int | None, milliseconds: float | None) -> Iterator[int]:
    """Yields numbers of simulations to do next, until the budget of one decision is spent."""
    if simulations is not None:
        yield simulations
        return
    assert milliseconds is not None
    end = time.perf_counter() + milliseconds / 1000
    yield 1
    while time.perf_counter() < end:
        yield _SIMULATIONS_A_LOOK_AT_THE_CLOCK
