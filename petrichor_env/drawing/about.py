"""What is played, and where points came from, in a few words each."""

from __future__ import annotations

from petrichor_env.config import Config
from petrichor_env.state import SOURCE_NAMES, State


def about(config: Config) -> list[str]:
    """`solo`, `4 rounds`, and what is played besides."""
    parts = ["solo" if config.solo else f"{config.players} players", f"{config.rounds} rounds"]
    parts += ["drafting"] if config.drafting else []
    return parts + [name.replace("_", " ") for name in (*config.variants, *config.modules)]


def sources(state: State) -> list[tuple[str, list[int]]]:
    """What has given anybody points so far: a word, and the points by owner."""
    scored = state.scored[: state.owners]
    return [
        (name.replace("_", " "), scored[:, i].tolist()) for i, name in enumerate(SOURCE_NAMES) if scored[:, i].any()
    ]
