"""The server's application: the page's files, the requests, and a socket for each page of a table."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from json import dumps
from pathlib import Path
from typing import Any

import anyio
import segno
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tabletop_engine.drawing import CURVE_STYLE, SCRIPTS
from tabletop_engine.drawing.parts import drawings_of
from tabletop_engine.errors import TabletopError
from tabletop_engine.game import Game
from tabletop_play.web.guard import Guard, Json
from tabletop_play.web.messages import (
    MINE,
    MOST_BYTES,
    RULES,
    SCENARIO,
    Allowance,
    Refused,
    asked_for,
    checked_keys,
    object_of,
    table_asked_for,
)
from tabletop_play.web.modules import loaded_first, with_bundle
from tabletop_play.web.people import browser_of
from tabletop_play.web.rules import rules_page
from tabletop_play.web.table_store import TableStore
from tabletop_play.web.tables import Link, Table

LOOPBACK = "127.0.0.1"
LOCAL_NAMES = ("localhost", LOOPBACK, "[::1]")
"""What a computer calls itself."""
_PAGE = Path(__file__).with_name("page")
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_REFERENCE = re.compile(r'(?<=")(?:\./|/page/)(\w+\.(?:js|css))(?=")')
"""How the files refer to each other."""
_KEPT, _NOT_KEPT = {"cache-control": "max-age=31536000, immutable"}, {"cache-control": "no-cache"}
_RATE, _BURST = 20.0, 60.0
"""Messages a second of one page; nobody clicks faster."""
_MOST_REFUSED = 200
"""Messages beyond that limit after which a page is disconnected."""
_MOST_WAITING = 300
"""Messages that may wait for a page that does not read them."""
_LONGEST_ERROR = 500
_THOUGHTFUL = ("advice", "plan", "review", "judge", "page")
"""Requests that take so long that the page may send others in the meantime."""
_NO_TABLE, _TOO_MANY, _TOO_SLOW = 4404, 4429, 4408
"""Why a socket is closed."""

_log = logging.getLogger(__name__)


def make_app(
    tables: TableStore,
    *,
    names: Iterable[str],
    port: int,
    url_of: Callable[[str, str], str],
    any_address: bool = False,
    token: str = "",
) -> Starlette:
    """Create the application. `names`, `port`, `any_address` and `token` are those of `Guard`.

    `url_of` takes the host name that a browser uses for this server, and a path; it returns the address for other
    devices.
    """
    web = _Web(tables, url_of)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        keeping = asyncio.create_task(tables.keep_going())
        try:
            yield
        finally:
            keeping.cancel()
            await tables.stop()

    routes = [
        Route("/", web.index),
        Route("/table/{key}", web.index),
        Route("/page/{name}", web.page),
        Route("/api/games", web.games),
        Route("/api/covers/{game}", web.cover),
        Route("/api/drawings/{game}", web.drawings),
        Route("/api/rules/{game}", web.rules),
        Route("/api/scenarios", web.scenarios, methods=["POST"]),
        Route("/api/mine", web.mine, methods=["POST"]),
        Route("/api/tables", web.tables, methods=["POST"]),
        WebSocketRoute("/api/table/{key}", web.socket),
    ]
    guard = Middleware(Guard, names=tuple(names), any_address=any_address, token=token, port=port)
    smaller = Middleware(GZipMiddleware, minimum_size=1000)
    handlers: Any = {404: _not_there, TabletopError: _refused, ClientDisconnect: _too_long}
    return Starlette(routes=routes, middleware=[guard, smaller], lifespan=lifespan, exception_handlers=handlers)


async def _not_there(request: Request, error: Exception) -> Response:
    return Json({"error": "there is nothing here"}, 404)


async def _refused(request: Request, error: Exception) -> Response:
    """What is wrong with something that was posted, or why what was asked for is not here."""
    return Json({"error": _shortened(error)}, 400 if request.method == "POST" else 404)


async def _too_long(request: Request, error: Exception) -> Response:
    return Json({"error": "the request is too long"}, 413)


def page_files(texts: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The page's files as they are sent, by name, and their version.

    They refer to each other with the version, so browsers keep them and never mix two versions. `index.html` names all
    modules that a game loads: over a slow network the browser asks for them at once, not import by import.
    """
    files = with_bundle(texts)
    version = hashlib.sha256("".join(map("\0".join, sorted(files.items()))).encode()).hexdigest()[:12]
    links = "".join(f'<link rel="modulepreload" href="/page/{name}">\n' for name in loaded_first(files))
    whole = {**files, "index.html": files["index.html"].replace("</head>", f"{links}</head>")}
    return {name: _REFERENCE.sub(rf"\g<0>?v={version}", text) for name, text in whole.items()}, version


