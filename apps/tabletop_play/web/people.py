"""The people at a table: who plays for a link's seats, who only watches there, and what they are called."""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tabletop_play.catalogue import Catalogue
from tabletop_play.opponents import YOU
from tabletop_play.session import PERSON, Session
from tabletop_play.web.messages import Refused, cleaned_name

MOMENT = 2.0
"""Seconds for which somebody still counts as here after closing the last page: the page may be about to come back."""
AWAY = 120.0
"""After so many seconds without a page of anybody who plays, somebody who watches may take the seats."""
_MOST_PLAYING, _MOST_WATCHING = 8, 4
"""The most open pages of one link: of those who play, and of those who watch. So watchers can't keep players out."""
_MOST_LET_IN = 8
_BROWSER = re.compile(r"[\w-]{16,64}", re.ASCII)


class Page(Protocol):
    """A page that is open somewhere."""

    def push(self, text: str) -> None:
        """Send a message after those before it. Must not wait."""
        ...


class Visitors:
    """The browsers at a link. Each is known by a random text of its own, which is kept as a digest only.

    The first browser that comes plays; others watch until one that plays lets them in. Nobody who was let in is put out
    again.

    Attributes:
        everybody: whether all play, as at a link without seats.
        pages: the open pages, each with its browser.
        let_in: the browsers that play.
    """

    def __init__(
        self, everybody: bool = False, let_in: Sequence[str] = (), now: Callable[[], float] = time.monotonic
    ) -> None:
        self.everybody, self.let_in, self._now = everybody, [*let_in], now
        self.pages: dict[Page, str] = {}
        self._numbers: dict[str, int] = {}  # the numbers by which those who watch are let in
        self._next = 1
        self._left = now()  # when the last page of somebody who plays was closed; or when this began
        self._last_here = -math.inf  # when somebody who plays was here

    def may_enter(self, browser: str) -> bool:
        """Whether another page of this browser may be opened."""
        plays = self._plays(browser)
        return sum(self._plays(one) == plays for one in self.pages.values()) < (
            _MOST_PLAYING if plays else _MOST_WATCHING
        )

    def enter(self, page: Page, browser: str) -> bool:
        """Add a page. Returns whether this lets its browser in."""
        first = not self.everybody and not self.let_in
        if first:
            self.let_in.append(browser)
        elif not self._plays(browser) and browser not in self._numbers:
            self._numbers[browser] = self._next
            self._next += 1
        self.pages[page] = browser
        return first

    def leave(self, page: Page) -> None:
        """Remove a page."""
        browser = self.pages.pop(page, None)
        if browser is None or browser in self.pages.values():
            return
        self._numbers.pop(browser, None)
        if self._plays(browser) and not self.play:
            self._left = self._last_here = self._now()

    def may_play(self, page: Page) -> bool:
        """Whether a page may do more than watch."""
        return self._plays(self.pages.get(page, ""))

    def _plays(self, browser: str) -> bool:
        return self.everybody or not self.let_in or browser in self.let_in

    @property
    def play(self) -> bool:
        """Whether a page of somebody who plays is open."""
        return any(map(self._plays, self.pages.values()))

    @property
    def here(self) -> bool:
        """Whether somebody who plays is here, or was a moment ago."""
        return self.play or self._now() - self._last_here < MOMENT

    @property
    def free(self) -> bool:
        """Whether nobody who plays has been here for so long that somebody who watches may take the seats."""
        return not self.play and self._now() - self._left >= AWAY

    @property
    def watching(self) -> dict[str, int]:
        """The browsers that only watch, with the numbers by which they are let in; at a link without seats, all."""
        return dict.fromkeys(self.pages.values(), 0) if self.everybody else self._numbers

    def admit(self, number: int) -> None:
        """Let in somebody who watches. Raises Refused."""
        found = [browser for browser, its in self._numbers.items() if its == number]
        if not found:
            raise Refused("there is nobody to let in")
        self._let_in(found[0])

    def sit(self, page: Page) -> None:
        """Let in a page of a browser that watches, because nobody plays any more. Raises Refused."""
        if not self.free:
            raise Refused("somebody else plays here; they can let you in")
        self._let_in(self.pages[page])

    def _let_in(self, browser: str) -> None:
        if len(self.let_in) >= _MOST_LET_IN:
            gone = [one for one in self.let_in if one not in self.pages.values()]
            if not gone:
                raise Refused(f"{_MOST_LET_IN} play here already")
            self.let_in.remove(gone[0])
        del self._numbers[browser]
        self.let_in.append(browser)


def browser_of(given: str) -> str:
    """A digest of what a browser calls itself; a random one for a browser that says nothing. Raises Refused."""
    if not given:
        return secrets.token_hex(16)
    if _BROWSER.fullmatch(given) is None:
        raise Refused("browser: 16 to 64 letters, figures, - and _")
    return hashlib.blake2b(given.encode(), digest_size=16).hexdigest()


def names_of(session: Session, given: Mapping[int, str], catalogue: Catalogue) -> dict[int, str]:
    """The names that people gave, by their seats, without superfluous spaces and without empty names.

    Raises Refused for a name that misleads: one that somebody else or an agent has.
    """
    names = {seat: cleaned_name(name) for seat, name in given.items() if seat in session.people}
    names = {seat: name for seat, name in names.items() if name}
    folded = [name.casefold() for name in names.values()]
    taken = {PERSON, *(name.casefold() for name in (*session.names, *session.seats, *session.called(given={}), YOU))}
    for name, key in zip(names.values(), folded, strict=True):
        if key in taken or folded.count(key) > 1 or catalogue.allows(key, session.game):
            raise Refused(f"names: {name} is what somebody else is called")
    return names


def are_browsers(value: Any) -> bool:
    """Whether a value of a file is a list of browsers' digests."""
    return isinstance(value, list) and len(value) <= _MOST_LET_IN and all(isinstance(one, str) for one in value)
