"""Pictures as pixels, with ThorVG (the extra `render`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabletop_engine.checks import checked, is_whole
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.extras import needed

WIDTH = 640
_LARGEST = 16384


def check_pixels(name: str, number: int, smallest: int, largest: int) -> int:
    """The number of pixels. Raises `ConfigError` unless it is a whole number within these bounds."""
    if not is_whole(number) or not smallest <= number <= largest:
        raise ConfigError(f"{name}={number!r}: must be a whole number of pixels from {smallest} to {largest}")
    return int(number)


def rgb_array(svg: str, width: int = WIDTH) -> NDArray[np.uint8]:
    """The picture as pixels: (height, width, 3) uint8, black where the picture is empty. Its proportions are kept.

    Raises `TabletopError` if the library is missing, for a width outside 1 to 16384, and for text that is not SVG.
    """
    width = check_pixels("width", width, 1, _LARGEST)
    tvg, engine = _thorvg()
    canvas = tvg.SwCanvas(engine)
    picture = tvg.Picture(engine)
    canvas.add(picture)  # the canvas owns it now, and releases it
    try:
        loaded = picture.load_data(svg.encode(errors="replace"), "svg", None, True)
        _, across, down = picture.get_size()
        if loaded != tvg.Result.SUCCESS or not across * down > 0:
            raise TabletopError(f"this SVG can't be drawn: {svg[:60]!r}")
        height = max(1, round(width * down / across))
        canvas.set_target(width, height)
        picture.set_size(float(width), float(height))
        canvas.draw(True)
        canvas.sync()
        rgba = np.frombuffer(canvas.buffer_arr, np.uint8).reshape(height, width, 4)
        pixels = np.empty((height, width, 3), np.uint8)
        for channel in range(3):  # four times as fast as one assignment of all three
            pixels[:, :, channel] = rgba[:, :, channel]
    finally:
        canvas.destroy()
    return pixels


@lru_cache(maxsize=1)
def _thorvg() -> tuple[Any, Any]:
    """The library, and its engine without threads of its own."""
    tvg = needed("thorvg_python", "a picture as pixels", "render")
    return tvg, tvg.Engine(threads=0)


@checked
def save_png(svg: str, path: str | Path, width: int = WIDTH) -> None:
    """Write the picture as a PNG file, `width` pixels wide.

    Raises `TabletopError` as `rgb_array` does, and for a file that can't be written.
    """
    pixels = pillow().fromarray(rgb_array(svg, width))
    with writing(path):
        pixels.save(path, "PNG")


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Raises `TabletopError` where a picture can't be written to this path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise TabletopError(f"path={str(path)!r}: no picture can be written there ({reason})") from None


def pillow() -> Any:
    """The module `PIL.Image`. Raises `TabletopError` if it is missing."""
    return needed("PIL.Image", "a picture as a file of pixels", "render")
