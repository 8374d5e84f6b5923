"""The frame around long jobs: a folder, a progress bar, Ctrl-C that keeps finished work, and closing words."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import hold, make_folder
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import shown

SETTINGS_FILE, GAMES_FOLDER = "settings.json", "games"
"""What a job that can be resumed has in its folder: what it was asked for, and the games that it has played."""


class Interruptions:
    """Turns Ctrl-C into a request to stop, which a job checks. A second one before `clear` raises KeyboardInterrupt.

    SIGTERM, with which the schedulers of clusters end a job, does the same. It is a context manager. Outside the main
    thread signals cannot be caught, so there both work as usual.
    """

    def __init__(self) -> None:
        self._wanted = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {one: signal.signal(one, self._on_signal) for one in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for one, before in self._before.items():
            signal.signal(one, before)

    def wanted(self) -> bool:
        """Whether there was a signal since the last `clear`."""
        return self._wanted

    def clear(self) -> None:
        """Forget earlier signals, so that the next one counts as the first."""
        self._wanted = False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._wanted:
            raise KeyboardInterrupt
        self._wanted = True


def refuse_with_resume(allowed: str, **given: Any) -> None:
    """Raise ConfigError for options that are not None: a resumed run keeps its settings, except those in `allowed`."""
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise ConfigError(f"{', '.join(names)}: not with --resume, which keeps its settings. You can give {allowed}")


class Stopped(Exception):
    """The job was stopped before there was anything to keep."""


class Bar:
    """One line of a progress bar. `advance` moves it on, `show` writes a text beside it."""

    def __init__(self, progress: Progress, title: str, total: float, status: str) -> None:
        self._progress, self._task = progress, progress.add_task(shown(title), total=total, status=shown(status))

    def advance(self, by: float) -> None:
        self._progress.advance(self._task, by)

    def show(self, status: str, completed: float | None = None) -> None:
        """Write a text beside the bar, and set how much is done."""
        self._progress.update(self._task, status=shown(status), completed=completed)


class Job:
    """A long job as its user sees it; a context manager.

    Ctrl-C is a request that the job checks (`should_stop`); a second one ends it with KeyboardInterrupt. At its end the
    job says how to go on if it was stopped, and lists the files in its folder. After `Stopped` it ends with
    KeyboardInterrupt; if no games were kept, it removes its folder.

    Arguments:
        output: the folder. If it has files already, a folder beside it is used, except with `resume`.
        again: the command that goes on with the folder after `--resume`; "" if none does.
        closing: prints more at the very end.

    No other process can run a job in the same folder at the same time. Errors while writing become a TabletopError.

    Attributes: console, folder, interruptions, should_stop; stopped, whether `until_stopped` ended early.
    """

    def __init__(
        self,
        output: str | Path,
        *,
        resume: bool = False,
        again: str = "",
        closing: Callable[[Console], None] = lambda console: None,
    ) -> None:
        self.console = Screen()
        self.folder = make_folder(output, new=not resume)
        self.interruptions = Interruptions()
        self.should_stop = self.interruptions.wanted
        self.stopped = False
        self._again, self._closing = again, closing

    def __enter__(self) -> Self:
        self._let_go = hold(self.folder)
        self.interruptions.__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.interruptions.__exit__()
        self._let_go()
        if isinstance(error, OSError):
            problem = f"{self.folder}: can't be written to ({error.strerror or error})"
            raise TabletopError(f"{problem}; what was saved last is kept") from error
        if isinstance(error, Stopped):
            if (self.folder / GAMES_FOLDER).exists():
                self._tell_stopped()
            else:
                (self.folder / SETTINGS_FILE).unlink(missing_ok=True)
                if not any(self.folder.iterdir()):
                    self.folder.rmdir()
                self.console.print("Stopped before the first games were finished: nothing was kept.")
            raise KeyboardInterrupt from None
        if isinstance(error, KeyboardInterrupt) and (self.folder / GAMES_FOLDER).exists():
            self._tell_stopped()
        if error is None:
            if self.stopped:
                self._tell_stopped()
            names = ", ".join(sorted(path.name for path in self.folder.iterdir()))
            self.console.print(Text.assemble("In ", (shown(str(self.folder)), "bold"), f": {shown(names)}"))
            self._closing(self.console)

    def _tell_stopped(self) -> None:
        how = f" To continue: {self._again} --resume {shlex.quote(str(self.folder))}" if self._again else ""
        self.console.print(f"Stopped early.{how}", soft_wrap=True, markup=False)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """A part of the job that `Stopped` ends early; what follows reports what was finished. Ctrl-C counts anew."""
        try:
            yield
        except Stopped:
            self.stopped = True
        self.interruptions.clear()

    @contextmanager
    def bar(self, title: str, total: float, status: str = "") -> Iterator[Bar]:
        """Show a progress bar while the context lasts."""
        with progress_bar(self.console) as progress:
            yield Bar(progress, title, total, status)


def progress_bar(console: Console) -> Progress:
    """Title, bar, per cent, time left, and the task's `status` text."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[status]}", markup=False),
        console=console,
    )
