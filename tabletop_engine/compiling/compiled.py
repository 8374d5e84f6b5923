"""How the rules are compiled: with Numba, and with a cache that notices every change of a compiled source.

A game's rules are compiled functions. Code that every game needs around them, such as a loop over records that calls
`rules.step`, is written once as a template. It is compiled for each game with that game's rules.

Numba's own cache does not notice when a called function in another file changes or moves to another module, which its
machine code names. So the name of each cache folder contains a hash of all compiled sources, their paths and the game's
module. It is in the user's cache folder (`tabletop_engine.compiling.cache`), so the installation may be read-only, and
two versions never share a folder.

`NUMBA_DISABLE_JIT=1` runs everything as plain Python, for a debugger.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config

from tabletop_engine.compiling.cache import code_folder
from tabletop_engine.compiling.rule_compiler import compile_kernel, compile_rule, compile_shared_rule, with_other

numba_config: Any = config  # its settings are made at import, unknown to type checkers
Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]
JIT = not numba_config.DISABLE_JIT

rules: Any = None
"""In templates this name stands for the rules of the game that they are compiled for."""

_RULE, _KERNEL = "rule", "kernel"
_shared_rules: list[Any] = []
"""Shared rules whose machine code has no folder yet; `keep_shared_rules` assigns one."""


def rule(function: Function) -> Function:
    """Compile a function that other compiled functions call."""
    return cast(Function, compile_rule(function)) if JIT else _own_source(function)


def shared_rule(function: Function) -> Function:
    """`rule` for a large part of a game: compiled once, not again for every kernel that reaches it."""
    if not JIT:
        return _own_source(function)
    compiled = compile_shared_rule(function)
    _shared_rules.append(compiled)
    return cast(Function, compiled)


def rule_unless(field: str, other: Callable[..., Any]) -> Callable[[Function], Function]:
    """`rule` with an alternative: `other` is called if the first argument is a record with this field."""

    def decorate(function: Function) -> Function:
        if JIT:
            return cast(Function, with_other(compile_rule(function), field, other))

        @functools.wraps(function)
        def either(s: Any, *arguments: Any) -> Any:
            return (other if field in s.dtype.names else function)(s, *arguments)

        either.py_func = function  # type: ignore[attr-defined]
        return cast(Function, either)

    return decorate


def _own_source(function: Function) -> Function:
    function.py_func = function  # type: ignore[attr-defined]
    return function


def rule_as_written(rule: Any) -> FunctionType | None:
    """The Python function that a rule was made from; None if the argument is not a rule."""
    written = getattr(rule, "py_func", None)
    return written if isinstance(written, FunctionType) else None


def keep_shared_rules(folder: Path, sources: Sequence[Path]) -> None:
    """Keep the machine code of the shared rules that are defined in `sources`, files and folders, in `folder`."""
    files = {str(path) for path in _files_of(sources)}
    for compiled in [one for one in _shared_rules if one.py_func.__code__.co_filename in files]:
        _in_cache(folder, compiled.enable_caching)
        _shared_rules.remove(compiled)


def kernel(function: Function) -> Function:
    """Compile a function that Python calls and that needs no game. Its machine code is kept on disk."""
    return _kernel(function, code_folder() / _hash_of(ENGINE_SOURCES))


def rule_template(function: Function) -> Function:
    """Mark a function that compiled functions call, and that is compiled for each game (`made_for`).

    Until then it is a plain Python function. The name `rules` in it stands for the rules of the game.
    """
    function.compiled_as = _RULE  # type: ignore[attr-defined]
    return function


def kernel_template(function: Function) -> Function:
    """Mark a function that Python calls, and that is compiled for each game (`made_for`)."""
    function.compiled_as = _KERNEL  # type: ignore[attr-defined]
    return function


def templates_in(*modules: ModuleType) -> list[Callable[..., Any]]:
    """The templates that these modules define."""
    return [
        value
        for module in modules
        for value in vars(module).values()
        if hasattr(value, "compiled_as") and value.__module__ == module.__name__
    ]


def made_for(
    folder: Path, templates: Iterable[Callable[..., Any]], names: Mapping[str, Any]
) -> dict[str, Callable[..., Any]]:
    """Compile templates for a game. Returns the compiled functions by the names of the templates.

    The templates of one call may call each other, so their names must differ. Each function is made from the code of
    its template, and not as a closure: Numba's cache finds a closure again only in the process that made it.

    Arguments:
        folder: for the machine code of templates of this package. Templates from elsewhere get a folder in it.
        templates: functions that `rule_template` or `kernel_template` has marked.
        names: additional globals of the functions, such as the game's `rules`.
    """
    spaces: dict[str, dict[str, Any]] = {}
    made: dict[str, Callable[..., Any]] = {}
    for template in templates:
        code = cast(FunctionType, template)
        space = spaces.setdefault(code.__module__, {**code.__globals__, **names})
        function = FunctionType(code.__code__, space, code.__name__, code.__defaults__)
        function.__doc__, function.__module__ = code.__doc__, code.__module__
        is_kernel = getattr(template, "compiled_as", _RULE) == _KERNEL
        if code.__name__ in made:
            raise ValueError(f"two templates are called {code.__name__}")
        made[code.__name__] = _kernel(function, _folder_beside(code, folder)) if is_kernel else rule(function)
    for space in spaces.values():
        space.update(made)
    return made


# --- Where machine code is kept --------------------------------------------------------------------------------------


def cache_folder(name: str, home: str, sources: Sequence[Path]) -> Path:
    """The folder for a game's machine code. Its name changes with `home` and every file of `sources` and the engine."""
    return code_folder() / f"{name}-{_hash_of([*ENGINE_SOURCES, *_files_of(sources)], home)}"


