"""A line of play under analysis: one can go back and forth in it, and try other answers at any position."""

from __future__ import annotations

from typing import Any, Self

from tabletop_engine.replays.replay import Replay, words_for
from tabletop_play.session import Session


class Line(Session):
    """A session without agents that also remembers what follows the present position. Arguments as for `Session`."""

    _names: tuple[str, ...] = ()  # who sat where in the game that it comes from

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._later_states: list[Any] = []
        self._later_actions: list[int] = []
        self._game: tuple[list[Any], list[int]] = ([], [])

    @classmethod
    def through(cls, replay: Replay, step: int) -> Self:
        """A line through the game of a replay, at the given step (0 is the start)."""
        line = cls.of(replay, {})
        line._names = replay.names
        line.remember()
        line.go_to(max(0, min(step, line.length)))
        return line

    @property
    def seats(self) -> tuple[str, ...]:
        """As for `Session`; for the game of a replay, the names of those who played it."""
        return self._names or super().seats

    @property
    def length(self) -> int:
        """The number of answers in the whole line."""
        return self.number + len(self._later_actions)

    @property
    def whole(self) -> Replay:
        """The whole line, with what follows the present position."""
        return Replay.of(self.config, self._start, self._line[1], names=self.seats)

    @property
    def _line(self) -> tuple[list[Any], list[int]]:
        """The records and the answers of the whole line."""
        return self._states + self._later_states, self._actions + self._later_actions

    def play(self, action: int) -> None:
        """As `Session.play`. An answer that differs from the line starts a new continuation here."""
        if self._later_actions and self._later_actions[0] == action:
            self.go_to(self.number + 1)
            return
        super().play(action)
        self._later_states, self._later_actions = [], []

    def go_to(self, step: int) -> None:
        """Go to the position after the given number of answers, 0 to `length`."""
        states, actions = self._line
        self._actions, self._later_actions = actions[:step], actions[step:]
        self._states, self._later_states = states[: step + 1], states[step + 1 :]
        self._go_to_last()

    def remember(self) -> None:
        """From now on the whole line is the game that `go_back` leads to."""
        self._game = self._line

    def go_back(self, step: int) -> None:
        """Go to a position of the game that is remembered, whatever was tried since. 0 to its number of answers."""
        states, actions = self._game
        self._states, self._actions = list(states), list(actions)
        self._later_states, self._later_actions = [], []
        self.go_to(step)

    @property
    def game_length(self) -> int:
        """The number of answers in the game that is remembered; 0 without one."""
        return len(self._game[1])

    def described(self, viewer: int | None) -> dict[str, Any]:
        """The line as a page shows it: who answered what, and where the present position is."""
        states, actions = self._line
        moves = [
            {"by": int(state["actor"]), "text": words_for(self.game, state, action, viewer)}
            for state, action in zip(states, actions, strict=False)
        ]
        start = {"seed": self._start} if isinstance(self._start, int) else "scenario"
        left = bool(self._game[1]) and actions != self._game[1]
        return {"line": moves, "step": self.number, "start": start, "played": {"steps": self.game_length, "left": left}}
