"""The printed numbers of a game as data: a shipped TOML file with their sources, and overlays that replace numbers.

A game declares its keys (`Key`) and makes a `ComponentFile` from them. The shipped file and overlays are checked by the
same rules. An error names the file, the key and the allowed values.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

import numpy as np

from tabletop_engine.checks import plain
from tabletop_engine.described.draws import MOST_TRIES_IN_ALL, Impossible, Stated, Values, draw
from tabletop_engine.described.keys import Key, Value, range_of_places
from tabletop_engine.described.ranges import BadRange, Range, allowed_ranges, range_of
from tabletop_engine.described.ranges import stated as range_in_file
from tabletop_engine.errors import ComponentsError
from tabletop_engine.files import read_limited

SOURCES = ("rulebook", "public", "assumed")
"""The possible sources of a shipped number: a rulebook, a published review or component list, or none (a stand-in)."""

OVERLAY = "overlay"
"""The source of every number that an overlay file states."""

_MOST_ATTEMPTS = 1000
"""Editions that are drawn for a seed until one can be played."""

Overlay: TypeAlias = str | Path | Mapping[str, Any] | tuple[tuple[str, Any], ...]
"""Numbers that replace shipped ones: the path of a TOML file, a mapping of keys to numbers, or pairs of both.

A key such as `pieces.range.votes` states the range of `pieces.votes`, as in a file.
"""


@dataclass(frozen=True)
class Numbers:
    """The numbers of one key.

    Attributes:
        values: the numbers.
        sources: the source of each number; one source for an empty list.
        single: whether the key has one number and not a list.
        range: what they may be, where nobody has read them; None where they are known.
    """

    values: tuple[Value, ...]
    sources: tuple[str, ...]
    single: bool
    range: Range | None = None

    @property
    def plain(self) -> Value | list[Value]:
        """The value as it is in a file: one number, or a list."""
        return self.values[0] if self.single else list(self.values)


Components: TypeAlias = Mapping[str, Numbers]
"""The numbers of all keys, by the dotted names of the keys."""


def overlaid(components: Components) -> dict[str, Value | list[Value]]:
    """The numbers that an overlay stated, as an overlay: keys to plain values."""
    return {key: numbers.plain for key, numbers in components.items() if OVERLAY in numbers.sources}


def _range_key(key: str) -> str:
    """The dotted name of a key's range: `pieces.range.votes` for `pieces.votes`."""
    table, dot, name = key.rpartition(".")
    return f"{table}{dot}range.{name}"


def _key_of(path: str) -> str:
    """The key whose number or range this is: `pieces.votes` for `pieces.range.votes`."""
    return f".{path}".replace(".range.", ".", 1)[1:]


def as_toml(numbers: Mapping[str, Value | Sequence[Value]]) -> str:
    """Numbers by the dotted names of their keys as the text of an overlay file."""
    return in_tables({key: as_toml_value(value) for key, value in numbers.items()})


def as_toml_value(value: Any) -> str:
    """A number, a text, or a list of them."""
    return json.dumps(value, ensure_ascii=False)


