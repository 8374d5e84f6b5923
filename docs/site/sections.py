"""What the API's pages show and Griffe, which only reads the sources, doesn't find by itself."""

from __future__ import annotations

import inspect
import re
from typing import Any

import griffe

HEADING = re.compile(r"^( *)(Attributes|Arguments)([ ,][^\n]*):\n(?=\1 {4}\w)", re.MULTILINE)


class Sections(griffe.Extension):
    """Headings that say more: `Attributes (N games):` becomes `Attributes: Attributes (N games)`, one with a title."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = HEADING.sub(r"\1\2: \2\3\n", obj.docstring.value)


class Environments(griffe.Extension):
    """The docstrings and arguments that environments of a game get when they are made
    (`tabletop_engine.envs.of_game`)."""

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        if "game" not in cls.keywords:
            return
        made = griffe.dynamic_import(cls.path)
        cls.docstring = griffe.Docstring(made.__doc__, parent=cls)
        parameters = [
            griffe.Parameter(
                one.name,
                annotation=None if one.annotation is one.empty else str(one.annotation),
                kind=griffe.ParameterKind(one.kind.description),
                default=None if one.default is one.empty else repr(one.default),
            )
            for one in inspect.signature(made).parameters.values()
        ]
        own = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
        cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(own, *parameters)))
