"""The web page in real browsers: whole games by mouse, finger and keyboard, and what the page must hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabletop.game import game_of
from tabletop.replays.replay import Replay
from tabletop_agents.play.session import Session
from tabletop_agents.web import catalogue
from tests.browser import by_id, wait
from tests.visitor import DESK, PHONE, Visitor, a_browser, visiting
from tests.web import SECONDS, Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("games")) as one:
        yield one


@pytest.fixture(scope="module")
def desk() -> Iterator[Any]:
    with a_browser(DESK) as browser:
        yield browser


@pytest.fixture(scope="module")
def phone() -> Iterator[Any]:
    with a_browser(PHONE) as browser:
        yield browser


@pytest.fixture
def visitor(desk: Any, server: Server, tmp_path: Path) -> Iterator[Visitor]:
    with visiting(desk, server.url, tmp_path) as one:
        yield one


@pytest.fixture
def other(phone: Any, server: Server, tmp_path: Path) -> Iterator[Visitor]:
    """Somebody else, with a phone."""
    with visiting(phone, server.url, tmp_path) as one:
        yield one


@pytest.fixture
def quick_adviser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is asked unless one says otherwise, is quick."""
    monkeypatch.setattr(catalogue, "hints_name", lambda config: "ismcts-20")


def points_of(visitor: Visitor) -> list[int]:
    return [int(text) for text in visitor.texts("#owners td")]


# --- whole games -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_a_whole_game_alone(visitor: Visitor, game: str, quick_adviser: None) -> None:
    """Played on the board where answers have places; then its points, its file, its review, and a moment of that."""
    visitor.choose(game, seed=5)
    visitor.click("play")
    visitor.starts()
    visitor.play_out()
    assert visitor.clicks["board"] > 25 and visitor.clicks["board"] > visitor.clicks["list"]
    visitor.click("save")
    replay = Replay.load(visitor.downloaded(f"{game}-*.json"), game_of(f"{game}_env"))
    session = Session.of(replay, {})
    assert replay.seed == 5 and len(replay.actions) == sum(visitor.clicks.values())
    assert visitor.text("verdict") == session.verdict()
    assert points_of(visitor) == session.points()[-1][1]
    rows = [row.split() for row in by_id(visitor.browser, "sources").text.splitlines()]
    assert rows[-1] == ["points", *map(str, session.points()[-1][1])]

    visitor.click("review-button")
    wait(lambda: visitor.all("#moments button") and not visitor.shows("review-progress"), SECONDS)
    assert "ismcts-20" in visitor.text("review-about")
    moment = visitor.find("#moments button")
    step = int(moment.get_attribute("data-step"))
    assert f"Step {step + 1}. Better:" in moment.text
    moment.click()
    visitor.starts("analyse")
    assert visitor.text("place").startswith(f"Step {step} of {len(replay.actions)}")
    assert visitor.find("#line [aria-current]").get_attribute("data-step") == str(step)
    drawn = session.game.drawing.render_svg(replay.states[step], None)
    asked = drawn.partition('data-asked="')[2].partition('"')[0]
    assert visitor.find("#board .picture svg").get_attribute("data-asked") == asked
