"""Where machine code is kept from one start to the next."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path

CACHE_VARIABLE = "TABLETOP_CACHE_DIR"
"""The environment variable that names another folder for machine code than the user's cache folder."""


def code_folder() -> Path:
    """The folder for machine code: the one that CACHE_VARIABLE names, or a part of the user's cache folder.

    Where nothing can be written there, a temporary one for this process and its children; stderr says so.
    """
    wanted = Path(os.environ.get(CACHE_VARIABLE) or _user_cache_folder())
    return wanted if _is_writable(wanted) else _temporary_folder(wanted)


def _user_cache_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tabletop"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "tabletop" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tabletop"


@functools.cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _temporary_folder(wanted: Path) -> Path:
    """A new folder that nobody else can write into. Children find it in their environment."""
    made = tempfile.mkdtemp(prefix="tabletop-")
    atexit.register(_remove, made, os.getpid())
    os.environ[CACHE_VARIABLE] = made
    text = f"tabletop: {wanted} can't be written; the rules are compiled anew at every start"
    print(f"{text}, unless {CACHE_VARIABLE} names a folder that can", file=sys.stderr)
    return Path(made)


def _remove(folder: str, owner: int) -> None:
    """Of a process that was forked it is the parent's."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
