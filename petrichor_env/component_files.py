"""The numbers on the pieces, read from `components/base.toml` and, over them, from a user's overlay file.

Both are checked by the same rules (`KEYS`); docs/components.md is the page for users.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

import numpy as np

from petrichor_env.state import CROP_NAMES, HARVEST, MAX_PLAYERS, NUM_TILES, WEATHER_NAMES, Crop, Growing
from petrichor_env.tables import MAX_COPIES, NEVER, RESHUFFLE, TABLES, TRACK_SPACES
from tabletop.errors import ComponentsError
from tabletop.files import read_limited

BASE_FILE = Path(__file__).parent / "components" / "base.toml"

SOURCES = ("rulebook", "public", "assumed")
"""Where a shipped number comes from: a rulebook, a published review or component list, nowhere (a stand-in)."""

OVERLAY = "overlay"
"""The source of every number that an overlay file states."""

MOST_VOTING_WINS = 12
"""Two spaces in each of six rounds."""

Value: TypeAlias = int | float | str
Overlay: TypeAlias = str | Path | Mapping[str, Value | Sequence[Value]] | tuple[tuple[str, Any], ...]
"""Numbers that replace the shipped ones: the path of a TOML file, or a mapping or pairs of keys and numbers."""


@dataclass(frozen=True)
class Key:
    """What one key of a component file holds.

    Arguments:
        meaning: what the numbers are, for people.
        low, high: the smallest and largest number allowed; `low > high` allows words only.
        places: what each number of a list stands for; None for a key with one number instead of a list.
        at_least: how many of `places` may not be missing; None for all.
        words: words allowed in the place of a number.
        tenths: whether numbers may have one decimal; else they are whole.
    """

    meaning: str
    low: int = 0
    high: int = 0
    places: tuple[str, ...] | None = None
    at_least: int | None = None
    words: tuple[str, ...] = ()
    tenths: bool = False

    @property
    def fewest(self) -> int:
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
        """The allowed numbers in words, none if only words are allowed."""
        if self.low >= self.high:
            return [str(self.low)] if self.low == self.high else []
        a_number, whole = ("a number", ", whole or with one decimal") if self.tenths else ("a whole number", "")
        return [f"{a_number} from {self.low} to {self.high}{whole}"]

    def allows(self, number: Any) -> bool:
        """Whether a value read from a file is an allowed number."""
        if isinstance(number, bool) or not isinstance(number, int | float if self.tenths else int):
            return False
        return self.low <= number <= self.high and number == round(number, 1)


def _range_of(places: Sequence[str]) -> str:
    return places[0] if len(places) == 1 else f"{places[0]} to {places[-1]}"


_PLACES = tuple(f"place {place}" for place in (1, 2, 3, 4))
_PRESENT = ("1 player", *(f"{players} players" for players in range(2, MAX_PLAYERS + 1)))
_COPIES = tuple(f"copy {copy}" for copy in range(1, MAX_COPIES + 1))
_WINS = tuple(f"{wins} wins" for wins in range(TRACK_SPACES))
_DIE = tuple(f"side {side}" for side in range(1, 7))

_BASE_CROPS = tuple(crop for crop in Crop if crop <= Crop.CORN)

# The rules and the observation's bounds hold for any file within the limits below.
_MOST_POINTS = 20

_points = partial(Key, high=_MOST_POINTS, places=_PLACES)
_drops = partial(Key, low=1, high=20)
_priorities = partial(Key, high=99, tenths=True)
_SCORES, _DROPS_TO_GROW = _points("points for places 1 to 4"), _drops("drops to grow")


def _base_tile(drops_to_grow: Key = _DROPS_TO_GROW, **scores: Key) -> dict[str, Key]:
    return {
        "copies": Key("copies", high=MAX_COPIES),
        "drops_to_grow": drops_to_grow,
        **scores,
        "solo_priorities": _priorities("solo priorities", places=_COPIES, at_least=0),
    }


_TILE_KEYS = {
    **{crop: _base_tile(scores=_SCORES) for crop in (Crop.WHEAT, Crop.COTTON, Crop.GRASS, Crop.POTATO)},
    Crop.COFFEE: _base_tile(
        _drops("drops to sprout"),
        sprouting_scores=_points("points for places 1 to 4, sprouting"),
        developed_scores=_points("points for places 1 to 4, developed"),
    ),
    Crop.RICE: _base_tile(_drops("drops to sprout"), points_a_drop=Key("points for each own drop, developed", high=5)),
    Crop.CORN: _base_tile(scores=Key("points with 1 to 5 players present", high=_MOST_POINTS, places=_PRESENT)),
    # one tile of each; the Lake has no numbers
    Crop.CACTUS: {
        "drops_to_grow": _DROPS_TO_GROW,
        "drops_to_drown": _drops("drops to drown"),
        "scores": _SCORES,
        "drowned_scores": _points("points for places 1 to 4, drowned"),
        "solo_priorities": _priorities("solo priority", places=("the one tile",)),
    },
    # the Harvest power may leave a drop on a Snowdrop that has just closed, where it must not grow
    Crop.SNOWDROP: {"drops_to_grow": _drops("drops to grow", low=2), "scores": _SCORES},
    Crop.DANDELION: {"drops_to_grow": _DROPS_TO_GROW},
    Crop.PRIMROSE: {"points_a_bloom": Key("points a bloom token when control changes", high=5)},
}
_ICONS = Key("icons", low=1, high=0, places=("icon 1", "icon 2"), at_least=1, words=(*WEATHER_NAMES, "harvest"))
_TRACK = Key("points by number of wins, from 0", high=200, places=_WINS, at_least=MOST_VOTING_WINS + 1)

KEYS: Mapping[str, Key] = MappingProxyType(
    {
        **{f"tiles.{CROP_NAMES[crop]}.{name}": key for crop, keys in _TILE_KEYS.items() for name, key in keys.items()},
        "action_cards.cards_of_a_kind": Key("copies", low=10, high=12),
        "action_cards.cards_of_a_kind_five_players": Key("copies with five players", low=10, high=12),
        **{f"southern_winds_cards.{card}": _ICONS for card in range(1, RESHUFFLE)},
        f"southern_winds_cards.{RESHUFFLE}": Key("icons", low=1, high=0, places=()),
        "voting_wins_track.points": _TRACK,
        "harvest_die.sides": Key("votes on each side", low=1, high=4, places=_DIE, words=("harvest",)),
        "pieces.drops": Key("drops of each player", low=4, high=20),
        "pieces.votes": Key("votes of each player", low=1, high=12),
        "pieces.clouds": Key("clouds in all", low=6, high=16),
        "pieces.wheat_bonus": Key("points for the most Wheat tokens", high=50),
        "pieces.fertilizer_tokens": Key("tokens in all", low=3, high=3),  # as many as solo's field has room for
        "pieces.pods": Key("pods in all", high=NUM_TILES),
        "pieces.primrose_blooms": Key("the most bloom tokens on the tile", low=1, high=8),
    }
)
"""Every key of a component file, by its dotted name, in the order in which they are shown."""


@dataclass(frozen=True)
class Numbers:
    """The numbers of one key; `single` if it has one number and not a list.

    `sources` are the source of each number; an empty list, such as the icons of Reshuffle & Redraw, has one too.
    """

    values: tuple[Value, ...]
    sources: tuple[str, ...]
    single: bool


Components: TypeAlias = Mapping[str, Numbers]
"""By the dotted names of `KEYS`, all of them."""


# --- Reading one file ------------------------------------------------------------------------------------------------


def read_components(text: str, file: str, base: Components | None = None) -> Components:
    """The numbers of a component file.

    Arguments:
        text: its text, TOML.
        file: its name, for errors.
        base: the numbers it replaces; None for a complete file, which also states the source of each number.

    Raises ComponentsError if anything in it is not as `KEYS` says; the text names file, key and allowed values.
    """
    return _Reader(file, base).read(text)


def _names_below(prefix: str) -> list[str]:
    """The names that follow `prefix` in `KEYS`."""
    return list(dict.fromkeys(key[len(prefix) :].split(".")[0] for key in KEYS if key.startswith(prefix)))


class _Reader:
    def __init__(self, file: str, base: Components | None) -> None:
        self.file = file
        self.base = base
        self.read_keys: dict[str, Numbers] = {}

    def fail(self, key: str, problem: str, allowed: str) -> NoReturn:
        raise ComponentsError(f"{self.file}: {key}: {problem}; allowed: {allowed}")

    def read(self, text: str) -> Components:
        try:
            document = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise ComponentsError(f"{self.file}: not a TOML file: {error}; docs/components.md has an example") from None
        self.table("", document)
        return self.together()

    def read_numbers(self, numbers: Iterable[tuple[str, Any]]) -> Components:
        for path, value in numbers:
            if path not in KEYS:
                self.fail(path, "unknown key", "the keys of a component file (docs/components.md)")
            self.keep(path, list(value) if isinstance(value, tuple) else value, None)
        return self.together()

    def together(self) -> Components:
        found = {**(self.base or {}), **self.read_keys}
        for key in KEYS:
            if key not in found:
                self.fail(key, "missing", KEYS[key].allowed)
        components = {key: found[key] for key in KEYS}
        self.check_together(components)
        return MappingProxyType(components)

    def table(self, prefix: str, table: Mapping[str, Any]) -> None:
        """One table of the file; `prefix` is its name and a dot, or empty for the whole file."""
        names = _names_below(prefix)
        for name, value in table.items():
            path = prefix + name
            if name == "source":
                self.check_source_names(path, value, table)
            elif name not in names:
                kind = "tile" if prefix == "tiles." else "card" if prefix == "southern_winds_cards." else "key"
                self.fail(path, f"unknown {kind}", ", ".join(names))
            elif path in KEYS:
                self.keep(path, value, table.get("source", {}).get(name))
            elif isinstance(value, dict):
                self.table(path + ".", value)
            else:
                allowed = f"a table [{path}] of {', '.join(_names_below(path + '.'))}"
                self.fail(path, f"{value!r} is not a table", allowed)

    def keep(self, path: str, value: Any, stated: Any) -> None:
        values = self.values(path, KEYS[path], value)
        prefix, _, name = path.rpartition(".")
        sources = self.sources(f"{prefix}.source.{name}", stated, len(values))
        self.read_keys[path] = Numbers(values, sources, KEYS[path].places is None)

    def values(self, path: str, key: Key, value: Any) -> tuple[Value, ...]:
        if key.places is None:
            return (self.value(path, key, value, ""),)
        if not isinstance(value, list):
            self.fail(path, f"{value!r} is not a list", key.allowed)
        if len(value) < key.fewest:
            self.fail(path, f"{value!r} lacks {_range_of(key.places[len(value) : key.fewest])}", key.allowed)
        if len(value) > len(key.places):
            self.fail(path, f"{value!r} is too long", key.allowed)
        placed = zip(key.places, value, strict=False)
        values = tuple(self.value(path, key, one, f"{place} is ") for place, one in placed)
        if path == "voting_wins_track.points" and list(values) != sorted(values, key=int):
            self.fail(path, f"{value!r} falls", "points that never fall from one win to the next")
        if values.count("harvest") > 1 and path.startswith("southern_winds_cards."):
            self.fail(path, f"{value!r} has two Harvest icons", "at most one")
        return values

    def value(self, path: str, key: Key, value: Any, where: str) -> Value:
        if isinstance(value, str) and value in key.words:
            return value
        if not key.allows(value):
            shown = str(value).lower() if isinstance(value, bool) else repr(value)
            self.fail(path, f"{where}{shown}", key.allowed)
        return int(value) if value == int(value) else float(value)

    def check_source_names(self, path: str, sources: Any, table: Mapping[str, Any]) -> None:
        if self.base is not None:
            self.fail(path, f"an overlay states no sources, its numbers are shown as {OVERLAY!r}", "no such key")
        names = [name for name in table if name != "source"]
        if not isinstance(sources, dict) or any(name not in names for name in sources):
            self.fail(path, f"{sources!r}", f"a source for {', '.join(names)}")

    def sources(self, path: str, stated: Any, count: int) -> tuple[str, ...]:
        if self.base is not None:
            return (OVERLAY,) * max(count, 1)
        sources = stated if isinstance(stated, list) else [stated] * max(count, 1)
        if any(source not in SOURCES for source in sources) or len(sources) != max(count, 1):
            problem = "missing" if stated is None else repr(stated)
            self.fail(path, problem, f"{', '.join(SOURCES)}; one for all or one each for {count}")
        return tuple(sources)

    # --- What must hold of several keys together ---

    def check_together(self, components: Components) -> None:
        self.check_priorities(components)
        self.check_cactus(components)
        copies = sum(_copies(components, crop) for crop in _BASE_CROPS)
        compasses = {crop: len(_compasses(components, crop)) for crop in _BASE_CROPS}
        kept = sum(compasses.values()) - compasses[Crop.WHEAT] - compasses[Crop.POTATO]
        # at most MAX_COPIES of 16 tiles are Corn, so two players without Corn have their 7 tiles too
        for tiles, least, what in (
            (copies, NUM_TILES, "tiles, for the field of five players"),
            (sum(compasses.values()), 6, "tiles with a solo priority, for the Southern Winds"),
            (kept, 6, 'tiles with a solo priority without Wheat and Potato, for the variant "No More Tricks"'),
        ):
            if tiles < least:
                counting = [key for key in self.read_keys if key.endswith((".copies", ".solo_priorities"))]
                changed = counting[-1] if self.base is not None and counting else "tiles"
                self.fail(changed, f"leaves {tiles} {what}", f"copies and priorities that leave {least}")

    def check_priorities(self, components: Components) -> None:
        # the file's own tiles last, so that a clash is reported at a key that the file has
        keys = [(crop, f"tiles.{CROP_NAMES[crop]}.solo_priorities") for crop in (*_BASE_CROPS, Crop.CACTUS)]
        owners: dict[Value, str] = {}
        for crop, key in sorted(keys, key=lambda pair: pair[1] in self.read_keys):
            copies = _copies(components, crop)
            given = len(components[key].values)
            if given != copies:
                self.fail(key, f"{given} priorities for {copies} copies", f"{copies}, one a copy, 0 without a compass")
            for priority in _compasses(components, crop):
                if priority in owners:
                    allowed = "a different number from 0.1 to 99 for every tile, 0 without a compass"
                    self.fail(key, f"{priority} is also in {owners[priority]}", allowed)
                owners[priority] = key

    def check_cactus(self, components: Components) -> None:
        keys = "tiles.cactus.drops_to_grow", "tiles.cactus.drops_to_drown"
        grow, drown = (_number(components, key) for key in keys)
        if drown <= grow:
            wrong = keys[0] if self.base is not None and keys[1] not in self.read_keys else keys[1]
            self.fail(wrong, f"grows with {grow} drops and drowns with {drown}", "more drops to drown than to grow")


def _integers(components: Components, key: str) -> list[int]:
    return [int(value) for value in components[key].values]


def _number(components: Components, key: str) -> int:
    return _integers(components, key)[0]


def _copies(components: Components, crop: Crop) -> int:
    """The base game's crops say how many tiles they have; of the other tiles the rules know one of each."""
    return _number(components, f"tiles.{CROP_NAMES[crop]}.copies") if crop in _BASE_CROPS else 1


