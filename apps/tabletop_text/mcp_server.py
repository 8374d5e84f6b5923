"""The command `mcp`: a game as tools of the Model Context Protocol, over stdin and stdout or at an address of this
machine (the extra `mcp`).

A client has one game for each session. The newest version of the protocol has no sessions over HTTP. There `new_game`
returns a name of its game, which the other tools need.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tabletop_engine.checks import checked
from tabletop_engine.play.batch import usable_cores
from tabletop_play.catalogue import Catalogue
from tabletop_play.listening import SECONDS_TO_END, listen, server_of
from tabletop_text.threads import in_daemon_thread
from tabletop_text.tools import Player, Players, Said, refused

HOST = "127.0.0.1"
PORT = 8322
GAMES = 100
"""The most games that are kept over HTTP."""
_MOST_BYTES = 4_000_000
"""The most bytes of a request."""
_MOST_SESSIONS = 1000
_SECONDS_IDLE = 2 * 3600.0
_MOST_CONNECTIONS = 200
_ONLY_SESSION = "stdio"
_CHUNK = 1 << 16
_GAME = {"game": {"type": "string", "description": "The name of your game, which new_game has told you."}}

T = TypeVar("T")


class GameServer:
    """A game as a server of the protocol.

    Arguments:
        home: the game's module by its name with dots.
        version: of the game's package.
        games: games that are kept; a newer one drops the one that was used least recently.
    """

    def __init__(self, home: str, version: str, games: int) -> None:
        self.catalogue = Catalogue([home])
        (self.game,) = self.catalogue.games.values()
        self.players = Players(self.catalogue, self.game, games)
        self._locks: WeakKeyDictionary[Player, asyncio.Lock] = WeakKeyDictionary()
        self._cores = asyncio.Semaphore(usable_cores())
        self._running: set[asyncio.Task[Said]] = set()
        self.server = Server(
            self.game.name,
            version=version,
            title=self.game.title,
            instructions=f"Play {self.game.title}: new_game starts a game and tells what to do next.",
            lifespan=self._compiling,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    @contextlib.asynccontextmanager
    async def _compiling(self, server: Any) -> AsyncIterator[None]:
        """Compile the rules at the very first start, while clients already get answers."""
        work = asyncio.create_task(in_thread(partial(self.catalogue.compiled, self.game.name)))
        try:
            yield
        finally:
            work.cancel()

    async def _list(self, context: Any, params: Any) -> types.ListToolsResult:
        named = _session(context) is None
        listed = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.schema(_GAME if named and tool.name != "new_game" else {}),
                annotations=types.ToolAnnotations(read_only_hint=tool.reads, open_world_hint=False),
            )
            for tool in self.players.tools.values()
        ]
        return types.ListToolsResult(tools=listed)

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        key, arguments, note = _session(context), dict(params.arguments or {}), ""
        if key is None and params.name == "new_game":
            key = secrets.token_hex(8)
            note = f'\n\nThe name of your game is {key}: give the other tools game="{key}".'
        elif key is None:
            key = arguments.pop("game", None)
        if isinstance(key, str):
            said = await self._said(key, params.name, arguments)
        else:
            said = refused("game: missing; it is the name that new_game has told you")
        text = said.text if said.is_error else said.text + note
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=said.is_error)

    async def _said(self, key: str, tool: str, arguments: dict[str, Any]) -> Said:
        """What a tool says. A call that its client gives up still runs to its end; the next call waits for that."""

        async def work() -> Said:
            player = self.players.of(key)
            async with self._locks.setdefault(player, asyncio.Lock()), self._cores:
                said = await in_thread(partial(player.call, tool, arguments))
            self.players.keep(key, player)
            return said

        task = asyncio.create_task(work())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)


def _session(context: Any) -> str | None:
    """What identifies a client's session; None where the protocol has no sessions."""
    if context.request is None:
        return _ONLY_SESSION
    if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        session: str | None = context.request.headers.get("mcp-session-id")
        return session
    return None


