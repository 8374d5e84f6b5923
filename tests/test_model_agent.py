"""Language models as agents, replaced by scripted functions: in commands, side by side, with limits and a log."""

from __future__ import annotations

import copy
import json
import pickle
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from evergreen_env.config import Config as Evergreen
from petrichor_env.config import Config
from tabletop_agents import make_agent
from tabletop_agents.names import agent_file, check_trusted, own_agents
from tabletop_cli import petrichor
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.agents import USAGE, Decisions
from tabletop_engine.play.batch import Batch
from tabletop_play.session import Session
from tabletop_text import Form, ModelAgent, ModelFailed, Reply, TextGame
from tabletop_text.model import Message
from tabletop_text.scripted import greedy
from tabletop_training.measure.evaluation import play_games
from tabletop_training.measure.matches import evaluate, play_match
from tests.games import connect_four, leduc_poker

TWO, FOUR = Config(players=2), connect_four.Config()
NOTHING = "I don't know.\nReally."


def first(messages: Sequence[Message]) -> str:
    return '{"answer": 1}'


def last(messages: Sequence[Message]) -> Reply:
    numbers = re.findall(r"^(\d+)\. ", messages[-1]["content"], re.MULTILINE)
    return Reply(f'Well.\n{{"answer": {numbers[-1]}}}', 100, 7)


def nothing(messages: Sequence[Message]) -> str:
    return NOTHING


settled = ModelAgent(first, on_failure="random", memory="game")


def usage(agent: ModelAgent) -> dict[str, int]:
    return dict(zip(USAGE, agent.usage.tolist(), strict=True))


@pytest.mark.parametrize(
    "config",
    [TWO, Config(), Evergreen(2), connect_four.Config(), leduc_poker.Config()],
    ids=lambda c: c.game.name + c.name,
)
def test_it_plays_as_a_text_game_does(config: Any) -> None:
    """Against the same opponent on the same seeds it plays the same games."""
    players = ["random"] * (config.players - 1)
    played = play_games([ModelAgent(first), *players], config, 3, seed=5)
    agent = ModelAgent(first)
    assert played.agents[0] == agent.name == "model:tests.test_model_agent:first"
    assert not played.invalid.any() and played.usage[0][0] == played.decisions[:, 0].sum()
    if config.players == 1:
        for game in range(3):
            text = TextGame(config)
            turn = text.reset(5 + game)
            while not turn.done:
                turn = text.step("1")
            assert turn.info["points"] == played.points[game].tolist()


def test_what_it_is_told() -> None:
    """It is told rules and task once, then what happened, the board and the answers; and in words what went wrong."""
    heard: list[list[Message]] = []

    def ask(messages: Sequence[Message]) -> str:
        heard.append([dict(message) for message in messages])
        return NOTHING if len(heard) == 3 else '{"answer": 1}'

    play_games([ModelAgent(ask), "random"], TWO, 1, seed=3)
    roles = [[message["role"] for message in messages] for messages in heard]
    assert roles[0] == ["system", "user"] and all(one[:2] == ["system", "user"] for one in roles)
    assert TWO.game.words.rules(TWO) in heard[0][0]["content"] and "You are player_0." in heard[0][0]["content"]
    assert "1. put a new cloud on" in heard[0][1]["content"]
    assert roles[3] == ["system", "user", "assistant", "user"] and roles[4] == ["system", "user"]
    assert heard[3][2]["content"] == NOTHING and "No answer is declared" in heard[3][3]["content"]
    told = [messages[1]["content"] for messages in heard]
    assert any(re.search(r"^player_1: ", text, re.MULTILINE) for text in told)
    assert any(re.search(r"^player_0: ", text, re.MULTILINE) for text in told)


