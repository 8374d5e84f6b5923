"""Whole programs of JAX: games in `lax.scan`, beside `Batch` on NumPy arrays, and Connect Four beside pgx's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.games import Measured
from benchmarks.measure import Result, compare
from tabletop_engine.game import Config
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.kernels import sample_actions
from tests.games import connect_four

NUM_GAMES = 1024
TIMES_BATCH, TIMES_PGX = 0.6, 2.5
_STEPS = 32


def scans(game: Measured, repeats: int, seconds: float) -> list[Result]:
    """Play 1,024 games, which start again when they end. Programs take the first legal action, `Batch` random ones."""
    try:
        import jax  # noqa: F401
        import pgx  # noqa: F401
    except ImportError as error:
        print(f"no programs of JAX: pip install 'petrichor-env[bench]' ({error})")
        return []
    solo, four = game.playouts["solo"], connect_four.Config()
    pair = {f"{game.solo_name}, Env in a scan": _ours(solo), f"{game.solo_name}, Batch, one thread": _batch(solo)}
    results = compare("scans", pair, "steps/s", repeats, seconds, times=TIMES_BATCH)
    if game.with_small_games:
        pair = {"Connect Four, Env in a scan": _ours(four), "pgx connect_four in a scan": _pgx()}
        results += compare("scans", pair, "steps/s", repeats, seconds, times=TIMES_PGX)
    return results


def _ours(config: Config) -> Callable[[], int]:
    import jax

    from tabletop_engine.envs.jax import Env

    env = Env(config, autoreset="same_step")
    state = env.from_records(Batch(config, NUM_GAMES, 0).states)
    return _scan(lambda state, key: jax.vmap(env.step)(state, jax.numpy.argmax(state.legal_action_mask, -1)), state)


def _pgx() -> Callable[[], int]:
    import jax
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make("connect_four")
    step = jax.vmap(auto_reset(env.step, env.init))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), NUM_GAMES))

    def one(state: Any, key: Any) -> Any:
        action = jax.numpy.argmax(state.legal_action_mask, -1)
        return step(state, action, jax.random.split(key, NUM_GAMES))

    return _scan(one, state)


def _scan(step: Callable[[Any, Any], Any], state: Any) -> Callable[[], int]:
    """`step` takes the state of all games and a key. A number of each observation is kept, and all rewards."""
    import jax

    def one(state: Any, key: Any) -> tuple[Any, Any]:
        state = step(state, key)
        first = state.observation.reshape(NUM_GAMES, -1)[:, 0]
        return state, (first, state.rewards, state.terminated)

    program = jax.jit(lambda state, key: jax.lax.scan(one, state, jax.random.split(key, _STEPS)), donate_argnums=0)
    kept = [state, jax.random.key(0)]

    def run() -> int:
        kept[1], key = jax.random.split(kept[1])
        kept[0], out = program(kept[0], key)
        jax.block_until_ready(out)
        return _STEPS * NUM_GAMES

    return run


def _batch(config: Config) -> Callable[[], int]:
    batch, generator = Batch(config, NUM_GAMES, 0, num_threads=1), np.random.default_rng(0)

    def run() -> int:
        for _ in range(_STEPS):
            batch.step(sample_actions(batch.action_masks, generator))
        return _STEPS * NUM_GAMES

    return run
