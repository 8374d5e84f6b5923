"""Readers for the values of a described position. Each checks one value.

`where` is the place in the description, such as `hands.player_0`. For a wrong value all raise ScenarioError, which
names the place and the allowed values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tabletop_engine.checks import is_whole
from tabletop_engine.errors import ScenarioError

ROOT = "scenario"
"""The word for the whole description in messages."""
MOST = 127
"""The default for the largest count: the largest number that a field of a record holds."""


def wrong(where: str, reason: str) -> ScenarioError:
    """The error for a value of the description, with its place at the start of the message."""
    return ScenarioError(f"{where}: {reason}", "" if where == ROOT else where)


def mapping(value: Any, where: str, allowed: Sequence[str]) -> Mapping[str, Any]:
    """The value as a table that has only the allowed keys."""
    if not isinstance(value, Mapping):
        raise wrong(where, f"{value!r} is not a table; allowed are the keys {', '.join(allowed)}")
    for key in value:
        if key not in allowed:
            raise wrong(where, f"unknown key {key!r}; allowed are {', '.join(allowed)}")
    return value


def integer(value: Any, where: str, low: int, high: int) -> int:
    """The value as a whole number from `low` to `high`."""
    if not is_whole(value):
        raise wrong(where, f"{value!r} is not a whole number; allowed are {low} to {high}")
    if not low <= value <= high:
        raise wrong(where, f"{value}; allowed are {low} to {high}")
    return int(value)


def switch(value: Any, where: str) -> int:
    """1 for True, 0 for False."""
    if not isinstance(value, (bool, np.bool_)):
        raise wrong(where, f"{value!r}; allowed are true and false")
    return int(value)


def choice(value: Any, where: str, names: Sequence[str], or_none: bool = False) -> int:
    """The index of the name, or -1 for None if `or_none` allows that."""
    if or_none and value is None:
        return -1
    if not isinstance(value, str) or value not in names:
        raise wrong(where, f"{value!r}; allowed are {', '.join(names)}{' and null' if or_none else ''}")
    return names.index(value)


def a_list(value: Any, where: str, longest: int) -> Sequence[Any]:
    """The value as a list of at most `longest` entries."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > longest:
        raise wrong(where, f"{value!r} is not a list of at most {longest} entries")
    return value


def names_listed(value: Any, where: str, names: Sequence[str], size: int) -> np.ndarray:
    """Whether each name is in the list, (size,) bool, by the index of the name."""
    chosen = [choice(name, f"{where}[{i}]", names) for i, name in enumerate(a_list(value, where, len(names)))]
    if len(set(chosen)) != len(chosen):
        raise wrong(where, f"{list(value)!r} has a name twice")
    return np.isin(np.arange(size), chosen)
