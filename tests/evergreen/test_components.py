"""Overlay files: what is refused, with file, key and what is allowed, and what the command shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from evergreen_env.component_files import COMPONENTS, KEYS, load_components, load_tables, own_numbers
from evergreen_env.config import Config
from evergreen_env.state import MAX_SPACES, STATE
from tabletop_cli import evergreen
from tabletop_engine.described.overlays import OVERLAY, SOURCES
from tabletop_engine.errors import ComponentsError, ConfigError

SMALL = ["MFG", "RWN", "MF#"]
NO_SNOW = ["MFG", "RW.", "MF#"]
POOR: dict[str, Any] = {f"deck.{name}": [0] * 6 for name in ("meadow", "flowers", "grain", "rock", "swamp", "snow")}
FEW = {f"deck.{name}": ["missing"] * 6 for name in ("meadow", "flowers", "grain")}

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"board.rows": NO_SNOW}, r"board\.rows: .* has no space of snow; allowed: at least one space of each biome"),
    ({"board.rows": ["MFG", "RW"]}, r"board\.rows: .* rows of different lengths; allowed: rows of one length"),
    ({"board.rows": ["MFGRWNMF"]}, r"board\.rows: row 1 is 'MFGRWNMF'; allowed: .* 1 to 7 letters of MFGRWN"),
    ({"board.rows": ["mfgrwn"]}, r"board\.rows: row 1 is 'mfgrwn'"),
    ({"board.rows": ["MFGRWNM"] * 7}, rf"board\.rows: .* has 49 spaces; allowed: at most {MAX_SPACES}"),
    ({"board.rows": []}, r"board\.rows: \[\] lacks row 1"),
    (POOR, r"deck\.meadow: 0 flowers in the deck; allowed: at least the 5 of flags\.setup_flowers"),
    (FEW, r"deck\.meadow: 24 cards in the deck; allowed: at least \d+, so that \d players can be dealt"),
    ({"deck.meadow": [1, 2, 3]}, r"deck\.meadow: \[1, 2, 3\] lacks bush to buds"),
    ({"deck.meadow": [1, 2, 4, 0, 0, 0]}, r"deck\.meadow: big tree is 4; allowed: .* from 0 to 3 or \"skull\""),
    ({"flags.sun_start": "up"}, r"flags\.sun_start: 'up'; allowed: \"north\" or \"east\" or \"south\" or \"west\""),
    ({"flags.partial_actions": 1}, r"flags\.partial_actions: 1; allowed: true or false"),
    ({"flags.power_cap": 0}, r"flags\.power_cap: 0; allowed: a whole number from 1 to 14 or \"none\""),
    ({"flags.season_rounds": [5, 5, 5, 5]}, r"flags\.season_rounds: 20 rounds; allowed: at most 14 in all"),
    ({"flags.season_rounds": [8, 2, 2, 2]}, r"flags\.season_rounds: 42 cards in the deck; allowed: at least"),
    (
        {"flags.supply": [9, 9, 9, 9, 9], "flags.lake_growth": "mandatory"},
        r"flags\.lake_growth: does not go with flags\.supply",
    ),
    (
        {"flags.supply": [9, 9, 9, 9, 9], "flags.partial_actions": False},
        r"flags\.partial_actions: does not go with flags\.supply",
    ),
]


@pytest.mark.parametrize(("overlay", "message"), REFUSED, ids=lambda value: str(value)[:50])
def test_bad_overlays(overlay: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Overlays given as keys and values, and as a file. The message names the file."""
    for load in (load_tables, lambda components: Config(components=components)):
        with pytest.raises(ComponentsError, match=message):
            load(overlay)
    file = tmp_path / "overlay.toml"
    file.write_text("".join(f"{key} = {_toml(value)}\n" for key, value in overlay.items()))
    for load in (load_tables, lambda components: Config(components=components)):
        with pytest.raises(ComponentsError, match=f"overlay.toml: {message}"):
            load(file)


def _toml(value: Any) -> str:
    return json.dumps(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[flags]\nsun = 'north'", r"flags\.sun: unknown flag; allowed: season_rounds, start_points"),
        ("[deck]\ndesert = [1]", r"deck\.desert: unknown type; allowed: meadow, flowers"),
        ("[bord]\nrows = []", r"bord: unknown key; allowed: board, deck, flags"),
        ("flags = 3", r"flags: 3 is not a table"),
        ("flags.sun_start = 'east'\nflags.source.sun_start = 'public'", r"an overlay states no sources"),
        ("[flags", "not a TOML file"),
    ],
)
def test_bad_files(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "overlay.toml").write_text(text)
    with pytest.raises(ComponentsError, match=message):
        load_components(tmp_path / "overlay.toml")
    with pytest.raises(ComponentsError, match="no such file"):
        load_components(tmp_path / "missing.toml")


def test_unknown_keys_and_values_in_code() -> None:
    with pytest.raises(ConfigError, match=r"components: 'flags\.sun' is not a key of a component file"):
        Config(components={"flags.sun": "north"})
    with pytest.raises(ConfigError, match=r"components: flags\.sun_start: None is neither a number nor a word"):
        Config(components={"flags.sun_start": None})
    with pytest.raises(ConfigError, match="players=5: 1"):
        Config(5)
    assert Config(components={}) == Config()


def test_a_switch_is_no_number() -> None:
    """Not even if the same overlay with true, which equals 1, was loaded before."""
    load_tables({"flags.partial_actions": True})
    with pytest.raises(ComponentsError, match=r"components: flags\.partial_actions: 1; allowed: true or false"):
        load_tables({"flags.partial_actions": 1})


def test_a_smaller_planet_is_played() -> None:
    config = Config(2, components={"board.rows": SMALL})
    tables = load_tables(config.components)
    assert tables[0]["outline"] == sum(1 << place for place in (0, 1, 2, 7, 8, 9, 14, 15, 16))
    assert tables[0]["place_of"][:9].tolist() == [0, 1, 2, 7, 8, 9, 14, 15, 16] and tables[0]["place_of"][9] == -1
    states = config.game.state.type
    assert states is STATE.type
    assert own_numbers(config.components) == {"board.rows": SMALL}
    assert load_tables(config.components) is load_tables({"board.rows": SMALL})


def test_every_number_has_a_source() -> None:
    for key, numbers in load_components().items():
        assert key in KEYS and set(numbers.sources) <= set(SOURCES), key
    overlaid = load_components({"flags.sun_start": "east"})
    assert overlaid["flags.sun_start"].sources == (OVERLAY,)
    assert overlaid["flags.reshuffle"].sources == ("assumed",)


def test_the_command_prints_json(tmp_path: Path) -> None:
    (tmp_path / "overlay.toml").write_text("[flags]\nsun_start = 'west'\n")
    arguments = ["components", "--json", "-", "--overlay", str(tmp_path / "overlay.toml")]
    printed = json.loads(CliRunner().invoke(evergreen.app, arguments).stdout)
    assert printed["flags"]["sun_start"] == {"value": "west", "source": OVERLAY}
    assert printed["deck"]["wild"]["value"] == [0] * 6
    assert len(COMPONENTS.keys) == sum(len(table) for table in printed.values())
