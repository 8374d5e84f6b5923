"""Petrichor's tasks of the suite (docs/suite.md)."""

from __future__ import annotations

from petrichor_env.config import VARIANTS, Config
from tabletop_training.petrichor.summaries import ALL_VARIANTS
from tabletop_training.suite.tasks import MANY_EDITIONS, Task

_STRONG, _PLAIN = "policy:versus", "greedy"
_HELD_OUT = (
    ("double_card", "one_more_turn"),
    ("non_random_targets", "no_more_tricks"),
    ("double_card", "non_random_targets", "one_more_turn"),
    VARIANTS,
)
"""The sets of variants that `variants` does not learn: each variant is learned alone and in other sets."""


def _solo(*variants: str) -> Config:
    return Config(variants=variants)


def _several(*players: int) -> tuple[Config, ...]:
    return tuple(Config(players=number) for number in players)


TASKS = (
    Task(name="solo-v1", about="skill: the base game", learn=(_solo(),)),
    *(Task(name=f"{name}-v1", about="skill: one variant", learn=(_solo(name),)) for name in VARIANTS),
    Task(name="hardest-v1", about="skill: all variants", learn=(_solo(*VARIANTS),)),
    Task(name="two-players-v1", about="skill: two players", learn=_several(2), rival=_STRONG),
    Task(name="four-players-v1", about="skill: four players", learn=_several(4), rival=_STRONG),
    *(
        Task(name=f"editions-{named}-v1", about="new editions", learn=(_solo(),), editions=number)
        for named, number in ((1, 1), (10, 10), (100, 100), (1000, 1000), ("all", MANY_EDITIONS))
    ),
    Task(
        name="variants-v1",
        about=f"{len(_HELD_OUT)} new sets of variants",
        learn=tuple(_solo(*chosen) for chosen in ALL_VARIANTS if chosen not in _HELD_OUT),
        play=tuple(_solo(*chosen) for chosen in _HELD_OUT),
    ),
    Task(name="players-v1", about="4 and 5 players", learn=_several(2, 3), play=_several(4, 5), rival=_PLAIN),
    Task(name="budget-v1", about="skill: the base game, in five minutes", learn=(_solo(),), steps=None, minutes=5.0),
)
"""Petrichor's tasks, in the order of the page."""
