"""What commands print with Rich: texts from outside, such as an agent's name or a path, are shown as they are."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from tabletop_engine.text.words import shown


class Screen(Console):
    """A terminal where a string is only ever text.

    Rich's markup and emoji codes in it mean nothing, and the terminal obeys no control character in it. Styles are
    those of a `Text`, whose outside parts went through `shown`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """As Rich does, with all but line ends made visible."""
        return super().render_str("\n".join(map(shown, text.split("\n"))), **options)
