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

import numpy as np

from tabletop.record import NOBODY as NOBODY
from tabletop.record import Record, array, blank_record, dtype_of, number

STATE_VERSION = 4
"""Of the record's layout; saved states carry it."""
RULES_VERSION = 3
"""Of the rules, and of what chance brings for a seed: results with the same version can be compared."""

MAX_PLAYERS = 5
NUM_TILES = 16
NUM_KINDS = 4
NUM_FORECASTS = 16
NO_TILE = -1
NO_SPACE = -1
FACE_DOWN = -2
"""A tile whose crop nobody has seen yet: only while Fertilizer tokens are placed."""
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


class Variant(IntEnum):
    """What makes the solo game harder (Southern Winds, Increasing the Difficulty)."""

    DOUBLE_CARD = 0
    NON_RANDOM_TARGETS = 1
    NO_MORE_TRICKS = 2
    ONE_MORE_TURN = 3


class Reading(IntEnum):
    """Readings of unclear rules that can be played instead of the usual ones (docs/rules.md)."""

    FORECASTS_END_ACTIONS = 0
    """Who plays a forecast card in place of a turn plays no action cards for the rest of the round."""
    PRIMROSE_PASSES_ONCE = 1
    """When drops on the Primrose change, at most one player takes control."""


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
VARIANT_NAMES = tuple(variant.name.lower() for variant in Variant)
MODULE_NAMES = tuple(module.name.lower() for module in Module)
READING_NAMES = tuple(reading.name.lower() for reading in Reading)
POWER_NAMES = tuple(power.name.lower() for power in Power)
TIMING_NAMES = tuple(timing.name.lower() for timing in Timing)
PHASE_NAMES = tuple(phase.name.lower() for phase in Phase)
TILE_NAMES = tuple(f"{column}{row}" for row in "1234" for column in "abcd")
HARVEST = 0
"""The harvest die's Harvest side; the other sides are their number of votes, 1 to 4."""

NOT_DRAFTING = -1
NO_CARD = -1
SELECTING = -1
"""`weather` while the spaces to resolve are being selected, and outside the Weather Phase."""


