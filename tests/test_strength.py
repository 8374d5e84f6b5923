"""`petrichor strength`: its rows, resuming, its players, its table and picture, and its figures in the docs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from docs import generate
from petrichor_env.config import VARIANTS, Config
from petrichor_env.game import GAME
from petrichor_env.state import RULES_VERSION
from tabletop_agents import POLICIES, make_agent
from tabletop_agents.checkpoint import read_checkpoint, save_network
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import DEFAULT_SETTINGS, GuidedSearchAgent
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_training.measure.evaluation import EVALUATION_SEED, play_games
from tabletop_training.measure.matches import evaluate
from tabletop_training.petrichor import strength
from tabletop_training.petrichor.strength import HARDEST, PARTS, SETS, Player, cell_of, key_of, main, resume, row_of
from tabletop_training.study.play import play_blocks
from tests.support.play import in_the_middle

ROOT = Path(__file__).parents[1]
BARE, SHIPPED, CHANGED = Player(0, "no search"), Player(4), Player(4, "margin 0", {"margin": 0.0})
SMALL = {
    "ablations": [(player, HARDEST) for player in (BARE, SHIPPED, CHANGED)],
    "curve": [(player, title) for title in SETS for player in (BARE, SHIPPED)],
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use searches with four simulations."""
    monkeypatch.setattr(strength, "PARTS", SMALL)


def content(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "strength.json").read_text(encoding="utf-8"))
    return read


# --- Who plays -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("player", "title"), PARTS["ablations"], ids=lambda one: getattr(one, "what", ""))
def test_settings_reach_the_agent(player: Player, title: str) -> None:
    agent = player.agent("solo")
    assert agent.name == f"{player.kind}:solo"
    if isinstance(agent, GuidedSearchAgent):
        assert (agent.simulations, agent.num_threads) == (player.simulations, 1)
        wanted = {**DEFAULT_SETTINGS, **player.settings}
        assert {name: agent._settings[name][0] for name in DEFAULT_SETTINGS} == wanted
    else:
        assert isinstance(agent, PolicyAgent) and player.simulations == 0
        assert agent.sample == player.drawn == (player.kind == "policy-sample")


def test_every_ablation_changes_one_thing() -> None:
    keys = [key_of(*one) for one in PARTS["ablations"]]
    assert len(set(keys)) == len(keys)
    for player, title in PARTS["ablations"]:
        assert SETS[title] == VARIANTS and len(player.settings) <= 1
        assert all(f"{value:g}" in player.what for value in player.settings.values())


def test_ends_of_the_settings_mean_what_the_tables_say() -> None:
    """With the largest margin weight a search wants only points, with none only the victory."""
    decisions = Decisions.of(in_the_middle(Config(), 8, 20))
    by_weight = {}
    for player, _ in PARTS["ablations"]:
        if "margin" in player.settings:
            agent = player.agent("solo")
            assert isinstance(agent, GuidedSearchAgent)
            visits, utilities = agent.search(decisions, np.random.default_rng(0))
            by_weight[player.settings["margin"]] = utilities[(visits > 0) & (decisions.action_masks == 1)]
    assert set(by_weight) == {0.0, 1000.0}
    assert (by_weight[0.0] >= 0).all() and (by_weight[0.0] <= 1).all()
    assert np.abs(by_weight[1000.0]).mean() > 1000


def test_the_clock_counts_decisions_that_leave_a_choice() -> None:
    """Played again from the recorded actions, every decision of the game is seen."""
    config = Config(players=2)
    results = play_games(["random", "random"], config, 3, 5, record_thinking=True, record_actions=True)
    batch, choices = Batch(config, 3, [5, 6, 7], autoreset="disabled"), 0
    assert results.actions is not None
    for step in range(int(results.lengths.max())):
        running = batch.actors >= 0
        choices += int((batch.action_masks[running].sum(axis=1) > 1).sum())
        actions = np.array([taken[step] if step < len(taken) else 0 for taken in results.actions], np.int64)
        batch.step(actions, which=running)
    assert 0 < results.thinking[:, 1].sum() == choices < results.lengths.sum()
    assert (results.thinking[:, 0] > 0).all()
    assert play_games(["random"], Config(), 3, 5).thinking.shape == (0, 2)


# --- Rows ------------------------------------------------------------------------------------------------------------


def test_a_row_is_of_the_games_that_evaluate_plays() -> None:
    cell = cell_of(SHIPPED, HARDEST, "solo", games=3, seed=50)
    row = row_of(SHIPPED, next(play_blocks([cell], record_thinking=True)).results)
    report = evaluate([make_agent("search-4:solo", GAME)], Config(variants=VARIANTS), 3, 50).reports[0]
    assert row["win_rate"] == list(report.estimates["win_rate"])
    assert row["margin"] == list(report.estimates["margin"])
    assert (row["games"], row["seed"], row["simulations"], row["settings"]) == (3, 50, 4, {})
    assert row["variants"] == "+".join(VARIANTS)
    assert 0 < row["milliseconds"] < 1000 and 0 < row["decisions"] <= 3 * report.estimates["decisions"].value + 1e-6


