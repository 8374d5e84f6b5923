"""Each key of a description of a position is declared once, with the kind of its value. All else about it follows.

    KEYS = Table(
        (
            Key("round", Number(1, lambda scope: scope.rounds)),
            Key("passed", Name("agents", none=True), words="Who passed first", follows=True),
        )
    )
    KEYS.read({"round": 2}, ROOT, scope)       # {"round": 2}; ScenarioError for what is not allowed
    KEYS.describe(plain(record), scope)        # {"round": 2, "passed": None}
    KEYS.form(scope)                           # the form of such a description, for pages that edit one
    KEYS.check(states, scope)                  # checks that the fields of records hold what the kinds allow

`scope` is an object of the game with the names and numbers that the declarations refer to, such as `scope.agents`.
For checks it has `number_of`, too: how many names an attribute such as "agents" has in each state, (N,).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from tabletop_engine.described import forms
from tabletop_engine.described import scenarios as values
from tabletop_engine.described.forms import Form
from tabletop_engine.described.invariants import Check, breaks
from tabletop_engine.described.scenarios import MOST, ROOT, mapping, wrong
from tabletop_engine.drawing.svg import Place

Names: TypeAlias = Sequence[str] | str
"""Names, or the attribute of the scope that has them."""
Records: TypeAlias = np.ndarray | Mapping[str, np.ndarray]
"""Records, (N,), or some of their fields by name."""


def plain(record: Any) -> Any:
    """A record's fields as plain numbers and lists. They are read far faster than the record itself."""
    return SimpleNamespace(**{name: record[name].tolist() for name in record.dtype.names})


def names_of(scope: Any, names: Names) -> Sequence[str]:
    return getattr(scope, names) if isinstance(names, str) else names


def out_of_range(states: Records, field: str, low: int, high: Any) -> Check:
    """A check that all numbers of a field lie between `low` and `high`, a number or one for each state, (N,)."""
    numbers = states[field]
    bad = (numbers < low) | (high < numbers.T).T

    def reason(i: int, *at: int) -> str:
        return f"{field} is {numbers[(i, *at)]}; allowed are {low} to {np.broadcast_to(high, len(numbers))[i]}"

    return breaks(bad, reason)


# --- Kinds of values --------------------------------------------------------------------------------------------------


class Kind:
    """A kind of value. The subclasses below say what a description has, and what the record's field holds for it."""

    @property
    def blank(self) -> int:
        """What the field holds where there is no such value."""
        return 0

    def read(self, value: Any, where: str, scope: Any) -> Any:
        """A value of a description, as the field holds it. Raises ScenarioError with the place `where`."""
        raise NotImplementedError

    def describe(self, value: Any, scope: Any) -> Any:
        """What a description says of the plain value of a field: JSON-able data."""
        raise NotImplementedError

    def form(self, scope: Any) -> Form:
        """What a description may say."""
        raise NotImplementedError

    def check(self, states: Records, field: str, scope: Any, depth: int = 1) -> Iterator[Check]:
        """Checks that the field holds only what the kind allows: nothing, where the game itself checks it.

        `depth` is the number of axes before those of this kind: one for the games, one for each table around it.
        """
        return iter(())


@dataclass(frozen=True)
class Number(Kind):
    """A whole number.

    Attributes:
        low: the least one.
        high: the largest one, or a function of the scope that returns it; for checks it returns one for each state.
        none: the number that null stands for, if it may be null.
        usual: the number that is meant if it is left out, for people.
    """

    low: int
    high: int | Callable[[Any], Any]
    none: int | None = None
    usual: int | None = None

    def bounds(self, scope: Any) -> tuple[int, Any]:
        return self.low, self.high(scope) if callable(self.high) else self.high

    def read(self, value: Any, where: str, scope: Any) -> Any:
        if value is None and self.none is not None:
            return self.none
        return values.integer(value, where, *self.bounds(scope))

    def describe(self, value: Any, scope: Any) -> Any:
        return None if value == self.none else value

    def form(self, scope: Any) -> Form:
        form = forms.number(*self.bounds(scope), self.none is not None)
        return form if self.usual is None else {**form, "usual": self.usual}

    def check(self, states: Records, field: str, scope: Any, depth: int = 1) -> Iterator[Check]:
        low, high = self.bounds(scope)
        yield out_of_range(states, field, low if self.none is None else min(low, self.none), high)


