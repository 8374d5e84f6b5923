"""What a result comes from, for all files of results: versions, configuration, seeds, agents, numbers on the pieces."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from typing import Any

from tabletop_agents import agent_file
from tabletop_engine.errors import CheckpointError
from tabletop_engine.game import Config, Game
from tabletop_engine.play.tables import editions_of, tables_of


def provenance(config: Config, seed: int, labels: Iterable[str]) -> dict[str, Any]:
    """What games were played with: `software`, configuration, numbers on the pieces, first seed, agents, checkpoints.

    `labels` are the agents' names; a name that occurs again may end in a number, such as `greedy #2`.
    """
    labels = list(labels)
    checkpoints = agent_hashes([re.sub(r" #\d+$", "", label) for label in labels], config.game)
    played = {"config": asdict(config), "tables": tables_hash(config), "first_seed": seed}
    return {**software(config.game), **played, "agents": labels, "checkpoints": checkpoints}


def software(game: Game) -> dict[str, Any]:
    """The versions of a game, its package and what computes with it."""
    own = {"package_version": game.version, "state_version": game.state_version, "rules_version": game.rules_version}
    return {"game": game.name, **own, **installed()}


def installed() -> dict[str, Any]:
    """The versions of Python, NumPy and torch, and the number of torch's threads; None where there is no torch.

    Sums of a network depend on them in their last digits, and so can a game that it plays.
    """
    versions: dict[str, Any] = {"python": platform.python_version(), "numpy": metadata.version("numpy"), "torch": None}
    with suppress(metadata.PackageNotFoundError):
        versions["torch"] = metadata.version("torch")
    torch = sys.modules.get("torch")
    return {**versions, "threads": None if torch is None else torch.get_num_threads()}


def agent_hashes(agents: Iterable[str], game: Game) -> dict[str, str]:
    """`agent_hash` by name, of the agents that have one."""
    hashes = {agent: agent_hash(agent, game) for agent in agents}
    return {agent: digest for agent, digest in hashes.items() if digest is not None}


def agent_hash(agent: str, game: Game) -> str | None:
    """SHA-256 of the file that decides how an agent of this name plays; None for an agent without such a file."""
    try:
        path = agent_file(agent, game)
    except CheckpointError:
        return None
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def tables_hash(config: Config, editions: Sequence[int] = ()) -> str:
    """SHA-256 of the numbers on the pieces, and of those of the editions with these seeds.

    Raises ComponentsError if no edition can be drawn.
    """
    every = (config.components, *(editions_of(config, editions) if editions else ()))
    return hashlib.sha256(tables_of(config.game, every).tobytes()).hexdigest()
