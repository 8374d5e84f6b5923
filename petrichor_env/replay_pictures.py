"""A replay as pictures: an animated GIF, or a PNG of every step."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from petrichor_env.errors import PetrichorError, ReplayError
from petrichor_env.render.board import render_svg
from petrichor_env.render.raster import WIDTH, pillow, rgb_array, save_png
from petrichor_env.replays import Frame, Replay, frames, told
from petrichor_env.state import NOBODY

GIF_WIDTH = 480
MILLISECONDS = 700
"""Of a picture in a GIF."""

_FASTEST, _SLOWEST = 20, 60_000
_LAST_PICTURE = 3_000
"""Milliseconds that the result is shown for, at least."""
_COLOURS = 255
"""In a GIF; one more stands for what stays as it was."""
_SAMPLES = 16
"""Pictures that the colours of a GIF are chosen from."""

Progress = Callable[[int], None]
"""Is told how many more pictures are drawn."""


@dataclass(frozen=True)
class Drawing:
    """One step of a replay as a viewer sees it.

    Attributes:
        frame: of the replay.
        svg: the board, with the last action in its last line.
        by, done: whose action led here, in words what it was; NOBODY and "" at the start. NOBODY where the viewer can't
            know it.
    """

    frame: Frame
    svg: str
    by: int
    done: str


def drawings(replay: Replay, viewer: int | None = None) -> Iterator[Drawing]:
    """Every step of the game, the start first.

    Arguments:
        viewer: seat that looks on; None shows all hands.

    Raises ReplayError at the first step at which the replay differs, PetrichorError for a viewer who doesn't play.
    """
    before = None
    for frame in frames(replay):
        yield _drawing(replay, before, frame, viewer)
        before = frame


def write_gif(
    replay: Replay,
    path: str | Path,
    width: int = GIF_WIDTH,
    milliseconds: int = MILLISECONDS,
    viewer: int | None = None,
    on_finished: Progress | None = None,
) -> None:
    """Write an animated picture that shows every step; the last one stays for three seconds, and it starts anew.

    Arguments:
        width: of the square, in pixels.
        milliseconds: how long each step is shown, 20 to 60,000 (in hundredths of a second).
        viewer: seat that looks on; None shows all hands.
        on_finished: called with 1 after each of the replay's frames.

    Raises ReplayError as `frames` does and where the file can't be written, PetrichorError for bad arguments and
    without the extra `render`.
    """
    if isinstance(milliseconds, bool) or not _FASTEST <= milliseconds <= _SLOWEST:
        raise PetrichorError(f"milliseconds={milliseconds!r}: {_FASTEST} to {_SLOWEST}, for each step")
    image = pillow()
    shown = list(frames(replay))
    last = len(shown) - 1

    def pixels(step: int) -> Any:
        drawing = _drawing(replay, shown[step - 1] if step else None, shown[step], viewer)
        return image.fromarray(rgb_array(drawing.svg, width))

    samples = [np.asarray(pixels(step)) for step in sorted({*np.linspace(0, last, _SAMPLES).astype(int).tolist()})]
    colours = image.fromarray(np.concatenate(samples)).quantize(_COLOURS, method=image.Quantize.FASTOCTREE)

    def pictures() -> Iterator[Any]:
        for step in range(last + 1):
            yield pixels(step).quantize(palette=colours, dither=image.Dither.NONE)
            if on_finished is not None:
                on_finished(1)

    following = pictures()
    content = io.BytesIO()
    next(following).save(
        content,
        "GIF",
        save_all=True,
        append_images=following,
        duration=[milliseconds] * last + [max(milliseconds, _LAST_PICTURE)],
        loop=0,
        optimize=True,  # what stays as it was is left out: an eighth of the size
    )
    _write(Path(path), content.getvalue())


def write_pngs(
    replay: Replay,
    folder: str | Path,
    width: int = WIDTH,
    viewer: int | None = None,
    on_finished: Progress | None = None,
) -> list[Path]:
    """Write a picture of every step, called by its number: `000.png` is the start. Returns their paths.

    Arguments:
        folder: is made if it isn't there; one with files in it is refused, lest two games are mixed.
        width, viewer, on_finished: as in `write_gif`.

    Raises ReplayError as `frames` does and where no file can be written, PetrichorError for bad arguments and without
    the extra `render`.
    """
    folder = Path(folder)
    paths: list[Path] = []
    digits = max(3, len(str(len(replay.actions))))
    try:
        if folder.exists() and any(folder.iterdir()):
            raise ReplayError(f"{folder}: has files in it already; a new or empty folder for the pictures")
        for drawing in drawings(replay, viewer):
            folder.mkdir(parents=True, exist_ok=True)  # none is left by a replay that can't be played
            paths.append(folder / f"{drawing.frame.step:0{digits}}.png")
            save_png(drawing.svg, paths[-1], width)
            if on_finished is not None:
                on_finished(1)
    except OSError as error:
        raise ReplayError(f"{folder}: no pictures can be written there ({error.strerror or error})") from None
    return paths


def _drawing(replay: Replay, before: Frame | None, frame: Frame, viewer: int | None) -> Drawing:
    by, done = told(before, frame, viewer)
    who = "" if by == NOBODY else f"{replay.label(by)}: "
    names: Sequence[str] = replay.owner_labels
    svg = render_svg(frame.state, viewer, tables=replay.tables, last_action=f"{who}{done}", names=names)
    return Drawing(frame, svg, by, done)


def _write(path: Path, content: bytes) -> None:
    """Write the file; at no time is half of one there."""
    unfinished = path.with_name(path.name + ".part")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
        reason = getattr(error, "strerror", None) or error
        raise ReplayError(f"{path}: can't be written ({reason})") from None
