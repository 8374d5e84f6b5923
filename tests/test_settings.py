"""Settings files: shipped ones, mistakes in them, which one a command takes, and the page that lists every key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import evergreen_env
import petrichor_env
from petrichor_env.config import Config
from tabletop_agents.checkpoint import read_notes
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Game
from tabletop_engine.play.tables import editions_of
from tabletop_training.files.settings import CONFIGS, Settings, read_settings, shipped_settings
from tabletop_training.learn import task
from tabletop_training.learn.learner import POLICY
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.plan import TABLES, settings_file
from tabletop_training.learn.task import Budget, EvaluationSettings
from tests.games import connect_four
from tests.support.effort import games

PETRICHOR, EVERGREEN = petrichor_env.GAME, evergreen_env.GAME


def read(path: Path | str | None, game: Game = PETRICHOR) -> dict[str, Any]:
    return read_settings(path, game, **TABLES)


@pytest.mark.parametrize("game", [PETRICHOR, EVERGREEN], ids=lambda game: game.name)
def test_settings_files_that_are_shipped(
    game: Game, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    most = games(3, 1000)  # a thousand editions take some seconds
    monkeypatch.setattr(
        task, "editions_of", lambda config, editions: editions_of(config, editions and min(editions, most))
    )
    names = shipped_settings(game)
    assert {"quick", "solo", "selfplay_2p", "general", "general_gpu", "exploiter"} <= set(names)
    assert len(names) == len(list((CONFIGS / game.name).glob("*.toml"))) == {"petrichor": 16, "evergreen": 7}[game.name]
    for name in names:
        sections = read(name, game)
        numbers = list(sections["games"].levels(game))
        several = [number for number in game.players if number > 1]
        by_number = re.fullmatch(r"selfplay_(\d)p(_editions)?", name)
        alone = "solo" in name or (name, game) == ("quick", PETRICHOR)
        assert numbers == ([int(by_number[1])] if by_number else [1] if alone else [2] if name == "quick" else several)
        assert sections["games"].curriculum == (name == "solo_curriculum")
        assert sections["games"].variety == (name.startswith(("general", "exploiter")) or (alone and name == "quick"))
        assert sections["budget"].steps or sections["budget"].minutes
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[learning]\nepoch = 3", r"\[learning\]: unknown key epoch; there are num_envs, steps"),
        ("[learing]", "unknown table or key learing; it has the tables learning, games, opponents, evaluation, budget"),
        ("learning = 3", r"\[learning\]: must be a table, not 3"),
        ("[learning]\nepochs = 2.5", "epochs=2.5: must be an int"),
        ("[learning]\nepochs = true", "epochs=True: must be an int"),
        ("[learning]\nlayers = [64, 'x']", "layers="),
        ("[learning]\nlayers = [64, 0]", "widths of at least 1"),
        ("[learning]\nepochs = 0", "epochs=0: must be at least 1"),
        ("[learning]\ndiscount = 1.5", "discount=1.5: must be from 0 to 1"),
        ("[learning]\nreward = 'fame'", "reward='fame': must be one of 'win', 'margin', 'points'"),
        ("[learning]\nthreads = 0", "threads=0"),
        ("[learning]\nlearning_rate = nan", "learning_rate=nan: must be a finite number above 0"),
        ("[learning]\nlearning_rate = inf", "learning_rate=inf: must be a finite number above 0"),
        ("[learning]\nentropy = -1.0", "entropy=-1.0: must be a finite number of at least 0"),
        ("[learning]\nclip = nan", "clip=nan: must be a finite number of at least 0"),
        ("[learning]\nnum_envs = 1\nsteps = 17\nminibatch = 16", "a minibatch of a single decision"),
        ("[games]\nthreshold = 'a'", "threshold='a': must be a number"),
        ("[games]\nthreshold = 2.0", "threshold=2.0"),
        ("[games]\nplayers = 1\nvariants = ['hard']", "variants: unknown 'hard'"),
        ("[games]\nplayers = 1\ncurriculum = true\nvariants = ['double_card']", "give one of the two"),
        ("[opponents]\nsnapshot = 3", "unknown key snapshot; there are league, agents, scripted, snapshots"),
        ("[opponents]\nsnapshots = 2.5", "snapshots=2.5: must be an int"),
        ("[evaluation]\ngames = 'a'", "games='a': must be an int"),
        ("[evaluation]\ngames = 0", "games=0"),
        ("[budget]\nminutes = 'x'", "minutes='x': must be a number"),
        ("[budget]\nsteps = 5\nminutes = 1", "one of them"),
        ("[budget]\nminutes = -1", "at least 0"),
        ("[budget]\nminutes = nan", "at least 0"),
        ("[learning", "is not TOML"),
    ],
)
def test_settings_that_are_wrong(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=error):
        read(path)


def test_settings_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[learning]\nlayers = [32]\nlearning_rate = 1\n[games]\nplayers = 1\nmodules = ['cactus']\n")
    sections = read(path)
    assert sections["learning"] == Settings(layers=(32,), learning_rate=1)
    assert sections["games"].levels(PETRICHOR) == {1: [[Config(modules=("cactus",))]]}
    assert sections["opponents"] == OpponentSettings() and sections["evaluation"] == EvaluationSettings()
    assert sections["budget"].fraction(10**9, 10**9) == 0
    with pytest.raises(ConfigError, match=r"no such settings file; shipped ones: .*solo, solo_curriculum"):
        read("sol")


@pytest.mark.parametrize(
    ("game", "given", "kind", "file"),
    [
        (PETRICHOR, (None,), "quick", "quick"),
        (PETRICHOR, (None, (2, 3)), "general", "general"),
        (PETRICHOR, (None, (1,)), "solo", "solo"),
        (PETRICHOR, (None, (), True), "solo", "solo_curriculum"),
        (PETRICHOR, ("solo", (), True), "solo", "solo_curriculum"),
        (PETRICHOR, ("solo_curriculum",), "solo_curriculum", "solo_curriculum"),
        (PETRICHOR, (None, (3,)), "selfplay", "selfplay_3p"),
        (PETRICHOR, ("selfplay",), "selfplay", "selfplay_2p"),
        (PETRICHOR, ("selfplay", (5,)), "selfplay", "selfplay_4p"),
        (EVERGREEN, ("selfplay", (4, 3)), "selfplay", "selfplay_2p"),
        (EVERGREEN, ("solo", (), True), "solo", None),
        (connect_four.GAME, ("selfplay", (2,)), "selfplay", None),
        (connect_four.GAME, (None,), "selfplay", None),
        (connect_four.GAME, ("mine/tiny.toml",), "tiny", "mine/tiny.toml"),
    ],
)
def test_which_settings_are_meant(
    game: Game, given: tuple[Any, ...], kind: str, file: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A note says which shipped file is taken, if it isn't the given one."""
    assert settings_file(game, *given) == (kind, file)
    assert capsys.readouterr().err == ("" if file in (None, given[0]) else f"Settings: {file}\n")


