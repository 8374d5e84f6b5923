"""Configurations for the tests that run over all of them.

They are every one of the base game and of the solo game; and every module of promos and Flowers alone, all modules
together, and random combinations.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

from evergreen_env import Config as EvergreenConfig
from petrichor_env.config import MODULES, POWERS, READINGS, VARIANTS, Config
from tests.games import connect_four, leduc_poker

SOLO_MODULES = tuple(name for name in MODULES if name not in ("lake", "flower_tiles"))
"""The modules that the solo game allows."""
SOLO = [Config(variants=names) for number in range(len(VARIANTS) + 1) for names in combinations(VARIANTS, number)]
BASE = [
    Config(players=players, rounds=rounds, drafting=drafting)
    for players in (2, 3, 4, 5)
    for rounds in (4, 6)
    for drafting in (False, True)
]
ALONE = [Config(modules=(name,)) for name in SOLO_MODULES] + [
    Config(players=players, modules=(name,)) for players in (2, 3, 4, 5) for name in MODULES
]
"""Every module alone."""
TOGETHER = [Config(modules=SOLO_MODULES)] + [Config(players=players, modules=MODULES) for players in (2, 3, 4, 5)]
"""All modules."""
CHOSEN_POWERS = [Config(modules=("powers",), powers=(name,)) for name in POWERS] + [
    Config(players=players, modules=("powers",), powers=(POWERS * 2)[players : 2 * players]) for players in (2, 3, 4, 5)
]


def _combinations(number: int, seed: int) -> list[Config]:
    """Different configurations.

    Only `Random.random` draws, because its numbers are the same in every version of Python.
    """
    draw = random.Random(seed).random
    found: list[Config] = []
    while len(found) < number:
        players = 1 + int(draw() * 5)
        modules = tuple(name for name in (SOLO_MODULES if players == 1 else MODULES) if draw() < 0.5)
        powers = tuple(sorted(POWERS, key=lambda _: draw()))[:players] if draw() < 0.3 else ()
        config = Config(
            players=players,
            rounds=6 if players > 1 and draw() < 0.5 else 4,
            drafting=players > 1 and draw() < 0.5,
            variants=tuple(name for name in VARIANTS if draw() < 0.5) if players == 1 else (),
            modules=modules,
            powers=powers if "powers" in modules else (),
        )
        if len(modules) > 1 and config not in [*found, *TOGETHER]:
            found.append(config)
    return found


RANDOM = _combinations(24, seed=3)
"""Random combinations, of modules with each other, with drafting, the long form and the solo variants."""
OTHER_READINGS = [
    Config(modules=("forecasts",), readings=("forecasts_end_actions",)),
    Config(players=3, modules=("flower_tiles",), readings=("primrose_passes_once",)),
    *(Config(players=players, modules=MODULES, readings=READINGS) for players in (2, 4, 5)),
]
MODULE_CONFIGURATIONS = ALONE + TOGETHER + CHOSEN_POWERS + RANDOM + OTHER_READINGS
EVERY_CONFIGURATION = BASE + SOLO + MODULE_CONFIGURATIONS
A_FEW = [
    *(BASE[0], BASE[-1], SOLO[0], SOLO[-1]),
    *(config for config in ALONE if config.players == 3),
    *TOGETHER,
    *RANDOM[:6],
]
"""For tests that take long with one configuration: every module, every number of players, everything together."""

OF_SEVERAL_GAMES: list[Any] = [
    Config(),
    Config(players=2, drafting=True, modules=("forecasts",)),
    Config(players=4, modules=MODULES),
    EvergreenConfig(1),
    EvergreenConfig(3),
    connect_four.Config(),
    leduc_poker.Config(),
]
"""Both shipped games and two small ones, for what people are asked."""
