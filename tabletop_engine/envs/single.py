"""One seat of one game as a Gymnasium environment. Agents play the other seats, if there are any."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tabletop_engine.checks import whole
from tabletop_engine.drawing.raster import WIDTH
from tabletop_engine.envs.arguments import (
    check_action,
    check_options,
    check_replies,
    observation_box,
    preparation,
    seat_games,
)
from tabletop_engine.envs.rendering import Frame, Rendering, Shown
from tabletop_engine.errors import GameOver, TabletopError
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_engine.play.learner_games import LearnerGames, Prepare, check_seat
from tabletop_engine.record import told_points


class StepInfo(dict[str, Any]):
    """The info of a step. After a game it also has its result.

    During a game `info["points"]`, `others_points`, `won`, `seat` and `illegal` can be looked up, too, and are added
    then. Wrappers that cut a game short and write down how it stands (`TimeLimit` under Stable-Baselines3's `Monitor`)
    need them, and all others need not wait for them.

    Attributes:
        seat: the learner's seat.
    """

    __slots__ = ("_config", "_points", "seat")

    def __init__(self, batch: LearnerGames) -> None:
        super().__init__(action_mask=batch.action_masks[0].copy())
        self.seat: int = batch.seats.item()
        self._points: list[int | float] = batch.batch.paid[0].tolist()  # what rewards have counted: all, after a step
        self._config = batch.config

    def add_result(self, won: bool) -> None:
        """Add `points`, `others_points`, `won` and `seat`."""
        points = told_points(self._points)
        own = points[self._config.game.teams(self._config)[self.seat]]
        others = (sum(points) - own) / max(1, self._config.owners - 1)
        self.update(points=own, others_points=others, won=won, seat=self.seat)

    def __missing__(self, key: str) -> Any:
        if key not in ("points", "others_points", "won", "seat", "illegal"):
            raise KeyError(key)
        self.add_result(won=False)
        self.setdefault("illegal", False)
        return self[key]

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class Replying:
    """An opponent that gives the replies of a recorded game as long as they are legal, and decides itself after that.

    All opponents of a game take from the same replies, which are in the order of play.
    """

    def __init__(self, agent: Agent, replies: deque[int]) -> None:
        self.agent: Agent = agent
        self.replies: deque[int] = replies
        self.name: str = agent.name

    def act(self, decisions: Decisions, generator: np.random.Generator) -> NDArray[np.int64]:
        """The reply to the one decision of a single game."""
        if self.replies and decisions.action_masks[0, self.replies[0]] == 1:
            return np.array([self.replies.popleft()], np.int64)
        self.replies.clear()  # the learner has left the recorded game
        return self.agent.act(decisions, generator)


class SeatEnv(gymnasium.Env[NDArray[Any], np.int64]):
    """One seat of a game, the learner's, as a Gymnasium environment. Agents play the other seats, if there are any.

    `SeatEnv(game)` plays any game: a `Game`, or the name of the module that has it as `GAME`. The environments of a
    game derive from it, and what stands here holds for all of them.

    ## Observation Space

    `Box(low, high, (size,), float32)`: what the player of this seat may know, in the named blocks of
    `game.observation`, the same for every configuration. Other seats are counted clockwise from this one, so that a
    policy need not know its seat. The last observation of a game is this seat's too.

    ## Action Space

    `Discrete(game.num_actions)`, with the names of `game.actions`. The legal actions are in `info["action_mask"]`
    (int8, 1 for legal, as `action_space.sample` takes it) and in `action_masks()` (bool, as sb3-contrib takes it). When
    the game is over, all are 1.

    ## Rewards

    The rewards of this seat, summed over a step: its own action, and the others' actions until its next decision.

    - `win` (default): at the end of a game with n players and k winners, the winners share 1 and the others share -1;
      0 if all win. Alone against an opponent that the rules play: 1 for a won and -1 for a lost game.
    - `margin`: the change of your points minus the mean of the others' points.
    - `points`: the change of your points. Without any opponent there is no other reward, and this one is the default.

    All rewards of a game sum to its result: the first one also counts the points at your first decision.

    ## Starting State

    A random set-up. `reset(seed=n)` sets up the same game as `Batch(config, 1, seed=n)`. `reset()` continues the random
    stream of the previous game. `reset(options={"scenario": {...}})` starts from a described position instead
    (`game.scenario`). What the description leaves out of the configuration is the environment's own, and without the
    key `random` so is the random stream.

    The others' actions up to your first decision belong to the start. The seat and the random choices of the opponents
    follow from the seed too. `options` may also have `seat`, your seat in this game, and `replies`, the first actions
    of the other seats: with those of a recorded game it is played again.

    ## Episode End

    The end of the game terminates the episode, and so does an illegal action with `illegal_action="lose"`. An episode
    is never truncated. The last `info` also has `points` (int, or float for halves), `others_points` (float, the mean
    of the others' points), `won` (bool, also for a shared victory), `seat` (int) and `illegal` (bool). During a game
    these entries are not listed, but can be looked up.

    ## Arguments

    - The fields of the game's configuration, such as `players`.
    - `opponents`: agents, or names for `tabletop_agents.make_agent`, such as `"random"`, `"greedy"`, `"ismcts-200"` or
      `"policy:PATH"`. One opponent plays every other seat; several sit clockwise from you, one on each seat.
    - `seat`: your seat, from 0, or `"random"` (default): drawn for every game.
    - `reward`: the name of one of the rewards above.
    - `illegal_action`: the effect of an action that the mask forbids. `"lose"` (default): the game is lost and ends.
      The reward is then -1 with `win`; with `margin` or `points` it brings the sum of all rewards to -100 or 0.
      `"raise"`: `IllegalAction` is raised and nothing changes. `"random"`: a random legal action is played instead, and
      `info["illegal"]` is true. Anything but an integer of the action space raises `IllegalAction` in all three cases.
    - `observation_dtype`: `"float32"` (default), or `"int8"` for undivided counts up to 127, which take a quarter of
      the memory and less time.
    - `starts`: positions to start from, as in `tabletop_engine.play.batch.Batch`.
    - `editions`: other numbers on the pieces for every game: how many editions are drawn (seeds 0, 1, …), or a list
      with a seed or `components` for each edition. A new game draws its edition from its random stream.
    - `observe_numbers`: whether the numbers on the pieces follow the observation, in the named blocks of
      `game.numbers`. They are appended, not a second key, so that any learner for flat observations takes them, and a
      trained network plays as `policy:`.
    - `render_mode`: `"ansi"` (`render()` returns text), `"rgb_array"` (it returns the pixels of a picture), `"human"`
      (a window shows the picture after every step) or None. All show what this seat sees.
    - `render_size`: the width and height of the picture in pixels, 16 to 4096.

    ## Errors

    `ConfigError` for a bad argument or option, and for an opponent that is unknown or can't play this game;
    `CheckpointError` for a trained opponent that can't be read; `ComponentsError` for bad numbers; `ScenarioError` for
    a bad scenario; `TabletopError` for a window without a screen or without the extra `render`, and from `render` for a
    picture without it; `GameOver` from `step` after the end.
    """

    refused: ClassVar[tuple[str, ...]] = ()
    """Arguments of the game that a class derived from this one refuses. Messages don't offer them."""

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array", "human"],
        "render_fps": 2,
    }

    def __init__(self, game: Game | str, *, render_mode: str | None = None, render_size: int = WIDTH, **arguments: Any):
        self.batch: LearnerGames = seat_games(self, game, arguments, autoreset="disabled", new_observations=False)
        game = self.batch.game
        self._rendering = Rendering(self.batch, render_mode, render_size, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.observation_space: gymnasium.spaces.Box = observation_box(
            game, self.batch.observations.dtype, self.batch.observe_numbers
        )
        self.action_space: gymnasium.spaces.Discrete = gymnasium.spaces.Discrete(game.num_actions)
        self._started = False
        self._actions = np.zeros(1, np.int64)

    @property
    def seat(self) -> int:
        """The learner's seat in the current game."""
        return int(self.batch.seats[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start a random game, or the position `options["scenario"]`. Returns the observation and the info.

        `options["seat"]` is the learner's seat in this game. `options["replies"]` are the first actions of the other
        seats, in the order of play; as soon as one is not legal, or there is none left, the opponents decide. With the
        seed, seat and replies of a recorded game and the learner's own actions, that game is played again.
        """
        given = check_options(options, ("scenario", "seat", "replies"))
        prepare = preparation([given.get("scenario")], self.batch.config)
        seat = check_seat(given["seat"], self.batch.players) if "seat" in given else self.batch.seat
        replies = check_replies(given.get("replies", ()), self.batch.config)
        if seed is not None:
            seed = whole("seed", seed, 0)  # Gymnasium refuses numbers of NumPy
        super().reset(seed=seed)
        if seed is None and not self._started:
            seed = int(self.np_random.integers(2**63))
        self._start(seed, prepare, seat, replies)
        self._started = True
        if self.render_mode == "human":
            self.render()
        return self.batch.observations[0].copy(), {"action_mask": self.batch.action_masks[0].copy()}

    def step(self, action: int | np.int64) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Play one action, then the others' until the learner has a decision again or the game is over.

        Returns observation, reward, terminated, truncated (always False) and info.
        """
        batch = self.batch
        self._actions[0] = check_action(action, batch.game.num_actions)
        if not self._started:
            raise GameOver("no game has been started yet; call reset first")
        batch.step(self._actions)
        info = StepInfo(batch)
        terminated, illegal = batch.terminations.item(), batch.illegal.item()
        if terminated:
            info.add_result(bool(batch.batch.winners()[0, info.seat]))
        if terminated or illegal:
            info["illegal"] = illegal
        if self.render_mode == "human":
            self.render()
        return batch.observations[0].copy(), batch.rewards.item(), terminated, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Whether each action is legal, (actions,) bool. sb3-contrib's MaskablePPO calls this method."""
        return self.batch.action_masks[0].astype(np.bool_)

    @property
    def state(self) -> Any:
        """A copy of the whole game, one record."""
        return self.batch.batch.states[0].copy()

    def render(self) -> Frame | None:
        """The game as this seat sees it: text with `render_mode="ansi"`, pixels with `"rgb_array"`.

        Pixels are (render_size, render_size, 3) uint8. With `"human"` a window shows them, and None is returned.
        """
        return self._rendering.frame(self._shown(), self.metadata["render_fps"])

    def close(self) -> None:
        """Close the window, if there is one."""
        self._rendering.close()

    def _start(self, seed: int | None, prepare: Prepare | None, seat: int, replies: deque[int]) -> None:
        """Start a game in this seat, in which the others first give these replies. If it fails nothing changes."""
        batch = self.batch
        seat_before, before = batch.seat, batch.opponents
        plain = [one.agent if isinstance(one, Replying) else one for one in before]
        batch.seat, batch.opponents = seat, [Replying(one, replies) for one in plain] if replies else plain
        try:
            batch.reset(seed, prepare=prepare)
        except TabletopError:
            batch.opponents = before
            raise
        finally:
            batch.seat = seat_before

    def _shown(self) -> Shown:
        games = self.batch.batch
        return Shown(games.states[0], self.seat, games.tables_of(0))