def _files_of(sources: Sequence[Path]) -> list[Path]:
    """The Python files among `sources`, files and folders."""
    return sorted(file for path in sources for file in ([path] if path.is_file() else path.glob("*.py")))


def _hash_of(files: Sequence[Path], home: str = "") -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {home}".encode())
    for path in files:
        digest.update(os.fsencode(path.absolute()))
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _folder_beside(function: FunctionType, folder: Path) -> Path:
    """The folder for a template's machine code. That of another package is used until a file beside it changes."""
    beside = Path(function.__code__.co_filename).parent
    return folder if beside.is_relative_to(PACKAGE) else folder / _hash_of(_files_of([beside]))


_ENGINE = (
    *("chance", "decisions", "defaults", "legal", "record", "play/kernels", "positions/scripted"),
    *("compiling/compiled", "compiling/overwrite", "compiling/rule_compiler"),
)
ENGINE_SOURCES = [PACKAGE / f"{name}.py" for name in _ENGINE]
"""The engine's files that contain compiled functions, or that control how functions are compiled."""


# --- Compiling -------------------------------------------------------------------------------------------------------


def _kernel(function: Function, folder: Path) -> Function:
    return cast(Function, _in_cache(folder, partial(compile_kernel, function))) if JIT else _plain(function)


def _in_cache(folder: Path, work: Callable[[], Any]) -> Any:
    """Call `work` with `folder` as Numba's cache: Numba reads that setting when it enables a function's cache."""
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(folder)
    try:
        return work()
    finally:
        numba_config.CACHE_DIR = before


def _plain(function: Function) -> Function:
    """The function without compilation. Its records have their fields as attributes, as Numba's records have."""

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # the random stream's arithmetic is modulo 2**64
            return function(*map(_with_attributes, arguments))

    return cast(Function, run)


def _with_attributes(argument: Any) -> Any:
    """An argument, or each member of a NamedTuple, as an array whose records have their fields as attributes."""
    if isinstance(argument, tuple):
        return type(argument)(*map(_with_attributes, argument))
    if isinstance(argument, np.ndarray) and argument.dtype.names is not None and argument.dtype.type is np.void:
        return argument.view(np.recarray)  # records that were not declared with `tabletop_engine.record`
    return argument
