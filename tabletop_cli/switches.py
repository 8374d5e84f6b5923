"""A game's configuration as options of commands, and commands without the options that a game does not need.

A field's metadata describe its option: `help`, a text; `metavar`, the placeholder of its value; `names`, of which some
can be given; `for`, "one" or "several", if only games for one or for several players have it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import Field, fields
from functools import wraps
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from tabletop_cli.completion import some_of
from tabletop_cli.options import given, words

Switches = dict[str, Any]
"""The fields of a configuration that were given on the command line."""

_Command = Callable[..., None]


def without(*names: str) -> Callable[[_Command], _Command]:
    """A decorator that removes parameters that a game's command does not need. They keep their defaults."""

    def decorated(command: _Command) -> _Command:
        signature = inspect.signature(command, eval_str=True)
        offered = [one for name, one in signature.parameters.items() if name not in names]
        command.__signature__ = signature.replace(parameters=offered)  # type: ignore[attr-defined]
        return command

    return decorated


def with_switches(
    config: type[Any], *, players: str = "", only: Collection[str] = ()
) -> Callable[[_Command], _Command]:
    """A decorator for a command. Options for the fields of a configuration replace its parameter `switches`.

    Arguments:
        config: the type of configurations; each field but `players` becomes an option.
        players: "one" or "several": leave out fields for other numbers of players.
        only: the fields that become options; () for all.
    """
    hints = get_type_hints(config)
    chosen = [
        one
        for one in fields(config)
        if one.name != "players"
        and (not only or one.name in only)
        and hints[one.name] is not NoneType  # nothing to choose
        and (not players or one.metadata.get("for", players) == players)
    ]

    def decorated(function: _Command) -> _Command:
        signature = inspect.signature(function, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for name, parameter in signature.parameters.items():
            if name == "switches":
                parameters += [_parameter(one, hints[one.name]) for one in chosen]
            else:
                parameters.append(parameter)

        @wraps(function)
        def command(**arguments: Any) -> None:
            switches = given(**{one.name: arguments.pop(one.name) for one in chosen})
            tuples = {name: words(text) for name, text in switches.items() if _is_tuple(hints[name])}
            function(**arguments, switches=switches | tuples)

        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return command

    return decorated


def _parameter(one: Field[Any], hint: Any) -> inspect.Parameter:
    """The option for a field. Its value is None if it is not given."""
    several = _is_tuple(hint)
    kind: Any = str if several else next((kind for kind in (bool, int, float) if kind in (hint, *get_args(hint))), str)
    names = one.metadata.get("names")
    option = typer.Option(
        f"--{one.name.replace('_', '-')}",
        help=one.metadata.get("help", ""),
        metavar=one.metadata.get("metavar") or ("NAMES" if several else "N" if kind is int else None),
        show_default=str(one.default) if isinstance(one.default, int | float | str) and kind is not bool else False,
        autocompletion=some_of(names) if names else None,
    )
    return inspect.Parameter(
        one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, option]
    )


def _is_tuple(hint: Any) -> bool:
    return get_origin(hint) is tuple
