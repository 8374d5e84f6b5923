"""The files that machine code is made from, and the hashes that tell whether it fits them."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from tabletop_engine.compiling.cache import code_folder

PACKAGE = Path(__file__).parents[1]
CHECKED = os.environ.get("NUMBA_BOUNDSCHECK", "") not in ("", "0")
"""Whether Numba compiles code that refuses indices past the end of an array. It is kept apart from other code."""

_ENGINE = (
    *("chance", "decisions", "defaults", "editions", "legal", "record"),
    *("compiling/compiled", "compiling/overwrite", "compiling/rule_compiler", "compiling/sources", "compiling/xla"),
    *("play/kernels", "play/plans", "positions/scripted"),
)
ENGINE_SOURCES = [*sorted((PACKAGE / "parts").glob("*.py")), *(PACKAGE / f"{name}.py" for name in _ENGINE)]
"""The engine's files that contain compiled functions, or that control how functions are compiled."""


@dataclass(frozen=True)
class Sources:
    """What machine code is made from. Without arguments: the engine alone.

    Arguments:
        name: of the game.
        home: the game's module, which its machine code names.
        files: the game's files.
        more: the files of templates from another package.
    """

    name: str = ""
    home: str = ""
    files: tuple[Path, ...] = ()
    more: tuple[Path, ...] = ()

    @cached_property
    def folder(self) -> Path:
        """The folder for machine code that Numba keeps. Its name changes with `home` and every file."""
        hashed = _hash_of([*ENGINE_SOURCES, *self.files], self.home)
        name = Path(f"{self.name}-{hashed}" if self.name else hashed)
        return code_folder(name / _hash_of(self.more) if self.more else name)

    @cached_property
    def digest(self) -> str:
        """A hash of the files' names and contents, the same on every machine that has them."""
        digest = hashlib.sha256()
        for path in [*ENGINE_SOURCES, *self.files, *self.more]:
            digest.update(path.name.encode() + b"\0" + _content(path) + b"\0")
        return digest.hexdigest()


def files_of(sources: Sequence[Path]) -> tuple[Path, ...]:
    """The Python files among `sources`, files and folders."""
    return tuple(sorted(file for path in sources for file in ([path] if path.is_file() else path.glob("*.py"))))


@functools.cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


def _hash_of(files: Sequence[Path], home: str = "") -> str:
    digest = hashlib.sha256(f"{numba_version()} {sys.version_info[:2]} {home}{' checked' * CHECKED}".encode())
    for path in files:
        digest.update(os.fsencode(path.absolute()))
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def numba_version() -> str:
    """The version of Numba that is installed; Numba is not imported for it."""
    return version("numba")
