"""The reference table of agents: what it keeps, how an agent joins it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from petrichor_env import GAME
from petrichor_env.config import Config
from tabletop_agents import POLICIES, make_agent
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_training.measure import benchmark
from tabletop_training.measure.benchmark import Benchmark
from tabletop_training.measure.evaluation import HERE, Workers, play_games
from tabletop_training.measure.matches import play_match
from tabletop_training.measure.results import share_estimate
from tabletop_training.petrichor import benchmark as petrichor
from tabletop_training.petrichor.benchmark import PLAN
from tabletop_training.petrichor.summaries import summarize
from tabletop_training.study import play
from tests.games import connect_four
from tests.support.workers import Watched

ROOT = Path(__file__).parents[1]
GAMES = 6
SEED = benchmark.EVALUATION_SEED


def measure(*agents: str, output: Path, reference: Path | None = None, workers: Workers = HERE) -> Path:
    told: dict[str, Any] = {"games": GAMES, "duel_games": GAMES, "output": output, "workers": workers}
    return benchmark.main(PLAN, agents, reference=reference or output / "no reference", **told)


def table_of(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "benchmark.csv").open(newline="", encoding="utf-8") as file:
        return {row["agent"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measure("random", "greedy", output=tmp_path_factory.mktemp("benchmark") / "study")


def test_table_is_of_the_games_that_anybody_gets(folder: Path) -> None:
    table = table_of(folder)
    assert list(table) == ["greedy", "random"]  # by rating
    for name, row in table.items():
        base = summarize(play_games([make_agent(name, GAME)], Config(), GAMES, SEED))
        assert float(row["base_win_rate"]) == pytest.approx(base.win_rate.value, abs=1e-4)
        assert float(row["base_margin"]) == pytest.approx(base.margin.value, abs=1e-4)
        assert float(row["base_margin_low"]) == pytest.approx(base.margin.low, abs=1e-4)
    seeds = SEED + np.arange(GAMES // 2)
    match = play_match([make_agent("random", GAME), make_agent("greedy", GAME)], Config(players=2), seeds)
    shares = match.by_seed(match.by_agent(match.win_shares))[:, 1]
    score = share_estimate(shares)
    assert float(table["greedy"]["against_random"]) == pytest.approx(score.value, abs=1e-4)
    assert float(table["greedy"]["against_random_low"]) == pytest.approx(score.low, abs=1e-4)
    assert float(table["random"]["against_greedy"]) == pytest.approx(1 - score.value, abs=1e-4)
    assert table["random"]["against_random"] == ""
    page = (folder / "benchmark.md").read_text(encoding="utf-8")
    assert page.index("| `greedy` |") < page.index("| `random` |")
    assert f"{GAMES} games for each pair of agents" in page
    assert "petrichor benchmark --output docs" in page


def test_what_exploiters_won_is_a_column_until_the_agent_changes(folder: Path) -> None:
    measured = Benchmark(PLAN, **json.loads((folder / "benchmark.json").read_text(encoding="utf-8")))
    assert "exploiter" not in (folder / "benchmark.md").read_text(encoding="utf-8")
    measured.exploited["greedy"] = [0.9, 0.8, 0.95]
    assert Benchmark(PLAN, **json.loads(json.dumps(measured.content))).exploited == measured.exploited
    page = benchmark._page(measured, benchmark._rows(measured))
    assert "| an exploiter won |" in page and "90.0 % (80.0–95.0)" in page and "It is a lower bound" in page
    measured.forget("greedy")
    assert "exploited" not in measured.content


def test_the_published_page_is_what_its_numbers_say(tmp_path: Path) -> None:
    """Byte for byte, also from a file from when there was only one game."""
    published = ROOT / "docs"
    kept = benchmark._start(tmp_path / "none", PLAN.reference, Benchmark.new(PLAN))
    benchmark._write(tmp_path, kept)
    for name in ("benchmark.md", "benchmark.csv"):
        assert (tmp_path / name).read_bytes() == (published / name).read_bytes()
    before, after = (json.loads((folder / "benchmark.json").read_text()) for folder in (published, tmp_path))
    assert after == {"quick": False, **before}


def test_scores_and_ratings_of_kept_games() -> None:
    """Games as text: lost and shared, with either agent in the first seat; then two victories; then lost and won."""
    kept = Benchmark(PLAN, pairs=[{"first": "a", "second": "b", "games": "-=++-+"}])
    assert kept.score("a", "b") == share_estimate(np.array([0.25, 1.0, 0.5]))
    assert kept.score("b", "a") == share_estimate(np.array([0.75, 0.0, 0.5]))
    assert kept.score("a", "c") is None
    ratings = kept.ratings()
    assert ratings["a"].games == ratings["b"].games == 6
    assert ratings["a"].mu > ratings["b"].mu
    assert Benchmark(PLAN, pairs=[{"first": "a", "second": "b", "games": "--"}]).ratings()["b"].mu > 25


@pytest.mark.slow
def test_an_agent_is_placed_without_playing_the_others_again(folder: Path, tmp_path: Path) -> None:
    """From a reference that lacks greedy: only greedy's games are played, and the table is the same."""
    reference = measure("random", output=tmp_path / "reference")
    assert table_of(reference)["random"]["rating"] == ""
    played: list[tuple[str, ...]] = []
    counting = Watched(played.append)
    own = measure("greedy", output=tmp_path / "own", reference=reference / "benchmark.json", workers=counting)
    assert played == [("greedy",)] * 16 + [("random", "greedy")]
    assert without_speed(own) == without_speed(folder)
    assert without_speed(reference) != without_speed(folder)
    measure("greedy", "random", output=own, workers=counting)  # nothing is missing
    assert len(played) == 17
    assert without_speed(own) == without_speed(folder)


