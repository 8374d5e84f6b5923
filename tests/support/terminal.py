"""A terminal that a test looks at: a command on a pseudo-terminal, its keys, and what stands on its screen."""

from __future__ import annotations

import contextlib
import os
import re
import select
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

ROOT = Path(__file__).parents[2]
_CONTROL = re.compile("\x1b\\[([?0-9;]*)([A-Za-z])|\x1b[=>]|.", re.DOTALL)
_SECONDS = 120.0
"""Seconds to wait for a screen: on a slow machine the first start loads compiled rules."""


class Screen:
    """The text on a screen. It understands the control sequences that the full-screen programs here write."""

    def __init__(self, rows: int, columns: int) -> None:
        self.columns = columns
        self.lines = [" " * columns for _ in range(rows)]
        self.row = self.column = 0

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines)

    def feed(self, text: str) -> None:
        """Write to it."""
        for match in _CONTROL.finditer(text):
            numbers, letter = match[1], match[2]
            if letter is not None:
                self._sequence([int(one) if one.isdecimal() else 0 for one in numbers.split(";")], letter)
            elif match[0] == "\r":
                self.column = 0
            elif match[0] == "\n":
                self._down()
            elif match[0] == "\b":
                self.column = max(0, self.column - 1)
            elif match[0].isprintable():
                self._put(match[0])

    def _put(self, character: str) -> None:
        if self.column >= self.columns:
            self.column = 0
            self._down()
        line = self.lines[self.row]
        self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
        self.column += 1

    def _down(self) -> None:
        if self.row + 1 == len(self.lines):
            self.lines = [*self.lines[1:], " " * self.columns]
        else:
            self.row += 1

    def _sequence(self, numbers: list[int], letter: str) -> None:
        by = max(1, numbers[0])
        if letter in "AB":
            self.row = max(0, min(len(self.lines) - 1, self.row + (by if letter == "B" else -by)))
        elif letter in "CD":
            self.column = max(0, min(self.columns - 1, self.column + (by if letter == "C" else -by)))
        elif letter == "H":
            self.row, self.column = (max(1, number) - 1 for number in (*numbers, 1, 1)[:2])
        elif letter in "KJ":
            line = self.lines[self.row]
            self.lines[self.row] = line[: self.column].ljust(self.columns)
            below = range(self.row + 1, len(self.lines)) if letter == "J" else ()
            for row in below:
                self.lines[row] = " " * self.columns


class Terminal:
    """A Python program on a pseudo-terminal.

    Arguments:
        arguments: the words after `python`.
        rows, columns: of its window.

    The test is skipped where there are no pseudo-terminals.
    """

    def __init__(self, arguments: Sequence[str], rows: int = 60, columns: int = 110) -> None:
        reason = "there are no pseudo-terminals here"
        fcntl, pty, termios = (pytest.importorskip(name, reason=reason) for name in ("fcntl", "pty", "termios"))
        self.screen = Screen(rows, columns)
        self.written = ""
        self._file, inside = pty.openpty()  # not pty.fork: it warns in a process with threads
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        """Close the terminal's window. The program gets a signal if this is its controlling terminal."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def press(self, *keys: str) -> None:
        """Send keys, as a terminal sends them."""
        for key in keys:
            os.write(self._file, key.encode())

    def wait_for(self, text: str) -> str:
        """The screen, once it has this text. If the text doesn't come, raises AssertionError with the screen."""
        end = time.monotonic() + _SECONDS
        while text not in str(self.screen):
            assert self._read(end), f"{text!r} is not on the screen:\n{self.screen}"
        return str(self.screen)

    def interrupt_until(self, text: str, typed: str = "") -> None:
        """Press Ctrl-C, after some letters, until the screen has the text.

        Once is enough for people. A signal that comes between readline's prompt and its wait for a key is only seen
        with the next one.
        """
        for seconds in range(1, 15):
            self.press(f"{typed}\x03")
            end = time.monotonic() + seconds
            while text not in str(self.screen) and self._read(end):
                pass
            if text in str(self.screen):
                return
        self.wait_for(text)

    def end_input(self) -> None:
        """Press Ctrl-D until the program ends. A key that comes between two of its questions is lost."""
        for _ in range(10):
            with contextlib.suppress(OSError):  # it has ended in this moment
                self.press("\x04")
            end = time.monotonic() + 5
            while self._read(end):
                pass
            if self.process.poll() is not None:
                return

    def wait_for_end(self) -> int:
        """The exit status of the program, all of whose output has then been read."""
        end = time.monotonic() + _SECONDS
        while self._read(end):
            pass
        return self.process.wait(_SECONDS)

    def _read(self, end: float) -> bool:
        """Read what the program has written since; False if nothing comes before `end`, or nothing can come."""
        ready, _, _ = select.select([self._file], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._file, 65536)
        except OSError:  # Linux's way to say that the other side is closed
            return False
        if not data:
            return False
        self._rest += data
        # a character or a sequence may be cut in two
        whole = re.sub(rb"(\x1b(\[[?0-9;]*)?|[\xc0-\xff][\x80-\xbf]*)$", b"", self._rest)
        text = whole.decode(errors="replace")
        self._rest = self._rest[len(whole) :]
        self.written += text
        self.screen.feed(text)
        return True
