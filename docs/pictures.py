"""The pictures in `docs/pictures/`: positions of games of the greedy agent with itself; `make docs` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import evergreen_env
from petrichor_env import Config
from petrichor_env.config import MODULES
from tabletop_agents import Decisions, GreedyAgent
from tabletop_engine.play.agents import ask
from tabletop_engine.play.batch import Batch

FOLDER = Path(__file__).parent / "pictures"
WIDTH = 720

POSITIONS: dict[str, tuple[Any, int, int, int | None]] = {
    "solo": (Config(variants=("double_card",)), 3, 38, 0),
    "two_players": (Config(players=2), 5, 95, 0),
    "five_players": (Config(players=5, modules=tuple(MODULES)), 4, 330, None),
    "evergreen_two_players": (evergreen_env.Config(2), 3, 172, 0),
    "evergreen_four_players": (evergreen_env.Config(4), 3, 348, None),
}
"""By name: the configuration, the seed, the number of decisions before, and the viewer (None sees all)."""


def drawings() -> Iterator[tuple[str, str]]:
    """Name and SVG of each picture."""
    for name, (config, seed, decisions, viewer) in POSITIONS.items():
        batch, agent, generator = Batch(config, 1, seed), GreedyAgent(num_threads=1), np.random.default_rng(seed)
        told: list[str] = []
        for _ in range(decisions):
            actions = ask(agent, Decisions.of(batch), generator)
            told = list(config.game.words.events(batch.states[0], int(actions[0]), viewer, batch.tables))
            batch.step(actions)
        yield name, config.game.drawing.render_svg(batch.states[0], viewer, last_action=" ".join(told))
