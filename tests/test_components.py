"""The numbers on the pieces, overlay files, and the `petrichor` command that prints them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from petrichor_env.component_files import BASE_FILE, COMPONENTS, KEYS, load_components, load_tables, own_numbers
from petrichor_env.config import MODULES, Config
from petrichor_env.state import HARVEST, Crop
from petrichor_env.tables import TABLES
from tabletop_cli import evergreen, modules
from tabletop_cli import petrichor as cli
from tabletop_engine.described.overlays import OVERLAY, SOURCES, ComponentFile
from tabletop_engine.errors import ComponentsError, ConfigError, TabletopError
from tests.support.processes import in_python

DOCS = Path(__file__).parent.parent / "docs" / "components.md"

R, A = "rulebook", "assumed"
NUMBERS = Path(__file__).parent / "numbers"


# --- The shipped numbers ---------------------------------------------------------------------------------------------


def test_cactus_comes_between_the_potatoes_and_a_wheat_in_solo() -> None:
    """Promos, The Maltese Cactus, Note."""
    priorities = load_tables()["solo_priority"][0]
    cactus = priorities[Crop.CACTUS, 0]
    assert cactus == 55
    assert priorities[Crop.POTATO].max() < cactus < priorities[Crop.WHEAT].max()


def test_there_are_16_crop_tiles() -> None:
    """Components, Tiles; Setup: 14 of them without Corn. Promos, Flowers: one of each further tile."""
    copies = load_tables()["copies"][0]
    assert copies[: Crop.CACTUS].sum() == 16
    assert copies[: Crop.CORN].sum() == 14
    assert copies[Crop.CACTUS :].tolist() == [1] * 5


def test_tables_are_shared_and_read_only() -> None:
    tables = load_tables()
    assert tables.shape == (1,)
    assert tables.dtype == TABLES
    assert tables is load_tables()
    with pytest.raises(ValueError, match="read-only"):
        tables["drops"] = 3
    with pytest.raises(ValueError, match="read-only"):
        tables[0]["copies"][0] = 3


# --- The shipped file under the same checks --------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_base_file_states_every_key_with_a_source(key: str) -> None:
    base = BASE_FILE.read_text(encoding="utf-8")
    table, name = key.rsplit(".", 1)
    start = base.index(f"[{table}]")
    before, after = base[:start], base[start:]
    without_source = re.sub(rf"(?m)^source\.{name} = .*\n", "", after, count=1)
    without_key = re.sub(rf"(?m)^{name} = .*\n", "", without_source, count=1)
    assert len(without_key) < len(without_source) < len(after)
    with pytest.raises(
        ComponentsError, match=rf"base\.toml: {table}\.source\.{name}: missing; allowed: rulebook, public"
    ):
        COMPONENTS.read(before + without_source, "base.toml")
    with pytest.raises(ComponentsError, match=rf"base\.toml: {key}: missing; allowed: "):
        COMPONENTS.read(before + without_key, "base.toml")


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        ('"printed"', "'printed'"),
        ('"overlay"', "'overlay'"),
        ('["rulebook", "assumed", "rulebook"]', "'rulebook', 'assumed', 'rulebook'"),
        ('["rulebook", "assumed", "rulebook", "guessed"]', "'guessed'"),
        ("3", "3"),
    ],
)
def test_base_file_with_a_source_that_is_not_allowed(sources: str, problem: str) -> None:
    base = BASE_FILE.read_text(encoding="utf-8")
    grass = 'source.scores = ["rulebook", "assumed", "rulebook", "assumed"]'
    assert base.count(grass) == 1
    with pytest.raises(ComponentsError) as error:
        COMPONENTS.read(base.replace(grass, f"source.scores = {sources}"), "base.toml")
    assert "base.toml: tiles.grass.source.scores: " in str(error.value)
    assert problem in str(error.value)
    assert all(source in str(error.value) for source in SOURCES)


def test_base_file_with_a_source_of_nothing() -> None:
    base = BASE_FILE.read_text(encoding="utf-8").replace("source.votes", "source.vote")
    with pytest.raises(
        ComponentsError, match=r"base\.toml: pieces\.source: .*vote.*allowed: a source for drops, votes"
    ):
        COMPONENTS.read(base, "base.toml")


# --- Good overlays ---------------------------------------------------------------------------------------------------


def write(folder: Path, text: str) -> Path:
    path = folder / "my-edition.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("[tiles.cotton]\nscores = [5, 3, 0, 1]", {"scores": {(Crop.COTTON, 1): [5, 3, 0, 1, 1]}}),
        ("[tiles.corn]\nscores = [9, 8, 6, 4, 2]", {"scores": {(Crop.CORN, 1): [9, 8, 6, 4, 2]}}),
        ("[tiles.coffee]\nsprouting_scores = [5, 4, 2, 1]", {"scores": {(Crop.COFFEE, 0): [5, 4, 2, 1, 1]}}),
        ("[tiles.coffee]\ndeveloped_scores = [10, 7, 3, 1]", {"scores": {(Crop.COFFEE, 1): [10, 7, 3, 1, 1]}}),
        ("[tiles.rice]\npoints_a_drop = 2", {"scores": {(Crop.RICE, 1): [2] * 5}}),
        ("tiles.wheat.drops_to_grow = 2", {"drops_to_grow": {Crop.WHEAT: 2}}),
        ("tiles.wheat.solo_priorities = [6, 8, 15]", {"solo_priority": {Crop.WHEAT: [60, 80, 150, 0]}}),
        ("tiles.grass.solo_priorities = [2, 0, 10]", {"solo_priority": {Crop.GRASS: [20, 0, 100, 0]}}),
        (
            "[tiles.rice]\ncopies = 2\nsolo_priorities = [15, 12]",
            {"copies": {Crop.RICE: 2}, "solo_priority": {Crop.RICE: [150, 120, 0, 0]}},
        ),
        ("tiles.wheat.solo_priorities = [6.1, 0, 0.1]", {"solo_priority": {Crop.WHEAT: [61, 0, 1, 0]}}),
        ("tiles.wheat.solo_priorities = [6.0, 8.3, 98.9]", {"solo_priority": {Crop.WHEAT: [60, 83, 989, 0]}}),
        ("tiles.cactus.solo_priorities = [5.4]", {"solo_priority": {Crop.CACTUS: [54, 0, 0, 0]}}),
        ("tiles.cactus.solo_priorities = [0]", {"solo_priority": {Crop.CACTUS: [0, 0, 0, 0]}}),
        ("tiles.cactus.drops_to_grow = 3", {"drops_to_grow": {Crop.CACTUS: 3}}),
        ("tiles.cactus.drops_to_drown = 3", {"drops_to_drown": {(): 3}}),
        (
            "tiles.cactus = {drops_to_grow = 19, drops_to_drown = 20}",
            {"drops_to_grow": {Crop.CACTUS: 19}, "drops_to_drown": {(): 20}},
        ),
        ("tiles.cactus.scores = [7, 4, 2, 1]", {"scores": {(Crop.CACTUS, 1): [7, 4, 2, 1, 1]}}),
        ("tiles.cactus.drowned_scores = [3, 2, 0, 0]", {"scores": {(Crop.CACTUS, 2): [3, 2, 0, 0, 0]}}),
        ("tiles.snowdrop.drops_to_grow = 3", {"drops_to_grow": {Crop.SNOWDROP: 3}}),
        ("tiles.snowdrop.scores = [6, 1, 0, 0]", {"scores": {(Crop.SNOWDROP, 1): [6, 1, 0, 0, 0]}}),
        ("tiles.dandelion.drops_to_grow = 2", {"drops_to_grow": {Crop.DANDELION: 2}}),
        ("tiles.primrose.points_a_bloom = 3", {"primrose_points": {(): 3}}),
        ("[action_cards]\ncards_of_a_kind = 12", {"cards_of_a_kind": {(): 12}}),
        ("action_cards.cards_of_a_kind_five_players = 11", {"cards_of_a_kind_five_players": {(): 11}}),
        ('southern_winds_cards.4 = ["rain", "rain"]', {"winds_votes": {3: [0, 0, 0, 2]}}),
        ('southern_winds_cards.2 = ["harvest"]', {"winds_votes": {1: [0] * 4}, "winds_harvest": {1: 1}}),
        (
            "voting_wins_track.points = [0, 1, 3, 5, 8, 11, 15, 19, 24, 29, 35, 41, 50]",
            {"voting_wins": {(): [0, 1, 3, 5, 8, 11, 15, 19, 24, 29, 35, 41, 50, 50, 50, 50, 50]}},
        ),
        ('harvest_die.sides = [1, 1, 2, 2, "harvest", 4]', {"harvest_die": {(): [1, 1, 2, 2, HARVEST, 4]}}),
        ("[pieces]\nvotes = 11\nwheat_bonus = 10", {"votes": {(): 11}, "wheat_bonus": {(): 10}}),
        ("[pieces]\npods = 16\nprimrose_blooms = 8", {"pods": {(): 16}, "primrose_blooms": {(): 8}}),
        ("pieces.fertilizer_tokens = 3", {}),
        ("# nothing yet\n", {}),
    ],
)
def test_overlay_changes_exactly_what_it_says(tmp_path: Path, text: str, changes: dict[str, dict[Any, Any]]) -> None:
    expected = load_tables().copy()
    for field, values in changes.items():
        for index, value in values.items():
            expected[0][field] = value if index == () else expected[0][field]
            if index != ():
                expected[0][field][index] = value
    path = write(tmp_path, text)
    tables = load_tables(path)
    assert tables.tobytes() == expected.tobytes()
    assert (tables.tobytes() == load_tables().tobytes()) == (not changes)
    assert tables is load_tables(str(path))
    as_data = own_numbers(path)
    assert (as_data is None) == (not changes)
    assert load_tables(as_data).tobytes() == expected.tobytes()
    assert Config(components=as_data).components == Config(components=json.loads(json.dumps(as_data))).components


def test_overlays_as_data() -> None:
    """Keys in any order, as a mapping or as a configuration's field in JSON. Anything else is refused."""
    numbers: dict[str, Any] = {"tiles.wheat.scores": [9, 5, 2, 1], "pieces.clouds": 9}
    config = Config(components=numbers)
    assert config.components == (("pieces.clouds", 9), ("tiles.wheat.scores", (9, 5, 2, 1)))
    assert (
        Config(components=dict(reversed(numbers.items()))) == config == Config(**json.loads(json.dumps(asdict(config))))
    )
    assert hash(config) and load_tables(config.components) is load_tables(numbers)
    assert own_numbers(config.components) == numbers
    assert Config(components={}) == Config(components=None) and own_numbers({"pieces.clouds": 12}) is None
    wrong: list[Any] = [3, [3], {"clouds": 9}, {3: 9}, {"pieces.clouds": None}, {"pieces.clouds": True}, [["a", 1, 2]]]
    for one in [*wrong, {"tiles.wheat.scores": [[9]]}, [("pieces.clouds", 9), ("pieces.clouds", 9)]]:
        with pytest.raises(ConfigError, match="components"):
            Config(components=one)
        with pytest.raises(ComponentsError, match="components"):
            load_tables(one)
    for beyond in (
        {"pieces.clouds": 99},
        {"pieces.clouds": "many"},
        {"tiles.wheat.scores": [1, 2]},
        {"pieces.clouds": [9]},
    ):
        with pytest.raises(ComponentsError, match=rf"^components: {next(iter(beyond))}: .*allowed: "):
            load_tables(beyond)


