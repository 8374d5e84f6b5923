"""The web page on screens of all sizes: texts and targets, and whole games by mouse, finger and keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium", reason="needs selenium")

from selenium.webdriver.common.keys import Keys

from petrichor_env.config import MODULES
from tests.support.browser import prefer, press, resize, wait
from tests.support.firefox import firefox
from tests.support.visitor import DESK, LAPTOP, LARGE, PHONE, TABLET, Visitor, a_browser, visiting, with_module
from tests.support.web import SECONDS, Server

SMALL_PHONE = (360, 740)
SIZES = (SMALL_PHONE, PHONE, TABLET, LAPTOP, LARGE)
FULL: dict[str, dict[str, Any]] = {
    "petrichor": {"seats": ["here", *["random"] * 4], "options": {"modules": list(MODULES)}},
    "evergreen": {"seats": ["here", *["random"] * 3]},
}
"""For each game a table with the most players and all modules."""
LEAST_TEXT = 11.0
LEAST_HIT = {"finger": 39.0, "mouse": 15.5}
"""The least size of a target, in CSS pixels. Mouse users can choose small ones in the list of answers."""


def on(size: tuple[int, int], server: Server, downloads: Path) -> Iterator[Visitor]:
    with a_browser(size) as browser, visiting(browser, server.url, downloads) as one:
        yield one


# --- what can be read and met ----------------------------------------------------------------------------------------

_TEXTS = """
// words on the board and on the page that are smaller than they may be
const least = arguments[0], small = [];
for (const one of document.querySelectorAll("#board .picture [aria-label]")) {
  const size = 200 * (one.getScreenCTM()?.a ?? 0);
  if (one.getBoundingClientRect().width && size < least - 0.05) small.push([one.getAttribute("aria-label"), size]);
}
for (const one of document.querySelectorAll("#badges text")) {
  const size = parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a;
  if (size < least - 0.05) small.push([one.textContent, size]);
}
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const { parentElement: one, data } = walker.currentNode;
  if (!data.trim() || one.closest("svg, script, noscript")) continue;
  if (!one.checkVisibility({ visibilityProperty: true })) continue;
  const size = parseFloat(getComputedStyle(one).fontSize);
  if (size < least) small.push([data, size]);
}
return small;
"""
_OVERLAPS = """
// enlarged words that lie on other words
const found = [], words = [...document.querySelectorAll("#board .picture [aria-label]")]
  .map((one) => [one, one.getBoundingClientRect()]).filter(([, { width }]) => width);
