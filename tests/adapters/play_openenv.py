"""Games through OpenEnv's server and clients: prints their results as JSON."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from typing import Any

import requests
from openenv.core import GenericEnvClient
from openenv.core.client_types import StepResult

SERVER = "tabletop_agents.text.openenv_server"


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


def main(home: str, players: str, seed: str) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    config = {"players": int(players)}
    if players == "2":
        command = [sys.executable, "-m", SERVER, home, "--config", json.dumps(config), "--port", str(port)]
        variables = dict(os.environ)
    else:  # as the tools that read openenv.yaml start it
        command = [sys.executable, "-m", "uvicorn", f"{SERVER}:app", "--port", str(port)]
        variables = {**os.environ, "TABLETOP_TEXT_GAME": json.dumps({"game": home, "config": config})}
    server = subprocess.Popen(command, env=variables, stdout=sys.stderr)
    try:
        wait_for(address, server)
        with GenericEnvClient(base_url=address).sync() as client:
            played = {
                "whole": whole_game(client, int(seed)),
                "invalid": never_legal(client, int(seed)),
                "mistake": answer_to_a_mistake(client, seed=2**32),
                "unseeded": [client.reset() and client.state()["seed"] for _ in range(2)],
                "two": two_at_once(address, int(seed)),
                "metadata": requests.get(f"{address}/metadata", timeout=10).json(),
                "schema": sorted(requests.get(f"{address}/schema", timeout=10).json()["observation"]["properties"]),
            }
    finally:
        server.terminate()
        server.wait(30)
    print(json.dumps(played))


if __name__ == "__main__":
    main(*sys.argv[1:])
