"""How the rules are compiled: Numba, with a cache that notices every change of a compiled source.

Numba's own cache does not notice a changed callee in another file, so the cache folder's name is a hash of all
compiled sources. It lies in the user's cache folder: a read-only install works, and two versions never meet.
`NUMBA_DISABLE_JIT=1` runs everything as plain Python, for a debugger.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config

from tabletop.rule_compiler import compile_kernel, compile_rule, compile_shared_rule

numba_config: Any = config  # its settings are made at import, unknown to type checkers
Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent
_PETRICHOR = PACKAGE.parent / "petrichor_env"


def compiled_sources() -> list[Path]:
    """The files whose functions Numba compiles, or whose constants those functions use."""
    names = ("state.py", "actions.py", "tables.py", "observation.py")
    engine = ("chance", "compiled", "decisions", "kernels", "legal", "overwrite", "record", "rule_compiler")
    files = [*(PACKAGE / f"{name}.py" for name in engine), *(_PETRICHOR / name for name in names)]
    return sorted([*files, *(_PETRICHOR / "rules").glob("*.py")])


def _hash_of(sources: list[Path]) -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    for path in sources:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache_folder() -> Path:
    if os.environ.get("PETRICHOR_CACHE_DIR"):
        return Path(os.environ["PETRICHOR_CACHE_DIR"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "petrichor"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "petrichor" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "petrichor"


CACHE_FOLDER = _user_cache_folder() / _hash_of(compiled_sources())
"""Where the compiled rules are kept. Another place: the environment variable PETRICHOR_CACHE_DIR."""

JIT = not numba_config.DISABLE_JIT


def rule(function: Function) -> Function:
    """Compile a function that other compiled functions call."""
    return cast(Function, compile_rule(function)) if JIT else function


def shared_rule(function: Function) -> Function:
    """`rule` for one of which much of a game hangs: compiled once, and not anew for every kernel that reaches it."""
    return cast(Function, _cached(compile_shared_rule, function)) if JIT else function


def _cache_folder_of(function: Callable[..., Any]) -> Path:
    """Kernels outside this package are kept as long as no file beside theirs changes."""
    folder = Path(function.__code__.co_filename).parent
    return CACHE_FOLDER if folder == PACKAGE else CACHE_FOLDER / _hash_of(sorted(folder.glob("*.py")))


def kernel(function: Function) -> Function:
    """Compile a function that Python calls, and keep its machine code on disk.

    It may call the rules and what is compiled in its own folder.
    """
    return cast(Function, _cached(compile_kernel, function)) if JIT else _plain(function)


def _cached(compiler: Callable[..., Any], function: Callable[..., Any]) -> Any:
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(_cache_folder_of(function))  # read once, when the function is decorated
    try:
        return compiler(function)
    finally:
        numba_config.CACHE_DIR = before


def _plain(function: Function) -> Function:
    """Without compilation: all records have their fields as attributes, as Numba's have."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # the random stream's arithmetic is modulo 2**64
            return function(*(a.view(np.recarray) if _lacks_attributes(a) else a for a in arguments))

    return cast(Function, run)


def _lacks_attributes(argument: Any) -> bool:
    """Whether it is an array of records that were not declared as `tabletop.record` does."""
    return isinstance(argument, np.ndarray) and argument.dtype.names is not None and argument.dtype.type is np.void
