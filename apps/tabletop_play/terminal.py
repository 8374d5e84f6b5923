"""The command `play`: a person plays in the terminal, alone or with agents."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from tabletop_engine.checks import checked
from tabletop_engine.drawing.lines import fit
from tabletop_engine.game import Game
from tabletop_engine.text.terminal import (
    columns_of_output,
    forgive_bytes,
    is_terminal,
    obeys_sequences,
    rows_of_output,
    wants_colour,
)
from tabletop_engine.text.words import shown
from tabletop_play.session import started
from tabletop_play.typed import TypedSession

_CLEAR_SCREEN = "\x1b[H\x1b[2J\x1b[3J"
_CLEAR_LINE = "\r\x1b[K"

_SIGNALS = [one for one in signal.Signals if one.name in ("SIGHUP", "SIGTERM", "SIGINT")]  # Windows has no SIGHUP


@checked
def main(game: Game, opponents: Sequence[str] = (), *, colour: bool | None = None, **options: Any) -> None:
    """Play a game in the terminal until the people leave it.

    Arguments: those of `session.started`, and
        colour: None means in a terminal that has colours, unless the environment variable NO_COLOR is set.

    Raises what `session.started` raises. If an agent raises, the game is saved first.
    """
    session = started(TypedSession, game, opponents, **options)
    forgive_bytes()
    # several people would see each other's lines
    play(session, Terminal(wants_colour(colour), history=len(session.people) == 1))


class Terminal:
    """Reads lines and shows texts. With `history` the Up key brings earlier lines back."""

    def __init__(self, colour: bool, history: bool = True) -> None:
        self.colour = colour
        self._moves = obeys_sequences()
        if is_terminal(sys.stdin):
            with contextlib.suppress(ImportError):  # Windows has none; with it, lines can be edited
                import readline

                readline.set_auto_history(history)

    @property
    def columns(self) -> int:
        """The present width of the terminal, in characters."""
        return columns_of_output()

    @property
    def rows(self) -> int | None:
        """The present number of lines of the terminal; None if the output is no terminal."""
        return rows_of_output()

    def read(self, prompt: str) -> str:
        """The next line. Raises EOFError after the last one, or if stdin is closed."""
        if sys.stdin is None or sys.stdin.closed:
            raise EOFError
        if sys.stdout is not None:
            return input(prompt)
        line = sys.stdin.readline()  # input refuses to read where it can't prompt
        if not line:
            raise EOFError
        return line.removesuffix("\n")

    def show(self, text: str) -> None:
        """Print a text below everything else."""
        print(text, flush=True)

    def clear(self) -> None:
        """Clear the screen and what was shown before."""
        if self._moves:
            print(_CLEAR_SCREEN, end="", flush=True)

    @contextlib.contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Show a text until the block ends, if the terminal can remove a line."""
        if not self._moves:
            yield
            return
        print(text, end="", flush=True)
        try:
            yield
        finally:
            print(_CLEAR_LINE, end="", flush=True)


def play(session: TypedSession, terminal: Terminal) -> None:
    """Play until the person leaves or the input ends. Whatever happens, an unfinished game is saved."""
    with hangups_end_input():
        try:
            _until_left(session, terminal)
        except BaseException as error:
            while True:
                try:  # first of all: a signal may still come, such as that of a closed terminal
                    _ignore_signals()
                    text = session.keep()
                    break
                except (EOFError, KeyboardInterrupt):
                    continue
            _say_last(text, terminal.show)
            if not isinstance(error, (EOFError, OSError)):
                raise


def _until_left(session: TypedSession, terminal: Terminal) -> None:
    """Play until the person leaves. Raises EOFError at the end of the input, OSError if the terminal is gone."""
    moved = True
    while True:
        try:
            if session.waits_for_agent:
                with terminal.waiting("The others think …"):  # not who: whose turn it is may be hidden
                    while session.waits_for_agent:
                        session.let_agent_act()
                        moved = True
            if moved:
                if session.changes_hands:
                    terminal.clear()
                terminal.show(session.screen(terminal.columns, terminal.colour, terminal.rows))
            line = terminal.read(session.prompt)
            thinks = session.asks_for_hint(line)
            with terminal.waiting(f"{shown(session.hints.name)} thinks …") if thinks else contextlib.nullcontext():
                reply = session.answer(line)
        except KeyboardInterrupt:
            terminal.show("")
            reply = session.interrupt()
        if reply.text:
            terminal.show(reply.text if reply.unbroken else fit(reply.text, terminal.columns))
        if reply.left:
            return
        moved = reply.moved


def _say_last(text: str, show: Callable[[str], None]) -> None:
    """Show a last text in a line of its own, after the end of the input; on stderr if the terminal is gone."""
    if not text:
        return
    try:
        show(f"\n{text}")
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            print(text, file=sys.stderr)
        with contextlib.suppress(OSError, ValueError, AttributeError):  # else Python tries the text again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def hangups_end_input() -> Iterator[None]:
    """Treat a closed terminal and `kill` as the end of the input, once. Later signals are ignored."""

    def end(number: int, frame: object) -> NoReturn:
        _ignore_signals()
        raise EOFError

    before: dict[signal.Signals, Any] = {}
    with contextlib.suppress(ValueError):  # outside the main thread no signals can be caught
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            signal.signal(number, handler if number == signal.SIGINT else end)
            before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignore_signals() -> None:
    """Ignore these signals, so that none interrupts the saving of a game."""
    with contextlib.suppress(ValueError):
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
