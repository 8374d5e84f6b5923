"""Files that are written completely or not at all, and read up to a limit."""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tabletop_engine.errors import CheckpointError

MOST_BYTES = 64_000_000
"""The largest text that is read, in bytes: far more than this project writes."""


def read_limited(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a file. Raises OSError, and ValueError for more than `most` bytes; no more than that is read."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {most // 1_000_000} MB")
    return data


def shipped(copy: Path, original: Path) -> Path:
    """The path of a file: `copy` from a wheel, or `original` in a clone that is installed in place."""
    return copy if copy.exists() else original


def check_unpacked(archive: zipfile.ZipFile, most: int) -> None:
    """Raise CheckpointError if the members of a zip file have more than `most` bytes together. Nothing is unpacked."""
    size = sum(member.file_size for member in archive.infolist())
    if size > most:
        raise CheckpointError(f"it unpacks to {size:,} bytes; at most {most:,} are read")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A context with a temporary path beside `path`. At its end that file replaces `path`; an error deletes it."""
    unfinished = path.with_name(path.name + ".part")
    try:
        yield unfinished
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):  # the first error is the one to report
            unfinished.unlink()
        raise


def free_path(path: Path) -> Path:
    """This path or, if a file is there, the path with the first number that is free."""
    numbered, number = path, 1
    while os.path.exists(numbered):
        number += 1
        numbered = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return numbered
