"""Rules that Numba can't compile, explained to their author: the rule, its file and line, and the reason in a sentence.

Numba's own text has a paragraph for every function between the mistake and the loop over games. The compiler notes each
of these functions while its error passes through (`noted`), the innermost first, so the rule at fault is known.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabletop_engine.compiling.sources import PACKAGE
from tabletop_engine.errors import RuleError

WHOLE = "TABLETOP_NUMBA_ERRORS"
"""The environment variable with which Numba's whole text goes to stderr, too."""

_LONGEST = 300
"""The most letters of a reason in Numba's words."""
_PASSED = "_tabletop_passed"
"""The attribute of an error with the failures that it has passed through."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_STEP = re.compile(r"Failed in \w+ mode pipeline \(step: .*\)")
_PLACE = re.compile(
    r'File "(?P<file>[^"\n]+)", line (?P<line>[0-9]+)|\b(?:at|from) (?P<at>[^\n]*?) \((?P<number>[0-9]+)\)'
)


@dataclass(frozen=True)
class _Failure:
    """A function that could not be compiled, on the way from the mistake to the kernel.

    Attributes:
        line: where the mistake is, or the call of the failure before this one.
        was_called: whether it is only what another function has called with wrong arguments.
    """

    function: Callable[..., Any]
    line: int
    reason: str
    was_called: bool = False

    @property
    def file(self) -> str:
        return self.function.__code__.co_filename

    @property
    def is_engine(self) -> bool:
        return Path(self.file).is_relative_to(PACKAGE)


class _Noted(threading.local):
    """What failed in this thread since a kernel was called, the innermost function first."""

    def __init__(self) -> None:
        self.failures: list[_Failure] = []


_noted = _Noted()


@contextmanager
def noted(function: Callable[..., Any]) -> Iterator[None]:
    """While this function is compiled: a failure is noted. What failed within an attempt that succeeds is forgotten."""
    before = len(_noted.failures)
    try:
        yield
    except Exception as error:
        reason = _reason(error)
        passed = getattr(error, _PASSED, None) or [one for one in _noted.failures if one.reason == reason]
        if all(one.function is not function or one.was_called for one in passed):
            passed = [*passed, _Failure(function, _line_of(error, function), reason)]
        _noted.failures = passed
        setattr(error, _PASSED, passed)  # Numba keeps its error, and raises it again without compiling again
        raise
    else:
        del _noted.failures[before:]


def note_wrong_call(function: Callable[..., Any], reason: str) -> None:
    """A rule is called with other arguments than it has. It is to blame if the engine calls it."""
    _noted.failures.append(_Failure(function, _first_line(function), reason, was_called=True))


@contextmanager
def rule_errors(kernel: str) -> Iterator[None]:
    """Around the first call of a kernel, which compiles it: raises RuleError in place of an error of the compiler."""
    _noted.failures = []
    try:
        yield
    except Exception as error:
        failures = _noted.failures
        if not failures:
            raise  # it was compiled, and the error is one of the game that was played
        text = _COLOURS.sub("", f"{type(error).__name__}: {error}")
        if os.environ.get(WHOLE, "") not in ("", "0") and sys.stderr is not None:
            print(f"\n{text}\n", file=sys.stderr)
        raise _rule_error(failures, kernel, text) from None
    finally:
        _noted.failures = []


def _rule_error(failures: list[_Failure], kernel: str, text: str) -> RuleError:
    """The error for the author; `text` is Numba's."""
    compiled = [one for one in failures if not one.was_called]
    called = [one for one in failures if one.was_called and not one.is_engine]
    own = [one for one in compiled if not one.is_engine]
    innermost, reason = compiled[0], compiled[-1].reason
    more = f"{WHOLE}=1 shows all that Numba says"
    if not own and called:
        at, reason = called[0], f"the engine calls it otherwise: {reason}"
    else:
        reason += f", in {innermost.function.__name__} of {innermost.function.__module__}" * innermost.is_engine
        if not own:
            return RuleError(f"{kernel} can't be compiled: {reason} ({more})", numba=text)
        at = own[0]
    source = linecache.getline(at.file, at.line).strip()
    place = f"{at.file}, line {at.line}{f': {source}' * bool(source)}"
    rule = at.function.__qualname__
    return RuleError(f"the rule {rule} can't be compiled: {reason}, at {place} ({more})", rule, at.file, at.line, text)


# --- Where -----------------------------------------------------------------------------------------------------------