def test_a_configuration_has_the_numbers_and_ranges_of_its_file(tmp_path: Path) -> None:
    """Not its path: what is stored with a configuration stays true when the file changes."""
    path = write(
        tmp_path,
        "pieces = {drops = 9, range.drops = [9, 10], range.votes = [3, 5]}\n"
        "tiles.cotton.range.scores = [[5, 6], 3, [0, 1], 0]\ntiles.rice.range.solo_priorities = 'permuted'\n"
        "southern_winds_cards.range.4 = {one_of = [['rain'], ['sun', 'rain']]}\n",
    )
    config, numbers, edition = Config(components=str(path)), dict(load_components(path)), COMPONENTS.draw(7, path)
    path.unlink()
    stored = Config(**json.loads(json.dumps(asdict(config))))
    assert stored == config and dict(config.components)["pieces.drops"] == 9
    assert dict(load_components(stored.components)) == numbers
    assert COMPONENTS.draw(7, stored.components) == edition
    for wrong in ([5, 3], "[3", "[" * 100_000, {"one_of": 3}, "permuted", None, 4):
        with pytest.raises(ComponentsError, match=r"components: pieces\.range\.votes: .*allowed: "):
            Config(components={"pieces.range.votes": wrong})


def test_overlay_source(tmp_path: Path) -> None:
    base, loaded = load_components(), load_components(write(tmp_path, "tiles.cotton.scores = [5, 3, 0, 0]"))
    assert loaded["tiles.cotton.scores"].values == (5, 3, 0, 0)
    assert loaded["tiles.cotton.scores"].sources == (OVERLAY,) * 4
    assert {key for key in KEYS if loaded[key] != base[key]} == {"tiles.cotton.scores"}


