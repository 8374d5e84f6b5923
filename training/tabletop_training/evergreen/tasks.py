"""Evergreen's tasks of the suite (docs/suite.md). Nobody can be won against alone, so all are for several players."""

from __future__ import annotations

from evergreen_env.config import Config
from tabletop_training.suite.tasks import MANY_EDITIONS, Task

_STRONG, _PLAIN = "policy:versus", "greedy"


def _several(*players: int) -> tuple[Config, ...]:
    return tuple(Config(players=number) for number in players)


TASKS = (
    Task(name="two-players-v1", about="skill: two players", learn=_several(2), rival=_STRONG),
    Task(name="four-players-v1", about="skill: four players", learn=_several(4), rival=_STRONG),
    Task(name="editions-all-v1", about="new editions", learn=_several(2), editions=MANY_EDITIONS, rival=_PLAIN),
    Task(name="players-v1", about="4 players", learn=_several(2, 3), play=_several(4), rival=_PLAIN),
)
"""Evergreen's tasks, in the order of the page."""
