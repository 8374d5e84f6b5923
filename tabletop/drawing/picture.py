"""A picture that notebooks show and that can be saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tabletop.drawing.raster import WIDTH, save_png
from tabletop.errors import TabletopError


@dataclass(frozen=True)
class Picture:
    """A drawing to show or keep: notebooks show it, `save` writes it."""

    svg: str = field(repr=False)  # a hundred thousand characters, which would fill a terminal and every notebook's file

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path, width: int = WIDTH) -> None:
        """Write the file, .svg or .png by its name; `width` is the PNG's, in pixels.

        Raises `TabletopError` for another name, an unwritable file, and a PNG without the extra `render`.
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".svg", ".png"):
            raise TabletopError(f"{path.name!r}: a picture is saved as .svg or .png")
        try:
            if kind == ".png":
                save_png(self.svg, path, width)
            else:
                path.write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise TabletopError(f"{path}: no picture can be written there ({error.strerror or error})") from None
