"""`python -m benchmarks.hands`: how many clicks a turn takes on the page, and how soon the page goes on after a click.

Clicks are counted in whole games in which agents have all seats. Where the page would offer a person several answers,
an answer counts as one click. A turn is a turn of the Action Phase in Petrichor, and a round of one player in
Evergreen. All decisions of a game count, also those of other phases.

The times are measured in headless Chromium. A script in the page clicks random answers of the list, with the page's
default speed. Times run from the click, within the page: until the first frame with a changed view (one's own move),
and until answers are offered again (the next question), after others and chance. Agents are `greedy`, which takes
almost no time. How soon the first question is there over a slow network is measured through a proxy that delays the
real bytes, with an empty cache and a full one: Chromium's own emulation counts messages as if nothing was compressed.
It needs Debian's `chromium` and `chromium-driver`. The results are in `docs/hands.json`; `docs/web.md` shows the times.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from contextlib import suppress
from typing import Any, Self

import httpx
import numpy as np

from benchmarks.measure import options, write_figures
from benchmarks.web import server
from petrichor_env.config import MODULES
from tabletop_engine.game import game_of
from tabletop_play.combinations import combinations
from tabletop_play.session import Session
from tests.support.browser import chromium

_ALL = {"modules": list(MODULES)}
TABLES: dict[str, dict[str, Any]] = {
    "Petrichor alone": {"game": "petrichor", "players": 1, "seats": ["here"]},
    "Petrichor, 2 players, all modules": {
        "game": "petrichor",
        "players": 2,
        "seats": ["here", "greedy"],
        "options": _ALL,
    },
    "Petrichor, 4 players, all modules": {
        "game": "petrichor",
        "players": 4,
        "seats": ["here", "greedy", "greedy", "greedy"],
        "options": _ALL,
    },
    "Evergreen alone": {"game": "evergreen", "players": 1, "seats": ["here"]},
    "Evergreen, 2 players": {"game": "evergreen", "players": 2, "seats": ["here", "greedy"]},
}
_PLAY = """
const done = arguments[1], seconds = arguments[0], { dataset } = document.body;
const offered = () => [...document.querySelectorAll("#answers button")].filter((one) => !one.disabled);
const frame = () => new Promise(requestAnimationFrame);
const asked = () => dataset.turn === "over" || (dataset.turn === "you" && offered().length > 0);
const commit = document.getElementById("commit"), moved = [], next = [], start = performance.now();
while (!asked()) await frame();
const first = performance.now();
await (async () => {
  while (performance.now() < start + 1000 * seconds && dataset.turn !== "over") {
    await new Promise((resolve) => setTimeout(resolve, 400)); // a question takes no answer at first
    const buttons = offered(), view = dataset.view, at = performance.now();
    buttons[Math.floor(Math.random() * buttons.length)].click();
    while (dataset.view === view || dataset.view === undefined) {
      if (!commit.disabled) commit.click(); // an answer that can be added to, or that loses something
      await frame();
    }
    moved.push(performance.now() - at);
    while (!asked()) await frame();
    next.push(performance.now() - at);
  }
})();
done({ moved, next, opened: first });
"""


def measured(browser: Any, url: str, order: dict[str, Any], seconds: float, seeds: int) -> dict[str, Any]:
    """The times at tables of one kind, in ms."""
    moved: list[float] = []
    following: list[float] = []
    opened: list[float] = []
    for seed in range(seeds):
        with httpx.Client(base_url=url, headers={"origin": url}, timeout=600) as client:
            made = client.post("/api/tables", json={**order, "start": {"seed": seed}}).json()
        browser.get(url + made["links"][0]["path"])
        found = browser.execute_async_script(f"(async () => {{ {_PLAY} }}).apply(null, arguments)", seconds)
        moved += found["moved"]
        following += found["next"]
        opened.append(found["opened"])
    row: dict[str, Any] = {"clicks": len(moved), "opened": round(float(np.median(opened)))}
    for name, times in (("move", moved), ("question", following)):
        row |= {f"{name}_p{share}": round(float(np.percentile(times, share))) for share in (50, 95)}
    return row


LATENCY, THROUGHPUT = 400, 50_000
"""A slow network: milliseconds for the way there and back, and bytes a second to the page."""
_IDLE = 7.0
"""Seconds after which the server has ended its idle connections."""


class SlowNetwork:
    """A proxy that delays the real bytes. A new connection waits once for the way there and back, as TCP does."""

    def __init__(self, host: str, port: int) -> None:
        self.to, self.address, self._free = (host, port), "", 0.0  # when the line to the page is free again
        self._loop = asyncio.new_event_loop()

    def __enter__(self) -> Self:
        started = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._connected, "127.0.0.1", 0), self._loop)
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.address = "{}:{}".format(*started.result().sockets[0].getsockname())
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(LATENCY / 1000)
        there, back = await asyncio.open_connection(*self.to)
        with suppress(asyncio.CancelledError):
            await asyncio.gather(self._carry(reader, back, math.inf), self._carry(there, writer, THROUGHPUT))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, rate: float) -> None:
        """Carry what comes, at most so many bytes a second on all connections; each arrives half the latency later."""
        while data := await reader.read(1460):
            now = self._loop.time()
            sent = now
            if rate < math.inf:
                sent = self._free = max(now, self._free) + len(data) / rate
            self._loop.call_at(sent + LATENCY / 2000, writer.write, data)
            await asyncio.sleep(sent - now)
        await asyncio.sleep(LATENCY / 2000)
        writer.close()


def over_slow_network(order: dict[str, Any], times: int) -> dict[str, Any]:
    """Milliseconds from opening a link to its first question, with an empty cache and a full one: medians.

    The server is one that others may reach: it compresses what it sends.
    """
    opened: dict[str, list[float]] = {"empty": [], "full": []}
    with server("0.0.0.0") as (address, _):
        url = address.partition("/?")[0]
        host, _, port = url.removeprefix("http://").rpartition(":")
        with (
            SlowNetwork(host, int(port)) as slow,
            chromium(f"--host-resolver-rules=MAP {host} {slow.address}") as browser,
        ):
            browser.set_script_timeout(120)
            browser.get(address)  # it keeps the token, as the client does
            for _ in range(times):
                with httpx.Client(base_url=url, headers={"origin": url}, timeout=600) as client:
                    client.get(address)
                    path = client.post("/api/tables", json=order).json()["links"][0]["path"]
                browser.execute_cdp_cmd("Network.clearBrowserCache", {})
                for found in opened.values():
                    time.sleep(_IDLE)  # each page has to connect
                    browser.get(url + path)
                    script = f"(async () => {{ {_PLAY} }}).apply(null, arguments)"
                    found.append(browser.execute_async_script(script, 0)["opened"])
    about = {"latency": LATENCY, "throughput": THROUGHPUT, "times": times}
    return {**about, **{cache: round(float(np.median(found))) for cache, found in opened.items()}}


CLICKS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("Petrichor alone", "petrichor_env", {"players": 1}, "turn"),
    ("Petrichor, 2 players, all modules", "petrichor_env", {"players": 2, **_ALL}, "turn"),
    ("Petrichor, 4 players, all modules", "petrichor_env", {"players": 4, **_ALL}, "turn"),
    ("Evergreen alone", "evergreen_env", {"players": 1}, "draft"),
    ("Evergreen, 2 players", "evergreen_env", {"players": 2}, "draft"),
)
"""Names, games, settings, and the decision that begins a turn."""


def clicks_of(home: str, settings: dict[str, Any], turn: str, name: str, seeds: int) -> dict[str, Any]:
    """The answers and the clicks of a turn, as means over whole games."""
    game = game_of(home)
    config = game.config(**settings)
    turns = answers = clicks = 0
    offered: list[int] = []
    for seed in range(seeds):
        session = Session(config, dict.fromkeys(range(config.players), name), seed=seed)
        while not session.over:
            session.let_agent_act()
        replay, at = session.replay, 0
        states = replay.states
        turns += int((states["decision"][:-1] == game.decisions.index(turn)).sum())
        answers += len(replay.actions)
        while at < len(replay.actions):
            found = [one.actions for one in combinations(game, states[at], session.tables)]
            given = [one for one in found if replay.actions[at : at + len(one)] == one]
            at += len(given[0])
            clicks += len(found) > 1
            offered += [len(found)] * (len(found) > 1)
    return {
        "agent": name,
        "games": seeds,
        "answers": round(answers / turns, 2),
        "clicks": round(clicks / turns, 2),
        "offered": round(float(np.mean(offered)), 1),
    }


def main() -> None:
    given = options(
        __doc__,
        seconds=(30.0, "of each game"),
        games=(2, "of each kind"),
        opened=(5, "times that a link is opened over a slow network"),
        clicked=(20, "games in which clicks are counted, of each kind"),
    )
    load = round(os.getloadavg()[0], 1)  # processes that need a core, before the measurement
    clicks = []
    for name, home, settings, turn in CLICKS:
        for agent in ("random", "greedy"):
            clicks.append({"game": name, **clicks_of(home, settings, turn, agent, given.clicked)})
            print(clicks[-1], flush=True)
    rows = {}
    with server() as (url, _), chromium() as browser:
        browser.set_window_size(1280, 900)
        browser.set_script_timeout(given.seconds + 120)
        for name, order in TABLES.items():
            measured(browser, url, order, 3, 1)  # code that is compiled or loaded the first time must not count
            rows[name] = measured(browser, url, order, given.seconds, given.games)
            print(name, rows[name], flush=True)
    slow = over_slow_network(TABLES["Petrichor alone"], given.opened)
    print(slow, flush=True)
    write_figures(given.json, load=load, tables=rows, clicks=clicks, slow=slow)


if __name__ == "__main__":
    main()
