"""How a function becomes a command of a game."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, get_args

import typer

from tabletop_cli.line import CommandLine
from tabletop_cli.switches import Fields, switches_of


def add(
    app: typer.Typer,
    line: CommandLine,
    group: str,
    function: Callable[..., None],
    *examples: str,
    name: str | None = None,
    help: str | None = None,
    **fixed: Any,
) -> None:
    """Give an app a command: a function whose signature says its arguments and options, each as `Annotated[type, …]`.

    In three places the game decides what the command has:

    - Its parameter `line`, if it has one, is the game's command line; `fixed` are the values of further parameters that
      are no options.
    - An option may be written as a function of the game's command line, such as `options.players`. It returns the
      option, or None where the game has no use for one; then the parameter keeps its default.
    - `Annotated[dict[str, Any], Fields(…)]` stands for options for fields of the game's configuration. The parameter,
      always called `switches`, gets those that were given.

    Arguments:
        group: of the help. examples: for the end of the command's help, as in `CommandLine.examples`.
        name: None for the function's name with hyphens. help: None for the function's docstring.
    """
    signature = inspect.signature(function, eval_str=True)
    bound = {name: value for name, value in {"line": line, **fixed}.items() if name in signature.parameters}
    offered: list[inspect.Parameter] = []
    fields: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name in bound:
            continue
        kind, option = get_args(parameter.annotation)
        if isinstance(option, Fields):
            fields = option.parameters(line)
            offered += fields
            continue
        if inspect.isfunction(option):
            option = option(line)
        if option is not None:
            offered.append(parameter.replace(annotation=Annotated[kind, option]))

    @wraps(function)
    def command(**arguments: Any) -> None:
        if "switches" in signature.parameters:
            values = {field.name: arguments.pop(field.name) for field in fields}
            arguments["switches"] = switches_of(line.config, values)
        function(**bound, **arguments)

    # typer asks for the signature, and sees the options of this game in it
    command.__signature__ = signature.replace(parameters=offered)  # type: ignore[attr-defined]
    app.command(name, help=help, rich_help_panel=group, epilog=line.examples(*examples) or None)(command)