@pytest.mark.usefixtures("small")
def test_rows_are_kept_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    main(games=1, part="ablations", output=tmp_path)
    before = content(tmp_path)
    assert [(row["player"], row["what"], row["games"]) for row in before["rows"]] == [
        ("policy", "no search", 10),
        ("search-4", "as shipped", 1),
        ("search-4", "margin 0", 1),
    ]
    assert {row["seed"] for row in before["rows"]} == {EVALUATION_SEED}
    assert (before["policy"], before["rules_version"], before["settings"]) == ("solo", RULES_VERSION, DEFAULT_SETTINGS)
    assert not (tmp_path / "strength.png").exists()
    shown = capsys.readouterr().out
    assert "margin 0" in shown and "more time to think" not in shown
    main(games=1, output=tmp_path)
    after = content(tmp_path)
    assert after["rows"][:3] == before["rows"]  # rows of both the curve and the ablations are measured once
    titles = {"+".join(variants) or "base": title for title, variants in SETS.items()}
    easy, middle, _ = SETS
    assert [titles[row["variants"]] for row in after["rows"][3:]] == [easy, easy, middle, middle]
    assert [row["games"] for row in after["rows"][3:]] == [10, 1, 10, 1]
    with Image.open(tmp_path / "strength.png") as picture:
        assert picture.width > 1000
    shown = capsys.readouterr().out
    assert "more time to think" in shown and max(map(len, shown.splitlines())) <= 80
    told = tmp_path / "told.json"
    words = ["strength", "--resume", str(tmp_path), "--json", str(told)]
    cli.app(words, standalone_mode=False)
    assert json.loads(told.read_text(encoding="utf-8")) == content(tmp_path) == after
    cli.app(["strength", "--part", "ablations", "--games", "1", "--output", str(tmp_path)], standalone_mode=False)
    assert content(tmp_path)["rows"] == before["rows"]
    with pytest.raises(ConfigError, match="games: not with --resume"):
        cli.app([*words, "--games", "9"], standalone_mode=False)


@pytest.mark.usefixtures("small")
def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["--part", "all"], "part='all': must be ablations or curve"),
        (["--policy", "nobody"], "nobody: there is no such file, nor a shipped policy"),
        (["--policy", "versus"], "was trained for 2, 3, 4 or 5 players, and this is the solo game"),
    ):
        with pytest.raises(SystemExit) as error:
            cli.main(["strength", *words, "--output", str(tmp_path / "none")])
        assert error.value.code == 2
        said = capsys.readouterr().err
        assert message in said and said.count("\n") == 1
    with pytest.raises(ConfigError, match="games=0: must be at least 1"):
        main(games=0, output=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    network, _ = read_checkpoint(GAME, POLICIES / "petrichor" / "solo.zip")
    network.win_margin_heads = None
    save_network(GAME, network, tmp_path / "without.zip")
    with pytest.raises(TabletopError, match=r"without\.zip: its network has no win and margin heads"):
        main(str(tmp_path / "without.zip"), output=tmp_path / "none")


@pytest.mark.usefixtures("small")
def test_games_of_a_search_with_other_settings_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main(games=1, part="ablations", output=tmp_path)
    monkeypatch.setattr(strength, "DEFAULT_SETTINGS", {**DEFAULT_SETTINGS, "margin": 1.0})
    with pytest.raises(TabletopError, match="its games are of other settings of the search; start anew"):
        resume(tmp_path)


# --- The documents ---------------------------------------------------------------------------------------------------


def test_tables_of_the_documents_from_a_partial_file(
    tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(games=2, part="ablations", output=tmp_path)
    lines = generate.ablations_table(tmp_path).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:5]] == ["no search", "as shipped", "margin 0"]
    assert lines[2].startswith("| `policy:solo` |") and lines[3].startswith("| `search-4:solo` |")
    assert lines[-1] == "2 or 20 games a figure, seeds from 1,000,000."
    thinking = generate.thinking_table(tmp_path).splitlines()
    assert thinking[0] == "| simulations | base game | Double card + One More Turn | all four variants |"
    assert [line.split(" | ")[:3] for line in thinking[2:4]] == [["| no search", "–", "–"], ["| 4", "–", "–"]]
    assert " ms |" in thinking[2] and "](strength.png)" in thinking[-1]


def test_the_published_tables_are_of_this_version() -> None:
    assert content(ROOT / "docs")["rules_version"] == RULES_VERSION
