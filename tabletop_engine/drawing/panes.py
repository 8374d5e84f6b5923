"""Panes: the parts of a picture, for pages that arrange them anew where the whole picture is too small."""

from __future__ import annotations

from typing import NamedTuple

Box = tuple[float, float, float, float]
"""The corner, the width and the height of a part of a picture, in the picture's units."""


class Pane(NamedTuple):
    """Parts of a picture that are shown beside each other.

    Attributes:
        boxes: the parts, from the left to the right. Together they are made as wide as the screen, if they can be.
        most: the greatest factor by which they are made larger.
        owner: the owner whose pane it is. It is folded away until somebody asks for it.
        words: the name of another pane that is folded away. A pane without an owner and a name is always shown.
    """

    boxes: tuple[Box, ...]
    most: float = 2.0
    owner: int | None = None
    words: str = ""


class Panes(NamedTuple):
    """The panes of a picture on screens of three kinds, each from the top down. () is the whole picture.

    What is in no box is not shown. Of boxes within each other, the smallest counts. An element in several boxes is
    divided, and a `rect` is drawn around all its parts.

    Attributes:
        hand: the names of places that are cards. Pages show those that can be chosen also beside the question.
    """

    phone: tuple[Pane, ...] = ()
    tablet: tuple[Pane, ...] = ()
    desk: tuple[Pane, ...] = ()
    hand: tuple[str, ...] = ()
