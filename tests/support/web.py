"""A server of pages in this process, and pages without a browser that talk to it."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import httpx
import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tabletop_cli.play import SHIPPED
from tabletop_play.web import app
from tabletop_play.web.server import Site
from tests.support.effort import THOROUGH

SECONDS = 60.0
"""How long to wait for what usually takes a moment, on a busy machine."""

BROWSER = "the-same-browser"
"""What the browser of all pages calls itself, unless a test says otherwise."""


class Server:
    """A server that runs in a thread."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.url = site.url_of("").partition("?")[0]
        self.http = httpx.Client(base_url=self.url, headers={"origin": self.url}, timeout=600)
        self._thread = threading.Thread(target=site.run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        self.http.get("/")  # it waits until the server is there

    def stop(self) -> None:
        """Stop the server and save all games. A second call does nothing."""
        self.http.close()
        self.site.server.should_exit = True
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()

    def make(self, game: str, seats: Sequence[str], **order: Any) -> list[str]:
        """Make a table; returns the paths of its links."""
        request = {"game": game, "players": len(seats), "seats": list(seats), **order}
        answer = self.http.post("/api/tables", json=request)
        assert answer.status_code == 200, answer.text
        return [link["path"] for link in answer.json()["links"]]

    def refused(self, **order: Any) -> str:
        """The answer to a request for a table that is not possible."""
        answer = self.http.post("/api/tables", json=order)
        assert answer.status_code == 400
        return str(answer.json()["error"])

    def open(self, path: str, browser: str = BROWSER) -> Page:
        """A page of a link, after its first view."""
        page = Page(self.connect(path, browser))
        page.wait()
        return page

    def connect(self, path: str, browser: str = BROWSER, **options: Any) -> AbstractContextManager[ClientConnection]:
        """A socket of a link, for a `with`. `browser`: what the page's browser calls itself."""
        address = f"ws{self.url.removeprefix('http')}/api/table/{path.rpartition('/')[2]}?browser={browser}"
        return connect(address, **{"origin": self.url, "max_size": None, "open_timeout": SECONDS, **options})


class Page:
    """What a browser's page does, without a browser."""

    def __init__(self, context: AbstractContextManager[ClientConnection]) -> None:
        self._context = context
        self.socket = context.__enter__()
        self.view: dict[str, Any] = {}
        self.people: dict[str, Any] = {}
        self.clock: dict[str, Any] = {}
        self.got: list[dict[str, Any]] = []  # all messages
        self._ids = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._context.__exit__(None, None, None)

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.recv(SECONDS))
        self.got.append(message)
        self.view = message.get("view", self.view)
        self.people = message.get("people", self.people)
        self.clock = message.get("clock", self.clock)
        return message

    def wait(self) -> dict[str, Any]:
        """The next view."""
        while "view" not in self.receive():
            pass
        return self.view

    def until(self, *turns: str) -> dict[str, Any]:
        """The first view, from the present one on, with one of these turns."""
        while self.view["turn"] not in turns:
            self.wait()
        return self.view

    def ask(self, do: str, **content: Any) -> dict[str, Any]:
        """Send a message and wait for its reply. If it was one message too many for now, send it again."""
        while True:
            self._ids += 1
            self.socket.send(json.dumps({"id": self._ids, "do": do, **content}))
            while "reply" not in (message := self.receive()):
                pass
            if "too many messages" not in message.get("error", ""):
                return message
            time.sleep(0.2)

    def answer(self, actions: Sequence[int], view: int | None = None) -> dict[str, Any]:
        return self.ask("answer", actions=list(actions), view=self.view["number"] if view is None else view)

    def play_out(self, seed: int = 0) -> dict[str, Any]:
        """Random answers, until the game is over."""
        generator = np.random.default_rng(seed)
        while self.until("you", "handover", "over")["turn"] != "over":
            if self.view["turn"] == "handover":
                assert "error" not in self.ask("here")
                continue
            number = self.view["number"]
            answers = self.view["answers"]
            told = self.answer(answers[generator.integers(len(answers))]["actions"])
            assert "error" not in told, (told, number, self.view["number"], self.view["turn"])
            while self.view["number"] == number:
                self.wait()
        return self.view

    @property
    def board(self) -> str:
        """The present board as SVG."""
        return "".join(self.view["parts"][number] for number in self.view["board"])


class Listening:
    """A page in this process that remembers all it gets."""

    def __init__(self) -> None:
        self.got: list[str] = []

    def push(self, text: str) -> None:
        self.got.append(text)

    def all(self, what: str) -> list[dict[str, Any]]:
        """What it got of a kind, such as its views."""
        return [message[what] for message in map(json.loads, self.got) if what in message]


def play_out(*pages: Page) -> None:
    """Give random answers on all these pages, until their game is over."""
    with ThreadPoolExecutor(len(pages)) as threads:
        for played in [threads.submit(page.play_out) for page in pages]:
            played.result()


def closing_words(socket: ClientConnection) -> str:
    """What a page is told when it has to leave at once."""
    words = ""
    try:
        while True:
            words = json.loads(socket.recv(SECONDS)).get("closing", words)
    except ConnectionClosed:
        return words


def page_in_a_hurry(folder: Path) -> Path:
    """A copy of the page's files that lets a tenth of the usual time pass before an answer can be given."""
    copied = Path(shutil.copytree(app._PAGE, folder))
    slips = (copied / "slips.js").read_text(encoding="utf-8")
    for name, usual in (("FIRST", 300), ("TWICE", 1000)):
        assert slips.count(f"const {name} = {usual};") == 1, "slips.js has other words for its times"
        slips = slips.replace(f"const {name} = {usual};", f"const {name} = {usual // 10};")
    (copied / "slips.js").write_text(slips, encoding="utf-8")
    return copied


@contextmanager
def serving(folder: Path, hurried: bool = False, **options: Any) -> Iterator[Server]:
    """A server of both games on a free port; `resume` loads the games that the folder keeps.

    `hurried`: in `make test` its page is a `page_in_a_hurry`, since most of the time of a game in a browser is waiting
    for questions to take an answer. `make test-slow` has the page as it is.
    """
    resume = options.pop("resume", False)
    files = page_in_a_hurry(folder.with_name(f"{folder.name}-page")) if hurried and not THOROUGH else app._PAGE
    with patch.object(app, "_PAGE", files):
        site = Site.at(SHIPPED, folder=folder, **{"port": 0, **options})
    if resume:
        site.tables.resume()
    server = Server(site)
    server.start()
    try:
        yield server
    finally:
        server.stop()