def test_overlay_priority_with_a_decimal_is_shown_as_it_is_written(tmp_path: Path) -> None:
    loaded = load_components(write(tmp_path, "tiles.wheat.solo_priorities = [6.0, 8.3, 11]"))
    assert [str(value) for value in loaded["tiles.wheat.solo_priorities"].values] == ["6", "8.3", "11"]


def test_overlay_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = write(tmp_path, "pieces.votes = 11")
    assert load_tables(path)["votes"] == 11
    write(tmp_path, "pieces.votes = 10")
    assert load_tables(path)["votes"] == 10


def test_overlay_saved_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_text("pieces.votes = 11", encoding="utf-8-sig")
    assert load_tables(path)["votes"] == 11


def test_examples_of_the_documentation(tmp_path: Path) -> None:
    docs = DOCS.read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(.*?)```", docs, re.DOTALL)
    changes = [example for example in examples if "range." not in example]
    assert len(examples) == 3 and len(changes) == 2
    for example in examples:  # ranges alone change no number
        assert np.array_equal(load_tables(write(tmp_path, example)), load_tables()) == (example not in changes)
    shown = re.search(r"```text\npetrichor: (.*)\n```", docs)
    assert shown is not None
    write(tmp_path, "tiles.cotton.scores = [5, 3, 0]")
    with pytest.raises(ComponentsError) as error:
        load_tables(tmp_path / "my-edition.toml")
    assert str(error.value).removeprefix(f"{tmp_path}/") == shown[1]
    for key in KEYS:
        if not key.startswith("southern_winds_cards."):
            assert f"`{key.rsplit('.', 1)[1]}`" in docs


FEW = """
pieces = {drops = 4, votes = 1, clouds = 6, wheat_bonus = 0, pods = 0, primrose_blooms = 1}
action_cards.cards_of_a_kind_five_players = 10
tiles.wheat.drops_to_grow = 1
tiles.coffee.drops_to_grow = 1
tiles.cactus = {drops_to_grow = 1, drops_to_drown = 2}
tiles.snowdrop.drops_to_grow = 2
tiles.primrose.points_a_bloom = 0
southern_winds_cards.2 = ["rain", "rain"]
harvest_die.sides = ["harvest", "harvest", "harvest", "harvest", "harvest", "harvest"]
"""
MANY = """
pieces = {clouds = 16, wheat_bonus = 50, pods = 16, primrose_blooms = 8}
action_cards.cards_of_a_kind = 12
harvest_die.sides = ["harvest", "harvest", "harvest", "harvest", "harvest", 1]
tiles.cotton = {drops_to_grow = 1, scores = [20, 20, 20, 20]}
tiles.grass = {drops_to_grow = 1, scores = [20, 20, 20, 20]}
tiles.potato = {drops_to_grow = 1, scores = [20, 20, 20, 20]}
tiles.corn = {drops_to_grow = 1, scores = [20, 20, 20, 20, 20]}
tiles.rice = {drops_to_grow = 1, points_a_drop = 5}
tiles.cactus = {drops_to_grow = 1, drops_to_drown = 20, scores = [20, 20, 20, 20], drowned_scores = [20, 20, 20, 20]}
tiles.snowdrop = {drops_to_grow = 2, scores = [20, 20, 20, 20]}
tiles.primrose.points_a_bloom = 5
voting_wins_track.points = [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200]
"""


SOLO_MODULES = tuple(name for name in MODULES if name not in ("lake", "flower_tiles"))


@pytest.mark.parametrize("text", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize(
    ("players", "modules"), [(1, ()), (2, ()), (4, ()), (1, SOLO_MODULES), (2, MODULES), (5, ()), (5, MODULES)]
)
def test_games_at_the_limits_of_what_an_overlay_may_say(
    tmp_path: Path, text: str, players: int, modules: tuple[str, ...]
) -> None:
    from petrichor_env.game import check
    from petrichor_env.observation import HIGH, LOW
    from tabletop_engine.play.batch import Batch

    path = write(tmp_path, text)
    config = Config(players, rounds=4 if players == 1 else 6, modules=modules, components=str(path))
    batch = Batch(config, 32, seed=1)
    ended = 0
    for step in range(600):
        batch.step(batch.random_actions())
        ended += batch.terminations.sum()
        assert batch.observations.min() >= LOW and batch.observations.max() <= HIGH
        assert batch.final_observations.min() >= LOW and batch.final_observations.max() <= HIGH
        if step % 100 == 0:
            check(batch.states, batch.tables)
    assert ended >= 32


# --- Bad overlays ----------------------------------------------------------------------------------------------------

TILE_NAMES = "wheat, cotton, grass, potato, coffee, rice, corn, cactus, snowdrop, dandelion, primrose"
PLACES = "a list of 4 (for place 1 to place 4), each a whole number from 0 to 20"
PRIORITIES = "a list of 0 to 4 (for copy 1 to copy 4), each a number from 0 to 99, whole or with one decimal"
WINDS_ICONS = 'each "frost" or "sun" or "wind" or "rain" or "harvest"'

BAD = [
    # unknown names
    ("[tiles.coton]\ncopies = 3", "tiles.coton: unknown tile", TILE_NAMES),
    ("[tile.cotton]\ncopies = 3", "tile: unknown key", "tiles, action_cards, southern_winds_cards"),
    ("[tiles.cotton]\nscore = [5, 2, 0, 0]", "tiles.cotton.score: unknown key", "copies, drops_to_grow, scores"),
    ("[tiles.coffee]\nscores = [5, 2, 0, 0]", "tiles.coffee.scores: unknown key", "sprouting_scores, developed_scores"),
    ("[tiles.rice]\nscores = [5, 2, 0, 0]", "tiles.rice.scores: unknown key", "points_a_drop"),
    ('southern_winds_cards.10 = ["sun"]', "southern_winds_cards.10: unknown card", "1, 2, 3, 4, 5, 6, 7, 8, 9"),
    (
        "[pieces]\ndice = 3",
        "pieces.dice: unknown key",
        "drops, votes, clouds, wheat_bonus, fertilizer_tokens, pods, primrose_blooms",
    ),
    ("[tiles.lake]\ndrops_to_grow = 3", "tiles.lake: unknown tile", TILE_NAMES),
    (
        "tiles.cactus.copies = 1",
        "tiles.cactus.copies: unknown key",
        "drops_to_grow, drops_to_drown, scores, drowned_scores, solo_priorities",
    ),
    ("tiles.snowdrop.copies = 1", "tiles.snowdrop.copies: unknown key", "drops_to_grow, scores"),
    ("tiles.snowdrop.solo_priorities = [15]", "tiles.snowdrop.solo_priorities: unknown key", "drops_to_grow, scores"),
    ("tiles.dandelion.scores = [8, 4, 0, 0]", "tiles.dandelion.scores: unknown key", "drops_to_grow"),
    ("tiles.primrose.drops_to_grow = 1", "tiles.primrose.drops_to_grow: unknown key", "points_a_bloom"),
    ("action_cards.frost = 12", "action_cards.frost: unknown key", "cards_of_a_kind, cards_of_a_kind_five_players"),
    # wrong shapes
    ("tiles = 3", "tiles: 3 is not a table", f"a table [tiles] of {TILE_NAMES}"),
    ("[tiles]\ncotton = [5, 2, 0, 0]", "tiles.cotton: [5, 2, 0, 0] is not a table", "copies, drops_to_grow, scores"),
    ("tiles.cotton.scores = 5", "tiles.cotton.scores: 5 is not a list", PLACES),
    ("tiles.cotton.scores = []", "tiles.cotton.scores: [] lacks place 1 to place 4", PLACES),
    ("tiles.cotton.scores = [5, 2, 0]", "tiles.cotton.scores: [5, 2, 0] lacks place 4", PLACES),
    ("tiles.cotton.scores = [5, 2, 0, 0, 0]", "tiles.cotton.scores: [5, 2, 0, 0, 0] is too long", PLACES),
    ("tiles.corn.scores = [9, 8, 6, 4]", "tiles.corn.scores: [9, 8, 6, 4] lacks 5 players", "a list of 5"),
    ("tiles.cotton.copies = [3]", "tiles.cotton.copies: [3]", "a whole number from 0 to 4"),
    (
        'harvest_die.sides = [1, 2, 3, 4, "harvest"]',
        "harvest_die.sides: ",
        'each a whole number from 1 to 4 or "harvest"',
    ),
    ("voting_wins_track.points = [0, 1]", "voting_wins_track.points: [0, 1] lacks 2 wins to 12 wins", "13 to 17"),
    (f"voting_wins_track.points = {list(range(18))}", "voting_wins_track.points: ", "a list of 13 to 17"),
    # wrong values
    ("tiles.cotton.scores = [5, -2, 0, 0]", "tiles.cotton.scores: place 2 is -2", PLACES),
    ("tiles.cotton.scores = [5, 2, 21, 0]", "tiles.cotton.scores: place 3 is 21", PLACES),
    ("tiles.cotton.scores = [5, 2.0, 0, 0]", "tiles.cotton.scores: place 2 is 2.0", PLACES),
    ("tiles.cotton.scores = [true, 2, 0, 0]", "tiles.cotton.scores: place 1 is true", PLACES),
    ('tiles.cotton.scores = ["5", 2, 0, 0]', "tiles.cotton.scores: place 1 is '5'", PLACES),
    ("tiles.corn.scores = [10, 8, 6, 4, -3]", "tiles.corn.scores: 5 players is -3", "each a whole number from 0 to 20"),
    ("tiles.rice.points_a_drop = -1", "tiles.rice.points_a_drop: -1", "a whole number from 0 to 5"),
    ("tiles.grass.copies = 5", "tiles.grass.copies: 5", "a whole number from 0 to 4"),
    ("tiles.grass.copies = true", "tiles.grass.copies: true", "a whole number from 0 to 4"),
    ("tiles.grass.drops_to_grow = 0", "tiles.grass.drops_to_grow: 0", "a whole number from 1 to 20"),
    ("tiles.grass.drops_to_grow = 4.5", "tiles.grass.drops_to_grow: 4.5", "a whole number from 1 to 20"),
    ("tiles.grass.drops_to_grow = inf", "tiles.grass.drops_to_grow: inf", "a whole number from 1 to 20"),
    ("tiles.grass.drops_to_grow = 1979-05-27", "tiles.grass.drops_to_grow: ", "a whole number from 1 to 20"),
    ("tiles.potato.solo_priorities = [4, 5.25]", "tiles.potato.solo_priorities: copy 2 is 5.25", PRIORITIES),
    ("tiles.potato.solo_priorities = [4, 0.05]", "tiles.potato.solo_priorities: copy 2 is 0.05", PRIORITIES),
    ("tiles.potato.solo_priorities = [-0.1, 5]", "tiles.potato.solo_priorities: copy 1 is -0.1", PRIORITIES),
    ("tiles.potato.solo_priorities = [4, 99.1]", "tiles.potato.solo_priorities: copy 2 is 99.1", PRIORITIES),
    ("tiles.potato.solo_priorities = [4, nan]", "tiles.potato.solo_priorities: copy 2 is nan", PRIORITIES),
    ("tiles.potato.solo_priorities = [4, inf]", "tiles.potato.solo_priorities: copy 2 is inf", PRIORITIES),
    ("tiles.potato.solo_priorities = [4, true]", "tiles.potato.solo_priorities: copy 2 is true", PRIORITIES),
    ('tiles.potato.solo_priorities = [4, "5.4"]', "tiles.potato.solo_priorities: copy 2 is '5.4'", PRIORITIES),
    ("tiles.cactus.solo_priorities = 5.5", "tiles.cactus.solo_priorities: 5.5 is not a list", "a list of 1"),
    ("tiles.cactus.solo_priorities = []", "tiles.cactus.solo_priorities: [] lacks the one tile", "a list of 1"),
    ("tiles.cactus.solo_priorities = [5, 6]", "tiles.cactus.solo_priorities: [5, 6] is too long", "a list of 1"),
    ("tiles.cactus.drops_to_grow = 0", "tiles.cactus.drops_to_grow: 0", "a whole number from 1 to 20"),
    ("tiles.cactus.drops_to_drown = 21", "tiles.cactus.drops_to_drown: 21", "a whole number from 1 to 20"),
    ("tiles.cactus.drops_to_drown = 4.5", "tiles.cactus.drops_to_drown: 4.5", "a whole number from 1 to 20"),
    ("tiles.cactus.scores = [6, 3, 1]", "tiles.cactus.scores: [6, 3, 1] lacks place 4", PLACES),
    ("tiles.cactus.drowned_scores = [2, 1, -1, 0]", "tiles.cactus.drowned_scores: place 3 is -1", PLACES),
    ("tiles.snowdrop.drops_to_grow = 1", "tiles.snowdrop.drops_to_grow: 1", "a whole number from 2 to 20"),
    ("tiles.snowdrop.scores = [21, 0, 0, 0]", "tiles.snowdrop.scores: place 1 is 21", PLACES),
    ("tiles.dandelion.drops_to_grow = 0", "tiles.dandelion.drops_to_grow: 0", "a whole number from 1 to 20"),
    ("tiles.primrose.points_a_bloom = 6", "tiles.primrose.points_a_bloom: 6", "a whole number from 0 to 5"),
    ("tiles.primrose.points_a_bloom = -1", "tiles.primrose.points_a_bloom: -1", "a whole number from 0 to 5"),
    ("action_cards.cards_of_a_kind = 9", "action_cards.cards_of_a_kind: 9", "a whole number from 10 to 12"),
    (
        "action_cards.cards_of_a_kind_five_players = 13",
        "action_cards.cards_of_a_kind_five_players: 13",
        "a whole number from 10 to 12",
    ),
    ('southern_winds_cards.1 = ["snow"]', "southern_winds_cards.1: icon 1 is 'snow'", WINDS_ICONS),
    ("southern_winds_cards.1 = [2]", "southern_winds_cards.1: icon 1 is 2", WINDS_ICONS),
    ("southern_winds_cards.1 = []", "southern_winds_cards.1: [] lacks icon 1", WINDS_ICONS),
    ('southern_winds_cards.1 = ["sun", "sun", "rain"]', "southern_winds_cards.1: ", WINDS_ICONS),
    ('southern_winds_cards.1 = ["harvest", "harvest"]', "southern_winds_cards.1: ", "at most one"),
    ('southern_winds_cards.9 = ["sun"]', "southern_winds_cards.9: ['sun'] is too long", "[]"),
    ('harvest_die.sides = [0, 2, 3, 4, "harvest", 1]', "harvest_die.sides: side 1 is 0", '1 to 4 or "harvest"'),
    (f"voting_wins_track.points = {[*range(12), 10]}", "voting_wins_track.points: ", "points that never fall"),
    ("pieces.drops = 21", "pieces.drops: 21", "a whole number from 4 to 20"),
    ("pieces.votes = 0", "pieces.votes: 0", "a whole number from 1 to 12"),
    ("pieces.clouds = 5", "pieces.clouds: 5", "a whole number from 6 to 16"),
    ("pieces.wheat_bonus = -12", "pieces.wheat_bonus: -12", "a whole number from 0 to 50"),
    ("pieces.fertilizer_tokens = 2", "pieces.fertilizer_tokens: 2", "3"),
    ("pieces.pods = 17", "pieces.pods: 17", "a whole number from 0 to 16"),
    ("pieces.pods = -1", "pieces.pods: -1", "a whole number from 0 to 16"),
    ("pieces.primrose_blooms = 0", "pieces.primrose_blooms: 0", "a whole number from 1 to 8"),
    ("pieces.primrose_blooms = 9", "pieces.primrose_blooms: 9", "a whole number from 1 to 8"),
    ('tiles.cotton.source.copies = "printed"', "tiles.cotton.source: an overlay states no sources", "no such key"),
    ('source = "printed"', "source: an overlay states no sources", "no such key"),
    # numbers that must fit each other
    ("tiles.cotton.copies = 2", "tiles.cotton.solo_priorities: 3 priorities for 2 copies", "2, one a copy"),
    (
        "tiles.cotton.solo_priorities = [1, 3]",
        "tiles.cotton.solo_priorities: 2 priorities for 3 copies",
        "3, one a copy",
    ),
    (
        "tiles.wheat.solo_priorities = [6, 8, 14]",
        "tiles.wheat.solo_priorities: 14 is also in tiles.coffee.solo_priorities",
        "a different number from 0.1 to 99 for every tile, 0 without a compass",
    ),
    (
        "tiles.cactus.solo_priorities = [6.0]",
        "tiles.cactus.solo_priorities: 6 is also in tiles.wheat.solo_priorities",
        "a different number",
    ),
    (
        "tiles.potato.solo_priorities = [4, 5.5]",
        "tiles.potato.solo_priorities: 5.5 is also in tiles.cactus.solo_priorities",
        "a different number",
    ),
    (
        "tiles.cactus.drops_to_grow = 4",
        "tiles.cactus.drops_to_grow: grows with 4 drops and drowns with 4",
        "more drops to drown than to grow",
    ),
    (
        "tiles.cactus.drops_to_drown = 1",
        "tiles.cactus.drops_to_drown: grows with 2 drops and drowns with 1",
        "more drops to drown than to grow",
    ),
    (
        "tiles.coffee.solo_priorities = [13, 13]",
        "tiles.coffee.solo_priorities: 13 is also in tiles.coffee",
        "a different number",
    ),
    # fields that could not be laid
    (
        "tiles.coffee = {copies = 1, solo_priorities = [13]}",
        "tiles.coffee.solo_priorities: leaves 15 tiles, for the field of five players",
        "leave 16",
    ),
    (
        "\n".join(f"tiles.{tile}.solo_priorities = [0, 0, 0]" for tile in ("cotton", "grass", "wheat")),
        "tiles.wheat.solo_priorities: leaves 5 tiles with a solo priority, for the Southern Winds",
        "leave 6",
    ),
    (
        "tiles.cotton.solo_priorities = [0, 0, 0]\ntiles.grass.solo_priorities = [2, 0, 0]",
        "tiles.grass.solo_priorities: leaves 4 tiles with a solo priority without Wheat and Potato, "
        'for the variant "No More Tricks"',
        "leave 6",
    ),
]


@pytest.mark.parametrize(("text", "problem", "allowed"), BAD, ids=[problem for _, problem, _ in BAD])
def test_bad_overlay(tmp_path: Path, text: str, problem: str, allowed: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ComponentsError) as error:
        load_tables(path)
    assert str(error.value).startswith(f"{path}: {problem}")
    assert allowed in str(error.value).split("; allowed: ")[1]
    with pytest.raises(ComponentsError, match=re.escape(str(error.value))):
        load_components(path)


def test_malformed_overlay(tmp_path: Path) -> None:
    path = write(tmp_path, "[tiles.cotton]\nscores = [5, 2,, 0]\n")
    with pytest.raises(ComponentsError, match=r"my-edition\.toml: not a TOML file: .*line 2"):
        load_tables(path)
    path = write(tmp_path, "pieces.drops = 19\npieces.drops = 18\n")
    with pytest.raises(ComponentsError, match=r"my-edition\.toml: not a TOML file: .*line 2"):
        load_tables(path)


def test_unreadable_overlay(tmp_path: Path) -> None:
    for path, problem in ((tmp_path / "none.toml", "no such file"), (tmp_path, "")):
        with pytest.raises(ComponentsError, match=re.escape(f"{path}: {problem}")) as error:
            load_tables(path)
        assert "allowed: the path of an overlay TOML file" in str(error.value)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"# caf\xe9\n")
    with pytest.raises(ComponentsError, match=r"latin\.toml: .*allowed: .* in UTF-8"):
        load_tables(latin)


# --- The command -----------------------------------------------------------------------------------------------------


def run(*args: str, columns: int = 160, app: Any = cli.app) -> str:
    plain = {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": None, "TTY_COMPATIBLE": None}
    result = CliRunner().invoke(app, args, env=plain)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("command", [cli, evergreen], ids=["petrichor", "evergreen"])
def test_command_prints_every_number_with_its_source(command: Any) -> None:
    """After a change of the numbers: `python -m tests.test_components`, then read what has changed."""
    name = command.LINE.name
    assert run("components", columns=100, app=command.app) == (NUMBERS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [60, 80])
def test_command_cuts_nothing_off_in_a_narrow_terminal(columns: int) -> None:
    def column_texts(output: str) -> list[list[str]]:
        lines = [line.strip("│").split("│") for line in output.splitlines() if line.startswith("│")]
        return [" ".join(column).split() for column in zip(*lines, strict=True)]

    narrow = run("components", columns=columns)
    assert max(len(line) for line in narrow.splitlines()) <= columns
    assert column_texts(narrow) == column_texts(run("components", columns=160))


def test_command_prints_json(tmp_path: Path) -> None:
    printed = json.loads(run("components", "--json", "-", "--overlay", str(write(tmp_path, "pieces.votes = 11"))))
    assert list(printed["tiles"]) == TILE_NAMES.split(", ")
    assert printed["tiles"]["grass"]["scores"] == {
        "value": [4, 3, 2, 1],
        "source": [R, A, R, A],
        "range": [4, [2, 4], 2, [0, 2]],
    }
    assert printed["tiles"]["cactus"]["solo_priorities"] == {"value": [5.5], "source": [R]}
    assert printed["southern_winds_cards"]["8"]["value"] == ["wind", "rain"]
    assert printed["pieces"]["drops"] == {"value": 20, "source": R}
    assert printed["pieces"]["votes"] == {"value": 11, "source": OVERLAY}
    told = run("components", "--overlay", str(tmp_path / "my-edition.toml"))
    assert re.search(rf"votes of each player +│ +11 +│ {OVERLAY}", told)
    count = 0
    for key in KEYS:
        table = printed
        for name in key.split("."):
            table = table[name]
        count += set(table) - {"range"} == {"value", "source"}
    assert count == len(KEYS)


def exit_code(*args: str) -> object:
    with pytest.raises(SystemExit) as error:
        cli.main(args)
    return error.value.code


def test_main_answers_a_slip_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "[tiles.coton]\ncopies = 3")
    assert exit_code("components", "--overlay", str(path)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"petrichor: {path}: tiles.coton: unknown tile; allowed: {TILE_NAMES}\n"


def test_main_exit_codes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("components", "--json") in (0, None)
    assert exit_code("componets") == 2
    assert exit_code("demo", "--games", "0") == 2

    def interrupted(file: object, overlay: object) -> None:
        raise KeyboardInterrupt

    def broken(file: object, overlay: object) -> None:
        raise ConfigError("two\nlines")

    monkeypatch.setattr(ComponentFile, "load", interrupted)
    assert exit_code("components") == 130
    monkeypatch.setattr(ComponentFile, "load", broken)
    capsys.readouterr()
    assert exit_code("components") == 2
    assert capsys.readouterr().err == "petrichor: two lines\n"


def test_version() -> None:
    from petrichor_env import __version__

    assert run("--version") == f"petrichor {__version__}\n"


@pytest.mark.parametrize("args", [["--help"], ["components"], ["demo", "--help"]])
def test_command_starts_without_heavy_libraries(args: list[str]) -> None:
    code = (
        "import sys\nfrom tabletop_cli.petrichor import main\n"
        f"try:\n    main({args!r})\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "assert not {'numba', 'torch', 'stable_baselines3', 'matplotlib'} & set(sys.modules)\n"
    )
    assert in_python(code).stdout


def fake_module(monkeypatch: pytest.MonkeyPatch, name: str) -> list[dict[str, object]]:
    """Replaces the module `name` by one whose `main` records its arguments; returns the list of them."""
    calls: list[dict[str, object]] = []
    module = types.ModuleType(name)

    def main(on_result: Callable[[object], None], **arguments: object) -> None:
        calls.append(arguments)
        on_result({name: str(value) for name, value in arguments.items()})

    module.main = main
    package = types.ModuleType(name.split(".")[0])
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, name, module)
    return calls


def test_options_are_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = fake_module(monkeypatch, "benchmarks.run")
    run("bench", "--quick", "--only", "playout", "--json", str(tmp_path / "speed.json"))
    assert calls == [{"name": "petrichor", "quick": True, "only": "playout"}]
    assert json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))["only"] == "playout"
    calls = fake_module(monkeypatch, "tabletop_training.petrichor.demo")
    run("demo", "--minutes", "0.5", "--output", str(tmp_path), "--games", "10", "--seed", "7")
    assert calls == [{"minutes": 0.5, "output": tmp_path, "games": 10, "seed": 7}]


@pytest.mark.parametrize(
    ("command", "missing", "text"),
    [
        ("bench", "benchmarks", "there is no benchmarks/ here: run it from a clone of the repository"),
        ("bench", "benchmarks.run", "there is no benchmarks/ here: run it from a clone of the repository"),
        ("bench", "envpool.python", 'envpool is not installed: pip install "petrichor-env[bench]"'),
        ("demo", "tabletop_training", "there is no tabletop_training/ here: run it from a clone of the repository"),
        ("ladder", "scipy", 'scipy is not installed: pip install "petrichor-env[evaluate]"'),
        ("demo", "sb3_contrib", 'sb3_contrib is not installed: pip install "petrichor-env[train]"'),
    ],
)
def test_missing_modules(monkeypatch: pytest.MonkeyPatch, command: str, missing: str, text: str) -> None:
    def import_module(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(modules, "import_module", import_module)
    with pytest.raises(TabletopError) as error:
        CliRunner().invoke(cli.app, [command], catch_exceptions=False)
    assert str(error.value) == text


def test_a_missing_part_of_this_project_is_not_blamed_on_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(name: str) -> None:
        raise ModuleNotFoundError("No module named 'petrichor_env.lost'", name="petrichor_env.lost")

    monkeypatch.setattr(modules, "import_module", import_module)
    with pytest.raises(ModuleNotFoundError, match=r"petrichor_env\.lost"):
        CliRunner().invoke(cli.app, ["demo"], catch_exceptions=False)


def test_command_finds_the_folders_of_the_clone_it_is_run_from(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "run.py").write_text("def main(**arguments):\n    print('here', sorted(arguments))\n")
    code = "from tabletop_cli.petrichor import main; main(['bench'])"
    environment = os.environ | {"PYTHONPATH": str(Path(cli.__file__).parent.parent), "PYTHONSAFEPATH": "1"}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.stdout == "here ['name', 'on_result', 'only', 'quick']\n", result.stderr


if __name__ == "__main__":
    for game in (cli, evergreen):
        (NUMBERS / f"{game.LINE.name}.txt").write_text(run("components", columns=100, app=game.app), encoding="utf-8")
