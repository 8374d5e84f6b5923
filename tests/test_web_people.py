"""The people at a table: who is here, who may play or only watches, and what they are called."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tabletop_engine.game import NOBODY
from tabletop_play.web import people
from tabletop_play.web.clock import Clock, clock_of
from tabletop_play.web.messages import Refused
from tabletop_play.web.people import AWAY, MOMENT, Visitors, browser_of
from tests.support.web import SECONDS, Listening, Page, Server, closing_words, play_out, serving

FIRST, SECOND, THIRD = "the-first-browser", "the-second-browser", "the-third-browser"
WATCHING = "you watch here, until somebody who plays lets you in"


def until_people(page: Page, **facts: Any) -> dict[str, Any]:
    """Wait until a page is told these facts about the people."""
    end = time.monotonic() + SECONDS
    while not facts.items() <= page.people.items():
        assert time.monotonic() < end, page.people
        page.receive()
    return page.people


# --- who may play ----------------------------------------------------------------------------------------------------


def test_a_company() -> None:
    """The first browser plays. Others play when they are let in, or when those who play have been away."""
    clock = [0.0]
    visitors = Visitors(now=lambda: clock[0])
    one, again, two = Listening(), Listening(), Listening()
    assert not visitors.here and not Visitors(let_in=["a"]).here  # visitors from a file
    assert visitors.enter(one, "a") and not visitors.enter(two, "b")
    assert visitors.may_play(one) and not visitors.may_play(two) and visitors.watching == {"b": 1}
    assert not visitors.enter(again, "a") and visitors.may_play(again)
    with pytest.raises(Refused, match="nobody to let in"):
        visitors.admit(2)
    visitors.leave(one)
    visitors.leave(again)
    clock[0] = MOMENT / 2
    assert visitors.here  # the page may be about to come back
    clock[0] = AWAY - 1
    assert not visitors.here and not visitors.free
    with pytest.raises(Refused, match="somebody else plays here"):
        visitors.sit(two)
    visitors.enter(one, "a")  # again
    clock[0] = 5 * AWAY
    assert visitors.here and not visitors.free
    visitors.leave(one)
    three = Listening()
    visitors.enter(three, "c")
    clock[0] = 6 * AWAY - 1
    visitors.leave(three)  # somebody who only watched
    clock[0] = 6 * AWAY
    visitors.sit(two)
    assert visitors.may_play(two) and visitors.let_in == ["a", "b"] and visitors.watching == {}
    visitors.enter(one, "a")
    assert visitors.may_play(one)  # nobody who was let in is put out


def test_visitors_have_limits() -> None:
    """Pages of those who play, pages of those who watch, and admitted browsers have limits."""
    visitors = Visitors()
    for _ in range(8):
        assert visitors.may_enter("a")
        visitors.enter(Listening(), "a")
    assert not visitors.may_enter("a")
    watching = [Listening() for _ in range(4)]
    for number, page in enumerate(watching):
        assert visitors.may_enter(f"b{number}")
        visitors.enter(page, f"b{number}")
    assert not visitors.may_enter("c") and visitors.may_enter("b0") is False
    for page in watching[:-1]:
        visitors.leave(page)
    for number in range(20):  # one after another
        page = Listening()
        visitors.enter(page, f"d{number}")
        visitors.admit(visitors.watching[f"d{number}"])
        assert visitors.may_play(page) and len(visitors.let_in) <= 8
        visitors.leave(page)
    assert "a" in visitors.let_in and len(visitors.watching) == 1


def test_what_no_browser_calls_itself(server: Server) -> None:
    path = server.make("petrichor", ["here"])[0]
    for given in ("short", "a" * 65, "with spaces in it", "\u00e4" * 20, "a" * 16 + "\n"):
        with pytest.raises(Refused):
            browser_of(given)
        with server.connect(path, quote(given)) as socket:
            assert closing_words(socket).startswith("browser: 16 to 64")


def test_a_second_person_at_a_link(server: Server) -> None:
    """They see what the seat sees, but can do nothing until they are let in. A reload changes nothing."""
    path = server.make("petrichor", ["here"], start={"seed": 2})[0]
    with server.open(path, FIRST) as one, server.open(path, SECOND) as two, server.open(path, "") as nameless:
        assert one.people["plays"] and not two.people["plays"] and not nameless.people["plays"]
        assert until_people(one, watching=2)["waiting"] == [1, 2]
        assert two.people["waiting"] == [] and two.board == one.board
        number, actions = two.view["number"], two.view["answers"][0]["actions"]
        refused: list[tuple[str, dict[str, Any]]] = [
            ("answer", {"view": number, "actions": actions}),
            ("undo", {"view": number}),
            ("alone", {"give": False}),
            ("here", {}),
            ("name", {"seat": 0, "name": "Eve"}),
            ("admit", {"who": 1}),
            ("advice", {"view": number, "agent": "greedy"}),
            ("export", {"what": "replay"}),
            ("page", {}),
            ("review", {"agent": "greedy"}),
            ("step", {}),
        ]
        for do, message in refused:
            assert two.ask(do, **message)["error"] == WATCHING
        assert two.ask("sit")["error"] == "somebody else plays here; they can let you in"
        assert one.ask("admit", who=7)["error"] == "there is nobody to let in"
        assert "error" not in one.answer(actions)
        two.wait()
        assert two.view["number"] > number  # they are told what happens
        two.close()
        with server.open(path, SECOND) as back:
            assert not back.people["plays"]
            until_people(one, waiting=[2, 3])
            assert "error" not in one.ask("admit", who=3)
            until_people(back, plays=True)
            assert "error" not in back.ask("undo", view=back.view["number"])
            assert until_people(one, watching=1)["waiting"] == [2]
        with server.open(path, SECOND) as back:
            assert back.people["plays"]


def test_who_watches_may_look_back(server: Server) -> None:
    path = server.make("petrichor", ["here", "random"], start={"seed": 2})[0]
    with server.open(path, FIRST) as one, server.open(path, SECOND) as two:
        assert "error" in one.ask("export", what="replay")  # it has the seed and all hands
        one.play_out()
        two.until("over")
        assert "error" not in two.ask("export", what="replay")
        assert two.ask("undo", view=two.view["number"])["error"] == WATCHING


def test_when_the_first_is_gone(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes later is not locked out for ever, and whoever was first may come back."""
    monkeypatch.setattr(people, "AWAY", 0.5)
    monkeypatch.setattr(people, "MOMENT", 0.1)
    path = server.make("petrichor", ["here"], start={"seed": 2})[0]
    with server.open(path, FIRST) as one, server.open(path, SECOND) as two:
        assert two.people["here"] == [0]
        one.close()
        assert until_people(two, here=[])["plays"] is False
        until_people(two, free=True)
        assert "error" not in two.ask("sit")
        until_people(two, plays=True, here=[0], free=False)
        assert "error" not in two.answer(two.view["answers"][0]["actions"])
        with server.open(path, FIRST) as back, server.open(path, THIRD) as three:
            assert back.people["plays"] and not three.people["plays"]
            assert three.ask("sit")["error"] == "somebody else plays here; they can let you in"
            assert two.ask("sit")["error"] == "you play here already"


