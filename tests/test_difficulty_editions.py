"""The difficulty study over many editions: its games, files, words and pictures."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from petrichor_env import Config
from petrichor_env.component_files import COMPONENTS
from petrichor_env.config import VARIANTS
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ComponentsError, ConfigError
from tabletop_engine.play.batch import Batch
from tabletop_engine.replays.replay import Replay
from tabletop_engine.seeds import EVALUATION
from tabletop_training.files.tables import ReplayFiles
from tabletop_training.measure.matches import evaluate, play_match
from tabletop_training.measure.spread import by_edition
from tabletop_training.measure.workers import Processes
from tabletop_training.petrichor import difficulty, edition_report
from tabletop_training.petrichor.edition_report import OverEditions, key_title, section
from tabletop_training.petrichor.study import Study, over_editions, read_study
from tabletop_training.petrichor.summaries import ALL_VARIANTS
from tests.support.effort import games
from tests.support.results import rows_of
from tests.support.studies import SEED, contents, games_of, no_pictures, without_pictures  # noqa: F401

EDITIONS, IN_EDITION = games(4, 6), games(2, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("editions") / "difficulty"
    replays = ReplayFiles(output.parent / "replays", 2)
    options: dict[str, Any] = {"editions": EDITIONS, "edition_games": IN_EDITION, "output": output, "replays": replays}
    return difficulty.main(["random", "greedy"], 5, seed=SEED, **options)


def test_matches_over_editions_are_games_with_each_edition() -> None:
    """The game of seed s has edition s mod K, and is the same as with this edition alone."""
    seeds = np.arange(1_000_001, 1_000_001 + 9)
    editions: Any = [EVALUATION.first, 3, {"pieces.wheat_bonus": 1}]
    results = play_match(["greedy"], Config(), seeds, editions, record_actions=True)
    assert results.edition_of_games.tolist() == (seeds % 3).tolist() and results.actions is not None
    for game, seed in enumerate(seeds.tolist()):
        alone = Batch(Config(components=results.editions[seed % 3]), 1, seed, autoreset="disabled")
        for action in results.actions[game].tolist():
            alone.step([action])
        assert alone.terminations.all() and alone.states["points"][0, :2].tolist() == results.points[game].tolist()
    played = by_edition(results, results.points[:, 0])
    assert played.shape == (3, 3) and sorted(played.ravel()) == sorted(results.points[:, 0])


@pytest.mark.slow
def test_workers_play_the_same_games_over_editions() -> None:
    here = evaluate(["random"], Config(), 100, editions=4)
    with Processes(2) as workers:
        there = evaluate(["random"], Config(), 100, editions=4, workers=workers)
    assert (here.results[0].points == there.results[0].points).all()
    assert here.results[0].editions == there.results[0].editions and len(here.results[0].editions) == 4


def test_the_study_leaves_its_files(folder: Path) -> None:
    rows = rows_of(folder / "games.csv")
    over_editions = [row for row in rows if row["numbers"] == "editions"]
    assert len(over_editions) == 2 * 16 * EDITIONS * IN_EDITION and len(rows) == len(over_editions) + 2 * 16 * 5
    told = rows_of(folder / "editions.csv")
    assert len(told) == 2 * 16
    for row in told:
        own = [one for one in over_editions if (one["agent"], one["variants"]) == (row["agent"], row["set"])]
        assert float(row["win_rate"]) == pytest.approx(np.mean([int(one["won"]) for one in own]), abs=1e-4)
        assert float(row["nine_tenths_low"]) <= float(row["median"]) <= float(row["nine_tenths_high"])
    conclusions = rows_of(folder / "conclusions.csv")
    assert len(conclusions) == 2 * (4 + 6 + 15)
    assert all(float(row["editions_high"]) - float(row["editions_low"]) > 0.3 for row in conclusions), (
        "of so few editions"
    )
    assert (folder / "editions.png").read_bytes().startswith(b"\x89PNG")
    assert not (folder / "look_up.csv").exists() and not (folder / "look_up.png").exists()
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "## Across editions" in report and f"{EDITIONS} editions are too few to say" in report
    assert not any(words in report for words in ("What to look up first", "nine tenths of them", "median edition"))
    assert f"{EDITIONS} editions were drawn" in report and f"{IN_EDITION} games an edition" in report
    data = json.loads((folder / "difficulty.json").read_text(encoding="utf-8"))
    assert len(data["over_editions"]) == 32 and data["editions"] == EDITIONS
    assert data["edition_games"] == {"random": IN_EDITION, "greedy": IN_EDITION}


def test_its_editions_are_those_that_anybody_draws(folder: Path) -> None:
    study = read_study(folder)
    games = over_editions(games_of(folder))
    assert set(games) == {(agent, variants) for agent in ("random", "greedy") for variants in ALL_VARIANTS}
    results = games["greedy", VARIANTS]
    assert results.editions == Batch(Config(), 1, 0, editions=[EVALUATION.first + i for i in range(EDITIONS)]).editions
    seeds = np.arange(SEED, SEED + EDITIONS * IN_EDITION)
    assert results.seeds.tolist() == seeds.tolist()
    by_number = seeds[np.argsort(seeds % EDITIONS, kind="stable")]  # games of one edition are played together
    again = play_match(["greedy"], Config(variants=VARIANTS), by_number, study.edition_seeds).in_order()
    assert (again.points == results.points).all() and again.editions == results.editions


def test_its_replays_have_the_numbers_of_their_edition(folder: Path) -> None:
    kept = sorted((folder.parent / "replays" / "greedy" / "editions" / Config().name).iterdir())
    assert len(kept) == 2
    replay = Replay.load(kept[0], Config().game)
    wanted = Batch(Config(), 1, 0, editions=[EVALUATION.first + SEED % EDITIONS])
    assert (replay.tables == wanted.tables).all()


@pytest.mark.usefixtures("without_pictures")
def test_bad_input(folder: Path, tmp_path: Path) -> None:
    for editions in (0, 1, -1, 40_000, 2.5):
        with pytest.raises(ConfigError, match="editions"):
            difficulty.main(["random"], 1, editions=editions, output=tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="only with editions"):
        difficulty.main(["random"], 1, edition_games=3, output=tmp_path / "x")
    with pytest.raises(ConfigError, match="edition_games"):
        difficulty.main(["random"], 1, editions=3, edition_games=0, output=tmp_path / "x")
    with pytest.raises(ConfigError, match="editions: not with --resume"):
        difficulty.main(["random"], resume=folder, editions=3)
    contradiction = tmp_path / "own.toml"
    contradiction.write_text("[tiles.potato]\nrange.scores = [[5, 6], [1, 2], [0, 0], [0, 0]]\n", encoding="utf-8")
    with pytest.raises(ComponentsError, match=r"components: tiles\.potato\.scores: its range never fits"):
        difficulty.main(["random"], 1, editions=3, components=contradiction, output=tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.usefixtures("without_pictures")
def test_commands_and_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = Study({"random": 4, "ismcts-5": 2}, seed=7, editions=30, edition_games={"random": 20, "ismcts-5": 0})
    assert study.commands == ["petrichor difficulty random ismcts-5 --games 4 --search-games 2 --seed 7 --editions 30"]
    study = Study({"random": 4}, seed=7, editions=30, edition_games={"random": 9})
    assert study.commands == ["petrichor difficulty random --games 4 --edition-games 9 --seed 7 --editions 30"]
    words = [
        "difficulty",
        "--agents",
        "random",
        "--games",
        "2",
        "--editions",
        "2",
        "--edition-games",
        "2",
        "--seed",
        "6",
    ]
    cli.app([*words, "--output", str(tmp_path / "study")], standalone_mode=False)
    assert "Over 2 editions: games won, %" in capsys.readouterr().out
    assert len(rows_of(tmp_path / "study" / "games.csv")) == 32 + 16 * 4


# --- What it says ----------------------------------------------------------------------------------------------------


def made_up(costs: tuple[float, float, float, float], spread: float) -> OverEditions:
    """Games in which each variant costs so many points on average; the cost of the first differs by edition."""
    draw = np.random.default_rng(0)
    own = draw.normal(costs[0], spread, 100)
    switched = np.array([[name in variants for name in VARIANTS] for variants in ALL_VARIANTS])
    cost = np.stack([own, *(np.full(100, cost) for cost in costs[1:])], axis=1)
    margins = 10 - np.einsum("vn,bn->vb", switched, cost)[:, :, None] + draw.normal(0, 6, (16, 100, 20))
    won = (margins > 0).astype(float)
    editions = tuple(COMPONENTS.frozen(COMPONENTS.draw(seed)) for seed in range(100))
    return edition_report.over_editions_of("made up", won, margins, editions, Study({"made up": 1}, 0, editions=100))


def test_conclusions_say_in_how_many_editions_they_hold() -> None:
    found = made_up((6.0, 5.0, 1.0, -2.0), 2.0)
    told = found.conclusions
    assert told["Double card costs points"].value > 0.99
    assert told["One More Turn gives points"].value > 0.99
    surer = told["Double card costs more points than Non-random targeting"]
    assert surer.low < 0.69 < surer.high, "a normal with mean 1 and deviation 2 is above 0 in 69 % of the editions"
    assert told["Non-random targeting costs more points than No More Tricks"].value > 0.99
    text = "\n".join(section(Study({"made up": 1}, 0, editions=100), [found], {}))
    assert re.search(r"wins \d+ \(\d+ to \d+\) to \d+ \(\d+ to \d+\) % in nine tenths of the editions", text)
    assert "### What to look up first" in text and "cactus" not in text and "corn" not in text
    assert "tiles.cotton.scores" in {key for one in found.look_up.numbers for key in one.keys}
    assert "100 editions were drawn" in text and "Double card costs more points than Non-random targeting" in text


def test_a_study_without_editions_says_nothing_of_them() -> None:
    assert section(Study({"random": 1}, 0), [], {}) == []


def test_keys_have_titles() -> None:
    titles = {key: key_title([key]) for key in COMPONENTS.keys}
    assert len(set(titles.values())) == len(titles)
    assert titles["tiles.coffee.developed_scores"] == "coffee: points for places 1 to 4, developed"
    assert titles["southern_winds_cards.3"] == "card 3: icons"
    assert list(csv.reader(titles.values()))


# --- What each change does -------------------------------------------------------------------------------------------

OWN = """
[tiles.cotton]
scores = [6, 4, 1, 0]

