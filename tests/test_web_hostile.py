"""Attacks of a hostile client. None stops the server, changes a game or goes unanswered."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
import segno
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed

from tabletop_play.web.guard import Guard
from tabletop_play.web.messages import (
    ASKED,
    MOST_BYTES,
    MOST_POSTED,
    Allowance,
    Refused,
    asked_for,
    object_of,
    table_asked_for,
)
from tests.support.effort import games
from tests.support.web import SECONDS, Page, Server, closing_words, serving


@pytest.fixture
def page(server: Server) -> Iterator[Page]:
    with server.open(server.make("petrichor", ["here"], start={"seed": 1})[0]) as one:
        yield one


def state_of(page: Page) -> Any:
    """What the page sees of its game, after all that was sent to it."""
    page.ask("here")  # refused; by its reply all earlier views have come
    return page.board, page.view["answers"]


def answers(page: Page, text: str | bytes) -> dict[str, Any]:
    """Send anything; returns the reply."""
    page.socket.send(text)
    while "reply" not in (message := page.receive()):
        pass
    return message


# --- messages --------------------------------------------------------------------------------------------------------

BROKEN: list[str | bytes] = [
    "",
    "{",
    "[]",
    "null",
    "1e999",
    "NaN",
    '"answer"',
    "[" * 50_000,
    '{"id": 1, "do": ' + "[" * 20_000,
    "9" * 50_000,
    "{}",
    '{"id": 1}',
    '{"id": "1", "do": "undo", "view": 1}',
    '{"id": 1.0, "do": "undo", "view": 1}',
    '{"id": true, "do": "undo", "view": 1}',
    '{"id": 1, "do": ["undo"], "view": 1}',
    '{"id": 1, "do": "__class__"}',
    '{"id": 1, "do": "stop"}',
    '{"id": 1, "do": "_view"}',
    '{"id": 1, "do": "undo"}',
    '{"id": 1, "do": "undo", "view": null}',
    '{"id": 1, "do": "undo", "view": 1, "more": 1}',
    '{"id": 1, "do": "answer", "view": 1, "actions": ["2"]}',
    '{"id": 1, "do": "answer", "view": 1, "actions": []}',
    '{"id": 1, "do": "answer", "view": 1, "actions": 2}',
    '{"id": 1, "do": "answer", "view": 1, "actions": [1, true]}',
    '{"id": 1, "do": "answer", "view": 1, "actions": [1, 1, 1, 1, 1, 1, 1]}',
    '{"id": 1, "do": "answer", "view": 1, "actions": [' + "1, " * 9000 + "1]}",
    '{"id": 1, "do": "alone", "give": 1}',
    '{"id": 1, "do": "answer", "view": 1, "actions": [1e300]}',
    '{"id": 1, "do": "answer", "view": 1, "actions": [123456789012345678901234567890]}',
    '{"id": 1, "do": "export", "what": "../../etc/passwd"}',
    '{"id": 1, "do": "advice", "view": 1, "agent": "os:system"}',
    '{"id": 1, "do": "advice", "view": 1, "agent": "policy:/etc/passwd"}',
    '{"id": 1, "do": "goto", "step": 1}',
    '{"id": 1, "do": "look", "seat": 0}',
    '{"id": 1, "do": "describe"}',
    '{"id": 1, "do": "check", "description": {}}',
    '{"id": 1, "do": "position", "description": {"players": 1}}',
    '{"id": 1, "do": "step"}',
    '{"id": 1, "do": "here"}',
    '{"id": 1, "do": "review", "agent": "greedy"}',
    b"\xff\xfe",
    b"\x00" * 100,
    "x" * (MOST_BYTES + 1),
]


def test_messages_that_are_none(server: Server) -> None:
    """Each is answered in words, and the game stays as it is."""
    path = server.make("petrichor", ["here"], start={"seed": 1})[0]
    with server.open(path) as page:
        before = state_of(page)
    for text in BROKEN:
        with server.open(path) as page:
            reply = answers(page, text)
            assert isinstance(reply["error"], str) and 5 < len(reply["error"]) < 510, text[:60]
            assert "Traceback" not in reply["error"] and "passwd" not in reply["error"].replace("/etc/passwd:", "")
            assert state_of(page) == before


def test_too_long_for_an_answer(server: Server, page: Page) -> None:
    """A message that is far too long is not read to its end. The page has to connect again."""
    page.socket.send("x" * (4 * MOST_BYTES))
    with pytest.raises(ConnectionClosed):
        page.receive()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@given(
    name=st.sampled_from([*ASKED, "stop", "open", ""]),
    keys=st.dictionaries(st.sampled_from([*dict.fromkeys(key for keys in ASKED.values() for key in keys)]), JSON),
)
@settings(max_examples=games(150, 400), deadline=None)
def test_any_message_is_taken_or_refused(name: str, keys: dict[str, Any]) -> None:
    try:
        assert asked_for({"id": 1, "do": name, **keys}) == name
    except Refused:
        return
    assert set(keys) == set(ASKED[name])


@given(JSON)
@settings(max_examples=games(150, 400), deadline=None)
def test_any_request_for_a_table_is_taken_or_refused(content: Any) -> None:
    try:
        order = table_asked_for(object_of(json.dumps(content)))
    except Refused:
        return
    assert {"game", "players"} <= set(order)


def test_random_messages_change_nothing(server: Server) -> None:
    """Messages of all kinds, with wrong numbers of views and with actions that are no answers."""
    path = server.make("petrichor", ["here", "greedy"], start={"seed": 2})[0]
    generator = np.random.default_rng(0)
    numbers = (-1, 0, 1, 2, 500, 2**53 - 1, -(2**53))
    with server.open(path) as page:
        page.until("you")
        before, legal = state_of(page), {tuple(one["actions"]) for one in page.view["answers"]}
        names = [name for name in ASKED if name not in ("export", "page", "advice")]
        for _ in range(40):
            name = names[generator.integers(len(names))]
            message: dict[str, Any] = {"id": int(generator.choice(numbers)), "do": name}
            for key in ASKED[name]:
                number = int(generator.choice(numbers))
                given = {"description": {"players": number}, "agent": "greedy", "actions": [number]}
                message[key] = given.get(key, number)
            if name == "answer" and tuple(message["actions"]) in legal:
                continue
            assert "error" in answers(page, json.dumps(message)), message
        assert state_of(page) == before


def test_answers_that_are_not_legal(page: Page) -> None:
    before, legal = state_of(page), {tuple(one["actions"]) for one in page.view["answers"]}
    first = {actions[0] for actions in legal}
    alone = [[action] for action in (-1, -(2**40), 10**6, 2**53 - 1, *(one for one in range(139) if one not in first))]
    longest = max(legal, key=len)
    assert len(longest) > 1
    in_a_row = [[*longest, longest[-1]], [*longest[:-1], 10**6], [longest[0], longest[0]], longest[::-1]]
    for actions in (*alone, *in_a_row):
        assert page.answer(actions)["error"] == "this is not one of the answers"
    assert state_of(page) == before


def test_out_of_turn_and_once_more(server: Server) -> None:
    """A page that isn't asked can't answer, not even by another page's message."""
    first, second = server.make("petrichor", ["apart", "apart"])
    with server.open(first) as one, server.open(second) as two:
        for _ in range(6):
            for page in (one, two):
                page.ask("here")  # refused; by its reply all earlier views have come
            asked, other = (one, two) if one.view["turn"] == "you" else (two, one)
            assert other.view["answers"] == [] and other.view["turn"] == "others"
            action, number = asked.view["answers"][0]["actions"], asked.view["number"]
            assert other.answer(action)["error"] == "it is not your turn"
            assert (
                other.ask("advice", view=other.view["number"], agent="greedy")["error"]
                == "only the player whose turn it is can ask for advice"
            )
            assert other.ask("undo", view=other.view["number"])["error"] == "there is nothing to take back"
            assert "error" not in asked.answer(action, number)
            assert asked.answer(action, number)["error"] == "the game has moved on"  # the same message again
            assert asked.ask("export", what="replay")["error"].startswith("this game can be saved when it is over")
            assert asked.ask("export", what="scenario")["error"].startswith("this game can be saved when it is over")


