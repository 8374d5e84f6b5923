"""What a check finds: a sentence, and where it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabletop_engine.errors import TabletopError


@dataclass(frozen=True)
class Problem:
    """One mistake of a game.

    Attributes:
        check: the name of the check that found it.
        message: what is wrong, and where that is known what would be right.
        players, seed, step, seat: where it was met first; None where it is nowhere in particular. The steps of a game
            are counted from 0.
        config: the name of the configuration, if it was asked for; None for one with the defaults.
    """

    check: str
    message: str
    players: int | None = None
    seed: int | None = None
    step: int | None = None
    seat: int | None = None
    config: str | None = None

    def __str__(self) -> str:
        names = ("config", "players", "seed", "step", "seat")
        where = [f"{name} {getattr(self, name)}" for name in names if getattr(self, name) is not None]
        return f"{self.check}: {self.message}" + (f" ({', '.join(where)})" if where else "")


class CheckFailed(TabletopError, AssertionError):
    """A game has mistakes. `problems` are those that were found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems: tuple[Problem, ...] = tuple(problems)
