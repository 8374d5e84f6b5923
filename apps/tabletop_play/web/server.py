"""The command `web`: a server on this machine that serves the games' pages."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer

import uvicorn

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.batch import usable_cores
from tabletop_engine.replays.files import check_name
from tabletop_engine.text.words import counted
from tabletop_play.catalogue import Catalogue
from tabletop_play.listening import listen, server_of
from tabletop_play.session import Session
from tabletop_play.web.app import LOCAL_NAMES, LOOPBACK, make_app
from tabletop_play.web.messages import MOST_BYTES
from tabletop_play.web.table_store import TableStore
from tabletop_play.web.tables import new_link

PORT = 8321
_MOST_CONNECTIONS = 1000
_TURN_OF_THREADS = 0.001
"""Seconds that a thread may go on while another waits. With Python's 5 ms, answers would wait for agents and boards."""


@dataclass
class Site:
    """A server that is ready to run. `url_of` turns a path into its address for other devices."""

    tables: TableStore
    server: uvicorn.Server
    listening: socket.socket
    threads: ThreadPoolExecutor
    url_of: Callable[[str], str]

    @classmethod
    def at(
        cls,
        homes: Sequence[str],
        *,
        host: str = LOOPBACK,
        port: int | None = None,
        folder: Path,
        agents: Sequence[str] = (),
    ) -> Site:
        """A server for these games. Arguments as of `main`, which says what is raised."""
        catalogue = Catalogue(homes, agents)
        for name in agents:
            _check_agent(catalogue, name)
        threads = ThreadPoolExecutor(usable_cores(), "agents")
        tables = TableStore(catalogue, folder, threads)
        listening = _listen(host, port)
        inside = _is_loopback(host)
        token = "" if inside else secrets.token_urlsafe(16)
        port = listening.getsockname()[1]
        names = LOCAL_NAMES if inside else (*LOCAL_NAMES, host.lower(), socket.gethostname().lower())
        url_of = partial(_url_of, host, port, token)
        app = make_app(tables, names=names, port=port, any_address=not inside, token=token, url_of=url_of)
        server = server_of(
            app,
            _MOST_CONNECTIONS,
            log_level="warning",
            ws="websockets-sansio",
            ws_max_size=2 * MOST_BYTES,  # a message that is a little too long gets an answer in words
            ws_per_message_deflate=not inside,  # costs 2 ms a view, and saves more only over a network
        )
        return cls(tables, server, listening, threads, partial(url_of, LOOPBACK))

    def run(self) -> None:
        """Serve until a signal comes, or until `server.should_exit`."""
        # after a second Ctrl-C uvicorn would print a traceback, which helps nobody
        logging.getLogger("uvicorn.error").addFilter(lambda record: "CancelledError" not in record.getMessage())
        interval = sys.getswitchinterval()
        sys.setswitchinterval(_TURN_OF_THREADS)
        try:
            self.server.run([self.listening])
        except KeyboardInterrupt:  # raised again when all is kept
            pass
        finally:
            sys.setswitchinterval(interval)
            self.threads.shutdown(wait=False, cancel_futures=True)


@checked
def main(
    homes: Sequence[str],
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    folder: Path = Path("runs/web"),
    resume: bool = False,
    agents: Sequence[str] = (),
    session: Session | None = None,
    opens: bool = False,
) -> None:
    """Serve the page until Ctrl-C.

    Arguments:
        homes: the games' modules by their names with dots.
        host: the address to listen on. Any address other than 127.0.0.1 lets other devices in; they need the token of
            the printed link.
        port: None for `PORT`, or another one if that is taken; 0 for any free port.
        folder: where games are saved. resume: load the games that are there.
        agents: names of further agents that pages may choose: checkpoints, and classes of your own.
        session: a game to start with. Its link is printed instead of the start page's.
        opens: open the browser.

    Raises ConfigError if it can't listen there, and for agents that do not exist; TabletopError if the folder can't be
    created, if another process writes there, and at the end if some games could not be saved.
    """
    site = Site.at(homes, host=host, port=port, folder=folder, agents=agents)
    path = "/"
    if resume:
        print(f"Taken up again from {folder}: {counted(site.tables.resume(), 'table')}.")
    elif kept := sum(1 for _ in folder.glob("*.links")):
        print(f"{folder} keeps {counted(kept, 'table')} of earlier starts; only --resume opens them.")
    if session is not None:
        link = new_link(session.people)
        site.tables.add(session, "play", [link])
        path = f"/table/{link.key}"
    start = site.url_of(path)
    print(f"The page is at {start} (Ctrl-C ends it).", flush=True)
    if opens:
        Timer(1.0, webbrowser.open, [start]).start()
    site.run()
    if site.tables.problem:
        raise TabletopError(f"{folder}: {site.tables.problem}; what was new in them is lost")
    print(f"Games are kept in {folder}; `web --resume --folder {folder}` takes them up again.")


def _url_of(host: str, port: int, token: str, asked: str, path: str) -> str:
    """The address of a path for other devices. `asked` is the host name by which this device reached the server."""
    if not _is_loopback(host) and asked in LOCAL_NAMES:
        asked = _address(host)
    return f"http://{asked}:{port}{path}{f'?token={token}' if token else ''}"


def _check_agent(catalogue: Catalogue, name: str) -> None:
    """Raise ConfigError unless some game has this agent: at the start rather than when a page asks for it."""
    check_name(name)  # otherwise no game with this agent could be saved
    problems = []
    for game in catalogue.games.values():
        try:
            catalogue.agent(name, game)
            return
        except ValueError as error:
            problems.append(str(error))
    raise ConfigError(problems[0])


def _listen(host: str, port: int | None) -> socket.socket:
    if port is None:
        with contextlib.suppress(ConfigError):
            return listen(host, PORT)
    return listen(host, port or 0)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(host: str) -> str:
    """The address by which other devices reach this machine. A server on all addresses uses that of its network."""
    if host not in ("0.0.0.0", "::"):
        return f"[{host}]" if ":" in host else host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
