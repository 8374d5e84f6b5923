"""What environments show: pixels, windows, pictures for notebooks, and the text about the last step."""

from __future__ import annotations

import copy
import html
import itertools
import os
import pickle
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import AddRenderObservation, HumanRendering
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import petrichor_env
from petrichor_env import Batch, Config, petrichor_v0, picture, scenario
from petrichor_env.config import MODULES
from petrichor_env.drawing import action_text, render_svg
from petrichor_env.state import WEATHER_NAMES
from tabletop_engine.drawing import raster
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.drawing.raster import rgb_array
from tabletop_engine.drawing.window import Window
from tabletop_engine.envs.rendering import Rendering
from tabletop_engine.envs.single import SeatEnv
from tabletop_engine.errors import ConfigError, IllegalAction, ScenarioError, TabletopError
from tabletop_engine.play.kernels import sample_actions
from tests.support.environments import legal_action
from tests.support.hidden import swapped
from tests.support.processes import in_python

SOLO = "petrichor_env:Petrichor/Solo-v0"
VERSUS = "petrichor_env:Petrichor/Versus-v0"
QUICK: dict[str, Any] = {"opponents": ("random",)}
ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this a window would show each picture for half a second."""
    for metadata in (SeatEnv.metadata, petrichor_v0.raw_env.metadata):
        monkeypatch.setitem(metadata, "render_fps", 10_000)


def make(name: str, **arguments: Any) -> Any:
    """An environment of each kind."""
    if name == "aec":
        return petrichor_v0.env(**arguments)
    return gymnasium.make(SOLO, **arguments) if name == "solo" else gymnasium.make(VERSUS, **QUICK, **arguments)


KINDS = ("solo", "versus", "aec")


def play(env: Any, steps: int, seed: int = 0) -> None:
    """Random legal actions, in a game that goes on."""
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        env.step(legal_action({"action_mask": env.unwrapped.batch.action_masks[0]}, generator))


def told(shown: Any, viewer: int | None = None) -> str:
    """The last line of its picture, "" without one."""
    found = re.search('data-last-action="([^"]*)"', picture(shown, viewer).svg)
    return html.unescape(found[1]) if found else ""


# --- pixels ---


@pytest.mark.parametrize(("name", "arguments"), [("solo", {}), ("versus", {"seat": 1, "render_size": 97}), ("aec", {})])
def test_pixels(name: str, arguments: dict[str, Any]) -> None:
    """Each step changes the picture, which `picture` draws, too. A seat sees its own hand; PettingZoo's has all."""
    env, size = make(name, render_mode="rgb_array", **arguments), arguments.get("render_size", 640)
    assert set(env.metadata["render_modes"]) == {"ansi", "rgb_array", "human"}
    env.reset(seed=1)
    batch = getattr(env.unwrapped.batch, "batch", env.unwrapped.batch)
    viewer = None if name == "aec" else env.unwrapped.seat
    frames = [env.render()]
    np.testing.assert_array_equal(frames[0], rgb_array(render_svg(batch.states[0], viewer), size))
    for _ in range(3):
        play(env, 1)
        frames.append(env.render())
    for frame in frames:
        assert frame.shape == (size, size, 3) and frame.dtype == np.uint8
    for before, after in itertools.pairwise(frames):
        assert not np.array_equal(before, after)
    for again in (env.render(), rgb_array(picture(env).svg, size)):
        np.testing.assert_array_equal(again, frames[-1])
    assert env.close() is None
    for bad in (15, 4097, "640"):
        with pytest.raises(ConfigError, match=r"render_size=.*: must be a whole number of pixels from 16 to 4096"):
            make(name, render_mode="rgb_array", render_size=bad)


def test_numbers_of_an_overlay(tmp_path: Path) -> None:
    (tmp_path / "numbers.toml").write_text("[tiles.cotton]\nscores = [17, 1, 0, 0]\n")
    for name in KINDS:
        env = make(name, components=str(tmp_path / "numbers.toml"))
        env.reset(seed=1)
        assert 'aria-label="17/1"' in picture(env).svg


