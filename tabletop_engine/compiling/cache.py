"""The folder that keeps machine code from one start to the next."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tabletop_engine.compiling.log import log

CACHE_VARIABLE = "TABLETOP_CACHE_DIR"
"""The environment variable with a folder for machine code, in place of the user's cache folder."""
_TEMPORARY = "TABLETOP_TEMPORARY_DIR"
"""The environment variable in which a process tells its children its temporary folder."""


def code_folder(name: Path) -> Path:
    """The folder for machine code of this name: in the folder of CACHE_VARIABLE, or in the user's cache folder.

    If that one can't be written to, it is read as far as it is filled. A name that is not in it gets a temporary folder
    for this process and its children; a warning is logged.
    """
    wanted = Path(os.environ.get(CACHE_VARIABLE) or _user_cache_folder())
    if (wanted / name).is_dir() or _is_writable(wanted):
        return wanted / name
    return _temporary_folder(wanted) / name


def is_kept(folder: Path) -> bool:
    """Whether later starts find what is compiled into this `code_folder`: it can be written to, and stays."""
    temporary = os.environ.get(_TEMPORARY)
    return _is_writable(folder) and not (temporary and folder.is_relative_to(temporary))


def _user_cache_folder() -> Path:
    try:
        home = Path.home()
    except RuntimeError:  # a user whom the system does not know, as in containers
        home = Path(os.sep)
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "tabletop"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "tabletop" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "tabletop"


@functools.cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def _temporary_folder(wanted: Path) -> Path:
    """A folder that no other user can write to. Without a place for one it is `wanted`, where nothing can be kept."""
    if _TEMPORARY in os.environ:
        return Path(os.environ[_TEMPORARY])
    text = f"{wanted} can't be written to, so the rules are compiled again at every start"
    log.warning(f"{text}; set {CACHE_VARIABLE} to a folder that can be written to")
    try:
        made = tempfile.mkdtemp(prefix="tabletop-")
    except OSError:
        return wanted
    atexit.register(_remove, made, os.getpid())
    os.environ[_TEMPORARY] = made
    return Path(made)


def _remove(folder: str, owner: int) -> None:
    """Delete the folder. A forked child must not: the folder belongs to its parent."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
