"""The printed numbers of a game as data: a shipped TOML file with their sources, and overlays that replace numbers.

A game declares its keys (`Key`) and makes a `ComponentFile` from them. The shipped file and overlays are checked by the
same rules. An error names the file, the key and the allowed values.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

import numpy as np

from tabletop_engine.errors import ComponentsError
from tabletop_engine.files import read_limited

SOURCES = ("rulebook", "public", "assumed")
"""The possible sources of a shipped number: a rulebook, a published review or component list, or none (a stand-in)."""

OVERLAY = "overlay"
"""The source of every number that an overlay file states."""

Value: TypeAlias = int | float | str
Overlay: TypeAlias = str | Path | Mapping[str, Value | Sequence[Value]] | tuple[tuple[str, Any], ...]
"""Numbers that replace shipped ones: the path of a TOML file, a mapping of keys to numbers, or pairs of both."""


@dataclass(frozen=True)
class Key:
    """The declaration of one key of a component file.

    Attributes:
        meaning: what the numbers are, for people.
        low: the smallest number that is allowed. `low > high` allows words only.
        high: the largest number that is allowed.
        places: the meaning of each number of a list; None for a key with one number.
        at_least: how many of `places` must be there; None for all.
        words: words that are allowed in place of a number.
        tenths: whether numbers may have one decimal; otherwise they are whole.
        is_switch: whether the value is true or false.
        spelling: for a text in place of a number: its pattern, and the pattern in words.
        refused: a check of values that are allowed one by one: takes them, returns what is wrong with them together and
            what is allowed, or None.
    """

    meaning: str
    low: int = 0
    high: int = 0
    places: tuple[str, ...] | None = None
    at_least: int | None = None
    words: tuple[str, ...] = ()
    tenths: bool = False
    is_switch: bool = False
    spelling: tuple[str, str] | None = None
    refused: Callable[[tuple[Value, ...]], tuple[str, str] | None] | None = None

    @property
    def fewest(self) -> int:
        """The least number of values in a list."""
        return len(self.places or ()) if self.at_least is None else self.at_least

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        value = " or ".join([*self.numbers, *(f'"{word}"' for word in self.words)])
        if self.places is None:
            return value
        if not self.places:
            return "[]"
        most = len(self.places)
        count = str(most) if self.fewest == most else f"{self.fewest} to {most}"
        return f"a list of {count} (for {_range_of(self.places)}), each {value}"

    @property
    def numbers(self) -> list[str]:
        """The allowed numbers in words; empty if only words are allowed."""
        if self.is_switch:
            return ["true or false"]
        if self.spelling is not None:
            return [self.spelling[1]]
        if self.low >= self.high:
            return [str(self.low)] if self.low == self.high else []
        a_number, whole = ("a number", ", whole or with one decimal") if self.tenths else ("a whole number", "")
        return [f"{a_number} from {self.low} to {self.high}{whole}"]

    def allows(self, value: Any) -> bool:
        """Whether a value read from a file is allowed."""
        if isinstance(value, str):
            return value in self.words or (
                self.spelling is not None and re.fullmatch(self.spelling[0], value) is not None
            )
        if self.is_switch or isinstance(value, bool):
            return self.is_switch and isinstance(value, bool)
        if self.spelling is not None or not isinstance(value, int | float if self.tenths else int):
            return False
        return self.low <= value <= self.high and value == round(value, 1)


def _range_of(places: Sequence[str]) -> str:
    return places[0] if len(places) == 1 else f"{places[0]} to {places[-1]}"


@dataclass(frozen=True)
class Numbers:
    """The numbers of one key.

    Attributes:
        values: the numbers.
        sources: the source of each number; one source for an empty list.
        single: whether the key has one number and not a list.
    """

    values: tuple[Value, ...]
    sources: tuple[str, ...]
    single: bool

    @property
    def plain(self) -> Value | list[Value]:
        """The value as it is in a file: one number, or a list."""
        return self.values[0] if self.single else list(self.values)


Components: TypeAlias = Mapping[str, Numbers]
"""The numbers of all keys, by the dotted names of the keys."""


@dataclass(frozen=True, eq=False)
class ComponentFile:
    """The printed numbers of a game: the shipped file, and overlays that replace numbers in it.

    Attributes:
        base: the path of the shipped file.
        keys: every key by its dotted name, in the order in which they are shown.
        page: the page of the documentation that messages refer to.
        tables: the dtype of the record that the compiled rules read the numbers from.
        fill: takes the numbers and a blank record, and writes the numbers into it.
        check_together: takes a `Reader` and its numbers, and calls `Reader.fail` if several keys contradict each other.
        kinds: words for the names in a table in place of "key", by the table's name and a dot.
    """

    base: Path
    keys: Mapping[str, Key]
    page: str
    tables: np.dtype[Any]
    fill: Callable[[Components, Any], None]
    check_together: Callable[[Reader, Components], None]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def read(self, text: str, file: str, base: Components | None = None) -> Components:
        """The numbers of a component file.

        Arguments:
            text: its content, TOML.
            file: its name, for errors.
            base: the numbers that it replaces; None for a complete file, which also states the source of each number.

        Raises ComponentsError for anything that `keys` does not allow; the message names file, key and allowed values.
        """
        return Reader(self, file, base).read(text)

    def load(self, overlay: Overlay | None = None) -> Components:
        """The shipped numbers, replaced by those of the overlay, each with its source.

        Raises ComponentsError if the overlay can't be read, or for anything in it that `keys` does not allow.
        """
        return self._loaded(*self._given(overlay))

    def load_tables(self, overlay: Overlay | None = None) -> np.ndarray:
        """The numbers of `load` as a record for the compiled rules: (1,) of `tables`, read-only.

        Equal numbers give the same array.
        """
        return self._filled(*self._given(overlay))

    def own_numbers(self, overlay: Overlay | None) -> dict[str, Value | list[Value]] | None:
        """The numbers of the overlay that differ from the shipped ones, as JSON-able data; None if none differ."""
        shipped = self.load()
        loaded = self.load(overlay)
        return {key: loaded[key].plain for key in loaded if loaded[key].values != shipped[key].values} or None

    def frozen(self, numbers: Any) -> tuple[tuple[str, Any], ...]:
        """A mapping of keys to numbers, or pairs of both, in a hashable form: sorted pairs with tuples for lists.

        Raises ComponentsError for anything else. `load` and `config_value` check whether the numbers are allowed.
        """
        try:
            pairs = list(numbers.items() if isinstance(numbers, Mapping) else numbers)
            frozen = {key: tuple(value) if isinstance(value, list | tuple) else value for key, value in pairs}
            if len(frozen) < len(pairs):
                raise ValueError
        except (TypeError, ValueError):
            problem = "is neither a path nor a mapping of keys to numbers"
            raise ComponentsError(f"components: {numbers!r:.80} {problem}") from None
        for key, value in frozen.items():
            if not isinstance(key, str) or key not in self.keys:
                raise ComponentsError(f"components: {key!r:.80} is not a key of a component file ({self.page})")
            for number in value if isinstance(value, tuple) else (value,):
                is_switch = self.keys[key].is_switch
                if is_switch and not self.keys[key].allows(number):  # 1 equals True, and would be found in the cache
                    raise ComponentsError(f"components: {key}: {number!r:.80}; allowed: {self.keys[key].allowed}")
                if not is_switch and (isinstance(number, bool) or not isinstance(number, int | float | str)):
                    raise ComponentsError(f"components: {key}: {number!r:.80} is neither a number nor a word")
        return tuple(sorted(frozen.items()))

    def config_value(self, given: Any) -> Any:
        """The form in which a configuration keeps its `components`: None, a path as text, or `frozen` numbers.

        Raises ComponentsError for what `load` refuses, so that no configuration has numbers that cannot be played.
        """
        if given is None:
            return None
        if isinstance(given, str | Path):
            self.load(given)
            return str(given)
        frozen = self.frozen(given)
        self._loaded("components", frozen)
        return frozen or None

    def _given(self, overlay: Overlay | None) -> tuple[str, str] | tuple[str, tuple[tuple[str, Any], ...]] | tuple[()]:
        """The name of the overlay for messages, and its text or its numbers."""
        if overlay is None:
            return ()
        if not isinstance(overlay, str | Path):
            return "components", self.frozen(overlay)
        try:
            return str(overlay), read_limited(Path(overlay).expanduser()).decode("utf-8-sig")
        except FileNotFoundError:
            raise ComponentsError(f"{overlay}: no such file; allowed: the path of an overlay TOML file") from None
        except (OSError, ValueError) as error:  # ValueError: not UTF-8, too big, or a path that cannot be one
            problem = getattr(error, "strerror", None) or error
            raise ComponentsError(f"{overlay}: {problem}; allowed: the path of an overlay TOML file in UTF-8") from None

    @cached_property
    def _loaded(self) -> Callable[..., Components]:
        @lru_cache(maxsize=64)
        def loaded(file: str | None = None, given: str | tuple[tuple[str, Any], ...] = "") -> Components:
            if file is None:
                return self.read(self.base.read_text(encoding="utf-8"), self.base.name)
            if isinstance(given, str):
                return self.read(given, file, loaded())
            return Reader(self, file, loaded()).read_numbers(given)

        return loaded

    @cached_property
    def _filled(self) -> Callable[..., np.ndarray]:
        @lru_cache(maxsize=64)
        def filled(*given: Any) -> np.ndarray:
            tables = np.zeros(1, self.tables)
            self.fill(self._loaded(*given), tables[0])
            tables.flags.writeable = False
            return tables

        return filled


class Reader:
    """Reads and checks one file or mapping of numbers.

    Attributes:
        components: the numbers of the game that it belongs to.
        keys: the declarations of the keys.
        file: its name, for errors.
        base: the numbers that it replaces; None for a complete file.
        read_keys: the numbers in the file itself.
    """

    def __init__(self, components: ComponentFile, file: str, base: Components | None) -> None:
        self.components = components
        self.keys = components.keys
        self.file = file
        self.base = base
        self.read_keys: dict[str, Numbers] = {}

    def fail(self, key: str, problem: str, allowed: str) -> NoReturn:
        """Raise ComponentsError with the file, the key, the problem and the allowed values."""
        raise ComponentsError(f"{self.file}: {key}: {problem}; allowed: {allowed}")

    def read(self, text: str) -> Components:
        """The numbers of a TOML text. Raises ComponentsError for bad ones."""
        try:
            document = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            page = self.components.page
            raise ComponentsError(f"{self.file}: not a TOML file: {error}; {page} has an example") from None
        self._table("", document)
        return self._together()

    def read_numbers(self, numbers: Iterable[tuple[str, Any]]) -> Components:
        """The numbers of pairs of keys and values. Raises ComponentsError for bad ones."""
        for path, value in numbers:
            if path not in self.keys:
                self.fail(path, "unknown key", f"the keys of a component file ({self.components.page})")
            self._keep(path, list(value) if isinstance(value, tuple) else value, None)
        return self._together()

    def _together(self) -> Components:
        found = {**(self.base or {}), **self.read_keys}
        for key in self.keys:
            if key not in found:
                self.fail(key, "missing", self.keys[key].allowed)
        components = {key: found[key] for key in self.keys}
        self.components.check_together(self, components)
        return MappingProxyType(components)

    def _names_below(self, prefix: str) -> list[str]:
        """The names that follow `prefix` in the keys."""
        return list(dict.fromkeys(key[len(prefix) :].split(".")[0] for key in self.keys if key.startswith(prefix)))

    def _table(self, prefix: str, table: Mapping[str, Any]) -> None:
        """Read one table of the file. `prefix` is its name and a dot; "" for the whole file."""
        names = self._names_below(prefix)
        for name, value in table.items():
            path = prefix + name
            if name == "source":
                self._check_source_names(path, value, table)
            elif name not in names:
                self.fail(path, f"unknown {self.components.kinds.get(prefix, 'key')}", ", ".join(names))
            elif path in self.keys:
                self._keep(path, value, table.get("source", {}).get(name))
            elif isinstance(value, dict):
                self._table(path + ".", value)
            else:
                allowed = f"a table [{path}] of {', '.join(self._names_below(path + '.'))}"
                self.fail(path, f"{value!r} is not a table", allowed)

    def _keep(self, path: str, value: Any, stated: Any) -> None:
        values = self._values(path, self.keys[path], value)
        prefix, _, name = path.rpartition(".")
        sources = self._sources(f"{prefix}.source.{name}", stated, len(values))
        self.read_keys[path] = Numbers(values, sources, self.keys[path].places is None)

    def _values(self, path: str, key: Key, value: Any) -> tuple[Value, ...]:
        if key.places is None:
            return (self._value(path, key, value, ""),)
        if not isinstance(value, list):
            self.fail(path, f"{value!r} is not a list", key.allowed)
        if len(value) < key.fewest:
            self.fail(path, f"{value!r} lacks {_range_of(key.places[len(value) : key.fewest])}", key.allowed)
        if len(value) > len(key.places):
            self.fail(path, f"{value!r} is too long", key.allowed)
        placed = zip(key.places, value, strict=False)
        values = tuple(self._value(path, key, one, f"{place} is ") for place, one in placed)
        refused = None if key.refused is None else key.refused(values)
        if refused is not None:
            self.fail(path, f"{value!r} {refused[0]}", refused[1])
        return values

    def _value(self, path: str, key: Key, value: Any, where: str) -> Value:
        if not key.allows(value):
            shown = str(value).lower() if isinstance(value, bool) else repr(value)
            self.fail(path, f"{where}{shown}", key.allowed)
        if isinstance(value, str | bool):
            return value
        return int(value) if value == int(value) else float(value)

    def _check_source_names(self, path: str, sources: Any, table: Mapping[str, Any]) -> None:
        if self.base is not None:
            self.fail(path, f"an overlay states no sources, its numbers are shown as {OVERLAY!r}", "no such key")
        names = [name for name in table if name != "source"]
        if not isinstance(sources, dict) or any(name not in names for name in sources):
            self.fail(path, f"{sources!r}", f"a source for {', '.join(names)}")

    def _sources(self, path: str, stated: Any, count: int) -> tuple[str, ...]:
        if self.base is not None:
            return (OVERLAY,) * max(count, 1)
        sources = stated if isinstance(stated, list) else [stated] * max(count, 1)
        if any(source not in SOURCES for source in sources) or len(sources) != max(count, 1):
            problem = "missing" if stated is None else repr(stated)
            self.fail(path, problem, f"{', '.join(SOURCES)}; one for all or one each for {count}")
        return tuple(sources)