def without_speed(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))
    for solo in data["solo"].values():
        del solo["decisions_per_second"]
    return data


def test_what_is_finished_is_shown_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table and the files have the solo games before the match is played. Tables fit 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    before: list[str] = []

    def noting(agents: tuple[str, ...]) -> None:
        if len(agents) > 1:
            before.append(capsys.readouterr().out)
            assert table_of(tmp_path / "study")["greedy"]["base_win_rate"] != ""
            assert "| `greedy` |" in (tmp_path / "study" / "benchmark.md").read_text(encoding="utf-8")

    monkeypatch.setattr(play, "_seconds_a_game", lambda agent, config, games, decisions: 60.0)
    measure("random", "greedy", output=tmp_path / "study", workers=Watched(noting))
    (shown,) = before
    assert f"{33 * GAMES} games: this takes about 3 hours in all." in shown
    assert shown.count("Solo: games won in per cent") == 2
    assert "About 12 minutes left in all." in shown
    after = capsys.readouterr().out
    assert after.count("Two players: games won in per cent") == 2  # the match's, and at the end everybody's


def test_tables_fit_80_columns() -> None:
    """With the whole ladder and a long name."""
    names = [*benchmark.LADDER, "my_own_package.agents:TheBestOfAll"]
    pairs = [{"first": one, "second": other, "games": "++"} for one in names for other in names if one < other]
    console = Console(width=80, record=True, file=io.StringIO())
    for table in benchmark._tables(PLAN, benchmark._rows(Benchmark(PLAN, pairs=pairs))):
        console.print(table.screen())
    text = console.export_text()
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    assert text.count("100.0") + text.count("  0.0") == 5 * 4 + 5


def test_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It plays far fewer games, says that the numbers are rough, and does not continue a table of full games."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(benchmark, "QUICK", {"games": 2, "search_games": 1, "duel_games": 2})
    monkeypatch.setattr(petrichor, "PLAN", replace(PLAN, docs=str(tmp_path / "none")))
    cli.app(["benchmark", "random", "greedy", "--quick", "--json", "all.json"], standalone_mode=False)
    told = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert (told["game"], told["quick"], told["components"]) == ("petrichor", True, None)
    kept = table_of(tmp_path / "runs" / "benchmark-quick")
    for row in told["agents"]:
        columns = kept[row["agent"]]
        assert f"{row['rating']:.6f}" == columns["rating"] and row["solo_games_a_set"] == 2
        if row["agent"] != "random":
            assert f"{row['against_random']['value']:.6f}" == columns["against_random"]
    assert "These numbers are rough" in " ".join(capsys.readouterr().out.split())
    folder = tmp_path / "runs" / "benchmark-quick"
    assert {row["solo_games_a_set"] for row in table_of(folder).values()} == {"2"}
    assert "These numbers are rough" in (folder / "benchmark.md").read_text(encoding="utf-8")
    with pytest.raises(TabletopError, match="measured with --quick; continue with --quick"):
        measure("random", output=folder)
    cli.app(["benchmark", "random", "--quick", "--output", str(folder)], standalone_mode=False)


def test_a_game_that_nobody_plays_alone(tmp_path: Path) -> None:
    """A plan makes a table for any game. This one has no solo games, and can't be put into another game's folder."""
    plan = benchmark.Plan(game=connect_four.GAME, agents=("random", "greedy"), docs=str(tmp_path / "none"))
    folder = benchmark.main(plan, duel_games=20, output=tmp_path / "study")
    table = table_of(folder)
    assert list(table) == ["greedy", "random"]
    assert list(table["greedy"])[:2] == ["agent", "against_random"] and "rating" in table["greedy"]
    page = (folder / "benchmark.md").read_text(encoding="utf-8")
    assert "solo" not in page and "decisions/s" not in page and "connect_four benchmark --output" in page
    with pytest.raises(TabletopError, match="a benchmark of connect_four; give another --output"):
        measure("random", output=folder)


