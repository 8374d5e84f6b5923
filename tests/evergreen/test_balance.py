"""`evergreen balance`: its games, and what it says of seats, lengths, powers and boards."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergreen_env import Config
from evergreen_env.component_files import COMPONENTS
from evergreen_env.state import POWER_NAMES, SOURCE_NAMES, Power
from tabletop_agents import make_agent
from tabletop_cli import evergreen as cli
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import game_of
from tabletop_engine.play.batch import Batch
from tabletop_engine.seeds import EVALUATION, edition_seeds
from tabletop_training.evergreen import balance
from tabletop_training.evergreen.balance import powers_of
from tabletop_training.evergreen.balance_games import FIELDS, cell_of, figures, places
from tabletop_training.files.trees import load_tree
from tabletop_training.measure.evaluation import HERE
from tabletop_training.measure.results import Results, concatenate
from tabletop_training.measure.spread import by_edition
from tabletop_training.measure.workers import Processes
from tests.support.results import rows_of

GAME = game_of("evergreen_env.game")


def play(config: Config, editions: int | None, games: int, seed: int) -> Results:
    """Games of random agents."""
    seeds = None if editions is None else edition_seeds(EVALUATION, editions)
    blocks = cell_of("", make_agent("random", GAME), config, (editions or 1) * games, seed, seeds).blocks
    return concatenate(list(HERE.play(blocks, record_fields=FIELDS))).in_order()


@pytest.fixture(scope="module")
def played() -> Results:
    return play(Config(players=3), 4, 5, 70)


def test_games_are_those_of_their_editions_and_seeds(played: Results) -> None:
    points = by_edition(played, played.points)
    assert points.shape == (4, 5, 3) and played.fields["level"].shape[2] == len(Power)
    assert tuple(map(dict, played.editions)) == tuple(
        dict(COMPONENTS.frozen(COMPONENTS.draw(EVALUATION.first + edition))) for edition in range(4)
    )
    again = play(Config(players=3), 4, 5, 70)
    assert (again.points == played.points).all()
    assert (played.scored.sum(axis=-1) == played.points).all(), "every point has a source"
    found = figures(played)
    assert (found["decisions"] > 30).all() and np.allclose(found["points"], points.mean(axis=-1))
    assert np.allclose(sum(found[place] for place in places(3)), 1)


def test_the_first_place_is_that_of_the_first_round(played: Results) -> None:
    """Later places have more start points, so `won` by place must fit the seats of the highest points."""
    points, found = by_edition(played, played.points), figures(played)
    won = np.stack([found[place] for place in places(3)], axis=-1)
    for edition in range(4):
        seeds = [seed for seed in range(70, 90) if seed % 4 == edition]
        batch = Batch(Config(players=3), 5, seeds, editions=[EVALUATION.first + edition])
        first = batch.states["first_player"].astype(int)
        best = points[edition].argmax(axis=1)
        clear = (points[edition] == points[edition].max(axis=1, keepdims=True)).sum(axis=1) == 1
        place = won[edition].argmax(axis=1)
        assert ((first + place) % 3 == best)[clear & (won[edition].max(axis=1) == 1)].all()


def made_up(values: np.ndarray, players: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Levels and margins of games in which a level of each power brings so many points.

    All players have equally many levels.
    """
    draw, editions, games = np.random.default_rng(0), 40, 20
    levels = draw.multinomial(12, np.full(len(Power), 1 / len(Power)), size=(editions, games, players))
    points = levels @ values + draw.normal(0, 5, (editions, games, players))
    margins = points - (points.sum(axis=-1, keepdims=True) - points) / (players - 1)
    return levels, margins


def test_what_comes_with_a_power_is_found() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 9.0])
    told = powers_of(*made_up(values), np.random.default_rng(1))
    assert list(told) == list(POWER_NAMES)
    assert sum(one.value for one in told.values()) == pytest.approx(0, abs=1e-6)
    for one, wanted in zip(told.values(), values - values.mean(), strict=True):
        assert one.value == pytest.approx(wanted, abs=0.15) and one.low <= wanted + 0.1 and one.high >= wanted - 0.1