[pieces]
drops = 5

[southern_winds_cards]
4 = ["frost", "rain"]
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("changes")
    (folder / "own.toml").write_text(OWN, encoding="utf-8")
    options: dict[str, Any] = {"components": folder / "own.toml", "effect_games": 4, "output": folder / "difficulty"}
    with no_pictures():
        return difficulty.main(["greedy"], 6, seed=SEED, **options)


def test_the_effect_of_each_change(changed: Path) -> None:
    rows = rows_of(changed / "changes.csv")
    keys = ["tiles.cotton.scores", "southern_winds_cards.4", "pieces.drops"]
    assert sorted({row["keys"] for row in rows}) == sorted(keys) and len(rows) == 6
    games = rows_of(changed / "games.csv")
    assert len(games) == 16 * (2 * 6 + 6 * 4), "all and none of the changes, and six sets of them"

    def margin(numbers: str) -> float:
        own = [row for row in games if row["numbers"] == numbers and int(row["seed"]) < SEED + 4]
        assert len(own) == 16 * 4
        return float(np.mean([int(row["points"]) - int(row["neutral_points"]) for row in own]))

    of_margin = {row["keys"]: row for row in rows if row["measure"] == "margin"}
    for key in keys:
        assert float(of_margin[key]["alone"]) == pytest.approx(margin(key) - margin("shipped"), abs=1e-3)
        others = "+".join(sorted(other for other in keys if other != key))
        assert float(of_margin[key]["last"]) == pytest.approx(margin("overlay") - margin(others), abs=1e-3)
    whole = sum(float(row["shapley"]) for row in of_margin.values())
    assert whole == pytest.approx(margin("overlay") - margin("shipped"), abs=1e-2)
    assert float(of_margin["pieces.drops"]["shapley"]) < 0, "with 5 drops a player scores less"
    report = (changed / "report.md").read_text(encoding="utf-8")
    assert "### What each change does" in report and "(drops of each player)" in report
    assert len(json.loads((changed / "difficulty.json").read_text(encoding="utf-8"))["changes"]) == 6


