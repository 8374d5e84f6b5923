"""mctx's Gumbel MuZero search with the real game as its model, and the shipped network `policy:solo` as its priors.

    python docs/jax/search.py           # 256 games with all difficulty variants, 32 simulations a decision

The network also weighs how many points each action gives away; that needs a walk over positions, and is left out here.
"""

import os
import time

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from petrichor_env import Config
from petrichor_env.config import VARIANTS
from tabletop_agents import POLICIES
from tabletop_engine.envs.jax import Env, SearchModel

GAMES, SIMULATIONS = (int(os.environ.get(name, usual)) for name, usual in (("GAMES", 256), ("SIMULATIONS", 32)))
env = Env(Config(variants=VARIANTS))


def layers_of(file):
    """The linear layers of a checkpoint, by part. There is a ReLU between two of them, and after the trunk."""
    parts = {}
    with np.load(file) as arrays:
        for name in arrays.files:
            part, number, kind = [*name.split("."), "", ""][:3]
            if kind == "weight":
                pair = arrays[name].T, arrays[f"{part}.{number}.bias"]
                parts.setdefault(part, []).append([jnp.asarray(one, jnp.float32) for one in pair])
    return parts


def through(layers, x):
    for number, (weight, bias) in enumerate(layers):
        x = (jax.nn.relu(x) if number else x) @ weight + bias
    return x


def evaluate(parts, state):
    """Logits, and the expected reward: 1 for a victory, -1 for a defeat."""
    hidden = jax.nn.relu(through(parts["trunk"], state.observation))
    logits = through(parts["policy"], hidden)[:, : env.num_actions]
    return logits, 2 * jax.nn.sigmoid(through(parts["win_margin_heads"], hidden)[:, 0]) - 1


model = SearchModel(env, evaluate)


@jax.jit
def think(parts, key, state):
    root_key, search_key = jax.random.split(key)
    root = model.root(parts, root_key, state)
    found = mctx.gumbel_muzero_policy(
        *(parts, search_key, root, model.recurrent_fn, SIMULATIONS),
        invalid_actions=~state.legal_action_mask,
        gumbel_scale=0.0,
    )
    return found.action


@jax.jit
def greedy(parts, key, state):
    """The network alone."""
    logits, _ = evaluate(parts, state)
    return jnp.argmax(jnp.where(state.legal_action_mask, logits, -jnp.inf), -1)


def play(name, choose, parts):
    key, step = jax.random.key(0), jax.jit(jax.vmap(env.step))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, GAMES))
    jax.block_until_ready(choose(parts, key, state))  # compiles
    won, decisions, seconds = jnp.zeros(GAMES), 0, 0.0
    while not state.terminated.all():
        key, own = jax.random.split(key)
        start = time.perf_counter()
        action = jax.block_until_ready(choose(parts, own, state))
        seconds += time.perf_counter() - start
        decisions += int((~state.terminated).sum())
        state = step(state, action)
        won += state.rewards[:, 0]
    print(f"{name}: won {(won > 0).mean():.1%} of {GAMES} games, {decisions / seconds:,.0f} decisions a second")


if __name__ == "__main__":
    parts = layers_of(POLICIES / "petrichor" / "solo.zip")
    play("the network alone", greedy, parts)
    play(f"with {SIMULATIONS} simulations", think, parts)
