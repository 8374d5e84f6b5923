"""The printed numbers of Petrichor, from `components/base.toml` and an overlay file of the user.

Both files are checked by the same rules (`KEYS`). docs/components.md is the page for users.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from petrichor_env.state import CROP_NAMES, HARVEST, MAX_PLAYERS, NUM_TILES, WEATHER_NAMES, Crop, Growing
from petrichor_env.tables import MAX_COPIES, NEVER, RESHUFFLE, TABLES, TRACK_SPACES
from tabletop_engine.described.draws import Stated, Values
from tabletop_engine.described.keys import Key, Value
from tabletop_engine.described.overlays import ComponentFile, Components, Reader

BASE_FILE = Path(__file__).parent / "components" / "base.toml"

MOST_VOTING_WINS = 12
"""Two spaces in each of six rounds."""

_PLACES = tuple(f"place {place}" for place in (1, 2, 3, 4))
_PRESENT = ("1 player", *(f"{players} players" for players in range(2, MAX_PLAYERS + 1)))
_COPIES = tuple(f"copy {copy}" for copy in range(1, MAX_COPIES + 1))
_WINS = tuple(f"{wins} wins" for wins in range(TRACK_SPACES))
_DIE = tuple(f"side {side}" for side in range(1, 7))

_BASE_CROPS = tuple(crop for crop in Crop if crop <= Crop.CORN)

# The rules and the bounds of observations are valid for any file within the limits below.
_MOST_POINTS = 20

_points = partial(Key, high=_MOST_POINTS, places=_PLACES)
_drops = partial(Key, low=1, high=20)
_priorities = partial(Key, high=99, tenths=True, permuted="solo priorities")
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


def _two_harvests(icons: tuple[Value, ...]) -> tuple[str, str] | None:
    return ("has two Harvest icons", "at most one") if icons.count("harvest") > 1 else None


_ICONS = Key(
    "icons",
    low=1,
    high=0,
    places=("icon 1", "icon 2"),
    at_least=1,
    words=(*WEATHER_NAMES, "harvest"),
    refused=_two_harvests,
)
_TRACK = Key(
    "points by number of wins, from 0",
    high=200,
    places=_WINS,
    at_least=MOST_VOTING_WINS + 1,
    never_falls="points that never fall from one win to the next",
)

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
        "pieces.fertilizer_tokens": Key("tokens in all", low=3, high=3),  # the solo field has room for three
        "pieces.pods": Key("pods in all", high=NUM_TILES),
        "pieces.primrose_blooms": Key("the most bloom tokens on the tile", low=1, high=8),
    }
)
"""Every key of a component file, by its dotted name, in the order in which they are shown."""


# --- Checks of several keys together --------------------------------------------------------------------------------


def _check_together(reader: Reader, components: Components) -> None:
    _check_priorities(reader, components)
    _check_cactus(reader, components)
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
            counting = [key for key in reader.read_keys if key.endswith((".copies", ".solo_priorities"))]
            changed = counting[-1] if reader.base is not None and counting else "tiles"
            reader.fail(changed, f"leaves {tiles} {what}", f"copies and priorities that leave {least}")


def _check_priorities(reader: Reader, components: Components) -> None:
    # the file's own tiles last, so that a clash is reported at a key that the file has
    keys = [(crop, f"tiles.{CROP_NAMES[crop]}.solo_priorities") for crop in (*_BASE_CROPS, Crop.CACTUS)]
    owners: dict[Value, str] = {}
    for crop, key in sorted(keys, key=lambda pair: pair[1] in reader.read_keys):
        copies = _copies(components, crop)
        given = len(components[key].values)
        if given != copies:
            reader.fail(key, f"{given} priorities for {copies} copies", f"{copies}, one a copy, 0 without a compass")
        for priority in _compasses(components, crop):
            if priority in owners:
                allowed = "a different number from 0.1 to 99 for every tile, 0 without a compass"
                reader.fail(key, f"{priority} is also in {owners[priority]}", allowed)
            owners[priority] = key


def _check_cactus(reader: Reader, components: Components) -> None:
    keys = "tiles.cactus.drops_to_grow", "tiles.cactus.drops_to_drown"
    grow, drown = (_number(components, key) for key in keys)
    if drown <= grow:
        wrong = keys[0] if reader.base is not None and keys[1] not in reader.read_keys else keys[1]
        reader.fail(wrong, f"grows with {grow} drops and drowns with {drown}", "more drops to drown than to grow")


def _integers(components: Components, key: str) -> list[int]:
    return [int(value) for value in components[key].values]


def _number(components: Components, key: str) -> int:
    return _integers(components, key)[0]


def _copies(components: Components, crop: Crop) -> int:
    """The number of tiles of a crop. The file has it for crops of the base game; of the others there is one each."""
    return _number(components, f"tiles.{CROP_NAMES[crop]}.copies") if crop in _BASE_CROPS else 1


def _compasses(components: Components, crop: Crop) -> list[Value]:
    """The solo priorities of a crop's tiles with a compass."""
    return [priority for priority in components[f"tiles.{CROP_NAMES[crop]}.solo_priorities"].values if priority != 0]


