"""Names and paths from outside are shown literally everywhere: nothing in them has an effect."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markdown_it import MarkdownIt
from matplotlib.figure import Figure
from matplotlib.text import Text

from evergreen_env import GAME as EVERGREEN
from petrichor_env import GAME, Config
from tabletop_agents import POLICIES, Agent, RandomAgent
from tabletop_cli import petrichor as cli
from tabletop_engine.drawing.svg import cut, width_of
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Game
from tabletop_engine.replays.page import write_page
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.viewer import Viewer
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import shown
from tabletop_play import catalogue
from tabletop_play.typed import TypedSession
from tabletop_training.files.job import Bar, Job, progress_bar
from tabletop_training.files.plots import plot_cross_table, plot_learning_curve
from tabletop_training.files.tables import (
    Column,
    ReplayFiles,
    Table,
    agent_title,
    markdown_code,
    markdown_table,
    slug,
    write_rows,
)
from tabletop_training.measure import benchmark, ladder, matches, tournament
from tabletop_training.measure.evaluation import play_rounds
from tabletop_training.measure.ratings import Rating
from tabletop_training.measure.results import Estimate
from tabletop_training.petrichor import difficulty
from tabletop_training.petrichor.benchmark import PLAN
from tabletop_training.petrichor.difficulty_report import write_report
from tabletop_training.petrichor.study import Study
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import played
from tabletop_training.study.store import Store
from tests.support.studies import noisy, results_of, sets_of
from tests.support.web import serving

NAMES = (
    "policy:x$a_{b$y/p.zip",
    "a|b\\|c",
    "``tick`",
    "[red]x[/blue] :bug: [link=x]",
    "<b>&amp;</b>*_~#",
    "\x1b[2J\x1b]0;mine\x07",
    "two\nlines\r\u2028and\ttabs",
    "policy:b\udcffd.zip",
    "_hidden:Agent",
    "policy:.",
    " ",
)
"""Names with a special meaning somewhere, and one with a byte that is not UTF-8, as Python has it in a path."""


class Named(RandomAgent):
    """Plays at random, with any name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def test_shown() -> None:
    """Printable characters stay; all others are written as in a string literal."""
    assert shown("greedy é 雨 $|`<b>\\") == "greedy é 雨 $|`<b>\\"
    assert shown("\x1b[2J\n\udcff\u2028") == r"\x1b[2J\n\udcff\u2028"
    for name in NAMES:
        assert shown(name).isprintable()
        shown(name).encode()


# --- Terminal ---------------------------------------------------------------------------------------------------------


def test_a_screen_shows_strings_as_they_are() -> None:
    out = io.StringIO()
    screen = Screen(file=out, width=400, force_terminal=True, color_system=None)
    for name in NAMES:
        screen.print(name)
        screen.print(Table([Column(name, "name", words=True)], [{"name": name}], name, name).screen())
        with progress_bar(screen) as progress:
            bar = Bar(progress, name, 10, name)
            bar.show(name)
    printed = re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", out.getvalue())  # Rich's sequences, which draw the bar
    assert "\x1b]" not in printed and "\x07" not in printed and "\u2028" not in printed
    for name in NAMES:
        assert shown(name) in printed or "\n" in name


