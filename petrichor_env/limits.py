"""The most decisions, draws and points in a game of Petrichor, counted from the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.config import Config
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.drafting import CARDS_DEALT
from petrichor_env.rules.flower_tiles import PODS_A_PLAYER
from petrichor_env.rules.forecasts import DEALT, DICE_POINTS
from petrichor_env.rules.powers import KEPT_DROPS
from petrichor_env.state import NUM_TILES, Crop
from petrichor_env.tables import MAX_COPIES, NUM_CROPS
from tabletop_engine.game import Limits

_CARD = 7
"""The most decisions for one card: playing it, three for its effect, two for its vote, and another action."""
_WEATHER = 1 + 2 + PODS_A_PLAYER
"""A player's decisions in one Weather Phase, besides taking drops: the cloud for Sun, the drop for Wind, pods."""
_TIMINGS = 6
"""The points of a round at which a player can decline to play a forecast card."""
_FORECAST = 1 + NUM_TILES
"""The most decisions for one forecast card: card 15 asks for a drop of each cloud."""
_REDRAWS = 1000
"""Room for dice and cards that are drawn again in solo until they fit. There is no limit, but so many never occur."""


def limits(config: Config) -> Limits:
    """Upper bounds for a configuration. Games are much shorter (docs/openspiel.md)."""
    players, rounds, tables = config.players, config.rounds, load_tables(config.components)[0]
    dealt = int(CARDS_DEALT[players])
    hand = dealt + HAND_LIMIT + 1  # the last one is the second player's extra card
    in_a_round = _CARD * hand + 1 + dealt + int(tables["drops"]) + _WEATHER + KEPT_DROPS + 1 + _TIMINGS
    forecasts = DEALT * _FORECAST if "forecasts" in config.modules else 0
    tokens = int(tables["fertilizer_tokens"])
    decisions = tokens + players * (1 + forecasts) + rounds * (2 + players * in_a_round)
    draws = 1 + NUM_TILES + 1 + rounds * (dealt * players + 3) + players * (1 + DEALT)
    neutral_cards = 0
    if config.solo:
        neutral_cards = rounds * (hand + DEALT + 2) * 2  # one or two Southern Winds cards in each turn
        draws += neutral_cards * 2 + _REDRAWS  # a roll for each card
    return Limits(decisions, draws, NUM_CROPS * MAX_COPIES, _points(config, tables, neutral_cards))


def _points(config: Config, t: Any, neutral_cards: int) -> tuple[int, int] | None:
    """The least and the most points; None with flower tiles, as the Primrose changes hands without a limit."""
    if "flower_tiles" in config.modules:
        return None
    drops, best = int(t["drops"]), t["scores"].max(axis=(1, 2)).astype(int)
    tiles = np.sort(np.repeat(best, t["copies"]))[-NUM_TILES:].sum() + best[Crop.RICE] * drops
    fertilizer = min(NUM_TILES, int(t["fertilizer_tokens"])) if "fertilizer" in config.modules else 0
    dice = 3 * (int(t["harvest_die"].max()) + 1)  # a point for each vote less, and two for the last
    forecasts = NUM_TILES + DICE_POINTS + drops if "forecasts" in config.modules else 0
    winds = neutral_cards * (1 + int(t["winds_votes"].sum(axis=1).max()))
    at_the_end = [0, *t["voting_wins"].tolist()], [0, int(t["wheat_bonus"])]
    most = config.rounds * int(tiles + fertilizer + dice) + forecasts + winds
    return sum(map(min, at_the_end)), most + sum(map(max, at_the_end))
