"""The arguments and options of environments: their types, and their checks."""

from __future__ import annotations

import inspect
import operator
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypedDict

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from tabletop_engine.checks import coerced, is_whole
from tabletop_engine.errors import ConfigError, IllegalAction, ScenarioError
from tabletop_engine.game import Config, Game, game_of
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import LearnerGames, Prepare, learner_games
from tabletop_engine.play.starts import Starts, record_of
from tabletop_engine.play.tables import Editions

_OF_GAMES = (
    *("opponents", "seat", "reward", "illegal_action", "observation_dtype"),
    *("starts", "editions", "observe_numbers"),
)


class CommonArguments(TypedDict, total=False):
    """The arguments that the environments of all games have. `tabletop_engine.envs.SeatEnv` describes them."""

    reward: str
    illegal_action: str
    observation_dtype: str
    editions: Editions | None
    observe_numbers: bool
    render_mode: str | None
    render_size: int


class SeatArguments(CommonArguments, total=False):
    """The arguments of environments of one seat."""

    starts: Starts | None


class VectorArguments(SeatArguments, total=False):
    """The arguments of vector environments. `tabletop_engine.envs.SeatVectorEnv` describes them."""

    autoreset_mode: AutoresetMode | str
    num_threads: int | None
    copy: bool


class AECArguments(CommonArguments, total=False):
    """The arguments of environments of all seats. `tabletop_engine.envs.aec.SeatsAEC` describes them."""

    action_mask: str


