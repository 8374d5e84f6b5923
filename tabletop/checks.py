"""Checks of arguments by their annotations, for functions that people call."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

import numpy as np

from tabletop.errors import ConfigError
from tabletop.game import Config, Game

P = ParamSpec("P")
R = TypeVar("R")

_SCALARS: dict[Any, tuple[tuple[type, ...], str]] = {
    int: ((int, np.integer), "an int"),
    float: ((int, float, np.integer, np.floating), "a number"),
    bool: ((bool, np.bool_), "True or False"),
    str: ((str,), "a text"),
    Path: ((Path,), "a Path"),
    types.NoneType: ((types.NoneType,), "None"),
    np.ndarray: ((np.ndarray,), "an array"),
}
"""What fits to an annotation, and what it is called."""


_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function with a check of its arguments by their annotations, before it does anything.

    Numbers may be NumPy's, a bool is no number, and a text is no list. Of a list only texts and numbers are looked at,
    and not in arrays. A call raises ConfigError for an argument that does not fit, with its name, its value and what it
    can be, and for an unknown name where the function takes any.
    """
    signature = inspect.signature(function)

    @functools.cache
    def hints() -> dict[str, Any]:  # not before the first call, when all modules are loaded
        return get_type_hints(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given = signature.bind(*args, **kwargs).arguments
        for name, value in given.items():
            if name not in hints():
                continue
            wanted = hints()[name]
            if get_origin(wanted) is Unpack:
                _check_options(value, get_type_hints(get_args(wanted)[0]), signature)
            elif signature.parameters[name].kind not in _ANY_NUMBER:
                check_argument(name, value, wanted)
        return function(*args, **kwargs)

    return call


def _check_options(given: Mapping[str, Any], known: Mapping[str, Any], signature: inspect.Signature) -> None:
    for name, value in given.items():
        if name not in known:
            named = [one.name for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
            raise ConfigError(f"unknown argument {name!r}; there are {', '.join([*named, *known])}")
        check_argument(name, value, known[name])


def check_argument(name: str, value: Any, wanted: Any) -> None:
    """Raise ConfigError unless the value of an argument fits its annotation."""
    if not _fits(value, wanted):
        raise ConfigError(f"{name}={value!r:.80}: must be {_words(wanted)}")


def is_config(value: Any) -> bool:
    """Whether this is a configuration of a game."""
    game = getattr(value, "game", None)
    return isinstance(game, Game) and isinstance(value, game.config)


def _parts(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else (wanted,)


def _fits(value: Any, wanted: Any) -> bool:
    return any(_fits_part(value, part) for part in _parts(wanted))


def _fits_part(value: Any, wanted: Any) -> bool:
    kind = get_origin(wanted) or wanted
    if kind in _SCALARS:
        return isinstance(value, _SCALARS[kind][0]) and (kind is bool or not isinstance(value, bool))
    if kind is Config:
        return is_config(value)
    if kind is Callable:
        return callable(value)
    if kind in (Sequence, Iterable):
        (item,) = get_args(wanted)
        return _is_list(value, kind) and all(_fits(one, item) for one in _plain(value, item))
    if kind is Any or not isinstance(kind, type):
        return True  # nothing is known of it
    return isinstance(value, kind) and (kind is type or not isinstance(value, type))  # a class has its objects' methods


def _is_list(value: Any, kind: Any) -> bool:
    return isinstance(value, (kind, np.ndarray)) and not isinstance(value, str | bytes | Mapping | type)


def _plain(values: Any, item: Any) -> Iterable[Any]:
    """What to look at in a list of such items."""
    return values if item in (int, float, str) and isinstance(values, list | tuple) else ()


def _words(wanted: Any) -> str:
    *most, last = dict.fromkeys(map(_words_of_part, _parts(wanted)))
    return " or ".join([", ".join(most), last] if most else [last])


def _words_of_part(wanted: Any) -> str:
    kind = get_origin(wanted) or wanted
    if kind in _SCALARS:
        return _SCALARS[kind][1]
    if kind is Config:
        return "a game's configuration"
    if kind is Callable:
        return "a function"
    if kind in (Sequence, Iterable):
        items = " or ".join(getattr(one, "__name__", str(one)) for one in _parts(*get_args(wanted)[:1]))
        return f"a list of {items}"
    name = getattr(kind, "__name__", str(kind))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