# --- The record of numbers -------------------------------------------------------------------------------------------


def _fill(components: Components, row: Any) -> None:
    """Write the numbers into a record of TABLES."""
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


_SIDES = {
    **dict.fromkeys(("scores", "developed_scores", "points_a_drop"), Growing.DEVELOPED),
    "sprouting_scores": Growing.SPROUTING,
    "drowned_scores": Growing.DROWNED,
}
"""The key for each line of the table's scores. Sprouting Rice scores nothing; the Dandelion scores its pods."""


def _extended(values: list[int], length: int) -> list[int]:
    """The values, extended to `length` by repeating the last one."""
    return values + values[-1:] * (length - len(values))


# --- What the rulebooks state of several numbers together ------------------------------------------------------------


def _never_rises(crop: str, name: str, first: int = 1) -> Stated:
    """No place from `first` on scores more than the place before it."""
    key = f"tiles.{crop}.{name}"

    def holds(values: Values) -> bool:
        points = values[key][first - 1 :]
        return list(points) == sorted(points, key=float, reverse=True)

    return Stated(f"{key} that never rise from place {first} on", (key,), holds)


def _holds(keys: tuple[str, ...], text: str, test: Callable[..., bool]) -> Stated:
    """`test` takes the values of the keys in turn."""
    return Stated(text, keys, lambda values: test(*(values[key] for key in keys)))


_PRIORITIES = tuple(f"tiles.{CROP_NAMES[crop]}.solo_priorities" for crop in _BASE_CROPS)

STATED = (
    *(_never_rises(crop, "scores") for crop in ("cotton", "grass", "corn", "cactus")),
    _never_rises("potato", "scores", first=2),
    *(_never_rises("coffee", name) for name in ("sprouting_scores", "developed_scores")),
    _never_rises("cactus", "drowned_scores"),
    _holds(  # Scoring, Cotton, Grass, Potato
        ("tiles.potato.scores",), "Potatoes that score more for second place than for first", lambda p: p[1] > p[0]
    ),
    _holds(  # Growing Crops: the developed line has the higher scores
        ("tiles.coffee.sprouting_scores", "tiles.coffee.developed_scores"),
        "developed Coffee that scores at least what sprouting Coffee does",
        lambda sprouting, developed: all(map(float.__le__, map(float, sprouting), map(float, developed))),
    ),
    _holds(  # Promos, The Maltese Cactus
        ("tiles.cactus.scores", "tiles.cactus.drowned_scores"),
        "a drowned Cactus that scores less for the first two places",
        lambda points, drowned: drowned[0] < points[0] and drowned[1] < points[1],
    ),
    Stated(  # Promos, The Maltese Cactus
        "Potatoes with priorities below 5.5, and a Wheat with one above",
        _PRIORITIES,
        lambda values: (
            all(0 < float(priority) < 5.5 for priority in values["tiles.potato.solo_priorities"])
            and any(float(priority) > 5.5 for priority in values["tiles.wheat.solo_priorities"])
        ),
    ),
)
"""What the rulebooks state of several numbers together, and that better places never score less but for Potatoes."""


COMPONENTS = ComponentFile(
    base=BASE_FILE,
    keys=KEYS,
    page="docs/components.md",
    tables=TABLES,
    fill=_fill,
    check_together=_check_together,
    kinds={"tiles.": "tile", "southern_winds_cards.": "card"},
    stated=STATED,
)
"""The printed numbers of Petrichor. `COMPONENTS.load(overlay)` returns each with its source."""
load_components = COMPONENTS.load
"""The numbers with their sources: `ComponentFile.load` of `COMPONENTS`."""
load_tables = COMPONENTS.load_tables
"""The numbers as (1,) `TABLES`: `ComponentFile.load_tables` of `COMPONENTS`."""
own_numbers = COMPONENTS.own_numbers