def solo_arguments(game: Game, refused: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the solo environment of a game gives to the engine: `given`, one player, and "points" if they play alone.

    Raises `ConfigError` for an argument that is `refused`, and for another reward if there is no opponent.
    """
    for name in refused:
        if name in given:
            _, versus = ids_of(game)
            raise ConfigError(f"{name}={given[name]!r}: not in the solo game; use it with {versus}")
    if game.config(players=1).owners > 1:
        return {"players": 1, **given}
    if given.get("reward", "points") != "points":
        raise ConfigError(f"reward={given['reward']!r}: must be 'points'; alone there is nobody to win against")
    return {"players": 1, "reward": "points", **given}


def check_players(game: Game, players: int) -> int:
    """The number of players. Raises `ConfigError` for 1, if that is a game of its own; the rest `Config` checks."""
    if isinstance(players, int | np.integer) and players == 1 and 1 in game.players:
        solo, _ = ids_of(game)
        raise ConfigError(f"players=1: must be {numbers_of_players(game)}; the solo game is {solo}")
    return players


def check_num_players(game: Game, num_players: int) -> int:
    """The number of players of a PettingZoo environment. Raises `ConfigError` for any other number."""
    if not is_whole(num_players) or num_players < 2 or num_players not in game.players:
        alone = f"; the solo game is Gymnasium's {ids_of(game)[0]}" if 1 in game.players else ""
        raise ConfigError(f"num_players={num_players!r}: must be {numbers_of_players(game)}{alone}")
    return num_players


def numbers_of_players(game: Game) -> str:
    """The numbers of players of the games for several, such as `2, 3 or 4`."""
    *most, last = [str(number) for number in game.players if number > 1]
    return f"{', '.join(most)} or {last}" if most else last


def ids_of(game: Game) -> tuple[str, str]:
    """The Gymnasium ids of the solo game and of one seat of the game for several."""
    name = game.title.replace(" ", "")
    return f"{name}/Solo-v0", f"{name}/Versus-v0"


def seat_games(
    env: Any, game: Game | str, given: Mapping[str, Any], num_games: int = 1, **options: Any
) -> LearnerGames:
    """The games of an environment of one seat.

    Arguments:
        env: the environment, whose arguments are named in the message about an unknown one.
        game: a `Game`, or the name of the module that has it as `GAME`.
        given: the arguments of `SeatEnv` except those for rendering.
        num_games: the number of games.
        **options: arguments of `learner_games`.

    Raises `ConfigError` for an unknown argument, and the errors of the configuration and of `learner_games`.
    """
    game = game_of(game) if isinstance(game, str) else coerced("game", game, Game)
    known = [field.name for field in fields(game.config)]
    for name in given:
        if name not in (*known, *_OF_GAMES):
            raise ConfigError(f"unknown argument {name!r}; there are {', '.join(_arguments_of(env, known))}")
    config = game.config(**{name: value for name, value in given.items() if name in known})
    options |= {"illegal_action": "lose", **{name: value for name, value in given.items() if name not in known}}
    return learner_games(config, num_games, **options)


def _arguments_of(env: Any, known: Sequence[str]) -> list[str]:
    """The names of an environment's arguments; `known` are the fields of the configuration."""
    classes = [base for base in type(env).__mro__ if "__init__" in vars(base)]
    of_classes = [one for base in classes for one in inspect.signature(vars(base)["__init__"]).parameters.values()]
    named = [one.name for one in of_classes if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
    names = dict.fromkeys([*known, *_OF_GAMES, *named])
    return [name for name in names if name not in ("self", "game", *env.refused)]


def observation_box(game: Game, dtype: np.dtype[Any], numbers: bool = False) -> gymnasium.spaces.Box:
    """The space of observations with this dtype: float32, or int8 for plain counts. `numbers`: whether these follow."""
    layouts = (game.observation, game.numbers) if numbers else (game.observation,)
    size = sum(layout.size for layout in layouts)
    if dtype == np.int8:
        return gymnasium.spaces.Box(-128, 127, (size,), np.int8)
    low, high = (
        np.concatenate([np.full(layout.size, getattr(layout, end), np.float32) for layout in layouts])
        for end in ("low", "high")
    )
    return gymnasium.spaces.Box(low, high, dtype=np.float32)


def check_seeds(seeds: Sequence[int | None], number: int) -> list[int | None]:
    """The seeds as a list. Raises `ConfigError` unless there are `number` of them, ints of at least 0 or None."""
    several = isinstance(seeds, Sequence | np.ndarray) and not isinstance(seeds, str) and getattr(seeds, "shape", True)
    given: list[Any] = list(seeds) if several else [seeds]
    for seed in given:
        if seed is not None and (not is_whole(seed) or seed < 0):
            raise ConfigError(
                f"seed={seeds!r:.80}: must be None, an int of at least 0, or a list of an int or None for each game"
            )
    if len(given) != number:
        raise ConfigError(f"seed: {len(given)} seeds for {number} games")
    return given


def check_mask(mask: Any, number: int) -> NDArray[np.bool_]:
    """The mask; None is all True. Raises `ConfigError` unless it is a bool array (number,) with at least one True."""
    if mask is None:
        return np.ones(number, np.bool_)
    wanted = f"a bool array of shape ({number},) with at least one True"
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (number,):
        raise ConfigError(f"options: reset_mask: must be {wanted}, not {mask!r:.80}")
    if not mask.any():
        raise ConfigError(f"options: reset_mask: must be {wanted}, not all False")
    return mask


def check_action(action: Any, num_actions: int, where: str = "") -> int:
    """The action as an int. Raises `IllegalAction` for one outside `Discrete(num_actions)`."""
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < num_actions:
        raise IllegalAction(f"{where}action {action!r}: must be an integer from 0 to {num_actions - 1}")
    return number


def check_replies(replies: Any, config: Config) -> deque[int]:
    """The replies of other seats. Raises `ConfigError` unless they are a sequence of actions, empty in a solo game."""
    given = replies.tolist() if isinstance(replies, np.ndarray) else replies
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ConfigError(f"options: replies: must be a sequence of actions, not {replies!r:.80}")
    last = config.game.num_actions - 1
    for one in given:
        if not is_whole(one) or not 0 <= one <= last:
            raise ConfigError(f"options: replies: {one!r:.80} is not an action from 0 to {last}")
    if len(given) and config.players == 1:
        raise ConfigError("options: replies: nobody else has a seat with players=1")
    return deque(map(int, given))


def check_options(options: Mapping[str, Any] | None, allowed: Sequence[str]) -> Mapping[str, Any]:
    """The options; None is {}. Raises `ConfigError` for an unknown key."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"options={options!r}: must be a dictionary with any of the keys {', '.join(allowed)}")
    for key in options:
        if key not in allowed:
            raise ConfigError(f"options: unknown key {key!r}; allowed are {', '.join(allowed)}")
    return options


def preparation(scenarios: Sequence[Mapping[str, Any] | None], config: Config) -> Prepare | None:
    """A function that puts games that start into described positions; None without a description.

    `scenarios` has a description or None for each of N games. A game keeps its random stream unless its description has
    the key `random`. Raises `ScenarioError` as `record_of` does.
    """
    different: list[Mapping[str, Any]] = []  # reading one takes milliseconds, and often all games have the same
    numbers = np.full(len(scenarios), -1)
    for game, description in enumerate(scenarios):
        if description is not None:
            if description not in different:
                different.append(description)
            numbers[game] = different.index(description)
    if not different:
        return None
    records = np.array([record_of(one, config) for one in different])
    keeps_stream = np.array(["random" not in one for one in different])

    def prepare(batch: Batch, which: NDArray[np.bool_]) -> None:
        if len(batch.editions) > 1:
            raise ScenarioError("scenario: a description does not say which of several editions it is of")
        games = np.flatnonzero(which & (numbers >= 0))
        kept, streams = keeps_stream[numbers[games]], batch.states["rng"][games]
        batch.states[games] = records[numbers[games]]
        batch.states["rng"][games[kept]] = streams[kept]
        batch.refresh(check=False)

    return prepare
