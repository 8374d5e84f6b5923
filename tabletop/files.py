"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The path to write to, beside `path`; it takes its place at the end, and goes where writing fails."""
    unfinished = path.with_name(path.name + ".part")
    try:
        yield unfinished
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):  # what failed is told, not that nothing is there
            unfinished.unlink()
        raise
