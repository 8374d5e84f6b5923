"""Files that are written whole or not at all, and read up to a limit."""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tabletop.errors import CheckpointError

MOST_BYTES = 64_000_000
"""Of a text that is read: far more than any that this project writes."""


def read_limited(path: Path, most: int = MOST_BYTES) -> bytes:
    """The file's content. Raises OSError, and ValueError for more bytes than `most`, also where a file never ends."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {most // 1_000_000} MB")
    return data


def shipped(copy: Path, original: Path) -> Path:
    """The copy that a wheel brings; where there is none, the original of a clone that is installed in place."""
    return copy if copy.exists() else original


def check_unpacked(archive: zipfile.ZipFile, most: int) -> None:
    """Raise CheckpointError for a zip file whose members are more than `most` bytes in all; none is unpacked."""
    size = sum(member.file_size for member in archive.infolist())
    if size > most:
        raise CheckpointError(f"it unpacks to {size:,} bytes; at most {most:,} are read")


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


def free_path(path: Path) -> Path:
    """This path, or the first with a number that no file has yet."""
    numbered, number = path, 1
    while os.path.exists(numbered):
        number += 1
        numbered = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return numbered
