"""Games through verifiers' own `run_eval`, in verifiers' environment; prints the results.

The model is a server on this machine that speaks the chat-completions protocol; a function gives its replies.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

Reply = Callable[[list[dict[str, Any]]], tuple[str, str]]
PLAYERS: dict[str, Reply] = {
    "first": lambda _: ('The first.\n{"answer": "1"}', "stop"),
    "nonsense": lambda _: ("I would rather not.", "stop"),
    "cut off": lambda _: ("I look at the board.\nThe best answer could", "length"),
}


@contextmanager
def served(reply: Reply, asked: list[list[dict[str, Any]]]) -> Iterator[str]:
    """The address of a model with these replies; what it is asked is appended to `asked`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
            asked.append(messages)
            text, reason = reply(messages)
            choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text}}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
            raw = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def evaluated(taskset: dict[str, Any], player: str, limits: dict[str, Any]) -> dict[str, Any]:
    """The rewards and metrics of all games, and how long the conversations were."""
    asked: list[list[dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder, served(PLAYERS[player], asked) as address:
        config = EvalConfig(
            env={"taskset": {"id": "board_games", **taskset}, "player": limits},
            model="scripted",
            client={"type": "eval", "base_url": address, "api_key_var": "NO_KEY"},
            push=False,
            rich=None,
            output_dir=folder,
            max_concurrent=2,
        )
        episodes = asyncio.run(run_eval(config))
    games = []
    for episode in episodes:
        [trace] = episode.traces
        data = trace.task.data
        games.append(
            {"seed": data.seed, "seat": data.seat, "metrics": trace.metrics, "reward": trace.reward}
            | {"ok": episode.ok, "errors": [one.message for one in [*episode.errors, *trace.errors]]}
            | {"stop": trace.stop_condition, "branches": trace.num_branches, "turns": trace.num_turns}
        )
    return {"games": games, "longest": max(map(len, asked), default=0), "last": [m["content"] for m in asked[-1]]}


if __name__ == "__main__":
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):  # the model is on this machine
        os.environ.pop(name, None)
    given = json.loads(sys.argv[1])
    print(json.dumps([evaluated(*one) for one in given]))
