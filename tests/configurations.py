"""Every configuration of the base game and of the solo game, for the tests that run over all of them."""

from __future__ import annotations

from itertools import combinations

from petrichor_env.config import VARIANTS, Config

SOLO = [Config(variants=names) for number in range(5) for names in combinations(VARIANTS, number)]
BASE = [
    Config(players=players, rounds=rounds, drafting=drafting)
    for players in (2, 3, 4)
    for rounds in (4, 6)
    for drafting in (False, True)
]
EVERY_CONFIGURATION = BASE + SOLO