for (const [one, a] of words) for (const [other, b] of words) {
  if (one === other || one.contains(other) || other.contains(one)) continue;
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  if (across > 1.5 && down > 1.5) found.push([one.getAttribute("aria-label"), other.getAttribute("aria-label")]);
}
return found;
"""
_HITS = """
// the places: how large each is, what it meets although neither lies in the other, and what taps beside its middle meet
const boxOf = (mark) => mark.querySelector(".hit").getBoundingClientRect();
const marks = [...document.querySelectorAll(".mark:not(.quiet)")], before = scrollY;
const across = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left);
const down = (a, b) => Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
const within = (a, b) => across(a, b) > 0.8 * a.width && down(a, b) > 0.8 * a.height;
const found = marks.map((mark) => {
  const { place } = mark.dataset;
  let box = boxOf(mark);
  const meets = marks.map((other) => [other, boxOf(other)]).filter(([other, its]) => other !== mark
    && across(box, its) > 0.5 && down(box, its) > 0.5 && !within(box, its) && !within(its, box))
    .map(([other]) => other.dataset.place);
  const above = marks.some((other) => other !== mark && within(boxOf(other), box));
  const dock = document.getElementById("dock").getBoundingClientRect();
  if (box.top < 8 || box.bottom > (innerWidth < 960 ? dock.top : innerHeight) - 8) {
    scrollBy({ top: (box.top + box.bottom) / 2 - innerHeight / 4, behavior: "instant" });
    box = boxOf(mark);
  }
  let taps = 0, wrong = 0;
  const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  for (const far of [0, 2, 5]) for (let i = 0; i < (far ? 8 : 1); i++) {
    const meant = document.elementFromPoint(x + far * Math.cos(i * Math.PI / 4), y + far * Math.sin(i * Math.PI / 4));
    taps++;
    wrong += meant?.closest(".mark") !== mark;
  }
  return { place, width: box.width, height: box.height, meets, taps, wrong: above ? 0 : wrong };
});
scrollTo({ top: before, behavior: "instant" });
return found;
"""
_NUMBERS = """
const offered = (one, i) => (one.closest("[hidden]") ? [] : [i + 1]); // also where the list is folded
return [...document.querySelectorAll("#answers button")].flatMap(offered);
"""
_SHARE = "return document.getElementById('board').getBoundingClientRect().width / innerWidth"
_IN_SIGHT = """
const dock = document.getElementById("dock").getBoundingClientRect(), end = innerWidth < 960 ? dock.top : innerHeight;
const boxes = [...document.querySelectorAll(".mark:not(.quiet) .hit")].map((one) => one.getBoundingClientRect());
return !boxes.length || boxes.some(({ top, bottom }) => top >= -1 && bottom <= end + 1);
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("answers", [16, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("game", FULL)
def test_what_is_read_and_met(visitor: Visitor, server: Server, game: str, answers: int) -> None:
    """At every size no word is too small, no words overlap, and each place can be hit, also beside its middle. This is
    measured whenever there is a new kind of place, or more of one kind than before.
    """
    visitor.sit(server.make(game, start={"seed": 4}, **FULL[game])[0])
    most: dict[str, int] = {}
    places = 0
    for _ in range(answers):
        kinds = Counter(place.rpartition(" ")[2].partition(":")[0] for place in places_of(visitor))
        if any(number > most.get(kind, 0) + 2 * (kind in most) for kind, number in kinds.items()):
            most |= kinds
            for size in SIZES:
                resize(visitor.browser, *size)
                places += measured(visitor, (game, size))
            resize(visitor.browser, *DESK)
        if visitor.turn == "over":
            break
        visitor.answer()
    assert len(most) > 2 and places > 60


def points_of(visitor: Visitor) -> list[str]:
    return visitor.texts("#owners td:last-child")


def places_of(visitor: Visitor) -> list[str]:
    return list(
        visitor.run("return [...document.querySelectorAll('.mark:not(.quiet)')].map((one) => one.dataset.place)")
    )


def measured(visitor: Visitor, at: tuple[str, tuple[int, int]]) -> int:
    """Measure everything that is visible now; returns the number of places."""
    width = at[1][0]
    assert visitor.run(_TEXTS, LEAST_TEXT) == [], at
    assert visitor.run(_OVERLAPS) == [], at
    assert visitor.run(_IN_SIGHT), at
    assert width < 960 or visitor.run(_SHARE) >= 0.6, at
    hits = visitor.run(_HITS)
    for hit in hits:
        assert min(hit["width"], hit["height"]) >= LEAST_HIT["mouse" if width >= 960 else "finger"], (at, hit)
        assert hit["taps"] == 17 and hit["wrong"] == 0 and hit["meets"] == [], (at, hit)
    return len(hits)


def test_play_is_in_sight(visitor: Visitor) -> None:
    """The button is visible on the start page without scrolling, whatever is chosen."""
    for size in (SMALL_PHONE, PHONE, TABLET, LAPTOP, LARGE):
        resize(visitor.browser, *size)
        for players in (1, 5):
            visitor.choose("petrichor", players)
            box = visitor.run("return document.getElementById('play').getBoundingClientRect()")
            assert box["top"] >= 0 and box["bottom"] <= size[1] and box["right"] <= size[0], (size, players)


_FIXED = """
// where what is needed at each question stands, and whether it is in the window
return ["told", "asked", "said", "hand", "commit", "undo", "advice"].map((id) => {
  const one = document.getElementById(id), { x, y, width, height } = one.getBoundingClientRect();
  return [id, x, y, x >= 0 && y >= 0 && x + width <= innerWidth && y + height <= innerHeight];
});
"""
_WATCH = """
// add up how far things move without being asked to
window.shifted = 0;
new PerformanceObserver((list) => { for (const { value } of list.getEntries()) window.shifted += value; })
  .observe({ type: "layout-shift" });
"""
_SCROLLS = "return document.documentElement.scrollHeight > innerHeight || document.body.scrollHeight > innerHeight"


@pytest.mark.parametrize("size", [(1440, 900), LAPTOP, TABLET, PHONE], ids=str)
@pytest.mark.parametrize("game", FULL)
def test_everything_in_sight(visitor: Visitor, server: Server, game: str, size: tuple[int, int]) -> None:
    """What is needed at each question has a fixed place in the window. The list of answers is folded. Nothing moves by
    itself, and beside a desktop's board not even the page.
    """
    resize(visitor.browser, *size)
    visitor.sit(server.make(game, start={"seed": 4}, **FULL[game])[0])
    visitor.run("document.getElementById('all').open = false")
    fixed = [[*place[:3], True] for place in visitor.run(_FIXED)]
    visitor.run(_WATCH)
    questions = 0
    while questions < 8:
        visitor.run("window.shifted = 0")
        before = visitor.ready
        visitor.press()
        assert visitor.run(_FIXED) == fixed, visitor.text("asked")
        visitor.go_on(before)
        assert visitor.run("return window.shifted") <= 0.05, visitor.text("asked")
        assert visitor.run(_FIXED) == fixed, visitor.text("asked")
        assert size[0] < 960 or not visitor.run(_SCROLLS)
        assert not visitor.all("#all[open]")
        questions += 1


_ROWS = """
const boxes = [...document.querySelectorAll("#hand .card")].map((one) => one.getBoundingClientRect());
const hand = document.getElementById("hand");
return [boxes.length, new Set(boxes.map(({ top }) => top)).size, hand.scrollHeight <= hand.clientHeight];
"""
_COVERED = """
// the height of a message, and which parts beside the board it lies over
const { top, bottom, height } = document.getElementById("message").getBoundingClientRect();
const meets = (box) => box.top < bottom && box.bottom > top;
return [height, ["dock", "side"].filter((id) => meets(document.getElementById(id).getBoundingClientRect()))];
"""


def test_four_cards_in_a_row(visitor: Visitor, server: Server) -> None:
    """The cards of a hand, and what is behind a button, are in sight beside a desktop's board."""
    for size in (LAPTOP, DESK, LARGE):
        resize(visitor.browser, *size)
        visitor.sit(server.make("petrichor", ["here", "random"], start={"seed": 4})[0])
        while not visitor.all("#hand .card"):
            visitor.answer()
        assert visitor.run(_ROWS) == [4, 1, True], size


def test_a_message_covers_nothing(visitor: Visitor) -> None:
    """However long it is, and wherever the words beside the board were moved to."""
    visitor.choose("petrichor", 2)
    visitor.click("analyse")
    visitor.starts("analyse")
    visitor.browser.execute_async_script(with_module("dom", "dom.complain('What is wrong, in words. '.repeat(8))"))
    for selector in ("#export-png", "#done", "#all"):
        visitor.run("document.querySelector(arguments[0]).scrollIntoView()", selector)
        height, covered = visitor.run(_COVERED)
        assert height > 80 and covered == [], selector


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_nothing_empty_at_the_end(visitor: Visitor, server: Server, game: str) -> None:
    """A game that is over has no strip for what happens, unless something is said there."""
    visitor.sit(server.make(game, ["here"], start={"seed": 4})[0])
    first = visitor.text("caption")
    assert first and visitor.shows("controls")
    visitor.play_out()
    assert visitor.text("caption") != first and visitor.shows("controls") == bool(visitor.text("caption"))


def test_the_list_is_folded(visitor: Visitor, server: Server) -> None:
    """Keys open it: arrows go along it, a slash filters it. A number needs no list. The page remembers how it was."""
    visitor.sit(server.make("petrichor", ["here"], start={"seed": 4})[0])
    visitor.find("#all-title").click()
    visitor.browser.refresh()
    visitor.starts()
    assert not visitor.all("#all[open]")
    press(visitor.browser, "1")
    assert visitor.text("typed").startswith("1: ") and not visitor.all("#all[open]")
    press(visitor.browser, Keys.ESCAPE, Keys.ARROW_DOWN)
    assert visitor.all("#all[open]") and visitor.run("return document.activeElement.matches('#answers button')")
    visitor.find("#all-title").click()
    press(visitor.browser, "/")
    assert visitor.all("#all[open]") and visitor.run("return document.activeElement.id") == "filter"


def test_an_answer_that_goes_on(visitor: Visitor, server: Server) -> None:
    """The sheet grows by what was begun, and covers none of the places that come next. A number that is typed counts,
    although a place has the focus.
    """
    resize(visitor.browser, *SMALL_PHONE)
    visitor.sit(server.make("petrichor", start={"seed": 5}, **FULL["petrichor"])[0])
    seen = 0
    while seen < 8:
        before = visitor.facts
        if visitor.press():
            seen += 1
            assert visitor.run(_IN_SIGHT), visitor.text("begun")
        else:
            visitor.changed(before["ready"])
    before = visitor.facts
    last = visitor.all("#answers li:not([hidden]) button")[-1]
    actions = last.get_attribute("data-action")
    visitor.tab_to(".mark")
    press(visitor.browser, *last.find_element("class name", "number").get_attribute("textContent"), Keys.ENTER)
    assert not visitor.begins(before)
    assert visitor.sent()[-1]["actions"] == [int(action) for action in actions.split()]


_PLANETS = """
return [...document.querySelectorAll("#board [data-planet]")].map((one) => one.getBoundingClientRect().width);
"""


def test_a_phone(server: Server, tmp_path: Path) -> None:
    """The own board fills the width. Others' boards are folded away until opened. A finger answers.

    At the end of a game the verdict is in sight.
    """
    for other in on(PHONE, server, tmp_path):
        other.sit(server.make("evergreen", ["here", "random", "random", "random"], start={"seed": 6})[0])
        assert other.run("return [innerWidth, matchMedia('(pointer: coarse)').matches]") == [PHONE[0], True]
        widths = other.run(_PLANETS)
        assert widths[0] > 0.85 * PHONE[0] and widths[1:] == [0, 0, 0]
        names = ("random", "random 2", "random 3")
        points = points_of(other)[1:]
        assert other.texts("#folds button") == [" ".join(one) for one in zip(names, points, strict=True)]
        fold(other)
        assert [width > 100 for width in other.run(_PLANETS)] == [True, False, True, False]
        assert other.all("#folds button")[1].get_attribute("aria-expanded") == "true"
        fold(other)
        assert other.run(_PLANETS)[1:] == [0, 0, 0]
        for _ in range(12):
            other.answer()
        assert other.clicks["board"] > 6
        # turned on its side
        resize(other.browser, *reversed(PHONE))
        assert all(spot["at"] for spot in other.spots())
        assert other.run("return document.documentElement.scrollWidth <= innerWidth")
        resize(other.browser, *PHONE)
        (path,) = server.make("petrichor", ["here"], start={"seed": 4})
        other.sit(path)
        with server.open(path) as page:
            page.play_out()
        wait(partial(other.shows, "result"), SECONDS)
        box = other.run("return document.getElementById('verdict').getBoundingClientRect()")
        assert box["top"] > 0 and box["bottom"] <= PHONE[1]


def test_the_own_planet_is_the_largest(visitor: Visitor, server: Server) -> None:
    for players in (3, 4):
        visitor.sit(server.make("evergreen", ["here", *["random"] * (players - 1)], start={"seed": 6})[0])
        own, *others = sorted(visitor.run(_PLANETS), reverse=True)
        assert own == visitor.run(_PLANETS)[0] and own > 1.5 * max(others)


_TITLES = """
const linear = (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
const light = (colour) => {
  const [red, green, blue] = colour.match(/[\\d.]+/g).slice(0, 3).map((one) => linear(one / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const ground = light(getComputedStyle(document.body).backgroundColor);
return [...document.querySelectorAll("#board [data-titles] > *")].map((one) => {
  const [low, high] = [ground, light(getComputedStyle(one).fill)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
});
"""


def test_heads_of_columns_can_be_read(visitor: Visitor, server: Server) -> None:
    """They lie on the page's own ground, which is dark in the dark."""
    visitor.sit(server.make("petrichor", ["here", "random"], start={"seed": 6})[0])
    for scheme in ("dark", "light"):
        prefer(visitor.browser, scheme)
        contrasts = visitor.run(_TITLES)
        assert len(contrasts) >= 6 and min(contrasts) > 4.5


def fold(visitor: Visitor) -> None:
    """Fold the third player's board away, or show it."""
    visitor.run("document.getElementById('folds').scrollIntoView()")  # so that the sheet does not cover it
    visitor.all("#folds button")[1].click()


# --- whole games -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL_PHONE, PHONE, TABLET, LARGE], ids=str)
@pytest.mark.parametrize("game", FULL)
def test_a_whole_game(server: Server, tmp_path: Path, game: str, size: tuple[int, int]) -> None:
    """By finger on phones and tablets, by mouse on a large screen."""
    for one in on(size, server, tmp_path):
        assert one.touches == (size != LARGE)
        one.sit(server.make(game, start={"seed": 5}, **FULL[game])[0])
        one.play_out()
        assert one.clicks["board"] > one.clicks["beside"] and one.text("verdict")


@pytest.mark.slow
@pytest.mark.parametrize("game", FULL)
def test_a_whole_game_by_keys(visitor: Visitor, server: Server, game: str) -> None:
    """At 1280 by 720: Tab and arrows on the board, numbers in the list."""
    resize(visitor.browser, *LAPTOP)
    visitor.sit(server.make(game, start={"seed": 5}, **FULL[game])[0])
    given = {"board": 0, "list": 0}
    while visitor.turn != "over":
        before = visitor.facts
        if visitor.all(".mark[tabindex='0']") and visitor.random.random() < 0.5:
            visitor.tab_to(".mark")
            press(
                visitor.browser, *visitor.random.choices([Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.END], k=2), Keys.ENTER
            )
            if visitor.shows("menu"):
                press(visitor.browser, Keys.ARROW_DOWN, Keys.ENTER)
            given["board"] += 1
        else:
            number = visitor.random.choice(visitor.run(_NUMBERS))
            press(visitor.browser, str(number), Keys.ENTER)
            given["list"] += 1
        if not visitor.begins(before):
            visitor.changed(before["ready"])
    assert min(given.values()) > 10 and visitor.text("verdict")


@pytest.mark.slow
@pytest.mark.parametrize("game", FULL)
def test_a_whole_game_in_firefox(server: Server, tmp_path: Path, game: str) -> None:
    with firefox(tmp_path) as browser:
        browser.set_window_size(*DESK)
        one = Visitor(browser, server.url)
        one.open("/")
        one.run("localStorage.tabletop = JSON.stringify({ turns: '0' })")
        one.sit(server.make(game, ["here"], start={"seed": 5})[0])
        one.play_out()
        assert one.clicks["board"] > one.clicks["beside"] and one.text("verdict")
        wait(lambda: one.all("#log li"))
        one.run("console.error('an error')")
        assert browser.errors == ["an error"]
