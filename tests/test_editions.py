"""Ranges of the numbers that nobody has read, and editions that are drawn from them."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare
from typer.testing import CliRunner

from evergreen_env.component_files import COMPONENTS as EVERGREEN
from evergreen_env.component_files import RAVINE
from petrichor_env.component_files import COMPONENTS as PETRICHOR
from tabletop_cli import evergreen as evergreen_cli
from tabletop_cli import petrichor as cli
from tabletop_engine.described import draws, overlays
from tabletop_engine.described.draws import Stated, draw
from tabletop_engine.described.keys import Key
from tabletop_engine.described.overlays import ComponentFile
from tabletop_engine.described.ranges import Each, OneOf, Permuted, Range, allows
from tabletop_engine.errors import ComponentsError, ConfigError
from tabletop_engine.game import game_of
from tabletop_engine.play.batch import Batch
from tabletop_engine.seeds import Chance, Stream
from tests.games.connect_four import GAME as CONNECT_FOUR
from tests.support.effort import games

FILES = {"petrichor": PETRICHOR, "evergreen": EVERGREEN}
FEW, MANY = range(40), range(400)


@pytest.fixture(scope="module")
def editions() -> dict[str, list[dict[str, Any]]]:
    return {name: [file.draw(seed) for seed in MANY] for name, file in FILES.items()}


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


# --- The shipped ranges ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_what_is_assumed_has_a_range_and_what_is_known_has_none(file: ComponentFile) -> None:
    for key, numbers in file.load().items():
        assert (numbers.range is not None) == ("assumed" in numbers.sources), key
        if isinstance(numbers.range, Each):
            for value, source, choices in zip(numbers.values, numbers.sources, numbers.range.choices, strict=True):
                assert value in choices and (source == "assumed" or choices == (value,)), key
        elif isinstance(numbers.range, OneOf):
            assert any(sorted(map(str, one)) == sorted(map(str, numbers.values)) for one in numbers.range.values), key


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_the_shipped_numbers_keep_what_the_rules_state(file: ComponentFile) -> None:
    values = {key: numbers.values for key, numbers in file.load().items()}
    assert file.stated
    for constraint in file.stated:
        assert set(constraint.keys) <= set(file.keys)
        assert constraint.holds(values), constraint.text


BROKEN: list[tuple[dict[str, tuple[Any, ...]], str]] = [
    ({"tiles.potato.scores": (4, 4, 1, 0)}, "Potatoes that score more for second place"),  # "more", not "as much"
    ({"tiles.cotton.scores": (1, 2, 0, 0)}, "tiles.cotton.scores that never rise from place 1"),
    ({"tiles.potato.scores": (3, 5, 0, 1)}, "tiles.potato.scores that never rise from place 2"),
    ({"tiles.corn.scores": (10, 8, 4, 5, 3)}, "tiles.corn.scores that never rise"),
    ({"tiles.coffee.developed_scores": (10, 2, 0, 0)}, "developed Coffee"),
    ({"tiles.cactus.drowned_scores": (6, 1, 0, 0)}, "a drowned Cactus"),
    ({"tiles.cactus.drowned_scores": (4, 3, 0, 0)}, "a drowned Cactus"),
    ({"tiles.potato.solo_priorities": (4, 6)}, "Potatoes with priorities below 5.5"),
    ({"tiles.potato.solo_priorities": (0, 4)}, "Potatoes with priorities below 5.5"),
    ({"tiles.wheat.solo_priorities": (1, 2, 3)}, "Potatoes with priorities below 5.5"),
]


@pytest.mark.parametrize(("change", "text"), BROKEN)
def test_what_the_rules_state(change: dict[str, tuple[Any, ...]], text: str) -> None:
    values = {key: numbers.values for key, numbers in PETRICHOR.load().items()} | change
    broken = [constraint.text for constraint in PETRICHOR.stated if not constraint.holds(values)]
    assert len(broken) == 1 and broken[0].startswith(text)


# --- Drawing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_editions_keep_ranges_and_constraints(editions: dict[str, list[dict[str, Any]]], name: str) -> None:
    file = FILES[name]
    shipped = file.load()
    ranged = {key: numbers.range for key, numbers in shipped.items() if numbers.range is not None}
    for edition in editions[name]:
        assert list(edition) == list(ranged)
        values = {key: numbers.values for key, numbers in file.load(edition).items()}  # it can be played
        assert all(constraint.holds(values) for constraint in file.stated)
        for key, found in ranged.items():
            assert allows(found, as_tuple(edition[key])) in (True, None), key
        for group in {found for found in ranged.values() if isinstance(found, Permuted)}:
            members = [key for key, found in ranged.items() if found == group]
            dealt = [Counter(value for key in members for value in numbers[key]) for numbers in (values, _plain(file))]
            assert dealt[0] == dealt[1]
            assert all(len(values[key]) == len(shipped[key].values) for key in members)


def _plain(file: ComponentFile) -> dict[str, tuple[Any, ...]]:
    return {key: numbers.values for key, numbers in file.load().items()}


@pytest.mark.parametrize("name", FILES)
def test_everything_that_a_range_allows_comes_up(editions: dict[str, list[dict[str, Any]]], name: str) -> None:
    for key, numbers in FILES[name].load().items():
        drawn = [as_tuple(edition[key]) for edition in editions[name]] if numbers.range is not None else []
        if isinstance(numbers.range, OneOf):
            assert set(drawn) == set(numbers.range.values), key
        elif isinstance(numbers.range, Each) and key != "voting_wins_track.points":
            impossible = {("tiles.cactus.drowned_scores", 3, 1)}  # rare, because two ones must come before it
            for i, choices in enumerate(numbers.range.choices):
                seldom = {value for value in choices if (key, i, value) in impossible}
                assert {values[i] for values in drawn} >= set(choices) - seldom, key
        elif isinstance(numbers.range, Permuted):
            assert len(set(drawn)) > 10, key


def test_a_priority_is_as_likely_on_every_tile_that_may_have_it(editions: dict[str, list[dict[str, Any]]]) -> None:
    """The number 14 is never on a Potato, and equally likely on the 14 other tiles: there is always a Wheat."""
    crops = ["wheat", "cotton", "grass", "coffee", "rice", "corn"]
    tiles = [(crop, i) for crop in crops for i in range(len(PETRICHOR.load()[f"tiles.{crop}.solo_priorities"].values))]
    where = Counter(
        (crop, i)
        for edition in editions["petrichor"]
        for crop, i in tiles
        if edition[f"tiles.{crop}.solo_priorities"][i] == 14
    )
    assert sum(where.values()) == len(MANY) and len(tiles) == 14
    assert chisquare([where[tile] for tile in tiles]).pvalue > 1e-3


def test_linked_numbers_are_uniform_over_what_the_constraint_allows(editions: dict[str, list[dict[str, Any]]]) -> None:
    """Of 4 x 5 x 3 x 2 lists for Potatoes 85 remain: second place beats first, and later ones do not rise."""
    allowed = [
        points
        for points in product(range(1, 5), range(3, 8), range(3), range(2))
        if points[1] > points[0] and points[1] >= points[2] >= points[3]
    ]
    drawn = Counter(tuple(edition["tiles.potato.scores"]) for edition in editions["petrichor"])
    assert set(drawn) <= set(allowed) and len(allowed) == 85
    assert chisquare([drawn[points] for points in allowed]).pvalue > 1e-3


def drawn_by(keys: dict[str, Key], ranges: dict[str, Range], number: int, *stated: Stated) -> Counter[Any]:
    values: dict[str, Any] = {name: (1,) * len(key.places or "1") for name, key in keys.items()}
    return Counter(tuple(draw(keys, ranges, values, stated, seed).values()) for seed in range(number))


def test_lists_that_never_fall_are_uniform() -> None:
    key = Key("a track", high=9, places=tuple("abcd"), never_falls="a track that never falls")
    choices = (tuple(range(0, 3)), tuple(range(1, 3)), tuple(range(0, 6)), (2, 3))
    drawn = drawn_by({"track": key}, {"track": Each(choices)}, 2000)
    allowed = [one for one in product(*choices) if list(one) == sorted(one)]
    assert {values for (values,) in drawn} == set(allowed)
    assert chisquare([drawn[(values,)] for values in allowed]).pvalue > 1e-3


def test_keys_in_several_constraints_are_drawn_together() -> None:
    keys = {name: Key(name, high=9) for name in "abcd"}
    ranges: dict[str, Range] = {name: Each((tuple(range(1, 5)),)) for name in keys}
    rises = [Stated(f"{x} < {y}", (x, y), lambda values, x=x, y=y: values[x] < values[y]) for x, y in ("ca", "ab")]  # type: ignore[misc]
    drawn = drawn_by(keys, ranges, 1500, *rises)
    allowed = [one for one in product(range(1, 5), repeat=4) if one[2] < one[0] < one[1]]
    found = [drawn[tuple((value,) for value in one)] for one in allowed]
    assert sum(found) == 1500 and len(allowed) == 16 and chisquare(found).pvalue > 1e-3


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**33 + 1, 2**64, 2**64 + 1, 10**40])
def test_numbers_below_a_bound(bound: int) -> None:
    chance = Chance(5, Stream.EDITIONS)
    numbers = [chance.below(bound) for _ in range(300)]
    assert all(0 <= number < bound for number in numbers)
    assert max(numbers) >= bound * 0.9 - 1 and min(numbers) <= bound * 0.1
    assert bound > 10 or set(numbers) == set(range(bound))


SEEDS = {"petrichor": "8db8d9960fc42585", "evergreen": "26cb19ac316a932b"}
"""The first 16 digits of the SHA-256 of ten editions, which never change while `DRAWS_VERSION` and the ranges stay."""


@pytest.mark.parametrize("name", FILES)
def test_the_same_seed_gives_the_same_edition_for_ever(editions: dict[str, list[dict[str, Any]]], name: str) -> None:
    text = json.dumps(editions[name][:10])
    assert sha256(text.encode()).hexdigest()[:16] == SEEDS[name]
    assert len({json.dumps(edition) for edition in editions[name]}) == len(MANY)


def test_another_range_of_one_key_leaves_the_others(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.toml"
    overlay.write_text("[tiles.corn]\nrange.drops_to_grow = [2, 20]\n", encoding="utf-8")
    for seed in FEW:
        before, after = PETRICHOR.draw(seed), PETRICHOR.draw(seed, overlay)
        assert {key for key in before if before[key] != after[key]} <= {"tiles.corn.drops_to_grow"}


# --- Overlays --------------------------------------------------------------------------------------------------------


def test_what_an_overlay_states_is_known_and_its_ranges_are_drawn(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.toml"
    overlay.write_text(
        "[tiles.cotton]\nscores = [5, 1, 0, 0]\n[tiles.wheat]\nrange.scores = [[1, 9], 3, 3, 3]\n"
        "[tiles.grass]\nscores = [9, 8, 7, 6]\nrange.scores = [[7, 9], [5, 7], [3, 5], [1, 3]]\n"
        '[harvest_die]\nrange.sides = {one_of = [[1, 1, 1, 1, "harvest", "harvest"], [4, 4, 4, 4, 4, "harvest"]]}\n',
        encoding="utf-8",
    )
    played = PETRICHOR.load(overlay)
    assert played["tiles.grass.scores"].values == (9, 8, 7, 6) and played["tiles.wheat.scores"].values == (2, 3, 3, 3)
    drawn: list[dict[str, Any]] = [PETRICHOR.draw(seed, overlay) for seed in range(100)]
    assert all(edition["tiles.cotton.scores"] == [5, 1, 0, 0] for edition in drawn)
    assert {edition["tiles.wheat.scores"][0] for edition in drawn} == set(range(1, 10))
    assert {edition["tiles.grass.scores"][0] for edition in drawn} == {7, 8, 9}
    assert {edition["harvest_die.sides"][0] for edition in drawn} == {1, 4}


BAD = [
    (
        "[tiles.cotton]\nrange.scores = [[6, 4], 2, 0, 0]",
        "tiles.cotton.range.scores: place 1: [6, 4] is empty",
        "[least",
    ),
    ("[tiles.cotton]\nrange.scores = [[4, 21], 2, 0, 0]", "place 1: [4, 21] is not allowed", "from 0 to 20"),
    ("[tiles.cotton]\nrange.scores = [[4, 6], 2]", "is for 2 values, there are 4", "for each place"),
    ("[tiles.cotton]\nrange.scores = 3", "tiles.cotton.range.scores: 3 is none", "{one_of = [values]}"),
    ('[tiles.cotton]\nrange.scores = "permuted"', "'permuted' is none", "{one_of"),
    ("[tiles.cotton]\nrange.scores = {one_of = []}", "allows nothing", "{one_of"),
    ("[tiles.cotton]\nrange.scores = {one_of = [[1, 2]]}", "[1, 2] is not allowed", "{one_of"),
    ("[tiles.cotton]\nrange.scores = {one_of = [[3, 2, 1, 0], [3, 2, 1, 0]]}", "names a value twice", "{one_of"),
    ("[tiles.cotton]\nrange.points = [1, 2]", "tiles.cotton.range: {'points': [1, 2]}", "a range for copies, drops_to"),
    ("[tiles.cotton]\nrange = 3", "tiles.cotton.range: 3", "a range for copies"),
    ("range.tiles = 3", "range: {'tiles': 3}", "no such key"),
    ("[tiles.wheat]\nrange.drops_to_grow = [1, 2, 3]", "[1, 2, 3] is not allowed", "[least, most] or {one_of"),
    ("[tiles.wheat]\nrange.solo_priorities = [[1, 5.5], 3, 4]", "[1, 5.5] has an end that is not a whole", "permuted"),
    ("[voting_wins_track]\nrange.points = {one_of = [[1,2,3,4,5,6,7,8,9,10,11,12,1]]}", "falls", "one_of"),
    (
        '[southern_winds_cards]\nrange.2 = {sets_of = ["snow"]}',
        "are not different words of frost",
        "{sets_of = [words]}",
    ),
    ('[southern_winds_cards]\nrange.2 = {sets_of = ["sun", "sun"]}', "are not different words", "{sets_of = [words]}"),
    (
        f"[voting_wins_track]\nrange.points = {{sets_of = {list(range(60))}}}",
        "are not different words of none",
        "one_of",
    ),
    ("[southern_winds_cards]\nrange.2 = {sets_of = []}", "allows nothing", "{sets_of = [words]}"),
]


@pytest.mark.parametrize(("text", "problem", "allowed"), BAD)
def test_bad_ranges(tmp_path: Path, text: str, problem: str, allowed: str) -> None:
    overlay = tmp_path / "mine.toml"
    overlay.write_text(text, encoding="utf-8")
    with pytest.raises(ComponentsError) as error:
        PETRICHOR.load(overlay)
    assert str(error.value).startswith(f"{overlay}: ")
    assert problem in str(error.value) and allowed in str(error.value).split("; allowed: ")[1]


IMPOSSIBLE = [
    ("[tiles.potato]\nrange.scores = [[5, 6], [3, 5], 0, 0]", "tiles.potato.scores", "more for second place"),
    (
        "[voting_wins_track]\nrange.points = [0, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]",
        "voting",
        "allows",
    ),
    (
        "[tiles.wheat]\nrange.copies = [0, 0]",
        "the ranges allow no edition that can be played",
        "3 priorities for 0 copies",
    ),
]


@pytest.mark.parametrize(("text", "key", "why"), IMPOSSIBLE)
def test_ranges_that_contradict_each_other_or_the_rules(tmp_path: Path, text: str, key: str, why: str) -> None:
    overlay = tmp_path / "mine.toml"
    overlay.write_text(text, encoding="utf-8")
    with pytest.raises(ComponentsError) as error:
        PETRICHOR.draw(0, overlay)
    assert str(error.value).startswith(f"{overlay}: ") and key in str(error.value) and why in str(error.value)


# --- Evergreen's maps ------------------------------------------------------------------------------------------------


def connected(places: set[tuple[int, int]]) -> bool:
    reached = {min(places)}
    while True:
        more = {(r + y, c + x) for r, c in reached for y, x in ((0, 1), (1, 0), (0, -1), (-1, 0))} & places
        if more <= reached:
            return reached == places
        reached |= more


def test_maps(editions: dict[str, list[dict[str, Any]]]) -> None:
    for edition in editions["evergreen"]:
        rows: list[str] = edition["board.rows"]
        board = np.array([list(row) for row in rows])
        assert board.shape == (7, 7) and board[0, 0] == "."
        for sign in (".", RAVINE):
            assert np.array_equal(np.rot90(board == sign), board == sign)
        assert (board == RAVINE).sum() == 5 and (board == ".").sum() == 8
        biomes = {letter: set(zip(*map(list, np.nonzero(board == letter)), strict=True)) for letter in "MFGRWN"}
        assert all(len(places) == 6 and connected(places) for places in biomes.values())
        assert connected(set().union(*biomes.values()))
        assert connected(biomes["M"] | biomes["W"])  # the two green biomes are neighbours
    outlines = {
        tuple(row.translate(str.maketrans("MFGRWN", "oooooo")) for row in edition["board.rows"])
        for edition in editions["evergreen"]
    }
    assert len(outlines) > 30


# --- Games and the command -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_games_with_drawn_editions(editions: dict[str, list[dict[str, Any]]], name: str) -> None:
    game = game_of(f"{name}_env")
    for number, edition in enumerate(editions[name][: games(2, 12)]):
        assert game.draw_components(number) == edition
        players = game.players[number % len(game.players)]
        batch = Batch(game.config(players=players, components=edition), 4, seed=number)
        ended = np.zeros(4, np.bool_)
        while not ended.all():
            batch.step(batch.random_actions())
            ended |= batch.terminations
            game.check(batch.states, batch.tables)


def test_a_game_without_ranges() -> None:
    with pytest.raises(ComponentsError, match="no numbers with ranges"):
        CONNECT_FOUR.draw_components(1)


@pytest.mark.parametrize(("file", "command"), [(PETRICHOR, cli), (EVERGREEN, evergreen_cli)], ids=FILES)
def test_command_prints_an_edition_as_an_overlay(tmp_path: Path, file: ComponentFile, command: Any) -> None:
    shown = CliRunner().invoke(command.app, ["components", "--draw", "17", "--json", str(tmp_path / "edition.json")])
    assert shown.exit_code == 0 and shown.stdout.startswith("# Edition 17 of ")
    (tmp_path / "edition.toml").write_text(shown.stdout, encoding="utf-8")
    edition = file.draw(17)
    assert file.load(tmp_path / "edition.toml") == file.load(edition)
    assert json.loads((tmp_path / "edition.json").read_text(encoding="utf-8")) == edition
    assert len(tomllib.loads(shown.stdout)) == len({key.rpartition(".")[0].split(".")[0] for key in edition})


def test_command_draws_with_an_overlay(tmp_path: Path) -> None:
    overlay = tmp_path / "mine.toml"
    overlay.write_text("[tiles.cotton]\nscores = [9, 1, 0, 0]\n", encoding="utf-8")
    shown = CliRunner().invoke(cli.app, ["components", "--draw", "17", "--overlay", str(overlay)])
    assert shown.exit_code == 0 and "scores = [9, 1, 0, 0]" in shown.stdout


@pytest.mark.parametrize(("file", "command"), [(PETRICHOR, cli), (EVERGREEN, evergreen_cli)], ids=FILES)
def test_command_prints_the_ranges_as_an_overlay(tmp_path: Path, file: ComponentFile, command: Any) -> None:
    shown = CliRunner().invoke(command.app, ["components", "--ranges", "--json", str(tmp_path / "ranges.json")])
    assert shown.exit_code == 0
    ideas = tmp_path / "ideas.toml"
    ideas.write_text(shown.stdout, encoding="utf-8")
    assert file.load(ideas) == file.load() and file.draw(17, ideas) == file.draw(17)
    unknown = [key for key, one in file.load().items() if one.range is not None]
    assert list(json.loads((tmp_path / "ranges.json").read_text(encoding="utf-8"))) == unknown


def test_command_prints_the_ranges_of_an_overlay(tmp_path: Path) -> None:
    ideas = tmp_path / "ideas.toml"
    ideas.write_text(
        "[tiles.cotton]\nscores = [9, 1, 0, 0]\n[pieces]\nrange.drops = {one_of = [12, 20]}\n"
        '[southern_winds_cards]\nrange.3 = {one_of = [["sun"], ["rain"]]}\n',
        encoding="utf-8",
    )
    shown = CliRunner().invoke(cli.app, ["components", "--ranges", "--overlay", str(ideas)]).stdout
    assert "range.drops = {one_of = [12, 20]}  # now 20" in shown
    assert 'range.3 = {one_of = [["sun"], ["rain"]]}  # now ["frost", "wind"]' in shown
    assert "range.drops_to_grow = [2, 4]  # now 3" in shown and "[4, 6], [1, 3]" not in shown, "Cotton's is known"
    both = CliRunner().invoke(cli.app, ["components", "--ranges", "--draw", "1"])
    assert isinstance(both.exception, ConfigError)


def test_drawing_ends_where_hardly_anything_fits_and_nothing_can_be_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tries for all editions of a seed are counted together."""
    overlay = tmp_path / "mine.toml"
    tight = ", ".join(["[0, 20]"] * 3)
    overlay.write_text(
        f"[tiles.wheat]\nrange.copies = [0, 0]\n[tiles.grass]\nrange.scores = [0, {tight}]\n", encoding="utf-8"
    )
    once, tries = draws._drawn_once, Counter[str]()

    def counted(block: Any, *rest: Any) -> Any:
        tries[block[0]] += 1
        return once(block, *rest)

    monkeypatch.setattr(draws, "_drawn_once", counted)
    monkeypatch.setattr(overlays, "MOST_TRIES_IN_ALL", 3000)
    with pytest.raises(ComponentsError, match=r"never fits|no edition that can be played"):
        PETRICHOR.draw(0, overlay)
    assert tries.total() <= 3000
