"""The command `replay FILE`: steps through a game by keys in a terminal, or by lines of text without one."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tabletop_engine.checks import checked
from tabletop_engine.drawing.lines import Words, fit, in_columns, joined
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import Game
from tabletop_engine.replays.replay import Frame, Replay, events_for, frames
from tabletop_engine.text import terminal

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

SECONDS = 1.0
"""The default time of a step during automatic play, in seconds."""

_HELP = {
    "right, space, enter, n": "next step",
    "left, backspace, b": "step back",
    "r, page down": "next round",
    "R, page up": "round back",
    "home, f": "the start",
    "end, l": "the end",
    "12 enter": "go to step 12",
    "up, down": "scroll by a line",
    "u, d": "scroll by a page",
    "a": "play on its own, and stop",
    "+, -": "faster, slower",
    "v": "whose view: all, or a seat's",
    "h, ?": "this help",
    "q": "quit",
}
"""The keys and their effects."""
_HELP_FOR_LINES = """\
next (or an empty line), back, round, first, last, a number: go to that step, auto: all that follows, view: all hands
or one seat's, help, quit. The first letter is enough."""
_KEYS = ("→ next", "← back", "↑↓ scroll", "r round", "12⏎ go to", "a auto", "v view", "h help", "q quit")
_DISPENSABLE_KEYS = (4, 3, 6, 5, 1, 0, 2)
"""The keys of `_KEYS` to leave out if they don't fit, in this order."""
_MOST_ACTIONS = 6
"""The number of actions whose probabilities are shown."""


class Viewer:
    """A place in a replay, and the text to show there.

    Arguments:
        replay: the replay. Unless it was loaded from a file, it is played to its end and checked.
        seat: the seat that looks on; None shows all hands.
        colour: whether the text has ANSI colours.

    Raises ReplayError, with the step, for a replay that differs, and ConfigError for a seat that the game doesn't have.
    """

    @checked
    def __init__(self, replay: Replay, seat: int | None = None, colour: bool = True) -> None:
        replay.check_seat(seat)
        self.replay = replay
        self.game: Game = replay.game
        self.seat: int | None = seat
        self.colour = colour
        self.frames: list[Frame] = list(frames(replay, seat))
        self.step: int = 0

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.frames) - 1

    def go(self, step: int) -> None:
        """Go to a step, or to the nearest one that exists."""
        self.step = max(0, min(step, self.last))

    def go_round(self, forward: bool) -> None:
        """Go forward to the start of the next round, or back to the start of this round or of the previous one."""
        rounds = [int(frame.state["round"]) for frame in self.frames]
        starts = [step for step in range(1, len(rounds)) if rounds[step] != rounds[step - 1]]
        if forward:
            self.go(next((step for step in starts if step > self.step), self.last))
        else:
            self.go(next((step for step in reversed(starts) if step < self.step), 0))

    def next_view(self) -> None:
        """Change the view: all hands, then each seat in turn. The place stays, or is the last one before it."""
        seats = [None, *range(self.replay.config.players)]
        self.seat = seats[(seats.index(self.seat) + 1) % len(seats)]
        now = self.frames[self.step].number
        self.frames = list(frames(self.replay, self.seat))
        self.go(sum(frame.number <= now for frame in self.frames) - 1)

    def text(self, columns: int = sys.maxsize) -> str:
        """The last action, its effects and the probabilities of the next action; then the board at this step."""
        frame = self.frames[self.step]
        board = self.game.drawing.text_blocks(frame.state, self.seat, self.colour, self.replay.tables)
        done = f"{self.replay.label(frame.last_actor)}: {frame.last_action}" if frame.step else self._title()
        title = terminal.painted(done, terminal.BOLD, self.colour)
        return joined([Words([title, *self._about(frame), ""]), *board], columns)

    def place(self) -> str:
        """The place in words, `Step 12 of 60, round 2`, and the viewer."""
        state, names = self.frames[self.step].state, self.game.words.owner_names(self.replay.config.players)
        in_round = f", round {state['round']}" if state["rounds"] > 1 else ""
        view = "" if self.seat is None else f", as {names[self.seat]} sees it"
        return f"Step {self.step} of {self.last}{in_round}{view}"

    def _title(self) -> str:
        replay = self.replay
        start = "a described position" if replay.seed is None else f"seed {replay.seed}"
        players = ", ".join(replay.label(seat) for seat in range(replay.config.players))
        # the seed would reveal all hands
        return f"{replay.config.name}{f', {start}' if self.seat is None else ''}: {players}"

    def _about(self, frame: Frame) -> list[str]:
        lines = [f"- {sentence}" for sentence in events_for(self.replay, frame, self.seat)]
        if frame.probabilities and self.seat in (None, frame.actor):
            lines += ["", f"{self.replay.label(frame.actor)} gives"]
            likeliest = sorted(frame.probabilities.items(), key=lambda pair: -pair[1])
            for action, share in likeliest[:_MOST_ACTIONS]:
                line = f"{100 * share:6.1f} %  {self.game.words.action_text(frame.state, action)}"
                if action == frame.action:
                    line = terminal.painted(f"{line} (played)", terminal.BOLD, self.colour)
                lines.append(line)
            if len(likeliest) > _MOST_ACTIONS:
                rest = sum(share for _, share in likeliest[_MOST_ACTIONS:])
                others = f"{100 * rest:6.1f} %  {len(likeliest) - _MOST_ACTIONS} others"
                lines.append(terminal.painted(others, terminal.FAINT, self.colour))
        return lines


