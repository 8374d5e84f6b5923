"""Clocks: how much time each person has left for the whole game. They only show it: nothing happens when it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from tabletop_engine.game import NOBODY
from tabletop_play.web.messages import Refused

_MOST_MINUTES, _MOST_SECONDS = 600, 600


class Clock:
    """The time of a table's people.

    Each seat has two accounts. The first loses time whenever the seat is asked; the seat's own people see it. The
    second loses time as long as everybody must think that the seat is asked; the others see it. So nobody learns from
    a clock that somebody was asked in secret, or has answered.

    Arguments:
        minutes: of each seat for the whole game.
        seconds: what is added each time the question goes on to somebody else.
        seats: those of people.
        now: the time in seconds.
    """

    def __init__(
        self, minutes: int, seconds: int, seats: Iterable[int], now: Callable[[], float] = time.monotonic
    ) -> None:
        self.minutes, self.seconds, self._now = minutes, seconds, now
        self._left = dict.fromkeys(seats, 60.0 * minutes)
        self._seen = dict(self._left)
        self._asked = self._seen_asked = NOBODY  # the seat that is asked, and the one that everybody thinks is asked
        self._waiting: set[int] = set()  # who gets seconds when everybody sees that another seat is asked
        self._added: list[tuple[int, dict[int, float], int]] = []  # where seconds were added, after how many answers
        self._since = now()

    def ask(self, seat: int, seen: int | None, number: int) -> None:
        """From now on this seat is asked; NOBODY stops the clocks.

        Arguments:
            seen: the seat that everybody sees to be asked, or NOBODY; None if others may not know that anything has
                happened.
            number: of answers so far. What was added after answers that were taken back is taken back, too.
        """
        now = self._now()
        self._take(self._left, self._asked, now)
        self._take(self._seen, self._seen_asked, now)
        while self._added and self._added[-1][0] > number:
            _, account, one = self._added.pop()
            account[one] -= self.seconds
        if seen is not None:
            self._add(self._left, self._waiting - {seat}, number)
            self._add(self._seen, {self._seen_asked} - {seen}, number)
            self._waiting, self._seen_asked = set(), seen
        self._waiting.add(seat)
        self._asked, self._since = seat, now

    def _add(self, account: dict[int, float], seats: set[int], number: int) -> None:
        for seat in seats & account.keys():
            account[seat] += self.seconds
            self._added.append((number, account, seat))

    def _take(self, account: dict[int, float], seat: int, now: float) -> None:
        if seat in account:
            account[seat] -= now - self._since

    def shown(self, seats: Iterable[int]) -> dict[str, Any]:
        """What the people in these seats see: seconds by seat, and which clock runs for them."""
        now = self._now()
        left = {seat: self._left[seat] if seat in seats else self._seen[seat] for seat in self._left}
        runs = self._asked if self._asked in seats else NOBODY if self._seen_asked in seats else self._seen_asked
        self._take(left, runs, now)
        return {"left": {seat: round(seconds, 1) for seat, seconds in left.items()}, "runs": runs}

    @property
    def order(self) -> dict[str, int]:
        """The request that asked for this clock (`clock_of`)."""
        return {"minutes": self.minutes, "seconds": self.seconds}

    @property
    def notes(self) -> dict[str, Any]:
        """What `of_notes` reads. The time of the present question is not in it."""
        return {
            **self.order,
            "left": [self._left[seat] for seat in self._left],
            "seen": [self._seen[seat] for seat in self._left],
            "asked": self._seen_asked,
        }

    @classmethod
    def of_notes(cls, notes: Any, seats: Iterable[int]) -> Clock | None:
        """The clock of a file; None for none. Raises Refused for anything else."""
        if notes is None:
            return None
        if not isinstance(notes, dict):
            raise Refused("not a file of links")
        clock = clock_of({key: notes.get(key) for key in ("minutes", "seconds")}, seats)
        assert clock is not None
        for account, times in ((clock._left, notes.get("left")), (clock._seen, notes.get("seen"))):
            if type(times) is not list or len(times) != len(account) or not all(map(_is_time, times)):
                raise Refused("not a file of links")
            account.update(zip(account, map(float, times), strict=True))
        if type(notes.get("asked")) is not int:
            raise Refused("not a file of links")
        clock._seen_asked = notes["asked"]
        return clock


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 1e9


def clock_of(order: Any, seats: Iterable[int]) -> Clock | None:
    """The clock of a request, `{"minutes": 10, "seconds": 5}`; None for none. Raises Refused."""
    if order is None:
        return None
    minutes, seconds = order.get("minutes"), order.get("seconds")
    if len(order) != 2 or not (
        type(minutes) is int
        and 1 <= minutes <= _MOST_MINUTES
        and type(seconds) is int
        and 0 <= seconds <= _MOST_SECONDS
    ):
        raise Refused(f"clock: minutes from 1 to {_MOST_MINUTES}, seconds from 0 to {_MOST_SECONDS}")
    return Clock(minutes, seconds, seats)
