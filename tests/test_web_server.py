"""The server of pages: tables, links, whole games of pages without a browser, saving and resuming."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import numpy as np
import pytest

from petrichor_env import GAME, Config, scenario
from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.drawing import action_text, render_svg
from tabletop_agents import GreedyAgent
from tabletop_cli.play import SHIPPED
from tabletop_engine.drawing.parts import drawings_of, parts_of, parts_without_drawings
from tabletop_engine.drawing.raster import rgb_array
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import Game, game_of
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.record import FORFEIT
from tabletop_engine.replays.replay import Replay, frames
from tabletop_engine.text.words import asked_of
from tabletop_play.catalogue import Catalogue
from tabletop_play.opponents import LEVEL_NAMES, in_names
from tabletop_play.session import PERSON, Session
from tabletop_play.web import table_store, tables
from tabletop_play.web.app import make_app, page_files
from tabletop_play.web.line import Line
from tabletop_play.web.server import Site, main
from tabletop_play.web.tables import Link, Table, new_link
from tabletop_play.web.views import for_people, steps_of
from tabletop_training.files.job import Job
from tests.games.playthroughs import GAMES
from tests.support.effort import games
from tests.support.web import BROWSER, SECONDS, Listening, Page, Server, closing_words, play_out, serving

# --- what is offered -------------------------------------------------------------------------------------------------


def test_games_that_are_offered(server: Server) -> None:
    games = {one["name"]: one for one in server.http.get("/api/games").json()["games"]}
    assert list(games) == ["petrichor", "evergreen"]
    petrichor = games["petrichor"]
    assert petrichor["title"] == "Petrichor" and petrichor["players"] == [1, 2, 3, 4, 5]
    options = {one["name"]: one for one in petrichor["options"]}
    assert options["variants"]["names"] == list(VARIANTS) and options["modules"]["names"] == list(MODULES)
    rounds = {
        "name": "rounds",
        "help": "Number of rounds: 4 or 6.",
        "kind": "choice",
        "names": [4, 6],
        "for": "several",
        "sets": [],
    }
    assert options["rounds"] == rounds
    assert "components" not in options  # it would be the path of a file
    refused = {str(players): ["lake", "flower_tiles"] if players == 1 else [] for players in range(1, 6)}
    assert options["modules"]["refused"] == refused  # by the game
    for name in ("variants", "modules", "readings"):
        assert options[name]["about"].keys() == set(options[name]["names"])
    for game in games.values():
        for players, names in game["agents"].items():
            assert all(game["about"][players][name] for name in names)
        assert game["levels"].pop("1") == []
        for levels in game["levels"].values():
            assert [one["name"] for one in levels] == list(LEVEL_NAMES)
            assert all(one["about"].startswith(f"Level {n}") for n, one in enumerate(levels, 1))
    easiest, *_, hardest = options["variants"]["sets"]
    assert easiest == {"names": [], "about": "A beginner's agent wins 9 in 10."}
    assert hardest["names"] == list(VARIANTS)
    assert games["evergreen"]["about"]["1"]["greedy"].endswith("points on average in 1,000 games.")
    assert petrichor["about"]["4"]["ismcts-2000"].endswith("Won 95 % of 40 games for two against greedy.")
    assert "search-800:solo" in petrichor["agents"]["1"] and "search-800:solo" not in petrichor["agents"]["2"]


def test_an_opponent_of_a_level(server: Server) -> None:
    """A level can be chosen by its number, but not for a game alone, and no other number is one."""
    path = server.make("petrichor", ["level-8", "here", "level-8"])[0]
    with server.open(path) as page:
        assert [one["name"] for one in page.view["owners"]] == ["Hugo", "You", "Hugo 2"]
        assert [one["agent"] for one in page.view["owners"]] == ["level-8", "", "level-8"]
        assert page.ask("name", seat=1, name="hugo 2")["error"].endswith("is what somebody else is called")
        assert "error" not in page.ask("name", seat=1, name="Ben")
        while page.view["owners"][1]["name"] != "Ben":  # the view may come before the reply
            page.wait()
    for name in ("level-0", "level-9", "level-", "level-03"):
        assert "not available here" in server.refused(game="petrichor", players=2, seats=["here", name])
    assert "level-2" in server.refused(game="petrichor", players=1, seats=["level-2"], kind="watch")


def test_files_of_the_page(server: Server) -> None:
    styles = [(f"/page/{name}.css", "text/css") for name in ("style", "curve")]
    for path, kind in (("/", "text/html"), ("/table/any", "text/html"), *styles):
        answer = server.http.get(path)
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(kind)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert answer.headers.get("content-encoding") == ("gzip" if len(answer.content) >= 1000 else None)
        assert answer.headers["cache-control"] == "no-cache"
    for game in ("petrichor", "evergreen"):
        for what in ("covers", "drawings"):
            picture = server.http.get(f"/api/{what}/{game}")
            assert "<defs>" in picture.text and picture.headers["content-type"] == "image/svg+xml"
    assert server.http.get("/api/covers/chess").status_code == 404


def test_a_browser_keeps_the_files_of_one_version(server: Server) -> None:
    """All files that a game loads are named at the start, so a slow network fetches them side by side: they are few."""
    index = server.http.get("/").text
    named = re.findall(r'"(/page/(\w+\.\w+)\?v=(\w{12}))"', index)
    assert {name for _, name, _ in named} == {"socket.js", "settings.js", "game.js", "style.css", "curve.css"}
    assert len({version for _, _, version in named}) == 1
    for path, name, version in named:
        answer = server.http.get(path)
        assert "immutable" in answer.headers["cache-control"]
        imported = re.findall(r'^(?:im|ex)port .*"\./(\w+\.js)(.*)";$', answer.text, re.MULTILINE)
        assert all(f'/page/{one}?v={version}"' in index and query == f"?v={version}" for one, query in imported), name
    assert server.http.get(f"/page/game.js?v={version[::-1]}").headers["cache-control"] == "no-cache"


def test_modules_in_one_file() -> None:
    """What a game loads is one file, but for the socket. Another module takes from there what it imports."""
    texts = {
        "index.html": '<head></head><script src="/page/game.js">',
        "main.js": 'import { b as c, d } from "./one.js";\nimport { keep } from "./settings.js";\nd(c);\n',
        "one.js": 'import { e } from "./two.js";\nexport { e } from "./two.js";\nexport const b = 1;\n'
        "export function d() {}\n",
        "two.js": "export class e {}\n",
        "socket.js": 'import { keep } from "./settings.js";\n',
        "settings.js": "export const keep = 1;\n",
        "later.js": 'import { b } from "./one.js";\nimport { keep } from "./settings.js";\n',
    }
    files, version = page_files(texts)
    whole = files["game.js"]
    assert whole.startswith(f'import * as settings_ from "./settings.js?v={version}";\n')
    assert (
        "const two_ = (() => {\nclass e {}\n\nreturn { e };\n})();\nconst one_ = (() => {\nconst { e } = two_;\n"
        in whole
    )
    assert "return { ...two_, b, d };" in whole and whole.endswith("export { two_, one_, main_ };")
    assert "const main_ = (() => {\nconst { b: c, d } = one_;\nconst { keep } = settings_;\n" in whole
    first, second = files["later.js"].splitlines()
    assert first == f'import {{ one_ }} from "./game.js?v={version}"; const {{ b }} = one_;'
    assert second == f'import {{ keep }} from "./settings.js?v={version}";'
    assert files["index.html"].count(f'"/page/game.js?v={version}"') == 2 and "main.js" not in files
    for name in ("two.js", "later.js"):
        assert page_files({**texts, name: texts[name] + "// more"})[1] != version


def test_rules_of_what_is_chosen_and_of_a_table(server: Server) -> None:
    def asked(**given: str) -> httpx.Response:
        return server.http.get("/api/rules/petrichor", params=given)

    assert "rules for you against the Southern Winds" in asked().json()["html"]
    chosen = asked(of='{"players": 5, "options": {"modules": ["lake"]}}').json()["html"]
    assert "rules for 5 players" in chosen and "Lake: no crop" in chosen and "Cactus" not in chosen.split("<h2>")[1]
    key = server.make("petrichor", ["here", "greedy"], options={"rounds": 6})[0].rpartition("/")[2]
    assert "rules for 2 players, 6 rounds" in asked(table=key).json()["html"]
    for given, error in (
        ({"of": "[]"}, "a message is a JSON object"),
        ({"of": '{"players": 2}'}, "options: missing"),
        ({"of": '{"players": 7, "options": {}}'}, "players: 7; there can be 1, 2, 3, 4, 5"),
        ({"of": '{"players": 2, "options": {"components": "/etc/passwd"}}'}, "options: unknown components"),
        ({"table": "nobody"}, "there is no such table here"),
    ):
        answer = asked(**given)
        assert answer.status_code == 404 and answer.json()["error"].startswith(error)


def test_what_a_table_may_be(server: Server) -> None:
    alone: dict[str, Any] = {"players": 1, "seats": ["here"]}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"game": "chess", "players": 2}, "game: one of petrichor, evergreen"),
        ({"players": 7, "seats": []}, "players: 7; there can be 1, 2, 3, 4, 5"),
        ({"players": 2, "seats": ["here"]}, "seats: 1 given, but the game has 2 players"),
        ({"players": 1, "seats": ["greedy"]}, "seats: to play, leave at least one for a person"),
        (
            {"players": 2, "seats": ["greedy", "here"], "kind": "watch"},
            "seats: to watch, choose an agent for every seat",
        ),
        ({**alone, "kind": "fly"}, "kind: play, watch, analyse"),
        ({**alone, "options": {"modules": ["snow"]}}, "modules: some of fert"),
        ({**alone, "options": {"modules": ["lake"]}}, "modules: 'lake' with players=1: the Lake is not used"),
        ({**alone, "options": {"components": "/etc/passwd"}}, "options: unknown components"),
        ({**alone, "start": {"seed": -1}}, "seed: a whole number"),
        ({**alone, "start": {"scenario": {"players": 1, "round": 9}}}, "round: 9; allowed are 1 to 4"),
    ]
    # agents that nobody allowed
    for name in (
        "policy:/etc/passwd",
        "policy:../solo",
        "os:system",
        "search-0:solo",
        "ismcts-100000",
        "search-5:no",
        "",
    ):
        wrong.append(({"players": 2, "seats": ["here", name]}, f"agent {name}: not available here"))
    for order, error in wrong:
        assert server.refused(**{"game": "petrichor", **order}).startswith(error), order


def test_names_of_people(server: Server, tmp_path: Path) -> None:
    """A name is the same on the board, in the points, the result and the saved replay, and is kept over a restart."""
    name = "<b>Ana & Bo</b>"
    (path,) = server.make("evergreen", ["here", "greedy"], names=[f"  {name} ", "ignored"], start={"seed": 3})
    with server.open(path) as page:
        assert [owner["name"] for owner in page.view["owners"]] == [name, "greedy"]
        assert "&lt;b&gt;Ana &amp; Bo&lt;/b&gt;" in page.board and name not in page.board
        page.play_out()
        winners = page.view["result"]["winners"]
        assert winners == [1] or page.view["result"]["verdict"] == "You win." or name in page.view["result"]["verdict"]
        assert json.loads(page.ask("export", what="replay")["text"])["names"] == [name, "greedy"]
    with serving(tmp_path) as first:
        (path,) = first.make("evergreen", ["here", "greedy"], names=["Ana"])
    with serving(tmp_path, resume=True) as second, second.open(path) as page:
        assert page.view["owners"][0]["name"] == "Ana"
    (kept,) = tmp_path.glob("*.json")
    assert json.loads(kept.read_text(encoding="utf-8"))["names"][0] == PERSON  # it can be resumed


NO_NAMES: list[tuple[Any, str]] = [
    (["a" * 25], "names: at most 24"),
    (["a\u202eb"], "names: the value has the wrong type"),
    (["a\nb"], "names: the value has the wrong type"),
    (["a\u0316\u0317\u0318\u0319"], "names: at most 24"),
    (["Ana", "ANA"], "names: Ana is what somebody else is called"),
    (["greedy"], "names: greedy is what somebody else is called"),
    (["Player_1"], "names: Player_1 is what somebody else is called"),
    (["Person"], "names: Person is what somebody else is called"),
    (["a", "b", "c"], "names: 3 given, but the game has 2 players"),
    ("Ana", "names: the value has the wrong type"),
    ([1], "names: the value has the wrong type"),
]


def test_names_that_nobody_can_have(server: Server) -> None:
    for names, error in NO_NAMES:
        refused = server.refused(game="evergreen", players=2, seats=["here", "apart"], names=names)
        assert refused.startswith(error), names


# --- games -----------------------------------------------------------------------------------------------------------


def test_a_solo_game(server: Server) -> None:
    (path,) = server.make("petrichor", ["here"], start={"seed": 5})
    with server.open(path) as page:
        session = Session(Config(), seed=5)
        generator = np.random.default_rng(1)
        assert page.view["turn"] == "you" and page.view["past"] and page.view["steps"] == []
        together = 0
        while not session.over:
            state, view = session.state, page.view
            offered = [tuple(one["actions"]) for one in view["answers"]]
            possible = [one.actions for one in session.combinations()]
            placed = [bool(GAME.drawing.places(state, actions[0])) for actions in offered]
            assert sorted(offered) == possible and len(set(offered)) == len(offered) and placed == sorted(placed)[::-1]
            assert [one["steps"][0]["text"] for one in view["answers"] if len(one["steps"]) == 1] == [
                one["text"] for one in view["answers"] if len(one["actions"]) == 1
            ]
            assert view["question"] == asked_of(GAME.words.question(state))
            assert view["owners"][0]["who"] == "you" and view["owners"][1]["who"] == "opponent"
            actions = offered[generator.integers(len(offered))]
            together += len(actions) > 1
            assert "error" not in page.answer(actions)
            for action in actions:
                last, before = action, session.state
                session.play(action)
            step = page.view["steps"][-1]
            assert len(page.view["steps"]) == len(actions)
            assert (step["by"], step["done"]) == (0, action_text(before, last))
            told = GAME.words.events(before, last, 0, session.tables)
            assert step["changes"] == [in_names(one, session.names, session.called(0)) for one in told]
            said = f"You: {action_text(before, last)}."
            drawn = render_svg(session.state, 0, names=("You", "neutral"), last_action=said)
            assert page.board == "".join(parts_without_drawings(drawn))
        assert page.view["turn"] == "over" and together > 5
        assert page.view["result"]["verdict"] == session.verdict()
        assert page.view["result"]["rows"][-1] == ["points", session.state["points"][:2].tolist()]


def turn_of(page: Page) -> tuple[list[int], int]:
    """The first answers of a turn, as far as previews go, and how many questions they answer."""
    answers, given, questions = page.view["answers"], [], 1
    while answers:
        given = answers[0]["actions"]
        told = page.ask("preview", view=page.view["number"], actions=given)
        answers = [one for one in told["answers"] if len(one["actions"]) > len(given)]
        steps = answers[0]["steps"][len(given) - 1 :] if answers else []
        if answers and steps[1]["decision"] != steps[0]["decision"]:
            questions += 1
            assert steps[1]["question"] and all(one["actions"][: len(given)] == given for one in answers)
    return given, questions


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_a_turn_in_one_answer(server: Server, game: str) -> None:
    """A preview offers what the same seat is asked next. All answers are given at once, and taken back at once."""
    (path,) = server.make(game, ["here"], start={"seed": 4})

    def answer(do: str, **content: Any) -> None:
        number = page.view["number"]
        assert "error" not in page.ask(do, view=number, **content)
        while page.view["number"] == number:
            page.wait()

    with server.open(path) as page:
        session = asyncio.run(server.site.tables.find(path.rpartition("/")[2]))[0].session
        while (found := turn_of(page))[1] == 1:
            answer("answer", actions=found[0])
        given, before, first = found[0], session.state.tobytes(), session.number
        assert page.answer([*given, 10**6])["error"] == "this is not one of the answers"
        assert page.answer([*given[:-1], 10**6])["error"] == "this is not one of the answers"
        assert session.state.tobytes() == before and session.number == first
        answer("answer", actions=given)
        assert session.replay.actions[first:][: len(given)] == tuple(given)
        answer("undo")
        assert session.state.tobytes() == before and session.number == first


def test_answers_in_any_order_on_a_table(server: Server) -> None:
    """What can be added to a later space has the earlier ones, too, and to give no more. Asking plays nothing."""
    (path,) = server.make("evergreen", ["here"], start={"seed": 4}, learn=True)
    with server.open(path) as page:
        while "sprouts" not in page.view["question"]:
            page.answer(page.view["answers"][0]["actions"])
        placed = [one for one in page.view["answers"] if one["steps"][0]["places"]]
        early, *_, late = (one["actions"][0] for one in placed)
        assert all(one["continues_answer"] for one in placed)
        number = page.view["number"]
        answers = page.ask("preview", view=number, actions=[late])["answers"]
        assert page.view["number"] == number
        assert {tuple(one["actions"]) for one in answers} >= {(early, late), (late,)}
        assert [one["text"] for one in answers if one["actions"] == [late]] == ["no more"]
        assert page.ask("preview", view=number, actions=[late, early])["error"] == "this is not one of the answers"
        assert "error" not in page.answer([early, late])
        assert [one["done"][-2:] for one in page.view["steps"]] == [
            one["steps"][0]["text"][-2:] for one in (placed[0], placed[-1])
        ]


def test_what_is_asked_next_is_explained(server: Server) -> None:
    """With explanations, too, the next question can be answered at once, one answer at a time, with its own lesson."""
    (path,) = server.make("evergreen", ["here"], start={"seed": 4}, learn=True)
    with server.open(path) as page:
        page.answer(page.view["answers"][0]["actions"])
        plant = next(one for one in page.view["answers"] if one["text"].startswith("plant up to 3"))
        assert [step["question"] for step in plant["steps"]] == [""] and page.view["lesson"]["title"] == "Your turn"
        told = page.ask("preview", view=page.view["number"], actions=plant["actions"])
        assert told["lesson"]["title"] == "Plant sprouts"
        asked = [one["steps"][1:] for one in told["answers"]]
        assert {step["question"] for (step,) in asked} == {"Plant a sprout (3 sprouts left)"}
        assert "error" not in page.answer(told["answers"][0]["actions"])


def test_playing_again(server: Server) -> None:
    """Another game of the same people, each with another seat; one table, whoever asks first."""
    paths = server.make("petrichor", ["apart", "apart", "random"], names=["Ana", "Bo"], options={"rounds": 4})
    with server.open(paths[0]) as one, server.open(paths[1], "somebody-else-here") as two:
        assert "not over" in one.ask("again")["error"]
        play_out(one, two)
        first, second = one.ask("again")["path"], two.ask("again")["path"]
        assert first != second and one.ask("again")["path"] == first and two.view["next"] == second
    with server.open(first) as one, server.open(second, "somebody-else-here") as two:
        assert [owner["name"] for owner in one.view["owners"]] == ["Bo", "random", "Ana"]
        assert (one.view["seat"], two.view["seat"]) == (2, 0)
    with server.open(second) as stranger:  # whoever played at the other link only watches here
        assert not stranger.people["plays"]


def test_what_the_southern_winds_do_is_shown_step_by_step(server: Server) -> None:
    """One answer gives several sentences. Their boards follow the view; the last board is the view's own."""
    (path,) = server.make("petrichor", ["here"], start={"seed": 5})
    with server.open(path) as page:
        told = 0
        while page.view["turn"] == "you" and told < 5:
            page.answer(page.view["answers"][-1]["actions"])
            view = page.view
            sentences = [text for step in view["steps"] for text in step["changes"]]
            assert view["story"] == (len(sentences) > 1)
            if not view["story"]:
                continue
            while "story" not in (message := page.receive()):
                pass
            story = message["story"]
            assert story["view"] == view["number"] and len(story["boards"]) == len(sentences)
            assert story["boards"][-1] is None
            boards = [tuple(board) for board in story["boards"] if board is not None]
            assert len(boards) == len(set(boards))
            told = max(told, len(boards))
            parts = [*view["parts"], *story["parts"]]
            assert all("".join(parts[i] for i in board).startswith("<svg") for board in boards)