@dataclass(frozen=True)
class Name(Kind):
    """One of the names; the field has its index, or -1 for none.

    Attributes:
        none: whether it may be null.
        absent: whether there may be none, which a description does not say.
        labels: what people call the names.
    """

    names: Names
    none: bool = False
    absent: bool = False
    labels: Sequence[str] | None = None

    @property
    def blank(self) -> int:
        return -1 if self.none or self.absent else 0

    def read(self, value: Any, where: str, scope: Any) -> Any:
        return values.choice(value, where, names_of(scope, self.names), or_none=self.none)

    def describe(self, value: Any, scope: Any) -> Any:
        return None if value < 0 else names_of(scope, self.names)[value]

    def form(self, scope: Any) -> Form:
        return forms.said(forms.choice(names_of(scope, self.names), none=self.none), labels=self.labels)

    def check(self, states: Records, field: str, scope: Any, depth: int = 1) -> Iterator[Check]:
        number = scope.number_of[self.names] if isinstance(self.names, str) else len(self.names)
        yield out_of_range(states, field, self.blank, number - 1)


@dataclass(frozen=True)
class Switch(Kind):
    """True or false; the field has 1 or 0."""

    def read(self, value: Any, where: str, scope: Any) -> Any:
        return values.switch(value, where)

    def describe(self, value: Any, scope: Any) -> Any:
        return bool(value)

    def form(self, scope: Any) -> Form:
        return forms.switch()

    def check(self, states: Records, field: str, scope: Any, depth: int = 1) -> Iterator[Check]:
        yield out_of_range(states, field, 0, 1)


@dataclass(frozen=True)
class By(Kind):
    """A table with the same kind of value for each name.

    Attributes:
        shape: of the field. Without it `read` returns a dictionary of the given values by index, from which the game
            makes the record.
        rows: takes the scope, returns the index of each name; None for 0, 1, …
        axis: of the field, whose indices the names have.
        sparse: whether empty values are left out of the description.
        at: the name of the element of the board that shows each value, or a function of the scope that returns it.
        words: what each value is called.
    """

    names: Names
    kind: Any
    shape: tuple[int, ...] | None = None
    rows: Callable[[Any], Sequence[int]] | None = None
    axis: int = 0
    sparse: bool = False
    at: str | Callable[[Any], str | None] | None = None
    words: Callable[[str], str] | None = None

    @property
    def blank(self) -> int:
        return int(self.kind.blank)

    def _rows(self, scope: Any) -> dict[str, int]:
        names = names_of(scope, self.names)
        return dict(zip(names, self.rows(scope) if self.rows else range(len(names)), strict=True))

    def read(self, value: Any, where: str, scope: Any) -> Any:
        rows = self._rows(scope)
        found = mapping(value, where, tuple(rows))
        given = {rows[name]: self.kind.read(entry, f"{where}.{name}", scope) for name, entry in found.items()}
        if self.shape is None:
            return given
        array = np.full(self.shape, self.blank)
        for row, entry in given.items():
            np.moveaxis(array, self.axis, 0)[row] = entry
        return array

    def describe(self, value: Any, scope: Any) -> Any:
        cells = list(zip(*value, strict=True)) if self.axis else value
        said = {name: self.kind.describe(cells[row], scope) for name, row in self._rows(scope).items()}
        return {name: entry for name, entry in said.items() if entry or not self.sparse}

    def form(self, scope: Any) -> Form:
        inner, at = self.kind.form(scope), self.at(scope) if callable(self.at) else self.at

        def entry(name: str) -> Form:
            form = forms.said(inner, self.words(name) if self.words else None)
            return forms.at(form, (at, name)) if at else form

        return forms.table({name: entry(name) for name in names_of(scope, self.names)})

    def check(self, states: Records, field: str, scope: Any, depth: int = 1) -> Iterator[Check]:
        """Those of the inner kind, and that names which a game does not have hold nothing."""
        numbers = np.moveaxis(states[field], depth + self.axis, depth)
        yield from self.kind.check({field: numbers}, field, scope, depth + 1)
        if self.names in scope.number_of:
            # (N, names, …) to (N, names): whether anything is held under each name
            held = (
                np.moveaxis(numbers != self.blank, depth, 1).reshape(len(numbers), numbers.shape[depth], -1).any(axis=2)
            )
            absent = np.arange(held.shape[1]) >= scope.number_of[self.names][:, None]
            yield breaks(held & absent, lambda i, seat: f"{field} holds something of seat {seat}, who isn't there")


def counts(names: Names, size: int, high: int = MOST, full: bool = False, at: str | None = None) -> By:
    """A table of counts by name, of which the field has `size`. If `full`, descriptions have counts of 0, too."""
    return By(names, Number(0, high, usual=0), (size,), sparse=not full, at=at)


@dataclass(frozen=True)
class Marked(By):
    """A list of names, each at most once; the field has a 1 for each of them, by index."""

    kind: Any = Switch()

    def read(self, value: Any, where: str, scope: Any) -> Any:
        (size,) = self.shape or (0,)
        return values.names_listed(value, where, names_of(scope, self.names), size)

    def describe(self, value: Any, scope: Any) -> Any:
        return [name for name, on in zip(names_of(scope, self.names), value, strict=False) if on]

    def form(self, scope: Any) -> Form:
        return forms.names(names_of(scope, self.names))