def in_tables(values: Mapping[str, str], prefix: str = "") -> str:
    """The text of an overlay file: values, as they stand there, by the dotted names of their keys.

    `prefix` is put before each key's name in its table.
    """
    lines: list[str] = []
    before = None
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        if table != before:
            lines += [*([""] if lines else []), f"[{table}]"]
            before = table
        lines.append(f"{prefix}{name} = {value}")
    return "\n".join([*lines, ""])


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
        stated: what the rules state of several numbers together, for editions that are drawn.
    """

    base: Path
    keys: Mapping[str, Key]
    page: str
    tables: np.dtype[Any]
    fill: Callable[[Components, Any], None]
    check_together: Callable[[Reader, Components], None] = lambda reader, components: None
    kinds: Mapping[str, str] = field(default_factory=dict)
    stated: tuple[Stated, ...] = ()

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

    def draw(self, seed: int, overlay: Overlay | None = None) -> dict[str, Value | list[Value]]:
        """An edition: the numbers of `load` with every one that has a range drawn from it, by the seed.

        Returns the numbers that are drawn or stated by the overlay, as an overlay: keys to plain values. See
        `tabletop_engine.described.draws` for how they are drawn.

        Raises ComponentsError for a bad overlay, and if the ranges contradict each other or the rules.
        """
        from tabletop_engine.checks import whole  # it takes Numba with it, which printing numbers does without

        components = self.load(overlay)
        seed = whole("seed", seed, 0, 2**32 - 1)
        known: Values = {key: numbers.values for key, numbers in components.items()}
        ranges = {key: numbers.range for key, numbers in components.items() if numbers.range is not None}
        own = overlaid(components)
        file, *_ = self._given(overlay) or (self.base.name,)
        error: ComponentsError | None = None
        tries = iter(range(MOST_TRIES_IN_ALL))
        for attempt in range(_MOST_ATTEMPTS):
            try:
                drawn = draw(self.keys, ranges, known, self.stated, seed, attempt, tries)
            except Impossible as impossible:
                if error is not None:
                    break
                key, constraint = impossible.args
                raise ComponentsError(
                    f"{file}: {key}: its range never fits the others'; allowed: {constraint}"
                ) from None
            plain = {key: values[0] if components[key].single else list(values) for key, values in drawn.items()}
            edition = {key: {**own, **plain}[key] for key in self.keys if key in own or key in plain}
            try:
                Reader(self, file, self.load()).read_numbers(self.frozen(edition))
            except ComponentsError as one:
                error = one
            else:
                return edition
        raise ComponentsError(f"{file}: the ranges allow no edition that can be played: {error}")

    def frozen(self, numbers: Any) -> tuple[tuple[str, Any], ...]:
        """A mapping of keys to numbers, or pairs of both, in a hashable form: sorted pairs with tuples for lists.

        A range is a word, or JSON text. Raises ComponentsError for anything else. `load` and `config_value` check
        whether the numbers are allowed.
        """
        try:
            pairs = list(numbers.items() if isinstance(numbers, Mapping) else numbers)
            frozen = {
                key: tuple(map(plain, value)) if isinstance(value, list | tuple) else plain(value)
                for key, value in pairs
            }
            if len(frozen) < len(pairs):
                raise ValueError
            for key, value in frozen.items():
                if _key_of(key) != key and not isinstance(value, str):
                    frozen[key] = json.dumps(value)
        except (TypeError, ValueError):
            problem = "is neither a path nor a mapping of keys to numbers"
            raise ComponentsError(f"components: {numbers!r:.80} {problem}") from None
        for key, value in frozen.items():
            if not isinstance(key, str) or _key_of(key) not in self.keys:
                raise ComponentsError(f"components: {key!r:.80} is not a key of a component file ({self.page})")
            if _key_of(key) != key:
                continue
            for number in value if isinstance(value, tuple) else (value,):
                is_switch = self.keys[key].is_switch
                if is_switch and not self.keys[key].allows(number):  # 1 equals True, and would be found in the cache
                    raise ComponentsError(f"components: {key}: {number!r:.80}; allowed: {self.keys[key].allowed}")
                if not is_switch and (isinstance(number, bool) or not isinstance(number, int | float | str)):
                    raise ComponentsError(f"components: {key}: {number!r:.80} is neither a number nor a word")
        return tuple(sorted(frozen.items()))

    def config_value(self, given: Any) -> Any:
        """The form in which a configuration keeps its `components`: None, or `frozen` numbers and ranges.

        A file is read here, once, so a configuration stays the same when the file changes.

        Raises ComponentsError for what `load` refuses, so that no configuration has numbers that cannot be played.
        """
        if given is None:
            return None
        if isinstance(given, str | Path):
            loaded, shipped = self.load(given), self.load()
            given = overlaid(loaded)
            for key, one in loaded.items():
                if one.range is not None and (key in given or one.range != shipped[key].range):
                    given[_range_key(key)] = range_in_file(one.range, self.keys[key])
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
        given = dict(numbers)
        for path, value in given.items():
            key = _key_of(path)
            if key not in self.keys:
                self.fail(path, "unknown key", f"the keys of a component file ({self.components.page})")
            if key == path:
                self._keep(path, list(value) if isinstance(value, tuple) else value, None, _thawed(given, key))
            elif key not in given and self.base is not None:
                self._keep_numbers(key, self.base[key], _thawed(given, key))
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
            elif name == "range":
                self._read_ranges(path, prefix, value, table)
            elif name not in names:
                self.fail(path, f"unknown {self.components.kinds.get(prefix, 'key')}", ", ".join(names))
            elif path in self.keys:
                self._keep(path, value, _of(table, "source").get(name), _of(table, "range").get(name))
            elif isinstance(value, dict):
                self._table(path + ".", value)
            else:
                allowed = f"a table [{path}] of {', '.join(self._names_below(path + '.'))}"
                self.fail(path, f"{value!r} is not a table", allowed)

    def _keep(self, path: str, value: Any, stated: Any = None, may_be: Any = None) -> None:
        """Keep the value of a key, with its source and its range as the file states them."""
        values = self._values(path, self.keys[path], value)
        prefix, _, name = path.rpartition(".")
        sources = self._sources(f"{prefix}.source.{name}", stated, len(values))
        self._keep_numbers(path, Numbers(values, sources, self.keys[path].places is None), may_be)

    def _keep_numbers(self, path: str, numbers: Numbers, may_be: Any) -> None:
        if may_be is not None:
            key = self.keys[path]
            try:
                numbers = replace(numbers, range=range_of(key, may_be, len(numbers.values)))
            except BadRange as bad:
                self.fail(_range_key(path), str(bad), allowed_ranges(key))
        self.read_keys[path] = numbers

    def _values(self, path: str, key: Key, value: Any) -> tuple[Value, ...]:
        if key.places is None:
            return (self._value(path, key, value, ""),)
        if not isinstance(value, list):
            self.fail(path, f"{value!r} is not a list", key.allowed)
        if len(value) < key.fewest:
            self.fail(path, f"{value!r} lacks {range_of_places(key.places[len(value) : key.fewest])}", key.allowed)
        if len(value) > len(key.places):
            self.fail(path, f"{value!r} is too long", key.allowed)
        placed = zip(key.places, value, strict=False)
        values = tuple(self._value(path, key, one, f"{place} is ") for place, one in placed)
        refused = key.wrong_together(values)
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

    def _read_ranges(self, path: str, prefix: str, ranges: Any, table: Mapping[str, Any]) -> None:
        """Check what a file states ranges of; keep those of keys that it does not give a value, in an overlay."""
        names = [name for name in self._names_below(prefix) if prefix + name in self.keys]
        if not isinstance(ranges, dict) or any(name not in names for name in ranges):
            self.fail(path, f"{ranges!r:.80}", f"a range for {', '.join(names)}" if names else "no such key")
        for name, stated in ranges.items():
            if name not in table and self.base is not None:
                self._keep_numbers(prefix + name, self.base[prefix + name], stated)

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


def _thawed(frozen: Mapping[str, Any], key: str) -> Any:
    """The range of a key as a file states it, from `ComponentFile.frozen` numbers; None if there is none."""
    text = frozen.get(_range_key(key))
    if text is None or not text.startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no range, which the caller says
        return text


def _of(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table in this table; empty if there is none, or something else that is refused where it is read."""
    value = table.get(name)
    return value if isinstance(value, dict) else {}