@pytest.mark.slow
def test_numbers_of_ones_own(folder: Path, tmp_path: Path) -> None:
    """Numbers of an overlay file are measured apart, and a table is continued only with its own numbers."""
    numbers = tmp_path / "numbers.toml"
    numbers.write_text("[tiles.cotton]\nscores = [0, 0, 0, 0]\n")
    own: dict[str, Any] = {
        "games": GAMES,
        "duel_games": GAMES,
        "components": numbers,
        "reference": folder / "benchmark.json",
    }
    alone = benchmark.main(PLAN, ["random"], output=tmp_path / "study", **own)
    assert list(table_of(alone)) == ["random"]  # no agent comes from the reference
    assert table_of(alone)["random"]["base_margin"] != table_of(folder)["random"]["base_margin"]
    page = (alone / "benchmark.md").read_text(encoding="utf-8")
    assert "some of them replaced by an overlay file" in page and "petrichor benchmark --components FILE" in page
    benchmark.main(PLAN, ["greedy"], output=alone, **own)
    config = Config(players=2, components=str(numbers))
    match = play_match([make_agent("random", GAME), make_agent("greedy", GAME)], config, range(SEED, SEED + GAMES // 2))
    won = match.by_seed(match.by_agent(match.win_shares))[:, 1].mean()
    assert float(table_of(alone)["greedy"]["against_random"]) == pytest.approx(won, abs=1e-4)
    (tmp_path / "edition.toml").write_text("[tiles.cotton]\nscores = [1, 0, 0, 0]\n")
    for words in ([], ["--components", str(tmp_path / "edition.toml")]):
        with pytest.raises(TabletopError, match=r"an overlay file's numbers\); give the same --components"):
            cli.app(["benchmark", "random", "--output", str(alone), *words], standalone_mode=False)
    cli.app(["benchmark", "random", "--output", str(alone), "--components", str(numbers)], standalone_mode=False)


def test_another_checkpoint_of_the_same_name_is_measured_anew() -> None:
    kept = Benchmark(
        PLAN,
        solo={"policy:a": {}, "random": {}},
        pairs=[{"first": "random", "second": "policy:a", "games": "--"}],
        checkpoints={"policy:a": "0"},
    )
    kept.forget("policy:a")
    assert kept == Benchmark(PLAN, solo={"random": {}})


def test_bad_input(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="agent 'wizard'"):
        measure("wizard", output=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(TabletopError, match="games=0: must be at least 1"):
        benchmark.main(PLAN, ["random"], games=0, output=tmp_path / "none")
    file = tmp_path / "benchmark.json"
    for text, match in (("{}x", "no benchmark of this version"), ('{"solo": {"random": {}}}', "no benchmark")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(TabletopError, match=match):
            measure("random", output=tmp_path)
    data = json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))
    file.write_text(json.dumps({**data, "rules_version": 1}), encoding="utf-8")
    with pytest.raises(TabletopError, match="other rules or numbers"):
        measure("random", output=tmp_path)
    with pytest.raises(SystemExit) as error:
        cli.main(["benchmark", "wizard", "--output", str(tmp_path / "none")])
    assert error.value.code == 2
    assert "agent 'wizard'" in capsys.readouterr().err


@pytest.mark.slow
def test_an_agent_whose_file_has_changed_is_not_mixed_with_what_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no opponent of others, and it is measured anew if it is named."""
    path = tmp_path / "own_policy.zip"
    path.write_bytes((POLICIES / "petrichor" / "versus.zip").read_bytes())
    name, output = f"policy:{path}", tmp_path / "study"
    before = json.loads((measure("random", name, output=output) / "benchmark.json").read_text(encoding="utf-8"))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("note.txt", "another file")
    capsys.readouterr()
    measure("greedy", output=output)
    assert f"{name} is left out" in "".join(capsys.readouterr().out.split("\n"))
    after = json.loads((output / "benchmark.json").read_text(encoding="utf-8"))
    assert after["checkpoints"] == before["checkpoints"]
    assert {(pair["first"], pair["second"]) for pair in after["pairs"]} == {("random", name), ("random", "greedy")}
    measure(name, output=output)
    anew = json.loads((output / "benchmark.json").read_text(encoding="utf-8"))
    assert anew["checkpoints"] != before["checkpoints"] and len(anew["pairs"]) == 3
