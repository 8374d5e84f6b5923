"""A replay as pictures: an animated GIF, or a PNG of every step."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.checks import checked
from tabletop_engine.drawing.raster import WIDTH, pillow, rgb_array, save_png
from tabletop_engine.errors import ReplayError, TabletopError
from tabletop_engine.replays.files import write
from tabletop_engine.replays.replay import Frame, Replay, events_for, frames

GIF_WIDTH = 480
"""The width of a GIF, in pixels."""
MILLISECONDS = 700
"""The time of a step in a GIF."""

_FASTEST, _SLOWEST = 20, 60_000
_LAST_PICTURE = 3_000
"""The least time that the result is shown, in milliseconds."""
_COLOURS = 255
"""The number of colours in a GIF, besides one that stands for unchanged pixels."""
_SAMPLES = 16
"""The number of pictures from which the colours of a GIF are chosen."""

Progress = Callable[[int], None]
"""A function that is called with the number of additional steps that are finished."""


@checked
def svg_of(replay: Replay, frame: Frame, viewer: int | None = None, *, with_events: bool = False) -> str:
    """The board of a frame as a seat sees it; None shows all hands.

    Its last line tells the last action and, if `with_events`, its effects.

    Raises TabletopError for a viewer who doesn't play.
    """
    game, sentences = replay.game, []
    if frame.last_action:
        sentences.append(f"{replay.label(frame.last_actor)}: {frame.last_action}.")
    if with_events:
        sentences += events_for(replay, frame, viewer)
    last, names = game.words.in_brief(sentences), replay.owner_labels
    return game.drawing.render_svg(frame.state, viewer, names=names, tables=replay.tables, last_action=last)


@checked
def write_gif(
    replay: Replay,
    path: str | Path,
    width: int = GIF_WIDTH,
    milliseconds: int = MILLISECONDS,
    viewer: int | None = None,
    on_finished: Progress = lambda done: None,
) -> None:
    """Write an animated GIF of all steps. The last one stays for at least three seconds, then the GIF starts again.

    Arguments:
        width: the width and height, in pixels.
        milliseconds: the time of each step, 20 to 60,000; GIF rounds it to hundredths of a second.
        viewer: the seat that looks on; None shows all hands.
        on_finished: called with 1 after each step.

    Raises ReplayError as `frames` does or if the file can't be written, and TabletopError for bad arguments and without
    the extra `render`.
    """
    if isinstance(milliseconds, bool) or not _FASTEST <= milliseconds <= _SLOWEST:
        raise TabletopError(f"milliseconds={milliseconds!r}: must be {_FASTEST} to {_SLOWEST} for each step")
    image = pillow()
    shown = list(frames(replay, viewer))
    last = len(shown) - 1

    def pixels(step: int) -> Any:
        return image.fromarray(rgb_array(svg_of(replay, shown[step], viewer, with_events=True), width))

    samples = [np.asarray(pixels(step)) for step in sorted({*np.linspace(0, last, _SAMPLES).astype(int).tolist()})]
    colours = image.fromarray(np.concatenate(samples)).quantize(_COLOURS, method=image.Quantize.FASTOCTREE)

    def pictures() -> Iterator[Any]:
        for step in range(last + 1):
            yield pixels(step).quantize(palette=colours, dither=image.Dither.NONE)
            on_finished(1)

    following = pictures()
    content = io.BytesIO()
    durations = [milliseconds] * last + [max(milliseconds, _LAST_PICTURE)]
    # `optimize` leaves out unchanged pixels, which gives an eighth of the size
    options: Any = {"save_all": True, "duration": durations, "loop": 0, "optimize": True}
    next(following).save(content, "GIF", append_images=following, **options)
    write(Path(path), content.getvalue())


@checked
def write_pngs(
    replay: Replay,
    folder: str | Path,
    width: int = WIDTH,
    viewer: int | None = None,
    on_finished: Progress = lambda done: None,
) -> list[Path]:
    """Write a picture of every step, named by its number: `000.png` is the start. Returns the paths.

    Arguments:
        folder: the folder for the pictures. It is made if needed, and must be empty, so that games are not mixed.
        width: the width and height, in pixels.
        viewer: the seat that looks on; None shows all hands.
        on_finished: called with 1 after each step.

    Raises ReplayError as `frames` does or if a file can't be written, and TabletopError for bad arguments and without
    the extra `render`.
    """
    folder = Path(folder)
    paths: list[Path] = []
    shown = list(frames(replay, viewer))  # before a folder is made, since this may raise an error
    digits = max(3, len(str(len(shown) - 1)))
    try:
        if folder.exists() and any(folder.iterdir()):
            raise ReplayError(f"{folder}: has files in it; give a new or empty folder for the pictures")
        for frame in shown:
            svg = svg_of(replay, frame, viewer, with_events=True)
            folder.mkdir(parents=True, exist_ok=True)  # only now, so that an error leaves no folder
            paths.append(folder / f"{frame.step:0{digits}}.png")
            save_png(svg, paths[-1], width)
            on_finished(1)
    except OSError as error:
        raise ReplayError(f"{folder}: no pictures can be written there ({error.strerror or error})") from None
    return paths
