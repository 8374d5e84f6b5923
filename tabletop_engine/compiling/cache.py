"""The folder that keeps machine code from one start to the next."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path

CACHE_VARIABLE = "TABLETOP_CACHE_DIR"
"""The environment variable with a folder for machine code, in place of the user's cache folder."""
_TEMPORARY = "temporary"
"""The file that marks a temporary folder, also for child processes."""


def code_folder() -> Path:
    """The folder for machine code: the one that CACHE_VARIABLE names, or a folder in the user's cache folder.

    If it can't be written to, this is a temporary folder for this process and its children; a line on stderr says so.
    """
    wanted = Path(os.environ.get(CACHE_VARIABLE) or _user_cache_folder())
    return wanted if _is_writable(wanted) else _temporary_folder(wanted)


def is_kept() -> bool:
    """Whether later starts find the machine code: not if it is in a temporary folder."""
    return not (code_folder() / _TEMPORARY).exists()


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
    """A new folder that no other user can write to. Child processes find its path in their environment."""
    made = tempfile.mkdtemp(prefix="tabletop-")
    atexit.register(_remove, made, os.getpid())
    Path(made, _TEMPORARY).touch()
    os.environ[CACHE_VARIABLE] = made
    text = f"tabletop: {wanted} can't be written to, so the rules are compiled again at every start"
    print(f"{text}; set {CACHE_VARIABLE} to a folder that can be written to", file=sys.stderr)
    return Path(made)


def _remove(folder: str, owner: int) -> None:
    """Delete the folder. A forked child must not: the folder belongs to its parent."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
