"""`petrichor replay FILE` in the terminal: what is shown, and that only the right keys and lines end it."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from petrichor_env import Batch, Config
from petrichor_env.drawing import events, render_text
from petrichor_env.game import GAME
from petrichor_env.state import NOBODY, Decision
from tabletop_engine.errors import ConfigError, ReplayError
from tabletop_engine.replays import viewer as replay_viewer
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.viewer import KeyControl, Viewer, by_lines, help_in, keys_in
from tests.support.terminal import ROOT, Terminal

RIGHT, LEFT, DOWN, HOME, END = (f"\x1b[{letter}" for letter in "CDBHF")
PAGE_UP, PAGE_DOWN = "\x1b[5~", "\x1b[6~"
PROGRAM = (
    "import sys; from petrichor_env.game import GAME; from tabletop_engine.replays.viewer import main; "
    "main(sys.argv[1], GAME)"
)
COMMAND = ("-c", PROGRAM)


@lru_cache
def replay() -> Replay:
    """Three players with a draft. Each decision has probabilities: the played action 40 %, nine others the rest."""
    batch = Batch(Config(players=3, drafting=True), 1, 4, autoreset="disabled")
    actions, shares = [], []
    while batch.actors[0] != NOBODY:
        action = batch.random_actions()
        others = [int(a) for a in batch.action_masks[0].nonzero()[0] if a != action[0]][:9]
        shares.append({int(action[0]): 0.4, **{other: 0.6 / len(others) for other in others}})
        actions.append(int(action[0]))
        batch.step(action)
    return Replay.of(batch.config, 4, actions, names=("ann", "bob", "cid"), probabilities=shares)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    replay().save(tmp_path / "game.json")
    return tmp_path / "game.json"


# --- What is shown ---------------------------------------------------------------------------------------------------


def test_every_step_shows_board_action_and_changes() -> None:
    viewer = Viewer(replay(), colour=False)
    for step, frame in enumerate(viewer.frames):
        viewer.go(step)
        text = viewer.text()
        assert render_text(frame.state) in text
        if step:
            before = viewer.frames[step - 1]
            assert text.startswith(f"{replay().label(frame.last_actor)}: {frame.last_action}\n")
            above = text[: text.index(render_text(frame.state))]  # the board is longer than many a screen
            assert all(f"- {sentence}" in above for sentence in events(before.state, before.action))
            assert (" gives" in above) == bool(frame.probabilities)
        else:
            assert text.startswith("3p-draft, seed 4: player_0 (ann), player_1 (bob), player_2 (cid)\n")
        assert "\x1b" not in text
        assert all(len(line) <= 100 for line in text.splitlines()[2:])
    assert viewer.place() == f"Step {viewer.last} of {viewer.last}, round 4"


def test_probabilities_are_shown_with_what_was_played() -> None:
    viewer = Viewer(replay(), colour=False)
    step = next(step for step, frame in enumerate(viewer.frames) if len(frame.probabilities) > 6)
    viewer.go(step)
    lines = [line for line in viewer.text().splitlines() if re.match(r" +\d+\.\d %", line)]
    assert len(lines) == 7
    assert lines[0].startswith("  40.0 %") and lines[0].endswith("(played)")
    assert f"{len(viewer.frames[step].probabilities) - 6} others" in lines[-1]


def test_a_seats_view_hides_what_others_hold() -> None:
    """It is told no seed, from which all hands could be dealt again."""
    viewer = Viewer(replay(), seat=1, colour=False)
    assert viewer.text().startswith("3p-draft: player_0 (ann), ") and "seed" not in viewer.text()
    drafted = [
        frame.step for frame in viewer.frames[1:] if viewer.frames[frame.step - 1].state["decision"] == Decision.DRAFT
    ]
    for step in drafted:
        viewer.go(step)
        frame = viewer.frames[step]
        shown = viewer.text()
        assert render_text(frame.state, 1) in shown
        assert ("keep a card" in shown.splitlines()[0]) == (frame.last_actor != 1)
        assert (" gives" in shown) == (frame.actor == 1)
    viewer.next_view()
    assert (viewer.seat, "player_2 sees it" in viewer.place()) == (2, True)
    viewer.next_view()
    assert viewer.seat is None
    for wrong in (3, -1, True):
        with pytest.raises(ConfigError, match="seat"):
            Viewer(replay(), wrong)


def test_views_keep_the_place() -> None:
    """While others are asked for forecast cards, a seat's view stays at the step before."""
    batch = Batch(Config(players=2, modules=("forecasts",)), 1, 3, autoreset="disabled")
    actions = []
    while batch.actors[0] != NOBODY:
        actions.append(int(batch.random_actions()[0]))
        batch.step(actions[-1:])
    viewer = Viewer(Replay.of(batch.config, 3, actions), colour=False)
    every = viewer.frames
    lengths = set()
    for step, frame in enumerate(every):
        viewer.go(step)
        for seat in (0, 1, None):
            viewer.next_view()
            assert viewer.seat == seat and viewer.frames[-1].number == every[-1].number
            lengths.add(len(viewer.frames))
            assert viewer.frames[viewer.step].number <= step
            assert [one.step for one in viewer.frames] == list(range(len(viewer.frames)))
        if frame.state["decision"] != Decision.FORECAST:
            assert viewer.step == step
    assert len(lengths) > 1


