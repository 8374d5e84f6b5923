"""Files that are written completely or not at all, and read up to a limit. Folders that one process writes into."""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tabletop_engine.errors import CheckpointError, TabletopError

fcntl: Any = None
with contextlib.suppress(ImportError):  # Windows has none
    import fcntl

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


def make_folder(wanted: str | Path, new: bool = False) -> Path:
    """Create the folder if it is missing. Raises TabletopError if that fails.

    With `new`, if it has files already, a folder beside it with a number is created, so that nothing is overwritten.
    """
    first = Path(wanted)
    if first.name in ("", ".."):
        first = first.resolve()
    folder, number = first, 1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while new and any(folder.iterdir()):
            number += 1
            folder = Path(f"{first}-{number}")
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TabletopError(f"{folder}: the folder cannot be created ({error.strerror})") from None
    return folder


_held: set[Path] = set()
"""The folders that this process writes into."""


def hold(folder: Path) -> Callable[[], None]:
    """Lock a folder against other processes. Calling the result unlocks it, and so does the end of this process.

    Raises TabletopError if another process has locked it, or if it can't be opened. Where folders cannot be locked, as
    on Windows, nothing is locked.
    """
    resolved = folder.resolve()
    if fcntl is None or resolved in _held:
        return lambda: None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise TabletopError(f"{folder}: the folder cannot be opened ({error.strerror})") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise TabletopError(
            f"{folder}: another process is writing there; wait until it ends, or use another folder"
        ) from None
    except OSError:  # a file system without locks
        os.close(handle)
        return lambda: None
    _held.add(resolved)

    def let_go() -> None:
        _held.discard(resolved)
        os.close(handle)

    return let_go
