"""The page of a replay in headless Chromium, by mouse and by keyboard."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from petrichor_env.drawing import action_text, events
from petrichor_env.state import PHASE_NAMES, WEATHER_NAMES
from petrichor_env.words import tile_name
from tabletop_engine.replays.page import write_page
from tabletop_engine.replays.replay import Frame, Replay
from tests.support.browser import by_id, chromium, clear_logs, events_of, press, resize, wait
from tests.support.recorded import NASTY, QUOTES, review_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def game(browser: Any, replay_file: Path) -> Iterator[Any]:
    """The page at its first step, in a large window. At the end its console must be clean, without any request."""
    resize(browser, 1280, 900)
    browser.get("about:blank")
    clear_logs(browser)
    browser.get(replay_file.as_uri())
    yield browser
    assert browser.get_log("browser") == []
    asked = {one["request"]["url"].split("#")[0] for one in events_of(browser, "Network.requestWillBeSent")}
    assert asked <= {replay_file.as_uri(), "data:,"}


def step_of(browser: Any) -> int:
    return int(browser.execute_script("return document.body.dataset.step"))


def is_playing(browser: Any) -> bool:
    return browser.execute_script("return document.body.dataset.playing") == "true"


_FACTS = """
const all = (selector) => [...document.querySelectorAll(`#board > svg ${selector}`)];
const { dataset } = document.querySelector("#board > svg");
return {
  document: { ...dataset },
  tiles: Object.fromEntries(all("[data-tile]").map(({ dataset }) => [dataset.tile, { ...dataset }])),
  points: all("[data-owner]").map(({ dataset }) => Number(dataset.points)),
  weather: Object.fromEntries(all("[data-weather]").map(({ dataset }) => [dataset.weather, dataset.votes])),
  words: document.getElementById("action").textContent,
  asked: document.getElementById("asked").textContent,
  changes: [...document.querySelectorAll("#changes li")].map((item) => item.textContent),
  now: [...document.querySelectorAll("#owners .now")].map((cell) => Number(cell.textContent)),
  slider: Number(document.getElementById("slider").value),
  marker: { ...document.getElementById("marker").dataset },
  size: document.querySelector("#board > svg").getBoundingClientRect().width,
  drawn: document.querySelector("#board use").getBBox().width,
};
"""


def check(browser: Any, shown: list[Frame], step: int) -> None:
    """Check that everything on the page belongs to this step."""
    frame, there = shown[step], browser.execute_script(_FACTS)
    state = frame.state
    points = state["points"][:2].tolist()
    assert step_of(browser) == there["slider"] == step
    assert int(there["document"]["round"]) == state["round"]
    assert there["document"]["phase"] == PHASE_NAMES[state["phase"]]
    assert there["points"] == there["now"] == points
    assert there["marker"] == {"step": str(step), "points": ",".join(map(str, points)), "x": there["marker"]["x"]}
    tiles = np.flatnonzero(state["crop"] >= 0).tolist()
    assert set(there["tiles"]) == {tile_name(2, tile) for tile in tiles}
    for tile in tiles:
        facts = there["tiles"][tile_name(2, tile)]
        assert facts["drops"] == ",".join(map(str, state["drops"][tile][:2]))
        assert facts["cloudDrops"] == ",".join(map(str, state["cloud_drops"][tile][:2]))
    for name, votes in zip(WEATHER_NAMES, state["votes"], strict=True):
        assert there["weather"][name] == ",".join(map(str, votes[:2]))
    assert frame.last_action in there["words"]
    assert there["asked"] == there["document"]["asked"]
    assert there["changes"] == ([] if step == 0 else events(shown[step - 1].state, shown[step - 1].action))
    assert there["size"] > 300 and there["drawn"] > 0


def test_buttons(game: Any, shown: list[Frame]) -> None:
    check(game, shown, 0)
    assert not is_playing(game)
    assert by_id(game, "place").text.startswith(f"Step 0 of {len(shown) - 1}")
    assert not by_id(game, "back").is_enabled() and by_id(game, "next").is_enabled()
    assert game.title == f"Petrichor: {NASTY}, {QUOTES}"
    assert game.execute_script("return document.scripts.length") == 2
    text = by_id(game, "owners").text
    assert NASTY in text and QUOTES in text
    for step in range(1, 6):
        by_id(game, "next").click()
        check(game, shown, step)
    by_id(game, "back").click()
    check(game, shown, 4)
    by_id(game, "last").click()
    check(game, shown, len(shown) - 1)
    assert by_id(game, "decision-title").text == "The end" and not by_id(game, "last").is_enabled()
    by_id(game, "first").click()
    check(game, shown, 0)


def test_keys(game: Any, shown: list[Frame]) -> None:
    from selenium.webdriver.common.keys import Keys

    rounds = [frame.state["round"] for frame in shown]
    second, third = rounds.index(2), rounds.index(3)
    press(game, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    check(game, shown, 2)
    press(game, Keys.END)
    check(game, shown, len(shown) - 1)
    press(game, Keys.ARROW_RIGHT)
    assert step_of(game) == len(shown) - 1
    press(game, Keys.HOME, "r", "r")
    check(game, shown, third)
    press(game, "R")
    check(game, shown, second)
    press(game, "+", "+", "+", "+")
    assert by_id(game, "speed").get_attribute("value") == "8"
    press(game, "-")
    assert by_id(game, "speed").get_attribute("value") == "4"
    press(game, " ")
    assert is_playing(game)
    wait(lambda: step_of(game) > second)
    press(game, " ")
    assert not is_playing(game)
    press(game, "x", Keys.ESCAPE)
    check(game, shown, step_of(game))


def test_by_keyboard_alone(game: Any) -> None:
    """Every control can be reached, has a name, and does the same as its key."""
    from selenium.webdriver.common.keys import Keys

    reached = []
    for _ in range(8):
        press(game, Keys.TAB)
        active = game.switch_to.active_element
        reached.append((active.get_attribute("id"), active.accessible_name))
    buttons = [("play", "Play"), ("next", "Step forward"), ("last", "Last step")]  # the others do nothing at the start
    assert reached[:5] == [("slider", "Step"), *buttons, ("speed", "Speed")]
    by_id(game, "play").send_keys(" ")  # presses the button, once
    assert is_playing(game) and by_id(game, "play").accessible_name == "Pause"
    by_id(game, "play").send_keys(Keys.ENTER)
    assert not is_playing(game)
    game.execute_script("document.getElementById('slider').focus()")
    at = step_of(game)
    press(game, Keys.ARROW_RIGHT)
    assert step_of(game) == at + 1
    for button in game.find_elements("css selector", "button"):
        assert button.get_attribute("aria-label") or button.text


_ENDINGS = """
return [...document.querySelectorAll(".ending")].map((one) => one.checkVisibility());
"""


def test_how_it_ends_is_seen_at_the_end_or_on_request(game: Any) -> None:
    """The page opens without telling who has won, in words, points or lines of the chart."""

    def seen() -> tuple[set[bool], bool]:
        ahead = game.execute_script("return document.querySelector('#chart g[opacity=\"0.3\"]') !== null")
        return set(game.execute_script(_ENDINGS)), ahead

    assert seen() == ({False}, False)
    reveal = by_id(game, "reveal")
    assert reveal.text == "Show the end"
    reveal.click()
    assert seen() == ({True}, True) and reveal.text == "Hide the end"
    reveal.click()
    assert seen() == ({False}, False)
    by_id(game, "last").click()
    assert seen() == ({True}, False) and not reveal.is_displayed()
    by_id(game, "back").click()
    assert seen() == ({False}, False)


def test_slider(game: Any, shown: list[Frame]) -> None:
    from selenium.webdriver import ActionChains

    slider = by_id(game, "slider")
    assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("0", str(len(shown) - 1))
    ActionChains(game).move_to_element(slider).click().perform()
    middle = step_of(game)
    assert abs(middle - len(shown) / 2) < 3
    check(game, shown, middle)
    ActionChains(game).drag_and_drop_by_offset(slider, 100, 0).perform()
    assert step_of(game) > middle
    check(game, shown, step_of(game))
    assert slider.get_attribute("aria-valuetext").startswith(f"step {step_of(game)} of")
    marks = game.find_elements("css selector", "#rounds button")
    marks[2].click()
    check(game, shown, [frame.state["round"] for frame in shown].index(3))
    assert [mark.get_attribute("class") for mark in marks] == ["", "", "now", ""]


def test_playing(game: Any, shown: list[Frame]) -> None:
    by_id(game, "speed").send_keys("8")
    by_id(game, "play").click()
    assert is_playing(game)
    wait(lambda: step_of(game) >= 3)
    by_id(game, "play").click()
    at = step_of(game)
    assert not is_playing(game)
    time.sleep(0.4)
    check(game, shown, at)
    by_id(game, "last").click()
    by_id(game, "back").click()
    by_id(game, "play").click()
    wait(lambda: not is_playing(game))
    check(game, shown, len(shown) - 1)  # it stops at the end, and from there starts anew
    by_id(game, "play").click()
    wait(lambda: 0 < step_of(game) < 5)
    by_id(game, "next").click()
    assert not is_playing(game)


def test_chart(game: Any, shown: list[Frame]) -> None:
    from selenium.webdriver import ActionChains

    def marked() -> float:
        return float(game.execute_script("return document.getElementById('marker').dataset.x"))

    start = marked()
    by_id(game, "last").click()
    end = marked()
    by_id(game, "back").click()
    assert end - marked() == pytest.approx((end - start) / (len(shown) - 1), abs=0.15)
    chart = by_id(game, "chart")
    middle = round((start + end - chart.size["width"]) / 2)
    ActionChains(game).move_to_element_with_offset(chart, middle, 0).click().perform()
    assert abs(step_of(game) - (len(shown) - 1) / 2) <= 1
    check(game, shown, step_of(game))
    colours = game.execute_script(
        "return [...new Set([...document.querySelectorAll('#chart path')].map((p) => p.getAttribute('stroke')))]"
    )
    shapes = game.execute_script(
        "return [...document.querySelectorAll('#marker use')].map((use) => use.getAttribute('href'))"
    )
    assert {"#0072b2", "#e69f00"} < set(colours)
    assert sorted(shapes) == ["#tabletop-owner-0", "#tabletop-owner-1"]
    label = game.execute_script("return document.querySelector('#chart svg').getAttribute('aria-label')")
    assert f"at step {step_of(game)}: {NASTY} " in label


def test_the_curve_of_a_review(game: Any, replay: Replay, replay_file: Path, tmp_path: Path) -> None:
    """It works by keys and by mouse. Later steps are not on it before the end is shown."""
    from selenium.webdriver.common.keys import Keys

    assert not by_id(game, "review").is_displayed()
    review = review_of(replay)
    write_page(replay, tmp_path / "reviewed.html", review=review)
    game.get((tmp_path / "reviewed.html").as_uri())
    curve = by_id(game, "curve")
    assert curve.aria_role == "slider" and curve.accessible_name == "chance to win over the game"
    assert by_id(game, "review-title").text == f"Chance to win, by {NASTY}" and game.title.startswith("Petrichor")
    marks = game.find_elements("css selector", "#curve .mistake")
    assert len(marks) <= 1
    by_id(game, "reveal").click()
    marked = [int(one.get_attribute("data-step")) for one in game.find_elements("css selector", "#curve .mistake")]
    assert marked == [one.step for one in review.moments]
    curve.send_keys(Keys.HOME, Keys.PAGE_UP)
    assert step_of(game) == next(step for step in marked if step > review.curve[0].step)
    assert "A mistake" in by_id(game, "curve-told").text and by_id(game, "better").text.startswith("Better here: ")
    curve.send_keys(Keys.ARROW_LEFT)
    assert step_of(game) in [point.step for point in review.curve]
    game.execute_script("arguments[0].scrollIntoView({ block: 'center' })", curve)
    game.find_elements("css selector", "#curve .mistake")[-1].click()
    assert step_of(game) == marked[-1] and curve.get_attribute("aria-valuenow") == str(marked[-1])
    curve.send_keys(Keys.END)
    by_id(game, "reveal").click()
    curve.send_keys(Keys.HOME)
    assert len(game.find_elements("css selector", "#curve .mistake")) <= 1
    assert game.get_log("browser") == []
    clear_logs(game)  # the logs of another file than the one that was opened
    events_of(game, "Network.requestWillBeSent")
    game.get(replay_file.as_uri())


def test_probabilities(game: Any, shown: list[Frame]) -> None:
    step = max(range(len(shown) - 1), key=lambda i: len(shown[i].probabilities))
    frame = shown[step]
    assert frame.action is not None
    game.execute_script(f"location.hash = '#{step}'")
    wait(lambda: step_of(game) == step)
    rows = game.find_elements("css selector", "#options li")
    assert len(rows) == 9 and rows[-1].text.startswith(str(len(frame.probabilities) - 8))
    assert [row.get_attribute("class") for row in rows] == ["taken", *[""] * 7, "others"]
    taken = action_text(frame.state, frame.action)
    assert rows[0].find_element("class name", "words").get_attribute("textContent") == f"{taken} (taken)"
    assert rows[0].find_element("class name", "share").text == "50.0 %"
    widths = [row.find_element("class name", "bar").size["width"] / row.size["width"] for row in rows]
    assert widths[:2] == pytest.approx([0.5, 0.5 / (len(frame.probabilities) - 1)], abs=0.01)
    without = next(i for i in range(step, len(shown)) if not shown[i].probabilities)
    game.execute_script(f"location.hash = '#{without}'")
    wait(lambda: step_of(game) == without)
    assert len(game.find_elements("css selector", "#options li")) == 1


def test_an_address_with_a_step(game: Any, replay_file: Path, shown: list[Frame]) -> None:
    """Tiles that differ from the step before fade in; others don't."""
    game.get("about:blank")
    game.get(f"{replay_file.as_uri()}#12")
    check(game, shown, 12)
    by_id(game, "next").click()
    game.refresh()
    check(game, shown, 13)
    for wrong in ("-3", "x", "1e9", "-0.5"):
        game.execute_script(f"location.hash = '#{wrong}'")
        wait(lambda: step_of(game) in (0, len(shown) - 1))

    step = next(i for i in range(1, len(shown)) if (shown[i].state["drops"] != shown[i - 1].state["drops"]).any())
    game.execute_script(f"location.hash = '#{step - 1}'")
    wait(lambda: step_of(game) == step - 1)
    by_id(game, "next").click()
    fresh = game.execute_script(
        "return [...document.querySelectorAll('#board .fresh[data-tile]')].map((tile) => tile.dataset.tile)"
    )
    fields = ("drops", "cloud_drops", "cloud", "growing")
    before, after = shown[step - 1].state, shown[step].state
    for tile in np.flatnonzero(after["crop"] >= 0).tolist():
        differs = any(not np.array_equal(before[field][tile], after[field][tile]) for field in fields)
        assert differs <= (tile_name(2, tile) in fresh)
    assert 0 < len(fresh) < 7