@pytest.mark.usefixtures("without_pictures")
def test_a_study_keeps_numbers_and_ranges_of_its_overlay_file(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[pieces]\nrange.drops = [9, 10]\n", encoding="utf-8")
    folder = difficulty.main(["random"], 2, components=own, editions=2, edition_games=1, output=tmp_path / "study")
    before = contents(folder)
    own.unlink()
    assert difficulty.main(resume=folder) == folder and contents(folder) == before
    editions = over_editions(games_of(folder))["random", ()].editions
    assert {dict(edition)["pieces.drops"] for edition in editions} <= {9, 10}


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_changes_that_are_not_told_apart(tmp_path: Path) -> None:
    many = tmp_path / "many.toml"
    tiles = "\n".join(
        f"[tiles.{name}]\ndrops_to_grow = 9"
        for name in ("wheat", "cotton", "grass", "potato", "coffee", "rice", "corn")
    )
    many.write_text(f"{tiles}\n[pieces]\ndrops = 9\nvotes = 4\n", encoding="utf-8")
    folder = difficulty.main(["random"], 2, components=many, output=tmp_path / "many")
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "The file changes 9 numbers. What each of them does is told for at most 8." in report
    one = tmp_path / "one.toml"
    one.write_text("[pieces]\ndrops = 9\n", encoding="utf-8")
    folder = difficulty.main(["random"], 2, components=one, output=tmp_path / "one")
    assert "What each change does" not in (folder / "report.md").read_text(encoding="utf-8")
    none = difficulty.main(["random"], 2, components=many, effect_games=0, output=tmp_path / "none")
    assert "told for at most" not in (none / "report.md").read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match="only with components"):
        difficulty.main(["random"], 2, effect_games=3, output=tmp_path / "x")