def _compasses(components: Components, crop: Crop) -> list[Value]:
    """The solo priorities of a crop's tiles with a compass."""
    return [priority for priority in components[f"tiles.{CROP_NAMES[crop]}.solo_priorities"].values if priority != 0]


# --- Loading ---------------------------------------------------------------------------------------------------------


def load_components(overlay: Overlay | None = None) -> Components:
    """The shipped numbers with the overlay's in their place, each with its source.

    Raises ComponentsError if the overlay can't be read or is not as `KEYS` says; the text names what is allowed.
    """
    return _components(*_read(overlay))


def load_tables(overlay: Overlay | None = None) -> np.ndarray:
    """`load_components` as the compiled rules read it: (1,) TABLES, read-only. Equal numbers give the same array."""
    return _tables(*_read(overlay))


def own_numbers(overlay: Overlay | None) -> dict[str, Value | list[Value]] | None:
    """The overlay's numbers that aren't the shipped ones, as data; None where all are."""
    shipped, changed = load_components(), {}
    for key, numbers in load_components(overlay).items():
        if numbers.values != shipped[key].values:
            changed[key] = numbers.values[0] if numbers.single else list(numbers.values)
    return changed or None


def frozen_numbers(numbers: Any) -> tuple[tuple[str, Any], ...]:
    """A mapping of keys to numbers, or pairs of both, as sorted pairs with tuples in place of lists, hashable.

    Raises ComponentsError for anything else; whether the keys may have these numbers is checked where they are loaded.
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
        if not isinstance(key, str) or key not in KEYS:
            raise ComponentsError(f"components: {key!r:.80} is no key of a component file (docs/components.md)")
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, bool) or not isinstance(number, int | float | str):
                raise ComponentsError(f"components: {key}: {number!r:.80} is neither a number nor a word")
    return tuple(sorted(frozen.items()))


def _read(overlay: Overlay | None) -> tuple[str, str] | tuple[str, tuple[tuple[str, Any], ...]] | tuple[()]:
    """The name of what is read, and its text or its numbers."""
    if overlay is None:
        return ()
    if not isinstance(overlay, str | Path):
        return "components", frozen_numbers(overlay)
    try:
        return str(overlay), read_limited(Path(overlay).expanduser()).decode("utf-8-sig")
    except FileNotFoundError:
        raise ComponentsError(f"{overlay}: no such file; allowed: the path of an overlay TOML file") from None
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, too big, or a path that cannot be one
        problem = getattr(error, "strerror", None) or error
        raise ComponentsError(f"{overlay}: {problem}; allowed: the path of an overlay TOML file in UTF-8") from None


@lru_cache(maxsize=64)
def _components(file: str | None = None, given: str | tuple[tuple[str, Any], ...] = "") -> Components:
    if file is None:
        return read_components(BASE_FILE.read_text(encoding="utf-8"), BASE_FILE.name)
    if isinstance(given, str):
        return read_components(given, file, _components())
    return _Reader(file, _components()).read_numbers(given)


@lru_cache(maxsize=64)
def _tables(file: str | None = None, given: str | tuple[tuple[str, Any], ...] = "") -> np.ndarray:
    components = _components(file, given)
    tables = np.zeros(1, TABLES)
    row = tables[0]
    row["copies"], row["drops_to_grow"] = 1, NEVER
    for crop, keys in _TILE_KEYS.items():
        for name in keys:
            key = f"tiles.{CROP_NAMES[crop]}.{name}"
            if name in _SIDES:  # a fifth player scores as the fourth
                row["scores"][crop, _SIDES[name] - 1] = _extended(_integers(components, key), MAX_PLAYERS)
            elif name == "solo_priorities":
                tenths = [round(10 * float(priority)) for priority in components[key].values]
                row["solo_priority"][crop, : len(tenths)] = tenths
            elif name in ("copies", "drops_to_grow"):
                row[name][crop] = _number(components, key)
    row["drops_to_drown"] = _number(components, "tiles.cactus.drops_to_drown")
    row["primrose_points"] = _number(components, "tiles.primrose.points_a_bloom")
    for card in range(1, RESHUFFLE + 1):
        icons = components[f"southern_winds_cards.{card}"].values
        row["winds_votes"][card - 1] = [icons.count(weather) for weather in WEATHER_NAMES]
        row["winds_harvest"][card - 1] = icons.count("harvest")
    row["voting_wins"] = _extended(_integers(components, "voting_wins_track.points"), TRACK_SPACES)
    row["harvest_die"] = [HARVEST if s == "harvest" else int(s) for s in components["harvest_die.sides"].values]
    for key in KEYS:
        table, _, name = key.partition(".")
        if table in ("action_cards", "pieces"):
            row[name] = _number(components, key)
    tables.flags.writeable = False
    return tables


_SIDES = {
    **dict.fromkeys(("scores", "developed_scores", "points_a_drop"), Growing.DEVELOPED),
    "sprouting_scores": Growing.SPROUTING,
    "drowned_scores": Growing.DROWNED,
}
"""Which key fills which line of the table's scores; sprouting Rice scores nothing, the Dandelion its pods."""


def _extended(values: list[int], length: int) -> list[int]:
    """The last value again up to `length`."""
    return values + values[-1:] * (length - len(values))