def test_memory_of_a_game() -> None:
    """Each game has its own conversation, with nothing from other games or earlier ones."""
    heard: list[list[Message]] = []

    def ask(messages: Sequence[Message]) -> str:
        heard.append([dict(message) for message in messages])
        return '{"answer": 1}'

    agent = ModelAgent(ask, memory="game", parallel=1)
    for games in (2, 1):
        heard.clear()
        decisions = play_games([agent], Evergreen(1), games, seed=3).decisions[:, 0]
        assert len(heard) == decisions.sum()
        lengths = sorted(len(messages) for messages in heard)
        assert lengths[:games] == [2] * games and lengths[-1] == 2 * decisions.max()
        for messages in heard:
            assert [message["role"] for message in messages[1::2]] == ["user"] * (len(messages) // 2)
            rounds = [
                int(number) for message in messages for number in re.findall(r"Round (\d+) of", message["content"])
            ]
            assert rounds == sorted(rounds)


def test_memory_of_a_game_in_several_seats() -> None:
    """Each seat has a conversation of its own, which goes on although other seats are asked between."""
    heard: dict[str, list[int]] = {}

    def ask(messages: Sequence[Message]) -> str:
        heard.setdefault(messages[0]["content"], []).append(len(messages))
        return '{"answer": 1}'

    play_games([ModelAgent(ask, memory="game", parallel=1)] * 3, Config(players=3), 1, seed=3)
    assert len(heard) == 3
    for lengths in heard.values():
        assert lengths == list(range(2, 2 + 2 * len(lengths), 2))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
@pytest.mark.parametrize("agent", [settled, greedy], ids=lambda agent: agent.name)
def test_copies(agent: ModelAgent, copied: Any) -> None:
    """A copy plays as the agent does, and counts for itself."""
    before = agent.usage.copy()
    one = copied(agent)
    played = play_games([one, "random"], FOUR, 2, seed=5)
    assert (agent.usage == before).all() and one.usage[0] > before[0]
    assert played.decisions.tolist() == play_games([agent, "random"], FOUR, 2, seed=5).decisions.tolist()


@pytest.mark.slow
def test_with_workers() -> None:
    """Processes play the same games, and what they used is added up."""
    one, two = (evaluate([settled, "random"], TWO, games=4, workers=number) for number in (1, 2))
    assert one.reports[0].usage == two.reports[0].usage
    assert one.reports[0].estimates == two.reports[0].estimates


def test_replies_without_an_answer_lose_the_game() -> None:
    results = play_match([ModelAgent(nothing, name="n"), ModelAgent(first, name="f")], TWO, [1, 2, 3])
    invalid = results.by_agent(results.invalid)
    assert (invalid[:, 0] == 1).all() and (invalid[:, 1] == 0).all()
    assert (results.by_agent(results.win_shares)[:, 0] == 0).all()
    used = dict(zip(USAGE, results.usage[0].tolist(), strict=True))
    assert used["calls"] == used["problems"] == 3 * used["failures"] == 18


def test_other_ways_to_fail() -> None:
    results = play_games([ModelAgent(nothing, on_failure="random", tries=1), "random"], TWO, 2, seed=1)
    assert not results.invalid.any() and results.usage[0][3] == results.usage[0][4] == results.decisions[:, 0].sum()
    with pytest.raises(ModelFailed, match=r"no legal answer in 2 replies \(unreadable: No answer is declared"):
        play_games([ModelAgent(nothing, on_failure="raise", tries=2), "random"], TWO, 1, seed=1)


def test_many_games_side_by_side() -> None:
    at_once, most, six, gave_up = 0, 0, threading.Condition(), False

    def ask(messages: Sequence[Message]) -> str:
        nonlocal at_once, most, gave_up
        with six:
            at_once += 1
            most = max(most, at_once)
            six.notify_all()
            # the first calls answer when there are six of them, however slow the machine is
            gave_up = gave_up or not six.wait_for(lambda: most >= 6, timeout=60)
        time.sleep(0.01)
        with six:
            at_once -= 1
        return '{"answer": 1}'

    side = play_games([ModelAgent(ask, parallel=6), "random"], FOUR, 7, seed=1)
    assert most == 6 and not gave_up
    one = play_games([ModelAgent(first, parallel=1), "random"], FOUR, 7, seed=1)
    assert (side.places == one.places).all() and (side.decisions == one.decisions).all()


def test_calls_that_fail() -> None:
    calls = 0

    def ask(messages: Sequence[Message]) -> str:
        nonlocal calls
        calls += 1
        if calls % 3:
            raise OSError("busy\x1b[2J")
        return '{"answer": 1}'

    play_games([ModelAgent(ask, pause=0, parallel=1)], Evergreen(1), 1, seed=1)
    with pytest.raises(ModelFailed, match="asking failed 2 times, at last with OSError: busy"):
        play_games([ModelAgent(ask, pause=0, attempts=2)], Evergreen(1), 1, seed=1)
    for wrong in (lambda messages: 3, lambda messages: Reply(None)):  # type: ignore[arg-type]
        with pytest.raises(ModelFailed, match="not a Reply or a str"):
            play_games([ModelAgent(wrong, pause=0)], Evergreen(1), 1, seed=1)  # type: ignore[arg-type]


def test_a_model_that_never_answers() -> None:
    def ask(messages: Sequence[Message]) -> str:
        threading.Event().wait(60)
        return ""

    start = time.monotonic()
    with pytest.raises(ModelFailed, match=r"no reply within 0\.1 seconds"):
        play_games([ModelAgent(ask, seconds=0.1)], Evergreen(1), 1, seed=1)
    assert time.monotonic() - start < 30


def test_the_limit_of_tokens() -> None:
    agent = ModelAgent(last, most_tokens=1000, parallel=1)
    with pytest.raises(ModelFailed, match=r"has used 1,070 tokens of 1,000"):
        play_games([agent], Evergreen(1), 1, seed=1)
    assert usage(agent) == {"calls": 10, "input_tokens": 1000, "output_tokens": 70, "problems": 0, "failures": 0}


def test_a_reply_of_a_megabyte_and_control_characters(tmp_path: Path) -> None:
    def ask(messages: Sequence[Message]) -> str:
        assert max(len(message["content"]) for message in messages) < 200_000
        return "x" * 1_000_000 + "\x1b[2J\ud800\n" + '{"answer": 1}'

    played = play_games([ModelAgent(ask, log=tmp_path / "log.jsonl")], Evergreen(1), 1, seed=1)
    assert len(played) == 1
    lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["reply"].endswith('{"answer": 1}')


def test_the_log_has_every_message(tmp_path: Path) -> None:
    agent = ModelAgent(last, log=tmp_path / "logs" / "calls.jsonl")
    played = play_games([agent, "random"], TWO, 2, seed=1)
    lines = [json.loads(line) for line in (tmp_path / "logs" / "calls.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(lines) == played.decisions[:, 0].sum() == usage(agent)["calls"]
    assert {line["game"] for line in lines} and len({line["game"] for line in lines}) == 2
    for line in lines:
        assert line["agent"] == agent.name and line["input_tokens"] == 100 and line["output_tokens"] == 7
        assert line["messages"][0]["role"] == "system" and line["reply"].startswith("Well.")


def test_the_report() -> None:
    told = evaluate([ModelAgent(last, name="m"), "random"], TWO, games=8)
    model, random = told.reports
    assert model.usage is not None and random.usage is None
    assert model.usage["calls"] == model.estimates["decisions"].value == model.usage["output_tokens"] / 7
    assert model.estimates["invalid"].value == 0 and "invalid" not in random.estimates


def test_in_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "model:tests.test_model_agent:nothing"
    words = ["evaluate", name, "random", "--games", "4", "--output", str(tmp_path / "out")]
    ran = CliRunner().invoke(petrichor.app, words, env={"COLUMNS": "200"})
    assert ran.exit_code == 0, ran.output
    assert "of its games ended by no legal answer; in a game 3 calls" in ran.output
    content = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert content["reports"][0]["usage"]["failures"] == 1 and content["reports"][1]["usage"] is None


def test_names() -> None:
    game = TWO.game
    agent = make_agent("model:tests.test_model_agent:last", game)
    assert (
        isinstance(agent, ModelAgent) and agent.memory == "none" and agent.name == "model:tests.test_model_agent:last"
    )
    own = make_agent("model:tests.test_model_agent:settled", game)
    assert own is settled and settled.memory == "game"
    for name in (
        "model:",
        "model:x",
        "model:no_such_module:ask",
        "model:tests.test_model_agent:none",
        "model:json:__doc__",
    ):
        with pytest.raises(ConfigError, match="must be one of"):
            make_agent(name, game)
    assert own_agents(["model:a.b:c", "greedy", "d:E"]) == ["d:E", "model:a.b:c"]
    with pytest.raises(ConfigError, match="runs the code of that module"):
        check_trusted("game.json", ["model:a:b"], ())
    assert agent_file("model:tests.test_model_agent:first", game) == Path(__file__)
    more: list[dict[str, Any]] = [{"memory": "all"}, {"tries": 0}, {"parallel": 0}, {"on_failure": "x"}, {"form": 3}]
    for wrong in more:
        with pytest.raises(ConfigError):
            ModelAgent(first, **wrong)
    with pytest.raises(ConfigError):
        ModelAgent("ask")  # type: ignore[arg-type]


def test_as_an_opponent_of_people() -> None:
    """In `play` and on the page a session asks the model and tells it what happened. If it gives up, the game ends."""
    heard: list[str] = []

    def ask(messages: Sequence[Message]) -> str:
        heard.append(messages[-1]["content"])
        return '{"answer": 1}' if len(heard) < 6 else NOTHING

    session = Session(TWO, {1: ModelAgent(ask, form=Form(board="none"))}, seed=1)
    while not session.over:
        if session.waits_for_agent:
            session.let_agent_act()
        else:
            session.play(session.answers()[0][0])
    assert session.replay.winners == (0,) and session.state["forfeited"] == 1
    assert any("player_0: " in text for text in heard[1:])


def test_only_agents_that_say_so_may_forfeit() -> None:
    class Careless:
        name = "careless"

        def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
            return np.full(len(decisions), -1)

    with pytest.raises(Exception, match="careless"):
        play_games([Careless(), "random"], TWO, 1, seed=1)
    batch = Batch(TWO, 3, 1, autoreset="disabled")
    batch.forfeit(np.array([True, False, True]))
    assert batch.terminations.tolist() == [True, False, True] and batch.illegal_action == "raise"
    assert (batch.states["forfeited"][[0, 2]] >= 0).all() and batch.states["forfeited"][1] == -1