def main(
    file: str | Path, game: Game, *, seat: int | None = None, seconds: float = SECONDS, colour: bool | None = None
) -> None:
    """Show a replay until the user quits.

    Arguments:
        file: a file that `Replay.save` wrote, or an evaluation with `save_replays`.
        game: the game of the replay.
        seat: the seat that looks on at first; None shows all hands.
        seconds: the time of each step during automatic play.
        colour: whether to print in colour; None: in a terminal, unless NO_COLOR is set in the environment.

    Raises ReplayError for a bad replay, and ConfigError for bad arguments.
    """
    if not (math.isfinite(seconds) and seconds > 0):
        raise ConfigError(f"seconds={seconds}: must be a number above 0")
    replay = Replay.load(file, game)
    viewer = Viewer(replay, seat, terminal.wants_colour(colour))
    if terminal.obeys_sequences() and terminal.is_terminal(sys.stdin):
        KeyControl(viewer, seconds).run()
        print(f"{file}: left at step {viewer.step} of {viewer.last}.")
        return
    terminal.forgive_bytes()
    try:
        by_lines(viewer, sys.stdin, lambda text: print(text, flush=True))
    except BrokenPipeError:  # such as by `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_COMMANDS: dict[str, tuple[Sequence[str], Callable[[Viewer], None]]] = {
    "next": (("right", " ", "n"), lambda viewer: viewer.go(viewer.step + 1)),
    "back": (("left", "backspace", "b"), lambda viewer: viewer.go(viewer.step - 1)),
    "round": (("pagedown", "r"), lambda viewer: viewer.go_round(forward=True)),
    "round back": (("pageup", "R"), lambda viewer: viewer.go_round(forward=False)),
    "first": (("home", "f"), lambda viewer: viewer.go(0)),
    "last": (("end", "l"), lambda viewer: viewer.go(viewer.last)),
    "view": ("v", Viewer.next_view),
}
"""The commands that lines and keys share: the word of a line, the keys, the effect."""


# --- Lines -----------------------------------------------------------------------------------------------------------


def by_lines(viewer: Viewer, lines: Iterable[str] | TextIO, show: Callable[[str], None]) -> None:
    """Obey one command in each line, until `quit` or the last line. For other lines it shows the commands."""

    def show_step() -> None:
        show(f"=== {viewer.place()}\n{viewer.text(terminal.columns_of_output())}\n")

    show_step()
    for line in lines:
        word = "help" if line.strip() == "?" else line.strip().lower()
        if word.isascii() and word.isdecimal() and len(word) < 10:
            viewer.go(int(word))
            show_step()
            continue
        command = next((name for name in (*_COMMANDS, "auto", "help", "quit") if name.startswith(word)), None)
        if command == "quit":
            return
        if command is None:
            show(f"{line.strip()!r:.40} is not a command. {_HELP_FOR_LINES}")
        elif command == "help":
            show(_HELP_FOR_LINES)
        elif command == "auto":
            while viewer.step < viewer.last:
                viewer.go(viewer.step + 1)
                show_step()
        else:
            _COMMANDS[command][1](viewer)
            show_step()


# --- Keys ------------------------------------------------------------------------------------------------------------

_FASTEST, _SLOWEST = 0.05, 20.0


def help_in(columns: int) -> list[str]:
    """The keys and their effects, as lines."""
    wide = max(map(len, _HELP)) + 2
    entries = [f"  {keys:{wide}} {does}" for keys, does in _HELP.items()]
    return fit("\n".join(in_columns(entries, columns)), columns).split("\n")


def keys_in(columns: int) -> str:
    """The keys in one line. The less important ones are left out if they don't fit."""
    left_out: set[int] = set()
    for number in (*_DISPENSABLE_KEYS, -1):
        text = "  ".join(key for i, key in enumerate(_KEYS) if i not in left_out)
        if len(text) <= columns:
            break
        left_out.add(number)
    return text


