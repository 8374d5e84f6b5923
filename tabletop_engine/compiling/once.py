"""Compiling kernels once, at the first start, with a line of progress. Later starts load them from the cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from tabletop_engine.compiling.cache import is_kept
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.compiling.log import log, log_progress

Call = tuple[str, Callable[..., Any], tuple[Any, ...]]
"""Words for a compiled function, the function, and arguments of its types."""

_LONGEST_WAIT = 900.0
"""The seconds that a process waits for another one that compiles the same."""


def compile_once(what: str, takes: str, last: Any, calls: Callable[[], list[Call]]) -> None:
    """Compile kernels by calling them, unless the machine code is in the cache already.

    If several processes start at once, one compiles. The others say that they wait for it.

    Arguments:
        what: words for what is compiled.
        takes: words for the time that this takes.
        last: the kernel that is compiled last. If it is in the cache, all are.
        calls: returns the calls.
    """
    if not JIT or last.is_ready():
        return
    folder = last.sources.folder
    kept = is_kept(folder)
    work = f"{what}, {'once, ' if kept else ''}{takes}"
    with _only_one(folder / f"{last.__name__}.lock", work):
        if not last.is_ready():
            _compile_all(work, calls(), "; later starts take it from the cache" if kept else "")


@contextmanager
def _only_one(path: Path, what: str) -> Iterator[None]:
    """A context that one process at a time enters. It does not wait for ever if a lock fails or another one hangs."""
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            log.info(f"another process is compiling {what}; waiting for it")
            lock.acquire(timeout=_LONGEST_WAIT)
    except (Timeout, OSError, NotImplementedError):
        pass
    try:
        yield
    finally:
        lock.release()


def _compile_all(what: str, calls: list[Call], later: str) -> None:
    """Make these calls, and tell which. `later` are words about later starts."""
    start, ended = time.monotonic(), "stopped compiling"
    try:
        for done, (part, call, arguments) in enumerate(calls):
            log_progress(f"compiling {what}: {done + 1}/{len(calls)} {part}")
            call(*arguments)
        ended = f"compiled in {time.monotonic() - start:.0f} s{later}"
    finally:  # what comes now begins on a line of its own
        log.info(ended)
