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
from tabletop_training.measure.ladder import LADDER, games_of_step, main, measure_step

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
    assert published["state_version"] == RULES_VERSION
    steps = {(row["players"], row["lower"], row["upper"]): row for row in published["steps"]}
    assert set(steps) == {(players, lower, upper) for players in (1, 2, 3, 4) for lower, upper in pairwise(LADDER)}
    for step, row in steps.items():
        assert row["above"][1] > 0, step


def test_steps_that_are_there_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ladder.json"
    main(ALL, (2,), ("random", "greedy"), games=4, output=path)
    before = path.read_bytes()
    main(ALL, (2,), ("random", "greedy"), games=8, output=path)
    assert path.read_bytes() == before
    main(ALL, (2, 1), ("random", "greedy"), games=4, output=path)
    rows = json.loads(path.read_text(encoding="utf-8"))["steps"]
    assert [(row["players"], row["games"]) for row in rows] == [(2, 4), (1, 4)]
    assert "greedy" in capsys.readouterr().out


def test_wrong_ladders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"players=\[6\]: must be one or more of 1, 2, 3, 4"):
        main(ALL, (6,), output=tmp_path / "ladder.json")
    with pytest.raises(ConfigError, match=r"players=\[\]: must be one or more"):
        main(ALL, (), output=tmp_path / "ladder.json")
    with pytest.raises(ConfigError, match="at least two agents"):
        main(ALL, (1,), ("random",), output=tmp_path / "ladder.json")
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(TabletopError, match="not a ladder of this project"):
        main(ALL, (1,), output=tmp_path / "other.json")
    (tmp_path / "rows.json").write_text('{"game": "petrichor", "steps": [{}], "state_version": 3}', encoding="utf-8")
    with pytest.raises(TabletopError, match="not a ladder of this project"):
        main(ALL, (1,), output=tmp_path / "rows.json")
    with pytest.raises(TabletopError, match="the folder cannot be created"):
        main(ALL, (1,), output=tmp_path / "other.json" / "ladder.json")
    (tmp_path / "chess.json").write_text('{"game": "chess", "steps": [], "state_version": 3}', encoding="utf-8")
    with pytest.raises(TabletopError, match="a ladder of chess"):
        main(ALL, (1,), output=tmp_path / "chess.json")
    (tmp_path / "old.json").write_text('{"game": "petrichor", "steps": [], "state_version": 1}', encoding="utf-8")
    with pytest.raises(TabletopError, match="measured with state version 1"):
        main(ALL, (1,), output=tmp_path / "old.json")
