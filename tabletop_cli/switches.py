"""A game's configuration as options of commands.

A field's metadata describe its option: `help`, a text; `metavar`, the placeholder of its value; `names`, of which some
can be given; `for`, "one" or "several", if only games for one or for several players have it.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, fields
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from tabletop_cli.completion import some_of
from tabletop_cli.line import CommandLine
from tabletop_cli.options import given, words


@dataclass(frozen=True)
class Fields:
    """The fields of a configuration that are options of a command: all but `players`, or fewer.

    Attributes:
        only: the fields; () for all. several: without those that only a game for one has.
    """

    only: Collection[str] = ()
    several: bool = False

    def parameters(self, line: CommandLine) -> list[inspect.Parameter]:
        """The options of a game. Their values are None if they are not given."""
        config: Any = line.config
        hints = _hints(config)
        played = {"one": line.alone and not self.several, "several": line.several}
        return [
            _parameter(one, hints[one.name])
            for one in fields(config)
            if one.name != "players"
            and (not self.only or one.name in self.only)
            and hints[one.name] is not NoneType  # nothing to choose
            and ("for" not in one.metadata or played[one.metadata["for"]])
        ]


Switches = Annotated[dict[str, Any], Fields()]
"""The fields of a configuration that were given on the command line."""


def switches_of(config: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that were given, as the fields of the configuration."""
    hints = _hints(config)
    return {name: words(one) if _is_tuple(hints[name]) else one for name, one in given(**values).items()}


@cache
def _hints(config: Any) -> dict[str, Any]:
    """The types of a configuration's fields. All commands ask for them, before each start."""
    return get_type_hints(config)


def _parameter(one: Field[Any], hint: Any) -> inspect.Parameter:
    """The option for a field."""
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
