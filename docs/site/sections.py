"""Headings of docstrings' sections that say more, such as `Attributes (N games):`, for the API's pages."""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADING = re.compile(r"^( *)(Attributes|Arguments)([ ,][^\n]*):\n(?=\1 {4}\w)", re.MULTILINE)


class Sections(griffe.Extension):
    """Lets Griffe find them: `Attributes: Attributes (N games)` is a section with a title."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = HEADING.sub(r"\1\2: \2\3\n", obj.docstring.value)
