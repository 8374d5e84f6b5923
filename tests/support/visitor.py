"""Somebody who uses the web page in a browser, by mouse, finger or keyboard."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.browser import by_id, chromium, clear_logs, events_of, resize, wait
from tests.support.web import BROWSER, SECONDS

DESK, PHONE, TABLET, LAPTOP, LARGE = (1280, 900), (390, 844), (768, 1024), (1280, 720), (1920, 1080)
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""With this argument a browser reaches only this machine, as if there were no network."""
_TEXT = 1  # the kind of a frame with text; other kinds are pings
_KEPT = json.dumps(json.dumps({"turns": "0", "browser": BROWSER, "list": True}))
_AT_ONCE = f"""
if (location.protocol.startsWith("http") && !localStorage.getItem("tabletop"))
  localStorage.setItem("tabletop", {_KEPT});
"""
_OF = """
const of = (name) => document.body.dataset[name] ?? "";
const facts = () => Object.fromEntries(["ready", "turn", "kind", "view", "begun"].map((name) => [name, of(name)]));
"""
_FACTS = f"{_OF} return facts();"
_ONCE = """
// the facts, as soon as they fulfil a condition
const given = [...arguments], done = given.pop();
const look = () => (CONDITION) && (observer.disconnect(), done(facts()), true);
const observer = new MutationObserver(look);
look() || observer.observe(document.body, { attributes: true });
"""
_SHOWN = """
return [...document.querySelectorAll(arguments[0])]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width);
"""
OFFERED = ".mark:not(.quiet)"
"""The places that can be chosen, without those that are chosen already."""
_BESIDE = "#hand:not(.chosen) button:not(.aside)"
SPOTS = """
// where each place can be clicked: in the middle, or where no other lies above it; and how far the page is scrolled
const marks = [...document.querySelectorAll(arguments[0])], before = scrollY;
const spots = marks.map((mark) => {
  const spot = { place: mark.dataset.place, actions: mark.dataset.actions.split(" ").map(Number), at: null };
  const look = () => {
    const box = mark.querySelector(".hit").getBoundingClientRect();
    for (const down of [0.5, 0.25, 0.75, 0.1, 0.9]) for (const right of [0.5, 0.25, 0.75, 0.1, 0.9]) {
      const x = Math.round(box.left + right * box.width), y = Math.round(box.top + down * box.height);
      if (!spot.at && document.elementFromPoint(x, y)?.closest(".mark") === mark) spot.at = [x, y];
    }
  };
  look();
  if (!spot.at) {
    const { top, bottom } = mark.getBoundingClientRect();
    scrollBy({ top: (top + bottom) / 2 - innerHeight / 4, behavior: "instant" });
    look();
  }
  return { ...spot, scrolled: scrollY };
});
scrollTo({ top: before, behavior: "instant" });
return spots;
"""


def with_module(name: str, expression: str) -> str:
    """A script that gives the value of an expression in which one of the page's modules has its own name."""
    loaded = "performance.getEntriesByType('resource').map((one) => one.name)"
    address = f"{loaded}.filter((one) => /\\/page\\/({name}|game)\\.js/.test(one)).pop()"  # its own came later
    named = f"const {name} = found.{name}_ ?? found; done({expression})"
    return f"const done = arguments[0]; import({address}).then((found) => {{ {named} }})"