@pytest.mark.parametrize("mode", [None, "ansi"])
@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_remembered_for_text(name: str, mode: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rendering, "before_step", None)
    env = make(name, render_mode=mode)
    env.reset(seed=1)
    play(env, 3)


def test_the_package_is_imported_without_pictures() -> None:
    code = "import sys, petrichor_env; sys.exit('petrichor_env.drawing' in sys.modules or 'pygame' in sys.modules)"
    in_python(code)


@pytest.mark.parametrize("name", ["solo", "versus"])
def test_copies_draw_the_same(name: str) -> None:
    """They go on drawing and telling, too."""
    env = make(name, render_mode="rgb_array", render_size=64)
    env.reset(seed=1)
    play(env, 5)
    twins = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(2):
        for twin in twins:
            np.testing.assert_array_equal(twin.render(), env.render())
        assert len({told(twin) for twin in twins}) == 1 and told(env) != ""
        for twin in twins:
            play(twin, 4)


# --- the last action in words ---


@pytest.mark.parametrize("name", KINDS)
def test_last_action(name: str) -> None:
    env = make(name, render_mode="rgb_array", illegal_action="raise")
    env.reset(seed=1)
    assert told(env) == ""
    generator = np.random.default_rng(1)
    for _ in range(30):
        batch = getattr(env.unwrapped.batch, "batch", env.unwrapped.batch)
        before = batch.states[0].copy()
        action = legal_action({"action_mask": env.unwrapped.batch.action_masks[0]}, generator)
        env.step(action)
        last = told(env)
        assert last.startswith(f"player_{before['actor']}: {action_text(before, action)}.")
        assert len(last) <= 335 and last.endswith((".", "…"))
    with pytest.raises(IllegalAction):
        env.step(int(np.flatnonzero(env.unwrapped.batch.action_masks[0] == 0)[0]))
    assert told(env) == last
    env.reset()
    assert told(env) == ""


def test_a_refused_reset_leaves_what_is_told() -> None:
    """The position is refused only as it is played: the game ends before the learner has a decision."""
    env = make("versus", seat=0, render_mode="rgb_array")
    env.reset(seed=1)
    play(env, 3)
    before = told(env), env.unwrapped.state.tobytes()
    ending = {"players": 2, "round": 4, "passed": "player_0", "last_turns": 1, "actor": "player_1"}
    with pytest.raises(ScenarioError, match="before player_0, the learner, has a decision"):
        env.reset(options={"scenario": ending})
    assert (told(env), env.unwrapped.state.tobytes()) == before and before[0] != ""


def test_a_state_that_was_put_in_is_shown_alone() -> None:
    env = make("aec", render_mode="rgb_array")
    env.reset(seed=1)
    play(env, 3)
    batch = env.unwrapped.batch
    batch.set_states(Batch(batch.config, 1, 2).states)
    assert told(env) == ""
    play(env, 1)
    assert told(env) != ""


def test_what_followed_is_told() -> None:
    """The picture tells the Southern Winds' turn, votes, and the end."""
    env = make("solo", render_mode="rgb_array")
    _, info = env.reset(seed=1)
    generator = np.random.default_rng(1)
    lines, terminated = [], False
    while not terminated:
        _, _, terminated, _, info = env.step(legal_action(info, generator))
        lines.append(told(env))
    assert any("Southern Winds card" in line for line in lines)
    assert any("places a vote" in line for line in lines)
    assert any(
        re.fullmatch(r"player_0: vote for \w+\. player_0 places a vote on \w+, now \d\.", line) for line in lines
    )


@pytest.mark.parametrize("name", KINDS)
def test_illegal_actions(name: str) -> None:
    for illegal_action, more in (("lose", "player_. forfeits the game. The game is over."), ("random", "")):
        env = make(name, render_mode="rgb_array", illegal_action=illegal_action)
        env.reset(seed=1)
        env.step(int(np.flatnonzero(env.unwrapped.batch.action_masks[0] == 0)[0]))
        assert re.match(f"player_.: an action that is not legal. ?{more}", told(env))