def test_windows_of_any_size(game: Any, shown: list[Frame]) -> None:
    """On a phone on its side, the whole board and the controls are in the window together."""
    by_id(game, "last").click()
    wide = "return document.documentElement.scrollWidth"
    for width in (340, 400, 800, 1000):
        resize(game, width, 760)
        check(game, shown, len(shown) - 1)
        wait(partial(lambda width: game.execute_script(wide) <= width, width))
        for name in ("first", "back", "play", "next", "last", "speed", "slider", "chart", "board"):
            box = by_id(game, name).rect
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
        if width < 600:
            board = "return document.querySelector('#board > svg').clientWidth"
            before = game.execute_script(board)
            by_id(game, "zoom").click()
            assert game.execute_script(board) > 2 * before and game.execute_script(wide) <= width
            controls = by_id(game, "controls").rect
            game.execute_script("window.scrollTo(0, 0)")
            top = game.execute_script("return document.getElementById('controls').getBoundingClientRect().bottom")
            assert top <= 760 and controls["height"] < 200  # always at hand
            by_id(game, "zoom").click()
    boxes = "return ['board', 'controls'].map((name) => document.getElementById(name).getBoundingClientRect().toJSON())"
    for width, height in ((667, 375), (844, 390), (932, 430)):
        resize(game, width, height)
        game.execute_script("document.getElementById('game').scrollIntoView()")
        board, controls = game.execute_script(boxes)
        assert game.execute_script(wide) <= width
        for box in (board, controls):
            assert box["top"] >= 0 and box["bottom"] <= height and box["left"] >= 0 and box["right"] <= width
        assert board["right"] <= controls["left"] and board["height"] > 0.85 * height


_PLACES = """
const box = (name) => document.getElementById(name).getBoundingClientRect();
return [box("board").top, box("controls").bottom, box("left").width];
"""


def test_board_and_controls_are_seen_together(game: Any) -> None:
    """The board is as large as the window allows below the heading, whatever room the heading takes."""

    def fits(width: int, height: int) -> bool:
        _, bottom, wide = game.execute_script(_PLACES)
        narrow = abs(wide - (width - 400)) < 1  # the words beside it need their room
        return bool(bottom <= height and (bottom > height - 16 or narrow))

    for size in ((1280, 900), (1500, 800), (1000, 900)):
        resize(game, *size)
        tops = []
        for words in (0, 60, 120):
            game.execute_script("document.getElementById('about').textContent = 'heading '.repeat(arguments[0])", words)
            wait(partial(fits, *size))
            tops.append(game.execute_script(_PLACES)[0])
        assert tops[0] < tops[1] < tops[2]