class KeyControl:
    """The replay on the whole screen, moved by keys. For a key without a meaning it shows a hint."""

    def __init__(self, viewer: Viewer, seconds: float = SECONDS) -> None:
        self.viewer: Viewer = viewer
        self.seconds: float = seconds
        self._digits = ""
        self._hint = ""
        self._scrolled = self._hidden = 0
        self._help = False
        self._playing: asyncio.Task[None] | None = None
        self._app = self._application()

    def run(self) -> None:
        """Show the replay until `q`, Ctrl-C, or the end of the input."""
        with contextlib.suppress(EOFError):
            self._app.run()

    def _application(self) -> Application[None]:
        from prompt_toolkit.application import Application  # the other commands start without it
        from prompt_toolkit.formatted_text import ANSI
        from prompt_toolkit.layout import FormattedTextControl, HSplit, Layout, Window

        body = FormattedTextControl(lambda: ANSI("\n".join(self._lines())), focusable=True, show_cursor=False)
        keys = FormattedTextControl(lambda: keys_in(self._app.output.get_size().columns))
        status = Window(FormattedTextControl(self._status), height=1, style="reverse")
        layout = Layout(HSplit([Window(body), status, Window(keys, height=1)]))
        return Application(layout=layout, key_bindings=self._bindings(), full_screen=True)

    def _bindings(self) -> KeyBindings:
        from prompt_toolkit.key_binding import KeyBindings

        bindings = KeyBindings()

        def bind(keys: Iterable[str], action: Callable[[], None]) -> None:
            def pressed(event: KeyPressEvent) -> None:
                self._hint = ""
                action()

            for key in keys:
                bindings.add(key)(pressed)

        for keys, command in _COMMANDS.values():
            bind(keys, partial(self._obey, command))
        for digit in "0123456789":
            bind(digit, partial(self._type, digit))
        bind(["enter"], self._enter)
        bind(["escape"], partial(self._type, ""))
        bind(["a"], self._auto)
        bind("+=", partial(self._faster, 0.5))
        bind("-", partial(self._faster, 2.0))
        bind(["up"], partial(self._scroll, -1))
        bind(["down"], partial(self._scroll, 1))
        bind(["u"], lambda: self._scroll(-self._page))
        bind(["d"], lambda: self._scroll(self._page))
        bind("h?", self._toggle_help)
        bind(["q", "c-c", "c-d"], lambda: self._app.exit())
        bindings.add("<any>")(self._unknown)
        return bindings

    # --- what the keys do ---

    def _obey(self, command: Callable[[Viewer], None]) -> None:
        self._stop()
        self._digits = ""
        self._help = False
        command(self.viewer)
        if command is not Viewer.next_view:
            self._scrolled = 0  # the text starts with what happened

    def _type(self, digit: str) -> None:
        self._digits = (self._digits + digit)[-9:] if digit else ""

    def _enter(self) -> None:
        step = int(self._digits) if self._digits else self.viewer.step + 1
        self._obey(lambda viewer: viewer.go(step))

    def _auto(self) -> None:
        if self._playing is not None:
            self._stop()
            return
        self._help = False
        self._playing = self._app.create_background_task(self._play())

    async def _play(self) -> None:
        while self.viewer.step < self.viewer.last:
            await asyncio.sleep(self.seconds)
            self.viewer.go(self.viewer.step + 1)
            self._app.invalidate()
        self._playing = None
        self._app.invalidate()

    def _stop(self) -> None:
        if self._playing is not None:
            self._playing.cancel()
            self._playing = None

    def _faster(self, factor: float) -> None:
        self.seconds = max(_FASTEST, min(_SLOWEST, self.seconds * factor))
        self._hint = f"{self.seconds:g} s a step"

    def _scroll(self, lines: int) -> None:
        self._scrolled += lines

    @property
    def _page(self) -> int:
        """The number of lines to scroll by a page. One line stays visible."""
        return max(1, self._app.output.get_size().rows - 3)

    def _toggle_help(self) -> None:
        self._help = not self._help
        self._scrolled = 0

    def _unknown(self, event: KeyPressEvent) -> None:
        named = repr(event.data) if event.data.isprintable() else "that key"
        self._hint = f"{named} does nothing; h: help"

    # --- what is shown ---

    def _lines(self) -> list[str]:
        """The lines of the text, from the first visible one."""
        size = self._app.output.get_size()
        lines = help_in(size.columns) if self._help else self.viewer.text(size.columns).split("\n")
        self._hidden = max(0, len(lines) - (size.rows - 2))
        self._scrolled = max(0, min(self._scrolled, self._hidden))
        return lines[self._scrolled :]

    def _status(self) -> str:
        more = "↑" * (self._scrolled > 0) + "↓" * (self._scrolled < self._hidden)
        parts = (
            self.viewer.place(),
            f"{more} more" if more else "",
            "plays on its own" if self._playing is not None else "",
            f"go to step {self._digits}" if self._digits else "",
            self._hint,
        )
        return " | ".join(filter(None, parts))