def test_moving() -> None:
    viewer = Viewer(replay())
    viewer.go(-5)
    assert viewer.step == 0
    viewer.go(10**9)
    assert viewer.step == viewer.last
    viewer.go(0)
    rounds = []
    for _ in range(3):
        viewer.go_round(forward=True)
        rounds.append((viewer.step, int(viewer.frames[viewer.step].state["round"])))
    assert [number for _, number in rounds] == [2, 3, 4]
    assert all(viewer.frames[step - 1].state["round"] == number - 1 for step, number in rounds)
    viewer.go_round(forward=True)
    assert viewer.step == viewer.last
    viewer.go_round(forward=False)
    assert viewer.step == rounds[-1][0]
    for _ in range(4):
        viewer.go_round(forward=False)
    assert viewer.step == 0


# --- Lines -----------------------------------------------------------------------------------------------------------


def obey(*lines: str) -> tuple[Viewer, list[str]]:
    viewer = Viewer(replay(), colour=False)
    shown: list[str] = []
    by_lines(viewer, lines, shown.append)
    return viewer, shown


def test_lines() -> None:
    viewer, shown = obey("n", "", "next", "12", "back", "B ")
    assert [int(text.split()[2]) for text in shown] == [0, 1, 2, 3, 12, 11, 10]
    assert obey("last")[0].step == viewer.last
    assert obey("last", "first")[0].step == 0
    assert obey("r")[0].step == obey("round")[0].step > 1
    assert obey("9" * 9)[0].step == viewer.last
    assert len(obey("auto")[1]) == viewer.last + 1
    assert obey("v")[0].seat == 0
    assert obey("quit", "n")[0].step == obey("q", "n")[0].step == 0


def test_lines_that_are_no_commands_end_nothing() -> None:
    for wrong in ("x", "-1", "1.5", "nn", "9" * 5000, "²", "\x1b[C", "\0", "nextt", "quit now"):
        viewer, shown = obey(wrong, "n")
        assert viewer.step == 1
        assert len(shown) == 3 and "is not a command" in shown[1]
        assert all(letter.isprintable() or letter == "\n" for letter in shown[1])
    assert "quit" in obey("help")[1][1]
    assert obey("?")[1][1] == obey("h")[1][1]


def run(arguments: list[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *COMMAND, *arguments], input=given, cwd=ROOT, capture_output=True, check=False, timeout=300
    )


def test_without_a_terminal_lines_are_read(file: Path) -> None:
    done = run([str(file)], b"n\n\xff\xfe\n\n4")
    assert done.returncode == 0 and done.stderr == b""
    text = done.stdout.decode()
    assert re.findall(r"=== Step (\d+)", text) == ["0", "1", "2", "4"]
    assert "is not a command" in text and "\x1b" not in text


# --- Keys ------------------------------------------------------------------------------------------------------------