class State(Record):
    """A whole game. Two equal games are equal bytes."""

    rng = number(np.uint64, "the random stream (splitmix64), the only source of randomness")
    legal = array(np.uint64, LEGAL_WORDS, "the set of actions that answer the pending decision, one bit an action")

    # the switches of this game, which a new game keeps
    players = number(np.int8, "number of players; 1 is solo")
    owners = number(np.int8, "who owns drops and votes: the players, in solo the neutral player too")
    rounds = number(np.int8, "rounds of the game")
    drafting = number(np.int8, "1 with the drafting variant")
    variants = array(np.int8, len(Variant), "1 for each solo variant played with, in the order of `config.VARIANTS`")
    modules = array(np.int8, len(Module), "1 for each module played with, in the order of `Module`")
    chosen_power = array(np.int8, MAX_PLAYERS, "the Power that a seat is to have; all NONE: they are dealt at random")
    readings = array(np.int8, len(Reading), "1 for each Reading played with, in their order")

    # progress
    decision = number(np.int8, "the Decision that is asked")
    actor = number(np.int8, "the seat asked, or NOBODY when the game is over", NOBODY)
    phase = number(np.int8, "the Phase", Phase.SETUP)
    round = number(np.int8, "the round, from 1", 1)
    first_player = number(np.int8, "the seat with the First Player marker")
    passed = number(np.int8, "the seat that passed first this round, or NOBODY", NOBODY)
    turns = number(np.int8, "turns finished this Action Phase, counted up to the number of players")
    last_turns = number(np.int8, "turns left once somebody has passed")
    turn_index = number(np.int8, "how many players are done, where all do something one after another")
    harvested = number(np.int8, "1 if this round has had a Harvest")
    forfeited = number(np.int16, "the seat that lost by an illegal action, or NOBODY", NOBODY)
    points = array(np.int16, MAX_PLAYERS, "Victory Points")
    scored = array(np.int16, (MAX_PLAYERS, len(Source)), "the points by their Source, for reports")

    # the Fields
    crop = array(np.int8, NUM_TILES, "the Crop of each position, FACE_DOWN or NO_TILE", NO_TILE)
    growing = array(np.int8, NUM_TILES, "the Growing token of each tile")
    drops = array(np.int8, (NUM_TILES, MAX_PLAYERS), "drops on the tile, by owner")
    cloud = array(np.int8, NUM_TILES, "the Cloud above each tile")
    cloud_drops = array(np.int8, (NUM_TILES, MAX_PLAYERS), "drops in the cloud, by owner")
    fertilizer = array(np.int8, NUM_TILES, "1 with a Fertilizer token")
    pods = array(np.int8, NUM_TILES, "1 with one of the Dandelion's pods")
    blooms = array(np.int8, NUM_TILES, "bloom tokens: 1 on an open Snowdrop, 1 to 4 on the Primrose")
    controller = number(np.int8, "the seat that controls the Primrose, or NOBODY", NOBODY)

    # personal supplies and the board
    supply = array(np.int8, MAX_PLAYERS, "drops in the personal supply")
    votes = array(np.int8, (NUM_KINDS, MAX_PLAYERS), "votes on each weather space, by owner")
    vote_supply = array(np.int8, MAX_PLAYERS, "votes in the personal supply")
    voting_wins = array(np.int8, MAX_PLAYERS, "Voting Wins")
    wheat_tokens = array(np.int8, MAX_PLAYERS, "Wheat tokens")
    dice = array(np.int8, 3, "the Harvest dice in ascending order: HARVEST or 1 to 4 votes")

    # cards, as counts of each kind
    hand = array(np.int8, (MAX_PLAYERS, NUM_KINDS), "each player's hand, by kind")
    deck = array(np.int8, NUM_KINDS, "the deck, by kind")
    discards = array(np.int8, NUM_KINDS, "the discard pile, by kind")
    pack = array(np.int8, (MAX_PLAYERS, NUM_KINDS), "the pack that each player drafts from, by kind")
    draft_step = number(np.int8, "how often packs have been passed on in this draft, or NOT_DRAFTING", NOT_DRAFTING)

    # player powers and forecast cards
    power = array(np.int8, MAX_PLAYERS, "the Power of each seat")
    forecast_holder = array(
        np.int8, NUM_FORECASTS, "by card number - 1: the seat that holds it, NOBODY (not dealt) or PLAYED", NOBODY
    )

    # the effect being carried out
    card = number(np.int8, "the Weather of the action, or NO_CARD", NO_CARD)
    optional = number(np.int8, "1 during the turn's optional second action")
    cards_left = number(np.int8, "cards the actor has still to name; one of the action's own kind pays for two")
    lowest_card = number(np.int8, "the lowest kind allowed next: cards of one set are named in ascending order")
    target = number(np.int8, "the tile or cloud chosen last in this effect, or NO_TILE", NO_TILE)
    target_owner = number(np.int8, "the seat whose drop was chosen last in this effect, or NOBODY", NOBODY)
    target_space = number(np.int8, "the weather space that a moved vote goes to, or NO_SPACE", NO_SPACE)
    choices_left = number(np.int8, "drops or tiles still to choose in this effect")
    chosen_drops = array(np.int8, MAX_PLAYERS, "drops chosen so far of the target, by owner (forecast card 11)")
    selected = array(np.int8, NUM_KINDS, "1 for the weather spaces selected to be resolved")
    weather = number(np.int8, "the Weather being resolved, or SELECTING", SELECTING)
    pod_turns = number(np.int8, "how many players are done placing pods after the Wind weather")
    timing = number(np.int8, "the Timing: how far this round's timeline has come")
    timing_index = number(np.int8, "how many players are done with what is offered at this point of the timeline")
    forecast = number(np.int8, "the number of the forecast card being carried out, 1 to 16, or 0")
    no_actions = array(np.int8, MAX_PLAYERS, "1: plays no action cards this round (FORECASTS_END_ACTIONS)")
    counts_clouds = array(np.int8, MAX_PLAYERS, "1: own drops in clouds count in this Harvest (forecast card 3)")
    scored_drops = array(np.int8, (NUM_TILES, MAX_PLAYERS), "drops that this Harvest scored, by owner, until its end")

    # Southern Winds: what was revealed since the player's last turn
    winds_deck = array(np.int8, 9, "1 for each card, by number - 1, that is still in the deck")
    winds_revealed = number(np.int8, "cards revealed")
    winds_card = array(np.int8, WINDS_LOG, "the number of each card revealed, 1 to 8, or 0")
    winds_roll = array(np.int8, WINDS_LOG, "the numeric die for it, or 0 if none was rolled")
    winds_target = array(np.int8, WINDS_LOG, "the tile it took effect on, or NO_TILE", NO_TILE)

    spare = array(np.int8, 7, "nothing: makes the record's size a multiple of 8 bytes")


STATE = dtype_of(State)
"""The dtype of a record: a whole game."""
BLANK = blank_record(State)
"""(1,) STATE: an empty table, with no switches set."""
