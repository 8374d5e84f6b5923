"""`Petrichor/Solo-v0` and `Petrichor/Versus-v0`: one seat as Gymnasium environments. And pictures of games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

from petrichor_env.game import GAME
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.envs import SeatEnv, SeatVectorEnv, rendering
from tabletop_engine.envs.arguments import SeatArguments, VectorArguments, check_players, solo_arguments
from tabletop_engine.play.agents import Agent

_OF_SEVERAL = ("players", "opponents", "seat", "rounds", "drafting")


class SoloEnv(SeatEnv):
    """The solo game of Petrichor. What holds for every environment of one seat is in `tabletop_engine.envs.SeatEnv`.

    ## Description

    Four rounds against the Southern Winds, which place clouds, drops and votes of a neutral player. You play cards to
    place your own, vote for the weather, and score the crops at each Harvest. You win with more points than the neutral
    player. A game has about 55 small decisions: a card, a tile, a vote. Promos and modules of the Flowers expansion can
    be added.

    ```python
    import gymnasium

    env = gymnasium.make("petrichor_env:Petrichor/Solo-v0")
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (807,), float32)`: what you may know, in the named blocks of `petrichor_env.observation.LAYOUT`.

    ## Action Space

    `Discrete(143)`, with the names of `petrichor_env.actions.ACTION_NAMES`. `info["action_mask"]` (int8) and
    `action_masks()` (bool) say which actions are legal.

    ## Rewards

    - `win` (default): 1 for a won and -1 for a lost game, at its end.
    - `margin`: the change of your points minus the neutral player's, at every step.
    - `points`: the change of your points, at every step.

    All rewards of a game sum to its result: the first one also counts the points at your first decision.

    ## Starting State

    The tiles, the cards and the neutral player's first clouds are random (Southern Winds, Setup). `reset` also starts
    from a position: `options={"scenario": {...}}` takes what `petrichor_env.scenario` does.

    ## Episode End

    The end of the fourth round, or an illegal action. Nothing truncates. The last `info` also has `points`,
    `others_points` (the neutral player's), `won`, `seat` and `illegal`.

    ## Arguments

    - `variants`: what makes the game harder, any of `double_card`, `non_random_targets`, `no_more_tricks`,
      `one_more_turn` (Increasing the Difficulty).
    - `modules`: any of `fertilizer`, `cactus`, `powers`, `forecasts` (promos and Flowers).
    - `powers`: with the module `powers`, your power, such as `("rain",)`: `frost`, `sun`, `wind`, `rain` or `harvest`;
      () deals it at random.
    - `readings`: unclear rules that are read in the other way (docs/rules.md): `forecasts_end_actions`, which needs the
      module `forecasts`.
    - `components`: numbers that replace the shipped ones, as in `petrichor_env.Config`.
    - `reward`, `illegal_action`, `observation_dtype`, `starts`, `editions`, `observe_numbers` (173 more values),
      `render_mode` and `render_size`: as in `SeatEnv`.

    ## Errors

    Those of `SeatEnv`. `ConfigError` also for an argument of the game for several players.

    ## Version History

    - v0: first version.
    """

    refused: ClassVar[tuple[str, ...]] = _OF_SEVERAL

    def __init__(
        self,
        *,
        variants: Sequence[str] = (),
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        readings: Sequence[str] = (),
        components: Any = None,
        **arguments: Unpack[SeatArguments],
    ):
        super().__init__(
            GAME,
            variants=variants,
            modules=modules,
            powers=powers,
            readings=readings,
            components=components,
            **solo_arguments(GAME, self.refused, arguments),
        )


class SoloVectorEnv(SeatVectorEnv):
    """Many solo games of Petrichor: `SoloEnv`, N times, with the same results.

    `tabletop_engine.envs.SeatVectorEnv` says how the games are started, stepped and started again.

    ## Arguments

    - `variants`, `modules`, `powers`, `readings`, `components` and those of every environment: as in `SoloEnv`.
    - `num_envs`, `autoreset_mode`, `num_threads` and `copy`: as in `SeatVectorEnv`.

    ## Errors

    Those of `SoloEnv` and of `SeatVectorEnv`.
    """

    refused: ClassVar[tuple[str, ...]] = _OF_SEVERAL

    def __init__(
        self,
        num_envs: int = 1,
        *,
        variants: Sequence[str] = (),
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        readings: Sequence[str] = (),
        components: Any = None,
        **arguments: Unpack[VectorArguments],
    ):
        super().__init__(
            GAME,
            num_envs,
            variants=variants,
            modules=modules,
            powers=powers,
            readings=readings,
            components=components,
            **solo_arguments(GAME, self.refused, arguments),
        )


class VersusEnv(SeatEnv):
    """Petrichor for 2 to 5 players, seen from one seat. What holds for every environment of one seat is in
    `tabletop_engine.envs.SeatEnv`.

    ## Description

    A turn has several small decisions: a card, a tile, a vote. Agents play the other seats inside `step` and `reset`,
    so that a learner for single-agent environments can train against them.

    ```python
    import gymnasium

    env = gymnasium.make("petrichor_env:Petrichor/Versus-v0", opponents=("greedy",), players=5)
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    ```

    ## Observation Space

    `Box(0, 20, (807,), float32)`: what your seat may know, in the named blocks of `petrichor_env.observation.LAYOUT`.

    ## Action Space

    `Discrete(143)`, with the names of `petrichor_env.actions.ACTION_NAMES`. `info["action_mask"]` (int8) and
    `action_masks()` (bool) say which actions are legal.

    ## Rewards

    The rewards of your seat, summed over a step: your action, and the others' actions until your next decision.

    - `win` (default): at the end of a game with n players and k winners, the winners share 1 and the others share -1;
      0 if all win.
    - `margin`: the change of your points minus the mean of the others' points.
    - `points`: the change of your points.

    All rewards of a game sum to its result: the first one also counts the points at your first decision.

    ## Starting State

    The tiles and the cards are random, and the first player is always drawn. `reset` also starts from a position
    (`options={"scenario": {...}}`), in a seat (`"seat"`), or plays a recorded game again (`"replies"`).

    ## Episode End

    The end of the last round, or an illegal action. Nothing truncates. The last `info` also has `points`,
    `others_points` (the mean), `won` (also for a shared victory), `seat` and `illegal`.

    ## Arguments

    - `players`: 2, 3, 4 or 5.
    - `opponents`: agents, or their names; one for all other seats, or one for each, clockwise from you. See `SeatEnv`.
    - `seat`: your seat, from 0, or `"random"` (default): drawn for every game.
    - `rounds`: 4 (short form) or 6 (long form).
    - `drafting`: True for the Official Drafting Variant.
    - `modules`: any of `fertilizer`, `cactus`, `lake`, `flower_tiles`, `powers`, `forecasts` (promos and Flowers).
    - `powers`: with the module `powers`, one for each player from seat 0, all different: `frost`, `sun`, `wind`,
      `rain`, `harvest`; () deals them at random.
    - `readings`: unclear rules that are read in the other way (docs/rules.md): any of `forecasts_end_actions`, which
      needs the module `forecasts`, and `primrose_passes_once`, which needs `flower_tiles`.
    - `components`: numbers that replace the shipped ones, as in `petrichor_env.Config`.
    - `reward`, `illegal_action`, `observation_dtype`, `starts`, `editions`, `observe_numbers` (173 more values),
      `render_mode` and `render_size`: as in `SeatEnv`.

    ## Errors

    Those of `SeatEnv`. `ConfigError` also for `players=1`, which is `SoloEnv`.

    ## Version History

    - v0: first version.
    """

    refused: ClassVar[tuple[str, ...]] = ("variants",)

    def __init__(
        self,
        opponents: Sequence[Agent | str] = ("greedy",),
        players: int = 2,
        *,
        seat: int | str = "random",
        rounds: int = 4,
        drafting: bool = False,
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        readings: Sequence[str] = (),
        components: Any = None,
        **arguments: Unpack[SeatArguments],
    ):
        super().__init__(
            GAME,
            opponents=opponents,
            players=check_players(GAME, players),
            seat=seat,
            rounds=rounds,
            drafting=drafting,
            modules=modules,
            powers=powers,
            readings=readings,
            components=components,
            **arguments,
        )


class VersusVectorEnv(SeatVectorEnv):
    """Many games of Petrichor for 2 to 5 players, each seen from one seat: as `VersusEnv`, N times.

    `tabletop_engine.envs.SeatVectorEnv` says how the games are started, stepped and started again, and how opponents
    play in all of them.

    ## Arguments

    - `players`, `opponents`, `seat`, `rounds`, `drafting`, `modules`, `powers`, `readings`, `components` and those of
      every environment: as in `VersusEnv`.
    - `num_envs`, `autoreset_mode`, `num_threads` and `copy`: as in `SeatVectorEnv`.

    ## Errors

    Those of `VersusEnv` and of `SeatVectorEnv`.
    """

    refused: ClassVar[tuple[str, ...]] = ("variants",)

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Sequence[Agent | str] = ("greedy",),
        players: int = 2,
        *,
        seat: int | str = "random",
        rounds: int = 4,
        drafting: bool = False,
        modules: Sequence[str] = (),
        powers: Sequence[str] = (),
        readings: Sequence[str] = (),
        components: Any = None,
        **arguments: Unpack[VectorArguments],
    ):
        super().__init__(
            GAME,
            num_envs,
            opponents=opponents,
            players=check_players(GAME, players),
            seat=seat,
            rounds=rounds,
            drafting=drafting,
            modules=modules,
            powers=powers,
            readings=readings,
            components=components,
            **arguments,
        )


def picture(shown: Any, viewer: int | None = None) -> Picture:
    """A game as a picture. A notebook shows it as the last value of a cell; `save` writes it as SVG or PNG.

    It is `tabletop_engine.envs.rendering.picture`, which describes the arguments, for Petrichor.
    """
    return rendering.picture(shown, viewer, GAME)