def played(session: Session, answers: int, choose: Callable[[], Sequence[int]]) -> tuple[Listening, Link]:
    """The page of seat 0 and its link after so many answers, each given when the agents have given theirs."""
    with ThreadPoolExecutor(1) as threads:
        page, link = Listening(), new_link([0])
        table = Table(session, "play", [link], Catalogue(SHIPPED), threads)

        async def play() -> None:
            table.open(link, page, BROWSER)
            for _ in range(answers):
                await table.obey(link, page, "answer", {"view": link.number, "actions": choose()})
                while table._playing is not None:
                    await asyncio.sleep(0.001)
            await table.stories_sent()
            await table.stop()

        asyncio.run(play())
    return page, link


@pytest.mark.parametrize("together", [0.0, 1000.0])
def test_agents_that_answer_at_once(together: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they did is told once and in order, in one view if they are fast enough."""
    monkeypatch.setattr(tables, "_TOGETHER", together)
    session = Session(Config(players=3), {1: GreedyAgent(), 2: GreedyAgent()}, seed=1)
    page, _ = played(session, 6, lambda: [session.answers()[-1][0]])
    views = page.all("view")
    told = [step for view in views if not view["past"] for step in view["steps"]]
    first = session.number - len(told)
    assert told == for_people(session, 0, {"steps": steps_of(session, first, 0)[0]})["steps"] and first <= 1
    of_agents = [{step["by"] for step in view["steps"]} - {0} for view in views if not view["past"]]
    assert any(len(those) == 2 for those in of_agents) == (together > 0)


def test_boards_of_what_was_answered_are_not_drawn() -> None:
    session = Session(Config(players=1), seed=5)
    page, link = played(session, 30, lambda: session.combinations()[-1].actions)
    stories = {story["view"]: story for story in page.all("story")}
    assert {view["number"] for view in page.all("view") if view["story"]} == {*stories}
    assert len(stories) > 2 and all(not story["boards"] for number, story in stories.items() if number < link.number)
    assert all(story["boards"] for number, story in stories.items() if number == link.number)


def test_three_people_on_three_devices(server: Server) -> None:
    paths = server.make("petrichor", ["apart", "apart", "apart"], options={"modules": list(MODULES[:1])})
    pages = [server.open(path) for path in paths]
    play_out(*pages)
    assert [page.view["seat"] for page in pages] == [0, 1, 2]
    (points,) = {tuple(owner["points"] for owner in page.view["owners"]) for page in pages}
    saved = json.loads(pages[1].ask("export", what="replay")["text"])
    assert saved["points"] == list(points) and saved["names"] == [PERSON] * 3
    for page in pages:
        page.close()


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_people_at_one_screen_and_agents(server: Server, game: str) -> None:
    """The next person's cards are shown only when that person has confirmed to be there."""
    (path,) = server.make(game, ["here", "greedy", "here"])
    with server.open(path) as page:
        page.play_out()
        curtains = [one["view"] for one in page.got if one.get("view", {}).get("turn") == "handover"]
        assert len(curtains) > 3
        for view in curtains:
            assert "board" not in view and view["parts"] == [] and view["steps"] == []
        assert {view["for"] for view in curtains} == {"Player 1", "Player 3"}
        assert {one["view"].get("seat") for one in page.got if "view" in one} == {0, 2, None}


def test_behind_the_curtain_nobody_answers(server: Server) -> None:
    """The next person's answer is refused until that person has confirmed to be there."""
    (path,) = server.make("petrichor", ["here", "here"], start={"seed": 1})
    with server.open(path) as page:
        while page.until("you", "handover")["turn"] == "you":
            page.answer(page.view["answers"][0]["actions"])
        session = asyncio.run(server.site.tables.find(path.rpartition("/")[2]))[0].session
        answer = [int(legal_actions(session.state)[0])]
        assert page.answer(answer)["error"] == "it is not your turn"
        assert "error" not in page.ask("here")
        assert page.until("you") and "error" not in page.answer(answer)


def undo(page: Page) -> str:
    """Take something back; returns the error if it is refused."""
    return str(page.ask("undo", view=page.view["number"]).get("error", ""))


def test_undo(server: Server) -> None:
    """Alone, choices can be taken back one by one to the start. A combined choice is taken back as one."""
    (path,) = server.make("petrichor", ["here"], start={"seed": 5})
    generator = np.random.default_rng(2)
    with server.open(path) as page:
        assert undo(page) == "there is nothing to take back"
        shown, together = [], 0
        for _ in range(12):
            answers = page.view["answers"]
            actions = answers[generator.integers(len(answers))]["actions"]
            shown.append((re.sub(_LAST, "", page.board), answers))
            together += len(actions) > 1
            assert "error" not in page.answer(actions)
        assert together > 2
        for board, answers in reversed(shown):
            assert page.view["can"]["undo"] and undo(page) == ""
            assert (re.sub(_LAST, "", page.board), page.view["answers"]) == (board, answers)
            assert page.view["past"] and page.view["undone"]["by"] == 0 and page.view["undone"]["done"]
        assert not page.view["can"]["undo"] and undo(page) == "there is nothing to take back"


_LAST = r"<g data-last-action.*"
"""The last line of a picture, which tells what was done before it."""


def test_undo_against_agents(server: Server) -> None:
    """The agents' answers are taken back, too, any number of them, and the agents repeat them."""
    (path,) = server.make("petrichor", ["here", "greedy", "ismcts-20"], start={"seed": 3})
    with server.open(path) as page:
        numbers = []
        for _ in range(5):
            page.until("you")
            numbers.append((page.view["answers"], page.view["board"] and page.board))
            page.answer(page.view["answers"][0]["actions"])
        end = page.until("you")["answers"], page.board
        for answers, board in reversed(numbers):
            assert undo(page) == ""
            assert page.until("you")["answers"] == answers and re.sub(_LAST, "", page.board) == re.sub(_LAST, "", board)
        for answers, _ in numbers:
            assert page.until("you")["answers"] == answers
            page.answer(answers[0]["actions"])
        assert (page.until("you")["answers"], page.board) == end


class Waiting:
    """Thinks until the test lets it answer."""

    name = "tests.test_web_server:Waiting"
    may, has = threading.Event(), threading.Event()

    def act(self, decisions: Any, generator: Any) -> Any:
        self.may.wait(SECONDS)
        self.has.set()
        return np.argmax(decisions.action_masks, axis=1)


def test_undo_while_an_agent_thinks(tmp_path: Path) -> None:
    """The answer that the agent then finds is not played."""
    with serving(tmp_path, agents=[Waiting.name]) as server:
        (path,) = server.make("petrichor", ["here", Waiting.name], start={"seed": 3})
        with server.open(path) as page:
            Waiting.may.set()  # it is asked first
            first = page.until("you")["answers"]
            Waiting.may.clear()
            Waiting.has.clear()
            while page.view["turn"] == "you":
                before = page.view["answers"]
                page.answer(before[0]["actions"])
            assert page.view["turn"] == "others" and page.view["can"]["undo"]
            assert undo(page) == "" and page.view["turn"] == "you" and page.view["answers"] == before
            Waiting.may.set()
            assert Waiting.has.wait(SECONDS)
            time.sleep(0.1)
            page.ask("here")  # refused; the agent's answer would have come before this reply
            assert page.view["turn"] == "you" and page.view["answers"] == before and not page.view["trouble"]
            while page.view["can"]["undo"]:
                assert undo(page) == ""
            assert page.view["answers"] == first


@pytest.mark.parametrize("game", [pytest.param("petrichor", marks=pytest.mark.slow), "evergreen"])
def test_undo_among_people(server: Server, game: str) -> None:
    """Within the turn, until another answers or chance is drawn. Others are told, and can't take it back."""
    paths = server.make(game, ["apart", "apart"], start={"seed": 8})
    pages = [server.open(path) for path in paths]
    taken_back, refused = 0, 0
    generator = np.random.default_rng(3)
    for _ in range(60):
        for page in pages:
            page.ask("here")  # refused; every view before has come then
        seat = next(seat for seat in (0, 1) if pages[seat].view["turn"] == "you")
        asked, other = pages[seat], pages[1 - seat]
        session = asyncio.run(server.site.tables.find(paths[0].rpartition("/")[2]))[0].session
        before, answers = session.state.copy(), asked.view["answers"]
        asked.answer(answers[generator.integers(len(answers))]["actions"])
        other.ask("here")
        drew = (before["rng"] != session.state["rng"]).any()
        assert undo(other) == "there is nothing to take back"
        if not asked.view["can"]["undo"]:
            assert undo(asked) == "there is nothing to take back"
            refused += 1
            continue
        assert session.actor == seat and not drew
        seen = other.view["number"]
        assert undo(asked) == "" and session.state.tobytes() == before.tobytes()
        assert asked.view["answers"] == answers
        taken_back += 1
        other.ask("here")
        if other.view["number"] > seen:
            assert other.view["undone"]["by"] == seat and other.view["undone"]["done"]
        else:
            assert game == "evergreen"  # its turns are hidden
        asked.answer(answers[generator.integers(len(answers))]["actions"])
    assert taken_back > 8 and refused > 8
    for page in pages:
        page.close()


def test_what_is_alone_is_given(server: Server) -> None:
    """A single answer is given at once if one person plays and wants it, not if others could notice the time."""
    options = {"modules": list(MODULES)}

    def alone(page: Page) -> int:
        views = [view for message in page.got if (view := message.get("view")) and view["turn"] == "you"]
        return sum(len(view["answers"]) == 1 for view in views)

    for give in (True, False):
        (path,) = server.make("petrichor", ["here", "random", "random"], start={"seed": 3}, options=options)
        with server.open(path) as page:
            assert "error" not in page.ask("alone", give=give)
            page.play_out()
            assert (alone(page) > 0) != give
    several = 0
    for seed in (1, 3)[: games(1, 2)]:
        paths = server.make("petrichor", ["apart"] * 3, start={"seed": seed}, options=options)
        pages = [server.open(path) for path in paths]
        play_out(*pages)
        several += sum(map(alone, pages))
        for page in pages:
            page.close()
    assert several > 0


def test_two_pages_of_one_link(server: Server) -> None:
    """Both pages show the same. An answer given on one can't be given again on the other."""
    (path,) = server.make("petrichor", ["here"])
    with server.open(path) as one, server.open(path) as other:
        number = one.view["number"]
        assert other.view["number"] == number
        action = one.view["answers"][0]["actions"]
        assert "error" not in one.answer(action)
        assert other.wait()["number"] == one.view["number"] == number + 1
        assert other.answer(action, view=number)["error"] == "the game has moved on"
        assert other.view["board"] == one.view["board"]


def test_a_page_that_comes_back(server: Server) -> None:
    """The page gets the present view, with what happened last marked as past."""
    (path,) = server.make("petrichor", ["here", "greedy"], start={"seed": 3})
    with server.open(path) as page:
        for _ in range(6):
            page.until("you")
            page.answer(page.view["answers"][0]["actions"])
        page.until("you")
    with server.open(path) as again:
        assert again.view["past"] and again.board == page.board
        assert [step["done"] for step in again.view["steps"]][-1] != ""
        assert len(again.view["steps"]) > 6
        assert not again.view["story"]
        assert "error" not in again.answer(again.view["answers"][0]["actions"])


def test_learning(server: Server) -> None:
    (path,) = server.make("petrichor", ["here"], learn=True)
    with server.open(path) as page:
        assert page.view["introduction"]["title"] and page.view["introduction"]["text"]
        while page.view["turn"] != "over":
            lesson = page.view["lesson"]
            assert lesson["title"] and lesson["text"] and lesson["section"]
            page.answer(page.view["answers"][-1]["actions"])
        assert page.view["lesson"]["title"]
    (path,) = server.make("petrichor", ["here"])
    with server.open(path) as page:
        assert page.view["lesson"] is None and page.view["introduction"] is None


def test_a_first_game_says_when_points_come() -> None:
    """In Petrichor it names the dice before the Harvest comes, and at its end what each of the four cards does."""
    first_games = {game: game_of(f"{game}_env").words.first_game for game in ("petrichor", "evergreen")}
    told = {game: [step.text for step in first.steps] for game, first in first_games.items() if first is not None}
    *before, last = told["petrichor"]
    assert any("all three Harvest dice show Harvest" in text and "last round" in text for text in before)
    assert all(re.search(rf"{card}[ \w]* (clouds|them|drops)", last) for card in ("Frost", "Sun", "Wind", "Rain"))
    first, *_, last = told["evergreen"]
    assert "seasons ends with points" in first and "end of each season" in last


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_a_first_game(server: Server, game: str) -> None:
    """Each step can be followed, to the end. Another answer ends the teaching; lessons go on."""
    first = game_of(f"{game}_env").words.first_game
    assert first is not None and 9 <= first.number <= 12 and first.steps[0].text
    order: dict[str, Any] = {"seats": ["here", *first.opponents], "learn": True, "start": {"first": True}}
    (path,) = server.make(game, **order)
    with server.open(path) as page:
        assert [owner["name"] for owner in page.view["owners"][1:]] == [*first.called]
        followed = 0
        while name := next((step["name"] for step in page.view["guide"]["steps"] if step["name"]), ""):
            assert page.view["guide"]["steps"][0]["text"] and page.view["lesson"] is None
            given = next(one for one in page.view["answers"] if one["steps"][0]["name"] == name)
            page.answer(given["actions"][:1])
            page.until("you", "over")
            followed += 1
        assert followed == sum(bool(step.action) for step in first.steps)
        assert page.view["guide"]["steps"][-1]["text"] == first.steps[-1].text
        if page.view["turn"] == "over":
            assert page.view["result"]["verdict"] == "You win."
            with server.open(page.ask("again")["path"]) as again:  # a whole game, with lessons
                again.until("you")
                assert again.view["guide"] is None and again.view["lesson"]["text"] and again.view["round"] == 1
        else:
            page.answer(page.view["answers"][0]["actions"])
            assert page.view["guide"] is None and page.view["lesson"]["text"]
    (path,) = server.make(game, **order)
    with server.open(path) as page:
        wanted = next(step["name"] for step in page.view["guide"]["steps"] if step["name"])
        page.answer(next(one for one in page.view["answers"] if one["steps"][0]["name"] != wanted)["actions"])
        page.until("you")
        assert page.view["guide"] is None and page.view["lesson"]["text"]
    assert "first" in server.refused(game=game, players=1, seats=["here"], start={"first": True, "seed": 1})


# --- advice, watching, analysing -------------------------------------------------------------------------------------


def test_advice(server: Server) -> None:
    """Advice does not disturb the game."""
    (path,) = server.make("petrichor", ["here"])
    with server.open(path) as page:
        while len(page.view["answers"]) < 3:
            page.answer(page.view["answers"][0]["actions"])
        said = page.ask("advice", view=page.view["number"], agent="ismcts-200")
        legal = {one["actions"][0] for one in page.view["answers"]}
        assert {one["action"] for one in said["answers"]} == legal
        assert sum(one["share"] for one in said["answers"]) == pytest.approx(1)
        assert said["best"] in legal and said["agent"] == "ismcts-200" and said["meaning"] and said["estimated"]
        here = {"view": page.view["number"], "agent": "greedy"}
        plan = page.ask("plan", actions=[said["best"]], **here)
        assert plan["given"]["actions"][0] == said["best"] and plan["board"] and plan["gains"] is not None
        assert page.ask("plan", actions=[10**6], **here)["error"] == "this is not one of the answers"
        assert "error" in page.ask("plan", actions=[said["best"]], **{**here, "view": 0})
        assert page.ask("advice", view=page.view["number"], agent="os:system")["error"].startswith("agent os:system")
        assert "error" in page.ask("advice", view=page.view["number"] + 1, agent="greedy")
        assert "error" in page.ask("review", agent="greedy")  # the game is on
    boards = []
    for asks in (False, True):
        (path,) = server.make("petrichor", ["here", "ismcts-20"], start={"seed": 11})
        with server.open(path) as page:
            for _ in range(4):
                page.until("you")
                if asks:
                    page.ask("advice", view=page.view["number"], agent="ismcts-50")
                page.answer(page.view["answers"][0]["actions"])
            page.until("you")
            boards.append(page.board)
    assert boards[0] == boards[1]


def test_a_review(server: Server) -> None:
    (path,) = server.make("evergreen", ["here", "random"])
    with server.open(path) as page:
        page.play_out()
        told = page.ask("review", agent="ismcts-20")
        parts = [one["review"] for one in page.got if "review" in one]
        assert (
            parts[0]["curve"] == [] and len(parts) == told["of"] + 1 and {part["of"] for part in parts} == {told["of"]}
        )
        assert [point for part in parts for point in part["curve"]] == told["curve"]
        found = [moment for part in parts for moment in part["moments"]]
        assert sorted(found, key=lambda one: -one["drop"]) == told["moments"]
        assert {one["by"] for one in told["curve"] + told["moments"]} == {0}  # only the link's own decisions
        drops = [one["drop"] for one in told["moments"]]
        assert drops == sorted(drops, reverse=True) and drops[0] > 0
        replay = page.ask("export", what="replay")["text"]
        for moment in told["moments"][:3]:
            assert moment["by"] == 0 and moment["text"] != moment["better"]
            at: dict[str, Any] = {"kind": "analyse", "start": {"replay": replay}, "step": moment["step"]}
            with server.open(server.make("evergreen", [], players=2, **at)[0]) as analysis:
                assert analysis.view["step"] == moment["step"]
                assert analysis.view["line"][moment["step"]] == {"by": 0, "text": moment["text"]}
                texts = {one["actions"][0]: one["text"] for one in analysis.view["answers"]}
                assert moment["answers"] == len(texts)
                assert texts[moment["better_action"]] == moment["better"]
                assert texts[moment["action"]] == moment["text"]
                here = {"view": analysis.view["number"], "agent": "ismcts-20"}
                for action, estimate in (("action", "estimate"), ("better_action", "best")):
                    said = analysis.ask("judge", action=moment[action], **here)
                    assert said["estimate"] == moment[estimate]
                assert "error" in analysis.ask("judge", action=-1, **here)
                assert "error" in analysis.ask("judge", action=moment["action"], **{**here, "view": 0})
                assert analysis.view["step"] == moment["step"]  # nothing was played
        saved = page.ask("page")
        data = json.loads(saved["text"].partition('type="application/json">')[2].partition("</script>")[0])
        assert saved["name"].endswith(".html") and len(data["review"]["points"]) == told["of"]
        with server.open(server.make("evergreen", [], players=2, **at)[0]) as analysis:
            assert '"review":{' in analysis.ask("page")["text"]


@pytest.mark.slow
def test_a_review_only_of_games_that_are_over_and_of_own_decisions(server: Server) -> None:
    """During a game nobody can learn others' cards from an agent. Afterwards each link gets its own decisions."""
    paths = server.make("petrichor", ["apart", "apart"], start={"seed": 3})
    with server.open(paths[0]) as one, server.open(paths[1]) as two:
        pages, generator = (one, two), np.random.default_rng(0)
        here = {"view": one.view["number"], "agent": "greedy"}
        for do, message in {"review": {"agent": "greedy"}, "page": {}, "judge": {**here, "action": 0}}.items():
            assert "error" in one.ask(do, **message)
        assert "error" in one.ask("return", step=0)
        while one.view["turn"] != "over":
            actor = next(page for page in pages if page.view["turn"] == "you")
            number = actor.view["number"]
            answers = [answer["actions"] for answer in actor.view["answers"]]
            assert "error" not in actor.answer(answers[generator.integers(len(answers))])
            while actor.view["number"] == number:
                actor.wait()
            actor.until("you", "others", "over")
            other = two if actor is one else one
            if actor.view["turn"] != "you":
                other.until("you", "over")
        for seat, page in enumerate(pages):
            found = page.ask("review", agent="greedy")
            assert found["curve"] and {point["by"] for point in found["curve"] + found["moments"]} == {seat}
            assert '"review":{' in page.ask("page")["text"]
            assert "error" in page.ask("judge", view=page.view["number"], agent="greedy", action=0)


def test_back_to_the_game_that_is_looked_back_at(server: Server) -> None:
    (path,) = server.make("petrichor", [], players=2, kind="analyse", start={"seed": 1})
    with server.open(path) as page:
        assert page.ask("return", step=0)["error"] == "there is no game to go back to"
        boards = [page.board]
        for _ in range(6):
            page.answer(page.view["answers"][0]["actions"])
            boards.append(page.board)
        page.ask("goto", step=0)
        assert len(page.ask("review", agent="greedy")["curve"]) > 0  # a review of the whole line
        page.ask("goto", step=2)
        assert page.view["played"] == {"steps": 6, "left": False}
        page.answer(page.view["answers"][-1]["actions"])
        assert page.view["played"] == {"steps": 6, "left": True} and len(page.view["line"]) == 3
        for step in (4, 0, 6):
            page.ask("return", step=step)
            assert page.view["step"] == step and page.board == boards[step]
            assert page.view["played"] == {"steps": 6, "left": False} and len(page.view["line"]) == 6
        assert page.ask("return", step=7)["error"] == "step: 0 to 6"
        description = page.ask("describe")["description"]
        page.ask("position", description=description)
        assert page.view["played"] == {"steps": 0, "left": False} and "error" in page.ask("review", agent="greedy")


def test_watching(server: Server) -> None:
    (path,) = server.make("petrichor", ["greedy", "random"], kind="watch")
    with server.open(path) as page:
        assert page.view["turn"] == "paused" and page.view["seat"] is None
        while page.view["turn"] != "over":
            assert page.view["answers"] == []
            number = page.view["number"]
            assert "error" not in page.ask("step")
            while page.view["number"] == number:
                page.wait()
        assert {owner["who"] for owner in page.view["owners"]} == {"agent"}
        assert "error" in page.answer([0])


def test_analysing(server: Server) -> None:
    (path,) = server.make("petrichor", [], players=2, kind="analyse", start={"seed": 1})
    with server.open(path) as page:
        boards = [page.board]
        for i in range(5):
            page.answer(page.view["answers"][i % 2]["actions"])
            boards.append(page.board)
        assert page.view["step"] == 5 and len(page.view["line"]) == 5 and len(set(boards)) == 6
        for step in (0, 3, 5, 2):
            page.ask("goto", step=step)
            # the picture's last line tells the answer that led here
            assert page.view["step"] == step and page.board == boards[step] and len(page.view["line"]) == 5
        assert page.ask("goto", step=6)["error"] == "step: 0 to 5"
        page.answer(page.view["answers"][0]["actions"])  # another answer at step 2, or the same one
        assert page.view["step"] == 3
        page.ask("look", seat=1)
        assert page.view["seat"] == 1 and 'data-viewer="player_1"' in page.board
        assert "error" in page.ask("look", seat=2)
        saved = page.ask("export", what="scenario")["text"]
        page.ask("look", seat=None)
        here = page.view["answers"]
    (path,) = server.make("petrichor", [], players=2, kind="analyse", start={"scenario": saved})
    with server.open(path) as page:
        assert page.ask("export", what="scenario")["text"] == saved and page.view["answers"] == here


def test_a_line_goes_back_and_forth() -> None:
    line = Line(Config(), seed=2)
    generator = np.random.default_rng(0)
    states = [line.state.tobytes()]
    for _ in range(20):
        line.play(int(generator.choice(legal_actions(line.state))))
        states.append(line.state.tobytes())
    whole = line.whole
    for step in generator.integers(0, 20, 30, endpoint=True).tolist():
        line.go_to(step)
        assert (line.number, line.length, line.state.tobytes()) == (step, 20, states[step])
        assert line.whole == whole
    line.go_to(7)
    line.play(whole.actions[7])
    assert (line.number, line.length) == (8, 20)
    others = [one for one in legal_actions(line.state).tolist() if one != whole.actions[8]]
    line.play(others[0])
    assert (line.number, line.length) == (9, 9)
    through = Line.through(whole, 12)
    assert through.state.tobytes() == states[12] and through.whole == whole


def test_a_replay_that_ends_with_a_forfeit(server: Server) -> None:
    """An analysis, like a replay, tells that an illegal action lost the game. It shows the names, and saves them."""
    session, names = Session(Config(players=2), seed=5), ("greedy", PERSON)
    actions = []
    for _ in range(3):
        actions.append(int(legal_actions(session.state)[0]))
        session.play(actions[-1])
    replay = Replay.of(Config(players=2), 5, [*actions, FORFEIT], names=names)
    (path,) = server.make("petrichor", [], players=2, kind="analyse", start={"replay": replay.text}, step=4)
    with server.open(path) as page:
        assert page.view["turn"] == "over" and page.view["step"] == 4
        told = [frame.last_action for frame in frames(replay)][1:]
        assert [one["text"] for one in page.view["line"]] == told
        assert page.view["steps"][-1]["done"] == told[-1] and told[-1] in page.board
        owners = [(owner["name"], owner["who"]) for owner in page.view["owners"]]
        assert owners == [("greedy", "agent"), ("Player 2", "person")] and 'data-name="greedy"' in page.board
        assert json.loads(page.ask("export", what="replay")["text"])["names"] == list(names)


def test_setting_a_position_up(server: Server) -> None:
    (path,) = server.make("petrichor", [], players=2, kind="analyse")
    with server.open(path) as page:
        told = page.ask("describe")
        description = told["description"]
        assert description["players"] == 2 and told["form"]["keys"]["field"]["keys"]
        assert "deck" not in description and told["whole"] == {**told["whole"], **description}
        description["points"] = {"player_0": 12, "player_1": 3}
        checked = page.ask("check", description=description)
        board = "".join(checked["parts"][i] for i in checked["board"])
        assert 'data-points="12"' in board and 'data-points="12"' not in page.board
        assert checked["whole"]["points"] == description["points"] and checked["whole"]["deck"] == told["whole"]["deck"]
        description["votes"] = {"sun": {"player_0": 99}}
        refused = page.ask("check", description=description)
        assert "votes" in refused["error"]
        description["votes"] = {"sun": {"player_0": -1}}
        refused = page.ask("check", description=description)
        assert refused["where"] == "votes.sun.player_0" and "allowed are" in refused["error"]
        assert "error" in page.ask("position", description=description)
        del description["votes"]
        assert "error" not in page.ask("position", description=description)
        assert [owner["points"] for owner in page.view["owners"]] == [12, 3] and page.view["step"] == 0
        state = scenario(json.loads(page.ask("export", what="scenario")["text"]))
        assert state["points"][:2].tolist() == [12, 3]
        assert page.view["start"] == "scenario"


def test_playing_on_from_a_position(server: Server) -> None:
    position = {"players": 2, "round": 4, "points": {"player_0": 7}}
    (path,) = server.make("petrichor", ["here", "greedy"], start={"scenario": position})
    with server.open(path) as page:
        assert page.until("you", "over")["owners"][0]["points"] >= 7 and page.view["round"] == 4
        page.play_out()
        replay = json.loads(page.ask("export", what="replay")["text"])
        assert "scenario" in replay and replay["names"] == [PERSON, "greedy"]


@pytest.mark.parametrize("game", ["petrichor", "evergreen"])
def test_whether_a_file_is_a_scenario(server: Server, game: str) -> None:
    """Before it offers to play, the page asks the server for the number of players, or for what is wrong."""

    def asked(text: str) -> tuple[int, dict[str, Any]]:
        answer = server.http.post("/api/scenarios", json={"game": game, "scenario": text})
        return answer.status_code, answer.json()

    for players in (1, 3):
        (path,) = server.make(game, [], players=players, kind="analyse")
        with server.open(path) as page:
            text = page.ask("export", what="scenario")["text"]  # it has random numbers too large for browsers
        assert asked(text) == (200, {"players": players})
    for text, error in (
        ("{}", "players: missing; 1 ("),
        ('{"players": null}', "players=None: 1 ("),
        ('{"players": 2, "name": 1}', "scenario: unknown key 'name'; allowed are players, "),
        ("[2]", "a message is a JSON object"),
    ):
        status, answer = asked(text)
        assert status == 400 and answer["error"].startswith(error)


# --- keeping ---------------------------------------------------------------------------------------------------------


def test_games_survive_the_server(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        solo, several, analysis = (
            server.make("petrichor", ["here"], learn=True)[0],
            server.make("petrichor", ["apart", "greedy", "apart"], start={"seed": 4}),
            server.make("evergreen", [], players=2, kind="analyse")[0],
        )
        boards = {}
        for path in (solo, several[0], analysis):
            with server.open(path) as page:
                for _ in range(3):
                    if page.until("you", "others")["turn"] == "you":
                        page.answer(page.view["answers"][0]["actions"])
                boards[path] = page.board
    kept = sorted(path.name for path in tmp_path.iterdir())
    names = ("evergreen-2p", "petrichor-3p", "petrichor-solo")
    assert kept == [f"{name}.{kind}" for name in names for kind in ("json", "links")]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "petrichor-3p.links").stat().st_mode) == 0o600
    assert Replay.load(tmp_path / "petrichor-3p.json", GAME).names == (PERSON, "greedy", PERSON)
    with serving(tmp_path) as server, server.connect(solo) as socket:
        assert "start the server with --resume" in closing_words(socket)
    (tmp_path / "broken.links").write_text('{"table": 1, "links": [{"key": 3}]}')
    (tmp_path / "other.links").write_text("[" * 5000)
    with serving(tmp_path, resume=True) as server:
        for path in (solo, several[0], analysis):
            with server.open(path) as page:
                assert page.board == boards[path] and page.view["learn"] == (path == solo)
        pages = [server.open(path) for path in several]
        play_out(*pages)
        assert all(page.view["turn"] == "over" for page in pages)


