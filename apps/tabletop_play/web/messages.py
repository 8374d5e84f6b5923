"""Messages of clients: JSON of known shapes, checked before it is used.

A message on a table's socket is an object `{"id": number, "do": name, …}` with exactly the keys of that name. Anything
else is refused with a message and changes nothing.
"""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from tabletop_engine.errors import TabletopError
from tabletop_engine.replays.files import LONGEST_NAME

MOST_BYTES = 65_536
"""Bytes of a message on a socket, at most."""
MOST_POSTED = 2_000_000
"""Bytes of a request, at most; it may hold a replay."""
LONGEST_CALLED = 24
"""Characters of a person's name, at most."""
MOST_KEYS = 30
"""The most links in one question about their games."""
MOST_ACTIONS = 100
"""Actions of one answer, at most."""

LARGEST = 2**53 - 1
"""The largest whole number that browsers represent exactly."""


class Refused(TabletopError):
    """A client's request was refused. `where` is the place in a described position, if there is one."""

    def __init__(self, text: str, where: str = "") -> None:
        super().__init__(text)
        self.where = where


def _number(value: Any) -> bool:
    return type(value) is int and abs(value) <= LARGEST


def _name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_NAME and value.isprintable()


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _switch(value: Any) -> bool:
    return isinstance(value, bool)


Kind = Callable[[Any], bool]
"""Whether a value is of a kind."""
Shape = Mapping[str, Kind]
"""The keys of a message, with the kinds of their values."""


def _or_none(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)


def _list_of(kind: Kind, most: int, least: int = 0) -> Kind:
    return lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(kind, value))


_actions, _names = _list_of(_number, MOST_ACTIONS, least=1), _list_of(_name, 20)

ASKED: Mapping[str, Shape] = {
    "answer": {"view": _number, "actions": _actions},
    "preview": {"view": _number, "actions": _actions},
    "plan": {"view": _number, "agent": _name, "actions": _actions},
    "alone": {"give": _switch},
    "undo": {"view": _number},
    "here": {},
    "name": {"seat": _number, "name": _name},
    "admit": {"who": _number},
    "sit": {},
    "advice": {"view": _number, "agent": _name},
    "review": {"agent": _name},
    "judge": {"view": _number, "agent": _name, "action": _number},
    "step": {},
    "goto": {"step": _number},
    "return": {"step": _number},
    "look": {"seat": _or_none(_number)},
    "describe": {},
    "check": {"description": _object},
    "position": {"description": _object},
    "export": {"what": _name},
    "page": {},
    "again": {},
}
"""The keys of each message besides `id` and `do`, by the value of `do`."""

TABLE: Shape = {
    "game": _name,
    "players": _number,
    "options": _object,
    "seats": _names,
    "names": _names,
    "kind": _name,
    "learn": _switch,
    "clock": _or_none(_object),
    "start": _or_none(_object),
    "step": _number,
}
"""The keys of a request for a new table."""
RULES: Shape = {"players": _number, "options": _object}
"""The keys of a question about the rules of a configuration."""
MINE: Shape = {"keys": _list_of(_name, MOST_KEYS)}
"""The keys of a question about the games of some links."""
SCENARIO: Shape = {"game": _name, "scenario": _text}
"""The keys of a question about a scenario."""
_OPTIONAL: Mapping[str, Any] = {
    "options": {},
    "seats": [],
    "names": [],
    "kind": "play",
    "learn": False,
    "clock": None,
    "start": None,
    "step": 0,
}


def object_of(data: str | bytes) -> dict[str, Any]:
    """The JSON object. Raises Refused for anything else."""
    try:
        content = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # ValueError: no JSON, no UTF-8, too many digits
        raise Refused("a message is a JSON object") from None
    if not isinstance(content, dict):
        raise Refused("a message is a JSON object")
    return content


def _no_constant(name: str) -> None:
    raise ValueError(name)


def asked_for(message: dict[str, Any]) -> str:
    """The value of `do`. Raises Refused unless the message has exactly its keys, with values of the right kinds."""
    name = message.get("do")
    shape = ASKED.get(name) if isinstance(name, str) else None
    if shape is None or not isinstance(name, str):
        raise Refused(f"do: one of {', '.join(ASKED)}")
    checked_keys({key: value for key, value in message.items() if key not in ("id", "do")}, shape)
    return name


def table_asked_for(message: dict[str, Any]) -> dict[str, Any]:
    """A request for a table with all its keys. Raises Refused as `asked_for`."""
    return checked_keys({**_OPTIONAL, **message}, TABLE)


def cleaned_name(text: str) -> str:
    """A name that a person has given, without superfluous spaces; "" for none. Raises Refused for one that misleads."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    marks = sum(unicodedata.combining(one) > 0 for one in name)
    if len(name) > LONGEST_CALLED or not name.isprintable() or marks > 2:
        raise Refused(f"names: at most {LONGEST_CALLED} letters, figures, signs and spaces")
    return name


def checked_keys(given: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """What was given. Raises Refused unless it has exactly the keys of the shape, with values of the right kinds."""
    for key in given:
        if key not in shape:
            raise Refused(f"unknown key {key:.40}; there are {', '.join(shape) or 'none'}")
    for key, fits in shape.items():
        if key not in given:
            raise Refused(f"{key}: missing")
        if not fits(given[key]):
            raise Refused(f"{key}: the value has the wrong type")
    return given


class Allowance:
    """A limit on one client's requests: `burst` at once, then `rate` a second."""

    def __init__(self, rate: float, burst: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._now = rate, burst, now
        self._left, self._at = burst, now()

    def take(self, cost: float = 1.0) -> bool:
        """Use up a part of the allowance; returns whether there was enough left."""
        now = self._now()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < cost:
            return False
        self._left -= cost
        return True
