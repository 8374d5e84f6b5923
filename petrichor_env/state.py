"""A whole game as one NumPy record, and the numbers that its fields hold.

The field is a 4x4 grid of positions, numbered row by row; smaller fields use its top left:

    a1  b1  c1  d1         0   1   2   3
    a2  b2  c2  d2         4   5   6   7
    a3  b3  c3  d3         8   9  10  11
    a4  b4  c4  d4        12  13  14  15

Two players use a1 to c3 without a1 and c3, three a1 to c3, four a1 to d3, five all of them, solo a1 to b3
(P1 = a1, P2 = b1, P3 = a2 … P6 = b3).
Seats are numbered clockwise. In solo seat 0 is the player and seat 1 the neutral player.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np

STATE_VERSION = 3
"""Of the record's layout; saved states carry it."""

MAX_PLAYERS = 5
NUM_TILES = 16
NUM_KINDS = 4
NUM_FORECASTS = 16
NO_TILE = -1
FACE_DOWN = -2
"""A tile whose crop nobody has seen yet: only while Fertilizer tokens are placed."""
NOBODY = -1
PLAYED = -2
"""Holder of a forecast card that is out of the game: played, or discarded with the second one played."""
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
    CACTUS = 7
    LAKE = 8
    SNOWDROP = 9
    DANDELION = 10
    PRIMROSE = 11


class Source(IntEnum):
    """What brings points: a Harvest of each Crop (the first twelve, same numbers), and what else there is."""

    WHEAT = 0
    COTTON = 1
    GRASS = 2
    POTATO = 3
    COFFEE = 4
    RICE = 5
    CORN = 6
    CACTUS = 7
    LAKE = 8
    SNOWDROP = 9
    DANDELION = 10
    PRIMROSE = 11
    DICE = 12
    """Votes on the harvest dice."""
    VOTING_WINS = 13
    """The Voting Wins track, at the end."""
    WHEAT_TOKENS = 14
    """The bonus for the most Wheat tokens, at the end."""
    CARDS = 15
    """A player's forecast cards; the neutral player's Southern Winds cards that find no target or no vote."""


class Growing(IntEnum):
    """The growing token on a tile: its side (Growing Crops).

    Only Coffee and Rice are ever SPROUTING, only the Maltese Cactus is ever DROWNED.
    """

    NONE = 0
    SPROUTING = 1
    DEVELOPED = 2
    DROWNED = 3


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


class Module(IntEnum):
    """What can be added to the base game: the promos, and the modules of the Flowers expansion."""

    FERTILIZER = 0
    CACTUS = 1
    LAKE = 2
    FLOWER_TILES = 3
    POWERS = 4
    FORECASTS = 5


class Power(IntEnum):
    """A player's power (Flowers, Poteri dei giocatori)."""

    NONE = 0
    FROST = 1
    SUN = 2
    WIND = 3
    RAIN = 4
    HARVEST = 5


class Timing(IntEnum):
    """How far a round's timeline has come: when forecast cards are played, and the steps of a Harvest."""

    ACTION_PHASE = 0
    START_OF_WEATHER = 1
    SUN_TURN = 2
    BEFORE_WIND = 3
    BEFORE_RAIN = 4
    BEFORE_HARVEST = 5
    SCORED = 6
    AFTER_HARVEST = 7


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
    FERTILIZER_TILE = 20
    FROST_CLOUD = 21
    FROST_POWER = 22
    WIND_TILE = 23
    FORECAST = 24
    FORECAST_TILE = 25
    FORECAST_DROP = 26
    FORECAST_DIRECTION = 27
    FORECAST_VOTE = 28
    POD_TILE = 29
    KEEP_DROP = 30


SOURCE_NAMES = tuple(source.name.lower() for source in Source)
CROP_NAMES = tuple(crop.name.lower() for crop in Crop)
WEATHER_NAMES = tuple(weather.name.lower() for weather in Weather)
DIRECTION_NAMES = tuple(direction.name.lower() for direction in Direction)
DECISION_NAMES = tuple(decision.name.lower() for decision in Decision)
MODULE_NAMES = tuple(module.name.lower() for module in Module)
POWER_NAMES = tuple(power.name.lower() for power in Power)
TIMING_NAMES = tuple(timing.name.lower() for timing in Timing)
PHASE_NAMES = tuple(phase.name.lower() for phase in Phase)
TILE_NAMES = tuple(f"{column}{row}" for row in "1234" for column in "abcd")
HARVEST = 0
"""The harvest die's Harvest side; the other sides are their number of votes, 1 to 4."""