class _Web:
    """The handlers of the addresses."""

    def __init__(self, tables: TableStore, url_of: Callable[[str, str], str]) -> None:
        self._tables, self._url_of = tables, url_of
        paths = [*SCRIPTS, CURVE_STYLE, *(path for path in _PAGE.iterdir() if path.suffix in _TYPES)]
        self._files, self._version = page_files({path.name: path.read_text(encoding="utf-8") for path in paths})

    async def index(self, request: Request) -> Response:
        """The page. Those of tables also name the drawings of their games, so that they come beside the modules."""
        text, key = self._files["index.html"], request.path_params.get("key")
        if key is not None:
            with contextlib.suppress(TabletopError):
                table, _ = await self._tables.find(key)
                drawings = f"/api/drawings/{table.session.game.name}"
                link = f'<link rel="preload" as="fetch" crossorigin href="{drawings}">'
                text = text.replace("</head>", f"{link}\n</head>")
        return Response(text, media_type="text/html", headers=_NOT_KEPT)

    async def page(self, request: Request) -> Response:
        """One of the files that were read at the start. No name can lead to any other file."""
        name = request.path_params["name"]
        if name not in self._files:
            raise HTTPException(404)
        headers = _KEPT if request.query_params.get("v") == self._version else _NOT_KEPT
        return Response(self._files[name], media_type=_TYPES[Path(name).suffix], headers=headers)

    async def games(self, request: Request) -> Response:
        return Json({"games": await asyncio.to_thread(self._tables.catalogue.described)})

    async def cover(self, request: Request) -> Response:
        """A small picture of a game."""
        return self._picture(request, lambda cover: cover)

    async def drawings(self, request: Request) -> Response:
        """The drawings that all boards of a game refer to."""
        form = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
        return self._picture(request, lambda cover: form.format(drawings_of(cover)))

    def _picture(self, request: Request, of: Callable[[str], str]) -> Response:
        cover = self._tables.catalogue.game(request.path_params["game"]).drawing.cover()
        return Response(of(cover), media_type="image/svg+xml", headers={"cache-control": "max-age=3600"})

    async def rules(self, request: Request) -> Response:
        game: Game = self._tables.catalogue.game(request.path_params["game"])
        config, tables = await self._played(request, game)
        return Json({"html": await asyncio.to_thread(rules_page, game, config, tables)})

    async def _played(self, request: Request, game: Game) -> tuple[Any, Any]:
        """What rules are asked about: the game of a link, or a configuration; and its printed numbers, if known."""
        key = request.query_params.get("table", "")
        if key:
            session = (await self._tables.find(key))[0].session
            return session.config, session.tables
        wanted = request.query_params.get("of", "")
        if not wanted:
            return game.config(), None
        asked = checked_keys(object_of(wanted), RULES)
        return self._tables.catalogue.config(game, asked["players"], asked["options"]), None

    async def scenarios(self, request: Request) -> Response:
        """Whether a file is a scenario of a game, and for how many players."""
        asked = checked_keys(object_of(await request.body()), SCENARIO)
        return Json({"players": await self._tables.players_of(asked)})

    async def mine(self, request: Request) -> Response:
        """Whose turn it is in the games of some links."""
        asked = checked_keys(object_of(await request.body()), MINE)
        return Json({"turns": self._tables.turns(asked["keys"])})

    async def tables(self, request: Request) -> Response:
        """A new table."""
        table = await self._tables.make(table_asked_for(object_of(await request.body())))
        name = request.headers["host"].rpartition(":")[0] or request.headers["host"]
        links = []
        for link in table.links:
            path = f"/table/{link.key}"
            url = self._url_of(name, path)
            is_local = url.split("/")[2].rpartition(":")[0] in LOCAL_NAMES  # a phone could not open it
            code = "" if is_local else segno.make(url).svg_data_uri(scale=4, light="white")
            links.append({"seats": link.seats, "path": path, "url": url, "code": code})
        return Json({"links": links})

    # --- a page of a table ---

    async def socket(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            table, link = await self._tables.find(socket.path_params["key"])
            browser = browser_of(socket.query_params.get("browser", ""))
        except TabletopError as error:
            await _leave(socket, str(error), _NO_TABLE)
            return
        if not link.visitors.may_enter(browser):
            await _leave(socket, "too many pages of this link are open already", _TOO_MANY)
            return
        page = _Page(socket)
        table.open(link, page, browser)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(page.send_all, tasks.cancel_scope)
                await self._receive_all(page, table, link)
                tasks.cancel_scope.cancel()
        finally:
            table.close(link, page)

    async def _receive_all(self, page: _Page, table: Table, link: Link) -> None:
        """Handle a page's messages until it is gone."""
        allowance, refused = Allowance(_RATE, _BURST), 0
        thinking: set[asyncio.Task[None]] = set()
        try:
            while True:
                data = await page.receive()
                await asyncio.sleep(0)  # a page that sends much at once does not delay others
                if allowance.take():
                    await self._answer(page, table, link, data, thinking)
                    continue
                refused += 1
                page.reply(None, error="too many messages; wait a little")
                if refused > _MOST_REFUSED:
                    await _leave(page.socket, "too many messages", _TOO_MANY)
                    return
        except WebSocketDisconnect:
            return
        finally:
            for task in thinking:
                task.cancel()

    async def _answer(
        self, page: _Page, table: Table, link: Link, data: str | bytes, thinking: set[asyncio.Task[None]]
    ) -> None:
        number = None
        try:
            if len(data) > MOST_BYTES:
                raise Refused(f"a message has at most {MOST_BYTES:,} bytes")
            message = object_of(data)
            number = message.get("id")
            if type(number) is not int:
                number = None
                raise Refused("id: a whole number")
            do = asked_for(message)
            if do in _THOUGHTFUL and thinking:
                raise Refused("an agent is still thinking about the last question")
        except Refused as error:
            page.reply(number, error=_shortened(error))
            return
        doing = _reply(page, table, link, number, do, message)
        if do in _THOUGHTFUL:
            task = asyncio.create_task(doing)
            thinking.add(task)
            task.add_done_callback(thinking.discard)
        else:
            await doing


async def _reply(page: _Page, table: Table, link: Link, number: int, do: str, message: dict[str, Any]) -> None:
    try:
        page.reply(number, **await table.obey(link, page, do, message))
    except TabletopError as error:
        where = getattr(error, "where", "")
        page.reply(number, error=_shortened(error), **({"where": where} if where else {}))
    except Exception:
        _log.exception("a page asked for %s", do)
        page.reply(number, error="the server failed at this; the game is as it was")


def _shortened(error: Exception) -> str:
    """The text of an error, shortened, because it may repeat what a client has sent."""
    text = str(error)
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]} …"


async def _leave(socket: WebSocket, words: str, code: int) -> None:
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # it may be gone already
        await socket.send_text(dumps({"closing": words}))
        await socket.close(code)


class _Page:
    """A page at the other end of a socket. Messages to it wait in a queue."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self._waiting: asyncio.Queue[str] = asyncio.Queue(_MOST_WAITING)
        self._lost = asyncio.Event()

    def push(self, text: str) -> None:
        try:
            self._waiting.put_nowait(text)
        except asyncio.QueueFull:
            self._lost.set()  # the page connects once more and gets the present view

    def reply(self, number: int | None, **content: Any) -> None:
        self.push(dumps({"reply": number, **content}))

    async def receive(self) -> str | bytes:
        """The next message. Raises WebSocketDisconnect after the last one."""
        message = await self.socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1000))
        return message.get("text") or message.get("bytes") or ""

    async def send_all(self, scope: anyio.CancelScope) -> None:
        """Send waiting messages until the page is gone."""
        try:
            while not self._lost.is_set():
                await self.socket.send_text(await self._waiting.get())
            await _leave(self.socket, "this page is too slow", _TOO_SLOW)
        except (WebSocketDisconnect, RuntimeError):
            pass
        scope.cancel()
