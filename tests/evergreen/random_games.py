"""Random configurations of Evergreen: any players, and overlays with any board, deck and flags that are allowed."""

from __future__ import annotations

import random
from typing import Any

from evergreen_env.component_files import COMPONENTS, KEYS, LETTERS, OUTSIDE, RAVINE
from evergreen_env.config import Config
from evergreen_env.state import COLUMNS, MAX_SPACES, NUM_POWERS, ROWS
from tabletop_engine.described.keys import Key
from tabletop_engine.errors import ComponentsError
from tests.evergreen.differential import compare_game

OVERLAYS = 0.6
"""The share of the games that are played with a random overlay."""


def random_config(draw: random.Random) -> Config:
    components = random_overlay(draw) if draw.random() < OVERLAYS else None
    return Config(players=draw.randint(1, 4), components=components)


def random_overlay(draw: random.Random) -> dict[str, Any]:
    """Keys and values that replace some of the shipped ones."""
    while True:
        share = draw.choice([0.1, 0.3, 0.7])
        overlay = {key: random_value(draw, key) for key in KEYS if draw.random() < share}
        try:
            COMPONENTS.load(overlay)
        except ComponentsError:
            continue
        return overlay


def random_value(draw: random.Random, name: str) -> Any:
    key = KEYS[name]
    if name == "board.rows":
        return random_board(draw)
    if name.startswith("deck."):
        return [draw.choice([0, 1, 1, 2, 3, "skull", "two skulls", "missing"]) for _ in range(NUM_POWERS)]
    if key.places is None:
        return _one(draw, key)
    if name == "flags.ravine_allows":
        return draw.sample(key.words, draw.randint(0, len(key.words)))
    if name == "flags.supply":
        return [draw.choice(["unlimited", draw.randint(1, 12)]) for _ in key.places]
    return [_one(draw, key) for _ in key.places]


def random_board(draw: random.Random) -> list[str]:
    """Any outline, with gaps and ravines anywhere; every biome has a space."""
    rows, columns = draw.randint(2, ROWS), draw.randint(3, COLUMNS)
    places = draw.sample(range(rows * columns), draw.randint(6, min(rows * columns, MAX_SPACES)))
    letters = [OUTSIDE] * (rows * columns)
    for i, place in enumerate(places):
        letters[place] = LETTERS[i] if i < len(LETTERS) else draw.choice(LETTERS * 2 + RAVINE)
    return ["".join(letters[columns * row : columns * row + columns]) for row in range(rows)]


def _one(draw: random.Random, key: Key) -> Any:
    if key.is_switch:
        return draw.random() < 0.5
    return draw.choice([*key.words, *range(key.low, min(key.high, 6) + 1)])


def play(seed: int) -> tuple[str, int]:
    """The game of a seed: the configuration's name and the number of decisions. Raises what `compare_game` raises."""
    config = random_config(random.Random(seed))
    return config.name + ("+overlay" if config.components else ""), compare_game(config, seed)
