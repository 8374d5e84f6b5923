"""Games as pure functions for JAX: `Env` in the names of pgx, `Gymnax` for solo games, `SearchModel` for mctx."""

from tabletop_engine.envs.jax.adapters import Gymnax, SearchModel
from tabletop_engine.envs.jax.env import Env, State

__all__ = ["Env", "Gymnax", "SearchModel", "State"]
