"""The pictures in `docs/pictures/`: positions of games of the greedy agent with itself; `make docs` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from petrichor_env import Batch, Config
from petrichor_env.config import MODULES
from petrichor_env.drawing import events, render_svg
from tabletop.agents import ask
from tabletop_agents import Decisions, GreedyAgent

FOLDER = Path(__file__).parent / "pictures"
WIDTH = 720

POSITIONS = {
    "solo": (Config(variants=("double_card",)), 3, 38, 0),
    "two_players": (Config(players=2), 5, 95, 0),
    "five_players": (Config(players=5, modules=tuple(MODULES)), 4, 330, None),
}
"""By name: the configuration, the seed, how many decisions were taken, and who looks on (None sees all hands)."""


def drawings() -> Iterator[tuple[str, str]]:
    """Name and SVG of each picture."""
    for name, (config, seed, decisions, viewer) in POSITIONS.items():
        batch, agent, generator = Batch(config, 1, seed), GreedyAgent(num_threads=1), np.random.default_rng(seed)
        told: list[str] = []
        for _ in range(decisions):
            actions = ask(agent, Decisions.of(batch), generator)
            told = events(batch.states[0], int(actions[0]), viewer)
            batch.step(actions)
        yield name, render_svg(batch.states[0], viewer, last_action=" ".join(told))
