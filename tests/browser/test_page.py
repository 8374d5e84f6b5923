"""The web page in real browsers: whole games by mouse, finger and keyboard, and what the page shows."""

from __future__ import annotations

import asyncio
import html
import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
import segno
from PIL import Image

pytest.importorskip("selenium", reason="needs selenium")

from selenium.webdriver.common.keys import Keys

from petrichor_env import Config as PetrichorConfig
from petrichor_env.actions import DECLINE
from petrichor_env.config import MODULES
from tabletop_engine.drawing.parts import drawings_of
from tabletop_engine.game import game_of
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.replays.replay import Replay
from tabletop_play import catalogue
from tabletop_play.opponents import LEVEL_NAMES
from tabletop_play.session import Session
from tabletop_play.web import people
from tests.support.browser import by_id, chromium, prefer, press, resize, wait
from tests.support.effort import THOROUGH
from tests.support.recorded import NASTY, QUOTES
from tests.support.visitor import DESK, OFFERED, PHONE, SPOTS, Visitor, a_browser, visiting, with_module
from tests.support.web import SECONDS, Server, play_out, serving


class Failing:
    """A user's own agent that can't answer, and says so in markup."""

    def act(self, *arguments: Any, **options: Any) -> int:
        raise ValueError(QUOTES + NASTY)


FAILING = f"{__name__}:Failing"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("games"), hurried=True, agents=[FAILING]) as one:
        yield one


@pytest.fixture(scope="module")
def patient_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the page as it is, for what happens in the moments before a question takes an answer."""
    with serving(tmp_path_factory.mktemp("patient")) as one:
        yield one


@pytest.fixture(scope="module")
def phone() -> Iterator[Any]:
    with a_browser(PHONE) as browser:
        yield browser


@pytest.fixture
def patient(desk: Any, patient_server: Server, tmp_path: Path) -> Iterator[Visitor]:
    with visiting(desk, patient_server.url, tmp_path) as one:
        yield one


@pytest.fixture
def other(phone: Any, server: Server, tmp_path: Path) -> Iterator[Visitor]:
    """Another visitor, with a phone."""
    with visiting(phone, server.url, tmp_path) as one:
        yield one


@pytest.fixture
def quick_adviser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default adviser is quick."""
    monkeypatch.setattr(catalogue, "hints_name", lambda config: "ismcts-20")


def points_of(visitor: Visitor) -> list[int]:
    return [int(text) for text in visitor.texts("#owners td:last-child")]


# --- whole games -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["petrichor", pytest.param("evergreen", marks=pytest.mark.slow)])
def test_a_whole_game_alone(visitor: Visitor, sound: Callable[[], None], quick_adviser: None, game: str) -> None:
    """A whole game, with clicks on the board if answers have places; then its points, file, review, and a moment."""
    visitor.choose(game, seed=5)
    visitor.click("play")
    visitor.starts()
    visitor.play_out()
    assert visitor.clicks["board"] > 25 and visitor.clicks["board"] > visitor.clicks["beside"]
    visitor.click("save")
    replay = Replay.load(visitor.downloaded(f"{game}-*.json"), game_of(f"{game}_env"))
    session = Session.of(replay, {})
    given = [action for actions in visitor.given() for action in actions]
    assert replay.seed == 5 and given == list(replay.actions)
    assert visitor.text("verdict") == session.verdict()
    assert points_of(visitor) == session.points()[-1][1]
    rows = [row.split() for row in by_id(visitor.browser, "sources").text.splitlines()]
    assert rows[-1] == ["points", *map(str, session.points()[-1][1])]

    visitor.click("review-button")
    wait(lambda: visitor.all("#moments button") and not visitor.shows("review-progress"), SECONDS)
    sound()
    assert "ismcts-20" in visitor.text("review-about")
    moment = visitor.find("#moments button")
    step = int(moment.get_attribute("data-step"))
    assert f"Step {step + 1}. Better:" in moment.text
    moment.click()
    visitor.starts("analyse")
    assert visitor.text("place").startswith(f"Step {step} of {len(replay.actions)}")
    assert visitor.find("#line [aria-current]").get_attribute("data-step") == str(step)
    drawn = session.game.drawing.render_svg(replay.states[step], None, names=("Player 1",))
    asked = drawn.partition('data-asked="')[2].partition('"')[0]
    assert f'data-asked="{asked}"' in visitor.picture
    sound()
    # what was played, and what would have been better, each with what it gains; the better one is on the board
    wait(lambda: len(visitor.all("#estimates .plan")) == 2 and visitor.all("#board .ghost"), SECONDS)
    assert [text.partition(":")[0] for text in visitor.texts("#estimates .plan")] == ["Played", "Better"]


def test_looking_back(visitor: Visitor, server: Server, sound: Callable[[], None], quick_adviser: None) -> None:
    """The curve works by keys and mouse. Mistakes can be tried again: the played answer, a better one, the next."""
    (path,) = server.make("petrichor", ["here", "random"], start={"seed": 4})
    with server.open(path) as page:
        page.play_out()
    visitor.sit(path)
    visitor.click("review-button")
    wait(lambda: visitor.all("#curve .line") and not visitor.shows("review-progress"), SECONDS)
    curve = by_id(visitor.browser, "curve")
    assert curve.aria_role == "slider" and "over the game" in curve.accessible_name
    marks = visitor.run("return [...document.querySelectorAll('#curve .mistake')].map((one) => +one.dataset.step)")
    assert marks
    curve.send_keys(Keys.HOME, Keys.PAGE_UP)
    step = int(curve.get_attribute("aria-valuenow"))
    assert step == sorted(marks)[0 if sorted(marks)[0] > 0 else 1]
    assert f"Step {step + 1}, " in visitor.text("curve-told") and "A mistake" in visitor.text("curve-told")
    curve.send_keys(Keys.ENTER)  # the analysis gets the review, too
    visitor.starts("analyse")
    wait(lambda: visitor.text("place").startswith(f"Step {step} of"), SECONDS)
    curve = by_id(visitor.browser, "curve")
    assert visitor.shows("curve") and curve.get_attribute("aria-valuenow") == str(step)
    curve.send_keys(Keys.ARROW_RIGHT)
    wait(lambda: int(by_id(visitor.browser, "curve").get_attribute("aria-valuenow")) > step, SECONDS)
    middle = visitor.run(
        "const mark = document.querySelector(`#curve [data-step='${arguments[0]}']`);"
        "mark.scrollIntoView({ block: 'center', behavior: 'instant' });"
        "const { x, y, width } = mark.getBoundingClientRect(); return [x + width / 2, y + width / 2]",
        marks[-1],
    )
    visitor.point(*middle)
    wait(lambda: visitor.text("place").startswith(f"Step {marks[-1]} of"), SECONDS)
    sound()

    assert by_id(visitor.browser, "retry-order").get_attribute("value") == "drop"  # the costliest mistake first
    by_id(visitor.browser, "retry-order").find_element("css selector", "[value=step]").click()
    visitor.click("retry-start")
    wait(lambda: visitor.text("retry-asked").startswith("Mistake 1 of") and visitor.ready, SECONDS)
    first = min(marks)
    wait(lambda: visitor.text("place").startswith(f"Step {first} of") and not visitor.shows("moments"), SECONDS)
    wait(lambda: visitor.view()["seat"] == 0 and visitor.ready, SECONDS)
    moments = visitor.browser.execute_async_script(with_module("review", "review.looked().moments"))
    moment = next(one for one in moments if one["step"] == first)

    def given(action: int, words: str) -> None:
        visitor.run("document.querySelector(`#answers [data-action='${arguments[0]}']`).click()", action)
        wait(lambda: words in visitor.text("retry-answer") and visitor.ready, SECONDS)
        assert visitor.text("place").startswith(f"Step {first} of")  # nothing was played

    given(moment["action"], "This is what was played")
    given(moment["better_action"], "Well found")
    known = (moment["action"], moment["better_action"])
    others = [one["actions"][0] for one in visitor.view()["answers"] if one["actions"][0] not in known]
    if others:
        given(others[0], "chance" if "chance" in visitor.text("curve-told") else "points")
    visitor.click("retry-show")
    assert visitor.text("retry-answer").startswith(f"Better: {moment['better']}")
    sound()
    visitor.click("retry-next")
    if len(marks) > 1:
        wait(lambda: visitor.text("retry-asked").startswith("Mistake 2 of"), SECONDS)
        visitor.click("retry-stop")
    wait(lambda: visitor.shows("moments") and not visitor.shows("retry") and visitor.ready, SECONDS)

    # on a phone the costliest mistake, with the question in the sheet
    resize(visitor.browser, *PHONE)
    visitor.run("document.querySelector('#retry-order [value=drop]').selected = true")
    visitor.run("document.getElementById('retry-start').click()")
    dearest = max((one for one in moments if one["step"] in marks), key=lambda one: one["drop"])
    wait(lambda: f"step {dearest['step'] + 1}." in visitor.text("retry-asked") and visitor.ready, SECONDS)
    wait(lambda: visitor.text("place").startswith(f"Step {dearest['step']} of"), SECONDS)
    asked = visitor.run("return document.getElementById('retry-asked').getBoundingClientRect()")
    assert asked["top"] > 0.3 * PHONE[1] and asked["bottom"] <= PHONE[1]
    visitor.click("retry-stop")
    wait(lambda: not visitor.shows("retry") and visitor.ready, SECONDS)
    resize(visitor.browser, *DESK)

    played = visitor.text("place")
    visitor.run("document.querySelector('#answers button').click()")  # this answer leaves the line of the game
    wait(lambda: visitor.text("place") != played and visitor.ready, SECONDS)
    if visitor.shows("back-to-game"):
        visitor.click("back-to-game")
        wait(lambda: not visitor.view()["played"]["left"], SECONDS)


def session_of(server: Server, visitor: Visitor) -> Session:
    """The game of the table that somebody has open, as the server has it."""
    return asyncio.run(server.site.tables.find(visitor.key))[0].session


_HANDS = """
const hands = [...document.querySelectorAll("[data-hand]")];
const cards = [...document.querySelectorAll("[data-hand-card]")].map((card) => card.closest("[data-hand]"));
if (!cards.every((hand) => hands.includes(hand))) throw new Error("a card is in no hand");
return hands.map(({ dataset: { owner, hand } }) => [owner, hand.split(",").map(Number)]);
"""


@pytest.mark.slow
def test_a_game_of_two_devices_and_an_agent(visitor: Visitor, other: Visitor, server: Server) -> None:
    """Two people, one with a phone, each with a link from the start page. No page gets the other's cards."""
    visitor.choose("petrichor", 3, seed=7)
    seats = visitor.all(".seat-row select")
    seats[1].send_keys("Somebody")
    assert [seat.get_attribute("value") for seat in seats] == ["here", "apart", "agent"]
    visitor.click("play")
    wait(lambda: visitor.shows("links"), SECONDS)
    link = visitor.find("#links li[data-seats='1'] input").get_attribute("value")
    assert len(visitor.all("#links li")) == 1
    visitor.click("own-link")
    assert not visitor.shows("links")
    other.open(link)
    wait(lambda: other.turn in ("you", "others"))
    assert other.key != visitor.key
    looked = 0
    session = session_of(server, visitor)
    while not session.over:
        for seat, one in enumerate((visitor, other)):
            facts = one.facts
            if facts["ready"] and facts["turn"] == "you":
                assert one.run(_HANDS) == [[f"player_{seat}", session.state["hand"][seat].tolist()]]
                looked += 1
                one.give()
                given = partial(one.gone_on, facts["ready"])
                wait(given, SECONDS)
    wait(lambda: visitor.turn == other.turn == "over")
    assert looked > 50 and min(visitor.clicks["board"], other.clicks["board"]) > 20
    for seat, one in enumerate((visitor, other)):
        views = one.views()
        assert len(views) > 50 and {view["seat"] for view in views} == {seat}
        hands = {owner for view in views for part in view["parts"] for owner in re.findall(_WHOSE_HAND, part)}
        assert hands == {f"player_{seat}"}
        assert one.text("verdict") == session.verdict()
        assert points_of(one) == session.points()[-1][1]


_WHOSE_HAND = r'<g [^>]*data-owner="(\w+)"[^>]* data-hand='