def test_a_file_that_was_deleted(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        paths = [server.make("evergreen", ["here"])[0] for _ in range(2)]
    with serving(tmp_path, resume=True) as server:
        (tmp_path / "evergreen-solo.json").unlink()
        (tmp_path / "evergreen-solo-2.links").unlink()
        for path, name in zip(paths, ("evergreen-solo.json", "evergreen-solo-2.links"), strict=True):
            with server.connect(path) as socket:
                assert "can't be read" in closing_words(socket), name


def until_told(page: Page, saved: bool) -> str:
    """What a page is told last of whether its game is saved, once it is told this."""
    while ((told := str([message["unsaved"] for message in page.got if "unsaved" in message][-1])) == "") != saved:
        page.receive()
    return told


def test_a_save_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """The server goes on, tells people, makes no game that it can't keep, and saves everything when it can again."""
    full, write = threading.Event(), table_store._write

    def written(path: Path, text: str) -> None:
        if full.is_set():
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, text)

    def answers_in(name: str) -> int:
        return len(Replay.load(tmp_path / name, GAME).actions)

    monkeypatch.setattr(table_store, "_SECONDS", 0.01)
    monkeypatch.setattr(table_store, "_write", written)
    with serving(tmp_path) as server:
        paths = [server.make("petrichor", ["here"], start={"seed": 5})[0] for _ in range(2)]
        files = sorted(tmp_path.iterdir())
        with server.open(paths[0]) as page, server.open(paths[1]) as second:
            full.set()
            for one in (page, second):
                one.answer(one.view["answers"][0]["actions"])
                assert "can't be saved at present (No space left on device)" in until_told(one, saved=False)
            assert server.refused(game="petrichor", players=1, seats=["here"]) == (
                f"{tmp_path}: the game can't be saved there (No space left on device), so it was not made"
            )
            assert sorted(tmp_path.iterdir()) == files and answers_in("petrichor-solo.json") == 0
            with server.open(paths[0]) as another:
                assert "can't be saved" in another.got[0]["unsaved"]
            full.clear()
            for one in (page, second):
                until_told(one, saved=True)
            assert answers_in("petrichor-solo.json") > 0 and answers_in("petrichor-solo-2.json") > 0
            full.set()
            page.answer(page.view["answers"][0]["actions"])
            until_told(page, saved=False)
    told = [record.getMessage() for record in caplog.records if record.name == table_store.__name__]
    assert ["saved again" in one for one in told] == [False, True, False] and "(No space left" in told[0]
    assert server.site.tables.problem == "1 game can't be saved (No space left on device)"