def _line_of(error: Exception, function: Callable[..., Any]) -> int:
    """The line of this function at which the error arose, or passed through; its first one if nothing tells."""
    code = function.__code__
    last = max((line for *_, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    own = [
        line
        for file, line in [*_places(_COLOURS.sub("", str(error))), *_places_in_frames(error)]
        if code.co_firstlineno <= line <= last and Path(file).absolute() == Path(code.co_filename).absolute()
    ]
    return max(own[0] if own else 0, _first_line(function))


def _first_line(function: Callable[..., Any]) -> int:
    """The line that begins with `def`, below the decorators."""
    first, file = function.__code__.co_firstlineno, function.__code__.co_filename
    below = (line for line in range(first, first + 9) if linecache.getline(file, line).lstrip().startswith("def "))
    return next(below, first)


def _places(text: str) -> Iterator[tuple[str, int]]:
    """Files and lines that Numba names, the innermost first. It writes some paths as seen from the working folder."""
    for found in _PLACE.finditer(text):
        file, line = found["file"] or found["at"], found["line"] or found["number"]
        yield os.path.abspath(file), int(line)


def _places_in_frames(error: Exception) -> Iterator[tuple[str, int]]:
    """Where Numba was when it met the error, the innermost first: some errors name no line."""
    found: list[tuple[str, int]] = []
    step = error.__traceback__
    while step is not None:
        names = step.tb_frame.f_locals
        places: list[Any] = [getattr(names.get(name), "loc", None) for name in ("self", "inst")]
        for place in places:
            if isinstance(getattr(place, "line", None), int):
                found.append((str(place.filename), place.line))
        step = step.tb_next
    return reversed(found)


# --- Why -------------------------------------------------------------------------------------------------------------

_TYPES = (
    (r"Record\(\[.*?\}\)\](?:, \w+)*\)?", "a record"),
    (r"Literal\[str\]\((.*?)\)", r"the text '\1'"),
    (r"Literal\[(\w+)\]\(.*?\)", r"\1"),
    (r"(?:nested)?array\((\w+), (?:\(.*?\)|\w+, \w+)\)", r"array of \1"),
    (r"reflected list\((\w+)\)(?:<iv=\w+>)?", r"list of \1"),
    (r"reflected set\((\w+)\)", r"set of \1"),
    (r"unicode_type", "text"),
    (r"\bnone\b(?!')", "None"),
    (r"Function\(<(?:[\w-]+ )+?(\w+)(?: at \w+)?>\)", r"\1"),
    (r"<class '(?:\w+\.)*(\w+)'>", r"\1"),
    (r"<iv=\w+>", ""),
)
"""How Numba writes types, and how people do."""

_FORMAT = "a format in an f-string, as in `{number:>3}`"
_OPCODES = {
    "IMPORT_NAME": "an import inside a rule",
    "UNPACK_EX": "a starred name on the left, as in `first, *rest = …`",
    "SETUP_WITH": "with",
    "LOAD_BUILD_CLASS": "a class inside a rule",
    "STORE_GLOBAL": "a name that is declared global",
    "SET_UPDATE": "a set from several constants",
    **dict.fromkeys(("FORMAT_WITH_SPEC", "CONVERT_VALUE"), _FORMAT),  # since Python 3.13
    **dict.fromkeys(("BUILD_INTERPOLATION", "BUILD_TEMPLATE"), "a t-string"),
    **dict.fromkeys(("MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"), "a pattern of several values in match"),
}

_READ = "numbers, tuples of numbers and NumPy arrays"
_OPERATIONS = {"getitem": "{0}[{1}]", "setitem": "{0}[{1}] = {2}", "static_getitem": "{0}[{1}]"}
_SIGNS = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "and_": "&", "or_": "|"},
    **{"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "xor": "^", "iadd": "+=", "isub": "-="},
    **{"lshift": "<<", "rshift": ">>", "pow": "**", "contains": "in", "is_": "is"},
}


def _reason(error: Exception) -> str:
    """Why the rule can't be compiled."""
    if type(error) is KeyError and len(error.args) == 1:
        return f"the record has no field {error.args[0]!r}"
    text = _COLOURS.sub("", str(error))
    lines = text.splitlines()
    while lines and (not lines[0].strip() or _STEP.fullmatch(lines[0].strip())):
        del lines[0]
    text = "\n".join(lines)
    for pattern, tell in _REASONS:
        found = re.match(pattern, text, re.DOTALL)
        if found:
            return tell(found)
    return _short(re.split(r"\n|: %", text, maxsplit=1)[0] or type(error).__name__)


def _short(text: str) -> str:
    """A text of Numba with types as people write them, without a place, of a bounded length."""
    text = re.sub(r"\.* Raised from .*|,? defined at .*", "", text).strip().rstrip(".")
    text = _typed(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _typed(text: str) -> str:
    for pattern, plain in _TYPES:
        text = re.sub(pattern, plain, text)
    return text.strip()


def _untyped_name(found: re.Match[str]) -> str:
    name, kind = found["name"], found["kind"].rpartition(".")[2]
    if kind in ("function", "method"):
        return f"{name!r} is a function of Python, not a rule: decorate it with @rule"
    what = "a class" if kind == "type" else f"a {kind}"
    return f"{name!r} is {what}: rules read {_READ}"


def _no_implementation(found: re.Match[str]) -> str:
    name, arguments = found["name"], _arguments(_typed(found["arguments"]))
    specific = re.search(r"raised a specific error:\s*\w+: (.*)", found["rest"])
    if name == "exception_match" or (specific and "Exception matching" in specific[1]):
        return "a rule can't catch errors: it has no try and except"
    if name in _SIGNS and len(arguments) == 2:
        reason = f"there is no {arguments[0]} {_SIGNS[name]} {arguments[1]}"
    elif name in _OPERATIONS:
        reason = f"there is no {_OPERATIONS[name].format(*arguments, '…', '…')}"
    else:
        reason = f"{name}({', '.join(arguments)}) can't be compiled with such arguments"
    return _short(reason + (f" ({specific[1].strip()})" if specific else ""))


def _arguments(text: str) -> list[str]:
    """The arguments of a signature, which are separated by commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


_REASONS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"NameError: name (?P<name>'\w+') is not defined", lambda found: f"the name {found['name']} is not defined"),
    (
        r"Untyped global name '(?P<name>\w+)':\s*Cannot determine Numba type of <class '(?P<kind>[\w.]+)'>",
        _untyped_name,
    ),
    (
        r"Untyped global name (?P<name>'\w+')",
        lambda found: f"{found['name']} is nothing that rules read: they read {_READ}",
    ),
    (
        r"The use of a (?P<kind>.+?) type, assigned to variable '(?P<name>\w+)' in globals, is not supported",
        lambda found: (
            f"{found['name']!r} is a {_typed(found['kind'])} outside of the rule: make it a NumPy array or a tuple"
        ),
    ),
    (
        r"Cannot unify (?P<one>.+?) and (?P<other>.+?) for '(?P<name>[^'.]+)[^']*'",
        lambda found: (
            f"{found['name']!r} is {_typed(found['one'])} in one place and {_typed(found['other'])} in another: "
            "a name keeps one type"
        ),
    ),
    (
        r"Can't unify return type from the following types: (?P<types>[^\n]+)",
        lambda found: (
            f"it returns {' in one place and '.join(dict.fromkeys(_arguments(_typed(found['types']))))} in another: "
            "all results of a rule have one type"
        ),
    ),
    (
        r"No conversion from (?P<one>.+?) to (?P<other>.+?) for '",
        lambda found: f"{_typed(found['one'])} can't be taken for {_typed(found['other'])}",
    ),
    (
        r"Cannot cast (?P<one>.+?) to (?P<other>.+?): ",
        lambda found: f"{_typed(found['one'])} can't be stored as {_typed(found['other'])}",
    ),
    (
        r"Unknown attribute '(?P<name>\w+)' of type (?P<type>[^\n]+)",
        lambda found: f"there is no .{found['name']} of {_typed(found['type'])}",
    ),
    (
        r"No implementation of function Function\(<(?:[\w-]+ )+?'?(?P<name>[\w.]+)'?(?: at \w+)?>\) found for "
        r"signature:\s*"
        r">>> [\w.]+\((?P<arguments>[^\n]*)\)\s*\n(?P<rest>.*)",
        _no_implementation,
    ),
    (
        r"Use of unsupported opcode \((?P<code>\w+)\)",
        lambda found: f"rules can't use {_OPCODES.get(found['code'], 'this part of Python: ' + found['code'])}",
    ),
    (r"format spec in f-strings not supported yet", lambda found: f"rules can't use {_FORMAT}"),  # before Python 3.13
)
"""What Numba says, and the reason that the author reads; for anything else that is its first line."""