@pytest.mark.slow
def test_a_game_by_keyboard_alone(visitor: Visitor, quick_adviser: None) -> None:
    """From the start page to the end of a game, with help, advice and undo; the mouse is never used."""
    visitor.open("/")
    wait(lambda: visitor.all(".game"))
    visitor.tab_to("[name=game]:checked")
    press(visitor.browser, Keys.ARROW_RIGHT)
    assert visitor.find("[name=game]:checked").get_attribute("value") == "evergreen"
    visitor.tab_to("[name=players]")
    press(visitor.browser, Keys.ARROW_RIGHT)
    assert len(visitor.all(".seat-row")) == 2
    press(visitor.browser, Keys.ARROW_LEFT)
    visitor.tab_to("#more summary")
    press(visitor.browser, Keys.ENTER)
    visitor.tab_to("#seed")
    press(visitor.browser, "3")
    visitor.tab_to("#play")
    press(visitor.browser, Keys.ENTER)
    visitor.starts()

    press(visitor.browser, "h")
    assert visitor.shows("help") and visitor.run("return document.activeElement.id") == "help-close"
    press(visitor.browser, Keys.ESCAPE)
    assert not visitor.shows("help")

    first = visitor.picture
    by_number(visitor, 2)
    assert visitor.picture != first
    before = visitor.ready
    press(visitor.browser, "u")
    visitor.changed(before)
    assert visitor.picture == first

    press(visitor.browser, "?")
    wait(lambda: visitor.all("#answers .share"), SECONDS)
    assert "ismcts-20" in visitor.text("estimates") and visitor.all("#badges text")
    shares = [float(text.partition("%")[0]) for text in visitor.texts("#answers .share") if "under" not in text]
    assert sum(shares) == pytest.approx(100, abs=1)

    # to the board by Tab, along it by arrows, and an answer there
    while len(visitor.all(".mark:not(.quiet)")) < 4:
        by_number(visitor, 1)
    visitor.tab_to(".mark")
    places = [visitor.run("return document.activeElement.dataset.place")]
    for key in (Keys.END, Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_LEFT, Keys.ARROW_UP):
        press(visitor.browser, key)
        places.append(visitor.run("return document.activeElement.dataset.place"))
    assert places[0] == places[2] and len(set(places)) > 2 and None not in places
    before = visitor.ready
    press(visitor.browser, Keys.ENTER)
    if visitor.shows("menu"):
        press(visitor.browser, Keys.ARROW_DOWN, Keys.ENTER)
    while visitor.facts["begun"] not in ("", "0"):
        # what continues it has the focus, on the board or at the top of the list, or the button that gives it
        wait(lambda: visitor.ready == before)
        assert visitor.run("return document.activeElement.matches('.mark, #asked, #commit')")
        press(visitor.browser, Keys.ENTER if visitor.all(":is(.mark, #commit):focus") else Keys.ARROW_DOWN + Keys.ENTER)
    visitor.changed(before)
    # and in the list by arrows
    press(visitor.browser, Keys.ARROW_DOWN)
    assert visitor.run("return document.activeElement.matches('#answers button')")
    assert len(visitor.all("#answers button[tabindex='0']")) == 1  # Tab leaves the list
    by_keys(visitor, Keys.ENTER)
    filtered = False
    while visitor.turn != "over":
        if not filtered and visitor.shows("filter-row"):
            # by words
            words = max(visitor.texts("#answers .words"), key=len)
            press(visitor.browser, "/", words)
            left = [one for one in visitor.all("#answers .words") if one.is_displayed()]
            assert [one.get_attribute("textContent") for one in left] == [words]
            by_keys(visitor, Keys.ENTER)
            filtered = True
        by_number(visitor, visitor.random.randrange(len(visitor.all("#answers button"))) + 1)
    assert filtered and visitor.text("verdict").startswith("You ")
    assert visitor.run("return document.activeElement.id") == "verdict"
    before = visitor.ready
    press(visitor.browser, "u")
    visitor.changed(before)
    assert visitor.turn == "you" and not visitor.shows("result")


def by_number(visitor: Visitor, number: int) -> None:
    """An answer by its number in the list, or a part of one."""
    by_keys(visitor, str(number) + Keys.ENTER)


def by_keys(visitor: Visitor, *keys: str) -> None:
    """Press keys that answer, or that begin an answer."""
    before = visitor.facts
    press(visitor.browser, *keys)
    if not visitor.begins(before):
        visitor.changed(before["ready"])


# --- what can be clicked, and what is told ---------------------------------------------------------------------------


Spots = list[dict[str, Any]]


def with_answers(visitor: Visitor, server: Server, fits: Callable[[Spots], bool]) -> list[dict[str, Any]]:
    """Play until the page's places fit; returns the answers that the server offers there."""
    while not fits(visitor.spots()):
        visitor.answer()
    with server.open(f"/table/{visitor.key}") as page:
        return list(page.view["answers"])


def path_of(place: list[list[str]]) -> str:
    return " ".join(f"{name}:{value}" for name, value in place)


@pytest.mark.parametrize("game", [pytest.param("petrichor", marks=pytest.mark.slow), "evergreen"])
def test_only_answers_can_be_clicked(
    visitor: Visitor, server: Server, sound: Callable[[], None], quick_adviser: None, game: str
) -> None:
    """All places of answers can be clicked and no others, each with exactly its answers.

    If an agent gives one answer all of its share, the board's words and numbers stay readable.
    """
    visitor.sit(server.make(game, ["here"], start={"seed": 4})[0])
    for number in range(20):
        answers = with_answers(visitor, server, lambda spots: len(spots) > 1)
        assert visitor.texts("#answers .words") == [one["text"] for one in answers]
        offered: dict[str, set[int]] = {}
        for one in answers:
            for place in one["steps"][0]["places"] if not one["steps"][0]["aside"] else []:
                offered.setdefault(path_of(place), set()).add(one["actions"][0])
        spots = visitor.spots()
        assert all(spot["at"] for spot in spots)
        for spot in spots:
            assert set(spot["actions"]) == offered[spot["place"]]
        reached = {action for spot in spots for action in spot["actions"]}
        firsts = [(one["actions"][0], one["steps"][0]) for one in answers]
        assert reached == {action for action, step in firsts if step["places"] and not step["aside"]}
        for place, covered in visitor.browser.execute_async_script(_COVERED):
            assert covered == [], place
        if number == 0:
            press(visitor.browser, "?")
            wait(lambda: visitor.all("#answers .share"), SECONDS)
            sound()
        visitor.answer()


_ELSEWHERE = """
const board = document.getElementById("board").getBoundingClientRect(), found = [];
for (let i = 1; i < 16; i++) for (let j = 1; j < 16; j++) {
  const x = board.left + (i * board.width) / 16, y = board.top + (j * board.height) / 16;
  if (!document.elementFromPoint(x, y).closest(".mark")) found.push([x, y]);
}
return found;
"""


def click_elsewhere(visitor: Visitor) -> None:
    """What is no answer does nothing. A note says what was clicked, and why not; the next answer clears it."""
    given, elsewhere = visitor.given(), visitor.run(_ELSEWHERE)
    assert len(elsewhere) > 100
    notes = []
    for x, y in visitor.random.sample(elsewhere, 15):
        visitor.point(x, y)
        notes.append(visitor.text("note"))
    assert not visitor.shows("menu") and not visitor.can_commit and visitor.given() == given
    assert all("This is no answer to “" in note and "Only outlined places answer it." in note for note in notes)
    assert any(not note.startswith("This") for note in notes)
    visitor.answer()
    assert visitor.text("note") == "" and len(visitor.given()) == len(given) + 1


def test_places_in_any_order(visitor: Visitor, server: Server) -> None:
    """Of a set of spaces the last one can be clicked first. The server gets them in the order of the rules."""
    visitor.sit(server.make("evergreen", ["here"], start={"seed": 4})[0])

    def spaces() -> Spots:
        wait(lambda: visitor.ready, SECONDS)
        found = [spot for spot in visitor.spots() if " space:" in spot["place"] and len(spot["actions"]) == 1]
        return sorted(found, key=lambda spot: spot["actions"])

    while "plant up to 3" not in visitor.text("hand"):
        visitor.answer()
    next(one for one in visitor.all("#hand button") if "3 sprouts" in one.text).click()
    first, *_, last = spaces()
    before = visitor.ready
    visitor.tap(last)
    wait(lambda: int(visitor.facts["begun"] or 0) == 2 and visitor.ready, SECONDS)
    ghosts = len(visitor.all("#board :is(use.ghost, .ghost use)"))
    assert first["actions"] in [one["actions"] for one in spaces()] and ghosts
    visitor.tap(next(one for one in spaces() if one["actions"] == first["actions"]))
    wait(lambda: int(visitor.facts["begun"] or 0) == 3 and visitor.ready, SECONDS)
    assert len(visitor.all("#board :is(use.ghost, .ghost use)")) > ghosts
    visitor.click("commit")
    visitor.changed(before)
    assert visitor.given()[-1][-2:] == [*first["actions"], *last["actions"]]
    # around a place that is the only one left, too
    while not (len(visitor.all(".mark")) == 1 and "space:" in visitor.spots()[0]["place"]):
        visitor.answer()
    click_elsewhere(visitor)


_GHOSTS = "return document.querySelectorAll('#board .ghost').length"


def test_point_preview_commit(visitor: Visitor, server: Server) -> None:
    """A card lights its places up; a place shows the outcome as ghosts; one button gives the answer.

    A second click, Escape, or another card takes back. Paying with other cards is behind a button.
    """
    visitor.sit(server.make("petrichor", ["here"], start={"seed": 4})[0])
    before, board, answers = visitor.ready, visitor.picture, [one["actions"] for one in visitor.view()["answers"]]
    chosen = "#hand [aria-pressed='true']"

    def press_card(number: int, stays: bool = True) -> None:
        words = visitor.texts("#hand .card")[number]
        visitor.all("#hand .card")[number].click()
        wait(lambda: visitor.texts(chosen) == [words] * stays and visitor.ready == before, SECONDS)

    press_card(0)
    assert not visitor.can_commit
    places = [spot["place"] for spot in visitor.spots()]
    assert places and visitor.run(_GHOSTS) == 0
    press_card(1)
    assert visitor.facts["begun"] == "1"
    press_card(1, stays=False)
    assert visitor.facts["begun"] == "0"

    press_card(0)
    spot = visitor.spots()[0]
    visitor.tap(spot)
    wait(lambda: visitor.can_commit and visitor.ready == before, SECONDS)
    assert visitor.run(_GHOSTS) > 0 and visitor.picture == board and visitor.given() == []
    assert spot["place"] in visitor.facts_of(".mark.chosen", "place")
    press(visitor.browser, Keys.ESCAPE)
    wait(lambda: visitor.ready == before, SECONDS)
    assert visitor.run(_GHOSTS) == 0 and visitor.all(chosen) and [one["place"] for one in visitor.spots()] == places
    visitor.tap(visitor.spots()[0])
    wait(lambda: visitor.can_commit and visitor.ready == before, SECONDS)
    visitor.tap(visitor.spots(".mark.chosen")[-1])  # a second click on the place
    wait(lambda: visitor.ready == before, SECONDS)
    assert visitor.run(_GHOSTS) == 0 and not visitor.can_commit

    visitor.find("#hand .aside").click()
    assert visitor.find("#hand .aside").get_attribute("aria-expanded") == "true"
    offered = {one["actions"][0] for one in visitor.view()["answers"] if one["steps"][0]["aside"]}
    assert {int(one.get_attribute("data-action")) for one in visitor.all("#hand [data-action]")} == offered

    def fold() -> bool:
        visitor.find("#hand .aside").click()
        return bool(visitor.find("#hand .aside").get_attribute("aria-expanded") == "false")

    wait(fold, SECONDS)  # a second click that comes too soon does not count
    wait(lambda: visitor.ready == before, SECONDS)
    press_card(0)
    visitor.tap(visitor.spots()[0])
    wait(lambda: visitor.can_commit, SECONDS)
    visitor.click("commit")
    visitor.changed(before)
    assert visitor.given()[0] in answers and visitor.run(_GHOSTS) == 0