def test_nothing_hidden_is_shown() -> None:
    """All that this seat can't see differs: the picture stays the same, and no word tells what others kept."""
    kinds = "|".join(WEATHER_NAMES)
    hidden = re.compile(
        rf"player_[02] (keeps|gets|is dealt a pack of)[^.]*({kinds})|player_[02]: (keep (?!a card)|play no forecast)"
        "|player_[02] gets forecast card"
    )
    generator = np.random.default_rng(1)
    env = make("versus", seat=1, players=3, drafting=True, modules=MODULES, render_mode="rgb_array")
    aec = make("aec", num_players=3, drafting=True, modules=MODULES, render_mode="rgb_array")
    for one in (env, aec):
        one.reset(seed=5)
        batch = getattr(one.unwrapped.batch, "batch", one.unwrapped.batch)
        lines, times = set(), Counter[int]()
        while batch.actors[0] >= 0:
            last = told(one, 1)
            assert not hidden.search(last), last
            lines.add(last)
            decision = int(batch.states[0]["decision"])
            times[decision] += 1
            if times[decision] < 4 or times[decision] % 4 == 0:  # pictures take milliseconds
                drawn = picture(one, 1).svg
                true = batch.states.copy()
                batch.states[:] = swapped(true, 1, generator)
                # the sentence on what was done compares two states
                told_with = re.compile(' data-last-action="[^"]*"|<rect[^>]*y="898".*', re.DOTALL)
                assert told_with.sub("", picture(one, 1).svg) == told_with.sub("", drawn)
                batch.states[:] = true
            play(one, 1, int(generator.integers(1000)))
        assert len(lines) > 30
    assert any("keep a card" in line for line in lines)


