"""The board, the deck and the flags, as one NumPy record for the compiled rules.

`component_files.load_tables` fills it from `components/base.toml` and the user's overlay file.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from evergreen_env.state import MAX_PLAYERS, MAX_SPACES, NUM_BIOMES, NUM_CARDS, PLACES, Piece, Season
from tabletop_engine.record import Array, Bits, Number, Record, array, dtype_of, number

UNLIMITED = 127
NO_PLACE = -1


class WildFertility(IntEnum):
    """The place of a wild card with flowers or skulls that nobody took."""

    DISCARD = 0
    ALL_BIOMES = 1
    OWN_PILE = 2


class Tables(Record):
    """The printed numbers that a game is played with."""

    outline: Bits = number(np.uint64, "the spaces of a planet")
    biome: Array = array(np.uint64, NUM_BIOMES, "the spaces of each biome")
    ravines: Bits = number(np.uint64, "the spaces that are ravines")
    bush_ground: Bits = number(np.uint64, "spaces where a bush can be placed, while they are empty")
    lake_ground: Bits = number(np.uint64, "spaces where a lake can be placed, while they are empty")
    number_of: Array = array(np.int8, PLACES, "by place: the number of the space in reading order, from 0, or -1")
    place_of: Array = array(np.int8, MAX_SPACES, "by number of the space: its place, or NO_PLACE", NO_PLACE)

    flowers: Array = array(np.int8, NUM_CARDS, "flowers on each card")
    skulls: Array = array(np.int8, NUM_CARDS, "skulls on each card")
    cards: Bits = number(np.uint64, "the cards that are in the deck at first")

    season_rounds: Array = array(np.int8, len(Season), "rounds of each season")
    start_points: Array = array(np.int8, MAX_PLAYERS, "points at the start, by place in the first round's order")
    setup_flowers: Number = number(np.int8, "flowers that setup reveals at least")
    sun_start: Number = number(np.int8, "the Sun in spring")
    reshuffles_each_season: Number = number(np.int8, "1: the discards go back into the deck after every season")
    next_player_first: Number = number(
        np.int8, "1: if nobody takes the marked card, the next player clockwise is first"
    )
    partial_actions: Number = number(np.int8, "1: an action may be left half done")
    voluntary_pass: Number = number(np.int8, "1: a possible action may be left out")
    canonical_sets: Number = number(np.int8, "1: the spaces of one set are named in reading order")
    wild_anywhere: Number = number(np.int8, "1: a wild card's action is not held to one biome")
    wild_fertility: Number = number(np.int8, "the WildFertility")
    lake_growth_mandatory: Number = number(np.int8, "1: trees beside a lake must grow")
    top_card_only: Number = number(np.int8, "1: an aridity flips only the card on top of its pile")
    aridity_waits: Number = number(np.int8, "1: an aridity that finds no flower waits for the next one")
    skulls_count: Number = number(np.int8, "1: every skull on a card flips a card")
    power_cap: Number = number(np.int8, "the highest level of a power")
    buds_score_each_use: Number = number(np.int8, "1: buds score their level once for every use")
    supply: Array = array(np.int8, len(Piece), "pieces of each kind that a player has; UNLIMITED for as many as needed")


TABLES = dtype_of(Tables)
"""The dtype of the numbers on the pieces."""
