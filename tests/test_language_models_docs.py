"""docs/language-models.md: its programs run as printed, one of them against a server on this machine."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from docs.text_pages import FOLDER, PROGRAMS
from evergreen_env.config import Config as Evergreen
from tabletop_text import ModelFailed
from tabletop_training.measure.evaluation import play_games
from tests.support.processes import in_python


class Server:
    """A small server that speaks the chat-completions protocol: it always gives the first answer."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.fails = 0  # how many more requests it refuses
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append({"path": self.path, "key": self.headers.get("Authorization"), **asked})
                server.fails -= 1
                if server.fails >= 0:
                    self.send_response(503)
                    self.end_headers()
                    return
                message = {"role": "assistant", "content": 'I think.\n{"answer": 1}'}
                usage = {"prompt_tokens": 1000, "completion_tokens": 9}
                body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.http.shutdown()
    started.http.server_close()


def my_model(monkeypatch: pytest.MonkeyPatch, folder: Path, server: Server, key: str = "") -> ModuleType:
    monkeypatch.setenv("MODEL_URL", server.url)
    monkeypatch.chdir(folder)
    if key:
        monkeypatch.setenv("MODEL_KEY", key)
    spec = importlib.util.spec_from_file_location("my_model", FOLDER / "my_model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_model_behind_a_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Server) -> None:
    module = my_model(monkeypatch, tmp_path, server, key="secret")
    try:
        played = play_games([module.agent], Evergreen(1), 2, seed=1)
    finally:
        module.client.close()
    assert len(server.requests) == played.decisions.sum() == played.usage[0][0]
    assert played.usage[0].tolist()[1:3] == [1000 * len(server.requests), 9 * len(server.requests)]
    asked = server.requests[0]
    assert asked["path"] == "/v1/chat/completions" and asked["key"] == "Bearer secret"
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    logged = (tmp_path / "runs" / "calls.jsonl").read_text(encoding="utf-8")
    assert len(logged.splitlines()) == len(server.requests) and "secret" not in logged


def test_a_server_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Server) -> None:
    module = my_model(monkeypatch, tmp_path, server)
    module.agent.pause = 0.0
    try:
        server.fails = 2
        play_games([module.agent], Evergreen(1), 1, seed=1)
        assert server.requests[0]["key"] is None
        server.fails = 1_000_000
        with pytest.raises(ModelFailed, match="asking failed 3 times, at last with HTTPStatusError: Server error '503"):
            play_games([module.agent], Evergreen(1), 1, seed=1)
    finally:
        module.client.close()


def test_it_plays_in_the_command(tmp_path: Path, server: Server) -> None:
    (tmp_path / "my_model.py").write_text((FOLDER / "my_model.py").read_text(encoding="utf-8"), encoding="utf-8")
    code = "from tabletop_cli.evergreen import main; main()"
    words = ("evaluate", "model:my_model:agent", "--games", "1")
    ran = in_python(
        f"import sys; sys.argv[0] = 'evergreen'; {code}", *words, cwd=tmp_path, env={"MODEL_URL": server.url}
    )
    assert "of its games ended by no legal answer" in re.sub(r"\s+", " ", ran.stdout)


def test_a_game_by_text(tmp_path: Path) -> None:
    ran = in_python((FOLDER / "text_game.py").read_text(encoding="utf-8"), cwd=tmp_path)
    assert re.search(r"^The game is over\. Points: .*'invalid': False", ran.stdout, re.MULTILINE)
    assert (tmp_path / "game.json").stat().st_size > 100


def test_kaggles_harness() -> None:
    harness = runpy.run_path(str(FOLDER / "kaggle_harness.py"))
    state, answers = harness["game"].new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])
            continue
        moves = harness["get_legal_moves"](state)
        prompt = harness["make_prompt"](state)
        assert all(f". {text}\n" in prompt for text in moves)
        for text, action in moves.items():
            assert harness["parse_response"](f'Hm.\n{{"answer": "{text}"}}', state) == action
        assert harness["parse_response"]("I won't say.\nNo.", state) is None
        state.apply_action(harness["parse_response"]('{"answer": 1}', state))
        answers += 1
    assert answers > 40


def test_textarenas_environment() -> None:
    environment = runpy.run_path(str(FOLDER / "textarena_env.py"))["Evergreen"]()
    environment.reset(2, seed=3)
    done, seen = False, set()
    while not done:
        player, text = environment.get_observation()
        seen.add(player)
        assert len(text) < 8000
        done, info = environment.step("1")
        assert info["problem"] == ""
    rewards, info = environment.close()
    assert seen == {0, 1} and sum(rewards.values()) == 0 and info[0]["invalid"] is False


def test_the_agent_is_short() -> None:
    assert all(len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 40 for name in PROGRAMS)
