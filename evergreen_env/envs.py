"""`Evergreen/Solo-v0` and `Evergreen/Versus-v0`: one seat as Gymnasium environments. And pictures of games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

from evergreen_env.game import GAME
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.envs import SeatEnv, SeatVectorEnv, rendering
from tabletop_engine.envs.arguments import SeatArguments, VectorArguments, check_players, solo_arguments
from tabletop_engine.play.agents import Agent

_OF_SEVERAL = ("players", "opponents", "seat")


class SoloEnv(SeatEnv):
    """The solo game of Evergreen. What holds for every environment of one seat is in `tabletop_engine.envs.SeatEnv`.

    ## Description

    You play for points: fourteen rounds in four seasons. Each round you take one of two cards, and the other one
    changes the fertility of a biome. Your card is an action in its biome and a power that grows with every use: plant
    sprouts, let them grow into trees, place bushes and lakes. At the end of each season trees in the light and the
    largest forest score. At the end of the game big trees score the fertility of their biome. A game has 60 to 100
    small decisions: a card, an action, a space.

    ```python
    import gymnasium

    env = gymnasium.make("evergreen_env:Evergreen/Solo-v0")
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (1472,), float32)`: what you may know, in the named blocks of `evergreen_env.observation.LAYOUT`.
    Planets are planes of 7 x 7.

    ## Action Space

    `Discrete(52)`, with the names of `evergreen_env.actions.ACTION_NAMES`. `info["action_mask"]` (int8) and
    `action_masks()` (bool) say which actions are legal.

    ## Rewards

    There is no opponent, so `points` is the reward: the change of your points, when a round ends. All rewards of a game
    sum to your points at its end.

    ## Starting State

    The deck and the first flowers of the fertility zone are random. `reset` also starts from a position:
    `options={"scenario": {...}}` takes what `evergreen_env.scenario` does.

    ## Episode End

    The end of the fourth season, or an illegal action. Nothing truncates. The last `info` also has `points`,
    `others_points` (0.0), `won` (true unless an illegal action ended the game), `seat` and `illegal`.

    ## Arguments

    - `components`: a board, a deck and flags that replace the shipped ones, as in `evergreen_env.Config`.
    - `reward`: `"points"`.
    - `illegal_action`, `observation_dtype`, `starts`, `editions`, `observe_numbers` (605 more values), `render_mode`
      and `render_size`: as in `SeatEnv`.

    ## Errors

    Those of `SeatEnv`. `ConfigError` also for an argument of the game for several players.

    ## Version History

    - v0: first version.
    """

    refused: ClassVar[tuple[str, ...]] = _OF_SEVERAL

    def __init__(self, *, components: Any = None, **arguments: Unpack[SeatArguments]):
        super().__init__(GAME, components=components, **solo_arguments(GAME, self.refused, arguments))


class SoloVectorEnv(SeatVectorEnv):
    """Many solo games of Evergreen: `SoloEnv`, N times, with the same results.

    `tabletop_engine.envs.SeatVectorEnv` says how the games are started, stepped and started again.

    ## Arguments

    - `components` and those of every environment: as in `SoloEnv`.
    - `num_envs`, `autoreset_mode`, `num_threads` and `copy`: as in `SeatVectorEnv`.

    ## Errors

    Those of `SoloEnv` and of `SeatVectorEnv`.
    """

    refused: ClassVar[tuple[str, ...]] = _OF_SEVERAL

    def __init__(self, num_envs: int = 1, *, components: Any = None, **arguments: Unpack[VectorArguments]):
        super().__init__(GAME, num_envs, components=components, **solo_arguments(GAME, self.refused, arguments))


class VersusEnv(SeatEnv):
    """Evergreen for 2 to 4 players, seen from one seat. What holds for every environment of one seat is in
    `tabletop_engine.envs.SeatEnv`.

    ## Description

    A turn has several small decisions: a card, an action, a space. All players take their turns at the same time: you
    see what the others have done when all are finished. Agents play the other seats inside `step` and `reset`, so that
    a learner for single-agent environments can train against them.

    ```python
    import gymnasium

    env = gymnasium.make("evergreen_env:Evergreen/Versus-v0", opponents=("greedy",), players=4)
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (1472,), float32)`: what your seat may know, in the named blocks of `evergreen_env.observation.LAYOUT`.
    Planets are planes of 7 x 7.

    ## Action Space

    `Discrete(52)`, with the names of `evergreen_env.actions.ACTION_NAMES`. `info["action_mask"]` (int8) and
    `action_masks()` (bool) say which actions are legal.

    ## Rewards

    The rewards of your seat, summed over a step: your action, and the others' actions until your next decision.

    - `win` (default): 1 for the winner, and the others share -1, at the end. There is always one winner.
    - `margin`: the change of your points minus the mean of the others' points.
    - `points`: the change of your points.

    Points change when a round ends, for all players at once. All rewards of a game sum to its result: the first one
    also counts the points at your first decision.

    ## Starting State

    The deck and the first flowers of the fertility zone are random, and the first player is always drawn. `reset` also
    starts from a position (`options={"scenario": {...}}`), in a seat (`"seat"`), or plays a recorded game again
    (`"replies"`).

    ## Episode End

    The end of the fourth season, or an illegal action. Nothing truncates. The last `info` also has `points`,
    `others_points` (the mean), `won`, `seat` and `illegal`.

    ## Arguments

    - `players`: 2, 3 or 4.
    - `opponents`: agents, or their names; one for all other seats, or one for each, clockwise from you. See `SeatEnv`.
    - `seat`: your seat, from 0, or `"random"` (default): drawn for every game.
    - `components`: a board, a deck and flags that replace the shipped ones, as in `evergreen_env.Config`.
    - `reward`, `illegal_action`, `observation_dtype`, `starts`, `editions`, `observe_numbers` (605 more values),
      `render_mode` and `render_size`: as in `SeatEnv`.

    ## Errors

    Those of `SeatEnv`. `ConfigError` also for `players=1`, which is `SoloEnv`.

    ## Version History

    - v0: first version.
    """

    def __init__(
        self,
        opponents: Sequence[Agent | str] = ("greedy",),
        players: int = 2,
        *,
        seat: int | str = "random",
        components: Any = None,
        **arguments: Unpack[SeatArguments],
    ):
        players = check_players(GAME, players)
        super().__init__(GAME, opponents=opponents, players=players, seat=seat, components=components, **arguments)


class VersusVectorEnv(SeatVectorEnv):
    """Many games of Evergreen for 2 to 4 players, each seen from one seat: as `VersusEnv`, N times.

    `tabletop_engine.envs.SeatVectorEnv` says how the games are started, stepped and started again, and how opponents
    play in all of them.

    ## Arguments

    - `players`, `opponents`, `seat`, `components` and those of every environment: as in `VersusEnv`.
    - `num_envs`, `autoreset_mode`, `num_threads` and `copy`: as in `SeatVectorEnv`.

    ## Errors

    Those of `VersusEnv` and of `SeatVectorEnv`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Sequence[Agent | str] = ("greedy",),
        players: int = 2,
        *,
        seat: int | str = "random",
        components: Any = None,
        **arguments: Unpack[VectorArguments],
    ):
        super().__init__(
            GAME,
            num_envs,
            opponents=opponents,
            players=check_players(GAME, players),
            seat=seat,
            components=components,
            **arguments,
        )


def picture(shown: Any, viewer: int | None = None) -> Picture:
    """A game as a picture. A notebook shows it as the last value of a cell; `save` writes it as SVG or PNG.

    It is `tabletop_engine.envs.rendering.picture`, which describes the arguments, for Evergreen.
    """
    return rendering.picture(shown, viewer, GAME)