def test_a_turn_in_one_preview(visitor: Visitor, server: Server) -> None:
    """The next question of the same seat is answered in what is seen in advance, and one button gives all answers."""
    visitor.sit(server.make("petrichor", ["here"], start={"seed": 4})[0])
    session, before, view, asked = session_of(server, visitor), visitor.ready, visitor.view(), visitor.text("asked")

    def chosen(number: int) -> None:
        wait(lambda: visitor.facts["begun"] == str(number) and visitor.ready == before and visitor.can_commit, SECONDS)

    def choose() -> dict[str, Any]:
        spot = next(one for one in visitor.spots() if len(one["actions"]) == 1)
        visitor.tap(spot)
        return spot

    visitor.find("#hand .card").click()
    wait(lambda: visitor.facts["begun"] == "1" and visitor.ready == before, SECONDS)
    choose()
    chosen(2)
    assert "Vote" in visitor.text("asked") and visitor.text("commit") == "Do it"
    vote = choose()
    chosen(3)
    assert visitor.text("commit") == "Do it take no optional action" and visitor.given() == []
    resize(visitor.browser, *PHONE)  # it fits there, too
    assert visitor.run("const one = document.getElementById('commit'); return one.scrollHeight <= one.clientHeight")
    press(visitor.browser, Keys.ESCAPE)
    chosen(2)
    assert "Vote" in visitor.text("asked") and vote["place"] in [one["place"] for one in visitor.spots()]
    choose()
    chosen(3)
    visitor.click("commit")
    visitor.changed(before)
    (given,) = visitor.given()
    assert given[2:] == [*vote["actions"], DECLINE] and session.replay.actions[:4] == tuple(given)
    assert visitor.run(_GHOSTS) == 0
    before = visitor.ready
    press(visitor.browser, "u")
    visitor.changed(before)
    assert visitor.view()["answers"] == view["answers"] and visitor.text("asked") == asked


def test_in_a_hurry(visitor: Visitor, server: Server) -> None:
    """A double click, and Enter, give an answer at once if no choice follows."""
    from selenium.webdriver import ActionChains

    drafting = {"players": 2, "options": {"drafting": True}, "start": {"seed": 4}}
    for number, pressed in enumerate(("mouse", "Enter"), 1):
        visitor.sit(server.make("petrichor", ["here", "greedy"], **drafting)[0])
        before = visitor.ready
        card = visitor.find("#hand .card")
        if pressed == "mouse":
            ActionChains(visitor.browser).double_click(card).perform()
        else:
            visitor.run("arguments[0].focus()", card)
            press(visitor.browser, Keys.ENTER)
        visitor.changed(before)
        assert len(visitor.given()) == number


def test_answers_on_the_board_and_in_the_list(
    visitor: Visitor, server: Server, sound: Callable[[], None], quick_adviser: None
) -> None:
    """A game, in its order. Once its table is open, the page loads nothing more, so it needs no network."""
    visitor.sit(server.make("petrichor", ["here"], start={"seed": 4})[0])
    visitor.asked.clear()
    click_elsewhere(visitor)
    with_answers(visitor, server, lambda spots: len(spots) > 2)
    light_each_other_up(visitor)
    pass_and_lose_cards(visitor)
    take_back_what_is_begun(visitor)

    press(visitor.browser, "h", Keys.ESCAPE)
    assert visitor.asked == set()

    # a click on a place with several answers opens a menu; Escape or a click elsewhere closes it, without an answer
    visitor.sit(server.make("evergreen", ["here"], start={"seed": 4})[0])
    several = lambda spots: any(len(spot["actions"]) > 1 for spot in spots)  # noqa: E731
    words = {one["actions"][0]: one["steps"][0]["text"] for one in with_answers(visitor, server, several)}
    sent = len(visitor.sent())
    spot = next(spot for spot in visitor.spots() if len(spot["actions"]) > 1)
    visitor.point(*spot["at"])
    assert visitor.texts("#menu [role=menuitem]") == [words[action] for action in spot["actions"]]
    assert visitor.run("return document.activeElement.textContent") == words[spot["actions"][0]]
    press(visitor.browser, Keys.ESCAPE)
    assert not visitor.shows("menu")
    assert visitor.run("return document.activeElement.dataset.place") == spot["place"]
    visitor.point(*spot["at"])
    assert visitor.shows("menu")
    visitor.click("asked")
    assert not visitor.shows("menu") and len(visitor.sent()) == sent
    press(visitor.browser, "?")
    wait(lambda: visitor.all("#answers .share"), SECONDS)
    sound()
    spot = next(spot for spot in visitor.spots() if len(spot["actions"]) > 1)
    visitor.point(*spot["at"])
    assert visitor.shows("menu") and visitor.browser.execute_async_script(_AXE, None) == []
    before = visitor.ready
    visitor.all("#menu button")[1].click()
    visitor.go_on(before)
    assert visitor.given()[-1][0] == spot["actions"][1]


def light_each_other_up(visitor: Visitor) -> None:
    """The mouse on a place lights up its answers in the list, and the other way round."""
    spots = visitor.spots()
    for spot in spots[:3]:
        visitor.hover(*spot["at"])
        lit = visitor.run("return [...document.querySelectorAll('#answers .lit')].map((one) => one.dataset.action)")
        begins = [int(actions.split()[0]) for actions in visitor.run(_ROWS)]
        assert {int(actions.split()[0]) for actions in lit} == set(spot["actions"])
        assert len(lit) == sum(action in spot["actions"] for action in begins)
    action = spots[1]["actions"][0]
    one = visitor.find(f"#answers [data-action='{action}'], #answers [data-action^='{action} ']").rect
    visitor.hover(one["x"] + 20, one["y"] + 10)
    lit = visitor.run("return [...document.querySelectorAll('.mark.lit')].map((one) => one.dataset.place)")
    assert lit == [spot["place"] for spot in spots if action in spot["actions"]]


def test_a_coach(visitor: Visitor, server: Server, sound: Callable[[], None], quick_adviser: None) -> None:
    """Advice shows the rest of the turn on the board, and what it gains. It can be chosen; its numbers are folded."""
    visitor.sit(server.make("evergreen", ["here"], start={"seed": 5})[0])
    while len(visitor.view()["answers"]) < 2:
        visitor.answer(at_length=True)
    before = visitor.ready
    visitor.click("advice")
    wait(lambda: visitor.all("#estimates .plan"), SECONDS)
    assert visitor.all("#board .ghost") and visitor.all(".mark") and not visitor.can_commit
    sound()
    assert not visitor.shows("badges") and not visitor.find("#answers .share").is_displayed()
    visitor.find("#estimates summary").click()
    assert visitor.shows("badges") and visitor.find("#answers .share").is_displayed()
    assert "Your points" in visitor.text("estimates") or "Your chance" in visitor.text("estimates")
    press(visitor.browser, Keys.ESCAPE)
    assert not visitor.all("#board .ghost") and visitor.text("estimates") == "" and visitor.all(".mark")

    visitor.click("advice")
    wait(lambda: visitor.all("#estimates .plan"), SECONDS)
    visitor.find("#estimates .plan button").click()
    wait(lambda: visitor.can_commit, SECONDS)
    planned = visitor.text("estimates")
    visitor.click("commit")
    visitor.changed(before)
    sent = visitor.sent()
    asked = [message["actions"] for message in sent if message["do"] == "plan"]
    assert len(asked) == 2 and asked[0] == asked[1]
    given = visitor.given()[-1]
    assert given[0] == asked[0][0] and len(given) > 2 and "take the card" in planned.lower()


_ROWS = "return [...document.querySelectorAll('#answers button')].map((one) => one.dataset.action)"
_CLICK = """
// a click, and then what is on the page in the first frame with another view
const [place, done] = arguments, { dataset } = document.body, view = dataset.view;
const shown = [];
new MutationObserver(() => shown.push(document.getElementById("caption").textContent))
  .observe(document.getElementById("caption"), { childList: true, subtree: true });
window.captions = shown;
document.querySelectorAll("#answers button")[place].click();
const look = () => {
  if (dataset.view === view) return requestAnimationFrame(look);
  const enabled = [...document.querySelectorAll("#answers button")].filter((one) => !one.disabled);
  done({
    board: document.querySelector("#board .picture").innerHTML, answers: enabled.length, turn: dataset.turn,
    asked: document.getElementById("asked").textContent, ready: dataset.ready ?? "", told: shown.slice(),
    moving: document.getAnimations().filter((one) => one.effect.target.matches("#board use")).length,
  });
};
look();
"""


def test_turns_of_others_are_played_once(patient: Visitor, patient_server: Server) -> None:
    """The next question is there at once, while each turn plays on the board, with a sentence. A button ends it."""
    patient.sit(patient_server.make("petrichor", ["here", "random", "random"], start={"seed": 5})[0])
    choose_speed(patient, "0.3")
    steps: list[dict[str, Any]] = []
    while not patient.all("#arrows path") or len({step["by"] for step in steps} - {0}) < 2:
        last = sum(bool(one["steps"][0]["places"]) for one in patient.view()["answers"]) - 1  # not to pass
        before = patient.ready
        patient.browser.execute_async_script(_CLICK, last)
        patient.changed(before)
        wait(lambda: not patient.shows("skip"), SECONDS)
        steps = patient.view()["steps"]
    told = list(dict.fromkeys(patient.run("return window.captions")))
    turns = [(by, list(those)) for by, those in groupby(steps, key=lambda step: int(step["by"]))]
    names = ("", "random", "random 2")
    expected = [f"{names[by]}: {', '.join(step['done'] for step in those)}" for by, those in turns if by]
    assert [words for words in told if words in expected] == list(dict.fromkeys(expected))
    assert patient.all("#board .moment")  # what the last turn changed stays marked
    assert len(patient.all("#log > li:last-child details:not([open])")) == 1
    changes = [text for step in turns[-1][1] for text in step["changes"]]
    assert patient.texts("#log > li:last-child li") == changes

    # slowly, with an answer in the middle
    choose_speed(patient, "2")
    while not patient.shows("skip"):
        before, last = patient.ready, sum(bool(one["steps"][0]["places"]) for one in patient.view()["answers"]) - 1
        patient.all("#answers button")[last].click()
        patient.changed(before)
    assert not patient.all(".mark") and patient.all("#answers button:enabled")
    patient.click("skip")
    wait(lambda: not patient.shows("skip") and patient.all(".mark"))

    choose_speed(patient, "0")
    patient.browser.refresh()
    patient.starts()
    assert by_id(patient.browser, "speed").get_attribute("value") == "0"


_WATCH = """
window.captions = [];
const caption = document.getElementById("caption");
new MutationObserver(() => window.captions.push(caption.textContent))
  .observe(caption, { childList: true, subtree: true });
"""


def test_the_end_of_a_round_is_told_in_moments(patient: Visitor, patient_server: Server) -> None:
    """What follows from the last answer of a season passes in sentences on the board, not at once."""
    patient.sit(patient_server.make("evergreen", ["here"], start={"seed": 5})[0])
    choose_speed(patient, "0.3")
    patient.run(_WATCH)
    changes: list[str] = []
    while not any("Spring ends" in text for text in changes):
        wait(lambda: not patient.shows("skip"), SECONDS)
        patient.answer()
        changes = [text for step in patient.view()["steps"] for text in step["changes"]]
    wait(lambda: not patient.shows("skip"), SECONDS)
    told = patient.run("return window.captions")
    after = changes[changes.index("Spring ends.") :]
    assert len(after) >= 3 and all(any(text in words for words in told) for text in after), (told, after)
    assert not any(all(text in words for text in after) for words in told)


