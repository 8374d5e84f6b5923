"""What environments show: the game as text, as a picture, or in a window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tabletop.batch import Batch, Seed
from tabletop.drawing.picture import Picture
from tabletop.drawing.raster import check_pixels, rgb_array
from tabletop.drawing.svg import element, text
from tabletop.drawing.window import Window
from tabletop.errors import ConfigError, TabletopError
from tabletop.game import NOBODY, Game
from tabletop.record import FORFEIT
from tabletop.versus import VersusBatch

Frame: TypeAlias = str | NDArray[np.uint8]
"""Of a game, as text or as pixels."""
_SMALLEST, _LARGEST = 16, 4096
"""Width and height of a picture, in pixels."""


class Shown(NamedTuple):
    """A game as it is shown to somebody."""

    state: Any  # one record
    viewer: int | None  # the seat that looks on, None for all hands
    tables: np.ndarray  # (1,) the numbers on the pieces that it is played with
    game: int = 0  # its number among those of a `Rendering`


class Rendering:
    """How N games are shown. Where pictures are made (`draws`), their last steps are remembered, to be told there.

    Arguments:
        mode, size: an environment's `render_mode` and `render_size`. modes: those that it offers.

    Raises `ConfigError` for a bad mode or size, `TabletopError` where pictures or a window are asked for and can't be.
    """

    def __init__(self, game: Game, mode: str | None, size: int, modes: Sequence[str], num_games: int = 1) -> None:
        if mode is not None and mode not in modes:
            raise ConfigError(f"render_mode={mode!r}: {', '.join(map(repr, modes))} or None")
        self.game = game
        self.mode = mode
        self.draws = mode in ("rgb_array", "human")
        self._size = check_pixels("render_size", size, _SMALLEST, _LARGEST)
        self._window = Window(game.title) if mode == "human" else None
        self._played: list[list[tuple[Any, int | None]]] = [[] for _ in range(num_games)]  # states, actions
        self._before = np.zeros(0, game.state)
        if self.draws:  # without the extra "render" it fails now, and not in the middle of a game
            letter = element("svg", text("?", 0, 0, 1), xmlns="http://www.w3.org/2000/svg", viewBox="0 0 1 1")
            rgb_array(str(letter), 1)

    def started(self, which: NDArray[np.bool_] | slice = slice(None)) -> None:
        """These games have been started anew: nothing has happened in them."""
        for game in np.arange(len(self._played))[which].tolist():
            self._played[game] = []

    def step(self, games: Batch | VersusBatch, actions: NDArray[np.int64]) -> None:
        """Step all games. Raises as they do."""
        if not self.draws:
            games.step(actions)
            return
        batch = games if isinstance(games, Batch) else games.batch
        played, self._played = self._played, [[] for _ in self._played]
        batch.listeners.append(self)  # the others' actions are told, too
        try:
            games.step(actions)
        except TabletopError:
            self._played = played
            raise
        finally:
            batch.listeners.remove(self)
        if games.autoreset == "same_step":
            self.started(games.terminations)

    def on_reset(self, batch: Batch, which: np.ndarray, seed: Seed) -> None:
        """Nothing of what comes before the first decision is told."""

    def before_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        self._before = batch.states.copy()

    def after_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        instead = FORFEIT if batch.illegal_action == "lose" else None
        for game in np.flatnonzero(which & (self._before["actor"] != NOBODY)).tolist():
            action = instead if batch.illegal[game] else int(actions[game])
            self._played[game].append((self._before[game], action))

    def frame(self, shown: Shown, fps: float) -> Frame | None:
        """The only game, in this mode. Without one it is None, and a warning; in a window it is None, too."""
        if self._window is None:
            frames = self.frames([shown])
            return None if frames is None else frames[0]
        if not self._window.is_closed_by_user:
            self._window.show(self._pixels(shown), fps)
        return None

    def frames(self, shown: Sequence[Shown]) -> tuple[Frame, ...] | None:
        """All games, in this mode."""
        if self.mode is None:
            gymnasium.logger.warn(
                'render() without a render mode: make the environment with render_mode="rgb_array" or "ansi"'
            )
            return None
        if self.draws:
            return tuple(map(self._pixels, shown))
        return tuple(self.game.drawing.render_text(one.state, one.viewer, tables=one.tables) for one in shown)

    def svg(self, shown: Shown) -> str:
        """The picture, whatever the mode; what has happened last is in it where pictures are drawn."""
        last = self.game.words.in_brief(self._told(shown))
        return self.game.drawing.render_svg(shown.state, shown.viewer, tables=shown.tables, last_action=last)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _pixels(self, shown: Shown) -> NDArray[np.uint8]:
        return rgb_array(self.svg(shown), self._size)

    def _told(self, shown: Shown) -> Iterator[str]:
        """Sentences: the last actions, and what they did, as far as the viewer may know."""
        words = self.game.words
        for before, action in self._played[shown.game]:
            done = "an action that is not legal"
            if action is not None and action != FORFEIT:
                done = words.told_action(before, action, shown.viewer)
            if done:
                yield f"{words.owner_names(int(before['players']))[before['actor']]}: {done}."
            yield from words.events(before, action, shown.viewer, shown.tables)


def picture(shown: Any, viewer: int | None = None, game: Game | None = None) -> Picture:
    """A game as a picture, which a notebook shows when it is a cell's last value, and `save` writes as SVG or PNG.

    Arguments:
        shown: an environment, in wrappers or not, or one record of `game`, such as `batch.states[0]` or a `scenario`,
            which is drawn with the shipped numbers. What was done last is in the picture of an environment whose
            render mode is "rgb_array" or "human"; others don't keep it.
        viewer: the seat that looks on, from 0. None shows an environment as its `render` does, a state with all hands.

    Raises `TabletopError` for anything else, for a viewer who doesn't play, and without the extra `render`.
    """
    env: Any = getattr(shown, "unwrapped", shown)
    if isinstance(getattr(env, "_rendering", None), Rendering) and hasattr(env, "_shown"):
        shown_game = env._shown()
        return Picture(env._rendering.svg(shown_game if viewer is None else shown_game._replace(viewer=viewer)))
    if game is not None and getattr(shown, "dtype", None) == game.state and shown.shape == ():
        return Picture(game.drawing.render_svg(np.atleast_1d(shown)[0], viewer))
    wanted = "an environment of one game, or one state such as batch.states[0]"
    raise TabletopError(f"{type(shown).__name__} can't be drawn: {wanted}")