def test_who_was_let_in_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was let in is remembered over a restart of the server. The browsers' own identifiers are in no file."""
    with serving(tmp_path) as server:
        path = server.make("petrichor", ["here", "greedy"])[0]
        with server.open(path, FIRST) as one:
            assert "error" not in one.ask("name", seat=0, name="Ana")
    kept = (tmp_path / "petrichor-2p.links").read_text()
    assert FIRST not in kept and json.loads(kept)["links"][0]["let_in"] == [browser_of(FIRST)]
    with serving(tmp_path, resume=True) as server, server.open(path, SECOND) as two, server.open(path, FIRST) as one:
        assert not two.people["plays"] and one.people["plays"]
        assert one.view["owners"][0]["name"] == "Ana"
    monkeypatch.setattr(people, "AWAY", 0.3)
    with serving(tmp_path, resume=True) as server, server.open(path, SECOND) as two:  # nobody else comes
        until_people(two, free=True)
        assert "error" not in two.ask("sit")


def test_links_files_with_other_things_in_them(tmp_path: Path) -> None:
    for let_in in ("all", [1], ["x"] * 9, {"a": 1}):
        with serving(tmp_path) as server:
            path = server.make("petrichor", ["here"])[0]
        file = max(tmp_path.glob("*.links"), key=lambda one: one.stat().st_mtime_ns)
        notes = json.loads(file.read_text())
        notes["links"][0]["let_in"] = let_in
        file.write_text(json.dumps(notes))
        with serving(tmp_path, resume=True) as server, server.connect(path) as socket:
            assert closing_words(socket) == "there is no such table here"


