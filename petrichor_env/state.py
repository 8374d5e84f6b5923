"""A whole game as one NumPy record, and the numbers that its fields hold.

The field is a 4x4 grid of positions, numbered row by row; smaller fields use its top left:

    a1  b1  c1  d1         0   1   2   3
    a2  b2  c2  d2         4   5   6   7
    a3  b3  c3  d3         8   9  10  11
    a4  b4  c4  d4        12  13  14  15

Two players use a1 to c3 without a1 and c3, three a1 to c3, four a1 to d3, solo a1 to b3
(P1 = a1, P2 = b1, P3 = a2 … P6 = b3).
Seats are numbered clockwise. In solo seat 0 is the player and seat 1 the neutral player.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np

STATE_VERSION = 1
"""Of the record's layout; saved states carry it."""

MAX_PLAYERS = 5
NUM_TILES = 16
NUM_KINDS = 4
NO_TILE = -1
NOBODY = -1
LEGAL_WORDS = 3
"""64-bit words of the set of legal actions."""
WINDS_LOG = 6
"""Southern Winds cards that can be revealed between two turns of the player: three neutral turns of two cards."""


class Weather(IntEnum):
    """The four kinds of cards and of weather, in the weather sequence (clockwise on the board)."""

    FROST = 0
    SUN = 1
    WIND = 2
    RAIN = 3


class Crop(IntEnum):
    WHEAT = 0
    COTTON = 1
    GRASS = 2
    POTATO = 3
    COFFEE = 4
    RICE = 5
    CORN = 6


class Growing(IntEnum):
    """The growing token on a tile: its side (Growing Crops). Only Coffee and Rice are ever SPROUTING."""

    NONE = 0
    SPROUTING = 1
    DEVELOPED = 2


class Cloud(IntEnum):
    NONE = 0
    LIGHT = 1
    THUNDER = 2


class Direction(IntEnum):
    NORTH = 0
    EAST = 1
    SOUTH = 2
    WEST = 3


class Phase(IntEnum):
    SETUP = 0
    ACTION = 1
    WEATHER = 2
    HARVEST = 3
    CLEANUP = 4
    OVER = 5


class Decision(IntEnum):
    """What the actor is asked. `actions.py` says which actions answer each."""

    GAME_OVER = 0
    DRAFT = 1
    SETUP_CLOUD = 2
    TURN = 3
    OPTIONAL_ACTION = 4
    PAY = 5
    FROST_TILE = 6
    SUN_CLOUD = 7
    WIND_CLOUD = 8
    WIND_DIRECTION = 9
    RAIN_DROP = 10
    RAIN_SECOND_DROP = 11
    TAKE_DROP = 12
    VOTE = 13
    MOVE_VOTE = 14
    DISCARD = 15
    CHOOSE_WEATHER = 16
    SUN_WEATHER_CLOUD = 17
    WIND_WEATHER_DROP = 18
    WIND_WEATHER_DIRECTION = 19


CROP_NAMES = tuple(crop.name.lower() for crop in Crop)
WEATHER_NAMES = tuple(weather.name.lower() for weather in Weather)
DIRECTION_NAMES = tuple(direction.name.lower() for direction in Direction)
DECISION_NAMES = tuple(decision.name.lower() for decision in Decision)
PHASE_NAMES = tuple(phase.name.lower() for phase in Phase)
TILE_NAMES = tuple(f"{column}{row}" for row in "1234" for column in "abcd")
HARVEST = 0
"""The harvest die's Harvest side; the other sides are their number of votes, 1 to 4."""

