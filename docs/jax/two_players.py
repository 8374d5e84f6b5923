"""A thousand games of two players, all in one program: random play, and how often each seat won."""

import jax
import jax.numpy as jnp

from petrichor_env import Config
from tabletop_engine.envs.jax import Env

GAMES = 1000
env = Env(Config(players=2))


def drawn(key, mask):
    """A random legal action for each game, from one random number a game."""
    sums = jnp.cumsum(mask, -1)
    below = jax.random.uniform(key, sums.shape[:-1]) * sums[..., -1]
    return jnp.argmax(sums > below[..., None], -1)


@jax.jit
def play(key):
    def step(carry):
        state, number = carry
        action = drawn(jax.random.fold_in(key, number), state.legal_action_mask)
        return jax.vmap(env.step)(state, action), number + 1

    start = jax.vmap(env.init)(jax.random.split(key, GAMES))
    state, steps = jax.lax.while_loop(lambda carry: ~carry[0].terminated.all(), step, (start, 0))
    return jax.vmap(env.places)(state), steps


places, steps = play(jax.random.key(0))
won = (places == 1).sum(0)
print(f"{GAMES} games, the longest of {steps} decisions; won by seat 0: {won[0]}, by seat 1: {won[1]}")
