"""Reviews: what an agent says about the decisions of a recorded game, as data.

`tabletop_play.advice.review` makes them, and `tabletop_engine.replays.page.write_page` shows them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """A decision at which something was given away."""

    step: int  # how many actions were before it
    seat: int
    action: int  # what was played
    better: int  # what the agent would have played
    estimate: float  # what it expects after what was played
    best: float  # what it expects after the better action

    @property
    def drop(self) -> float:
        """How much was given away (above 0)."""
        return self.best - self.estimate


@dataclass(frozen=True)
class Point:
    """A point of a review's curve: what the agent expects for a seat after one of that seat's answers."""

    step: int  # how many actions were before the answer
    seat: int
    estimate: float


@dataclass(frozen=True)
class Review:
    """What an agent says about the decisions of a game."""

    agent: str
    estimated: str  # what the estimates are, such as "chance to win"; "" before the first decision
    seats: tuple[int, ...]  # whose decisions it looks at
    decisions: int  # how many these are
    curve: tuple[Point, ...]  # one for each decision that it has looked at, in the order of play
    moments: tuple[Moment, ...]  # the largest drop first
