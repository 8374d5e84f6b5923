"""The lines of a game's rules that games in plain Python run."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from tabletop_engine.compiling.compiled import rule_as_written

_MOST = 12
"""Lines of so many rules are told."""


class Lines:
    """A context in which the lines of a game's rules that run are struck off."""

    def __init__(self, game: Any) -> None:
        files = {str(path) for path in game.code_sources.files}
        modules = [one for one in list(sys.modules.values()) if getattr(one, "__file__", None) in files]
        written = [rule_as_written(value) for module in modules for value in vars(module).values()]
        self._left: dict[CodeType, set[int]] = {}
        for function in written:
            if function is not None and function.__code__.co_filename in files:
                self._left |= {code: _lines_of(code) for code in _with_inner(function.__code__)}

    def __enter__(self) -> Lines:
        sys.settrace(self._call)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.settrace(None)

    def left(self) -> list[tuple[str, str, int]]:
        """File, rule and number of each line that has not run."""
        return sorted((code.co_filename, code.co_name, line) for code, lines in self._left.items() for line in lines)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if self._left.get(frame.f_code) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._left[frame.f_code].discard(frame.f_lineno)
        return self._line


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _with_inner(one)


def _lines_of(code: CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}


def told(left: Iterable[tuple[str, str, int]]) -> str:
    """The lines in words, by file and rule."""
    places = [
        f"{rule} in {Path(file).name}, line {', '.join(str(line) for _, _, line in lines)}"
        for (file, rule), lines in groupby(sorted(left), key=lambda one: one[:2])
    ]
    more = f"; and of {len(places) - _MOST} more rules" if len(places) > _MOST else ""
    return "; ".join(places[:_MOST]) + more