async def in_thread(work: Callable[[], T]) -> T:
    """Run a slow function in a thread and return its result. Neither the loop nor the program waits for its end."""
    return await asyncio.wrap_future(in_daemon_thread(work))


# --- stdin and stdout ------------------------------------------------------------------------------------------------


class _Lines:
    """Lines of text from a file descriptor. A read that is no longer needed blocks nothing.

    If a line is longer than a request may be, only its beginning is kept. It is then refused, because it is no message.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self.end = descriptor, asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        kept = bytearray()
        while chunk := await in_thread(partial(os.read, self._descriptor, _CHUNK)):
            first, *others = chunk.split(b"\n")
            kept += first[: _MOST_BYTES - len(kept)]
            for other in others:
                yield kept.decode("utf-8", "replace")
                kept = bytearray(other)
        self.end.set()


class _Written:
    """Text for a file descriptor. A client that reads nothing blocks only its own answers."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        data = memoryview(text.encode("utf-8", "replace"))
        with contextlib.suppress(OSError):  # nobody reads any more; then stdin ends, too
            while data:
                data = data[await in_thread(partial(os.write, self._descriptor, data)) :]

    async def flush(self) -> None:
        """There is nothing to do: everything is written at once."""


@contextlib.contextmanager
def _taken(descriptor: int, instead: int) -> Any:
    """A copy of a standard descriptor for the protocol alone. Meanwhile the standard one leads to `instead`."""
    own = os.dup(descriptor)
    os.dup2(instead, descriptor)
    try:
        yield own
    finally:
        os.dup2(own, descriptor)


@checked
def serve_stdio(home: str, version: str) -> NoReturn:
    """Serve one client over stdin and stdout until stdin ends, then end the process. Only messages go to stdout."""
    _quiet()
    nothing = os.open(os.devnull, os.O_RDONLY)
    with _taken(0, nothing) as read, _taken(1, 2) as written:
        try:
            status = asyncio.run(_serve_stdio(GameServer(home, version, games=1).server, read, written))
        except KeyboardInterrupt:
            status = 128 + signal.SIGINT
    # A thread may still compile or search. Python's normal exit cleans up beside it, which can hang.
    sys.stderr.flush()
    os._exit(status)


async def _serve_stdio(server: Server, read: int, written: int) -> int:
    """Returns the status to exit with."""
    lines, loop, status = _Lines(read), asyncio.get_running_loop(), 0

    def terminated() -> None:
        nonlocal status
        status = 128 + signal.SIGTERM
        lines.end.set()

    async def serve() -> None:
        async with stdio_server(lines, _Written(written)) as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())

    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, and other threads than the main
        loop.add_signal_handler(signal.SIGTERM, terminated)  # an exception instead could end any task
    serving, ending = asyncio.create_task(serve()), asyncio.create_task(lines.end.wait())
    await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
    if not status:
        await asyncio.wait({serving}, timeout=SECONDS_TO_END)  # longer only if answers wait for a client that left
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving
    return status


# --- HTTP ------------------------------------------------------------------------------------------------------------


@checked
def serve_http(home: str, version: str, *, port: int = PORT, games: int = GAMES) -> None:
    """Serve clients on this machine until Ctrl-C; `port` 0 takes any free one.

    Raises ConfigError if it can't listen at this port.
    """
    _quiet()
    listening = listen(HOST, port)
    app = GameServer(home, version, games).server.streamable_http_app(
        host=HOST,  # with it only requests to this machine's own names are answered
        max_request_body_size=_MOST_BYTES,
        max_sessions=_MOST_SESSIONS,
        session_idle_timeout=_SECONDS_IDLE,
    )
    print(f"The server is at http://{HOST}:{listening.getsockname()[1]}/mcp (Ctrl-C ends it).", flush=True)
    with contextlib.suppress(KeyboardInterrupt):  # raised again when all is closed
        server_of(app, _MOST_CONNECTIONS, log_level="critical").run([listening])


def _quiet() -> None:
    """Hide the library's messages about clients' mistakes, which tell the server's owner nothing."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
