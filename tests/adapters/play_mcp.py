"""Plays through the SDK's own client; prints what it saw as JSON. `python play_mcp.py PART`, with a part of `PARTS`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tabletop_play.catalogue import Catalogue
from tabletop_text import mcp_server
from tabletop_text.tools import Player

Call = Callable[[str, dict[str, Any]], Awaitable[tuple[str, bool]]]
MOST_CALLS = 2000
SECONDS = 60


def command(game: str, *options: str) -> list[str]:
    """The command of a game, as its users start it."""
    return [sys.executable, "-m", f"{game}_env", "mcp", *options]


def over_stdio(game: str, mode: str) -> Client:
    first, *others = command(game)
    return Client(stdio_client(StdioServerParameters(command=first, args=others, env=dict(os.environ))), mode=mode)


def calls_of(client: Client, **more: str) -> Call:
    """Calls of tools: their text, and whether it is an error."""

    async def call(tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        named = more if tool != "new_game" else {}
        result = await client.call_tool(tool, {**named, **arguments})
        (content,) = result.content
        return content.text, result.is_error

    return call


async def whole_game(call: Call, **settings: Any) -> dict[str, Any]:
    """Play a game to its end with random answers, given in every form."""
    choose = random.Random(7)
    first, failed = await call("new_game", settings)
    assert not failed, first
    said, text, errors, calls = [first], first, 0, 0
    while "The game is over." not in text:
        calls += 1
        assert calls < MOST_CALLS
        listed, _ = await call("legal", {})
        answers = re.findall(r"^\d+\. (.*)$", listed, re.MULTILINE)
        number = choose.randrange(len(answers))
        words = answers[number]
        forms = [number + 1, words, [words], [number + 1], json.dumps({"answer": words}), [words, "no such answer"]]
        text, failed = await call("act", {"answer": choose.choice(forms)})
        said.append(text)
        errors += failed
    look, _ = await call("look", {})
    rules, _ = await call("rules", {})
    over, over_fails = await call("act", {"answer": 1})
    assert over_fails and "new_game starts another" in over
    digest = hashlib.sha256("\0".join(said).encode()).hexdigest()
    return {"calls": calls, "errors": errors, "end": look, "rules": rules, "first": first, "digest": digest}


async def alone(game: str, **settings: Any) -> dict[str, Any]:
    """The same game without a server."""
    catalogue = Catalogue([f"{game}_env.game"])
    player = Player(catalogue, catalogue.game(game))

    async def call(tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        return tuple(player.call(tool, arguments))  # type: ignore[return-value]

    return await whole_game(call, **settings)


async def games(game: str) -> list[dict[str, Any]]:
    """Whole games alone and with opponents, in both kinds of the protocol."""
    played = []
    for mode, settings in (
        ("legacy", {"players": 1, "seed": 5}),
        ("auto", {"players": 2, "seed": 6, "opponents": ["random"], "seat": 1, "answers": "words", "board": "full"}),
    ):
        async with over_stdio(game, mode) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            result = await whole_game(calls_of(client), **settings)
            without = await alone(game, **settings)
            played.append({**result, "tools": listed, "same": result["digest"] == without["digest"]})
    return played


async def words() -> list[tuple[str, str, bool]]:
    """The answers to bad input: the name of each call, its text, and whether it is an error."""
    bad: list[tuple[str, str, dict[str, Any]]] = [
        ("no game", "look", {}),
        ("players", "new_game", {"players": 9}),
        ("no number", "new_game", {"players": "two"}),
        ("own class", "new_game", {"players": 2, "opponents": ["os:system"]}),
        ("a file", "new_game", {"players": 2, "opponents": ["policy:/etc/passwd"]}),
        ("a model", "new_game", {"players": 2, "opponents": ["model:os:system"]}),
        ("components", "new_game", {"options": {"components": "/etc/passwd"}}),
        ("option", "new_game", {"options": {"modules": ["no_such_module"]}}),
        ("solo opponents", "new_game", {"players": 1, "opponents": ["greedy"]}),
        ("argument", "new_game", {"path": "x"}),
        ("seat", "new_game", {"players": 2, "seat": 5}),
        ("board", "new_game", {"board": "big"}),
        ("seed", "new_game", {"seed": -1}),
        ("tool", "no_such_tool", {}),
        ("started", "new_game", {"players": 1, "seed": 1, "answers": "hidden", "board": "none", "rules": False}),
        ("nothing to undo", "undo", {}),
        ("megabyte", "act", {"answer": "play " * 200_000}),
        ("megabyte of lines", "act", {"answer": "a card\n" * 150_000}),
        ("control characters", "act", {"answer": "\x1b[2J\x00\x07"}),
        ("control characters in a name", "new_game", {"players": 2, "opponents": ["\x1b[2J\x00"]}),
        ("long name", "new_game", {"players": 2, "opponents": ["x" * 1_000_000]}),
        ("empty list", "act", {"answer": []}),
        ("long list", "act", {"answer": ["1"] * 10_000}),
        ("object", "act", {"answer": {"answer": "1"}}),
        ("no answer", "act", {}),
        ("huge number", "act", {"answer": 10**30}),
        ("listed", "legal", {}),
        ("shown", "look", {}),
        ("answered", "act", {"answer": 1}),
        ("undone", "undo", {}),
    ]
    async with over_stdio("petrichor", "legacy") as client:
        call = calls_of(client)
        return [(name, *(await call(tool, arguments))) for name, tool, arguments in bad]


@contextmanager
def http_server(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen(
        command("petrichor", "--http", "--port", "0", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0], process
    finally:
        process.kill()
        process.communicate()


async def sessions() -> dict[str, Any]:
    """Two clients at once; then more games than are kept; then clients without sessions; then the end by Ctrl-C."""
    chosen: list[dict[str, Any]] = [{"players": 1, "seed": 11}, {"players": 2, "seed": 12, "opponents": ["greedy"]}]
    with http_server("--games", "2") as (url, process):
        async with Client(url, mode="legacy") as one, Client(url, mode="legacy") as other:
            calls = [calls_of(one), calls_of(other)]
            before = [await call("look", {}) for call in calls]
            played = await asyncio.gather(*(whole_game(call, **s) for call, s in zip(calls, chosen, strict=True)))
            without = [await alone("petrichor", **settings) for settings in chosen]
            async with Client(url, mode="legacy") as third:
                await calls_of(third)("new_game", {"seed": 1})
            dropped = [await call("look", {}) for call in calls]
        handles = []
        async with Client(url) as one, Client(url) as other:
            listed = (await one.list_tools()).tools
            for client, settings in zip((one, other), chosen, strict=True):
                text, _ = await calls_of(client)("new_game", settings)
                handles.append(re.findall(r'give the other tools game="(\w+)"', text)[0])
            looks = [
                await calls_of(one, game=handles[0])("look", {}),
                await calls_of(other, game=handles[1])("look", {}),
            ]
            unnamed = await calls_of(one)("look", {})
            unknown = await calls_of(one, game="0" * 16)("look", {})
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    return {
        "before": before,
        "same": [a["digest"] == b["digest"] for a, b in zip(played, without, strict=True)],
        "dropped": dropped,
        "required": {tool.name: tool.input_schema["required"] for tool in listed},
        "handles": handles,
        "looks": looks,
        "unnamed": unnamed,
        "unknown": unknown,
        "status": process.returncode,
        "said": said,
    }


# --- ends ------------------------------------------------------------------------------------------------------------

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
SLOW = {"players": 5, "opponents": ["ismcts-9999ms"], "seat": 4, "seed": 1}
"""A game in which the others first think for more than half a minute."""


def started(*more: tuple[int, str, dict[str, Any]]) -> subprocess.Popen[str]:
    """A server that was sent these requests. Only the answer to `initialize` was waited for."""
    process = subprocess.Popen(
        command("petrichor"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None and process.stdout is not None
    for number, method, params in [(1, "initialize", HELLO), *more]:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=process.stdin)
        process.stdin.flush()
        if number == 1:
            assert json.loads(process.stdout.readline())["id"] == 1
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), file=process.stdin)
    process.stdin.flush()
    return process


def ended(process: subprocess.Popen[str], number: int | None) -> dict[str, Any]:
    """How it ended, by a signal or because stdin closed."""
    start = time.monotonic()
    if number is not None:
        process.send_signal(number)
        process.wait(SECONDS)  # stdin stays open
    out, err = process.communicate(timeout=SECONDS)
    lines = [json.loads(line) for line in out.splitlines()]
    return {"status": process.returncode, "said": err, "lines": len(lines), "seconds": time.monotonic() - start}


async def ends() -> dict[str, Any]:
    """Servers that end: idle, in a search, and with a client that sends no messages or reads none."""
    slow = (2, "tools/call", {"name": "new_game", "arguments": SLOW})
    result = {}
    for name, number in (("stdin", None), ("term", signal.SIGTERM), ("interrupt", signal.SIGINT)):
        result[name] = ended(started(), number)
        process = started(slow)
        time.sleep(3)
        result[f"{name} in a search"] = ended(process, number)
    process = started()
    assert process.stdin is not None
    process.stdin.write('no json\n[]\n{"jsonrpc": "2.0"}\n\n{"a": ' + "[" * 100_000 + "\n")
    result["no messages"] = ended(process, None)
    rules = ((number, "tools/call", {"name": "rules", "arguments": {}}) for number in range(2, 200))
    process = started(*rules)  # more than a pipe holds, and nobody reads
    time.sleep(3)
    result["unread"] = {"seconds": 0.0, "lines": 0} | ended_unread(process)
    return result


def ended_unread(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdin is not None and process.stderr is not None
    process.stdin.close()
    status = process.wait(SECONDS)
    return {"status": status, "said": process.stderr.read()}


async def long_line() -> dict[str, Any]:
    """Lines as the server reads them, the first of 20 MB; and a server that gets such a line, then a message."""
    read, write = os.pipe()

    def written() -> None:
        with os.fdopen(write, "wb") as file:
            file.write(b"x" * 20_000_000 + b"\nshort\n\n")

    writing = Thread(target=written)
    writing.start()
    lengths = [len(line) async for line in mcp_server._Lines(read)]
    writing.join()
    process = started()
    assert process.stdin is not None
    process.stdin.write("[" * 20_000_000 + "\n")
    print(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}), file=process.stdin, flush=True)
    return {"lengths": lengths, **ended(process, None)}


PARTS: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
    "petrichor": lambda: games("petrichor"),
    "evergreen": lambda: games("evergreen"),
    "words": words,
    "sessions": sessions,
    "ends": ends,
    "long line": long_line,
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(PARTS[sys.argv[1]]())))
