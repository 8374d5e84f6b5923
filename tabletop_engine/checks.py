"""Checks of arguments by their annotations, for functions that people call."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

import numpy as np

from tabletop_engine.errors import ConfigError

P = ParamSpec("P")
R = TypeVar("R")

_SCALARS: dict[Any, tuple[tuple[type, ...], str]] = {
    int: ((int, np.integer), "an int"),
    float: ((int, float, np.integer, np.floating), "a number"),
    bool: ((bool, np.bool_), "True or False"),
    str: ((str,), "a text"),
    Path: ((str, Path), "a path"),
    types.NoneType: ((types.NoneType,), "None"),
    np.ndarray: ((np.ndarray,), "an array"),
}
"""What fits to an annotation, and what it is called."""

OTHER_KINDS: dict[Any, tuple[Callable[[Any], bool], str]] = {}
"""Whether a value fits to an annotation that needs a check of its own, and what such a value is called.

Who defines such a type enters it here, as `tabletop_engine.game` does with `Config`: this file knows no game."""

_LISTS = (Sequence, Iterable, Collection, tuple, list)
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function with a check of its arguments by their annotations, before it does anything.

    It is for functions that people call, and not for those that play each step: a check takes some microseconds.

    The function gets the arguments as `coerced` returns them. A call raises ConfigError for an argument that does not
    fit, and for an unknown name where the function takes any of a TypedDict.
    """
    signature = inspect.signature(function)

    @functools.cache
    def hints() -> dict[str, Any]:  # not before the first call, when all modules are loaded
        return _hints_of(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        for name, value in given.items():
            if name not in hints():
                continue
            wanted = hints()[name]
            if get_origin(wanted) is Unpack:
                given[name] = _fitted_options(value, get_type_hints(get_args(wanted)[0]), signature)
            elif signature.parameters[name].kind not in _ANY_NUMBER:
                given[name] = coerced(name, value, wanted)
        return function(*bound.args, **bound.kwargs)

    return call


def _hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    unknown: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(function, localns=unknown)
        except NameError as error:  # a name that is imported for type checkers alone
            unknown[str(error.name)] = Any


def _fitted_options(given: Mapping[str, Any], known: Mapping[str, Any], signature: inspect.Signature) -> dict[str, Any]:
    for name in given:
        if name not in known:
            named = [one.name for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
            raise ConfigError(f"unknown argument {name!r}; there are {', '.join([*named, *known])}")
    return {name: coerced(name, value, known[name]) for name, value in given.items()}


def coerced(name: str, value: Any, wanted: Any) -> Any:
    """The value of an argument as its annotation wants it: numbers of NumPy as Python's, a list as a tuple, a Path.

    A bool is no number, a text is no list, an empty text is no path, and a class is none of its objects. Only the first
    entry of an array is looked at, and no entry of other lists than lists and tuples.

    Raises ConfigError for anything else, with the argument's name, its value and what it can be.
    """
    for part in _parts(wanted):
        if _fits(value, part):
            return _converted(value, get_origin(part) or part)
    raise ConfigError(f"{name}={value!r:.80}: must be {_words(wanted)}")


def fit_fields(made: Any) -> None:
    """Bring the fields of a new dataclass to their annotations, as `coerced` does. Raises its ConfigError."""
    hints = get_type_hints(type(made))
    for field in fields(made):
        object.__setattr__(made, field.name, coerced(field.name, getattr(made, field.name), hints[field.name]))


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """The value of an argument as an int. Raises ConfigError unless it is one from `low` to `high`."""
    if not is_whole(value) or value < low or (high is not None and value > high):
        allowed = f"of at least {low}" if high is None else f"from {low} to {high:,}"
        raise ConfigError(f"{name}={value!r:.80}: must be an int {allowed}")
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether the value is a whole number, of Python or NumPy, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python: arithmetic with the first wraps around at its largest value."""
    return value.item() if isinstance(value, np.number | np.bool_ | np.str_) else value


def _parts(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)


def _fits(value: Any, wanted: Any, *, deep: bool = True) -> bool:
    """Whether a value fits one part of an annotation; `deep` looks at its entries, too."""
    kind, entry = get_origin(wanted) or wanted, get_args(wanted) or (Any, Any)
    if kind in _SCALARS:
        wrong = value == "" if kind is Path else isinstance(value, bool) and kind is not bool
        return isinstance(value, _SCALARS[kind][0]) and not wrong
    if kind in OTHER_KINDS:
        return OTHER_KINDS[kind][0](value)
    if kind is Callable:
        return callable(value) and not isinstance(value, type)
    if kind in _LISTS:
        return _is_list(value, kind) and (not deep or all(_fits_any(one, entry[0]) for one in _looked_at(value)))
    if kind in (Mapping, dict):
        pairs = value.items() if deep and isinstance(value, Mapping) else ()
        return isinstance(value, Mapping) and all(_fits_any(x, entry[0]) and _fits_any(y, entry[1]) for x, y in pairs)
    is_only_for_types = getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False)
    if kind is Any or not isinstance(kind, type) or is_only_for_types:
        return True  # nothing is known of it
    return isinstance(value, kind) and (kind is type or not isinstance(value, type))  # a class has its objects' methods


def _fits_any(value: Any, wanted: Any) -> bool:
    return any(_fits(value, part, deep=False) for part in _parts(wanted))


def _is_list(value: Any, kind: Any) -> bool:
    if isinstance(value, np.ndarray):
        return kind not in (tuple, list) and value.ndim > 0
    if isinstance(value, str | bytes | Mapping | type):
        return False
    return isinstance(value, list | tuple if kind in (tuple, list) else kind)


def _looked_at(values: Any) -> Iterable[Any]:
    if isinstance(values, np.ndarray):
        return values[:1]
    return values if isinstance(values, list | tuple) else ()


def _converted(value: Any, kind: Any) -> Any:
    if kind in (int, float, bool, str):
        return plain(value)
    if kind in _LISTS and type(value) in (tuple, list) and any(plain(one) is not one for one in value):
        value = type(value)(map(plain, value))
    return kind(value) if kind in (Path, tuple, list) else value


def _words(wanted: Any) -> str:
    *most, last = dict.fromkeys(map(_words_of_part, _parts(wanted)))
    return " or ".join([", ".join(most), last] if most else [last])


def _words_of_part(wanted: Any) -> str:
    kind = get_origin(wanted) or wanted
    if kind in _SCALARS:
        return _SCALARS[kind][1]
    if kind in OTHER_KINDS:
        return OTHER_KINDS[kind][1]
    if kind is Callable:
        return "a function"
    if kind in _LISTS:
        items = " or ".join(getattr(one, "__name__", str(one)) for one in _parts((*get_args(wanted), Any)[0]))
        return f"a list of {items}"
    if kind in (Mapping, dict):
        return "a dictionary"
    name = getattr(kind, "__name__", str(kind))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
