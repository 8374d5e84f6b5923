"""The ladder: each agent is stronger than the one below it, as far as a test can afford to see."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from petrichor_env.config import Config
from petrichor_env.state import RULES_VERSION
from tabletop_cli import petrichor
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_training.measure.ladder import LADDER, games_of_step, main, measure_step, resume
from tests.support.workers import stopping_after

ROOT = Path(__file__).parents[1]
CONFIGS = {players: Config(players=players, **switches) for players, switches in petrichor.LINE.ladder.items()}
ALL = list(CONFIGS.values())


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_greedy_wins_against_random(players: int) -> None:
    row = measure_step("random", "greedy", CONFIGS[players], 96, 7)
    assert row["above"][1] > 0
    assert row["games"] == 96


@pytest.mark.slow
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize(("lower", "upper"), [("greedy", "rollout"), ("rollout", "ismcts-200")])
def test_searches_win_against_the_agent_below(lower: str, upper: str, players: int) -> None:
    assert measure_step(lower, upper, CONFIGS[players], games_of_step("ismcts-200", players), 7)["above"][1] > 0


def test_the_published_ladder_rises() -> None:
    """As docs/agents.md says. Checked in the file that the page is made from."""
    published = json.loads((ROOT / "docs" / "ladder.json").read_text(encoding="utf-8"))
    assert published["rules_version"] == RULES_VERSION
    steps = {(row["players"], row["lower"], row["upper"]): row for row in published["steps"]}
    assert set(steps) == {(players, lower, upper) for players in (1, 2, 3, 4) for lower, upper in pairwise(LADDER)}
    for step, row in steps.items():
        assert row["above"][1] > 0, step


def test_games_that_are_there_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    main(ALL, (2,), ("random", "greedy"), games=4, output=tmp_path)
    (kept,) = (path.stat().st_mtime_ns for path in (tmp_path / "games").iterdir())
    main(ALL, (2, 1), ("random", "greedy"), games=4, output=tmp_path)
    assert kept in {path.stat().st_mtime_ns for path in (tmp_path / "games").iterdir()}
    content = json.loads((tmp_path / "ladder.json").read_text(encoding="utf-8"))
    assert [(row["players"], row["games"]) for row in content["steps"]] == [(2, 4), (1, 4)]
    assert (content["game"], content["rules_version"], content["checkpoints"]) == ("petrichor", RULES_VERSION, {})
    assert content["steps"][0] == json.loads(json.dumps(measure_step("random", "greedy", CONFIGS[2], 4, 1_000_000)))
    before = (tmp_path / "ladder.json").read_bytes()
    resume(tmp_path, ALL)
    assert (tmp_path / "ladder.json").read_bytes() == before
    assert "greedy" in capsys.readouterr().out
    with pytest.raises(TabletopError, match="its games are of other seeds"):
        main(ALL, (2,), ("random", "greedy"), games=8, output=tmp_path)
    resume(tmp_path, ALL)  # what the folder was asked for stays
    assert (tmp_path / "ladder.json").read_bytes() == before


def test_stopped_and_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of the two agents of a game for one has played: there is no step yet, but its games stay."""
    with pytest.raises(KeyboardInterrupt):
        main(ALL, (1,), ("random", "greedy"), games=4, output=tmp_path, workers=stopping_after(1))
    assert f"To continue: petrichor ladder --resume {tmp_path}" in capsys.readouterr().out
    resume(tmp_path, ALL, workers=stopping_after(1))
    (step,) = json.loads((tmp_path / "ladder.json").read_text(encoding="utf-8"))["steps"]
    assert step == json.loads(json.dumps(measure_step("random", "greedy", CONFIGS[1], 4, 1_000_000)))


def test_wrong_ladders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"players=\[6\]: must be one or more of 1, 2, 3, 4"):
        main(ALL, (6,), output=tmp_path)
    with pytest.raises(ConfigError, match=r"players=\[\]: must be one or more"):
        main(ALL, (), output=tmp_path)
    with pytest.raises(ConfigError, match="at least two agents"):
        main(ALL, (1,), ("random",), output=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(TabletopError, match="the folder cannot be created"):
        main(ALL, (1,), ("random", "greedy"), output=tmp_path / "file" / "ladder")
