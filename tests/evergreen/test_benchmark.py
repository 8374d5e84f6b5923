"""Evergreen's reference table of agents: mean points alone, ratings of two players."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from evergreen_env import GAME, Config
from tabletop_agents import make_agent
from tabletop_cli import evergreen as cli
from tabletop_cli import measure as measuring
from tabletop_engine.errors import TabletopError
from tabletop_training.evergreen import benchmark as evergreen
from tabletop_training.evergreen.benchmark import PLAN
from tabletop_training.measure import benchmark
from tabletop_training.measure.evaluation import play_games
from tabletop_training.measure.matches import play_match
from tabletop_training.measure.results import mean_estimate, share_estimate
from tabletop_training.petrichor.benchmark import PLAN as OTHER_PLAN
from tests.support.workers import Watched

GAMES = 6
SEED = benchmark.EVALUATION_SEED


def run(*words: str | Path) -> None:
    cli.app(["benchmark", *map(str, words)], standalone_mode=False)


def measure(*agents: str, output: Path) -> Path:
    run(*agents, "--games", str(GAMES), "--duel-games", str(GAMES), "--output", output)
    return output


def table_of(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "benchmark.csv").open(newline="", encoding="utf-8") as file:
        return {row["agent"]: row for row in csv.DictReader(file)}


@pytest.fixture(autouse=True)
def without_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evergreen, "PLAN", replace(PLAN, docs=str(tmp_path / "none")))


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The agents of each match that is played."""
    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(measuring, "players_of", lambda workers, ray: Watched(told.append))
    return told


def test_whom_it_measures() -> None:
    assert PLAN.agents == ("random", "greedy", "rollout", "ismcts-200", "policy:versus", "search-200:versus")
    new = benchmark.Benchmark.new(PLAN)
    assert (new.solo_configs, new.duel) == ([Config()], Config(players=2))
    assert PLAN.docs == "docs/evergreen"


@pytest.mark.slow
def test_table_page_and_a_second_run(
    tmp_path: Path, played: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = measure("random", "greedy", output=tmp_path / "study")
    assert played == [("random",), ("greedy",), ("random", "greedy")]
    printed = capsys.readouterr().out
    assert "Solo: mean points" in printed and "Two players: games won in per cent" in printed
    table = table_of(folder)
    assert list(table) == ["greedy", "random"]  # by rating
    for name, row in table.items():
        points = mean_estimate(play_games([make_agent(name, GAME)], Config(), GAMES, SEED).points[:, 0])
        assert row["solo_games"] == str(GAMES)
        assert float(row["mean_points"]) == pytest.approx(points.value, abs=1e-4)
        assert float(row["mean_points_low"]) == pytest.approx(points.low, abs=1e-4)
    assert not any("win_rate" in column or "margin" in column for column in table["greedy"])
    match = play_match(
        [make_agent("random", GAME), make_agent("greedy", GAME)], Config(players=2), range(SEED, SEED + 3)
    )
    score = share_estimate(match.by_seed(match.by_agent(match.win_shares))[:, 1])
    assert float(table["greedy"]["against_random"]) == pytest.approx(score.value, abs=1e-4)
    page = (folder / "benchmark.md").read_text(encoding="utf-8")
    assert "| agent | games | mean points | decisions/s |" in page
    assert "| agent | rating | Elo | won against `random` | won against `greedy` |" in page
    assert page.startswith("# Evergreen: the agents, measured\n") and "evergreen-env" in page
    assert "petrichor" not in page.lower() and "variants" not in page
    before = {path.name: path.read_bytes() for path in folder.glob("benchmark.*")}
    assert sorted(before) == ["benchmark.csv", "benchmark.json", "benchmark.md"]
    measure("greedy", "random", output=folder)
    assert len(played) == 3 and {path.name: path.read_bytes() for path in folder.glob("benchmark.*")} == before
    measure("rollout-1", output=folder)
    assert played[3:] == [("rollout-1",), ("random", "rollout-1"), ("greedy", "rollout-1")]


def test_the_published_page_is_what_its_numbers_say(tmp_path: Path) -> None:
    """It has all agents of the plan, and every two of them have met."""
    kept = benchmark._start(tmp_path / "none", PLAN.reference, benchmark.Benchmark.new(PLAN))
    benchmark._write(tmp_path, kept)
    for name in ("benchmark.md", "benchmark.csv"):
        assert (tmp_path / name).read_bytes() == (PLAN.reference.parent / name).read_bytes()
    assert set(table_of(tmp_path)) == set(PLAN.agents)
    assert all(kept.score(one, other) for one, other in combinations(PLAN.agents, 2))


def test_an_agent_of_ones_own_is_placed_among_the_published(
    tmp_path: Path, played: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    published = measure("random", output=tmp_path / "none")  # where the plan looks for them
    (tmp_path / "careless.py").write_text(
        "import numpy as np\n\n\nclass Careless:\n    name = 'careless'\n\n"
        "    def act(self, decisions, generator):\n        return np.argmax(decisions.action_masks, axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    played.clear()
    own = measure("careless:Careless", output=tmp_path / "own")
    assert played == [("careless:Careless",), ("random", "careless:Careless")]
    assert set(table_of(own)) == {"random", "careless:Careless"}
    assert table_of(own)["random"]["mean_points"] == table_of(published)["random"]["mean_points"]


def test_numbers_of_ones_own_and_of_another_game(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.toml"
    numbers.write_text("[flags]\nstart_points = [5, 5, 5, 5]\n")
    measure("random", output=tmp_path / "study")
    alone = tmp_path / "alone"
    run("random", "--games", "6", "--components", numbers, "--output", alone)
    points = {folder.name: float(table_of(folder)["random"]["mean_points"]) for folder in (alone, tmp_path / "study")}
    assert points["alone"] - points["study"] == pytest.approx(5, abs=1e-4)
    with pytest.raises(TabletopError, match=r"an overlay file's numbers\); give the same --components"):
        run("random", "--output", alone)
    with pytest.raises(TabletopError, match="a benchmark of evergreen; give another --output"):
        benchmark.main(OTHER_PLAN, ["random"], games=2, output=alone)
    unnamed = json.loads((tmp_path / "study" / "benchmark.json").read_text())
    del unnamed["game"]  # as in files from when there was only one game: the columns tell which
    (tmp_path / "unnamed").mkdir()
    (tmp_path / "unnamed" / "benchmark.json").write_text(json.dumps(unnamed))
    with pytest.raises(TabletopError, match="no benchmark of this version"):
        benchmark.main(OTHER_PLAN, ["random"], games=2, output=tmp_path / "unnamed")
