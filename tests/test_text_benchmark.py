"""The benchmark by text, its scripted players, and positions judged by an agent."""

from __future__ import annotations

import errno
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from evergreen_env.config import Config as Evergreen
from petrichor_env.config import Config
from tabletop_agents import GreedyAgent, make_agent
from tabletop_cli import evergreen, petrichor
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.text.answers import declared_answers
from tabletop_text import ModelAgent, positions
from tabletop_text.benchmark import estimated_cost, highest_beaten, main, resume, rung_of, rungs_for
from tabletop_text.positions import main as write_positions
from tabletop_text.scripted import ThroughText
from tabletop_text.turn import Form
from tabletop_training.measure.evaluation import TEXT_SEED, play_games
from tabletop_training.measure.matches import play_match
from tabletop_training.measure.results import Results
from tests.games import connect_four
from tests.support.effort import games
from tests.support.workers import stopping_after

TWO = Config(players=2)
FOUR = connect_four.Config()
SCRIPTED = "model:tabletop_text.scripted"


@pytest.mark.parametrize("config", [TWO, Evergreen(2), connect_four.Config()], ids=lambda config: config.game.name)
def test_through_text_an_agent_plays_as_without(config: Any) -> None:
    """This tests the whole pipeline: words out, words in, and the same games as greedy itself."""
    plain = play_match([GreedyAgent(), "random"], config, [1], record_actions=True)
    text = play_match([ThroughText(GreedyAgent()), "random"], config, [1], record_actions=True)
    assert plain.actions is not None and text.actions is not None
    for one, other in zip(plain.actions, text.actions, strict=True):
        assert (one == other).all()
    assert text.usage[0][3] == 0


@pytest.mark.parametrize("name", ["first", "random", pytest.param("greedy", marks=pytest.mark.slow), "silent"])
def test_scripted_players(name: str) -> None:
    agent = make_agent(f"{SCRIPTED}:{name}", TWO.game)
    assert isinstance(agent, ModelAgent)
    first = play_games([agent, "random"], TWO, 2, seed=5)
    again = play_games([agent, "random"], TWO, 2, seed=5)
    assert (first.points == again.points).all()
    assert first.invalid[:, 0].all() == (name == "silent")


def run(folder: Path, name: str = f"{SCRIPTED}:random", **more: Any) -> dict[str, Any]:
    main(name, FOUR, output=folder, **{"rungs": ("random", "greedy"), "seeds": 8, **more})
    return dict(json.loads((folder / "benchmark-text.json").read_text(encoding="utf-8")))


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_rung_that_is_not_beaten_ends_it(tmp_path: Path) -> None:
    told = run(tmp_path)
    assert [rung["agent"] for rung in told["rungs"]] == ["random"] and told["highest_beaten"] == ""
    assert sorted((row["seed"], row["seat"]) for row in rows(tmp_path)) == [
        (TEXT_SEED + seed, seat) for seed in range(8) for seat in (0, 1)
    ]
    told = run(tmp_path / "all", every_rung=True)
    assert [rung["agent"] for rung in told["rungs"]] == ["random", "greedy"]
    page = (tmp_path / "all" / "benchmark-text.md").read_text(encoding="utf-8")
    assert "| `greedy` | 16 |" in page and "No rung was beaten." in page