def test_a_lesson_stays_with_its_question(visitor: Visitor, server: Server) -> None:
    """Also while more is chosen for it; the question counts down, and back when something is taken back."""
    visitor.sit(server.make("evergreen", ["here"], start={"seed": 3}, learn=True)[0])
    choices = "[...document.querySelectorAll('#hand button')]"

    def choose(words: str, asked: str) -> None:
        wait(lambda: visitor.ready, SECONDS)
        visitor.run(f"{choices}.find((one) => one.textContent.includes(arguments[0])).click()", words)
        wait(lambda: visitor.text("asked") == asked, SECONDS)

    choose("take", "Use the card meadow sprout")
    choose("plant up to 3", "Plant a sprout (3 sprouts left)")
    assert visitor.text("lesson").startswith("Plant sprouts")
    wait(lambda: visitor.ready, SECONDS)
    visitor.run("document.querySelector('.mark:not(.quiet)').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    wait(lambda: visitor.text("asked") == "Plant a sprout (2 sprouts left)", SECONDS)
    assert visitor.text("lesson").startswith("Plant sprouts")
    wait(lambda: visitor.ready, SECONDS)
    visitor.click("undo")
    wait(lambda: visitor.text("asked") == "Plant a sprout (3 sprouts left)", SECONDS)
    assert visitor.text("lesson").startswith("Plant sprouts")


_PRESS = """
// a press on an answer of the list, as if it came so many milliseconds after the first one was made; whether it counts
const [number, later, right, key] = arguments, { dataset } = document.body;
const one = document.querySelectorAll("#answers button:enabled")[number];
if (!one) throw new Error("nothing can be answered");
const options = { bubbles: true, cancelable: true, detail: 1, clientX: 500 + right, clientY: 400, ...key };
const press = key ? new KeyboardEvent("keydown", options) : new MouseEvent("click", options);
window.zero ??= performance.now();
Object.defineProperty(press, "timeStamp", { value: window.zero + later });
one.dispatchEvent(press);
return key ? !press.defaultPrevented : !document.querySelector("#answers button:enabled");
"""
_LATE = "const now = performance.now.bind(performance); performance.now = () => now() + 200_000"


def test_slips(patient: Visitor, patient_server: Server, quick_adviser: None) -> None:
    """What moves under the pointer takes no click, nor does a question in its first moments. A double click is one
    answer, and none at all on the button for advice. The same holds for keys.
    """
    patient.sit(patient_server.make("petrichor", ["here"], start={"seed": 4})[0])
    button = patient.find("#advice").rect
    at = (button["x"] + 20, button["y"] + 20)
    patient.point(*at)
    wait(lambda: patient.all("#answers .share") and patient.all("#estimates .plan"), SECONDS)
    assert patient.find("#advice").rect == button  # advice has its own space
    patient.point(*at)
    assert patient.run(_PRESSED_AT, *at) is True  # as if the list were below the button
    wait(lambda: patient.all("#estimates .plan"), SECONDS)
    x, y, width, height = patient.run(_FIRST)
    patient.hover(x + width / 2, y + 1.5 * height + 5)  # the second answer
    assert patient.browser.execute_async_script(_MOVED) is True
    assert not any(message["do"] == "answer" for message in patient.sent())
    patient.browser.refresh()
    patient.starts()

    def press(later: int, right: int = 0, **key: Any) -> bool:
        return bool(patient.run(_PRESS, 0, later, right, key or None))

    before = patient.ready
    assert press(3000)  # as if pressed after three seconds, so long after the question came
    patient.changed(before)
    before = patient.ready
    assert not press(3999) and not press(3750, 15) and not press(3001)  # the second one of two in quick succession
    assert press(3999, 40)  # elsewhere
    patient.changed(before)
    for later in (9000, 10_001):  # a slow machine has shown the question by then
        before = patient.ready
        assert press(later)
        patient.changed(before)

    patient.run(_LATE)  # by the page's clock, the next question comes later
    before = patient.ready
    assert press(60_000)
    wait(lambda: patient.facts["view"] != before and patient.all("#answers button:enabled"), SECONDS)
    assert not press(60_600) and not press(100_000) and not press(100_000, key="Enter") and not press(100_000, key=" ")
    assert not press(1_000_000, key="Enter", repeat=True)  # a key that is held down
    assert press(1_000_000, key="Enter")
    assert sum(message["do"] == "answer" for message in patient.sent()) == 5


_FIRST = """
const { x, y, width, height } = document.querySelector("#answers button").getBoundingClientRect();
return [x, y, width, height];
"""
_PRESSED_AT = """
const [clientX, clientY] = arguments, options = { bubbles: true, cancelable: true, detail: 1, clientX, clientY };
const click = new MouseEvent("click", options);
document.querySelector("#answers button").dispatchEvent(click);
return click.defaultPrevented;
"""
_MOVED = """
// the list moves under the pointer, and the answer that comes there is clicked at once
const done = arguments[0];
document.getElementById("answers").addEventListener("pointerover", ({ target }) => {
  const click = new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 });
  if (target.closest("button")?.dispatchEvent(click) !== undefined) done(click.defaultPrevented);
});
setTimeout(() => (document.getElementById("all-title").style.paddingTop = "40px"), 1500); // it is not new
"""


def pass_and_lose_cards(visitor: Visitor) -> None:
    """To pass is last in the list. If cards are lost, the page says so and waits for its button, on each way."""
    while not visitor.texts("#answers .words")[-1].startswith("pass and discard"):
        visitor.answer()
    from selenium.webdriver import ActionChains

    before, given = visitor.ready, visitor.given()
    assert len(visitor.all("#answers li.apart")) == 1
    words = visitor.texts("#answers .words")
    cards, number = words[-1].partition("(")[2].rstrip(")"), len(words)
    for way in (
        lambda: visitor.find("#answers .apart button").click(),
        lambda: press(visitor.browser, str(number), Keys.ENTER),
        lambda: visitor.find("#hand [data-action='0']").click(),
        lambda: ActionChains(visitor.browser).double_click(visitor.find("#hand [data-action='0']")).perform(),
    ):
        way()
        wait(lambda: visitor.can_commit, SECONDS)
        assert f"You discard {cards}." in visitor.text("begun") and visitor.given() == given
        assert visitor.run("return document.activeElement.id") == "commit"
        press(visitor.browser, Keys.ESCAPE)
        assert not visitor.can_commit and visitor.text("begun") == ""
        wait(lambda: visitor.ready == before, SECONDS)
    visitor.find("#answers .apart button").click()
    wait(lambda: visitor.can_commit, SECONDS)
    visitor.click("commit")
    visitor.changed(before)
    assert visitor.given()[-1] == [0]


def take_back_what_is_begun(visitor: Visitor) -> None:
    """A click can begin several answers. The next click continues one, and the first can be taken back."""
    while True:
        answers, spots = visitor.view()["answers"], [spot for spot in visitor.spots() if len(spot["actions"]) == 1]
        several = [spot for spot in spots if sum(one["actions"][0] in spot["actions"] for one in answers) > 1]
        if several:
            break
        visitor.answer()
    spot, before = several[0], visitor.ready
    begun = [one for one in answers if one["actions"][0] in spot["actions"]]
    sent = len(visitor.sent())
    visitor.point(*spot["at"])
    assert visitor.facts["begun"] == "1"
    assert visitor.text("begun").lower().startswith(begun[0]["steps"][0]["text"].lower())
    shown = [one for one in visitor.all("#answers button") if one.is_displayed()]
    assert len(shown) == len(begun) and len(visitor.sent()) == sent
    wait(lambda: visitor.ready == before)
    press(visitor.browser, Keys.ESCAPE)
    assert visitor.facts["begun"] == "0" and visitor.text("begun") == ""
    wait(lambda: visitor.ready == before)
    visitor.point(*spot["at"])
    wait(lambda: visitor.ready == before)
    visitor.go_on(before)
    assert visitor.sent()[-1]["actions"] in [one["actions"] for one in begun]
    given = visitor.ready
    press(visitor.browser, "u")
    visitor.changed(given)
    assert visitor.view()["answers"] == answers and "back: " in visitor.texts("#log > li")[-1]


@contextmanager
def motion(visitor: Visitor, wish: str) -> Iterator[None]:
    """The system asks for less motion ("reduce") or not ("no-preference"). The page tells quickly what happens."""
    media = "Emulation.setEmulatedMedia"
    visitor.browser.execute_cdp_cmd(media, {"features": [{"name": "prefers-reduced-motion", "value": wish}]})
    choose_speed(visitor, "0.3")
    try:
        yield
    finally:
        visitor.browser.execute_cdp_cmd(media, {"features": []})


def test_pieces_move(visitor: Visitor, server: Server) -> None:
    """Pieces move from where they were, unless the system asks for less motion."""
    for wish in ("no-preference", "reduce"):
        visitor.sit(server.make("petrichor", ["here"], start={"seed": 5})[0])
        with motion(visitor, wish):
            moving = []
            for _ in range(6):
                before = visitor.ready
                moving.append(visitor.browser.execute_async_script(_CLICK, 1)["moving"])
                visitor.changed(before)
        assert (max(moving) > 0) == (wish == "no-preference")


_FITS = """
// boxes of places that differ from what they are around, once it has landed
for (const one of document.getAnimations()) if (one.effect.target.closest("#board")) one.finish();
const wrong = [];
for (const mark of document.querySelectorAll(".mark")) {
  const names = mark.dataset.place.match(/[a-z-]+:[^:]*?(?= [a-z-]+:|$)/g).map((one) => one.split(":"));
  const path = names.map(([name, value]) => `[data-${name}="${value}"]`).join(" ");
  const places = document.querySelectorAll(`#board .picture ${path}`);
  const line = mark.querySelector(".line").getBoundingClientRect();
  const fits = [...places].map((place) => place.getBoundingClientRect()).some((box) =>
    ["left", "top", "right", "bottom"].every((side) => Math.abs(box[side] - line[side]) < 8));
  if (!fits) wrong.push([mark.dataset.place, line.width, line.height]);
}
return wrong;
"""


@pytest.mark.parametrize(("game", "seats"), [("evergreen", 1), ("petrichor", 4)])
def test_what_changes_while_pieces_move(visitor: Visitor, server: Server, game: str, seats: int) -> None:
    """Each box is around its place, also if a piece flies to it or away. No whole panel, such as a tile, goes pale."""
    visitor.sit(server.make(game, ["here", *["random"] * (seats - 1)], start={"seed": 4})[0])
    pale = 0
    with motion(visitor, "no-preference"):
        for _ in range(16):
            assert visitor.run(_FITS) == [], visitor.text("asked")
            visitor.answer()
            wait(lambda: not visitor.shows("skip"), SECONDS)
            number, wide = visitor.run(_PALE)
            assert wide == []
            pale += number
    assert pale > 16


_PALE = """
// how many parts of the board come up, and which of them are as wide as a tile
const all = [...document.querySelectorAll("#board :is(.fresh, .moment)")];
for (const one of document.getAnimations()) if (one.effect.target.closest("#board")) one.finish();
const tile = document.querySelector("#board [data-tile]")?.getBoundingClientRect().width ?? Infinity;
const size = ({ width, height }) => Math.min(width, height);
const wide = all.filter((one) => size(one.getBoundingClientRect()) >= 0.8 * tile);
return [all.length, wide.map((one) => one.outerHTML.slice(0, 80))];
"""


def choose_speed(visitor: Visitor, value: str) -> None:
    visitor.find(f"#speed option[value='{value}']").click()
    visitor.run("document.activeElement.blur()")


# --- coming back -----------------------------------------------------------------------------------------------------


def position(visitor: Visitor) -> tuple[str, list[str], list[int]]:
    """What a page shows after its return, without the last line of the picture, which tells the last action."""
    picture = re.sub(r' class="[^"]*fresh[^"]*"', "", visitor.picture)
    return picture, visitor.texts("#answers .words"), points_of(visitor)


def test_names_clocks_and_own_games(visitor: Visitor, server: Server) -> None:
    """Names are text on the board, in the points and on the start page, where the game can be continued.

    The start page tells the game's present state. A text about an agent stands below one seat only. A clock is chosen
    for a new game, runs, and goes on below zero.
    """
    visitor.choose("petrichor", 4)
    shown = "return [...document.querySelectorAll('.seat-row .hint:not(.unseen)')].map((one) => one.textContent)"
    assert len(visitor.all(".seat-row .hint")) == 3 and len(visitor.run(shown)) == 1
    name = "<b>Ana</b>"
    visitor.choose("evergreen", 2)
    visitor.find("[aria-label='Name of player 1']").send_keys(name)
    assert visitor.run("return document.getElementById('clock').value") == ""  # none, unless one is chosen
    visitor.find("#clock").send_keys("5 min")
    visitor.click("play")
    visitor.starts()
    (before,) = filter(None, visitor.texts("#owners .clock"))
    assert re.fullmatch(r"[345]:\d\d", before)
    wait(lambda: visitor.texts("#owners .clock")[0] != before)
    came = "people.clockCame({ left: { 0: -34.5 }, runs: -1 })"
    visitor.browser.execute_async_script(with_module("people", came))
    assert visitor.text("owners").count("−0:34") == 1 and visitor.all("#owners .clock.over")

    path = visitor.run("return location.pathname")
    assert any(name in text for text in visitor.texts("#owners th")) and name in visitor.text("board")
    visitor.open("/")
    wait(lambda: visitor.shows("mine"))
    assert visitor.find("#mine-list a").text == f"Evergreen: {name} against Cara"
    assert re.match(r"\d+ : \d+, your turn", visitor.find("#mine-list .hint").text)
    visitor.find("#mine-list a").click()
    wait(lambda: visitor.ready)
    assert visitor.run("return location.pathname") == path
    with server.open(path) as page:
        page.play_out()
    visitor.open("/")
    wait(lambda: "over" in visitor.text("mine-list"))
    visitor.find("#mine-list button").click()
    assert not visitor.shows("mine")


def press_at(visitor: Visitor, selector: str) -> None:
    """Click an element, away from the buttons that lie over the end of the window."""
    visitor.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", selector)
    visitor.find(selector).click()


def test_opponents(visitor: Visitor, server: Server, sound: Callable[[], None]) -> None:
    """An opponent is one of eight levels with a name, a face and a sentence, or any agent by its name."""
    visitor.choose("petrichor", 3)
    row = ".seat-row[data-seat='{}']".format
    assert visitor.texts(f"{row(1)} .levels span") == list(LEVEL_NAMES)
    faces = visitor.run("return [...document.querySelectorAll('.face')].map((one) => one.innerHTML)")
    assert len(faces) == 16 and len(set(faces)) == 8
    assert visitor.run(f'return document.querySelector("{row(1)} .levels :checked").value') == "level-3"
    assert visitor.find(f"{row(1)} .hint").text.startswith("Level 3: wins ")
    visitor.find(f"{row(1)} .levels label:nth-child(5)").click()
    assert re.fullmatch(r"Level 5: wins \d\d % against level 4\.", visitor.find(f"{row(1)} .hint").text)
    sound()
    assert not visitor.find(f"{row(2)} .others input").is_displayed()
    press_at(visitor, f"{row(2)} .others summary")
    visitor.find(f"{row(2)} .others input").send_keys("random")
    assert not visitor.all(f"{row(2)} .levels :checked") and "Plays anything" in visitor.find(f"{row(2)} .hint").text
    press_at(visitor, ".game[data-game=evergreen]")  # what was chosen stays
    assert visitor.run(f'return document.querySelector("{row(1)} .levels :checked").value') == "level-5"
    visitor.click("play")
    visitor.starts()
    assert session_of(server, visitor).seats == ("person", "level-5", "random")
    assert visitor.texts("#owners th span span") == ["You", "Edda", "random"]
    visitor.choose("petrichor", 1)
    assert not visitor.all(".levels")


_CALLED = """
// all that is read or heard here, but what is typed
const words = [document.body.textContent, document.title];
for (const one of document.querySelectorAll("*")) words.push(one.getAttribute("aria-label") ?? "", one.title || "");
return words.filter((one) => /player_\\d/.test(one));
"""


@pytest.mark.parametrize(("game", "options"), [("petrichor", {"modules": list(MODULES)}), ("evergreen", {})])
def test_seats_have_names(
    visitor: Visitor, server: Server, quick_adviser: None, game: str, options: dict[str, Any]
) -> None:
    """No seat is called as programs do, from the first question to the look back. Two of a level are told apart."""
    visitor.sit(server.make(game, ["here", "level-2", "level-2"], options=options, start={"seed": 2})[0])
    assert visitor.texts("#owners th span span") == ["You", "Ben", "Ben 2"]
    number = 0
    while visitor.turn != "over":
        assert visitor.run(_CALLED) == []
        if number == 6:
            visitor.click("advice")
            wait(lambda: visitor.texts("#estimates .gains"), SECONDS)
        number += 1
        visitor.answer(at_length=number % 2 > 0)
    told = visitor.text("log")
    assert "Ben 2: " in told and "You: " in told and re.search(r"You (discard|take|score|place|grow) ", told)
    assert re.fullmatch(r"(You win|(You|Ben|Ben 2)( and .*)? wins?)\.", visitor.text("verdict"))
    visitor.click("review-button")
    wait(lambda: visitor.all("#moments button") and not visitor.shows("review-progress"), SECONDS)
    assert visitor.run(_CALLED) == []
    visitor.find("#moments button").click()
    visitor.starts("analyse")
    wait(lambda: visitor.texts("#estimates .gains"), SECONDS)
    assert visitor.run(_CALLED) == []
    assert visitor.texts("#owners th span span") == ["Player 1", "Ben", "Ben 2"]


def test_variants_by_difficulty(visitor: Visitor, server: Server) -> None:
    """A click chooses a set of variants, the easiest first; the boxes say what is in it, and can be changed."""
    visitor.choose("petrichor", 1)
    told = visitor.texts(".sets .hint")
    assert told[0] == "A beginner's agent wins 9 in 10." and told[2] == "A beginner's agent wins 4 in 10."
    assert told[-1] == "A beginner's agent hardly ever wins, a strong one wins 6 in 10."
    pressed = "return [...document.querySelectorAll('.sets [aria-pressed=true] b')].map((one) => one.textContent)"
    ticked = "return [...document.querySelectorAll('.boxes [name=variants]:checked')].map((one) => one.value)"
    assert (visitor.run(pressed), visitor.run(ticked)) == (["none"], [])
    press_at(visitor, ".sets button:nth-child(4)")
    both = ["non_random_targets", "one_more_turn"]
    assert (visitor.run(pressed), visitor.run(ticked)) == (["non random targets, one more turn"], both)
    press_at(visitor, "[name=variants][value=non_random_targets]")
    assert (visitor.run(pressed), visitor.run(ticked)) == (["one more turn"], ["one_more_turn"])
    visitor.click("play")
    visitor.starts()
    assert session_of(server, visitor).config.variants == ("one_more_turn",)
    visitor.choose("evergreen", 1)
    assert re.fullmatch(r"Alone, for points\. A beginner does well with \d+, .*", visitor.text("alone"))
    assert not visitor.all(".sets")


def give_and_leave(visitor: Visitor) -> None:
    """Give an answer once this page is asked, and don't wait until it is asked again."""
    visitor.once("of('ready') && of('turn') === 'you'")
    before = visitor.facts["ready"]
    visitor.give()
    wait(partial(visitor.gone_on, before))


def about_seats(visitor: Visitor) -> list[str]:
    """The text beside each name."""
    return visitor.texts("#owners .about")


def look(visitor: Visitor, path: str) -> None:
    """Open a link, no matter who plays there."""
    visitor.open(path)
    wait(lambda: visitor.facts["view"], SECONDS)


def as_somebody_else(visitor: Visitor) -> None:
    """From now on the visitor's browser has a new identity."""
    visitor.open("/")
    visitor.run("localStorage.tabletop = JSON.stringify({ turns: '0', browser: 'somebody-else-here' })")


def test_people_at_a_table(visitor: Visitor, other: Visitor, server: Server, sound: Callable[[], None]) -> None:
    """Who is here, whose turn it is, who watches; and a name of one's own, which is in earlier messages, too."""
    as_somebody_else(other)
    paths = server.make("petrichor", ["apart", "apart", "greedy"], start={"seed": 3})
    look(visitor, paths[0])
    assert about_seats(visitor)[1].startswith("away") and visitor.texts("#owners th span span")[0] == "You"
    look(other, paths[1])
    wait(lambda: about_seats(visitor)[1].startswith("here"))
    wait(lambda: about_seats(other)[:1] and about_seats(other)[0].startswith("here"))
    pages = [visitor, other]
    asked = next(page for page in pages if page.turn == "you")
    waits = pages[1 - pages.index(asked)]
    seat = pages.index(asked)
    assert "your turn" in about_seats(asked)[seat] and asked.run("return document.title") == "● Your turn – Petrichor"
    assert "their turn" in about_seats(waits)[seat] and waits.run("return document.title") == "Petrichor"
    assert "turn" not in about_seats(waits)[1 - seat]
    with server.open(paths[0], "a-browser-of-nobody"):
        wait(lambda: visitor.text("watching") == "1 person watches." and visitor.all("#guests button"))
        sound()
    wait(lambda: visitor.text("watching") == "")
    for page in (asked, waits):
        give_and_leave(page)

    def tells_of(page: Visitor, name: str) -> bool:
        return any(text.startswith(f"{name}: ") for text in page.texts("#log .who"))

    wait(lambda: tells_of(visitor, "You") and tells_of(other, "Player 1"))
    name = "<b>Ana</b>"
    # by the page itself, because what others do may make the button anew between finding and clicking it
    visitor.run("const button = document.querySelector('#owners .rename'); button.focus(); button.click()")
    sound()
    for given, error in (("greedy", "greedy is what somebody else is called"), (name, "")):
        field = visitor.find("#own-name")
        field.clear()
        field.send_keys(given + Keys.ENTER)
        refused = partial(lambda words: words in visitor.text("naming-error"), error)
        wait(refused if error else lambda: not visitor.shows("naming"))
    for page in pages:
        wait(partial(lambda page: name in page.text("owners") and name in page.text("board"), page))
        assert tells_of(page, name)
    assert not tells_of(visitor, "You") and not tells_of(other, "Player 1")
    assert visitor.run("return document.activeElement.matches('#owners .rename')")
    give_and_leave(visitor)
    visitor.open("/")
    wait(lambda: visitor.shows("mine"))
    assert visitor.find("#mine-list a").text.startswith(f"Petrichor: {name} against ")
    wait(lambda: about_seats(other)[0].startswith("away"))
    look(visitor, paths[1])
    assert "You only watch" in visitor.text("guests") and "“You”" in visitor.text("guests")
    look(other, paths[0])
    assert "You only watch: somebody else plays with this link. " in other.text("guests")  # they have a name
    sound()


def test_another_is_asked_in_secret(visitor: Visitor, server: Server) -> None:
    """Until all may see what follows, the page shows nothing of an own answer but that it is given."""
    cards = {"player_0": [10, 11, 14], "player_1": [5, 12, 13]}
    turn = {"decision": "turn", "actor": "player_0", "passed": "player_1", "forecasts": cards}
    start = {"scenario": {"players": 2, "modules": ["forecasts"], **turn}}
    paths = server.make("petrichor", ["apart", "apart"], start=start)
    look(visitor, paths[0])
    with server.open(paths[1]) as page:
        number = visitor.facts["view"]
        visitor.give()
        wait(lambda: visitor.text("asked") == "Your answer is given.")
        assert visitor.facts["view"] == number and visitor.turn == "others"
        page.until("you")
        assert "error" not in page.answer([DECLINE])
        wait(lambda: visitor.facts["view"] != number)


_COUNTED = """
const Note = OscillatorNode;
window.OscillatorNode = class extends Note {
  constructor(...a) {
    super(...a);
    window.notes = (window.notes ?? 0) + 1;
  }
};
document.hasFocus = () => window.looks ?? false;
window.time = 1e12;
Date.now = () => window.time;
"""


def test_playing_again(visitor: Visitor, other: Visitor, server: Server) -> None:
    """One asks for another game, both get to it, with other seats; there is no third table."""
    as_somebody_else(other)
    paths = server.make("petrichor", ["apart", "apart"], names=["Ana", "Bo"])
    for page, path in zip((visitor, other), paths, strict=True):
        look(page, path)
    with server.open(paths[0]) as one, server.open(paths[1], "somebody-else-here") as two:
        play_out(one, two)
    wait(lambda: visitor.shows("result") and other.shows("result"), SECONDS)
    tables = len(set(server.site.tables._known.values()))
    visitor.click("again")
    wait(lambda: visitor.key != paths[0].rpartition("/")[2] and visitor.facts["view"], SECONDS)
    wait(lambda: "The next game is ready, with other seats" in other.text("banner"))
    other.click("again")
    wait(lambda: other.key != paths[1].rpartition("/")[2] and other.facts["view"], SECONDS)
    wait(lambda: other.all("#owners tr") and visitor.all("#owners tr"))
    assert session_of(server, visitor) is session_of(server, other)
    assert len(set(server.site.tables._known.values())) == tables + 1
    assert [text.startswith("you") for text in about_seats(visitor)] == [False, True]
    assert [text.startswith("you") for text in about_seats(other)] == [True, False]
    assert session_of(server, visitor).given_names == {0: "Bo", 1: "Ana"}
    assert {visitor.turn, other.turn} == {"you", "others"}


def test_links_of_a_computer_alone(visitor: Visitor, sound: Callable[[], None]) -> None:
    """Links that only this computer can open say so, and how others can join; others have a code for a phone's camera.

    A link to no table says that.
    """
    visitor.choose("petrichor", 3)
    visitor.all(".seat-row select")[1].send_keys("Somebody")
    visitor.click("play")
    wait(lambda: visitor.shows("links"), SECONDS)
    assert visitor.find("#links-list input").get_attribute("value").startswith("http://127.0.0.1")
    assert visitor.shows("links-local") and "petrichor web --host 0.0.0.0" in visitor.text("links-local")
    assert not visitor.all("#links-list details")
    sound()
    code = segno.make("http://192.0.2.7:8000/table/x").svg_data_uri()
    links = json.dumps([{"seats": [1], "url": "http://192.0.2.7:8000/table/x", "path": "/table/x", "code": code}])
    visitor.find("#links-close, #own-link").click()
    visitor.browser.execute_async_script(with_module("start", f"start.showLinks({links})"))
    assert not visitor.shows("links-local")
    visitor.find("#links-list summary").click()
    wait(lambda: visitor.run("return document.querySelector('#links-list .code').naturalWidth > 20"))
    sound()
    visitor.open("/table/nobody-knows")
    wait(lambda: "no such table" in visitor.text("banner"))
    visitor.find("#banner a").click()
    wait(lambda: visitor.shows("start"))


def test_a_sound_when_it_is_ones_turn(visitor: Visitor, server: Server) -> None:
    """The page sounds only if the sound is on and nobody looks at the page. The setting is remembered."""
    paths = server.make("petrichor", ["apart", "apart"], start={"seed": 3})
    look(visitor, paths[0])
    visitor.run(_COUNTED)
    notes = partial(visitor.run, "return window.notes ?? 0")
    with server.open(paths[1]) as page:

        def continues_answer() -> None:
            """Play until it was somebody else's turn and is this page's turn again."""
            while visitor.turn == "you":
                wait(lambda: visitor.ready or visitor.turn != "you")
                if visitor.turn == "you":
                    before = visitor.facts["view"]
                    visitor.give()
                    wait(partial(lambda view: visitor.facts["view"] != view, before))
            while visitor.turn != "you":
                page.ask("here")  # refused; by its reply all views have come
                if page.view["turn"] == "you":
                    page.answer(page.view["answers"][0]["actions"])
                else:
                    wait(lambda: visitor.turn == "you")

        assert visitor.find("#sound").get_attribute("aria-pressed") == "false"
        visitor.click("sound")
        assert notes() == 2 and visitor.find("#sound").get_attribute("aria-pressed") == "true"
        continues_answer()
        assert notes() == 2  # not so soon after the last one
        visitor.run("window.time += 20_000")
        continues_answer()
        assert notes() == 4
        visitor.run("window.time += 20_000; window.looks = true")
        continues_answer()
        assert notes() == 4
    look(visitor, paths[0])
    assert visitor.find("#sound").get_attribute("aria-pressed") == "true"
    visitor.open("/")
    assert not visitor.shows("sound")


def test_a_second_person_at_a_link(
    visitor: Visitor, other: Visitor, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second person watches, and plays when let in, or when the first is gone. A reload changes nothing."""
    (path,) = server.make("petrichor", ["here"], start={"seed": 4})
    as_somebody_else(other)
    visitor.sit(path)
    look(other, path)
    assert "plays with this link, and is “You” here. They" in other.text("guests")
    assert other.texts("#owners th span span")[0] == "You"
    assert not other.all("#answers button") and not other.all(".mark")
    assert other.turn == "others" and not other.shows("undo") and other.run("return document.title") == "Petrichor"
    wait(lambda: "Somebody else has opened your link" in visitor.text("guests"))
    before = other.facts["view"]
    visitor.answer()
    wait(lambda: other.facts["view"] != before)
    for _ in range(2):
        look(other, path)
        assert "You only watch" in other.text("guests")
    wait(lambda: visitor.all("#guests button"))
    visitor.find("#guests button").click()
    wait(lambda: other.ready and other.turn == "you")
    assert other.text("guests") == "" and other.all("#answers button")
    wait(lambda: visitor.text("guests") == "")
    other.answer()
    other.sit(path)
    assert other.turn == "you" and other.text("guests") == ""

    monkeypatch.setattr(people, "AWAY", 0.5)
    monkeypatch.setattr(people, "MOMENT", 0.1)
    (path,) = server.make("petrichor", ["here"], start={"seed": 4})
    visitor.sit(path)
    look(other, path)
    assert not other.all("#guests button")
    visitor.open("/")
    wait(lambda: other.all("#guests button"))
    other.find("#guests button").click()
    wait(lambda: other.ready and other.turn == "you")
    other.answer()


def test_a_page_comes_back(visitor: Visitor, server: Server) -> None:
    """After a reload, from the start page, and in another tab when the first one was closed.

    What happened last is in sight each time: the log is scrolled to its end.
    """
    (path,) = server.make("petrichor", ["here", "greedy"], start={"seed": 3})
    visitor.sit(path)
    while not visitor.run(_AT_ITS_END, "log")[0]:
        visitor.answer()
    there, told = position(visitor), len(visitor.texts("#log > li"))
    assert told > 2

    def is_back() -> None:
        visitor.starts()
        assert position(visitor) == there and len(visitor.texts("#log > li")) == told
        wait(lambda: visitor.run(_AT_ITS_END, "log") == [True, True])

    is_back()
    visitor.browser.refresh()
    is_back()
    visitor.click("home")
    wait(lambda: visitor.shows("start"))
    visitor.browser.back()
    is_back()
    first = visitor.browser.current_window_handle
    visitor.browser.switch_to.new_window("tab")
    visitor.sit(path)
    visitor.answer()
    there, told = position(visitor), len(visitor.texts("#log > li"))
    visitor.browser.close()
    visitor.browser.switch_to.window(first)
    wait(lambda: position(visitor) == there)  # two pages of one link show the same
    visitor.browser.refresh()
    is_back()
    visitor.answer()


_AT_ITS_END = """
const one = document.getElementById(arguments[0]), { scrollTop, clientHeight, scrollHeight } = one;
return [scrollHeight > 1.5 * clientHeight, Math.abs(scrollTop + clientHeight - scrollHeight) < 2];
"""
_IN_SIGHT = """
const one = document.querySelector("#line [aria-current]").getBoundingClientRect();
const line = document.getElementById("line"), around = line.getBoundingClientRect();
return [line.scrollHeight > line.clientHeight, one.top >= around.top - 1 && one.bottom <= around.bottom + 1];
"""


def test_the_server_comes_back(desk: Any, tmp_path: Path) -> None:
    """The server is stopped in the middle of a game and started again. The page says so, and goes on by itself.

    It goes on trying at a server that was started without its games, too.
    """
    folder = tmp_path / "games"
    with serving(folder) as one:
        port = int(one.url.rpartition(":")[2])
        with visiting(desk, one.url, tmp_path, lost=True) as visitor:
            visitor.sit(one.make("evergreen", ["here", "greedy"], start={"seed": 3})[0])
            for _ in range(5):
                visitor.answer()
            there, path = position(visitor), visitor.key
            one.stop()
            wait(lambda: "The connection is lost" in visitor.text("banner"), SECONDS)
            assert visitor.ready == "" and not visitor.all(".mark") and not visitor.all("#answers button:enabled")
            with serving(folder, port=port):
                wait(lambda: "start the server with --resume" in visitor.text("banner"), SECONDS)
            with serving(folder, port=port, resume=True) as again:
                visitor.starts()
                assert visitor.text("banner") == "" and visitor.key == path
                assert position(visitor) == there
                visitor.answer()
                session = session_of(again, visitor)
                assert session.number > 5 and points_of(visitor) == session.points()[-1][1]


# --- several people at one screen ------------------------------------------------------------------------------------


def test_a_curtain_between_people(visitor: Visitor, server: Server, sound: Callable[[], None]) -> None:
    """A curtain hides everything before another person's turn; keys don't open it."""
    visitor.choose("petrichor", 2, seed=5)
    visitor.all(".seat-row select")[1].send_keys("You")
    visitor.click("play")
    visitor.starts()
    session = session_of(server, visitor)
    curtains = 0
    while curtains < 3:
        if visitor.turn == "handover":
            curtains += 1
            asked = session.actor
            assert visitor.shows("curtain") and f"Player {asked + 1}," in visitor.text("curtain-text")
            assert visitor.run("return document.getElementById('board').childElementCount") == 0
            assert visitor.all("#answers button") == [] and visitor.text("asked") == f"Player {asked + 1} is asked."
            press(visitor.browser, Keys.ESCAPE, Keys.ESCAPE, Keys.ESCAPE)
            wait(lambda: visitor.shows("curtain"))
            assert session.actor == asked and visitor.all("#board svg") == []
            if curtains == 1:
                sound()
            before = visitor.ready
            visitor.click("here")
            visitor.changed(before)
            assert not visitor.shows("curtain") and visitor.turn == "you"
            assert visitor.run(_HANDS) == [[f"player_{asked}", session.state["hand"][asked].tolist()]]
        visitor.answer()
    spied = [view for view in visitor.views() if view["turn"] == "handover"]
    assert len(spied) >= 3 and all(view["parts"] == view["steps"] == [] for view in spied)


def test_from_another_device(tmp_path: Path) -> None:
    """From a host name that browsers trust less than their own machine. The token leaves the address at once."""
    name = socket.gethostname().lower()
    rules = f"--host-resolver-rules=MAP {name} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    with serving(tmp_path / "games", host="0.0.0.0") as server, chromium(rules) as browser:
        port, token = re.fullmatch(r"http://.*:(\d+)/\?token=(.+)", server.site.url_of("/")).groups()  # type: ignore[union-attr]
        with visiting(browser, f"http://{name}:{port}", tmp_path) as visitor:
            browser.get(f"http://{name}:{port}/?token={token}")
            wait(lambda: visitor.all(".game"))
            assert browser.current_url == f"http://{name}:{port}/"
            visitor.choose("petrichor", 2)
            visitor.find(".seat-row[data-seat='1'] select").send_keys("Somebody")
            visitor.click("play")
            wait(lambda: visitor.all("#links-list input"))
            (link,) = (field.get_attribute("value") for field in visitor.all("#links-list input"))
            assert token in link and "/table/" in link and not visitor.shows("links-local")
            visitor.find("#links-list button").click()
            wait(lambda: visitor.find("#links-list button").text == "Copied")


# --- watching and analysing ------------------------------------------------------------------------------------------


def test_watching(visitor: Visitor, sound: Callable[[], None]) -> None:
    """The game goes on by itself. It is paused, goes on step by step, and then by itself to the end."""
    visitor.choose("evergreen", 2, seed=2)
    visitor.find(".seat-row select").send_keys("An opponent")
    for seat in (0, 1):
        press_at(visitor, f".seat-row[data-seat='{seat}'] .others summary")
        visitor.find(f".seat-row[data-seat='{seat}'] .others input").send_keys("random")
    visitor.click("watch")
    visitor.starts("watch")
    wait(lambda: int(visitor.facts["view"]) > 2)
    visitor.click("go")
    assert by_id(visitor.browser, "go").get_attribute("aria-label") == "Go"
    paused = settled(visitor)
    sound()
    for key in (True, False, True):
        before = visitor.ready
        press(visitor.browser, Keys.ARROW_RIGHT) if key else visitor.click("forward")
        visitor.changed(before)
        assert settled(visitor) == paused + 1
        paused += 1
    visitor.run("document.activeElement.blur()")
    press(visitor.browser, " ")
    assert by_id(visitor.browser, "go").get_attribute("aria-label") == "Pause"
    wait(lambda: int(visitor.facts["view"]) > paused + 2)
    assert all(message["do"] == "step" for message in visitor.sent())
    if THOROUGH:
        wait(lambda: visitor.turn == "over", SECONDS)
        assert visitor.shows("result") and not by_id(visitor.browser, "go").is_enabled()


def settled(visitor: Visitor) -> int:
    """The number of the view, once no step is under way."""

    def quiet() -> bool:
        messages = visitor.messages()
        asked = sum("do" in message for message in messages)
        return asked == sum("reply" in message for message in messages) == len(visitor.views()) - 1

    numbers = [""]

    def stays() -> bool:
        wait(quiet)
        numbers.append(str(visitor.ready))
        visitor.browser.execute_async_script("setTimeout(arguments[0], 200)")  # a request may be about to be sent
        return numbers[-1] == numbers[-2] and quiet()

    wait(stays)
    return int(visitor.ready)


@pytest.fixture(scope="module")
def replay() -> Replay:
    """A game of two with names that would break a careless page."""
    session = Session(PetrichorConfig(players=2), seed=5)
    generator = np.random.default_rng(5)
    while not session.over:
        session.play(int(generator.choice(legal_actions(session.state))))
    return Replay.of(session.config, 5, session.replay.actions, names=(NASTY, QUOTES))


@pytest.fixture
def analysed(visitor: Visitor, replay: Replay, tmp_path: Path) -> Visitor:
    """A visitor who opened the replay from a file."""
    path = tmp_path / "opened.txt"
    path.write_text(replay.text, encoding="utf-8")
    visitor.open("/")
    wait(lambda: visitor.all(".game"))
    by_id(visitor.browser, "file").send_keys(str(path))
    visitor.starts("analyse")
    return visitor


def step_of(visitor: Visitor) -> int:
    found = re.match(r"Step (\d+) of (\d+)", visitor.text("place"))
    assert found is not None
    return int(found[1])


def go_to(analysed: Visitor, step: int) -> None:
    analysed.find(f"#line [data-step='{step}']").click()
    wait(lambda: step_of(analysed) == step)


def test_along_a_replay(analysed: Visitor, replay: Replay) -> None:
    """A replay is stepped through by buttons, keys, slider and list of moves, and continued differently midway.

    The current move is in sight, after a reload and after the form for setting up a position, too.
    """
    last = len(replay.actions)

    def at(step: int, act: Callable[[], Any]) -> None:
        before = analysed.ready
        act()
        analysed.changed(before)
        assert step_of(analysed) == step
        svg = analysed.find("#board .picture svg")
        state = replay.states[step]
        assert svg.get_attribute("data-round") == str(state["round"])
        assert svg.get_attribute("data-asked") == asked_of(state)
        assert points_of(analysed) == state["points"][:2].tolist()
        answers = analysed.texts("#answers .words")
        assert len(answers) == len(legal_actions(state))

    assert analysed.view()["step"] == 0
    at(1, lambda: analysed.click("forward"))
    at(2, lambda: analysed.click("forward"))
    at(1, lambda: analysed.click("back"))
    at(last, lambda: analysed.click("last"))
    assert analysed.shows("result") and analysed.run(_IN_SIGHT) == [True, True]
    analysed.browser.refresh()
    analysed.starts("analyse")
    wait(lambda: analysed.run(_IN_SIGHT) == [True, True])
    set_up(analysed)
    analysed.click("cancel")
    wait(lambda: analysed.run(_IN_SIGHT) == [True, True])
    at(0, lambda: analysed.click("first"))
    at(last, lambda: press(analysed.browser, Keys.END))
    at(last - 1, lambda: press(analysed.browser, Keys.ARROW_LEFT))
    at(0, lambda: press(analysed.browser, Keys.HOME))
    at(6, lambda: analysed.find("#line [data-step='6']").click())
    at(7, lambda: by_id(analysed.browser, "slider").send_keys(Keys.ARROW_RIGHT))

    # another continuation, from the first decision with several answers
    step = next(i for i in range(8, last) if len(legal_actions(replay.states[i])) > 1)
    at(step, lambda: analysed.find(f"#line [data-step='{step}']").click())
    other = analysed.find(f"#answers button:not([data-action='{replay.actions[step]}'])")
    before, words = analysed.ready, other.find_element("class name", "words").text
    other.click()
    analysed.changed(before)
    assert step_of(analysed) == step + 1 and len(analysed.all("#line li")) == step + 2
    assert words in analysed.texts("#line li")[-1]
    # only what one seat may see
    before = analysed.ready
    analysed.find("#look option[value='1']").click()
    analysed.changed(before)
    assert [owner for owner, _ in analysed.run(_HANDS)] == ["player_1"]


def asked_of(state: Any) -> str:
    """The decision that the text of a picture names."""
    drawn = game_of("petrichor_env").drawing.render_svg(state, None, names=(NASTY, QUOTES))
    return html.unescape(drawn.partition('data-asked="')[2].partition('"')[0])


def set_up(visitor: Visitor) -> None:
    """Open the form for a position."""
    visitor.run("document.getElementById('set-up').click()")  # a phone would have to scroll
    wait(lambda: "in order" in visitor.text("editor-error"))


def spot_at(visitor: Visitor, begins: str) -> dict[str, Any]:
    """While a position is set up: the first place of the board whose name begins with this text."""
    return next(spot for spot in visitor.run(_EDITED, ".mark") if spot["place"].startswith(begins))


def edited(visitor: Visitor, where: str) -> Any:
    """The form's field for the open place of the board."""
    return visitor.find(f"#spot [data-where='{where}'] input")


def more(where: str) -> str:
    """The selector of the button beside a number."""
    return f"#spot [data-where='{where}'] button[aria-label^='One more']"


def test_setting_a_position_up(analysed: Visitor) -> None:
    """The page says what the rules don't allow, and can't use it. A corrected position can be played on."""
    go_to(analysed, 30)
    set_up(analysed)
    field = analysed.find("#form [data-where='round'] input")
    was = field.get_attribute("value")
    field.clear()
    field.send_keys("9")
    wait(lambda: analysed.texts("#form [data-where='round'] .problem") == ["Round: 9; allowed are 1 to 4"])
    assert field.get_attribute("aria-invalid") == "true" and not by_id(analysed.browser, "use").is_enabled()
    field.clear()
    field.send_keys(was)
    wait(lambda: "in order" in analysed.text("editor-error"))
    assert analysed.all("#form .problem") == []

    # a place on the board opens what lies there
    picture = analysed.picture
    spot = spot_at(analysed, "tile:")
    tile = spot["place"].partition(":")[2]
    assert spot["words"] == f"Tile {tile}"
    analysed.point(*spot["at"])
    wait(lambda: analysed.shows("spot") and analysed.text("spot-title") == f"Tile {tile}")
    assert analysed.run("return document.activeElement.id") == "spot-title"
    drops = f"field.{tile}.drops.player_0"
    number = str(int(edited(analysed, drops).get_attribute("value")) + 1)
    analysed.find(more(drops)).click()
    wait(lambda: analysed.picture != picture)
    assert edited(analysed, drops).get_attribute("value") == number

    # too much is refused by its rule, with the name that the player has on the board, and can be taken back
    # without pauses, so the page asks about the last number only
    analysed.run("for (let i = 0; i < 25; i++) document.querySelector(arguments[0]).click()", more(drops))
    wait(
        lambda: re.fullmatch(r".+ has \d+ drops on tiles and in clouds; a player has 20", analysed.text("editor-error"))
    )
    assert not analysed.text("editor-error").startswith("player_0")
    assert not by_id(analysed.browser, "use").is_enabled()
    analysed.click("take-back")
    wait(lambda: "in order" in analysed.text("editor-error"))
    assert edited(analysed, drops).get_attribute("value") == number
    press(analysed.browser, Keys.ESCAPE)
    assert not analysed.shows("spot") and analysed.shows("editor")
    before = analysed.ready
    analysed.click("use")
    analysed.changed(before)
    view = analysed.view()
    assert view["start"] == "scenario" and view["line"] == [] and not analysed.shows("editor")
    # read at once, as the board may be drawn anew between finding a tile and reading it
    drawn = "return document.querySelector(`#board [data-tile='${arguments[0]}']`).dataset.drops"
    assert analysed.run(drawn, tile).split(",")[0] == number

    analysed.click("export-scenario")
    described = json.loads(analysed.downloaded("*-scenario.json").read_text(encoding="utf-8"))
    assert described["field"][tile]["drops"]["player_0"] == int(number)
    state = game_of("petrichor_env").scenario(described, None)
    analysed.click("play-from-here")
    wait(lambda: analysed.shows("position"))
    analysed.click("play")
    wait(lambda: analysed.facts["kind"] == "play" and analysed.turn in ("you", "others"), SECONDS)
    assert analysed.text("about").startswith("2 players")
    assert analysed.run(drawn, tile).split(",")[0] == number
    assert state["round"] == int(was)


def test_what_follows_goes_along(visitor: Visitor, server: Server) -> None:
    """A card for a hand comes from the deck. A new question drops the answers so far, and the page says so."""
    hands = {"player_0": {"sun": 2}, "player_1": {"frost": 2}}
    voting = {"players": 2, "decision": "vote", "turns": 0, "pending": {"card": "frost"}, "hands": hands}
    start = {"scenario": json.dumps({**voting, "modules": list(MODULES)})}
    visitor.open(server.make("petrichor", [], players=2, kind="analyse", start=start)[0])
    visitor.starts("analyse")
    set_up(visitor)
    labels_are_whole(visitor)
    deck = "return document.querySelector('#board [data-deck]').dataset.deckKinds.split(',').map(Number)"
    before = visitor.run(deck)
    visitor.point(*spot_at(visitor, "owner:player_1")["at"])
    visitor.find(more("hands.player_1.wind")).click()
    wait(lambda: visitor.run(deck) != before)
    assert [one - other for one, other in zip(before, visitor.run(deck), strict=True)] == [0, 0, 1, 0]
    visitor.find("#spot-close").click()
    question = visitor.find("#form [data-where='decision'] select")
    next(one for one in question.find_elements("css selector", "option") if one.text.startswith("The turn")).click()
    wait(lambda: "Left to the rules with it: What has been chosen so far." in visitor.text("editor-error"))
    visitor.click("use")
    wait(lambda: "to play" in visitor.view()["asked"] and visitor.ready)
    assert visitor.view()["start"] == "scenario" and not visitor.shows("editor")


def test_setting_up_by_keys_on_a_phone(visitor: Visitor, server: Server) -> None:
    """A space by Enter, Tab and arrows; its content in the sheet below. Then the space has the focus again."""
    visitor.open(server.make("evergreen", [], players=4, kind="analyse", start={"seed": 3})[0])
    visitor.starts("analyse")
    set_up(visitor)
    labels_are_whole(visitor)
    resize(visitor.browser, *PHONE)
    place = "player:player_0 space:c2"
    visitor.run("document.querySelector(`.mark[data-place='${arguments[0]}']`).focus()", place)
    press(visitor.browser, Keys.ENTER)
    wait(lambda: visitor.text("spot-title") == "Space c2 of Player 1")
    press(visitor.browser, Keys.TAB, Keys.TAB, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    piece = "return document.querySelector('[data-player=player_0] [data-space=c2]').dataset.piece"
    wait(lambda: visitor.run(piece) == "small_tree")
    sheet = visitor.run("return document.getElementById('editor-bar').getBoundingClientRect()")
    hit = visitor.run("return document.querySelector('.mark.lit .hit').getBoundingClientRect()")
    assert sheet["bottom"] == PHONE[1] and hit["top"] >= 0 and hit["bottom"] <= sheet["top"]
    chips = visitor.run("return [...document.querySelectorAll('#spot .chips label')].map((one) => one.offsetHeight)")
    assert len(chips) == 6 and min(chips) >= LEAST
    press(visitor.browser, Keys.ESCAPE)
    assert visitor.run("return document.activeElement.dataset.place") == place


def ask_agents(visitor: Visitor, names: str) -> None:
    """Ask agents for their opinions on the position."""
    field = by_id(visitor.browser, "agent-name")
    field.clear()
    field.send_keys(names + Keys.ENTER)


def test_opinions_files_and_errors(analysed: Visitor, replay: Replay) -> None:
    """Two agents are compared. Files and pictures of a position are that position.

    An error disappears after any success and in another view. The form for a position shows no earlier one.
    """

    def fail() -> None:
        ask_agents(analysed, "nobody")
        wait(lambda: "agent nobody: not available here" in analysed.text("message"))

    def succeed(act: Callable[[], Any]) -> None:
        fail()
        act()
        wait(lambda: analysed.text("message") == "")

    def exported(what: str, pattern: str) -> Path:
        click = "document.getElementById(arguments[0]).click()"  # the message lies over the button
        succeed(partial(analysed.run, click, f"export-{what}"))
        return analysed.downloaded(pattern)

    go_to(analysed, 25)
    ask_agents(analysed, "greedy, ismcts-20")
    wait(lambda: len(analysed.all("#estimates p:not(.waiting)")) == 2, SECONDS)
    assert [one.text for one in analysed.all("#estimates b")] == ["A: greedy", "B: ismcts-20"]
    compared = [len(row.find_elements("class name", "compare")) for row in analysed.all("#answers button")]
    assert compared == [2] * len(compared)

    saved = Replay.load(exported("replay", "petrichor-*.json"), game_of("petrichor_env"))
    assert saved.actions == replay.actions[:25] and saved.seed == replay.seed
    exported("scenario", "*-scenario.json")
    text = exported("svg", "petrichor-25.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.attrib["data-asked"] == asked_of(replay.states[25])
    page = analysed.view()
    first, *others = (page["parts"][part] for part in page["board"])
    drawn = game_of("petrichor_env").drawing.render_svg(replay.states[25], None)
    assert ElementTree.canonicalize(text) == ElementTree.canonicalize("".join([first, drawings_of(drawn), *others]))
    with Image.open(exported("png", "petrichor-25.png")) as picture:
        assert picture.size == (1600, 1600)
        red, green, blue = np.moveaxis(np.asarray(picture.convert("RGB")).astype(np.int64), -1, 0)
        assert len(np.unique((red << 16) + (green << 8) + blue)) > 500

    succeed(lambda: ask_agents(analysed, "greedy"))
    succeed(lambda: analysed.find("#look option[value='1']").click())
    succeed(partial(analysed.click, "forward"))
    succeed(partial(set_up, analysed))
    analysed.click("cancel")
    fail()
    analysed.click("home")
    wait(lambda: analysed.shows("start"))
    assert analysed.text("message") == ""


_BOXES = """
for (const one of document.querySelectorAll("#form details")) one.open = true;
const seen = [...document.querySelectorAll("#form label:has([type=checkbox])")].filter((one) => one.checkVisibility());
return seen.map((one) => {
  const range = document.createRange();
  range.selectNodeContents(one.lastChild);
  const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
  return [one.textContent, lines.size, one.querySelector("input").getBoundingClientRect().width];
});
"""


def labels_are_whole(visitor: Visitor) -> None:
    """In the form for a position, the label of a check box is on one line, at a desk and on a phone."""
    for size in (PHONE, DESK):
        resize(visitor.browser, *size)
        boxes = visitor.run(_BOXES)
        assert boxes and all(lines == 1 and width < LEAST for _, lines, width in boxes), boxes


_EDITED = SPOTS.replace("mark.dataset.actions", '"0"').replace(
    "at: null }", "at: null, words: mark.getAttribute('aria-label') }"
)


_COVERED = """
// each place's badge alone, and the labels of the board that it covers
const done = arguments[0], labels = [...document.querySelectorAll("#board .picture [aria-label]")], found = [];
import(document.querySelector('link[href^="/page/game.js"]').href).then(({ board_: { showBadges } }) => {
  for (const { dataset: { actions, place } } of document.querySelectorAll(".mark:not(.quiet)")) {
    const own = actions.split(" ").map(Number);
    showBadges(new Map(own.map((action) => [action, 1 / own.length])));
    const badge = document.querySelector("#badges > g").getBoundingClientRect();
    const covered = labels.filter((label) => {
      const { left, right, top, bottom } = label.getBoundingClientRect();
      return Math.min(right, badge.right) - Math.max(left, badge.left) > 1
        && Math.min(bottom, badge.bottom) - Math.max(top, badge.top) > 1;
    });
    found.push([place, covered.map((label) => label.getAttribute("aria-label"))]);
  }
  done(found);
});
"""


# --- learning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["petrichor", pytest.param("evergreen", marks=pytest.mark.slow)])
def test_learning(visitor: Visitor, server: Server, sound: Callable[[], None], game: str) -> None:
    """The first page introduces the game; then each decision is explained, with the rulebook's section."""
    visitor.choose(game, seed=1)
    visitor.click("learn")
    visitor.click("play")
    visitor.starts()
    sound()
    words, session = game_of(f"{game}_env").words, session_of(server, visitor)
    introduction = words.lesson(session.config)
    assert visitor.shows("introduction")
    assert visitor.texts("#introduction summary") == [introduction.title]
    assert visitor.texts("#introduction p") == list(introduction.text) + rulebook(introduction)
    titles = set()
    for number in range(16):
        lesson = words.lesson(session.config, session.state, session.tables)
        assert visitor.shows("lesson") and visitor.shows("introduction") == (number == 0)
        assert visitor.texts("#lesson summary") == [lesson.title]
        assert visitor.texts("#lesson p") == list(lesson.text) + rulebook(lesson) and lesson.section
        titles.add(lesson.title)
        visitor.answer()
    assert len(titles) > 2
    # closing an explanation closes it for all decisions
    visitor.find("#lesson summary").click()
    visitor.answer()
    assert not visitor.find("#lesson div").is_displayed() and visitor.find("#lesson summary").is_displayed()


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_a_first_game(visitor: Visitor, sound: Callable[[], None], game: str) -> None:
    """It is offered first. Only what a step asks for can be chosen, and the board points at it."""
    title = game.capitalize()
    visitor.open("/")
    wait(lambda: visitor.shows("first-games"))
    assert visitor.run("return document.querySelector('#start button').closest('section').id") == "first-games"
    sound()
    next(one for one in visitor.all("#first-games button") if one.text.endswith(title)).click()
    visitor.starts()
    first = game_of(f"{game}_env").words.first_game
    assert first is not None
    titles, last = list[str](), first.steps[-1].text
    while last not in visitor.text("lesson"):
        titles += visitor.texts("#lesson summary")
        step, before = visitor.text("lesson"), visitor.facts
        if visitor.all("#lesson button"):
            assert not visitor.all(OFFERED) and visitor.all("#pointer path")
            visitor.find("#lesson button").click()
        elif "Do it" in step:
            visitor.click("commit")
        else:
            offered = visitor.all(f"{OFFERED}, #hand button[aria-pressed=false]")
            assert offered and (visitor.all("#pointer path") or visitor.all("#hand button[aria-pressed=false]"))
            if len(titles) == 3:
                sound()
            visitor.press()
        wait(partial(_is_next, visitor, step, before), SECONDS)
    assert len(dict.fromkeys(titles)) == first.number - 1 and titles[0] == f"Step 1 of {first.number}"
    assert visitor.turn == "over" or visitor.all(OFFERED)


def _is_next(visitor: Visitor, step: str, facts: dict[str, str]) -> bool:
    return bool(visitor.ready) and (visitor.text("lesson"), visitor.facts) != (step, facts)


def rulebook(lesson: Any) -> list[str]:
    return [f"Rulebook: {lesson.section}"] if lesson.section else []


def test_start_and_rules(visitor: Visitor, server: Server, sound: Callable[[], None]) -> None:
    """The start page, its help, and the rules of what is chosen there or of a table."""
    visitor.choose("petrichor", 5, seed=1)
    sound()
    visitor.click("show-help")
    sound()
    press(visitor.browser, Keys.ESCAPE)
    visitor.click("rules-button")
    wait(lambda: visitor.all("#rules-text h2"))
    sound()
    asked = unquote(visitor.browser.current_url).partition("#rules=")[2]
    assert asked.startswith("petrichor&of=")
    told = server.http.get("/api/rules/petrichor", params={"of": asked.removeprefix("petrichor&of=")}).json()["html"]
    assert visitor.texts("#rules-text h2") == [html.unescape(one) for one in re.findall(r"<h2[^>]*>(.*?)</h2>", told)]
    assert not visitor.shows("start")
    visitor.browser.back()
    wait(lambda: visitor.shows("start"))
    link = server.make("petrichor", ["here", "here"])[0]
    visitor.sit(link)
    key = link.rpartition("/")[2]
    of_table = by_id(visitor.browser, "rules-link").get_attribute("href")
    assert of_table == f"{visitor.at}/#rules=petrichor&table={key}"
    visitor.browser.get(of_table)
    wait(lambda: visitor.texts("#rules-text h2")[:1] == ["Petrichor: rules for 2 players, 4 rounds"])


# --- words of others -------------------------------------------------------------------------------------------------

_NO_SCENARIO = "scenario of Petrichor, the chosen game"
_BROKEN = "return document.title === 'broken' || document.querySelector('[onerror], main script') !== null"


def test_words_of_others_are_text(visitor: Visitor, server: Server, tmp_path: Path) -> None:
    """Agents' errors, names and the content of files are shown literally, and are never markup."""
    visitor.open(server.make("petrichor", ["here", FAILING])[0])
    wait(lambda: visitor.facts["view"], SECONDS)
    while not visitor.text("message"):
        if visitor.ready:
            visitor.give()
        wait(lambda: visitor.text("message") or visitor.ready, SECONDS)
    assert visitor.text("message") == f"ValueError: {QUOTES}{NASTY}"
    assert any(FAILING in one for one in visitor.texts("#owners th")) and visitor.run(_BROKEN) is False

    visitor.choose("petrichor")
    files = {
        "<img src=x onerror=alert(1)>.json": ("no JSON", "no JSON, so neither a replay nor a scenario."),
        "list.json": ("[1]", "no JSON object, so neither a replay nor a scenario."),
        "null.json": ("null", "no JSON object, so neither a replay nor a scenario."),
        "game.json": (json.dumps({"replay": 1, "game": QUOTES}), f"a replay of {QUOTES[:40]}; here are Petrichor"),
        "nameless.json": (json.dumps({"replay": 2}), "a replay that names no game; here are Petrichor"),
        "number.json": (json.dumps({"replay": 2, "game": 7}), "a replay that names no game; here are Petrichor"),
        "old.json": (json.dumps({"replay": NASTY, "game": "petrichor"}), f'replay: "{NASTY[:30]}'),
        "empty.json": ("{}", f"neither a replay nor a {_NO_SCENARIO}: players: missing; 1 (solo"),
        "package.json": (json.dumps({"name": QUOTES}), f"neither a replay nor a {_NO_SCENARIO}: scenario: unknown key"),
        "players.json": (json.dumps({"players": QUOTES}), f"no {_NO_SCENARIO}: players={QUOTES!r}: 1 (solo"),
        "nine.json": (json.dumps({"players": 9}), f"no {_NO_SCENARIO}: players=9: 1 (solo"),
        "other.json": (json.dumps({"players": 2, "market": []}), f"no {_NO_SCENARIO}: scenario: unknown key 'market'"),
        "large.json": (" " * 2_000_001, "larger than a replay or a scenario can be."),
    }
    for name, (content, problem) in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        by_id(visitor.browser, "file").send_keys(str(tmp_path / name))
        wait(
            partial(visitor.run, "return document.getElementById('message').textContent.startsWith(arguments[0])", name)
        )
        assert visitor.text("message").startswith(f"{name}: {problem}") and "undefined" not in visitor.text("message")
        assert visitor.run(_BROKEN) is False and visitor.shows("start") and not visitor.shows("position")
    entries = visitor.browser.get_log("browser")
    assert entries and all("400 (Bad Request)" in entry["message"] for entry in entries)  # of these requests
    visitor.find(".game[data-game=evergreen]").click()
    assert visitor.text("message") == ""  # the message was about another choice


# --- for everybody ---------------------------------------------------------------------------------------------------

_AXE = """
const [rules, done] = arguments;
const asked = { resultTypes: ["violations"], preload: false, ...(rules ? { runOnly: rules } : {}) };
axe.run(document, asked).then(({ violations }) => done(violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" ")}`)));
"""
_SMALL = """
const least = arguments[0];
// (tests/browser/test_layout.py measures places on the board)
const kinds = "button, a.button, summary, select, input:not([type=file])";
return [...document.querySelectorAll(kinds)]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length)
  .map((one) => [one.closest("label")?.getBoundingClientRect() ?? one.getBoundingClientRect(), one])
  .filter(([{ width, height }]) => width && Math.min(width, height) < least - 0.5)
  .map(([{ width, height }, one]) => `${width} x ${height}: ${one.outerHTML.slice(0, 200)}`);
"""
_TOO_WIDE = """
const wide = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth <= wide && document.body.scrollWidth <= wide) return [];
return [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > wide + 1)
  .map((one) => one.outerHTML.slice(0, 120)).slice(0, 5);
"""
LEAST = 24  # CSS pixels of a target for a finger


@pytest.fixture(scope="module")
def axe() -> str:
    """The checks of axe-core, as a script."""
    package = pytest.importorskip("axe_core_python", reason="needs axe-core-python")
    return Path(package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def sound(visitor: Visitor, axe: str) -> Iterator[Callable[[], None]]:
    """Checks the present page, at a desk and on a phone: accessibility by axe-core, and the sizes of targets.

    Contrasts are checked in light and in dark colours: in `make test` light ones on the phone, dark ones at the desk.
    """

    def check() -> None:
        if not visitor.run("return 'axe' in window"):
            visitor.run(axe)
        for size in (PHONE, DESK):
            resize(visitor.browser, *size)
            if THOROUGH or size == PHONE:
                assert visitor.browser.execute_async_script(_AXE, None) == []
            if THOROUGH or size == DESK:
                prefer(visitor.browser, "dark")
                assert visitor.browser.execute_async_script(_AXE, ["color-contrast"]) == []
                prefer(visitor.browser, "light")
            assert visitor.run(_SMALL, LEAST) == []
            assert visitor.run(_TOO_WIDE) == []

    yield check
    resize(visitor.browser, *DESK)


@pytest.mark.slow
def test_analysing_is_sound(analysed: Visitor, sound: Callable[[], None]) -> None:
    """Along a replay, with two opinions, and with the form to set a position up, with an error in it."""
    go_to(analysed, 20)
    sound()
    ask_agents(analysed, "greedy, ismcts-20")
    wait(lambda: len(analysed.all("#estimates p:not(.waiting)")) == 2, SECONDS)
    sound()
    set_up(analysed)
    sound()
    analysed.run("for (const one of document.querySelectorAll('#form details')) one.open = true")
    field = analysed.find("#form [data-where='round'] input")
    field.clear()
    field.send_keys("9")
    wait(lambda: analysed.all("#form .problem"))
    sound()
    analysed.click("take-back")
    wait(lambda: "in order" in analysed.text("editor-error"))
    for place in ("tile:", "owner:", "deck:", "dice:"):
        analysed.tap(spot_at(analysed, place))
        assert analysed.shows("spot")
        sound()
