"""Replays as a page for a browser, as a GIF and as PNGs: the page as a document. tests/browser opens it."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import struct
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from petrichor_env import Batch, Config
from petrichor_env.actions import DECLINE
from petrichor_env.config import MODULES
from petrichor_env.drawing import action_text, events, render_text
from petrichor_env.drawing.board import render_svg
from petrichor_env.state import Decision
from petrichor_env.words import owner_names
from tabletop_cli import petrichor as cli
from tabletop_engine.drawing.raster import rgb_array
from tabletop_engine.errors import ConfigError, ReplayError, TabletopError
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.replays import page as replay_page
from tabletop_engine.replays import viewer as replay_viewer
from tabletop_engine.replays.files import FORFEIT
from tabletop_engine.replays.page import page, page_data, write_page
from tabletop_engine.replays.pictures import svg_of, write_gif, write_pngs
from tabletop_engine.replays.replay import Frame, Replay, frames
from tests.support.hidden import swapped
from tests.support.recorded import NASTY, QUOTES, SEED, replay_of, review_of

PHASES = ("setup", "action phase", "weather phase", "harvest phase", "clean-up", "game over")


class Document(HTMLParser):
    """A parsed page: its tags, and the text of each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open, []).append(data)

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.texts["script"][0])


@pytest.fixture(scope="module")
def document(replay_file: Path) -> Document:
    return Document(replay_file.read_text(encoding="utf-8"))


def board_of(data: dict[str, Any], step: int) -> str:
    """The board as the page puts it together."""

    def outline(found: re.Match[str]) -> str:
        return f' d="{"".join(data["strokes"][int(i)] for i in found[1].split("."))}"'

    tags = [tag for part in data["steps"][step]["board"] for tag in data["parts"][part]]
    return "".join("<" + re.sub(r' d="~([\d.]+)"', outline, data["tags"][tag]) for tag in tags)


# --- The document ----------------------------------------------------------------------------------------------------


