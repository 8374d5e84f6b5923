"""Rendering of environments: the game as text, as a picture, or in a window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tabletop_engine.checks import checked
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.drawing.raster import check_pixels, rgb_array
from tabletop_engine.drawing.window import Window
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.play.batch import Batch, Seed
from tabletop_engine.play.learner_games import LearnerGames
from tabletop_engine.record import FORFEIT

Frame: TypeAlias = str | NDArray[np.uint8]
"""A rendered game: text or pixels."""
_SMALLEST, _LARGEST = 16, 4096
"""Width and height of a picture, in pixels."""


class Shown(NamedTuple):
    """A game to show, and the seat that looks on.

    Attributes:
        state: one record.
        viewer: the seat that looks on; None shows all hands.
        tables: (1,) printed numbers that the game is played with.
        game: its index among the games of a `Rendering`.
    """

    state: Any
    viewer: int | None
    tables: np.ndarray
    game: int = 0


class Rendering:
    """Renders N games. For pictures it listens to their batch, so that a picture tells the last step in words.

    Arguments:
        games: `LearnerGames`; or a `Batch`, all of whose seats play from outside.
        mode: the `render_mode` of the environment.
        size: its `render_size`.
        modes: the modes that it offers.

    Raises `ConfigError` for a bad mode or size, and `TabletopError` if a window is not possible. If pictures are not,
    the first picture raises it: learners ask for the mode and never draw.
    """

    def __init__(self, games: Batch | LearnerGames, mode: str | None, size: int, modes: Sequence[str]) -> None:
        if mode is not None and (not isinstance(mode, str) or mode not in modes):
            raise ConfigError(f"render_mode={mode!r}: must be {', '.join(map(repr, modes))} or None")
        self.game: Game = games.game
        self.mode = mode
        self.draws: bool = mode in ("rgb_array", "human")
        self._size = check_pixels("render_size", size, _SMALLEST, _LARGEST)
        self._window = Window(self.game.title) if mode == "human" else None
        self._batch = games if isinstance(games, Batch) else games.batch
        self._seats = None if isinstance(games, Batch) else games.seats
        n = games.num_games
        self._played: list[list[tuple[Any, int | None]]] = [[] for _ in range(n)]  # states, actions of the last step
        self._led_to: list[bytes] = [b""] * n  # the states after them
        self._before = np.zeros(0, self.game.state)
        self._listen()

    def __setstate__(self, content: dict[str, Any]) -> None:
        self.__dict__.update(content)
        self._listen()  # a copied batch has no listeners

    def _listen(self) -> None:
        if self.draws:
            self._batch.listeners.append(self)

    def on_reset(self, batch: Batch, which: np.ndarray, seed: Seed) -> None:
        """Nothing to do: what was played is told only beside the state that it led to."""

    def before_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Keep the states before a step."""
        self._before = batch.states.copy()

    def after_step(self, batch: Batch, actions: np.ndarray, which: np.ndarray) -> None:
        """Remember what was played, with None for the action that replaced an illegal one."""
        instead = FORFEIT if batch.illegal_action == "lose" else None
        for game in np.flatnonzero(which & (self._before["actor"] != NOBODY)).tolist():
            before = self._before[game]
            # The learner's action begins a step of the environment, and the others' actions go on with it. Those in
            # front of the learner's first decision begin nothing: the state in front of them is of no step.
            if self._seats is None or before["actor"] == self._seats[game]:
                self._played[game] = []
            elif before.tobytes() != self._led_to[game]:
                continue
            self._played[game].append((before, instead if batch.illegal[game] else int(actions[game])))
            # with "same_step" the next game has begun
            after = batch.final_states[game] if batch.terminations[game] else batch.states[game]
            self._led_to[game] = after.tobytes()

    def frame(self, shown: Shown, fps: float) -> Frame | None:
        """The only game, rendered in this mode. None with "human", and, with a warning, without a mode."""
        if self._window is None:
            frames = self.frames([shown])
            return None if frames is None else frames[0]
        if not self._window.is_closed_by_user:
            self._window.show(self._pixels(shown), fps)
        return None

    def frames(self, shown: Sequence[Shown]) -> tuple[Frame, ...] | None:
        """All games, rendered in this mode. None, with a warning, without a mode."""
        if self.mode is None:
            gymnasium.logger.warn(
                'render() without a render mode: make the environment with render_mode="rgb_array" or "ansi"'
            )
            return None
        if self.draws:
            return tuple(map(self._pixels, shown))
        return tuple(self.game.drawing.render_text(one.state, one.viewer, tables=one.tables) for one in shown)

    def svg(self, shown: Shown) -> str:
        """The picture, in any mode. The last step is in it only in modes that draw pictures."""
        last = self.game.words.in_brief(self._sentences(shown))
        return self.game.drawing.render_svg(shown.state, shown.viewer, tables=shown.tables, last_action=last)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _pixels(self, shown: Shown) -> NDArray[np.uint8]:
        return rgb_array(self.svg(shown), self._size)

    def _sentences(self, shown: Shown) -> Iterator[str]:
        """Sentences about the last actions and their effects, as far as the viewer may know them."""
        # A game that has started since, or a state that was put in, is shown without the step before.
        if shown.state.tobytes() != self._led_to[shown.game]:
            return
        words = self.game.words
        for before, action in self._played[shown.game]:
            done = "an action that is not legal"
            if action is not None and action != FORFEIT:
                done = words.told_action(before, action, shown.viewer)
            if done:
                yield f"{words.owner_names(int(before['players']))[before['actor']]}: {done}."
            yield from words.events(before, action, shown.viewer, shown.tables)


@checked
def picture(shown: Any, viewer: int | None = None, game: Game | None = None) -> Picture:
    """A game as a picture. A notebook shows it as the last value of a cell; `save` writes it as SVG or PNG.

    Arguments:
        shown: an environment, wrapped or not, or one record of `game`, such as `batch.states[0]` or a `scenario`. A
            record is drawn with the shipped numbers. The last action is in the picture only if the render mode of the
            environment is "rgb_array" or "human".
        viewer: the seat that looks on, from 0. None shows an environment as its `render` does, and a record with all
            hands.
        game: the game of a record; not needed for an environment.

    Raises `TabletopError` for anything else, for a viewer who doesn't play, and without the extra `render`.
    """
    env: Any = getattr(shown, "unwrapped", shown)
    if isinstance(getattr(env, "_rendering", None), Rendering) and hasattr(env, "_shown"):
        shown_game = env._shown()
        return Picture(env._rendering.svg(shown_game if viewer is None else shown_game._replace(viewer=viewer)))
    if game is not None and getattr(shown, "dtype", None) == game.state and shown.shape == ():
        return Picture(game.drawing.render_svg(np.atleast_1d(shown)[0], viewer))
    wanted = "an environment of one game, or one state such as batch.states[0]"
    raise TabletopError(f"shown: {type(shown).__name__} can't be drawn: {wanted}")
