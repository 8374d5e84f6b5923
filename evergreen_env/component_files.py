"""The board, deck and flags of Evergreen, from `components/base.toml` and an overlay file of the user.

Both files are checked by the same rules (`KEYS`). docs/evergreen/components.md is the page for users.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from evergreen_env.maps import draw_rows
from evergreen_env.state import (
    BIOME_NAMES,
    COLUMNS,
    MAX_PLAYERS,
    MAX_ROUNDS,
    MAX_SPACES,
    NUM_BIOMES,
    PIECE_NAMES,
    POWER_NAMES,
    ROWS,
    SEASON_NAMES,
    SUN_NAMES,
    Biome,
)
from evergreen_env.tables import NO_PLACE, TABLES, UNLIMITED, WildFertility
from tabletop_engine.described.draws import Stated
from tabletop_engine.described.keys import Key, Value
from tabletop_engine.described.overlays import ComponentFile, Components, Reader

BASE_FILE = Path(__file__).parent / "components" / "base.toml"

LETTERS = "MFGRWN"
"""The letters of the biomes on the board, in the order of the biomes."""
RAVINE, OUTSIDE = "#", "."

_MOST_FLOWERS = 3
_SKULLS = {"skull": 1, "two skulls": 2}
_MISSING = "missing"

_choice = partial(Key, low=1, high=0)
"""A key with words only."""
_switch = partial(Key, is_switch=True)


def _uneven(rows: tuple[Value, ...]) -> tuple[str, str] | None:
    """The problem with the rows of a board, and what is allowed; None if there is none."""
    texts = [str(row) for row in rows]
    board = "".join(texts)
    if len({len(row) for row in texts}) != 1:
        return "has rows of different lengths", "rows of one length"
    missing = [BIOME_NAMES[i] for i, letter in enumerate(LETTERS) if letter not in board]
    if missing:
        return f"has no space of {', '.join(missing)}", "at least one space of each biome"
    spaces = len(board) - board.count(OUTSIDE)
    if spaces > MAX_SPACES:
        return f"has {spaces} spaces", f"at most {MAX_SPACES}, ravines among them"
    return None


_ROWS = tuple(f"row {row}" for row in range(1, ROWS + 1))
_PLAYERS = ("the first player", "the second", "the third", "the fourth")

KEYS: Mapping[str, Key] = MappingProxyType(
    {
        "board.rows": Key(
            "the planet, row by row from the north",
            places=_ROWS,
            at_least=1,
            spelling=(
                f"[{LETTERS}{RAVINE}{OUTSIDE}]{{1,{COLUMNS}}}",
                f"1 to {COLUMNS} letters of {LETTERS}, {RAVINE} for a ravine, {OUTSIDE} for no space",
            ),
            refused=_uneven,
            # public: the two green biomes are neighbours
            makers={
                "maps": partial(draw_rows, LETTERS, RAVINE, OUTSIDE, (LETTERS[Biome.MEADOW], LETTERS[Biome.SWAMP]))
            },
        ),
        **{
            f"deck.{name}": Key(
                "flowers, skulls",
                high=_MOST_FLOWERS,
                places=tuple(power.replace("_", " ") for power in POWER_NAMES),
                words=(*_SKULLS, _MISSING),
                permuted="icons of the deck",
            )
            for name in BIOME_NAMES
        },
        "flags.season_rounds": Key("rounds of each season", low=1, high=8, places=SEASON_NAMES),
        "flags.start_points": Key("points at the start", high=20, places=_PLAYERS),
        "flags.setup_flowers": Key("flowers revealed at setup, at least", high=20),
        "flags.sun_start": _choice("where the sun is in spring", words=SUN_NAMES),
        "flags.reshuffle": _choice("when discards go into the deck", words=("when_empty", "each_season")),
        "flags.marked_card_left": _choice(
            "who is first next if nobody takes the marked card", words=("first_stays", "next_player")
        ),
        "flags.partial_actions": _switch("an action may be left half done"),
        "flags.voluntary_pass": _switch("a possible action may be left out"),
        "flags.canonical_sets": _switch("spaces of one set are named in reading order"),
        "flags.wild_biome": _choice("what a wild card stands for in an action", words=("one_biome", "anywhere")),
        "flags.wild_fertility": _choice(
            "where a wild card that is left over goes, if it has icons",
            words=tuple(place.name.lower() for place in WildFertility),
        ),
        "flags.lake_growth": _choice("growth beside a lake", words=("optional", "mandatory")),
        "flags.ravine_allows": _choice(
            "what may be placed in a ravine", places=("one", "the other"), at_least=0, words=("bush", "lake")
        ),
        "flags.aridity_target": _choice("what an aridity flips", words=("last_flower", "top_card")),
        "flags.aridity_empty": _choice("an aridity that finds no flower", words=("no_effect", "pending")),
        "flags.skull_count_matters": _switch("every skull on a card flips a card"),
        "flags.power_cap": Key("the highest level of a power", low=1, high=MAX_ROUNDS, words=("none",)),
        "flags.buds_points": _choice("how often buds bring their level in points", words=("once", "each_use")),
        "flags.supply": Key(
            "pieces of each kind that a player has",
            high=MAX_SPACES,
            places=tuple(f"{name.replace('_', ' ')}{'es' if name == 'bush' else 's'}" for name in PIECE_NAMES),
            words=("unlimited",),
        ),
    }
)
"""Every key of a component file, by its dotted name, in the order in which they are shown."""


# --- Checks of several keys together ---------------------------------------------------------------------------------


def _check_together(reader: Reader, components: Components) -> None:
    _check_supply(reader, components)
    rounds = _numbers(components, "flags.season_rounds")
    if sum(rounds) > MAX_ROUNDS:
        reader.fail("flags.season_rounds", f"{sum(rounds)} rounds", f"at most {MAX_ROUNDS} in all")
    counting = [key for key in KEYS if key.startswith("deck.") or key == "flags.season_rounds"]
    deck_key = next((key for key in counting if key in reader.read_keys), "flags.setup_flowers")
    wild_counts = components["flags.wild_fertility"].values[0] != "discard"
    flowers = sorted(
        int(icons)
        for name in BIOME_NAMES
        if wild_counts or name != BIOME_NAMES[Biome.WILD]
        for icons in components[f"deck.{name}"].values
        if not isinstance(icons, str) and icons > 0
    )
    needed = _numbers(components, "flags.setup_flowers")[0]
    if sum(flowers) < needed:
        reader.fail(deck_key, f"{sum(flowers)} flowers in the deck", f"at least the {needed} of flags.setup_flowers")
    in_zone = next(n for n in range(len(flowers) + 1) if sum(flowers[:n]) >= needed)  # if the poorest come first
    cards = sum(icons != _MISSING for name in BIOME_NAMES for icons in components[f"deck.{name}"].values)
    for players in range(1, MAX_PLAYERS + 1):
        longest = max(
            in_zone + sum(rounds[:season]) + played + players * played
            for season in range(len(rounds))
            for played in range(rounds[season])
        )
        if cards - longest < players + 1:
            allowed = f"at least {longest + players + 1}, so that {players} players can be dealt in every round"
            reader.fail(deck_key, f"{cards} cards in the deck", allowed)


def _check_supply(reader: Reader, components: Components) -> None:
    """A limited supply needs partial actions, since the rules ignore the supply when they count what is possible."""
    is_limited = any(number != "unlimited" for number in components["flags.supply"].values)
    whole = {"flags.partial_actions": False, "flags.lake_growth": "mandatory"}
    for key, value in whole.items():
        if is_limited and components[key].values[0] == value:
            changed = key if reader.base is not None and key in reader.read_keys else "flags.supply"
            problem = f"does not go with {'flags.supply' if changed == key else key}"
            reader.fail(changed, problem, "a limited supply only where actions and growth may be left half done")


def _numbers(components: Components, key: str) -> list[int]:
    return [int(value) for value in components[key].values]


# --- The record of numbers -------------------------------------------------------------------------------------------


def spaces_set(places: list[int]) -> np.uint64:
    """The places as a set of spaces."""
    return np.uint64(sum(1 << place for place in places))


def _fill(components: Components, row: Any) -> None:
    """Write the numbers into a record of TABLES."""
    _fill_board(components, row)
    row["cards"] = 0
    for i, name in enumerate(BIOME_NAMES):
        for power, icons in enumerate(components[f"deck.{name}"].values):
            card = len(POWER_NAMES) * i + power
            if icons != _MISSING:
                row["cards"] |= np.uint64(1 << card)
                row["skulls"][card] = _SKULLS.get(str(icons), 0)
                row["flowers"][card] = 0 if isinstance(icons, str) else icons
    word = {key.partition(".")[2]: numbers.values[0] for key, numbers in components.items() if numbers.values}
    row["season_rounds"] = _numbers(components, "flags.season_rounds")
    row["start_points"] = _numbers(components, "flags.start_points")
    row["setup_flowers"] = word["setup_flowers"]
    row["sun_start"] = SUN_NAMES.index(str(word["sun_start"]))
    row["reshuffles_each_season"] = word["reshuffle"] == "each_season"
    row["next_player_first"] = word["marked_card_left"] == "next_player"
    for flag in ("partial_actions", "voluntary_pass", "canonical_sets"):
        row[flag] = word[flag]
    row["wild_anywhere"] = word["wild_biome"] == "anywhere"
    row["wild_fertility"] = WildFertility[str(word["wild_fertility"]).upper()]
    row["lake_growth_mandatory"] = word["lake_growth"] == "mandatory"
    row["top_card_only"] = word["aridity_target"] == "top_card"
    row["aridity_waits"] = word["aridity_empty"] == "pending"
    row["skulls_count"] = word["skull_count_matters"]
    row["power_cap"] = UNLIMITED if word["power_cap"] == "none" else word["power_cap"]
    row["buds_score_each_use"] = word["buds_points"] == "each_use"
    supply = components["flags.supply"].values
    row["supply"] = [UNLIMITED if number == "unlimited" else number for number in supply]


def _fill_board(components: Components, row: Any) -> None:
    letters = {
        COLUMNS * i + j: letter
        for i, text in enumerate(components["board.rows"].values)
        for j, letter in enumerate(str(text))
        if letter != OUTSIDE
    }
    ravines = spaces_set([place for place, letter in letters.items() if letter == RAVINE])
    row["outline"] = spaces_set(list(letters))
    row["ravines"] = ravines
    for biome in range(NUM_BIOMES):
        row["biome"][biome] = spaces_set([place for place, letter in letters.items() if letter == LETTERS[biome]])
    allowed = components["flags.ravine_allows"].values
    ground = row["outline"] & ~ravines
    row["bush_ground"] = row["outline"] if "bush" in allowed else ground
    row["lake_ground"] = row["outline"] if "lake" in allowed else ground
    row["number_of"], row["place_of"] = -1, NO_PLACE
    for number, place in enumerate(letters):
        row["number_of"][place], row["place_of"][number] = number, place


STATED = (
    Stated(
        "a limited supply only where actions and growth may be left half done",
        ("flags.supply", "flags.lake_growth"),
        lambda values: set(values["flags.supply"]) == {"unlimited"} or values["flags.lake_growth"] == ("optional",),
    ),
)
"""What drawn flags must satisfy together."""

COMPONENTS = ComponentFile(
    base=BASE_FILE,
    keys=KEYS,
    page="docs/evergreen/components.md",
    tables=TABLES,
    fill=_fill,
    check_together=_check_together,
    kinds={"deck.": "type", "flags.": "flag"},
    stated=STATED,
)
"""The printed numbers of Evergreen. `COMPONENTS.load(overlay)` returns each with its source."""
load_components = COMPONENTS.load
"""The numbers with their sources: `ComponentFile.load` of `COMPONENTS`."""
load_tables = COMPONENTS.load_tables
"""The numbers as (1,) `TABLES`: `ComponentFile.load_tables` of `COMPONENTS`."""
own_numbers = COMPONENTS.own_numbers