# Fields are ordered by size, so that the record has no padding and equal games are equal bytes.
STATE = np.dtype(
    [
        # chance: splitmix64 state; the only source of randomness of a game
        ("rng", np.uint64),
        # the set of actions that answer the pending decision, one bit an action
        ("legal", np.uint64, (LEGAL_WORDS,)),
        ("points", np.int16, (MAX_PLAYERS,)),
        ("forfeited", np.int16),  # seat that lost by an illegal action, or NOBODY
        # switches of this game
        ("players", np.int8),  # 1 is solo
        ("owners", np.int8),  # players, in solo 2: the neutral player owns drops and votes too
        ("rounds", np.int8),
        ("drafting", np.int8),
        ("variants", np.int8, (4,)),  # in the order of config.VARIANTS
        # what is asked, and of whom
        ("decision", np.int8),
        ("actor", np.int8),  # seat, or NOBODY when the game is over
        # progress
        ("phase", np.int8),
        ("round", np.int8),  # from 1; in compiled code s["round"], as NumPy scalars have a method of that name
        ("first_player", np.int8),
        ("passed", np.int8),  # seat that passed first this round, or NOBODY
        ("turns", np.int8),  # turns finished this Action Phase, counted up to `players`
        ("last_turns", np.int8),  # turns left once somebody has passed
        ("turn_index", np.int8),  # how many players are done with what they do one after another
        ("harvested", np.int8),  # whether this round had a Harvest
        # the fields
        ("crop", np.int8, (NUM_TILES,)),  # Crop, or NO_TILE
        ("growing", np.int8, (NUM_TILES,)),
        ("drops", np.int8, (NUM_TILES, MAX_PLAYERS)),  # on tiles
        ("cloud", np.int8, (NUM_TILES,)),
        ("cloud_drops", np.int8, (NUM_TILES, MAX_PLAYERS)),
        # personal supplies and the board
        ("supply", np.int8, (MAX_PLAYERS,)),
        ("votes", np.int8, (NUM_KINDS, MAX_PLAYERS)),
        ("vote_supply", np.int8, (MAX_PLAYERS,)),
        ("voting_wins", np.int8, (MAX_PLAYERS,)),
        ("wheat_tokens", np.int8, (MAX_PLAYERS,)),
        ("dice", np.int8, (3,)),  # HARVEST or 1 to 4, kept in ascending order
        # cards, as counts of each kind
        ("hand", np.int8, (MAX_PLAYERS, NUM_KINDS)),
        ("deck", np.int8, (NUM_KINDS,)),
        ("discards", np.int8, (NUM_KINDS,)),
        ("pack", np.int8, (MAX_PLAYERS, NUM_KINDS)),  # the cards a player drafts from
        ("draft_step", np.int8),  # how often packs have been passed on in this draft
        # the effect being carried out
        ("card", np.int8),  # Weather of the action, or -1
        ("optional", np.int8),  # whether it is the turn's optional second action
        (
            "cards_left",
            np.int8,
        ),  # cards still to keep, discard, or pay (one of the action's kind pays for two)
        ("lowest_card", np.int8),  # lowest kind allowed next: cards of one set are named in ascending order
        ("target", np.int8),  # chosen tile (or vote space), or NO_TILE
        ("target_owner", np.int8),  # seat whose drop was chosen, or NOBODY
        ("selected", np.int8, (NUM_KINDS,)),  # the two weather spaces with the most votes
        ("weather", np.int8),  # Weather being resolved, or -1
        # Southern Winds: the deck as a set, and what was revealed since the player's last turn
        ("winds_deck", np.int8, (9,)),  # 1 if card number i + 1 is still in the deck
        ("winds_revealed", np.int8),
        ("winds_card", np.int8, (WINDS_LOG,)),  # card number, 1 to 8
        ("winds_roll", np.int8, (WINDS_LOG,)),  # numeric die, 0 if none was rolled
        ("winds_target", np.int8, (WINDS_LOG,)),  # tile it took effect on, or NO_TILE
        ("reserved", np.int8, (7,)),  # zero; makes the size a multiple of 8, so that 64-bit fields stay aligned
    ]
)

State: TypeAlias = Any
"""One record of `STATE`: `np.void`, an element of a record array, or Numba's record (NumPy has no type for it)."""
