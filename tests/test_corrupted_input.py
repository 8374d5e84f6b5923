"""Whatever the loaders of saved games, descriptions and overlay files get, they raise only the documented errors.

They write nothing: every test runs in an empty folder, which is still empty afterwards.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evergreen_env
from petrichor_env import GAME, Batch, Config, scenario
from petrichor_env.component_files import BASE_FILE, KEYS, load_components, load_tables
from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.game import check
from petrichor_env.state import NOBODY
from tabletop_engine.errors import ComponentsError, GameOver, IllegalAction, ReplayError, ScenarioError, StateError
from tabletop_engine.files import read_limited
from tabletop_engine.replays.replay import Replay
from tests.games import connect_four, leduc_poker
from tests.support.effort import games

MANY = settings(
    max_examples=games(100, 300),
    deadline=None,
    database=None,  # it would make a folder here
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
CHECKSUM = 32
"""Bytes at the end of saved games."""
DEEP = 100_000
"""Brackets within brackets, deeper than any parser goes."""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    yield here
    assert os.listdir(here) == []


# --- Saved games -----------------------------------------------------------------------------------------------------


@lru_cache
def batch() -> Batch:
    """Three games, in the middle."""
    made = Batch(Config(players=5, modules=MODULES, drafting=True), 3, seed=4, autoreset="disabled")
    for _ in range(90):
        made.step(made.random_actions())
    return made


def load(data: bytes) -> None:
    """Load the data. Either it is refused and nothing has changed, or the batch has its games, which are sound."""
    loaded = batch().copy()
    before = loaded.save()
    try:
        loaded.load(data)
    except StateError:
        assert loaded.save() == before
    else:
        assert loaded.save() == data
        check(loaded.states, loaded.tables)


@MANY
@given(st.binary(max_size=4000))
def test_saved_games_of_any_bytes(data: bytes) -> None:
    load(data)


@MANY
@given(st.data())
def test_saved_games_changed_with_a_checksum_that_fits(data: st.DataObject) -> None:
    """Bytes replaced, cut out or put in."""
    body = bytearray(batch().save()[:-CHECKSUM])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(body)))
        body[place : place + data.draw(st.sampled_from([0, 1, 1, 1, 4, 600]))] = data.draw(st.binary(max_size=4))
    load(bytes(body) + hashlib.sha256(body).digest())
    load(bytes(body) + batch().save()[-CHECKSUM:])


@MANY
@given(st.binary(max_size=60) | st.builds(lambda value: json.dumps(value).encode(), st.recursive(st.none(), st.lists)))
def test_saved_games_with_any_header(header: bytes) -> None:
    load(with_header(header))


def test_saved_games_with_a_bottomless_header() -> None:
    load(with_header(b"[" * DEEP))


def with_header(header: bytes) -> bytes:
    saved = batch().save()
    magic = saved[: saved.index(b"{") - 4]
    body = magic + len(header).to_bytes(4, "little") + header + batch().states.tobytes()
    return body + hashlib.sha256(body).digest()


def test_saved_games_are_taken_again() -> None:
    """The data of the tests above is refused only because of its damage."""
    load(batch().save())


# --- States changed by hand ------------------------------------------------------------------------------------------

GAMES: list[Any] = [
    *(Config(), Config(variants=VARIANTS), Config(players=2), Config(players=5, modules=MODULES, drafting=True)),
    *(evergreen_env.Config(), evergreen_env.Config(3)),
    *(connect_four.GAME.config(), leduc_poker.GAME.config()),
]
LONGEST = 3000
"""More decisions than any game takes."""


def positions(config: Any, number: int) -> list[Any]:
    """Records of unfinished games, from their beginnings to their ends."""
    games = Batch(config, 64, seed=6, autoreset="disabled")
    states: list[Any] = []
    while len(states) < number:
        states += list(games.states[games.actors != NOBODY].copy())
        for _ in range(11):
            games.step(games.random_actions(), which=games.actors != NOBODY)
        if (games.actors == NOBODY).all():
            games.reset()
    return states[:number]


def change_a_few_bytes(states: np.ndarray, generator: np.random.Generator) -> None:
    raw = states.view(np.uint8).reshape(-1)
    raw[generator.integers(len(raw), size=generator.integers(1, 4))] = generator.integers(0, 256)


@pytest.mark.parametrize("config", GAMES, ids=lambda config: f"{config.game.name} {config.name}")
def test_games_with_a_few_other_bytes(config: Any) -> None:
    """`refresh` refuses such games, or they can be played to their end."""
    generator = np.random.default_rng(6)
    one = Batch(config, 1, seed=0, autoreset="disabled")
    refused = 0
    for state in positions(config, 300):
        one.states[0] = state
        change_a_few_bytes(one.states, generator)
        try:
            one.refresh()
        except StateError:
            refused += 1
            continue
        decisions = 0
        while one.actors[0] != NOBODY and decisions < LONGEST:
            one.step(one.random_actions())
            decisions += 1
        assert one.actors[0] == NOBODY
    assert 100 < refused < 300


def test_games_that_nobody_has_checked() -> None:
    """Without `refresh` such games may be nonsense, but every step ends."""
    context = multiprocessing.get_context("spawn")
    number = context.Value("i", 0)  # of the configuration that is played
    process = context.Process(target=play_all_unchecked, args=(number,))
    process.start()
    process.join(timeout=600)
    if process.is_alive():
        process.kill()
    assert process.exitcode == 0, GAMES[number.value]
    assert number.value == len(GAMES)


def play_all_unchecked(number: Any) -> None:
    for config in GAMES:
        play_unchecked(config)
        number.value += 1


def play_unchecked(config: Any) -> None:
    """Play one game among others, because nonsense may write beyond its own record."""
    generator = np.random.default_rng(7)
    games = Batch(config, 41, seed=0, autoreset="disabled")
    which = np.arange(41) == 20
    for state in positions(config, 400):
        games.states[:] = state
        change_a_few_bytes(games.states[20:21], generator)
        for _ in range(100):
            try:
                games.step(games.random_actions(), which=which)
            except (StateError, IllegalAction, GameOver):
                break


def test_a_game_without_a_way_on() -> None:
    """The error names the game, and the game is over."""
    games = Batch(Config(players=3), 2, seed=0, autoreset="disabled")
    games.states["decision"][1] = 99
    with pytest.raises(StateError, match="game 1: the rules find no next decision that has an answer; if the record"):
        games.step(games.random_actions())
    assert games.actors[1] == NOBODY
    games.reset(mask=np.array([False, True]))
    games.step(games.random_actions())


## --- Descriptions ----------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
SCENARIO_KEYS = (
    *("players", "rounds", "drafting", "variants", "modules", "powers", "readings", "round", "phase", "first_player"),
    *("passed", "turns", "last_turns", "harvested", "forfeited", "decision", "actor", "field", "hands", "packs"),
    *("deck", "discards", "votes", "dice", "points", "scored", "voting_wins", "wheat_tokens", "controller", "power"),
    *("forecasts", "forecasts_played", "pending", "southern_winds", "random"),
)


@MANY
@given(JSON, st.integers(1, 5), st.dictionaries(st.sampled_from(SCENARIO_KEYS), JSON, max_size=4))
def test_any_description(anything: Any, players: int, keys: dict[str, Any]) -> None:
    for description in (anything, {"players": players, **keys}):
        try:
            state = scenario(description)
        except ScenarioError:
            continue
        check(state)


def test_all_keys_are_tried() -> None:
    with pytest.raises(ScenarioError) as error:
        scenario({"players": 2, "no such key": 1})
    assert str(error.value).split("allowed are ")[1].split(", ") == list(SCENARIO_KEYS)


def test_a_bottomless_description() -> None:
    inner: list[Any] = []
    for _ in range(DEEP):
        inner = [inner]
    for description in (inner, {"players": 2, "field": inner}, {"players": 2, "points": {"player_0": inner}}):
        with pytest.raises(ScenarioError):
            scenario(description)  # type: ignore[arg-type]


# --- Overlay files ---------------------------------------------------------------------------------------------------


def read(folder: Path, content: bytes) -> None:
    """The content is refused, or it makes tables."""
    file = folder.parent / "overlay.toml"
    file.write_bytes(content)
    try:
        load_components(file)
        tables = load_tables(file)
    except ComponentsError:
        return
    assert not tables.flags.writeable


@MANY
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_overlays_of_anything(empty_folder: Path, content: bytes) -> None:
    read(empty_folder, content)


TOML_VALUES = st.recursive(
    st.booleans().map(lambda value: str(value).lower())
    | st.integers(-5, 300).map(str)
    | st.floats().map(str)
    | st.sampled_from(['"harvest"', '"frost"', '""', "1979-05-27", "'x'", "{}", "{source = 1}", "5.5", "0x1F"]),
    lambda inner: st.lists(inner, max_size=18).map(lambda values: f"[{', '.join(values)}]"),
    max_leaves=18,
)


@MANY
@given(st.lists(st.tuples(st.sampled_from(sorted(KEYS)), TOML_VALUES), max_size=4))
def test_overlays_of_known_keys(empty_folder: Path, lines: list[tuple[str, str]]) -> None:
    read(empty_folder, "".join(f"{key} = {value}\n" for key, value in lines).encode())


@MANY
@given(st.data())
def test_overlays_like_the_shipped_file(empty_folder: Path, data: st.DataObject) -> None:
    """The shipped file, which states sources, with bytes replaced, cut out or put in."""
    content = bytearray(BASE_FILE.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        content[place : place + data.draw(st.sampled_from([0, 1, 1, 40]))] = data.draw(st.binary(max_size=4))
    read(empty_folder, bytes(content))


def test_a_bottomless_overlay(empty_folder: Path) -> None:
    read(empty_folder, b"tiles.wheat.scores = " + b"[" * DEEP)


def test_overlays_that_are_no_files(empty_folder: Path) -> None:
    for path in (empty_folder, empty_folder / "missing.toml", empty_folder / ("x" * 5000), "\0"):
        with pytest.raises(ComponentsError):
            load_tables(path)


def test_files_that_never_end(empty_folder: Path) -> None:
    """Whatever is read has a limit."""
    device = Path("/dev/zero")
    if not device.exists():
        pytest.skip("no such device")
    with pytest.raises(ComponentsError, match="it has more than 64 MB"):
        load_components(device)
    with pytest.raises(ReplayError, match="it has more than 10 MB"):
        Replay.load(device, GAME)
    with pytest.raises(ValueError, match="it has more than 1 MB"):
        read_limited(device, 1_000_000)