def test_self_play_is_not_for_one() -> None:
    with pytest.raises(ConfigError, match="players=1: self-play is for two players or more; for one it is `petr"):
        settings_file(PETRICHOR, "selfplay", (1,))


def test_budgets() -> None:
    assert Budget(steps=200).fraction(50, 10**6) == 0.25
    assert Budget(minutes=2).fraction(10**9, 30) == 0.25
    assert Budget(minutes=0).fraction(0, 0) == Budget(steps=0).fraction(0, 0) == 1


# --- The page --------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[1] / "docs" / "training.md"


def test_the_page_has_every_key_of_a_settings_file() -> None:
    """The page has each key with its default."""
    page = PAGE.read_text(encoding="utf-8")
    keys = page[page.index("### Every key") :]
    sections = dict(re.findall(r"^#### `\[(\w+)\]`\n(.*?)(?=^##)", keys, re.MULTILINE | re.DOTALL))
    tables: dict[str, Any] = {name: kind() for name, kind in TABLES.items()}
    assert sections.keys() == tables.keys()
    for name, table in tables.items():
        rows = re.findall(r"^\| (`[a-z_0-9`, ]+`) \| (.+?) \| .+ \|$", sections[name], re.MULTILINE)
        listed = {key: default for keys, default in rows for key in re.findall("`([a-z_0-9]+)`", keys)}
        own = [field.name for field in fields(table) if field.name != "switches"]
        switches = [field.name for field in fields(Config) if field.name != "players"] if name == "games" else []
        assert listed.keys() == {*own, *switches}, name
        for key in own:
            told = None if listed[key] == "none" else tomllib.loads(f"x = {listed[key].strip('`')}")["x"]
            value = getattr(table, key)
            assert told == (list(value) if isinstance(value, tuple) else value), key


def test_the_program_on_the_page_runs(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    changes = {"minutes=5": "minutes=0.01", '"runs"': repr(str(tmp_path)), "layers=(64, 64)": "num_envs=8, threads=1"}
    for old, new in changes.items():
        assert old in program
        program = program.replace(old, new)
    exec(program, {})
    assert read_notes(PETRICHOR, tmp_path / POLICY)["training"]["players"] == 2
    (settings,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine.toml").write_text(settings)
    assert read(tmp_path / "mine.toml")["games"].levels(PETRICHOR) == {1: [[Config(variants=("one_more_turn",))]]}