class Visitor:
    """Somebody with a browser.

    Attributes:
        at: where the server is.
        touches: whether the visitor points with a finger.
        clicks: how many presses were on the board, on what is beside the question, and on the button that gives
            answers; "twice" is how many of the last ones a second press at the same place could have replaced.
    """

    def __init__(self, browser: Any, at: str, seed: int = 0) -> None:
        self.browser, self.at = browser, at
        self.random = random.Random(seed)
        self.clicks = {"board": 0, "beside": 0, "commit": 0, "twice": 0}
        self.downloads = Path()
        self.touches = bool(self.run("return matchMedia('(pointer: coarse)').matches"))
        self._frames: list[dict[str, Any]] = []
        self._asked: set[str] = set()

    # --- what is there ---

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements("css selector", selector)

    def text(self, name: str) -> str:
        """The text of an element, visible or not."""
        return str(self.run("return document.getElementById(arguments[0]).textContent", name))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
        return list(self.run(script, selector))

    def facts_of(self, selector: str, name: str) -> list[str]:
        """A fact of each of these elements."""
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.dataset[arguments[1]])"
        return list(self.run(script, selector, name))

    def shows(self, name: str) -> bool:
        return bool(by_id(self.browser, name).is_displayed())

    @property
    def facts(self) -> dict[str, str]:
        return dict(self.run(_FACTS))

    @property
    def ready(self) -> str:
        """The number of the view that is on the page, once it can be answered."""
        return self.facts["ready"]

    @property
    def turn(self) -> str:
        return self.facts["turn"]

    @property
    def key(self) -> str:
        """The key of the link that is open."""
        return str(self.run("return location.pathname")).rpartition("/")[2]

    @property
    def picture(self) -> str:
        """The board's markup, before it was arranged for this screen."""
        return str(self.browser.execute_async_script(with_module("board", "board.boardDocument()")))

    def view(self) -> dict[str, Any]:
        """The view that the page got last."""
        return dict(self.browser.execute_async_script(with_module("present", "present.view()")))

    # --- what is done ---

    def open(self, path: str) -> None:
        self.browser.get(path if path.startswith("http") else self.at + path)

    def click(self, name: str) -> None:
        by_id(self.browser, name).click()

    def hover(self, x: float, y: float) -> None:
        """Move the mouse there."""
        self._pointed(x, y).perform()

    def point(self, x: float, y: float) -> None:
        """Move the mouse there, and press it."""
        self._pointed(x, y).click().perform()

    def tap(self, spot: dict[str, Any]) -> None:
        """Press one of `spots`."""
        self.run("scrollTo({ top: arguments[0], behavior: 'instant' })", spot["scrolled"])
        self.point(*spot["at"])

    def _pointed(self, x: float, y: float) -> Any:
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.actions.pointer_input import PointerInput

        finger: list[Any] = [PointerInput("touch", "finger")] if self.touches else []  # type: ignore[no-untyped-call]
        chain: Any = ActionChains(self.browser, duration=0, devices=finger or None)
        chain.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        return chain

    def tab_to(self, selector: str) -> None:
        """Go to an element with the Tab key."""
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        for _ in range(400):  # an open list of answers and what happened have many stops
            if self.run("return document.activeElement.matches(arguments[0])", selector):
                return
            ActionChains(self.browser).send_keys(Keys.TAB).perform()
        raise AssertionError(f"no Tab leads to {selector}")

    def spots(self, marks: str = OFFERED) -> list[dict[str, Any]]:
        """The places that can be clicked now, `at` which point, and their actions; `marks` selects others."""
        return list(self.run(f"scrollTo(0, 0); {SPOTS}", marks))

    def changed(self, before: str) -> None:
        """Wait until another view can be answered."""
        self.once("of('ready') && of('ready') !== given[0]", before)

    def once(self, condition: str, *given: Any) -> dict[str, str]:
        """The page's facts, as soon as they fulfil this condition. The page must stay open meanwhile."""
        return dict(self.browser.execute_async_script(_OF + _ONCE.replace("CONDITION", condition), *given))

    def gone_on(self, before: str) -> bool:
        """Whether that view can't be answered any more."""
        return self.ready != before

    def starts(self, kind: str = "play") -> None:
        """Wait until a table is on the page."""

        def there() -> bool:
            facts = self.facts
            return facts["kind"] == kind and facts["ready"] != ""

        wait(there, SECONDS)

    def give(self, at_length: bool = False) -> None:
        """Give any answer: on the board where there are places, otherwise beside the question.

        Further answers that belong to it are given in the same way; `at_length`: all that can be answered in advance,
        too. What follows is not waited for.
        """
        presses = 1
        while self.press(at_length):
            presses += 1
        self.clicks["twice"] += presses == 1

    def press(self, at_length: bool = False) -> bool:
        """Press any place, or an answer beside the question if there are none. Returns what `begins` does."""
        before = self.facts
        spots = [spot for spot in self.spots() if spot["at"]]
        if not spots:
            self.clicks["beside"] += 1
            self.random.choice(self.run(_SHOWN, _BESIDE)).click()
            return self.begins(before, at_length)
        self.clicks["board"] += 1
        spot = self.random.choice(spots)
        self.tap(spot)
        if len(spot["actions"]) > 1:
            wait(lambda: self.all("#menu button"), SECONDS)
            self.random.choice(self.all("#menu button")).click()
        return self.begins(before, at_length)

    def begins(self, before: dict[str, str], at_length: bool = False) -> bool:
        """Whether what was pressed begins an answer, goes on with it or takes a part back; then more can be chosen.

        An answer that is whole is given, unless more can be answered `at_length`.
        """
        now = self.once("Object.entries(given[0]).some(([name, fact]) => of(name) !== fact)", before)
        if now["view"] != before["view"] or now["begun"] == "":
            return False
        now = self.once("of('ready') === given[0] || of('view') !== given[1]", before["ready"], before["view"])
        if now["view"] != before["view"]:
            return False
        if not self.can_commit or (at_length and self.run(_SHOWN, f"{OFFERED}, {_BESIDE}")):
            return True
        self.clicks["commit"] += 1
        self.click("commit")
        return False

    @property
    def can_commit(self) -> bool:
        """Whether an answer is chosen that was not given yet."""
        return not self.run("return document.getElementById('commit').disabled")

    def go_on(self, before: str) -> None:
        """Give the answers that complete one that was begun, and wait for another view."""
        if self.facts["begun"] not in ("", "0"):
            wait(lambda: self.ready == before, SECONDS)
            self.give()
        self.changed(before)

    def answer(self, at_length: bool = False) -> None:
        before = self.ready
        self.give(at_length)
        self.changed(before)

    def play_out(self) -> None:
        while self.turn != "over":
            self.answer(at_length=True)

    def choose(self, game: str, players: int = 1, seed: int | None = None) -> None:
        """Choose a game, the number of players and the seed on the start page."""
        self.open("/")
        wait(lambda: self.all(f".game[data-game={game}]"))
        self.find(f".game[data-game={game}]").click()
        self.find(f"#players label:has([value='{players}'])").click()
        if seed is not None:
            self.run("document.getElementById('more').scrollIntoView({ block: 'center' })")  # not below the buttons
            self.find("#more summary").click()
            by_id(self.browser, "seed").send_keys(str(seed))

    def sit(self, path: str) -> None:
        """Open a table's link."""
        self.open(path)
        self.starts()

    def downloaded(self, pattern: str) -> Path:
        """The file that the page has saved under a name of this pattern."""

        def there() -> list[Path]:
            return [path for path in self.downloads.glob(pattern) if path.stat().st_size]

        wait(there)
        (path,) = there()
        return path

    # --- what its browser recorded ---

    def _read_network(self) -> None:
        methods = ("requestWillBeSent", "webSocketCreated", "webSocketFrameSent", "webSocketFrameReceived")
        for event in events_of(self.browser, *(f"Network.{method}" for method in methods)):
            if "response" in event:
                if event["response"]["opcode"] == _TEXT:
                    self._frames.append(event)
            else:
                self._asked.add(event.get("url") or event["request"]["url"])

    @property
    def asked(self) -> set[str]:
        """All addresses that the browser has requested."""
        self._read_network()
        return self._asked

    def messages(self) -> list[dict[str, Any]]:
        """All messages that the browser got or sent on tables' sockets."""
        self._read_network()
        return [json.loads(frame["response"]["payloadData"]) for frame in self._frames]

    def views(self) -> list[dict[str, Any]]:
        return [message["view"] for message in self.messages() if "view" in message and "do" not in message]

    def sent(self) -> list[dict[str, Any]]:
        return [message for message in self.messages() if "do" in message]

    def given(self) -> list[list[int]]:
        """The actions of all answers that were given."""
        return [message["actions"] for message in self.sent() if message["do"] == "answer"]


