"""A window on the screen, with pygame (the extra `render`)."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabletop_engine.errors import TabletopError
from tabletop_engine.extras import needed

_INSTEAD = 'use render_mode="rgb_array" or "ansi" instead, or play in the terminal by the command `play`'
_SHOWING_NOTHING = ("dummy", "offscreen")
"""Drivers of SDL that show nothing. SDL chooses the second by itself if the screen can't be reached."""
_POLL = 0.02
"""Seconds between checks of the close button."""


class Window:
    """A window that shows one picture after another. It opens with the first picture.

    A window that its user closed is not reopened by later pictures. Copies and unpickled objects open their own window.

    Raises `TabletopError` if pygame is missing or there is no screen.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.is_closed_by_user: bool = False
        self._window: Any = None
        self._pixels: NDArray[np.uint8] | None = None
        self._shown_at = 0.0
        self._pygame()

    def show(self, pixels: NDArray[np.uint8], fps: float) -> None:
        """Show pixels, (H, W, 3) uint8. The previous picture stays for at least 1 / `fps` seconds."""
        pygame = self._pygame()
        self._answer_close_button()
        if self._pixels is not None and not np.array_equal(self._pixels, pixels):
            while not self.is_closed_by_user and (left := self._shown_at + 1 / fps - time.monotonic()) > 0:
                time.sleep(min(left, _POLL))
                self._answer_close_button()
        if self.is_closed_by_user:
            return
        size = pixels.shape[1::-1]
        if self._window is None:
            self._window = pygame.Window(self.title, size)
        self._window.get_surface().blit(pygame.image.frombuffer(pixels, size, "RGB"), (0, 0))
        self._window.flip()
        self._pixels, self._shown_at = pixels, time.monotonic()
        self._answer_close_button()

    def close(self) -> None:
        """Close the window if it is open. The next picture opens it again, even if its user had closed it."""
        self._destroy()
        self.is_closed_by_user = False

    def _answer_close_button(self) -> None:
        """Close the window if its user wants that. Reading events also tells the system that the program is alive."""
        pygame = self._pygame()
        if self._window is None:
            return
        for event in pygame.event.get((pygame.QUIT, pygame.WINDOWCLOSE)):
            if event.type == pygame.QUIT or event.window is self._window:
                self.is_closed_by_user = True
            else:
                pygame.event.post(event)  # another window's
        if self.is_closed_by_user:
            self._destroy()

    def _destroy(self) -> None:
        if self._window is not None:
            self._window.destroy()
        self._window = self._pixels = None

    def _pygame(self) -> Any:
        """The library, with its screen in use. If other code has released the screen, the window is gone."""
        pygame = needed("pygame", 'render_mode="human"', "render")
        if not pygame.display.get_init():
            self._window = self._pixels = None
            _use_screen(pygame)
        return pygame

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None, "_pixels": None}


def _use_screen(pygame: Any) -> None:
    """Use the screen. Raises `TabletopError` if there is none, except for a driver named in SDL_VIDEODRIVER."""
    named = os.environ.get("SDL_VIDEODRIVER")
    if sys.platform == "linux" and not (named or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise _no_screen("neither DISPLAY nor WAYLAND_DISPLAY is set")
    try:
        pygame.display.init()
    except pygame.error as error:
        raise _no_screen(str(error)) from None
    driver = pygame.display.get_driver()
    if driver in _SHOWING_NOTHING and not named:
        pygame.display.quit()
        raise _no_screen(f"SDL finds none and would draw {driver}")


def _no_screen(reason: str) -> TabletopError:
    return TabletopError(f'render_mode="human" opens a window, but there is no screen ({reason}); {_INSTEAD}')
