"""What each of several changes does: alone, last, and its Shapley value, from games with sets of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.described.overlays import ComponentFile
from tabletop_engine.errors import ComponentsError

MOST_GROUPS = 8
"""The most groups of changed keys whose effects are told apart."""
EXACT_GROUPS = 4
"""With so many groups or fewer, every set of groups is played; with more, those along `ORDERS` random orders."""
ORDERS = 8

Set = frozenset[int]
"""Which of the changes are made, by their indices."""


def groups_of(file: ComponentFile, changes: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The changed keys in groups. Keys that are allowed only together are one group.

    Then every set of groups is allowed. With more than `MOST_GROUPS` groups, only each group alone and all but one are.
    """
    groups: list[tuple[str, ...]] = [(key,) for key in changes]
    while (bad := _refused(file, changes, groups)) is not None:
        others = [one for one in range(len(groups)) if one not in bad]
        helping = [one for one in others if _allowed(file, changes, groups, {*bad, one})]
        joined = min(bad), (helping or others or [max(bad)])[0]
        if joined[0] == joined[1]:
            raise ComponentsError("the changed numbers are not allowed together")
        one, other = sorted(joined)
        merged = tuple(key for key in changes if key in groups[one] + groups[other])
        groups = [merged if i == one else group for i, group in enumerate(groups) if i != other]
    return groups


def _refused(
    file: ComponentFile, changes: Mapping[str, Any], groups: Sequence[tuple[str, ...]]
) -> tuple[int, ...] | None:
    """A smallest set of groups that is not allowed; None if there is none."""
    number = len(groups)
    sizes = range(1, number) if number <= MOST_GROUPS else (1, number - 1)
    sets = (chosen for size in sizes for chosen in combinations(range(number), size))
    return next((chosen for chosen in sets if not _allowed(file, changes, groups, chosen)), None)


def _allowed(
    file: ComponentFile, changes: Mapping[str, Any], groups: Sequence[tuple[str, ...]], chosen: Iterable[int]
) -> bool:
    try:
        file.load(overlay_of(changes, groups, chosen))
    except ComponentsError:
        return False
    return True


def overlay_of(changes: Mapping[str, Any], groups: Sequence[tuple[str, ...]], chosen: Iterable[int]) -> dict[str, Any]:
    """The changes of some groups alone."""
    keys = {key for one in chosen for key in groups[one]}
    return {key: value for key, value in changes.items() if key in keys}


@dataclass(frozen=True)
class Plan:
    """Which sets of n changes are played: all of them, or those along some random orders.

    orders: (orders, n) ints; None where all sets are played.
    """

    number: int
    orders: np.ndarray | None

    @classmethod
    def of(cls, number: int, generator: np.random.Generator) -> Plan:
        """The plan for so many changes."""
        if number <= EXACT_GROUPS:
            return cls(number, None)
        half = np.array([generator.permutation(number) for _ in range(ORDERS // 2)])
        return cls(number, np.concatenate([half, half[:, ::-1]]))  # reversed orders make the mean vary less

    @property
    def sets(self) -> list[Set]:
        """The sets that are played, without the empty one and that of all changes. Single changes come first."""
        whole = frozenset(range(self.number))
        if self.orders is None:
            every = [frozenset(one) for size in range(1, self.number) for one in combinations(range(self.number), size)]
        else:
            every = [frozenset(order[:size].tolist()) for order in self.orders for size in range(1, self.number)]
        ends = [*(frozenset([one]) for one in range(self.number)), *(whole - {one} for one in range(self.number))]
        return [one for one in dict.fromkeys([*ends, *every]) if one and one != whole]

    def values(self, value: Callable[[Set], np.ndarray]) -> list[np.ndarray]:
        """The Shapley value of each change by seed; `value` gives the results of a set by seed."""
        if self.orders is None:
            return [self._exact(one, value) for one in range(self.number)]
        parts: list[list[np.ndarray]] = [[] for _ in range(self.number)]
        for order in self.orders.tolist():
            for before, after in pairwise(frozenset(order[:size]) for size in range(self.number + 1)):
                (new,) = after - before
                parts[new].append(value(after) - value(before))
        return [np.mean(part, axis=0) for part in parts]

    def _exact(self, one: int, value: Callable[[Set], np.ndarray]) -> np.ndarray:
        n = self.number
        others = [other for other in range(n) if other != one]
        total: Any = 0.0
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for chosen in map(frozenset, combinations(others, size)):
                total = total + weight * (value(chosen | {one}) - value(chosen))
        return np.asarray(total)


class Effects(NamedTuple):
    """What a change does to a figure, each by seed: alone, added to all other changes, and its Shapley value."""

    alone: np.ndarray
    last: np.ndarray
    shapley: np.ndarray


WAYS = Effects._fields


def effects_of(plan: Plan, value: Callable[[Set], np.ndarray]) -> list[Effects]:
    """The effects of each change; `value` gives the results of a set of changes by seed."""
    none, whole = frozenset[int](), frozenset(range(plan.number))
    return [
        Effects(value(frozenset([one])) - value(none), value(whole) - value(whole - {one}), shapley)
        for one, shapley in enumerate(plan.values(value))
    ]