@contextmanager
def a_browser(size: tuple[int, int]) -> Iterator[Any]:
    """A new browser whose user has switched off delays. With the size of a phone or a tablet it acts as one."""
    width, height = size
    emulated = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 1, "touch": True}}
    options = {"mobileEmulation": emulated} if width < 960 else {}
    with chromium(ALONE, **options) as browser:
        browser.set_script_timeout(SECONDS)
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _AT_ONCE})
        if not options:
            resize(browser, width, height)
        yield browser


@contextmanager
def visiting(browser: Any, at: str, downloads: Path, lost: bool = False) -> Iterator[Visitor]:
    """A visitor of a server. At the end the browser's console must be clean, with requests only to this server.

    `lost`: the server is stopped meanwhile, so messages about this are allowed.
    """
    browser.get("about:blank")
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": at, "storageTypes": "local_storage"})
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    clear_logs(browser)
    visitor = Visitor(browser, at)
    visitor.downloads = downloads
    yield visitor
    messages = [entry["message"] for entry in browser.get_log("browser")]
    assert [text for text in messages if not (lost and re.search("WebSocket connection to .* failed", text))] == []
    own = (at, at.replace("http", "ws"), f"blob:{at}", "data:", "about:blank")
    assert [url for url in visitor.asked if not url.startswith(own)] == []