def test_a_stop_while_games_are_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The games that are not written yet are not lost, and no file is written by two at once."""
    begun, go, write, busy = threading.Event(), threading.Event(), table_store._write, threading.Lock()

    def written(path: Path, text: str) -> None:
        assert busy.acquire(blocking=False)
        begun.set()
        go.wait(SECONDS)
        write(path, text)
        busy.release()

    async def play_and_stop() -> None:
        with ThreadPoolExecutor(1) as threads:
            known = table_store.TableStore(Catalogue(SHIPPED), tmp_path, threads)
            added = [known.add(Session(Config(), seed=seed), "play", [new_link([0])]) for seed in range(3)]
            monkeypatch.setattr(table_store, "_write", written)
            async with make_app(known, names=(), port=0, url_of=str).router.lifespan_context(None):  # type: ignore[arg-type]
                page = Listening()
                for table in added:
                    table.open(table.links[0], page, BROWSER)
                    answer = {"view": table.links[0].number, "actions": [int(legal_actions(table.session.state)[0])]}
                    await table.obey(table.links[0], page, "answer", answer)
                await asyncio.to_thread(begun.wait, SECONDS)
                asyncio.get_running_loop().call_later(0.05, go.set)

    monkeypatch.setattr(table_store, "_SECONDS", 0.01)
    asyncio.run(play_and_stop())
    kept = [Replay.load(path, GAME) for path in tmp_path.glob("*.json")]
    assert len(kept) == 3 and all(replay.actions for replay in kept)


def test_tables_that_nobody_looks_at_leave_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabletop_play.web.table_store._MOST_READY", 3)
    monkeypatch.setattr("tabletop_play.web.table_store._SECONDS", 0.01)
    with serving(tmp_path) as server:
        paths = [server.make("petrichor", ["here"])[0] for _ in range(3)]
        shown = {}
        for path in paths:
            with server.open(path) as page:
                page.answer(page.view["answers"][0]["actions"])
                shown[path] = page.board
        looked_at = server.open(paths[0])
        for _ in range(20):
            server.make("evergreen", ["here"])
        assert len(server.site.tables._ready) <= 5
        for path in paths:
            with server.open(path) as page:
                assert page.board == shown[path]
        looked_at.answer(looked_at.view["answers"][0]["actions"])
        assert looked_at.board != shown[paths[0]]
        looked_at.close()


class Faulty:
    name = "tests.test_web_server:Faulty"

    def act(self, decisions: Any, generator: Any) -> Any:
        raise RuntimeError("out of order")


def test_points_alone(server: Server) -> None:
    """In a game for one without an opponent, nobody wins against anybody."""
    (path,) = server.make("evergreen", ["here"])
    with server.open(path) as page:
        view = page.play_out()
        assert view["result"]["verdict"] == f"You have {view['owners'][0]['points']} points."


def test_an_agent_that_fails(tmp_path: Path) -> None:
    """The agent's game stops and says why. Other games go on."""
    with serving(tmp_path, agents=[Faulty.name, "greedy"]) as server:
        (path,) = server.make("petrichor", ["here", Faulty.name])
        with server.open(path) as page:
            while not page.view["trouble"]:
                if page.view["turn"] == "you":
                    page.answer(page.view["answers"][0]["actions"])
                else:
                    page.wait()
            assert page.view["trouble"] == "RuntimeError: out of order"
        (path,) = server.make("petrichor", ["here", "greedy"])
        with server.open(path) as page:
            page.until("you")


