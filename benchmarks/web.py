"""`python -m benchmarks.web`: how fast the page's server answers many games at once, and what memory it needs.

The server runs in its own process. Random clients in this process talk to it as browsers do. A third of the tables play
Petrichor alone, a third play with three players, two of them agents, and a third play Evergreen with two people on two
devices. The time of an answer is counted from sending it to the view that follows it, before agents continue. Between
two answers a client waits `think` seconds on average, at random. `docs/web.md` shows the results, which are in
`docs/web.json`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.client import connect
from websockets.typing import Origin

from benchmarks.measure import options, write_figures

TABLES = (
    {"game": "petrichor", "players": 1, "seats": ["here"]},
    {"game": "petrichor", "players": 3, "seats": ["here", "greedy", "greedy"]},
    {"game": "evergreen", "players": 2, "seats": ["apart", "apart"]},
)
_THINK_OF_MANY = 0.05
"""Seconds between answers, on average, in the runs that only count games."""


@dataclass
class Count:
    """The measurements of the clients."""

    milliseconds: list[float] = field(default_factory=list)  # of each answer
    games: int = 0  # that have ended
    refused: int = 0


@contextmanager
def server(host: str = "127.0.0.1") -> Iterator[tuple[str, int]]:
    """A server: its address, with a token if others may reach it there, and the number of its process."""
    code = "import sys; from tabletop_cli.petrichor import main; main(sys.argv[1:])"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", code, "web", "--host", host, "--port", "0", "--folder", folder]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            found = re.search(r"http://[^/]+(/\?token=[\w-]+)?", process.stdout.readline())
            assert found is not None
            yield found[0], process.pid
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def memory_of(process: int) -> float:
    """The memory of a process in MB; NaN on systems that do not tell it."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def play(url: str, path: str, think: float, count: Count, generator: np.random.Generator) -> None:
    """Play a game to its end as the page of one link, with random answers."""
    address = f"ws{url.removeprefix('http')}/api/table/{path.rpartition('/')[2]}"
    async with connect(address, origin=Origin(url), max_size=None) as socket:
        sent, answered = 0.0, -1
        async for text in socket:
            message = json.loads(text)
            count.refused += "error" in message
            view = message.get("view")
            if view is None:
                continue
            if sent and view["number"] > answered:
                count.milliseconds.append(1000 * (time.perf_counter() - sent))
                sent = 0.0
            if view["turn"] == "over":
                return
            if view["turn"] == "you":
                await asyncio.sleep(float(generator.exponential(think)))
                actions = view["answers"][generator.integers(len(view["answers"]))]["actions"]
                answered, sent = view["number"], time.perf_counter()
                order = {"id": answered, "do": "answer", "view": answered, "actions": actions}
                await socket.send(json.dumps(order))


async def games(url: str, tables: int, think: float, seconds: float, most: int, count: Count) -> None:
    """Play at this many tables at a time, until the time is over or this many games have ended."""
    until = time.perf_counter() + seconds
    started = 0

    async def seat(number: int, client: httpx.AsyncClient) -> None:
        nonlocal started
        generator = np.random.default_rng(number)
        await asyncio.sleep(float(generator.uniform(0, 1)))  # not all at the same moment
        while time.perf_counter() < until and started < most:
            started += 1
            order = TABLES[started % len(TABLES)]
            made = (await client.post("/api/tables", json=order)).json()
            pages = (play(url, link["path"], think, count, generator) for link in made["links"])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*pages), until - time.perf_counter())
                count.games += 1

    async with httpx.AsyncClient(base_url=url, headers={"origin": url}, timeout=600) as client:
        for order in TABLES:  # code that is compiled or loaded the first time must not count
            await client.post("/api/tables", json=order)
        await asyncio.gather(*(seat(number, client) for number in range(tables)))


def answers_in(url: str, tables: int, think: float, seconds: float) -> dict[str, Any]:
    """Measure the answers' times while clients think this long."""
    count = Count()
    start = time.perf_counter()
    asyncio.run(games(url, tables, think, seconds, sys.maxsize, count))
    wanted = {"median": 50, "p95": 95, "p99": 99}
    times = {name: round(float(np.percentile(count.milliseconds, share)), 1) for name, share in wanted.items()}
    rate = len(count.milliseconds) / (time.perf_counter() - start)
    assert not count.refused
    return {"think": think, "answers_per_second": round(rate, 1), **times}


def memory_over(url: str, process: int, tables: int, number: int, steps: int) -> list[dict[str, Any]]:
    """Measure the server's memory after these numbers of games."""
    rows, played = [], 0
    for _ in range(steps):
        count = Count()
        asyncio.run(games(url, tables, _THINK_OF_MANY, 1e9, number // steps, count))
        played += count.games
        assert not count.refused
        rows.append({"games": played, "megabytes": round(memory_of(process), 1)})
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    given = options(
        __doc__,
        tables=(50, "games at once"),
        seconds=(60.0, "of each measurement of answers"),
        games=(1000, "over which memory is watched"),
    )
    with server() as (url, process):
        answers = []
        for think in (4.0, 2.0, 1.0):
            answers.append(answers_in(url, given.tables, think, given.seconds))
            print(answers[-1], flush=True)
        memory = memory_over(url, process, given.tables, given.games, steps=5)
    write_figures(given.json, tables=given.tables, answers=answers, memory=memory)


if __name__ == "__main__":
    main()
