"""A game's configuration as options of commands.

A field's metadata say what its option needs: `help`, a text; `metavar`, what stands for its value; `names`, some of
which can be given; `for`: "one" or "several" where only games of so many players have it.
"""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from tabletop.errors import TabletopError
from tabletop_cli.completion import some_of


def words(text: str) -> tuple[str, ...]:
    """The words of an option such as `fertilizer,cactus`."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def whole_numbers(option: str, text: str, wanted: str) -> list[int]:
    """The numbers of an option such as `1,2`. Raises TabletopError, which says what is wanted, for anything else."""
    listed = words(text)
    if not all(word.isdecimal() for word in listed):
        raise TabletopError(f"{option}={text!r}: must be {wanted}")
    return [int(word) for word in listed]


def given(**options: Any) -> dict[str, Any]:
    """Without those that were not given, for which the function called has its own defaults."""
    return {name: value for name, value in options.items() if value is not None}


def command(
    function: Callable[..., None],
    texts: Mapping[str, str],
    config: type[Any],
    *,
    players: str = "",
    without: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    only_given: bool = False,
    shown: Mapping[str, str] | None = None,
    **bound: Any,
) -> Callable[..., None]:
    """The function as a command for a game: options for its parameter `switches`, texts for names in braces.

    Arguments:
        function: takes `switches`, a dictionary of the configuration's fields, if it has such a parameter.
        texts: what stands for `{name}` in its docstring and in the help of its options.
        config: the type of configurations; each field but `players` becomes an option.
        players: "one" or "several": leave out the options of the others.
        without: parameters that are not offered; they have their defaults.
        only: the fields that become options; () for all.
        only_given: the switches are those that were given, all others have their defaults.
        shown: what the help says of the defaults of options that have None, by name.
        bound: arguments that are no options.
    """
    hints = get_type_hints(config)
    chosen = [
        one
        for one in fields(config)
        if one.name != "players"
        and (not only or one.name in only)
        and hints[one.name] is not types.NoneType  # nothing to choose
        and (not players or one.metadata.get("for", players) == players)
    ]
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.name == "switches":
            parameters += [_option(one, hints[one.name], only_given) for one in chosen]
        elif parameter.name not in (*without, *bound):
            annotation = _with_texts(parameter.annotation, texts, (shown or {}).get(parameter.name))
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation))
    has_switches = "switches" in inspect.signature(function).parameters

    def run(**arguments: Any) -> None:
        if has_switches:
            switches = given(**{one.name: arguments.pop(one.name) for one in chosen})
            tuples = {name: words(text) for name, text in switches.items() if _is_tuple(hints[name])}
            arguments["switches"] = switches | tuples
        function(**arguments, **bound)

    run.__name__ = function.__name__
    run.__doc__ = (function.__doc__ or "").format_map(texts)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _option(one: Field[Any], kind: Any, only_given: bool) -> inspect.Parameter:
    flag = f"--{one.name.replace('_', '-')}"
    metavar, default = one.metadata.get("metavar"), None if one.default is MISSING else one.default
    shown: bool | str = False
    if kind is bool:
        kind = bool | None if only_given else bool
    elif _is_tuple(kind):
        kind, default, metavar = str | None, "", metavar or "NAMES"
    else:
        shown = False if default is None else str(default) if only_given else True
        kind = kind if default is not None and not only_given else _or_none(kind)
    names = one.metadata.get("names")
    option = typer.Option(
        flag,
        help=one.metadata.get("help", ""),
        metavar=metavar or ("N" if kind in (int, int | None) else None),
        show_default=shown,
        autocompletion=some_of(names) if names else None,
    )
    default, annotation = None if only_given else default, Annotated[kind, option]
    return inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _or_none(kind: Any) -> Any:
    """The simplest type of what may be None, as typer takes it."""
    plain = [part for part in get_args(kind) if part is not types.NoneType] if get_args(kind) else [kind]
    return (plain[0] if plain[0] in (int, float, str) else str) | None


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _with_texts(annotation: Any, texts: Mapping[str, str], default: str | None) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *notes = get_args(annotation)
    changed = [copy.copy(note) for note in notes]
    for note in changed:
        if default is not None:
            note.show_default = default
        for text in ("help", "show_default"):
            if isinstance(getattr(note, text, None), str):
                setattr(note, text, getattr(note, text).format_map(texts))
    return Annotated[(kind, *changed)]
