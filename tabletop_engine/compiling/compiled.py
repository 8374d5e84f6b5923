"""How the rules are compiled: with Numba, and with a cache that notices every change of a compiled source.

A game's rules are compiled functions. Code that every game needs around them, such as a loop over records that calls
`rules.step`, is written once as a template. It is compiled for each game with that game's rules.

Numba's own cache does not notice when a called function in another file changes or moves to another module, which its
machine code names. So the name of each cache folder contains a hash of all compiled sources, their paths and the game's
module (`sources.py`). It is in the user's cache folder, so the installation may be read-only, and two versions never
share a folder.

Numba is imported when something is compiled or taken from its cache, which takes half a second. Machine code that came
with the package does without it (`shipped.py`).

`NUMBA_DISABLE_JIT=1` runs everything as plain Python, for a debugger.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Self, TypeVar, cast
from weakref import WeakSet

import numpy as np

from tabletop_engine.compiling.failures import rule_errors
from tabletop_engine.compiling.shipped import shipped_kernel
from tabletop_engine.compiling.sources import CHECKED, PACKAGE, Sources, files_of
from tabletop_engine.errors import RuleError

Function = TypeVar("Function", bound=Callable[..., Any])

JIT = os.environ.get("NUMBA_DISABLE_JIT", "") in ("", "0")
OVERFLOW: dict[str, Any] = {"over": "ignore"}
"""What NumPy does in plain Python where a number overflows. The random stream's arithmetic is modulo 2**64, so nothing;
`tabletop_engine.testing.strict` notes the places."""

rules: Any = None
"""In templates this name stands for the rules of the game that they are compiled for."""

_RULE, _KERNEL = "rule", "kernel"
_shared: list[Rule] = []
"""All shared rules. A kernel in the cache that calls one is loaded after it."""
kernels: WeakSet[Kernel] = WeakSet()
"""All kernels that were made, called or not."""


class Rule:
    """A function that other compiled functions call. Numba meets it when a kernel that reaches it is compiled."""

    def __init__(self, function: Callable[..., Any], *, shared: bool = False, other: tuple[str, Any] | None = None):
        functools.update_wrapper(self, function)
        self.py_func: Callable[..., Any] = function
        self.is_shared: bool = shared
        self._other = other
        self.sources: Sources | None = None
        """What the machine code of a shared rule depends on, if it is kept on disk."""

    @cached_property
    def compiled(self) -> Any:
        """Numba's dispatcher for the rule."""
        compiler = _rule_compiler(f"the rule {self.py_func.__qualname__}")
        made = (compiler.compile_shared_rule if self.is_shared else compiler.compile_rule)(self.py_func)
        if self.sources is not None:
            _in_cache(self.sources.folder, partial(compiler.keep, made))
        return made if self._other is None else compiler.with_other(made, *self._other)

    def keep(self, sources: Sources) -> None:
        """Keep the machine code on disk, also if a kernel of another game has met the rule already."""
        self.sources = sources
        if "compiled" in self.__dict__:
            _in_cache(sources.folder, partial(_rule_compiler(self.py_func.__qualname__).keep, self.compiled))

    @property
    def _numba_type_(self) -> Any:
        """The type by which Numba calls the rule."""
        from numba.core.types import Dispatcher

        return Dispatcher(self.compiled)

    def __get__(self, owner: Any, kind: Any = None) -> Self:
        """The rule itself: it is no method. `help` shows the arguments of what has `__get__`, as of a function."""
        return self

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """A call from Python runs the rule as written: a few calls are not worth compiling it."""
        written = self.py_func if self._other is None else _either(self.py_func, *self._other)
        with np.errstate(**OVERFLOW):
            return written(*arguments, **named)


class Kernel:
    """A compiled function that Python calls. What runs is found at the first call: shipped machine code, or Numba's."""

    def __init__(self, function: Callable[..., Any], sources: Sources) -> None:
        functools.update_wrapper(self, function)
        self.py_func: Callable[..., Any] = function
        self.sources: Sources = sources
        kernels.add(self)

    @property
    def key(self) -> str:
        """A name that no other kernel has."""
        return f"{self.sources.home}:{self.py_func.__module__}.{self.py_func.__name__}"

    @cached_property
    def shipped(self) -> Callable[..., Any] | None:
        """The machine code that came with the package, if there is some that fits."""
        return shipped_kernel(self.key, lambda: self.sources.digest, lambda *arguments: self.compiled(*arguments))

    @cached_property
    def compiled(self) -> Any:
        """Numba's dispatcher for the kernel."""
        compile_kernel = _rule_compiler(self.key).compile_kernel
        for one in _shared:
            one.compiled  # noqa: B018
        return _in_cache(self.sources.folder, partial(compile_kernel, self.py_func))

    @property
    def is_compiled(self) -> bool:
        """Whether Numba was asked for the kernel."""
        return "compiled" in self.__dict__

    def is_ready(self) -> bool:
        """Whether a call has nothing to compile: the code was shipped, or an earlier start left it."""
        return self.shipped is not None or self.compiled._cache.is_filled()

    def __call__(self, *arguments: Any) -> Any:
        """The first call. Later ones go straight to what it found, without a Python function between.

        Raises RuleError if Numba can't compile a rule that the kernel reaches, and with NUMBA_BOUNDSCHECK=1, at every
        call, for an index past the end of an array.
        """
        with rule_errors(self.key):
            found = self.compiled if self.shipped is None else self.shipped
            try:
                result = found(*arguments)
            except IndexError:
                if not CHECKED:
                    raise
                raise RuleError(
                    f"{self.key}: an index past the end of an array, or below its start, in a rule that this calls. "
                    f"NUMBA_DISABLE_JIT=1 or the command check names the line"
                ) from None
        if CHECKED:
            return result
        self.__class__ = type("Kernel", (Kernel,), {"__call__": staticmethod(found)})
        return result


