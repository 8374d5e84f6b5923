"""Petrichor as a game of OpenSpiel's: importing this module registers `python_petrichor` (docs/openspiel.md).

```python
import pyspiel

import petrichor_env.openspiel

game = pyspiel.load_game("python_petrichor(players=3,modules=cactus+powers)")
```
"""

from __future__ import annotations

from petrichor_env.config import Config
from petrichor_env.game import GAME
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.drafting import CARDS_DEALT
from petrichor_env.rules.flower_tiles import PODS_A_PLAYER
from petrichor_env.rules.forecasts import DEALT
from petrichor_env.rules.powers import KEPT_DROPS
from petrichor_env.state import NUM_TILES
from petrichor_env.tables import MAX_COPIES, NUM_CROPS
from tabletop.envs.openspiel import Limits, register

__all__ = ["NAME", "limits"]

_CARD = 7
"""The most decisions that one card brings: to play it, three of its effect, two of its vote, another action."""
_WEATHER = 1 + 2 + PODS_A_PLAYER
"""A player's decisions in one Weather Phase, besides taking drops: the Sun's cloud, the Wind's drop, pods."""
_TIMINGS = 6
"""Points of a round at which a forecast card can be declined."""
_FORECAST = 1 + NUM_TILES
"""The most decisions that one forecast card brings: card 15 asks for a drop of each cloud."""
_REDRAWS = 1000
"""Room for what is rolled and revealed again, alone, until it fits: there is no most, but so many never come."""


def limits(config: Config) -> Limits:
    """Upper bounds, counted from the rules; games are much shorter (docs/openspiel.md)."""
    players, rounds, tables = config.players, config.rounds, GAME.load_tables(config.components)[0]
    dealt = int(CARDS_DEALT[players])
    hand = dealt + HAND_LIMIT + 1  # the last one is the second player's extra card
    in_a_round = _CARD * hand + 1 + dealt + int(tables["drops"]) + _WEATHER + KEPT_DROPS + 1 + _TIMINGS
    forecasts = DEALT * _FORECAST if "forecasts" in config.modules else 0
    tokens = int(tables["fertilizer_tokens"])
    decisions = tokens + players * (1 + forecasts) + rounds * (2 + players * in_a_round)
    draws = 1 + NUM_TILES + 1 + rounds * (dealt * players + 3) + players * (1 + DEALT)
    if config.solo:
        turns = rounds * (hand + DEALT + 2)
        draws += turns * 2 * 2 + _REDRAWS  # one or two Southern Winds cards a turn, and a roll for each
    return Limits(decisions, draws, NUM_CROPS * MAX_COPIES)


NAME = register(GAME, limits)
"""What `pyspiel.load_game` knows it as."""