@pytest.fixture(params=[GAME, EVERGREEN], ids=lambda game: str(game.name))
def named_agents(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Game:
    """Commands get random agents, under the given names."""

    def make(names: Any, config: Any) -> list[Agent]:
        return [Named(name) for name in names]

    for module in (matches, tournament, ladder, benchmark, difficulty):
        monkeypatch.setattr(module, "make_agents", make)
    game: Game = request.param
    return game


def assert_shown(printed: str, names: tuple[str, ...]) -> None:
    assert all(letter.isprintable() or letter == "\n" for letter in printed), ascii(printed)
    told = "".join(printed.split())
    for name in names:
        assert "".join(shown(name).split()) in re.sub("[│┃]", "", told), name


def test_evaluate_and_tournament(
    named_agents: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All names are in the print, in all files, and in the names of replays. No game is lost for lack of a file."""
    monkeypatch.setenv("COLUMNS", "300")
    config = named_agents.config(players=2)
    folders = [matches.main(NAMES[i : i + 2], config, games=2, output=tmp_path / f"e{i}") for i in range(0, 10, 2)]
    replays = ReplayFiles(tmp_path / "replays", most=len(NAMES) ** 2)
    folders.append(tournament.main(NAMES, config, games=2, output=tmp_path / "t", replays=replays))
    assert_shown(capsys.readouterr().out, NAMES)
    for folder in folders:
        for path in folder.glob("*.json"):
            told = json.loads(path.read_text(encoding="ascii"))
            assert set(told["names" if path.name == "settings.json" else "agents"]) <= set(NAMES)
        for path in folder.glob("*.csv"):
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            written = {name.encode(errors="backslashreplace").decode() for name in NAMES}
            assert {row.get("agent", row.get("first")) for row in rows} <= written
    assert (folders[-1] / "cross_table.png").stat().st_size > 10_000
    saved = sorted((tmp_path / "replays").iterdir())
    assert len(saved) == len(NAMES) * (len(NAMES) - 1)
    assert {name for path in saved for name in Replay.load(path, named_agents).names} == set(map(shown, NAMES))


@pytest.mark.slow
def test_ladder_and_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], named_agents: Game
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.chdir(tmp_path)
    path = Path("[b]x[/i].json")
    ladder.main([named_agents.config(players=2)], agents=NAMES, games=2, output=path)
    printed = capsys.readouterr().out
    assert_shown(printed, NAMES)
    assert str(path) in printed
    if named_agents is GAME:
        monkeypatch.setattr(benchmark, "agent_hash", lambda name, game: None)
        folder = benchmark.main(PLAN, NAMES[:8], games=2, duel_games=2, output="out", reference="none.json")
        assert_shown(capsys.readouterr().out, NAMES[:8])
        page = (folder / "benchmark.md").read_text(encoding="utf-8")
        assert {shown(name) for name in NAMES[:8]} == set(cells(page))


def test_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """The message is on one line, without control sequences for the terminal."""
    for words in (["evaluate", "\x1b[2Jnobody"], ["\x1b[2J"], ["evaluate", "--\x1b[2J"]):
        with pytest.raises(SystemExit):
            cli.main(words)
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1 and printed.strip().isprintable() and "x1b[2J" in printed


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of the folder and of files in it."""
    monkeypatch.setenv("COLUMNS", "300")
    with Job(tmp_path / "[red]\x1b[2J") as job:
        (job.folder / "[b]c[d]").touch()
    assert r"[red]\x1b[2J: [b]c[d]" in capsys.readouterr().out


# --- Pictures ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """All texts of each picture."""
    pictures: list[list[str]] = []
    save = Figure.savefig

    def noting(self: Figure, *arguments: Any, **options: Any) -> None:
        save(self, *arguments, **options)
        texts = self.findobj(Text)
        assert not any(text.get_parse_math() for text in texts if isinstance(text, Text) and text.get_text())
        pictures.append([text.get_text() for text in texts if isinstance(text, Text)])

    monkeypatch.setattr(Figure, "savefig", noting)
    yield pictures
    assert pictures


def test_pictures_of_tournaments_and_runs(tmp_path: Path, drawn: list[list[str]]) -> None:
    scores = [[None if i == j else Estimate(0.5, 0.4, 0.6) for j in range(len(NAMES))] for i in range(len(NAMES))]
    plot_cross_table(tmp_path / "a.png", scores, [Rating(name) for name in NAMES], "$title_{")
    plot_learning_curve(tmp_path / "b.png", [], dict.fromkeys(NAMES, (0.5, 1.0)), title="$a_{", margin="$b_{")
    for texts in drawn:
        assert set(map(agent_title, NAMES)) <= set(texts)


@pytest.mark.slow
def test_pictures_and_page_of_a_study(tmp_path: Path, drawn: list[list[str]]) -> None:
    names = NAMES[:9]
    agents = [sets_of(noisy(np.full(16, 5.0), 12, seed=seed), name) for seed, name in enumerate(names)]
    study = Study(dict.fromkeys(names, 12), 0, (), None)
    write_report(tmp_path, study, [one for sets in agents for one in results_of(sets).values()])
    titles = set(map(agent_title, names))
    assert sum(titles <= set(texts) for texts in drawn) == 3  # the map, all sets, the effects
    assert not any(text.startswith("_") for texts in drawn for text in texts)
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert titles <= set(cells(page))
    command = next(line for line in study.commands if "--seed" in line)
    assert markdown_code(command) in page


# --- Markdown, CSV, files ---------------------------------------------------------------------------------------------


def rendered(markdown: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(markdown))


def cells(markdown: str) -> list[str]:
    """The code in the tables of a page, as a reader sees it."""
    found = re.findall(r"<td[^>]*><code>(.*?)</code></td>", rendered(markdown), re.DOTALL)
    return [html.unescape(one) for one in found]


def test_code_in_markdown() -> None:
    """Another program reads back the same text, also in a table."""
    for name in (*NAMES, "`", "```", " a ", "a`", "\\", "\\|", "||", "a``b`c"):
        alone = rendered(f"Agent {markdown_code(name)} wins.")
        assert html.unescape(alone) == f"<p>Agent <code>{shown(name)}</code> wins.</p>\n"
        table = markdown_table(("agent", "a|b"), [(markdown_code(name), "1")])
        assert cells(table) == [shown(name)]
        assert rendered(table).count("<td") == 2 and "a|b" in rendered(table)


def test_rows_of_a_table_that_utf_8_cannot_hold(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.csv", [{"agent": name, "n": 1} for name in NAMES])
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        assert [row["agent"] for row in csv.DictReader(file)] == [name.replace("\udcff", r"\udcff") for name in NAMES]


def test_a_study_finds_its_games_again(tmp_path: Path) -> None:
    """Also games of an agent whose name is not UTF-8."""
    store = Store(tmp_path)
    for name in NAMES:
        cell = Cell(f"{name} base", [Named(name)], Config(players=1), 3, 5)
        store.keep(cell, 0, play_rounds(cell.agents, cell.config, [5, 6, 7], cell.lineups))
        kept = played(cell, store)
        assert kept is not None and kept.agents == (name,) and kept.seeds.tolist() == [5, 6, 7]
    assert len(list((tmp_path / "games").iterdir())) == len(NAMES)


def test_the_name_of_a_file_is_never_too_long(tmp_path: Path) -> None:
    """Systems limit bytes, and a letter can have four of them."""
    for name in (*NAMES, "雨" * 90, "𝔘" * 90):
        assert len(slug(name).encode()) <= 40 and slug(name).replace(".", "").replace("+", "").isprintable()
    agents = [Named(f"{i}{'𝔘' * 90}") for i in range(5)]
    replays = ReplayFiles(tmp_path / "replays")
    results = matches.play_match(agents, Config(players=5), [1], record_actions=True)
    replays.add(results, results.agents)
    assert len(list((tmp_path / "replays").iterdir())) == 5


# --- Paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a path is always a text")
@pytest.mark.parametrize("command", ["evaluate", "tournament"])
def test_a_path_that_is_not_utf_8(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    path = "x$a_{b$|" + os.fsdecode(b"\xff") + ".zip"
    shutil.copy(POLICIES / "petrichor" / "versus.zip", path)
    words = [command, f"policy:{path}", "random", "--games", "2", "--output", "out", "--save-replays", "games"]
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert not left.value.code
    assert r"policy:x$a_{b$|\udcff.zip" in capsys.readouterr().out
    for replay in Path("games").iterdir():
        assert shown(f"policy:{path}") in Replay.load(replay, GAME).names


def test_long_names_play(tmp_path: Path) -> None:
    """With names as long as a path can be, every output cuts or wraps them."""
    name = f"policy:{'deep/' * 800}x.zip"
    session = TypedSession(Config(players=2), {1: Named(name)}, seed=1)
    while session.waits_for_agent:
        session.let_agent_act()
    replay = session.replay
    replay.save(tmp_path / "game.json")
    again = Replay.load(tmp_path / "game.json", GAME)
    assert again.names[1] == name
    write_page(again, tmp_path / "game.html")
    assert name in (tmp_path / "game.html").read_text(encoding="utf-8")
    assert name in Viewer(again).text(80)


def test_words_are_cut_as_little_as_needed() -> None:
    """The length is searched by bisection; letter by letter took seconds for a long path."""
    for words in ("policy:runs/mine/best.zip", "W" * 50, "iiii W iiii", "", "x"):
        for fit in (0.0, 5.0, 40.0, 90.0, 1000.0):
            for keep_end in (False, True):
                found = cut(words, 10.0, fit, keep_end=keep_end)
                left, wanted = len(words), words
                while width_of(wanted, 10.0) > fit and left:
                    left -= 1
                    end = left // 2 if keep_end else 0
                    wanted = words[: left - end] + "…" + words[len(words) - end :]
                assert found == wanted


def test_agents_of_a_web_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any name that a saved game can have works, also a long one. Others are refused at the start."""
    names = [name for name in (*NAMES, f"policy:{'deep/' * 800}x.zip") if name.isprintable()]

    def make(name: str, game: Game) -> Agent:
        return Named(name)

    monkeypatch.setattr(catalogue, "make_agent", make)
    with serving(tmp_path, agents=names) as server:
        games = server.http.get("/api/games").json()["games"]
        assert set(names) <= set(games[0]["agents"]["2"])
        for name in names:
            with server.open(server.make("petrichor", ["here", name])[0]) as page:
                assert json.dumps(name)[1:-1] in json.dumps(page.view)
        answer = server.http.post("/api/tables", content=rb'{"\ud800": 1}')
        assert answer.status_code == 400 and "unknown key" in answer.json()["error"]
    for name in {*NAMES} - {*names}:
        with pytest.raises(ConfigError, match="printable"), serving(tmp_path, agents=[name]):
            pass