def press(*keys: str) -> KeyControl:
    """The state of a viewer after these keys. The last key ends it."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        control = KeyControl(Viewer(replay()), 0.05)
        for key in keys:
            pipe.send_text(key)
        control.run()
    return control


@pytest.mark.parametrize(
    ("keys", "step"),
    [
        ((RIGHT, " ", "\r", "n"), 4),
        ((RIGHT, RIGHT, LEFT), 1),
        (("9", LEFT, "n"), 1),
        (("1", "2", "\r"), 12),
        (("1", "2", "\r", "\x7f", "b"), 10),
        (("1", "2", "\r", HOME, "n"), 1),
        ((END, "f"), 0),
        (("l", "b", "l", "n"), -1),
        (("9",) * 12 + ("\r",), -1),
        (("h", "n"), 1),
        (("r", "R"), 0),
        ((PAGE_DOWN, PAGE_UP, "n"), 1),
        (("x", "Q", "ä", "\x01", "\x1b[15~", "\t", "/", "\x1b[Z", RIGHT), 1),
        (("a", "a", "n"), 1),
        (("a", "n", "n"), 2),
        (("+", "-", "=", DOWN, DOWN, "v", "?"), 0),
    ],
)
def test_keys(keys: tuple[str, ...], step: int) -> None:
    control = press(*keys, "q")
    assert control.viewer.step == (step if step >= 0 else control.viewer.last)


def test_views_and_speed() -> None:
    control = press("v", "v", "+", "+", "-", "q")
    assert control.viewer.seat == 1
    assert control.seconds == 0.1
    assert press(*"+" * 30, "q").seconds == 0.05
    assert press(*"-" * 30, "q").seconds == 20
    for key in ("q", "\x03", "\x04"):  # each of them ends it
        assert press("n", key, "n").viewer.step == 1


def test_in_a_terminal(file: Path) -> None:
    last = len(replay().actions)
    with Terminal([*COMMAND, str(file)]) as terminal:
        assert "seed 4: player_0 (ann), player_1 (bob)" in terminal.wait_for(f"Step 0 of {last}")
        terminal.press(RIGHT)
        assert "player_2 is asked to keep a card" in terminal.wait_for("Step 1 of")
        terminal.press("x", "\x1b[15~", "5")
        terminal.wait_for("go to step 5")
        terminal.press("\r")
        screen = terminal.wait_for(f"Step 5 of {last}, round 1")
        assert "a2" in screen and "(played)" in screen
        terminal.press("z")
        terminal.wait_for("'z' does nothing; h: help")
        terminal.press("h")
        terminal.wait_for("play on its own, and stop")
        terminal.press("h", "+", "+", "+", "+", "+", "a")
        terminal.wait_for("plays on its own")
        terminal.wait_for("Step 1")  # 10 to 19 or 100 to 199, because a slow machine does not show every step
        terminal.press(END)
        assert "game over" in terminal.wait_for(f"Step {last} of {last}")
        terminal.press("q")
        assert terminal.wait_for_end() == 0
        assert f"left at step {last} of {last}." in str(terminal.screen)
        assert "\x1b[0;38;5;" in terminal.written  # in colour


@pytest.mark.slow
def test_in_a_small_terminal(file: Path) -> None:
    """By lines and by pages; the status says where there is more, and a step shows what happened again."""
    with Terminal([*COMMAND, str(file)], rows=24, columns=60) as terminal:
        screen = terminal.wait_for("↓ more")
        assert "↑↓ scroll" in screen and "q quit" in screen and "↑↓ more" not in screen
        assert "ann" in screen.split("\n")[0] and "Harvest dice" not in screen
        terminal.press("d")
        screen = terminal.wait_for("↑↓ more")
        assert "ann" not in screen
        terminal.press("d", "d", "d", "d")
        terminal.wait_for("| ↑ more")
        terminal.press("v")
        assert "Deck:" in terminal.wait_for("player_0 sees it")
        terminal.press("n")
        screen = terminal.wait_for("Step 1 of")
        assert ": keep a card" in screen.split("\n")[0] and "↑" not in screen.split("\n")[-2]
        terminal.press(DOWN, DOWN)
        terminal.wait_for("↑↓ more")
        terminal.press("u")
        terminal.wait_for("| ↓ more")
        terminal.press(*[DOWN] * 60)
        terminal.wait_for("Harvest dice")
        terminal.press("\x03")
        assert terminal.wait_for_end() == 0


def test_keys_and_help_fit() -> None:
    for columns in (120, 100, 80, 60, 40):
        assert len(keys_in(columns)) <= columns
        assert keys_in(columns).endswith("h help  q quit") and "↑↓ scroll" in keys_in(columns)
        assert max(map(len, help_in(columns))) <= columns
        assert len(help_in(columns)) == (7 if columns == 120 else 14) or columns == 40


def test_files_and_arguments_that_are_wrong(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match=r"no\.json"):
        replay_viewer.main(tmp_path / "no.json", GAME)
    for seconds in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match="seconds"):
            replay_viewer.main(file, GAME, seconds=seconds)
    with pytest.raises(ConfigError, match="seat"):
        replay_viewer.main(file, GAME, seat=3)
