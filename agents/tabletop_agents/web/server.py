"""The command `web`: a server on this machine with the pages of games."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import webbrowser
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

import uvicorn

from tabletop.batch import usable_cores
from tabletop.errors import ConfigError
from tabletop_agents.play.session import Session
from tabletop_agents.web.app import make_app
from tabletop_agents.web.catalogue import Catalogue
from tabletop_agents.web.hall import Hall
from tabletop_agents.web.messages import MOST_BYTES
from tabletop_agents.web.tables import new_link

LOOPBACK = "127.0.0.1"
PORT = 8321
_MOST_CONNECTIONS = 1000
_LOCAL_NAMES = ("localhost", LOOPBACK, "[::1]")
_SECONDS_TO_END = 3


def main(
    homes: Sequence[str],
    *,
    host: str = LOOPBACK,
    port: int = PORT,
    folder: Path = Path("runs/web"),
    resume: bool = False,
    agents: Sequence[str] = (),
    session: Session | None = None,
    opens: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C.

    Arguments:
        homes: the games' modules by their names with dots.
        host: the address to listen on. Any but the machine's own, 127.0.0.1, lets others in, who need the token that
            is in the printed link.
        port: 0 for any that is free.
        folder: where games are kept. resume: take up again those that are there.
        agents: names of further agents that pages may choose: checkpoints, and classes of one's own.
        session: a game to begin with, whose link is printed, too.
        opens: open the browser.
        say: is told the links.

    Raises ConfigError where it can't listen there, and for agents that there aren't.
    """
    threads = ThreadPoolExecutor(usable_cores(), "agents")
    catalogue = Catalogue(homes, agents)
    for name in agents:
        _check_agent(catalogue, name)
    hall = Hall(catalogue, folder, threads)
    kept = hall.resume() if resume else 0
    listening = _listen(host, port)
    port = listening.getsockname()[1]
    inside = _is_loopback(host)
    token = "" if inside else secrets.token_urlsafe(16)

    def url_of(asked: str, path: str) -> str:
        name = asked.rpartition(":")[0]
        if not inside and name in _LOCAL_NAMES:
            name = _address(host)
        return f"http://{name}:{port}{path}{f'?token={token}' if token else ''}"

    names = _LOCAL_NAMES if inside else (*_LOCAL_NAMES, host.lower(), socket.gethostname().lower())
    app = make_app(hall, threads, names=names, port=port, any_address=not inside, token=token, url_of=url_of)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=2 * MOST_BYTES,  # what is a little too long is answered in words
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SECONDS_TO_END,
        lifespan="on",
    )
    start = url_of(f"{LOOPBACK if inside else _address(host)}:{port}", "/")
    if resume:
        say(f"{kept} table{'' if kept == 1 else 's'} taken up again from {folder}.")
    if session is not None:
        link = new_link(session.people)
        hall.add(session, "play", [link])
        start = url_of(f"{LOOPBACK if inside else _address(host)}:{port}", f"/table/{link.key}")
    say(f"The page is at {start} (Ctrl-C ends it).")
    if opens:
        Timer(1.0, webbrowser.open, [start]).start()
    try:
        uvicorn.Server(config).run([listening])
    except KeyboardInterrupt:  # raised again when all is kept
        pass
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
    say(f"Games are kept in {folder}; --resume takes them up again.")


def _check_agent(catalogue: Catalogue, name: str) -> None:
    """Raise ConfigError unless some game has this agent; better now than when a page wants it."""
    problems = []
    for game in catalogue.games.values():
        try:
            catalogue.agent(name, game)
            return
        except ValueError as error:
            problems.append(str(error))
    raise ConfigError(problems[0])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=256)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{host}, port {port}: can't listen there ({reason}); --port 0 takes a free one") from None


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(host: str) -> str:
    """What others call this machine by, where it listens to everything: the address that it has in its network."""
    if host not in ("0.0.0.0", "::"):
        return f"[{host}]" if ":" in host else host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