def _rule_compiler(what: str) -> ModuleType:
    """The module that compiles with Numba. Raises ImportError, with what must be compiled, if Numba is missing."""
    try:
        from tabletop_engine.compiling import rule_compiler
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("numba", "llvmlite"):
            raise
        text = f"{what} must be compiled, as no machine code that fits it was shipped: pip install numba"
        raise ModuleNotFoundError(text, name=error.name) from error
    return rule_compiler


def rule(function: Function) -> Function:
    """Compile a function that other compiled functions call."""
    return cast(Function, Rule(function)) if JIT else _own_source(function)


def shared_rule(function: Function) -> Function:
    """`rule` for a large part of a game: compiled once, not again for every kernel that reaches it."""
    if not JIT:
        return _own_source(function)
    _shared.append(Rule(function, shared=True))
    return cast(Function, _shared[-1])


def rule_with_alternative(field: str, other: Callable[..., Any]) -> Callable[[Function], Function]:
    """`rule` with an alternative: `other` is called if the first argument is a record with this field."""

    def decorate(function: Function) -> Function:
        if JIT:
            return cast(Function, Rule(function, other=(field, other)))
        either = _either(function, field, other)
        either.py_func = function  # type: ignore[attr-defined]
        return cast(Function, either)

    return decorate


def _either(function: Callable[..., Any], field: str, other: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, or `other` if the first argument is a record with this field."""

    @functools.wraps(function)
    def either(s: Any, *arguments: Any) -> Any:
        return (other if field in s.dtype.names else function)(s, *arguments)

    return either


def _own_source(function: Function) -> Function:
    function.py_func = function  # type: ignore[attr-defined]
    return function


def rule_as_written(rule: Any) -> FunctionType | None:
    """The Python function that a rule was made from; None if the argument is not a rule."""
    written = getattr(rule, "py_func", None)
    return written if isinstance(written, FunctionType) else None


def keep_shared_rules(sources: Sources) -> None:
    """Keep the machine code of the shared rules that are defined in these files on disk."""
    files = {str(path) for path in sources.files}
    for one in _shared:
        if one.sources is None and one.py_func.__code__.co_filename in files:
            one.keep(sources)


def kernel(function: Function) -> Function:
    """Compile a function that Python calls and that needs no game. Its machine code is kept on disk."""
    return _kernel(function, Sources())


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
    sources: Sources, templates: Iterable[Callable[..., Any]], names: Mapping[str, Any]
) -> dict[str, Callable[..., Any]]:
    """Compile templates for a game. Returns the compiled functions by the names of the templates.

    The templates of one call may call each other, so their names must differ. Each function is made from the code of
    its template, and not as a closure: Numba's cache finds a closure again only in the process that made it.

    Arguments:
        sources: what the machine code depends on. Templates from elsewhere depend on the files beside them, too.
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
        made[code.__name__] = (
            _kernel(function, _with_own(sources, code.__code__.co_filename)) if is_kernel else rule(function)
        )
    for space in spaces.values():
        space.update(made)
    return made


@functools.cache
def _with_own(sources: Sources, file: str) -> Sources:
    """What the machine code of the templates of a file depends on."""
    beside = Path(file).parent
    return sources if beside.is_relative_to(PACKAGE) else replace(sources, more=files_of([beside]))


def _kernel(function: Function, sources: Sources) -> Function:
    return cast(Function, Kernel(function, sources)) if JIT else _plain(function)


def _in_cache(folder: Path, work: Callable[[], Any]) -> Any:
    """Call `work` with `folder` as Numba's cache: Numba reads that setting when it enables a function's cache."""
    from numba.core import config

    numba_config: Any = config  # its settings are made at import, unknown to type checkers
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
        with np.errstate(**OVERFLOW):
            return function(*map(_with_attributes, arguments))

    return cast(Function, run)


def _with_attributes(argument: Any) -> Any:
    """An argument, or each member of a NamedTuple, as an array whose records have their fields as attributes."""
    if isinstance(argument, tuple):
        return type(argument)(*map(_with_attributes, argument))
    if isinstance(argument, np.ndarray) and argument.dtype.names is not None and argument.dtype.type is np.void:
        return argument.view(np.recarray)  # records that were not declared with `tabletop_engine.record`
    return argument
