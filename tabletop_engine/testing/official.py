"""The official checks of Gymnasium, PettingZoo and OpenSpiel, and what else takes a game: files, agents, a match."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.envs import SeatEnv
from tabletop_engine.envs.aec import SeatsAEC, wrapped
from tabletop_engine.game import NOBODY, Config
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.names import make_agent
from tabletop_engine.play.play import play
from tabletop_engine.replays.replay import Replay
from tabletop_engine.seeds import Stream, generator
from tabletop_engine.testing.problems import Problem
from tabletop_engine.testing.strict import error_text, pick, positions, settings_of

_MATCH_SECONDS = 60.0
"""The time that agents which search have for their games."""


def problems(config: Config) -> Iterator[Problem]:
    """The mistakes that the official checks and the tools of the engine meet."""
    for name, check in CHECKS.items():
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                check(config)
        except Exception as error:  # they raise anything
            yield Problem(name, error_text(error), config.players)


def _gymnasium(config: Config) -> None:
    from gymnasium.envs.registration import EnvSpec
    from gymnasium.utils.env_checker import check_env

    def make(**more: Any) -> SeatEnv:
        return SeatEnv(config.game, **settings_of(config), opponents=("random",) if config.players > 1 else (), **more)

    env = make()
    env.spec = EnvSpec("Checked-v0", entry_point=make)
    check_env(env, skip_render_check=True, skip_close_check=True)


def _pettingzoo(config: Config) -> None:
    if config.players < 2:
        return
    api = importlib.import_module("pettingzoo.test.api_test")
    api.api_test(wrapped(SeatsAEC(f"{config.game.name}_v0", config)), num_cycles=100)


def _openspiel(config: Config) -> None:
    if importlib.util.find_spec("pyspiel") is None:
        return
    pyspiel = importlib.import_module("pyspiel")
    spiel = importlib.import_module("tabletop_engine.envs.openspiel")
    if config.components is None:  # which are no parameter there
        loaded = pyspiel.load_game(spiel.register(config.game), spiel.parameters_of(config))
        pyspiel.random_sim_test(loaded, num_sims=1, serialize=False, verbose=False)


def _save_and_load(config: Config) -> None:
    one, other = Batch(config, 8, 1, autoreset="disabled"), Batch(config, 8, 2, autoreset="disabled")
    for _ in range(5):
        one.step(one.random_actions(), which=one.actors != NOBODY)
    other.load(one.save())
    assert other.states.tobytes() == one.states.tobytes(), "load gives other records than save took"


def _scenario(config: Config) -> None:
    batch = Batch(config, 1, 3, autoreset="disabled")
    chosen = generator(3, Stream.CHECK)
    for step in islice(positions(batch, chosen), 12):
        state = batch.states[0]
        described = json.loads(json.dumps(config.game.described(state)))
        again = config.game.scenario(described, config.components)
        changed = [
            name
            for name in config.game.state.names or ()
            if name not in ("rng", "edition") and (again[name] != state[name]).any()
        ]
        assert not changed, f"step {step}: a described position comes back with another {', '.join(changed)}"


def _replay(config: Config) -> None:
    batch = Batch(config, 1, 5, autoreset="disabled")
    chosen, actions = generator(5, Stream.CHECK), []
    while batch.actors[0] != NOBODY:
        actions.append(pick(batch, chosen))
        batch.step([actions[-1]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.json"
        Replay.of(config, 5, actions, names=("random",) * config.players).save(path)
        assert Replay.load(path, config.game).states[-1].tobytes() == batch.states[0].tobytes(), (
            "a replay ends otherwise"
        )


def _match(config: Config) -> None:
    batch = Batch(config, 4, 7, autoreset="disabled")
    agents = [make_agent(name, config.game) for name in ("greedy", "ismcts-20", "random")]
    lineups = np.arange(config.players)[None, :].repeat(4, 0) % len(agents)
    generators = [generator(i, Stream.CHECK) for i in range(len(agents))]
    end = time.monotonic() + _MATCH_SECONDS
    if not play(agents, batch, lineups, generators, should_stop=lambda: time.monotonic() > end):
        play(agents[2:], batch, np.zeros_like(lineups), generators[2:])  # a long game is played out at random
    assert (batch.actors == NOBODY).all()


CHECKS: dict[str, Callable[[Config], None]] = {
    "Gymnasium's check_env": _gymnasium,
    "PettingZoo's api_test": _pettingzoo,
    "OpenSpiel's random_sim_test": _openspiel,
    "save and load": _save_and_load,
    "scenario": _scenario,
    "replay": _replay,
    "a match": _match,
}
"""What is tried, by name."""