# Fields are ordered by size, so that the record has no padding and equal games are equal bytes. Its size is a multiple
# of 8, so that 64-bit fields stay aligned.
STATE = np.dtype(
    [
        # chance: splitmix64 state; the only source of randomness of a game
        ("rng", np.uint64),
        # the set of actions that answer the pending decision, one bit an action
        ("legal", np.uint64, (LEGAL_WORDS,)),
        ("points", np.int16, (MAX_PLAYERS,)),
        ("scored", np.int16, (MAX_PLAYERS, len(Source))),  # the points by where they came from, for reports
        ("forfeited", np.int16),  # seat that lost by an illegal action, or NOBODY
        # switches of this game
        ("players", np.int8),  # 1 is solo
        ("owners", np.int8),  # players, in solo 2: the neutral player owns drops and votes too
        ("rounds", np.int8),
        ("drafting", np.int8),
        ("variants", np.int8, (4,)),  # in the order of config.VARIANTS
        ("modules", np.int8, (len(Module),)),  # in the order of Module
        ("chosen_power", np.int8, (MAX_PLAYERS,)),  # Power that a seat is to have, all NONE: dealt at random
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
        ("crop", np.int8, (NUM_TILES,)),  # Crop, FACE_DOWN or NO_TILE
        ("growing", np.int8, (NUM_TILES,)),
        ("drops", np.int8, (NUM_TILES, MAX_PLAYERS)),  # on tiles
        ("cloud", np.int8, (NUM_TILES,)),
        ("cloud_drops", np.int8, (NUM_TILES, MAX_PLAYERS)),
        ("fertilizer", np.int8, (NUM_TILES,)),  # 1 with a Fertilizer token
        ("pods", np.int8, (NUM_TILES,)),  # 1 with one of the Dandelion's pods
        ("blooms", np.int8, (NUM_TILES,)),  # bloom tokens: 1 on an open Snowdrop, 1 to 4 on the Primrose
        ("controller", np.int8),  # seat that controls the Primrose, or NOBODY
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
        # player powers and forecast cards
        ("power", np.int8, (MAX_PLAYERS,)),  # Power of each seat
        ("forecast_holder", np.int8, (NUM_FORECASTS,)),  # seat, NOBODY (not dealt) or PLAYED, by card number - 1
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
        ("timing", np.int8),  # Timing: how far this round's timeline has come
        ("timing_index", np.int8),  # how many players are done with what is offered at this point of it
        ("forecast", np.int8),  # number of the forecast card being carried out, 1 to 16, or 0
        ("choices_left", np.int8),  # drops or tiles still to choose in this effect
        ("counts_clouds", np.int8, (MAX_PLAYERS,)),  # 1: own drops in clouds count in this Harvest (forecast card 3)
        ("chosen_drops", np.int8, (MAX_PLAYERS,)),  # drops chosen so far of the target, by owner (forecast card 11)
        ("scored_drops", np.int8, (NUM_TILES, MAX_PLAYERS)),  # drops that this Harvest scored, until its end
        # Southern Winds: the deck as a set, and what was revealed since the player's last turn
        ("winds_deck", np.int8, (9,)),  # 1 if card number i + 1 is still in the deck
        ("winds_revealed", np.int8),
        ("winds_card", np.int8, (WINDS_LOG,)),  # card number, 1 to 8
        ("winds_roll", np.int8, (WINDS_LOG,)),  # numeric die, 0 if none was rolled
        ("winds_target", np.int8, (WINDS_LOG,)),  # tile it took effect on, or NO_TILE
    ]
)

State: TypeAlias = Any
"""One record of `STATE`: `np.void`, an element of a record array, or Numba's record (NumPy has no type for it)."""
