"""What the API's pages show and Griffe, which only reads the sources, doesn't find by itself."""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADING = re.compile(r"^( *)(Attributes|Arguments)([ ,][^\n]*):\n(?=\1 {4}\w)", re.MULTILINE)


class Sections(griffe.Extension):
    """Headings that say more: `Attributes (N games):` becomes `Attributes: Attributes (N games)`, one with a title."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = HEADING.sub(r"\1\2: \2\3\n", obj.docstring.value)