def test_many_at_once(server: Server) -> None:
    """Six pages of one link send the same answer at the same time. It is given once."""
    path = server.make("petrichor", ["here"], start={"seed": 9})[0]
    pages = [server.open(path) for _ in range(6)]
    action, number = pages[0].view["answers"][0]["actions"], pages[0].view["number"]
    replies: list[dict[str, Any]] = []
    start = threading.Barrier(6)

    def send(page: Page) -> None:
        start.wait(SECONDS)
        replies.append(page.answer(action, number))

    threads = [threading.Thread(target=send, args=(page,)) for page in pages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert sorted("error" in reply for reply in replies) == [False] + [True] * 5
    (table,) = (one for one in server.site.tables._ready.values() if path.endswith(one.links[0].key))
    assert table.session.replay.actions == tuple(action)
    for page in pages:
        page.close()


def test_a_flood(server: Server, page: Page) -> None:
    """Messages beyond a human's rate are refused. A page that goes on is disconnected. Others notice nothing."""
    before = state_of(page)
    with contextlib.suppress(ConnectionClosed):
        for i in range(600):
            page.socket.send(json.dumps({"id": i, "do": "here"}))
    messages: list[dict[str, Any]] = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            messages.append(page.receive())
    refused = sum("too many messages" in message.get("error", "") for message in messages)
    assert refused >= 100
    with server.open(server.make("petrichor", ["here"], start={"seed": 1})[0]) as other:
        assert state_of(other) == before


@pytest.mark.slow
def test_a_page_that_reads_nothing(server: Server) -> None:
    """The queue for the page has a limit. Then the page is disconnected, and the game goes on for others."""
    path = server.make("petrichor", ["here"])[0]
    with server.connect(path, max_queue=1) as deaf, server.open(path) as page:
        for _ in range(40):
            if page.view["turn"] == "over":
                break
            page.answer(page.view["answers"][-1]["actions"])
        assert deaf is not None and page.view["number"] > 20


def test_too_many_pages_of_a_link(server: Server) -> None:
    path = server.make("petrichor", ["here"])[0]
    pages = [server.open(path) for _ in range(8)]
    with server.connect(path) as socket:
        assert closing_words(socket) == "too many pages of this link are open already"
    for page in pages:
        page.close()
    with server.open(path) as page:
        assert page.view["turn"] == "you"


def test_links_and_files_that_there_are_not(server: Server) -> None:
    for key in ("x", "%2e%2e", "a" * 2000, "petrichor-solo.json"):
        with server.connect(f"/table/{key}") as socket:
            assert closing_words(socket).startswith("there is no such table here")
    for path in ("../server.py", "%2e%2e/server.py", "..%2fserver.py", "/etc/passwd", "x", "../etc/passwd"):
        answer = server.http.get(f"/page/{path}")
        assert answer.status_code == 404 and answer.json() == {"error": "there is nothing here"}


# --- requests --------------------------------------------------------------------------------------------------------


NO_REQUESTS = [
    *(b"", b"{", b"[]", b"\xff", b'{"game": "petrichor"}', b'{"game": 1, "players": 1}', b"[" * 100_000),
    *(b'{"game": "petrichor", "scenario": {}}', b'{"game": "chess", "scenario": "{}"}'),
    json.dumps({"game": "petrichor", "scenario": "[" * 100_000}).encode(),
    json.dumps({"game": "petrichor", "scenario": json.dumps({"x" * 1_000_000: 1})}).encode(),
]


@pytest.mark.parametrize("path", ["/api/tables", "/api/scenarios"])
def test_requests_that_are_none(server: Server, path: str) -> None:
    for content in NO_REQUESTS:
        answer = server.http.post(path, content=content)
        assert answer.status_code == 400 and 0 < len(answer.json()["error"]) < 510, content[:60]
    answer = server.http.post(path, content=b"x" * (MOST_POSTED + 1))
    assert answer.status_code == 413

    def endless() -> Iterator[bytes]:
        for _ in range(60):
            yield b" " * 100_000

    answer = server.http.post(path, content=endless())  # in chunks, without its length
    assert answer.status_code == 413 and answer.json() == {"error": "the request is too long"}


def test_replays_that_are_none(server: Server) -> None:
    outside = {"replay": 2, "game": "petrichor", "config": {"components": "/etc/passwd"}}
    for replay in ({}, {"replay": 2}, outside, {"petrichor_replay": 1}):
        error = server.refused(game="petrichor", players=1, kind="analyse", start={"replay": replay})
        assert "passwd" not in error


def test_descriptions_that_are_none(server: Server) -> None:
    """Any content gives an error in words, or a board."""
    generator = np.random.default_rng(4)
    (path,) = server.make("petrichor", [], players=2, kind="analyse")
    junk = [None, -1, 10**9, "x", "player_0", [], {}, {"x": 1}, True, 1.5, ["x"], {"player_0": -3}]
    with server.open(path) as page:
        full = page.ask("describe")["description"]
        board = page.board
        for key in full:
            broken = {**full, key: junk[generator.integers(len(junk))]}
            reply = page.ask("check", description=broken)
            assert ("error" in reply) != ("board" in reply)
            assert "the server failed" not in reply.get("error", "")
        assert page.board == board


# --- whose page it is ------------------------------------------------------------------------------------------------


def socket_status(server: Server, path: str, **headers: str) -> int:
    """The status of the answer to a refused request for a socket."""
    asked = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13"}
    asked |= {"sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==", **headers}
    return httpx.get(f"{server.url}/api/table/{path.rpartition('/')[2]}", headers=asked).status_code


def test_other_hosts_and_origins(server: Server) -> None:
    """Foreign pages, and foreign host names that lead to this server, get nothing."""
    port = server.url.rpartition(":")[2]
    path = server.make("petrichor", ["here"])[0]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", f"127.0.0.1:{port}@evil"):
        answer = httpx.get(f"{server.url}/api/games", headers={"host": host})
        assert answer.status_code == 403 and "petrichor" not in answer.text
    assert httpx.get(f"{server.url}/api/games", headers={"host": f"localhost:{port}"}).status_code == 200
    order = {"game": "petrichor", "players": 1, "seats": ["here"]}
    for origin in (
        "http://evil.example",
        "null",
        f"https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        f"{server.url}.evil",
    ):
        assert httpx.post(f"{server.url}/api/tables", json=order, headers={"origin": origin}).status_code == 403
        assert socket_status(server, path, origin=origin) == 403
    assert httpx.post(f"{server.url}/api/tables", json=order).status_code == 403
    assert socket_status(server, path) == 403


def test_others_need_the_token(tmp_path: Any) -> None:
    with serving(tmp_path, host="0.0.0.0") as server:
        start = server.site.url_of("/")
        token = start.partition("?token=")[2]
        assert len(token) > 20
        port = start.split(":")[2].split("/")[0]
        base = f"http://127.0.0.1:{port}"
        for path in ("/", "/page/style.css", "/api/games", "/table/x", f"/?token={token}x", "/?token="):
            answer = httpx.get(base + path)
            assert answer.status_code == 403 and "token" in answer.json()["error"]
        order = {"game": "petrichor", "players": 2, "seats": ["here", "apart"]}
        assert httpx.post(f"{base}/api/tables", json=order, headers={"origin": base}).status_code == 403
        with httpx.Client(base_url=base, headers={"origin": base}, timeout=600) as browser:
            answer = browser.get(f"/?token={token}")
            assert answer.status_code == 303 and answer.headers["location"] == "/"
            assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=strict" in answer.headers["set-cookie"]
            assert browser.get("/").status_code == 200
            made = browser.post("/api/tables", json=order).json()["links"]
        assert all(one["url"].endswith(f"?token={token}") and "127.0.0.1" not in one["url"] for one in made)
        assert all(one["code"] == segno.make(one["url"]).svg_data_uri(scale=4, light="white") for one in made)
        assert socket_status(server, made[0]["path"], origin=server.url) == 403
        cookie = {"Cookie": f"tabletop-{port}={token}"}
        with server.connect(made[0]["path"], additional_headers=cookie) as socket:
            assert "view" in json.loads(socket.recv(SECONDS))
        wrong = {"cookie": f"tabletop-{port}={token[:-1]}"}
        assert socket_status(server, made[0]["path"], origin=server.url, **wrong) == 403


def test_by_default_nobody_else_can_come(server: Server) -> None:
    assert server.site.listening.getsockname()[0] == "127.0.0.1"


def test_names_of_this_server() -> None:
    async def nothing(*_: Any) -> None: ...

    guard = Guard(nothing, ["localhost"], True, "", 80)
    for host in ("192.168.1.5:80", "192.168.1.5", "[fe80::1]:80", "localhost:80"):
        assert guard._is_ours(host), host
    for host in ("192.168.1.5:81", "evil.example:80", "1.2.3.4.evil:80", "[::1", "", "a b:80", "127.1:80"):
        assert not guard._is_ours(host), host
    for host in ("localhost:80:80", "localhost:999999"):
        assert not guard._is_ours(host), host


def test_an_allowance() -> None:
    clock = [0.0]
    allowance = Allowance(rate=2.0, burst=3.0, now=lambda: clock[0])
    assert [allowance.take() for _ in range(4)] == [True, True, True, False]
    clock[0] = 0.6
    assert [allowance.take() for _ in range(2)] == [True, False]
    clock[0] = 100.0
    assert [allowance.take() for _ in range(4)] == [True, True, True, False]
