"""What users hand to the environments beyond a configuration, checked in one place."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from tabletop.batch import Batch
from tabletop.errors import ConfigError, IllegalAction, ScenarioError
from tabletop.game import NOBODY, Config, Game
from tabletop.versus import Prepare

_SMALLEST, _LARGEST = 16, 4096
"""Width and height of a picture, in pixels."""


def config_of(game: Game, given: Mapping[str, Any], others: Sequence[str] = ()) -> Config:
    """The configuration with these fields, in lists as well as in tuples. Raises `ConfigError` as it does itself.

    `others` are names that an unknown one could have been besides.
    """
    known = [one.name for one in fields(game.config)]
    for name in given:
        if name not in known:
            raise ConfigError(f"unknown argument {name!r}; there are {', '.join([*known, *others])}")
    config: Config = game.config(**given)
    return config


def observation_box(game: Game, dtype: np.dtype[Any]) -> gymnasium.spaces.Box:
    """The space of observations of this dtype: float32, or int8 for plain counts."""
    if dtype == np.float32:
        return gymnasium.spaces.Box(game.observation.low, game.observation.high, (game.observation.size,), np.float32)
    return gymnasium.spaces.Box(-128, 127, (game.observation.size,), np.int8)


def check_render_mode(render_mode: str | None, allowed: Sequence[str]) -> str | None:
    """The mode. Raises `ConfigError` for one that the environment doesn't draw."""
    if render_mode is not None and render_mode not in allowed:
        raise ConfigError(f"render_mode={render_mode!r}: {', '.join(map(repr, allowed))} or None")
    return render_mode


def check_render_size(size: int) -> int:
    """Pixels. Raises `ConfigError` outside 16 to 4096."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not _SMALLEST <= size <= _LARGEST:
        raise ConfigError(f"render_size={size!r}: a whole number of pixels from {_SMALLEST} to {_LARGEST}")
    return int(size)


def check_seeds(seeds: Sequence[int | None], number: int) -> list[int | None]:
    """The seeds as a list. Raises `ConfigError` unless they are `number` ints of at least 0, or None."""
    several = isinstance(seeds, Sequence | np.ndarray) and not isinstance(seeds, str) and getattr(seeds, "shape", True)
    given: list[Any] = list(seeds) if several else [seeds]
    for seed in given:
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
            raise ConfigError(
                f"seed={seeds!r:.80}: None, an int of at least 0, or a list of an int or None for each game"
            )
    if len(given) != number:
        raise ConfigError(f"seed: {len(given)} seeds for {number} games")
    return given


def check_mask(mask: Any, number: int) -> NDArray[np.bool_]:
    """The mask, all True for None. Raises `ConfigError` unless it is a bool array of `number`, one of them True."""
    if mask is None:
        return np.ones(number, np.bool_)
    wanted = f"a bool array of shape ({number},) with at least one True"
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (number,):
        raise ConfigError(f"options: reset_mask: {wanted}, not {mask!r:.80}")
    if not mask.any():
        raise ConfigError(f"options: reset_mask: {wanted}, not all False")
    return mask


def check_action(action: Any, num_actions: int, where: str = "") -> int:
    """The action as an int. Raises `IllegalAction` for what is outside `Discrete(num_actions)`."""
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < num_actions:
        raise IllegalAction(f"{where}action {action!r}: an integer from 0 to {num_actions - 1}")
    return number


def check_options(options: Mapping[str, Any] | None, allowed: Sequence[str]) -> Mapping[str, Any]:
    """The options, empty for None. Raises `ConfigError` for an unknown key."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"options={options!r}: a dictionary with any of the keys {', '.join(allowed)}")
    for key in options:
        if key not in allowed:
            raise ConfigError(f"options: unknown key {key!r}; allowed are {', '.join(allowed)}")
    return options


def scenario_of(options: Mapping[str, Any], config: Config) -> Any:
    """The state that `options["scenario"]` describes, None without one.

    What the description leaves out of the configuration is the environment's own. Raises `ScenarioError` for another
    configuration than the environment's, a finished game, and everything `Game.scenario` refuses.
    """
    description = options.get("scenario")
    if description is None:
        return None
    if not isinstance(description, Mapping):
        raise ScenarioError(f"scenario: {description!r:.80} is not a dictionary as docs/scenarios.md describes it")
    own = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(config).items()}
    del own["components"]
    state = config.game.scenario({**own, **description}, config.components)
    described = config.game.config.of(state, config.components)
    if described != config:
        raise ScenarioError(f"scenario: it describes {described.name!r}, this environment plays {config.name!r}")
    if state["actor"] == NOBODY:
        raise ScenarioError("scenario: this game is over; an episode starts at a decision")
    return state


def start_from(batch: Batch, state: Any, options: Mapping[str, Any], which: NDArray[np.bool_] | slice) -> None:
    """Put `scenario_of(options)` into the games `which`. Without a `random` of its own each keeps its random stream."""
    streams = batch.states["rng"][which].copy()
    batch.states[which] = state
    if "random" not in options["scenario"]:
        batch.states["rng"][which] = streams
    batch.refresh()


def preparation(
    options: Mapping[str, Any], config: Config, wanted: NDArray[np.bool_] | Literal[True] = True
) -> Prepare | None:
    """What puts `options["scenario"]` into those of the `wanted` games that start, None without a scenario.

    Raises as `scenario_of` does.
    """
    state = scenario_of(options, config)
    if state is None:
        return None

    def prepare(batch: Batch, which: NDArray[np.bool_]) -> None:
        start_from(batch, state, options, which & wanted)

    return prepare
