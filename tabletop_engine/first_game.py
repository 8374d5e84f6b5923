"""A first game that teaches: a prepared position, and what a new player is told and asked to do there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tabletop_engine.drawing.svg import Place


@dataclass(frozen=True)
class Step:
    """One thing that the player is told.

    Attributes:
        text: what it says. "" adds an action to the step before.
        action: the name of the action (`Game.actions`) that the player is asked for; "" if there is only something to
            read.
        place: where the picture shows what the text is about. An action is shown where it is chosen.
    """

    text: str
    action: str = ""
    place: Place = ()


@dataclass(frozen=True)
class FirstGame:
    """The first game of a new player, in seat 0.

    Attributes:
        scenario: the position, as the game's scenarios describe it.
        opponents: the agents in the other seats, by name.
        called: what these are called, one name each.
        steps: what the player is told, in order.
        seed: of the agents.
    """

    scenario: Mapping[str, Any]
    opponents: tuple[str, ...]
    called: tuple[str, ...]
    steps: tuple[Step, ...]
    seed: int = 0

    def rest(self, answers: Sequence[str]) -> tuple[Step, ...] | None:
        """The steps that are left after these answers of the player, names of actions; None after other answers."""
        given, first = list(answers), 0
        for number, step in enumerate(self.steps, 1):
            if not given:
                break
            if step.action:
                if given.pop(0) != step.action:
                    return None
                first = number
        if given:
            return None
        told = next((step.text for step in reversed(self.steps[:first]) if step.text), "")
        return tuple(
            replace(step, text=step.text or told) if number == 0 else step
            for number, step in enumerate(self.steps[first:])
        )

    @property
    def number(self) -> int:
        """The number of steps that say something."""
        return sum(bool(step.text) for step in self.steps)