def test_everybody_may_watch_and_analyse(server: Server) -> None:
    for game in (
        server.make("petrichor", ["random"], kind="watch"),
        server.make("petrichor", [], players=1, kind="analyse"),
    ):
        with server.open(game[0], FIRST) as one, server.open(game[0], SECOND) as two:
            assert two.people["plays"] and two.people["waiting"] == []
            assert until_people(one, watching=1)["here"] == []


# --- who is here -----------------------------------------------------------------------------------------------------


def test_who_is_here(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page is told about every seat. Nothing is told when a page is reloaded."""
    monkeypatch.setattr(people, "MOMENT", 0.3)
    paths = server.make("petrichor", ["apart", "greedy", "apart"])
    with server.open(paths[0], FIRST) as one:
        assert one.people["here"] == [0]
        two = server.open(paths[1], SECOND)
        assert two.people["here"] == [0, 2]
        assert until_people(one, here=[0, 2])["watching"] == 0
        with server.open(paths[1], THIRD) as three:
            assert not three.people["plays"] and three.people["watching"] == 0
            assert until_people(one, watching=1)["waiting"] == []
            assert until_people(two, watching=1)["waiting"] == [1]
        until_people(one, watching=0)
        told = len([message for message in one.got if "people" in message])
        two.close()
        two = server.open(paths[1], SECOND)  # a reload
        two.close()
        until_people(one, here=[0])
        assert len([message for message in one.got if "people" in message]) == told + 1


# --- names -----------------------------------------------------------------------------------------------------------


def test_a_name_of_ones_own(server: Server) -> None:
    """The name is shown everywhere, to everybody, also in earlier messages and in what is saved."""
    paths = server.make("petrichor", ["apart", "apart", "greedy"], start={"seed": 3})
    with server.open(paths[0]) as one, server.open(paths[1]) as two:
        asked, other = (one, two) if one.view["turn"] == "you" else (two, one)
        for page in (asked, other):
            page.until("you")
            page.answer(page.view["answers"][0]["actions"])
        seat, name = asked.view["seat"], "<i>Bo</i>"
        assert other.ask("name", seat=seat, name=name)["error"] == "seat: one of your own"
        assert asked.ask("name", seat=2, name=name)["error"] == "seat: one of your own"
        assert "error" not in asked.ask("name", seat=seat, name=f"  {name} ")
        for page in (asked, other):
            while page.view["owners"][seat]["name"] != name:
                page.wait()
            assert page.view["past"] and page.view["steps"]
            assert "&lt;i&gt;Bo&lt;/i&gt;" in page.board and name not in page.board
        assert other.ask("name", seat=other.view["seat"], name="<I>bo</I>")["error"].endswith(
            "what somebody else is called"
        )
        assert other.ask("name", seat=other.view["seat"], name="Ana")["reply"]
        assert asked.ask("name", seat=seat, name="")["reply"]  # no name again
        assert asked.ask("name", seat=seat, name=name)["reply"]
        assert other.ask("alone", give=True)["reply"]  # by now, earlier messages have come
        play_out(asked, other)
        names = ["", "", "greedy"]
        names[seat], names[other.view["seat"]] = name, "Ana"
        assert json.loads(asked.ask("export", what="replay")["text"])["names"] == names
        assert "Ana" in asked.ask("page")["text"]


def test_names_that_nobody_can_take(server: Server) -> None:
    """Each new name makes all pages show their view again, so there are not many at once."""
    wrong: list[tuple[Any, str]] = [
        ("a" * 25, "names: at most 24"),
        ("a\u202eb", "name: the value has the wrong type"),
        ("greedy", "names: greedy is what somebody else is called"),
        ("Player_1", "names: Player_1 is what somebody else is called"),
        ("Bo", "names: Bo is what somebody else is called"),
        (None, "name: the value has the wrong type"),
    ]
    paths = server.make("evergreen", ["apart", "apart"], names=["Ana", "Bo"])
    for name, error in wrong:
        with server.open(paths[0]) as page:
            assert page.ask("name", seat=0, name=name)["error"].startswith(error)
            assert page.ask("name", seat=1, name="Eve")["error"] == "seat: one of your own"
            assert page.view["owners"][0]["name"] == "Ana"
    with server.open(server.make("evergreen", ["apart", "apart"])[0]) as page:
        errors = [page.ask("name", seat=0, name=f"a{number}").get("error", "") for number in range(15)]
        assert errors.count("too many new names; wait a little") >= 3 and errors[0] == ""


# --- the games of a browser ------------------------------------------------------------------------------------------


def test_whose_turn_it_is_in_ones_games(server: Server, tmp_path: Path) -> None:
    """The question needs the games' links. A question about many games loads none of them."""
    paths = [*server.make("petrichor", ["apart", "apart"], start={"seed": 3}), *server.make("petrichor", ["here"])]
    keys = [path.rpartition("/")[2] for path in paths]

    def turns(**question: Any) -> Any:
        return server.http.post("/api/mine", json=question).json()

    with server.open(paths[0]) as one, server.open(paths[1]) as two:
        seen = {keys[0]: one.view["turn"], keys[1]: two.view["turn"]}
        assert sorted(seen.values()) == ["others", "you"]
        assert turns(keys=[*keys, "unknown"])["turns"] == {**seen, keys[2]: "you", "unknown": "gone"}
    with server.open(paths[2]) as page:
        page.play_out()
    assert turns(keys=keys[2:])["turns"] == {keys[2]: "over"}
    for wrong in (["a"] * 31, "a", [1], [["a"]], None, ["a" * 10_000]):
        assert turns(keys=wrong)["error"] == "keys: the value has the wrong type"
    with serving(tmp_path) as other:
        (path,) = other.make("petrichor", ["here"])
    key = path.rpartition("/")[2]
    with serving(tmp_path, resume=True) as other:
        asked = other.http.post("/api/mine", json={"keys": [key]})
        assert asked.json() == {"turns": {}} and not other.site.tables._ready
        with other.open(path):
            assert other.http.post("/api/mine", json={"keys": [key]}).json() == {"turns": {key: "you"}}


# --- clocks ----------------------------------------------------------------------------------------------------------


def test_a_clock() -> None:
    """The clock runs for the seat that is asked. Others see the time until they can know that it has answered."""
    now = [0.0]
    clock = Clock(1, 5, (0, 1, 2), now=lambda: now[0])

    def shown(*seats: int) -> tuple[list[float], int]:
        content = clock.shown(seats)
        return [*content["left"].values()], content["runs"]

    now[0] = 100.0
    assert shown(0) == ([60.0, 60.0, 60.0], NOBODY)  # until somebody is asked
    clock.ask(0, 0, 0)
    now[0] += 10
    assert shown(0) == shown(1) == ([50.0, 60.0, 60.0], 0)
    clock.ask(1, None, 1)  # in secret
    now[0] += 20
    assert shown(2) == ([30.0, 60.0, 60.0], 0)  # as if the seat before were still thinking
    assert shown(0) == ([50.0, 60.0, 60.0], NOBODY) and shown(1) == ([50.0, 40.0, 60.0], 1)
    clock.ask(0, 0, 2)  # nobody but seat 1 knows that there was another question, so it gives seat 0 nothing
    assert shown(0) == ([50.0, 60.0, 60.0], 0) and shown(1) == ([30.0, 45.0, 60.0], 0)
    clock.ask(2, NOBODY, 3)  # everybody sees that somebody is asked, but not who
    now[0] += 30
    assert shown(0) == ([55.0, 60.0, 60.0], NOBODY) and shown(2) == ([35.0, 60.0, 30.0], 2)
    again = Clock.of_notes(json.loads(json.dumps(clock.notes)), (0, 1, 2))
    assert again is not None and again.notes == clock.notes  # as of the last answer
    clock.ask(NOBODY, NOBODY, 4)
    now[0] += 1000
    assert shown(2) == ([35.0, 60.0, 35.0], NOBODY)


def test_a_clock_of_answers_that_are_taken_back() -> None:
    """No time is given back, but what was added for the answers is taken back, too."""
    now = [0.0]
    clock = Clock(1, 5, (0,), now=lambda: now[0])
    clock.ask(0, 0, 0)
    for number in range(1, 20):
        now[0] += 1
        clock.ask(1, 1, 3)  # after three answers
        assert clock.shown((0,))["left"] == {0: 65.0 - number}
        clock.ask(0, 0, 5)
        clock.ask(0, 0, 0)  # all of them are taken back
        assert clock.shown((0,))["left"] == {0: 60.0 - number}


def test_clocks_that_nobody_can_have(server: Server) -> None:
    refused = partial(server.refused, game="petrichor", players=2)
    orders: list[Any] = [{}, {"minutes": 5}, {"minutes": 5, "seconds": 5, "left": [1, 1]}]
    orders += [{"minutes": minutes, "seconds": 1} for minutes in (0, 601, 5.5, True)] + [{"minutes": 5, "seconds": -1}]
    for order in orders:
        assert refused(seats=["apart", "apart"], clock=order).startswith("clock: minutes from 1"), order
    assert refused(seats=["apart", "apart"], clock=3) == "clock: the value has the wrong type"
    watch = {"kind": "watch", "seats": ["random", "random"], "clock": {"minutes": 5, "seconds": 0}}
    assert refused(**watch) == "clock: only for a game of people"


def test_clocks_of_files_with_other_things_in_them() -> None:
    wrong: list[dict[str, Any]] = [{"left": left} for left in ([float("inf"), 1.0], [1.0], ["1", 1])]
    wrong += [{"minutes": 0}, {"seen": "no"}, {"asked": None}]
    others: list[Any] = [3, [], {}, *({**Clock(5, 5, (0, 1)).notes, **one} for one in wrong)]
    for notes in others:
        with pytest.raises(Refused):
            Clock.of_notes(notes, (0, 1))
    assert clock_of(None, (0, 1)) is Clock.of_notes(None, (0, 1)) is None


def test_a_game_with_a_clock(tmp_path: Path) -> None:
    """The clock waits until everybody has been here. It is saved, and comes with the next game."""
    order = {"minutes": 5, "seconds": 3}
    with serving(tmp_path) as server:
        paths = server.make("petrichor", ["apart", "apart", "random"], start={"seed": 3}, clock=order)
        with server.open(paths[0], FIRST) as one:
            assert one.clock == {"left": {"0": 300.0, "1": 300.0}, "runs": NOBODY}
            with server.open(paths[1], FIRST) as two:
                until_people(one, here=[0, 1])
                pages = [one, two]
                asked = next(page for page in pages if page.view["turn"] == "you")
                seat = pages.index(asked)
                assert one.clock["runs"] == two.clock["runs"] == seat
                asked.answer(asked.view["answers"][0]["actions"])
                asked.until("others")
                assert asked.clock["left"][str(seat)] > 300.0 - SECONDS and asked.clock["runs"] != seat
    kept = json.loads((tmp_path / "petrichor-3p.links").read_text())["clock"]
    assert kept["minutes"] == 5 and kept["left"][seat] != 300.0
    with (
        serving(tmp_path, resume=True) as server,
        server.open(paths[0], FIRST) as one,
        server.open(paths[1], FIRST) as two,
    ):
        assert one.clock["left"]["0"] < kept["left"][0] + 0.1 and two.clock["left"]["1"] < kept["left"][1] + 0.1
        play_out(one, two)
        assert one.clock["runs"] == NOBODY
        assert "error" not in one.ask("again")
        next_one = json.loads((tmp_path / "petrichor-3p-2.links").read_text())["clock"]
        assert next_one["minutes"] == 5 and next_one["seconds"] == 3
