"""`python -m benchmarks.openspiel`: random play through OpenSpiel, times of single operations, and lengths of games.

`docs/openspiel.md` shows what this writes into `docs/openspiel.json`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import pyspiel

import evergreen_env.openspiel  # noqa: F401 - registers the game
import petrichor_env.openspiel  # noqa: F401
from benchmarks.measure import options, write_figures
from evergreen_env import Config as EvergreenConfig
from petrichor_env import Config as PetrichorConfig
from petrichor_env.config import MODULES
from tabletop_engine.envs.openspiel import Playouts
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch
from tabletop_training.measure.evaluation import EVALUATION_SEED

GAMES = {"Petrichor": "python_petrichor", "Evergreen": "python_evergreen"}
PLAYERS = 3
LENGTHS: dict[str, tuple[str, Config]] = {
    "Petrichor, 2 players": ("python_petrichor(players=2)", PetrichorConfig(players=2)),
    "Petrichor, 5 players, all modules, 6 rounds": (
        f"python_petrichor(players=5,rounds=6,modules={'+'.join(MODULES)})",
        PetrichorConfig(players=5, rounds=6, modules=MODULES),
    ),
    "Evergreen, 2 players": ("python_evergreen(players=2)", EvergreenConfig(players=2)),
}


def random_game(game: Any, generator: np.random.Generator) -> Iterator[Any]:
    """Play one game; yields the state at each decision, before it is made."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(generator.choice(outcomes, p=shares)))
        else:
            yield state
            legal = state.legal_actions()
            state.apply_action(int(legal[generator.integers(len(legal))]))


def random_play(game: Any, seconds: float, generator: np.random.Generator) -> float:
    """Decisions a second, playing one game after another."""
    decisions, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        decisions += sum(1 for _ in random_game(game, generator))
    return decisions / (time.perf_counter() - start)


def operations(game: Any, games: int, generator: np.random.Generator) -> dict[str, float]:
    """The median microseconds of each operation, done at every decision of some games."""
    observer, playouts = game.make_py_observer(), Playouts(seed=0)
    calls: dict[str, Callable[[Any], Any]] = {
        "`clone`": lambda state: state.clone(),
        "the string of an information state": lambda state: state.information_state_string(state.current_player()),
        "the tensor of an observation": lambda state: observer.set_from(state, state.current_player()),
        "the text of an observation": lambda state: observer.string_from(state, state.current_player()),
        "one game of `Playouts`": playouts.evaluate,
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(games):
        for state in random_game(game, generator):
            for name, call in calls.items():
                start = time.perf_counter()
                call(state)
                taken[name].append(1e6 * (time.perf_counter() - start))
    return {name: round(median(own), 1) for name, own in taken.items()}


def longest(config: Config, games: int) -> int:
    """The length of the longest of so many random games, in decisions."""
    batch = Batch(config, games, EVALUATION_SEED, autoreset="disabled")
    lengths = np.zeros(games, np.int64)
    while (playing := batch.actors >= 0).any():
        lengths += playing
        batch.step(batch.random_actions(), playing)
    return int(lengths.max())


def main() -> None:
    given = options(
        __doc__,
        runs=(40, "runs of random play for each game"),
        seconds=(1.0, "of each run"),
        games=(2000, "random games whose longest is told"),
    )
    generator = np.random.default_rng(EVALUATION_SEED)
    games = {title: pyspiel.load_game(f"{name}(players={PLAYERS})") for title, name in GAMES.items()}
    rates: dict[str, list[float]] = {title: [] for title in games}
    for _ in range(given.runs):
        for title, game in games.items():
            rates[title].append(random_play(game, given.seconds, generator))
    content: dict[str, Any] = {
        "seed": EVALUATION_SEED,
        "players": PLAYERS,
        "runs": given.runs,
        "games": given.games,
        "rates": {title: {"median": round(median(own)), "best": round(max(own))} for title, own in rates.items()},
        "operations": {title: operations(game, 5, generator) for title, game in games.items()},
        "lengths": {
            title: {"limit": pyspiel.load_game(name).max_game_length(), "longest": longest(config, given.games)}
            for title, (name, config) in LENGTHS.items()
        },
    }
    print(json.dumps(content, indent=1))
    write_figures(given.json, **content)


if __name__ == "__main__":
    main()
