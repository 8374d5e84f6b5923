"""Threads for work that may never end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def in_daemon_thread(work: Callable[[], T]) -> Future[T]:
    """Run a function in a thread of its own. The program can end before it does."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # whoever gives up waiting can't cancel it: its result then goes nowhere

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised again where somebody waits
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future
