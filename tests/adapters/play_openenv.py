"""Games through OpenEnv's server and clients: prints their results as JSON."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from openenv.core import GenericEnvClient
from openenv.core.client_types import StepResult

SERVER = "tabletop_text.openenv_server"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            if requests.get(f"{address}/health", timeout=1).ok:
                return
        except requests.RequestException:
            time.sleep(0.2)
    raise RuntimeError("the server does not answer")


def told(result: StepResult[Any]) -> list[Any]:
    """What a client is told at one step."""
    seen = result.observation
    parts = [seen[name] for name in ("text", "question", "answers", "problem", "message")]
    return [*parts, result.reward, result.done, seen["metadata"]]


def first(result: StepResult[Any]) -> dict[str, Any]:
    return {"reply": json.dumps({"answer": result.observation["answers"][0]})}


def last(result: StepResult[Any]) -> dict[str, Any]:
    return {"reply": str(len(result.observation["answers"]))}


def whole_game(client: Any, seed: int) -> dict[str, Any]:
    result = client.reset(seed=seed)
    told_all = [told(result)]
    while not result.done:
        result = client.step(first(result))
        told_all.append(told(result))
    return {"told": told_all, "state": client.state()}


def two_at_once(address: str, seed: int) -> dict[str, Any]:
    """Two connections play the same seed in turns, one with the first answers, one with the last ones."""
    games: list[list[Any]] = [[], []]
    with GenericEnvClient(base_url=address).sync() as one, GenericEnvClient(base_url=address).sync() as two:
        results = [one.reset(seed=seed), two.reset(seed=seed)]
        while not all(result.done for result in results):
            for i, (client, player) in enumerate(((one, first), (two, last))):
                if not results[i].done:
                    results[i] = client.step(player(results[i]))
                    games[i].append(told(results[i]))
    return {"first": games[0], "last": games[1]}


def never_legal(client: Any, seed: int) -> list[Any]:
    client.reset(seed=seed)
    result = client.step({"reply": "I am not sure.\nNothing seems right.", "truncated": True})
    problems = [result.observation["problem"]]
    while not result.done:
        result = client.step({"reply": "nothing of the kind"})
        problems.append(result.observation["problem"])
    return [problems, *told(result)]


def answer_to_a_mistake(client: Any, **arguments: Any) -> str:
    try:
        client.reset(**arguments)
    except Exception as error:  # the client's own kinds of errors are no part of its interface
        return str(error)
    return ""


@contextmanager
def serving(*command: str, **variables: str) -> Iterator[str]:
    """The address of a server: a module and its arguments, to which a free port is added."""
    port = free_port()
    arguments = [sys.executable, "-m", *command, "--port", str(port)]
    server = subprocess.Popen(arguments, env={**os.environ, **variables}, stdout=sys.stderr)
    try:
        wait_for(address := f"http://127.0.0.1:{port}", server)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def places(home: str) -> None:
    """Two clients take both places and do nothing. Others are refused until the places are given back."""

    def taken(address: str) -> str:
        request: Any = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
        answer = requests.post(f"{address}/mcp", json=request, timeout=10).json()
        return str(answer["error"]["message"]) if "error" in answer else ""

    with (
        serving(SERVER, home, "--sessions", "2", "--idle", "1") as address,
        GenericEnvClient(base_url=address).sync() as silent,
    ):
        result = silent.reset(seed=1)
        seen: dict[str, Any] = {"at_first": [taken(address), taken(address)], "tries": 0}
        while taken(address) and seen["tries"] < 600:
            seen["tries"] += 1
            time.sleep(0.2)
        seen["problem"] = told(silent.step(first(result)))[3]
    print(json.dumps(seen))


def main(home: str, players: str, seed: str) -> None:
    config = {"players": int(players)}
    if players == "2":
        server = serving(SERVER, home, "--config", json.dumps(config))
    else:  # as the tools that read openenv.yaml start it
        described = json.dumps({"game": home, "config": config})
        server = serving("uvicorn", f"{SERVER}:app", TABLETOP_TEXT_GAME=described)
    with server as address, GenericEnvClient(base_url=address).sync() as client:
        played = {
            "whole": whole_game(client, int(seed)),
            "invalid": never_legal(client, int(seed)),
            "mistake": answer_to_a_mistake(client, seed=2**32),
            "unseeded": [told(client.reset()) for _ in range(2)],
            "running": client.state()["seed"],
            "two": two_at_once(address, int(seed)),
            "metadata": requests.get(f"{address}/metadata", timeout=10).json(),
            "schema": sorted(requests.get(f"{address}/schema", timeout=10).json()["observation"]["properties"]),
        }
    print(json.dumps(played))


if __name__ == "__main__":
    places(sys.argv[1]) if len(sys.argv) == 2 else main(*sys.argv[1:])