def test_it_leaves_a_report_a_picture_and_tables(tmp_path: Path) -> None:
    told: list[Any] = []
    folder = balance.main("random", [2, 4], 5, 3, 9, output=tmp_path / "balance", on_result=told.append)
    data = json.loads((folder / "balance.json").read_text(encoding="utf-8"))
    assert told == [data] and data["editions"] == 5
    rows = rows_of(folder / "balance.csv")
    assert len(rows) == (2 + 4) + (4 + 4)
    four = {row["figure"]: float(row["mean"]) for row in rows if row["players"] == "4"}
    assert sum(value for name, value in four.items() if name.startswith("won")) == pytest.approx(1, abs=1e-3)
    games = play(Config(players=4), 5, 3, 9)
    assert four["points"] == pytest.approx(games.points.mean(), rel=1e-4)
    ordered = np.sort(games.points, axis=-1)
    assert four["lead"] == pytest.approx((ordered[:, -1] - ordered[:, -2]).mean(), rel=1e-4)
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert all(f"| {source} |" in report for source in SOURCE_NAMES)
    assert all(f"| {power.replace('_', ' ')} |" in report for power in POWER_NAMES)
    assert "## Leads, decisions and luck" in report and "Without luck" not in report
    assert [(one["what"], one["games"]) for one in data["courses"]] == [("2 players", 15), ("4 players", 15)]
    assert (folder / "seats.png").read_bytes().startswith(b"\x89PNG")


