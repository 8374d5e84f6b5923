"""Where commands write: `--json`, and files that must not be written over each other."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from tabletop_engine.errors import TabletopError
from tabletop_engine.files import whole_file

STDOUT = Path("-")


@contextmanager
def json_to(path: Path | None) -> Iterator[Callable[[Any], None]]:
    """A function that writes its argument as JSON to this file; None: nowhere.

    `STDOUT` is standard output; then all other output goes to standard error. If the file can't be written, raises
    TabletopError before anything is played.
    """
    if path is None:
        yield lambda content: None
    elif path == STDOUT:
        stdout = sys.stdout
        with redirect_stdout(sys.stderr):
            yield lambda content: print(_text(content), file=stdout)
    else:
        check_file("--json", path)
        yield lambda content: _write(path, content)


def _text(content: Any) -> str:
    return json.dumps(content, indent=2, allow_nan=False)


def _write(path: Path, content: Any) -> None:
    try:
        with whole_file(path) as unfinished:
            unfinished.write_text(_text(content) + "\n", encoding="utf-8")
    except OSError as error:
        raise TabletopError(f"--json {path}: can't be written ({error.strerror})") from None


def check_file(option: str, path: Path) -> None:
    """Raise TabletopError where the file of an option can't be written."""
    if path.is_dir():
        raise TabletopError(f"{option} {path}: is a folder, not a file")
    if not path.parent.is_dir():
        raise TabletopError(f"{option} {path}: there is no folder {path.parent}")


def check_outputs(file: Path, outputs: Mapping[str, Path | None]) -> None:
    """Refuse early to overwrite the replay `file`, to write one file twice, or to write where that is impossible.

    `outputs` are the files and folders of options; only `--png` is a folder.
    """
    taken = {"the replay": file}
    for option, path in outputs.items():
        if path is None:
            continue
        for what, other in taken.items():
            if path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other)):
                raise TabletopError(f"{option} {path}: the same file as {what}, which it would overwrite")
        taken[option] = path
        if option == "--png":
            if path.exists() and not path.is_dir():
                raise TabletopError(f"{option} {path}: is not a folder")
            beside = {other.resolve().parent for other in taken.values()}
            if path.resolve() in beside or (path.exists() and any(path.iterdir())):
                raise TabletopError(f"{option} {path}: has other files in it; give a new or empty folder")
        else:
            check_file(option, path)
