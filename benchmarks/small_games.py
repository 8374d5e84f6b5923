"""Small games of tests/games, with random legal moves, observations and masks, beside those of other projects."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.environments import masked_steps
from benchmarks.games import Measured
from benchmarks.measure import Result, compare, rates
from tabletop_engine.envs import SeatVectorEnv
from tabletop_engine.game import Game
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import sample_actions
from tests.games import connect_four as four
from tests.games import gem_market as gems
from tests.games import tiny_hanabi, tricks

NUM_GAMES = 1024
TIMES_PGX, TIMES_OPEN_SPIEL = 3.0, 10.0
GEM_MARKET_TARGET = 1_470_000
"""Steps a second that a game of this kind reached earlier on such a machine."""
_STEPS = 100
_MOVES = 5000


def connect_four(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Play 1,024 games. Both players' moves are drawn from the masks in the same way, and ended games start again."""
    contenders: dict[str, Callable[[], int]] = {"Connect Four, Batch": _batch(four.GAME)}
    try:
        contenders["pgx connect_four, jitted for the CPU"] = _pgx()
        contenders["OpenSpiel connect_four"] = _open_spiel("connect_four")
    except ImportError as error:
        print(f"no comparison with pgx and OpenSpiel: pip install 'petrichor-env[bench]' ({error})")
    contenders["Connect Four, make_vec, one player's moves"] = _vector()
    return compare("connect_four", contenders, "steps/s", repeats, seconds, times=TIMES_PGX)


def gem_market(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Play 1,024 games for two, as `connect_four` does: 72 actions, 425 numbers in an observation."""
    contenders = {"Gem Market, Batch": _batch(gems.GAME), "Gem Market, int8": _batch(gems.GAME, "int8")}
    measured = rates(contenders, repeats, seconds)
    target = f"at least {GEM_MARKET_TARGET:,}"
    return [Result("gem_market", what, "steps/s", runs, GEM_MARKET_TARGET, target) for what, runs in measured.items()]


def card_games(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Play 1,024 games with partners, and games in which all play together. Decisions count, but no draws of chance.

    OpenSpiel's games write no observations here, as euchre has none.
    """
    results = []
    for name, ours, theirs in (("partners", tricks, ("euchre",)), ("together", tiny_hanabi, ("tiny_hanabi", "hanabi"))):
        contenders = {f"{ours.GAME.title}, Batch": _batch(ours.GAME)}
        contenders |= {f"OpenSpiel {one}": _open_spiel(one, observes=False) for one in theirs}
        results += compare(name, contenders, "decisions/s", repeats, seconds, times=TIMES_OPEN_SPIEL)
    return results


def _batch(game: Game, observation_dtype: str = "float32") -> Callable[[], int]:
    batch = Batch(game.config(), NUM_GAMES, seed=0, observation_dtype=observation_dtype)
    generator = np.random.default_rng(0)

    def run() -> int:
        for _ in range(_STEPS):
            batch.step(sample_actions(batch.action_masks, generator))
        return _STEPS * NUM_GAMES

    return run


def _vector() -> Callable[[], int]:
    """The agent `random` plays the other seat; its moves are not counted."""
    return masked_steps(SeatVectorEnv(four.GAME, NUM_GAMES, opponents=("random",)), _STEPS)


def _pgx() -> Callable[[], int]:
    """Each step's result is awaited and converted to arrays; on a CPU this copies nothing."""
    import jax
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("connect_four")
    step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    keys = jax.random.split(jax.random.PRNGKey(0), NUM_GAMES)  # they draw who begins, so all steps can use them
    states = [jax.jit(jax.vmap(env.init))(keys)]
    generator = np.random.default_rng(0)

    def run() -> int:
        state = states[0]
        for _ in range(_STEPS):
            state = step(state, sample_actions(np.asarray(state.legal_action_mask), generator), keys)
            for delivered in (state.observation, state.rewards, state.terminated):
                np.asarray(delivered)
        states[0] = state
        return _STEPS * NUM_GAMES

    return run


def _open_spiel(name: str, observes: bool = True) -> Callable[[], int]:
    """One game after another, because OpenSpiel has no batches. It writes observations into a NumPy array."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game(name)
    observation = make_observation(game) if observes else None
    chance, generator = random.Random(0), np.random.default_rng(0)

    def decision(state: Any) -> Any:
        """The state, or a new one, at the next decision."""
        if state.is_terminal():
            state.returns()
            state = game.new_initial_state()
        while state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(chance.choices(outcomes, shares)[0])
        return state

    states = [decision(game.new_initial_state())]

    def run() -> int:
        state = states[0]
        for draw in generator.random(_MOVES).tolist():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw * len(legal))])
            state = decision(state)
            if observation is not None:
                observation.set_from(state, state.current_player())
        states[0] = state
        return _MOVES

    return run