@dataclass(frozen=True)
class Listed(Kind):
    """A list of values of one kind, of `shortest` to `longest` entries. `places` takes the scope."""

    kind: Any
    longest: int
    shortest: int = 0
    places: Callable[[Any], Sequence[Place]] | None = None

    def read(self, value: Any, where: str, scope: Any) -> Any:
        found = values.a_list(value, where, self.longest)
        return [self.kind.read(entry, f"{where}[{i}]", scope) for i, entry in enumerate(found)]

    def describe(self, value: Any, scope: Any) -> Any:
        return [self.kind.describe(entry, scope) for entry in value]

    def form(self, scope: Any) -> Form:
        places = self.places(scope) if self.places else ()
        return forms.listing(self.kind.form(scope), self.longest, shortest=self.shortest, places=places)


@dataclass(frozen=True)
class Fixed(Kind):
    """What the configuration says, so that an editor can't change it. `value` takes the scope."""

    value: Callable[[Any], Any]

    def describe(self, value: Any, scope: Any) -> Any:
        return self.value(scope)

    def form(self, scope: Any) -> Form:
        return forms.fixed(self.value(scope))


# --- Keys -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """The declaration of one key of a description.

    Attributes:
        name: the key.
        kind: of its value.
        field: the field of the record; None if it has the name of the key.
        value: takes a plain record, returns what the kind describes; None for the field.
        words: what people call it; None for the name of the key.
        follows: whether it follows from the rest of the position if it is left out.
        at: takes the scope, returns the place or places on the board that show it.
        refused: takes the scope, returns why a game does not have this key; None for a game that has it.
        when: takes a plain record, returns whether the description says it.
    """

    name: str
    kind: Any
    field: str | None = None
    value: Callable[[Any], Any] | None = None
    words: str | None = None
    follows: bool = False
    at: Callable[[Any], Sequence[Place]] | None = None
    refused: Callable[[Any], str | None] = lambda scope: None
    when: Callable[[Any], bool] | None = None

    def value_of(self, s: Any) -> Any:
        """What the kind describes; None for a value that is in no field, but in the configuration."""
        return self.value(s) if self.value else getattr(s, self.field or self.name, None)

    def form(self, scope: Any) -> Form:
        form = forms.said(self.kind.form(scope), self.words)
        form = {**form, "follows": True} if self.follows else form
        places = self.at(scope) if self.at else ()
        return forms.also_at(form, places) if len(places) > 1 else forms.at(form, *places[0]) if places else form


@dataclass(frozen=True)
class Table:
    """A table of keys. A description leaves out what is as in `blank`, a plain record, if there is one."""

    keys: tuple[Key, ...]
    blank: Any = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(key.name for key in self.keys)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The keys for what the configuration says."""
        return tuple(key.name for key in self.keys if isinstance(key.kind, Fixed))

    def read(self, value: Any, where: str, scope: Any) -> dict[str, Any]:
        """The given values by key, as the record's fields hold them, without what the configuration says."""
        given = mapping(value, where, self.names)
        inside = "" if where == ROOT else f"{where}."
        there = (key for key in self.keys if key.name in given and not isinstance(key.kind, Fixed))
        return {key.name: key.kind.read(given[key.name], inside + key.name, scope) for key in there}

    def refuse(self, given: Mapping[str, Any], scope: Any) -> None:
        """Raise ScenarioError for a given key that this game does not have."""
        for key in self.keys:
            if key.name in given and (reason := key.refused(scope)):
                raise wrong(key.name, reason)

    def write(self, record: Any, given: Mapping[str, Any]) -> None:
        """Write the given values whose key stands for one field into the record, except tables (`By` without shape)."""
        for key in self.keys:
            if key.name in given and key.value is None and not isinstance(given[key.name], dict):
                record[key.field or key.name] = given[key.name]

    def describe(self, s: Any, scope: Any) -> dict[str, Any]:
        """The description of a plain record."""
        said = {}
        for key in self.keys:
            value = key.value_of(s)
            usual = self.blank is not None and value == key.value_of(self.blank)
            if not usual and not key.refused(scope) and (key.when is None or key.when(s)):
                said[key.name] = key.kind.describe(value, scope)
        return said

    def form(self, scope: Any) -> Form:
        """The form of a description of such a game."""
        return forms.table({key.name: key.form(scope) for key in self.keys if not key.refused(scope)})

    def check(self, states: Records, scope: Any, depth: int = 1) -> Iterator[Check]:
        """Checks of all fields that keys stand for. `depth` is 2 for a table whose fields are arrays of such tables."""
        for key in self.keys:
            if key.value is None and not isinstance(key.kind, Fixed):
                yield from key.kind.check(states, key.field or key.name, scope, depth)
