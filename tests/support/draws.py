"""What a game's rules draw. The rules run as plain Python, and their draws are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tabletop_engine.chance import draw_from, random_below
from tabletop_engine.compiling import overwrite as overwriting
from tabletop_engine.compiling.compiled import rule_as_written
from tabletop_engine.game import Game
from tabletop_engine.text.telling import Teller


class Overheard(Teller):
    """Plays a game's steps on records, in place, and lists the results of all draws with several possible ones."""

    def __init__(self, game: Game) -> None:
        self.drawn: list[int] = []
        self._inside = False
        super().__init__(game.rules.step, game.rules.forfeit, {})
        self._reset = self.plain(game.rules.reset)

    def reset(self, states: np.ndarray, tables: np.ndarray) -> list[int]:
        """Set up the game of (1,) record; returns what was drawn."""
        return self._heard(self._reset, states[0], tables[0])

    def step(self, states: np.ndarray, tables: np.ndarray, action: int) -> list[int]:
        """Play an action in (1,) record; returns what was drawn."""
        return self._heard(self._step, states[0], tables[0], action)

    def _heard(self, run: Callable[..., None], *arguments: Any) -> list[int]:
        self.drawn = []
        with np.errstate(over="ignore"):
            run(*arguments)
        return self.drawn

    def plain(self, rule: Any) -> Any:
        made = super().plain(rule)
        if rule_as_written(rule) is rule_as_written(random_below):
            return self._listed(made, lambda bound: int(bound) > 1)
        if rule_as_written(rule) is rule_as_written(draw_from):
            return self._listed(made, lambda counts: int(np.count_nonzero(counts)) > 1)
        return made

    def _in_python(self, value: Any) -> Any:
        return overwriting._plain if value is overwriting.overwrite else super()._in_python(value)

    def _listed(self, draw: Callable[..., int], is_open: Callable[[Any], bool]) -> Callable[..., int]:
        def listed(s: Any, of_what: Any) -> int:
            inside, is_heard = self._inside, is_open(of_what)
            self._inside = True  # a draw of things draws a number
            outcome = draw(s, of_what)
            self._inside = inside
            if is_heard and not inside:
                self.drawn.append(int(outcome))
            return outcome

        return listed