def test_numbers_of_an_overlay_are_not_drawn(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[flags]\npower_cap = 6\nbuds_points = "once"\n', encoding="utf-8")
    config = Config(2, str(own))
    games = play(config, 6, 2, 3)
    assert all(
        edition["flags.power_cap"] == 6 and edition["flags.buds_points"] == "once"
        for edition in map(dict, games.editions)
    )


def test_what_each_change_does(tmp_path: Path) -> None:
    """The parts of all changes sum to what the file does, on the same seeds; alone and last are plain differences."""
    own = tmp_path / "own.toml"
    own.write_text("[flags]\nseason_rounds = [2, 2, 2, 2]\npower_cap = 2\n", encoding="utf-8")
    folder = balance.main("random", [2, 3], 2, 2, 9, str(own), 30, tmp_path / "balance")
    rows = rows_of(folder / "changes.csv")
    assert json.loads((folder / "balance.json").read_text(encoding="utf-8"))["changes"][0]["games"] == 30
    assert len(rows) == 2 * (2 + 4) + 2 * (3 + 4)

    def mean(figure: str, **changed: Any) -> float:
        overlay = {f"flags.{key}": value for key, value in changed.items()} or None
        games = play(Config(3, overlay), None, 30, 9)
        return float(figures(games)[figure].mean())

    rounds, cap = [2, 2, 2, 2], 2
    three = [row for row in rows if row["players"] == "3"]
    for figure in ("decisions", "points", "lead", "spread", "won, first in order"):
        told = {row["keys"]: row for row in three if row["figure"] == figure}
        both = mean(figure, season_rounds=rounds, power_cap=cap)
        none, one, other = mean(figure), mean(figure, season_rounds=rounds), mean(figure, power_cap=cap)
        close = pytest.approx(one - none, abs=1e-3)
        assert float(told["flags.season_rounds"]["alone"]) == close
        assert float(told["flags.season_rounds"]["last"]) == pytest.approx(both - other, abs=1e-3)
        assert sum(float(row["shapley"]) for row in told.values()) == pytest.approx(both - none, abs=1e-3)
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "## What each change does" in report and "`flags.power_cap`" in report
    shorter = next(row for row in three if row["keys"] == "flags.season_rounds" and row["figure"] == "decisions")
    assert float(shorter["shapley_high"]) < 0, "fewer rounds mean fewer decisions"


@pytest.mark.slow
def test_any_number_of_workers_plays_the_same(tmp_path: Path) -> None:
    """With agents that draw from their generator, in several blocks over editions, and with changed numbers."""
    own = tmp_path / "own.toml"
    own.write_text("[flags]\npower_cap = 2\nseason_rounds = [2, 2, 2, 2]\n", encoding="utf-8")
    with Processes(2) as two:
        one, other = (
            balance.main("random", [2, 3], 5, 250, 9, str(own), 40, tmp_path / str(who.number), workers=who)
            for who in (HERE, two)
        )
    assert {path.name for path in one.iterdir()} == {path.name for path in other.iterdir()}
    for path in one.iterdir():
        assert path.is_dir() or path.read_bytes() == (other / path.name).read_bytes(), path.name
    for path in (one / "games").iterdir():
        games, others = (load_tree(file)["results"] for file in (path, other / "games" / path.name))
        for name, values in games.items():
            if name not in ("seconds", "fields"):
                np.testing.assert_array_equal(values, others[name], f"{path.name}: {name}")
        np.testing.assert_array_equal(games["fields"]["level"], others["fields"]["level"])


def test_what_is_no_study_or_another_one_is_refused(tmp_path: Path) -> None:
    folder = balance.main("random", [2], 2, 1, 9, output=tmp_path / "study")
    with pytest.raises(ConfigError, match="editions, seed: not with --resume"):
        balance.main(editions=3, seed=4, resume=folder)
    good = (folder / "settings.json").read_text(encoding="utf-8")
    wrong: list[dict[str, Any]] = [
        {"editions": 10**12},
        {"edition_games": 10**12},
        {"effect_games": "many"},
        {"players": [2, 9]},
        {"players": ["x"]},
        {"players": []},
        {"seed": -1},
        {"agent": "wizard"},
    ]
    for changed in wrong:
        (folder / "settings.json").write_text(json.dumps({**json.loads(good), **changed}), encoding="utf-8")
        with pytest.raises(TabletopError):
            balance.main(resume=folder)


def test_a_study_keeps_the_ranges_of_its_overlay_file(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[flags]\nrange.setup_flowers = [5, 6]\n", encoding="utf-8")
    folder = balance.main("random", [2], 2, 1, 9, str(own), output=tmp_path / "study")
    before = (folder / "balance.json").read_bytes()
    own.unlink()
    balance.main(resume=folder)
    assert (folder / "balance.json").read_bytes() == before


def test_one_change_none_and_too_many(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[flags]\npower_cap = 2\n", encoding="utf-8")
    folder = balance.main("random", [2], 2, 1, 9, str(own), 5, tmp_path / "one")
    with (folder / "changes.csv").open(newline="", encoding="utf-8") as file:
        assert all(row["alone"] == row["last"] == row["shapley"] for row in csv.DictReader(file))
    for words, effect_games in (("[flags]\npower_cap = 2\n", 0), ('[flags]\nsun_start = "north"\n', 5)):
        own.write_text(words, encoding="utf-8")
        folder = balance.main("random", [2], 2, 1, 9, str(own), effect_games, tmp_path / f"none-{effect_games}")
        assert not (folder / "changes.csv").exists()
        assert "each change" not in (folder / "report.md").read_text(encoding="utf-8")
    many = ["partial_actions", "voluntary_pass", "canonical_sets"]
    lines = [f"{key} = false" for key in many]
    lines += ["power_cap = 3", 'buds_points = "each_use"', 'sun_start = "east"', "setup_flowers = 4"]
    lines += ["season_rounds = [2, 2, 2, 1]", "start_points = [0, 0, 0, 0]"]
    own.write_text("[flags]\n" + "\n".join(lines), encoding="utf-8")
    folder = balance.main("random", [2], 2, 1, 9, str(own), output=tmp_path / "many")
    assert "The file changes 9 numbers" in (folder / "report.md").read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match="only with components"):
        balance.main("random", [2], 2, 1, 9, effect_games=5, output=tmp_path / "x")


def test_bad_input_and_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong: list[dict[str, Any]] = [
        {"players": [1, 2]},
        {"players": []},
        {"players": [5]},
        {"editions": 1},
        {"edition_games": 0},
    ]
    for bad in wrong:
        with pytest.raises(ConfigError):
            balance.main("random", **{"editions": 2, "edition_games": 1, "output": tmp_path / "x", **bad})
    with pytest.raises(ConfigError, match="agent"):
        balance.main("wizard", [2], 2, 1, output=tmp_path / "x")
    assert not (tmp_path / "x").exists()
    words = ["balance", "--agent", "random", "--players", "2", "--editions", "2", "--edition-games", "2", "--seed", "4"]
    cli.app([*words, "--output", str(tmp_path / "balance")], standalone_mode=False)
    assert "2 players: the first in the first round's order won " in capsys.readouterr().out
    with pytest.raises(TabletopError, match="workers=0"):
        cli.app(["balance", "--workers", "0", "--output", str(tmp_path / "x")], standalone_mode=False)
