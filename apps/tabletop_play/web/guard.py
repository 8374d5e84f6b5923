"""Who may talk to the server: the right host, our own pages, holders of the token. And what a page may do."""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
from collections import OrderedDict
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tabletop_play.web.messages import MOST_POSTED, Allowance

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every answer: a page runs only our scripts, talks only to this server, and cannot be framed."""
_READING = ("GET", "HEAD")
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:(?P<port>[0-9]{1,5}))?")
_RATE, _BURST = 50.0, 500.0
"""Requests of one address: a page needs about twenty."""
_MOST_ADDRESSES = 1000


class Json(JSONResponse):
    """An answer in JSON. It is ASCII, because UTF-8 cannot hold some paths."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode()


class Guard:
    """Accepts requests from our own pages at an address of this server, and refuses others with a message.

    Arguments:
        names: host names of the server. With `any_address`, numeric addresses are accepted too. Other names are
            refused, because a foreign page could point such a name at this server.
        token: every request must have it, in its address or its cookie; empty if none is needed.
        port: the port that the server listens on.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str], any_address: bool, token: str, port: int) -> None:
        self._app, self._names, self._any_address = app, set(names), any_address
        self._token, self._port, self._cookie = token, port, f"tabletop-{port}"
        self._allowances: OrderedDict[str, Allowance] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem, status = self._problem(scope, headers)
        if problem:
            await _refuse(scope, receive, send, problem, status)
            return
        given = _given_token(scope)
        if self._token and scope["type"] == "http" and given:
            await self._keep_token(scope, receive, send)
            return
        if scope["type"] == "http":
            receive = _limited(receive)
        await self._app(scope, receive, _with_headers(send) if scope["type"] == "http" else send)

    def _problem(self, scope: Scope, headers: Headers) -> tuple[str, int]:
        """What is wrong with a request, and its status code; "" if nothing is wrong."""
        if not self._allowance(scope).take():
            return "too many requests; wait a little", 429
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return "this server has another name", 403
        acts = scope["type"] == "websocket" or scope["method"] not in _READING
        if acts and headers.getlist("origin") != [f"http://{hosts[0]}"]:
            return "only pages of this server may ask for this", 403
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > MOST_POSTED:
            return f"a request has at most {MOST_POSTED:,} bytes", 413
        if self._token and not (self._has_token(_given_token(scope)) or self._has_token(self._cookie_of(headers))):
            return "this link lacks the token, or has an old one; ask for the link once more", 403
        return "", 200

    def _allowance(self, scope: Scope) -> Allowance:
        address = (scope.get("client") or ("",))[0]
        if address not in self._allowances:
            self._allowances[address] = Allowance(_RATE, _BURST)
            if len(self._allowances) > _MOST_ADDRESSES:
                self._allowances.popitem(last=False)
        return self._allowances[address]

    def _is_ours(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None or int(found["port"] or 80) != self._port:
            return False
        name = found["name"].lower()
        if name in self._names:
            return True
        if not self._any_address:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def _has_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _cookie_of(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value

    async def _keep_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Keep the token in a cookie, so that no address on the screen shows it."""
        answer = RedirectResponse("/" + scope["path"].lstrip("/"), status_code=303, headers=HEADERS)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        await answer(scope, receive, send)


def _given_token(scope: Scope) -> str:
    """The token in the address."""
    try:
        found = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=5)
    except ValueError:  # UnicodeDecodeError is one
        return ""
    return found.get("token", [""])[0]


async def _refuse(scope: Scope, receive: Receive, send: Send, problem: str, status: int) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": problem})
        return
    await Json({"error": problem}, status, HEADERS)(scope, receive, send)


def _limited(receive: Receive) -> Receive:
    """The request's content up to the limit, whatever length the request announced."""
    left = MOST_POSTED

    async def limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return limited


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