def test_collecting_garbage_stops_no_page_for_long() -> None:
    """Full collections don't look through all that is loaded with a game's rules, which took a tenth of a second."""
    catalogue = Catalogue(SHIPPED)
    gc.unfreeze()  # what other tests have loaded
    try:
        catalogue.compiled("petrichor")
        first = gc.get_freeze_count()
        assert first > 10_000
        catalogue.compiled("petrichor")
        assert gc.get_freeze_count() <= first  # what is frozen may still be freed
    finally:
        gc.unfreeze()


# --- the command -----------------------------------------------------------------------------------------------------


def command(*arguments: str, cwd: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the command in a process of its own; returns it and the address that it prints."""
    code = "import sys; from tabletop_cli.petrichor import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd
    )
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"The page is at (http://\S+) \(", line):
            return process, found[1]
    raise AssertionError("no address was printed")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_commands(tmp_path: Path) -> None:
    process, url = command("web", "--port", "0", cwd=tmp_path)
    assert httpx.get(url).status_code == 200
    folder = tmp_path / "runs" / "web"
    with pytest.raises(TabletopError, match="another process is writing there"), Job(folder, resume=True):
        pass
    other = subprocess.run(
        [sys.executable, "-m", "tabletop_cli", "evergreen_env.game", "web"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert other.returncode == 2 and "runs/web: another process is writing there" in " ".join(other.stderr.split())
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)  # a second Ctrl-C
    rest, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 0 and "--resume" in rest and "Traceback" not in said
    process, url = command("play", "--web", "greedy", "--seed", "3", cwd=tmp_path)
    assert "/table/" in url and httpx.get(url).status_code == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=SECONDS)
    assert [path.name for path in (tmp_path / "runs" / "web").glob("*.json")] == ["petrichor-2p.json"]


def test_what_the_command_says_of_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """How to get the games of earlier starts back, and which are lost."""
    with serving(tmp_path) as server:
        server.make("evergreen", ["here"])
    monkeypatch.setattr(Site, "run", lambda site: site.listening.close())
    main(SHIPPED, port=0, folder=tmp_path)
    said = capsys.readouterr().out
    assert f"{tmp_path} keeps 1 table of earlier starts; only --resume opens them." in said
    assert f"`web --resume --folder {tmp_path}` takes them up again" in said

    def run_until_the_disk_is_full(site: Site) -> None:
        site.listening.close()
        site.tables.problem = "1 game can't be saved (full)"

    monkeypatch.setattr(Site, "run", run_until_the_disk_is_full)
    with pytest.raises(TabletopError, match=r"1 game can't be saved \(full\); what was new in them is lost"):
        main(SHIPPED, port=0, folder=tmp_path)


def test_a_port_that_is_taken(server: Server, tmp_path: Path) -> None:
    taken = int(server.url.rpartition(":")[2])
    with pytest.raises(ConfigError, match=r"can't listen there .*--port 0 takes a free one"):
        Site.at(SHIPPED, port=taken, folder=tmp_path)


# --- pictures -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [GAME, game_of("evergreen_env.game"), *GAMES], ids=lambda game: str(game.name))
def test_parts_of_pictures(game: Game) -> None:
    """A picture that knows its parts has the parts that are found in its text.

    A game's cover is a complete picture, with only the drawings of its boards.
    """
    svg = game.drawing.render_svg(Session(game.config(players=game.players[-1])).state)
    parts = parts_of(svg)
    assert [*parts] == parts_of(str(svg)) and "".join(parts) == svg
    assert parts[0].startswith("<svg ") and parts[-1] == "</svg>"
    rest = parts_without_drawings(svg)
    assert drawings_of(svg).startswith("<defs>") and len(rest) == len(parts) - 1
    assert len(svg) == len("".join(rest)) + len(drawings_of(svg))
    cover = game.drawing.cover()
    assert drawings_of(cover) == drawings_of(svg) != ""
    elements = list(ElementTree.fromstring(cover).iter())
    assert {one.attrib["href"][1:] for one in elements if "href" in one.attrib} <= {one.get("id") for one in elements}
    assert rgb_array(cover, 240).std() > 10  # the picture is not empty
