"""Environments for JAX as other libraries want them: gymnax's `reset` and `step`, and a model for mctx's searches."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tabletop_engine.envs.jax.env import Array, Env, State, jax, jnp
from tabletop_engine.errors import ConfigError
from tabletop_engine.extras import needed


class Gymnax:
    """A game for one with gymnax's interface, such as learners in the style of purejaxrl take it.

    Games go on by themselves: where `done` is True, the observation is the next game's. Chance follows from the keys.

    Arguments:
        env: an environment for one player with autoreset="same_step".

    Raises ConfigError for another one.
    """

    default_params = None

    def __init__(self, env: Env) -> None:
        if env.num_players != 1 or env.autoreset != "same_step":
            given = f"{env.num_players} players with autoreset={env.autoreset!r}"
            raise ConfigError(f"env: must be for one player with autoreset='same_step', not for {given}")
        self.env: Env = env
        self.name: str = env.id
        self.num_actions: int = env.num_actions

    def reset(self, key: Array, params: Any = None) -> tuple[Array, State]:
        """The first observation and the state of a new game. Its legal actions are `state.legal_action_mask`."""
        state = self.env.init(key)
        return state.observation, state

    def step(
        self, key: Array, state: State, action: Array, params: Any = None
    ) -> tuple[Array, State, Array, Array, dict[str, Array]]:
        """Observation, state, reward, done, and info: legal actions, whether the action was illegal, and discount."""
        after = self.env.step(state, action, key)
        info = {
            "legal_action_mask": after.legal_action_mask,
            "illegal": after.illegal,
            "discount": 1.0 - after.terminated.astype(jnp.float32),
        }
        return after.observation, after, after.rewards[0], after.terminated, info

    def action_space(self, params: Any = None) -> Any:
        """The number of actions as `n`."""
        return SimpleNamespace(n=self.num_actions, shape=())

    def observation_space(self, params: Any = None) -> Any:
        """The shape of observations as `shape`."""
        return SimpleNamespace(shape=self.env.observation_shape)


class SearchModel:
    """The game itself as the model of mctx's searches, without what the searching seat can't know.

    The root, and each position after a step, is redrawn: everything that the root's current player can't know, and the
    future. So a node of the tree holds one of the positions that are possible there.

        model = SearchModel(Env(Config()), evaluate)
        root = model.root(params, key, state)                   # a batch of states
        mctx.gumbel_muzero_policy(params, key, root, model.recurrent_fn, num_simulations, ~state.legal_action_mask)

    Arguments:
        env: an environment for one or two players with autoreset="disabled"; for two, not with reward="points".
        evaluate: takes parameters and a batch of N states, returns logits (N, A) and values (N,). Values are what the
            current players can expect of the rewards that are to come. Logits of illegal actions don't count.

    Raises ConfigError for another environment, and TabletopError without mctx.
    """

    def __init__(self, env: Env, evaluate: Callable[[Any, State], tuple[Array, Array]]) -> None:
        if env.num_players > 2 or env.autoreset != "disabled":
            given = f"{env.num_players} with autoreset={env.autoreset!r}"
            raise ConfigError(f"env: must be for one or two players with autoreset='disabled', not for {given}")
        if env.num_players == 2 and env.reward == "points":
            raise ConfigError("reward='points': must be 'win' or 'margin': a tree has one value for both players")
        self._mctx: Any = needed("mctx", "SearchModel", "jax")
        self._env, self._evaluate = env, evaluate

    def root(self, params: Any, key: Array, state: State) -> Any:
        """mctx's `RootFnOutput` for a batch of N states, those that the games are in."""
        seats = state.current_player
        logits, value, embedding = self._node(params, key, state, seats)
        return self._mctx.RootFnOutput(prior_logits=logits, value=value, embedding=embedding)

    def recurrent_fn(self, params: Any, key: Array, action: Array, embedding: Any) -> tuple[Any, Any]:
        """mctx's `RecurrentFnOutput` for (N,) actions, and the embedding of the positions after them."""
        before, seats = embedding
        after = jax.vmap(self._env.step)(before, action)  # into the future that was drawn for this node
        logits, value, embedding = self._node(params, key, after, seats)
        reward = jnp.take_along_axis(after.rewards, jnp.maximum(before.current_player, 0)[:, None], 1)[:, 0]
        discount = jnp.where(after.current_player == before.current_player, 1.0, -1.0)
        output = self._mctx.RecurrentFnOutput(
            reward=reward,
            discount=jnp.where(after.terminated, 0.0, discount),
            prior_logits=logits,
            value=jnp.where(after.terminated, 0.0, value),
        )
        return output, embedding

    def _node(self, params: Any, key: Array, state: State, seats: Array) -> tuple[Array, Array, Any]:
        """Redraw positions and evaluate them. An embedding has only what `step` reads: a tree holds many of them."""
        state = jax.vmap(self._env.sample_hidden)(state, seats, jax.random.split(key, len(seats)))
        logits, value = self._evaluate(params, state)
        logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min)
        small = state.replace(observation=state.observation[:, :0], legal_action_mask=state.legal_action_mask[:, :0])
        return logits, value, (small, seats)
