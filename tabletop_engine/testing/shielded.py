"""All checks of a game in a process of its own, so that machine code that crashes ends with a message."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.game import Game
from tabletop_engine.testing.problems import Problem
from tabletop_engine.testing.strict import settings_of

_EVERY = "tabletop_engine.testing.every"
"""The module with all checks, which the process imports."""
_CHECKED = "NUMBA_BOUNDSCHECK"
"""The environment variable by which machine code refuses indices past the end of an array."""
_SECONDS = 5
"""The process may take so long to end its own processes."""


def is_possible(game: Game) -> bool:
    """Whether there is machine code to be afraid of, and another process finds this very game."""
    return JIT and getattr(importlib.import_module(game.home), "GAME", None) is game


def problems(
    game: Game, asked: dict[str, Any], on_check: Callable[[str, int, int], None], on_note: Callable[[str], None]
) -> Iterator[Problem]:
    """The mistakes of a game, and where the process crashes, what code that refuses wrong indices says about it.

    `asked` are the other arguments of `every.problems_here`.
    """
    asked = {**asked, "configs": [settings_of(config) for config in asked["configs"]]}
    check = ""
    for kind, *content in _messages(game.home, asked):
        if kind == "check":
            check = content[0].partition(",")[0]
            on_check(*content)
        elif kind == "note":
            on_note(*content)
        elif kind == "problem":
            yield Problem(*content)
        elif 0 < content[0] < 256:
            yield Problem(check, f"the process of the checks ends with status {content[0]}")
        elif content[0]:
            by = signal.Signals(-content[0]).name if content[0] < 0 else f"status {content[0]:#x}"
            again = (told for kind, *told in _messages(game.home, asked, **{_CHECKED: "1"}) if kind == "problem")
            found = Problem(*next(again, (check, f"where {_CHECKED}=1 finds no wrong index")))
            yield replace(found, message=f"compiled code ends its process by {by}: {found.message}")


def _messages(home: str, asked: dict[str, Any], **environment: str) -> Iterator[list[Any]]:
    """What the process tells, line by line; at last its exit status."""
    paths = [str(Path(path or ".").resolve()) for path in sys.path]
    with tempfile.TemporaryFile() as given:
        given.write(json.dumps(asked).encode())
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-c", f"from {_EVERY} import tell_problems; tell_problems({home!r})"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
            stdin=given,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        assert process.stdout is not None
        try:
            yield from map(json.loads, process.stdout)
            yield ["ended", process.wait()]
        finally:
            process.stdout.close()
            process.terminate()
            try:
                process.wait(_SECONDS)
            except subprocess.TimeoutExpired:  # it is in machine code, which hears no signal
                process.kill()
                process.wait()