CONFIGS = [
    Config(),
    Config(players=5, drafting=True, modules=MODULES),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_boards_are_the_pictures_to_the_letter(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def keep(*arguments: Any) -> str:
        drawn.append(svg_of(*arguments))
        return drawn[-1]

    monkeypatch.setattr(replay_page, "svg_of", keep)
    data, defs = page_data(replay_of(config, most=200))
    assert len(drawn) == len(data["steps"]) > 50
    for step, svg in enumerate(drawn):
        assert board_of(data, step) == svg.replace(defs, "")
    assert defs.startswith("<defs>") and defs.endswith("</defs>")
    assert data["owners"][-1]["name"] == owner_names(config.players)[-1]


def test_data_is_the_game(document: Document, replay: Replay, shown: list[Frame]) -> None:
    data = document.data
    assert len(data["steps"]) == len(shown)
    before: Frame | None = None
    for frame, step in zip(shown, data["steps"], strict=True):
        words = {key: data["texts"][step[key]] for key in ("done", "phase")}
        assert words == {"done": frame.last_action, "phase": PHASES[frame.state["phase"]]}
        assert step["points"] == frame.state["points"][:2].tolist()
        assert (step["round"], step["rounds"]) == (frame.state["round"], frame.state["rounds"])
        assert (step["actor"], step["by"]) == (frame.actor, frame.last_actor)
        told = [] if before is None or before.action is None else events(before.state, before.action)
        assert [data["texts"][number] for number in step["changes"]] == told
        before = frame
    assert data["winners"] == list(replay.winners or ())
    assert [owner["name"] for owner in data["owners"]] == [NASTY, QUOTES]
    assert len({owner["shape"] for owner in data["owners"]} | {owner["colour"] for owner in data["owners"]}) == 4


def test_options_are_the_recorded_probabilities(document: Document, shown: list[Frame]) -> None:
    data = document.data
    most = 0
    for frame, step in zip(shown[:-1], data["steps"], strict=False):
        options, action = step["options"], frame.action
        assert action is not None
        assert data["texts"][options["taken"]] == action_text(frame.state, action)
        assert ("shown" in options) == bool(frame.probabilities)
        if "shown" not in options:
            continue
        rows = [(data["texts"][words], share, chosen) for words, share, chosen in options["shown"]]
        taken = (action_text(frame.state, action), 1000 * frame.probabilities[action], 1)
        assert [row for row in rows if row[2]] == [taken]
        assert [share for _, share, _ in rows] == sorted((share for _, share, _ in rows), reverse=True)
        all_of_it = sum(share for _, share, _ in rows) + options["others"][1]
        assert all_of_it == pytest.approx(1000 * sum(frame.probabilities.values()))
        assert len(rows) + options["others"][0] == len(frame.probabilities)
        most = max(most, options["others"][0])
    assert "options" not in data["steps"][-1]
    assert most > 0


def test_an_action_without_a_share_is_among_the_options(replay: Replay, shown: list[Frame]) -> None:
    """The action that was taken is shown, though the agent gave it almost nothing, and more to many others."""
    legal = [legal_actions(frame.state) for frame in shown]
    step = max(range(len(shown)), key=lambda i: len(legal[i]))
    others = [action for action in legal[step] if action != replay.actions[step]]
    assert len(others) > 7
    given: list[dict[int, float]] = [{} for _ in replay.actions]
    given[step] = dict.fromkeys(others, 0.1)
    data, _ = page_data(Replay.of(replay.config, SEED, replay.actions, probabilities=given))
    options = data["steps"][step]["options"]
    assert options["shown"][-1] == [options["taken"], 0, 1]
    assert options["others"] == [len(others) - 7, 100 * (len(others) - 7)]


def test_names_stay_words(document: Document, replay_file: Path) -> None:
    """The policy allows this script and style only."""
    tags = [tag for tag, _ in document.tags]
    assert tags.count("script") == 2 and "img" not in tags
    assert document.texts["title"][0] == f"Petrichor: {NASTY}, {QUOTES}"
    assert document.data["owners"][1]["name"] == QUOTES
    policy = next(attributes["content"] for tag, attributes in document.tags if "http-equiv" in attributes)
    assert policy is not None and policy.startswith("default-src 'none';") and "unsafe" not in policy
    for text in (document.texts["style"][0], document.texts["script"][-1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert replay_file.stat().st_size < 600_000


def test_nothing_comes_from_outside(replay_file: Path) -> None:
    """Except in the game's own words, which no browser reads as an address. Names may hold anything."""
    text = re.sub(r'(<script id="replay"[^>]*>).*?</script>', r"\1</script>", replay_file.read_text(encoding="utf-8"))
    text = re.sub("<title>[^<]*</title>", "", text).replace("http://www.w3.org/2000/svg", "")  # a name, never fetched
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bimport\b|fetch|XMLHttpRequest|WebSocket", text)
    document = Document(text)
    addresses = [value or "" for _, attributes in document.tags for key, value in attributes.items() if "href" in key]
    assert addresses and all(address.startswith("#") or address == "data:," for address in addresses)
    assert not any("src" in attributes for _, attributes in document.tags)


def test_the_estimates_of_a_review(replay: Replay, tmp_path: Path) -> None:
    """They are data, whatever the agent's name. A seat gets those of its own decisions; without a review none."""
    review = review_of(replay)
    assert page_data(replay)[0]["review"] is None
    data, _ = page_data(replay, review=review)
    assert [one["step"] for one in data["review"]["points"]] == [point.step for point in review.curve]
    assert len(data["review"]["moments"]) == len(review.moments) > 1
    own, _ = page_data(replay, 1, review=review)
    assert {one["by"] for one in own["review"]["points"]} == {1} and own["review"]["moments"] == []
    write_page(replay, tmp_path / "game.html", review=review)
    document = Document((tmp_path / "game.html").read_text(encoding="utf-8"))
    assert [tag for tag, _ in document.tags].count("script") == 2
    assert document.data["review"]["agent"] == NASTY
    point, moment = review.curve[0], review.moments[0]
    wrong: list[dict[str, Any]] = [
        {"curve": (dataclasses.replace(point, estimate=float("nan")),)},
        {"curve": (dataclasses.replace(point, step=len(replay.actions)),)},
        {"curve": (dataclasses.replace(point, seat=1 - point.seat),)},
        {"moments": (dataclasses.replace(moment, best=float("inf")),)},
        {"moments": (dataclasses.replace(moment, better=10**6),)},
        {"moments": (dataclasses.replace(moment, action=moment.better),)},
    ]
    for change in wrong:
        with pytest.raises(ConfigError, match="review: "):
            page_data(replay, review=dataclasses.replace(review, **change))


def test_a_seat_sees_its_own_hand_only() -> None:
    """It can't see other hands, drafted cards, who is asked for forecast cards, or the seed, which tells all of it."""
    config = Config(players=3, drafting=True, modules=("forecasts",))
    data, _ = page_data(replay_of(config, shares=True), viewer=1)
    assert "seed" in page_data(replay_of(config, most=1))[0]["about"]
    assert "seed" not in json.dumps(data["about"]) and data["about"].endswith("as player_1 sees it")
    words = {data["texts"][number] for step in data["steps"] for number in [step["done"], *step["changes"]]}
    keeps = {word for word in words if word.startswith("keep ")}
    assert "keep a card" in keeps and any(word.startswith("player_1 gets ") for word in words)
    for step in range(len(data["steps"])):
        board = board_of(data, step)
        assert 'data-viewer="player_1"' in board
        for hidden in ("player_0", "player_2"):
            row = re.search(f'<g [^>]*data-owner="{hidden}"[^>]*>', board)
            assert row is not None and " data-hand=" not in row[0] and " data-forecasts=" not in row[0]
        facts = data["steps"][step]
        assert ("options" in facts) <= (facts["actor"] == 1)
        assert "shown" not in facts.get("options", {})  # seat 0's were recorded
    shown = list(frames(replay_of(config)))
    others = [one for one in shown if one.state["decision"] == Decision.FORECAST and one.actor != 1]
    passed = [one for one in others if one.action == DECLINE]
    assert others and passed and len(data["steps"]) == len(shown) - len(passed)
    assert [step["actor"] for step in data["steps"]].count(-1) == len(others) - len(passed) + 1  # and at the end
    done = [(step["by"], data["texts"][step["done"]]) for step in data["steps"]]
    assert done[0] == (-1, "") and all(by >= 0 and words for by, words in done[1:])


def twins(config: Config, seat: int, seed: int) -> tuple[Replay, Replay] | None:
    """Two unfinished games that differ only in what a seat can't see, as far as the seat sees the same.

    They begin at a position of random play, with other hidden cards in the second game, and have the same actions.
    Players who are asked for a forecast card take none; the two games may ask different players. Returns None if both
    asked the same players.
    """
    generator = np.random.default_rng(seed)
    batch = Batch(config, 2, seed, autoreset="disabled")
    batch.reset([seed, seed])
    for _ in range(int(generator.integers(20, 90))):
        batch.step(np.repeat(generator.choice(legal_actions(batch.states[0])), 2))
    while batch.states[0]["actor"] != seat:
        batch.step(np.repeat(generator.choice(legal_actions(batch.states[0])), 2))
    batch.states[1] = swapped(batch.states[1:], seat, generator)[0]
    batch.states["rng"] = batch.states["rng"][0]  # the same dice, as long as no card is drawn
    starts = batch.states.copy()
    played: list[list[int]] = [[], []]
    alike = [0, 0]
    while True:
        for game in (0, 1):
            while batch.states[game]["decision"] == Decision.FORECAST and batch.states[game]["actor"] != seat:
                played[game].append(DECLINE)
                batch.step([DECLINE] * 2, which=np.arange(2) == game)
        first, second = batch.states
        legal = [set(legal_actions(state).tolist()) for state in (first, second)]
        common = sorted(legal[0] & legal[1])
        if render_text(first, seat) != render_text(second, seat) or not common:
            break
        alike = [len(actions) for actions in played]
        if first["actor"] == seat and legal[0] != legal[1]:
            break
        action = int(generator.choice(common))
        for actions in played:
            actions.append(action)
        batch.step([action] * 2)
    if len({tuple(actions[:end]) for actions, end in zip(played, alike, strict=True)}) == 1:
        return None
    one, two = (Replay.of(config, starts[game], played[game][: alike[game]]) for game in (0, 1))
    return one, two


def test_games_that_a_seat_cannot_tell_apart_have_the_same_page() -> None:
    """The games differ in what is hidden, also in how many others were asked for a forecast card."""
    config = Config(players=3, modules=("forecasts",))
    pairs = [pair for seed in (0, 11, 20, 21, 29, 37) if (pair := twins(config, 1, seed)) is not None]
    assert len(pairs) > 3
    for one, two in pairs:
        assert len(one.actions) != len(two.actions) or one.scenario != two.scenario
        assert page_data(one, 1) == page_data(two, 1)
        assert page_data(one) != page_data(two)
    assert any(len(one.actions) != len(two.actions) for one, two in pairs)


def test_unfinished_games_and_starts() -> None:
    data, _ = page_data(replay_of(Config(players=4), most=3))
    assert data["winners"] is None and data["result"] == "Unfinished after 3 steps"
    begun = replay_of(Config(players=2), ("greedy", "random"), most=4)
    data, _ = page_data(Replay.of(begun.config, SEED, [*begun.actions, FORFEIT], names=begun.names))
    assert re.fullmatch(r"player_\d \((.+)\) forfeited; player_\d \((?!\1).+\) wins with \d+ points", data["result"])
    assert "illegal action" in data["texts"][data["steps"][-1]["done"]]
    data, defs = page_data(replay_of(Config(), most=0))
    assert len(data["steps"]) == 1 and "options" not in data["steps"][0]
    assert "script" in Document(page(data, defs)).texts


def test_what_cannot_be_written(replay: Replay, tmp_path: Path) -> None:
    tampered = dataclasses.replace(replay, checksums=(*replay.checksums[:7], "0000", *replay.checksums[8:]))
    with pytest.raises(ReplayError, match="step 7") as caught:
        write_page(tampered, tmp_path / "tampered.html")
    assert caught.value.step == 7 and not list(tmp_path.iterdir())
    told: list[int] = []
    short = replay_of(Config(), most=2)
    with pytest.raises(ReplayError, match="can't be written"):
        write_page(short, tmp_path / "missing" / "game.html", on_finished=told.append)
    assert told == [1] * 3  # each step is counted as it is drawn
    for write in (write_page, write_gif, write_pngs):
        with pytest.raises(TabletopError, match="viewer=3"):
            write(short, tmp_path / "game", viewer=3)
    assert not list(tmp_path.iterdir())


# --- Pictures --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def short() -> Replay:
    """A replay of a dozen steps, because pictures take a while."""
    pytest.importorskip("thorvg_python", reason="needs the extra render")
    return replay_of(Config(players=2), ("greedy", "random"), most=12)


def test_gif(short: Replay, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs the extra render")
    told: list[int] = []
    write_gif(short, tmp_path / "game.gif", width=300, milliseconds=250, on_finished=told.append)
    assert sum(told) == len(short.actions) + 1
    svgs = [svg_of(short, frame) for frame in frames(short)]
    with image.open(tmp_path / "game.gif") as gif:
        assert gif.size == (300, 300) and gif.info["loop"] == 0
        at, durations = 0, []
        for number in range(gif.n_frames):  # pictures with equal pixels are stored once
            gif.seek(number)
            durations.append(gif.info["duration"])
            there = np.asarray(gif.convert("RGB")).astype(int)
            wanted = rgb_array(svgs[at // 250], 300).astype(int)
            assert np.abs(there - wanted).mean() < 4
            at += gif.info["duration"]
    assert sum(durations) == 250 * len(short.actions) + 3000
    assert (tmp_path / "game.gif").stat().st_size < 25_000 + 8_000 * len(short.actions)
    assert [entry.name for entry in tmp_path.iterdir()] == ["game.gif"]
    write_gif(replay_of(Config(), most=0), tmp_path / "start.gif", width=64)
    with image.open(tmp_path / "start.gif") as gif:
        assert gif.n_frames == 1
    for milliseconds in (0, 19, 60_001, True, float("nan")):
        with pytest.raises(TabletopError, match=r"milliseconds=.*(20 to 60000|must be an int)"):
            write_gif(short, tmp_path / "game.gif", milliseconds=milliseconds)  # type: ignore[arg-type]


def test_pngs(short: Replay, tmp_path: Path) -> None:
    told: list[int] = []
    paths = write_pngs(short, tmp_path / "new" / "pictures", width=200, on_finished=told.append)
    assert [path.name for path in paths] == [f"{step:03}.png" for step in range(len(short.actions) + 1)]
    assert sorted(paths) == sorted((tmp_path / "new" / "pictures").iterdir()) and sum(told) == len(paths)
    for path in paths:
        assert struct.unpack(">II", path.read_bytes()[16:24]) == (200, 200)
    with pytest.raises(ReplayError, match="has files in it"):
        write_pngs(short, tmp_path / "new" / "pictures")
    (tmp_path / "file").touch()
    with pytest.raises(ReplayError, match="no pictures can be written"):
        write_pngs(short, tmp_path / "file")


def test_pictures_say_who_did_what(short: Replay) -> None:
    first, *others = frames(short)
    assert (first.last_actor, first.last_action) == (-1, "")
    for frame in others:
        words, svg = f"{short.label(frame.last_actor)}: {frame.last_action}.", svg_of(short, frame)
        assert f'data-last-action="{words}"' in svg
        assert svg == render_svg(frame.state, last_action=words, names=("greedy", "random"))


def test_pictures_for_a_seat_are_of_what_it_sees(tmp_path: Path) -> None:
    pytest.importorskip("thorvg_python", reason="needs the extra render")
    replay = replay_of(Config(players=3, drafting=True, modules=("forecasts",)))
    shown = list(frames(replay))
    hidden = next(
        i
        for i, frame in enumerate(shown)
        if frame.state["decision"] == Decision.FORECAST and frame.actor != 1 and frame.action == DECLINE
    )
    replay = Replay.of(replay.config, shown[hidden - 1].state, replay.actions[hidden - 1 : hidden + 2])
    seen = len(list(frames(replay, 1)))
    assert seen < len(replay.actions) + 1
    told: list[int] = []
    paths = write_pngs(replay, tmp_path / "pictures", width=64, viewer=1, on_finished=told.append)
    assert [path.name for path in paths] == [f"{step:03}.png" for step in range(seen)]
    write_gif(replay, tmp_path / "game.gif", width=64, viewer=1, on_finished=told.append)
    assert sum(told) == 2 * seen


# --- The command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A function that runs `petrichor replay` and returns the words of its refusal."""

    def run(*words: object) -> str:
        with pytest.raises(SystemExit) as left:
            cli.main(["replay", *map(str, words)])
        assert left.value.code == 2
        return capsys.readouterr().err

    return run


def test_outputs_that_are_refused(replay: Replay, tmp_path: Path, refused: Callable[..., str]) -> None:
    file, folder, page = tmp_path / "game.json", tmp_path / "pictures", tmp_path / "game.html"
    replay.save(file)
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "hard").hardlink_to(file)
    (tmp_path / "other").touch()
    content = file.read_bytes()
    before = sorted(tmp_path.iterdir())
    for name in ("game.json", "link", "hard"):
        assert "the same file as the replay" in refused(file, "--html", tmp_path / name)
        assert "the same file as the replay" in refused(file, "--gif", tmp_path / name)
    assert "the same file as --html" in refused(file, "--html", page, "--gif", tmp_path / "." / "game.html")
    assert "the same file as --gif" in refused(file, "--gif", folder, "--png", folder)
    assert "has other files" in refused(file, "--html", page, "--png", tmp_path)
    assert "is not a folder" in refused(file, "--html", page, "--png", tmp_path / "other")
    assert "is a folder" in refused(file, "--html", tmp_path)
    assert "there is no folder" in refused(file, "--html", page, "--gif", folder / "game.gif")
    assert file.read_bytes() == content and sorted(tmp_path.iterdir()) == before


def test_options_that_do_not_go_together(replay: Replay, tmp_path: Path, refused: Callable[..., str]) -> None:
    file, page, folder = tmp_path / "game.json", tmp_path / "game.html", tmp_path / "pictures"
    replay.save(file)
    assert "width: only with --gif or --png" in refused(file, "--width", 100)
    assert "width: only with --gif or --png" in refused(file, "--html", page, "--width", 100)
    assert "seconds: only with --gif" in refused(file, "--html", page, "--seconds", 1)
    assert "seconds: only with --gif" in refused(file, "--png", folder, "--seconds", 1)
    for output in ([], ["--html", page], ["--gif", tmp_path / "game.gif"], ["--png", folder]):
        assert "seat=5: must be 0 to 1" in refused(file, "--seat", 5, *output)
    assert list(tmp_path.iterdir()) == [file]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that Rich would read as markup are printed unchanged. Without --seconds the viewer uses its default.

    It numbers steps as the page and the viewer do: with a seat without hidden questions to others.
    """
    file, folder = tmp_path / "game.json", tmp_path / "[bold]x[red]"
    whole = replay_of(Config(players=3, modules=("forecasts",)))
    whole.save(file)
    folder.mkdir()
    page, counts = folder / "game.html", []
    for options in ([], ["--seat", "1"]):
        with pytest.raises(SystemExit) as left:
            cli.main(["replay", str(file), "--html", str(page), *options])
        assert left.value.code == 0
        steps = len(Document(page.read_text(encoding="utf-8")).data["steps"]) - 1
        assert f"{page}: {steps} steps" in capsys.readouterr().out
        counts.append(steps)
    assert counts[0] == len(whole.actions) > counts[1]
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(replay_viewer, "main", lambda file, game, **options: given.append(options))
    for options in ([], ["--seconds", "2"]):
        with pytest.raises(SystemExit):
            cli.main(["replay", str(file), *options])
    assert given == [{"seat": None}, {"seat": None, "seconds": 2.0}]