def test_it_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the same command, also for more seeds, and by `--resume`; every game is played once."""
    whole = run(tmp_path / "whole", every_rung=True)
    part = tmp_path / "part"
    with pytest.raises(KeyboardInterrupt):
        run(part, workers=stopping_after(0))
    assert "nothing was kept" in capsys.readouterr().out and not part.exists()
    run(part, seeds=3)
    assert len(rows(part)) == 8
    assert run(part, every_rung=True, workers=stopping_after(2))["rungs"][1]["games"] == 8
    assert (
        f"Stopped early. To continue: {connect_four.GAME.command} benchmark-text --resume {part}"
        in capsys.readouterr().out
    )
    resume(part, connect_four.GAME, [f"{SCRIPTED}:random"], workers=stopping_after(1))
    assert (part / "games.jsonl").read_bytes() == (tmp_path / "whole" / "games.jsonl").read_bytes()
    assert json.loads((part / "benchmark-text.json").read_text(encoding="utf-8")) == whole
    assert run(part, seeds=3, workers=stopping_after(0))["rungs"][0]["games"] == 8
    games = (part / "games.jsonl").read_bytes()
    with pytest.raises(TabletopError, match="its games are of other agents; start anew, with another --output"):
        run(part, f"{SCRIPTED}:first")
    assert games == (part / "games.jsonl").read_bytes() and len(rows(part)) == 8


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TabletopError, match="there is nothing to continue"):
        resume(tmp_path, connect_four.GAME)
    run(tmp_path, seeds=4)
    with pytest.raises(ConfigError, match=rf"names {SCRIPTED}:random, .*; if you trust .* add the agent {SCRIPTED}"):
        resume(tmp_path, connect_four.GAME)
    path = tmp_path / "settings.json"
    good = json.loads(path.read_text(encoding="utf-8")) | {"name": "random"}
    path.write_text(json.dumps(good | {"rungs": [f"{SCRIPTED}:first"]}), encoding="utf-8")
    with pytest.raises(ConfigError, match=f"add --rungs {SCRIPTED}:first"):
        resume(tmp_path, connect_four.GAME)
    for content, says in (
        ({"rung": 3}, "not the settings of `.* benchmark-text` of this version"),
        ({**good, "command": "evaluate"}, "the settings of evaluate of connect_four, not of"),
    ):
        path.write_text(json.dumps(content), encoding="utf-8")
        for again in (run, lambda folder: resume(folder, connect_four.GAME)):
            with pytest.raises(TabletopError, match=says):
                again(tmp_path)
    for wrong in ({"rungs": "random"}, {"rungs": 3}, {"seeds": "many"}, {"seeds": 0}, {"config": 3}, {"name": [1]}):
        path.write_text(json.dumps(good | wrong), encoding="utf-8")
        with pytest.raises(TabletopError):
            resume(tmp_path, connect_four.GAME)


def test_invalid_ends_are_told_apart(tmp_path: Path) -> None:
    (rung,) = run(tmp_path, f"{SCRIPTED}:silent")["rungs"]
    assert rung["won"]["value"] == 0 and rung["invalid"]["value"] == 1 and rung["won_clean"] is None
    assert rung["usage"]["problems"] == 3 and rung["usage"]["failures"] == 1


def test_the_estimates() -> None:
    """Two games of a seed are one observation; the highest rung need not be the last that was played."""
    seats, seeds = np.tile([[0, 1], [1, 0]], (10, 1)), np.repeat(np.arange(10), 2)
    places = np.tile([[2, 1]], (20, 1))  # whoever sits second wins
    zeros = np.zeros((20, 2), int)
    lost = Results(TWO, ("player", "greedy"), 0, zeros, places, np.ones(20, int), seeds=seeds, lineups=seats)
    even = rung_of("greedy", lost)
    assert even.won.value == 0.5 and even.won.width < 0.2 and even.seeds == 10 and even.games == 20 and not even.beaten
    better = rung_of("random", replace(lost, places=np.where(seats == 0, 1, 2)))
    assert better.beaten and highest_beaten([better, even]) == "random" and highest_beaten([even]) == ""


def test_until_width(tmp_path: Path) -> None:
    told = run(tmp_path, seeds=30, until_width=0.5)
    assert told["rungs"][0]["seeds"] < 30


def test_what_it_would_cost() -> None:
    """The estimate before the start is about what a whole game takes."""
    for memory in ("none", "game"):
        agent = ModelAgent(lambda messages: '{"answer": 1}', memory=memory, form=Form())
        calls, tokens = estimated_cost(agent, TWO)
        number = games(2, 8)
        used = play_games([agent, "random"], TWO, number, seed=TEXT_SEED).usage[0] / number
        assert 0.6 < calls / used[0] < 1.7 and 0.5 < tokens / used[1] < 2.0, (memory, calls, tokens, used)


def test_in_the_command_line(tmp_path: Path) -> None:
    words = ["benchmark-text", f"{SCRIPTED}:first", "--output", str(tmp_path / "out"), "--estimate"]
    ran = CliRunner().invoke(evergreen.app, words, env={"COLUMNS": "100"})
    assert ran.exit_code == 0, ran.output
    assert re.search(r"About \d+ calls and [\d,]+ tokens read in a game", ran.output)
    assert not (tmp_path / "out" / "games.jsonl").exists()
    assert rungs_for(TWO.game)[-1] == "policy:versus" and rungs_for(connect_four.GAME)[-1] == "ismcts-200"
    with pytest.raises(ConfigError, match="each agent once"):
        run(tmp_path / "x", rungs=("greedy", "greedy"))
    words = ["benchmark-text", "greedy", "--rungs", "random", "--seeds", "4", "--output", str(tmp_path / "out")]
    evergreen.app(words, standalone_mode=False)
    made = (tmp_path / "out" / "games.jsonl").read_bytes()
    evergreen.app(["benchmark-text", "--resume", str(tmp_path / "out")], standalone_mode=False)
    assert made == (tmp_path / "out" / "games.jsonl").read_bytes() and made.count(b"\n") == 8
    with pytest.raises(ConfigError, match=r"seeds, every_rung: not with --resume"):
        evergreen.app(["benchmark-text", "--resume", "x", "--seeds", "8", "--every-rung"], standalone_mode=False)
    with pytest.raises(ConfigError, match="agent: name the player"):
        evergreen.app(["benchmark-text"], standalone_mode=False)


def test_positions(tmp_path: Path) -> None:
    for judge, label in (("greedy", "values"), ("ismcts-20", "shares")):
        path = tmp_path / f"{judge}.jsonl"
        write_positions(TWO.game, TWO, positions=10, judge=judge, output=path)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert len(lines) == 10 and len({line["id"] for line in lines}) == 10
        for line in lines:
            system, user = line["messages"]
            assert TWO.game.words.rules(TWO) in system["content"]
            assert all(f"{i}. {text}" in user["content"] for i, text in enumerate(line["answers"], 1))
            assert len(line[label]) == len(line["answers"]) > 1 and 0 <= line["best"] < len(line["answers"])
            given = [value for value in line[label] if value is not None]
            if judge == "greedy":
                assert line["values"][line["best"]] == max(given)
            assert declared_answers(json.dumps({"answer": line["answers"][line["best"]]})).answers
    with pytest.raises(ConfigError, match="neither values nor shares"):
        write_positions(TWO.game, TWO, positions=1, judge="random", output=tmp_path / "x.jsonl")


def test_a_file_of_positions_is_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "positions.jsonl"
    write_positions(TWO.game, TWO, positions=1, judge="greedy", output=file)
    before = file.read_bytes()

    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(positions, "positions_of_game", full)
    with pytest.raises(TabletopError, match=r"positions\.jsonl: can't be written \(No space left on device\)"):
        write_positions(TWO.game, TWO, positions=1, judge="greedy", output=file)
    assert file.read_bytes() == before and list(tmp_path.iterdir()) == [file]


def test_positions_are_of_their_seed(tmp_path: Path) -> None:
    ran = CliRunner().invoke(
        petrichor.app,
        [
            "text-positions",
            "--positions",
            "6",
            "--judge",
            "greedy",
            "--seed",
            "7",
            "--output",
            str(tmp_path / "a.jsonl"),
        ],
    )
    assert ran.exit_code == 0, ran.output
    write_positions(Config().game, Config(), positions=6, judge="greedy", seed=7, output=tmp_path / "b.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    seeds = [json.loads(line)["seed"] for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert np.unique(seeds).tolist() == [7, 8]