# --- batches ---


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_batch_shows_what_single_environments_show(mode: AutoresetMode) -> None:
    arguments: dict[str, Any] = {"render_mode": "rgb_array", "render_size": 32}
    native: Any = gymnasium.make_vec(SOLO, num_envs=2, autoreset_mode=mode, **arguments)
    singles: Any = SyncVectorEnv([lambda: gymnasium.make(SOLO, **arguments)] * 2, autoreset_mode=mode)
    assert native.metadata["render_modes"] == ["ansi", "rgb_array"]
    _, infos = native.reset(seed=3)
    singles.reset(seed=3)
    generator = np.random.default_rng(1)
    ended, since = 0, 0  # steps since the start or the end of a game
    while ended < 2:
        if since < 10 or since % 4 == 0:
            for ours, theirs in zip(native.render(), singles.render(), strict=True):
                np.testing.assert_array_equal(ours, theirs)
        actions = sample_actions(infos["action_mask"], generator)
        _, _, terminations, _, infos = native.step(actions)
        since = 0 if terminations.any() else since + 1
        singles.step(actions)
        ended += terminations.sum()
    for ours, theirs in zip(native.render(), singles.render(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_batch_of_seats() -> None:
    envs: Any = gymnasium.make_vec(VERSUS, num_envs=3, **QUICK, render_mode="rgb_array", render_size=64, players=3)
    _, infos = envs.reset(seed=1)
    first = envs.render()
    envs.step(sample_actions(infos["action_mask"], np.random.default_rng(1)))
    frames = envs.render()
    assert len(frames) == 3 and all(frame.shape == (64, 64, 3) for frame in frames)
    assert not any(np.array_equal(*pair) for pair in zip(first, frames, strict=True))
    games = envs.unwrapped.batch
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    for game, frame in enumerate(envs.render()):
        untold = rgb_array(render_svg(games.batch.states[game], int(games.seats[game])), 64)
        assert np.array_equal(frame, untold) is (game == 1), "a game that has started tells nothing"
    for bad in ({"render_mode": "human"}, {"render_mode": "rgb_array", "render_size": 0}):
        with pytest.raises(ConfigError, match="render_"):
            gymnasium.make_vec(VERSUS, num_envs=2, **QUICK, **bad)


# --- others' wrappers ---


def test_wrappers() -> None:
    env: Any = gymnasium.make(SOLO, render_mode="rgb_array_list", render_size=64)
    env.reset(seed=1)
    play(env, 3)
    assert [frame.shape for frame in env.render()] == [(64, 64, 3)] * 4
    env = AddRenderObservation(make("versus", render_mode="rgb_array", render_size=64))
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    np.testing.assert_array_equal(observation, env.unwrapped.render())
    with HumanRendering(make("solo", render_mode="rgb_array", render_size=64)) as env:
        env.reset(seed=1)
        play(env, 2)
    env = turn_based_aec_to_parallel(make("aec", render_mode="rgb_array", render_size=64))
    env.reset(seed=1)
    assert env.render().shape == (64, 64, 3)
    env.close()


def test_recording_a_video(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    from gymnasium.wrappers import RecordVideo

    recorded = make("solo", render_mode="rgb_array", render_size=64)
    with RecordVideo(recorded, str(tmp_path / "videos"), disable_logger=True) as env:
        env.reset(seed=1)
        play(env, 3)
    assert [path.suffix for path in (tmp_path / "videos").iterdir()] == [".mp4"]


# --- the window ---


class Display:
    """The open windows, and what they show."""

    def __init__(self) -> None:
        self.opened: list[Any] = []
        self.shown = 0

    def window(self, title: str, size: tuple[int, int]) -> Any:
        self.opened.append(self.original(title, size))
        return self.opened[-1]

    original = staticmethod(pygame.Window)

    def pixels(self) -> np.ndarray:
        return np.asarray(pygame.surfarray.array3d(self.opened[-1].get_surface()).swapaxes(0, 1))

    def press_close_button(self, number: int = -1) -> None:
        pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=self.opened[number]))


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[Display]:
    made = Display()
    monkeypatch.setattr(pygame, "Window", made.window)
    yield made
    pygame.quit()


@pytest.mark.parametrize("name", KINDS)
def test_window(name: str, display: Display) -> None:
    """The window shows what `rgb_array` gives, after every reset and step."""
    env, other = (make(name, render_mode=mode, render_size=200) for mode in ("human", "rgb_array"))
    assert not display.opened
    for one in (env, other):
        one.reset(seed=1)
    np.testing.assert_array_equal(display.pixels(), other.render())
    for _ in range(3):
        for one in (env, other):
            play(one, 1)
        np.testing.assert_array_equal(display.pixels(), other.render())
    assert env.render() is None
    for one in (env, other):
        one.reset()
    np.testing.assert_array_equal(display.pixels(), other.render())
    assert len(display.opened) == 1 and display.opened[0].title == "Petrichor"
    env.close()
    env.close()
    with pytest.raises(pygame.error):
        display.opened[0].flip()
    env.reset(seed=1)
    assert len(display.opened) == 2
    env.close()


def test_close_button(display: Display, monkeypatch: pytest.MonkeyPatch) -> None:
    """The button closes the window for good. The game goes on without it, and nothing is drawn for it."""
    env, other = (make("solo", render_mode="human", render_size=100) for _ in range(2))
    env.reset(seed=1)
    other.reset(seed=1)
    display.press_close_button(0)
    play(other, 1)
    assert len(display.opened) == 2 and not other.unwrapped._rendering._window.is_closed_by_user
    play(env, 1)
    assert env.unwrapped._rendering._window.is_closed_by_user
    with monkeypatch.context() as patch:
        patch.setattr(Rendering, "svg", None)
        play(env, 3)
        env.reset(seed=2)
        assert env.render() is None and len(display.opened) == 2
    play(other, 1)
    env.close()
    env.reset(seed=2)
    assert len(display.opened) == 3
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    play(env, 1)
    assert env.unwrapped._rendering._window.is_closed_by_user


def test_others_may_use_pygame_too(display: Display) -> None:
    env = make("aec", render_mode="human", render_size=100)
    env.reset(seed=1)
    pygame.quit()
    play(env, 1)
    assert len(display.opened) == 2
    env.close()


def test_pictures_stay_for_a_while(display: Display) -> None:
    window = Window("test")
    first, second = np.zeros((20, 30, 3), np.uint8), np.ones((20, 30, 3), np.uint8)
    start = time.monotonic()
    window.show(first, 0.001)
    window.show(first, 0.001)  # the window is open already
    assert time.monotonic() - start < 5
    assert display.opened[0].size == (30, 20)
    start = time.monotonic()
    window.show(second, 10)
    assert time.monotonic() - start >= 0.05
    assert display.pixels().all()
    display.press_close_button()
    window.show(first, 0.001)  # nobody waits for a closed window
    assert window.is_closed_by_user and time.monotonic() - start < 5


def test_copies_open_their_own_window(display: Display) -> None:
    env = make("solo", render_mode="human", render_size=100)
    env.reset(seed=1)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        play(twin, 1)
        twin.close()
    play(env, 1)
    assert len(display.opened) == 3
    env.close()


# --- where something is missing ---


@pytest.mark.parametrize("name", KINDS)
def test_no_screen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(variable, raising=False)
    message = 'there is no screen .*use render_mode="rgb_array" or "ansi" instead, or play in the terminal'
    with pytest.raises(TabletopError, match=message):
        make(name, render_mode="human")
    env = make(name, render_mode="rgb_array", render_size=64)
    env.reset(seed=1)
    assert env.render() is not None


@pytest.mark.parametrize("named", [{"SDL_VIDEODRIVER": "nothing"}, {"DISPLAY": ":987"}], ids=str)
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere SDL asks no variable for the screen")
def test_a_screen_that_refuses(named: dict[str, str]) -> None:
    code = f"import gymnasium; gymnasium.make('{SOLO}', render_mode='human')"
    environment = {key: value for key, value in os.environ.items() if key not in ("SDL_VIDEODRIVER", "WAYLAND_DISPLAY")}
    program = [sys.executable, "-c", code]
    ran = subprocess.run(program, cwd=ROOT, env=environment | named, capture_output=True, text=True, check=False)
    assert "TabletopError" in ran.stderr and "there is no screen" in ran.stderr


@pytest.mark.parametrize("name", KINDS)
def test_the_extra_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window fails when it is made. Pictures fail when one is drawn: learners ask for the mode and never draw."""
    for library in ("pygame", "thorvg_python"):
        monkeypatch.setitem(sys.modules, library, None)
    raster._thorvg.cache_clear()
    with pytest.raises(TabletopError, match=r"petrichor-env\[render\]"):
        make(name, render_mode="human")
    env = make(name, render_mode="rgb_array")
    env.reset(seed=1)
    play(env, 3)
    with pytest.raises(TabletopError, match=r"petrichor-env\[render\]"):
        env.render()
    raster._thorvg.cache_clear()


# --- pictures for notebooks ---


def test_picture_of_an_environment() -> None:
    """As `render` shows it, or for another seat, with wrappers and without."""
    for name in KINDS:
        env = make(name)
        env.reset(seed=1)
        play(env, 3)
        drawn = picture(env)
        assert isinstance(drawn, Picture) and drawn == picture(env.unwrapped)
        assert drawn._repr_svg_() == drawn.svg and drawn.svg.startswith("<svg")
    game = env.unwrapped.game
    assert drawn.svg == render_svg(game) != picture(env, 1).svg == render_svg(game, 1)
    with pytest.raises(TabletopError, match="viewer=2: must be a seat from 0 to 1"):
        picture(env, 2)


def test_picture_of_a_state() -> None:
    batch = Batch(Config(players=3), 2, seed=1)
    for one in (scenario({"players": 3}), batch.states[1], np.array(batch.states[0])):
        for viewer in (None, 2):
            assert picture(one, viewer).svg == render_svg(np.asarray(one).reshape(1)[0], viewer)
    for one in (None, "solo", {"players": 2}, np.zeros(3), gymnasium.make_vec(SOLO, num_envs=2), batch, batch.states):
        with pytest.raises(TabletopError, match=r"can't be drawn: an environment of one game, or one state such as"):
            picture(one)
    assert petrichor_env.picture is picture
