"""A picture for notebooks, which can be saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tabletop_engine.checks import checked
from tabletop_engine.drawing.raster import WIDTH, save_png, writing
from tabletop_engine.errors import TabletopError


@dataclass(frozen=True)
class Picture:
    """A picture: notebooks show it, and `save` writes it to a file.

    Attributes:
        svg: the SVG document, about a hundred thousand characters.
    """

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    @checked
    def save(self, path: str | Path, width: int = WIDTH) -> None:
        """Write the picture to a file that ends in .svg or .png. `width` is the width of a PNG, in pixels.

        Raises `TabletopError` for another name, for a file that can't be written, and for a PNG without the extra
        `render`.
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".svg", ".png"):
            raise TabletopError(f"path={str(path)!r}: must end in .svg or .png")
        if kind == ".png":
            save_png(self.svg, path, width)
            return
        with writing(path):
            path.write_text(self.svg, encoding="utf-8")
