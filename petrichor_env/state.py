"""A whole game as one NumPy record, and the numbers that its fields hold.

The Fields are a 4x4 grid of positions, numbered row by row. Smaller Fields use its top left:

    a1  b1  c1  d1         0   1   2   3
    a2  b2  c2  d2         4   5   6   7
    a3  b3  c3  d3         8   9  10  11
    a4  b4  c4  d4        12  13  14  15

| players | positions |
|---|---|
| solo | a1 to b3: P1 = a1, P2 = b1, P3 = a2, P4 = b2, P5 = a3, P6 = b3 |
| 2 | a1 to c3, without a1 and c3 |
| 3 | a1 to c3 |
| 4 | a1 to d3 |
| 5 | a1 to d4 |

Seats are numbered clockwise. In solo seat 0 is the player and seat 1 is the neutral player.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from tabletop_engine.record import NOBODY as NOBODY
from tabletop_engine.record import Array, Bits, Number, Record, array, blank_record, dtype_of, number

STATE_VERSION = 5
"""The version of the record's layout. Saved states carry it."""
RULES_VERSION = 3
"""The version of the rules and of what chance brings for a seed. Results of one version can be compared."""

MAX_PLAYERS = 5
NUM_TILES = 16
NUM_KINDS = 4
NUM_FORECASTS = 16
NO_TILE = -1
NO_SPACE = -1
FACE_DOWN = -2
"""The crop of a tile that nobody has seen yet. Tiles lie face down only while Fertilizer tokens are placed."""
PLAYED = -2
"""The holder of a forecast card that is out of the game: played, or discarded with the second one played."""
LEGAL_WORDS = 3
"""64-bit words of the set of legal actions."""
WINDS_LOG = 6
"""The most Southern Winds cards between two turns of the player: three neutral turns of two cards."""


class Weather(IntEnum):
    """The four kinds of cards and of weather, in the weather sequence (clockwise on the board)."""

    FROST = 0
    SUN = 1
    WIND = 2
    RAIN = 3


class Crop(IntEnum):
    """The tiles: the crops of the base game, the promos and the flower tiles."""

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
    """What brings points. The first twelve are a Harvest of each Crop, with the same numbers."""

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
    """A player's forecast cards; for the neutral player, Southern Winds cards without a target or without a vote."""


class Growing(IntEnum):
    """The side of the growing token on a tile (Growing Crops).

    Only Coffee and Rice are ever SPROUTING. Only the Maltese Cactus is ever DROWNED.
    """

    NONE = 0
    SPROUTING = 1
    DEVELOPED = 2
    DROWNED = 3


class Cloud(IntEnum):
    """The cloud above a tile."""

    NONE = 0
    LIGHT = 1
    THUNDER = 2


class Direction(IntEnum):
    """The directions on the Fields. North is the row above."""

    NORTH = 0
    EAST = 1
    SOUTH = 2
    WEST = 3


class Phase(IntEnum):
    """The setup, the four phases of a round, and the end of the game."""

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
    """The variants that make the solo game harder (Southern Winds, Increasing the Difficulty)."""

    DOUBLE_CARD = 0
    NON_RANDOM_TARGETS = 1
    NO_MORE_TRICKS = 2
    ONE_MORE_TURN = 3


class Reading(IntEnum):
    """The other readings of unclear rules, which can be played instead of the usual ones (docs/rules.md)."""

    FORECASTS_END_ACTIONS = 0
    """A player who plays a forecast card in place of a turn plays no action cards for the rest of the round."""
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
    """The points of a round's timeline: when forecast cards are played, and the steps of a Harvest."""

    ACTION_PHASE = 0
    START_OF_WEATHER = 1
    SUN_TURN = 2
    BEFORE_WIND = 3
    BEFORE_RAIN = 4
    BEFORE_HARVEST = 5
    SCORED = 6
    AFTER_HARVEST = 7


class Decision(IntEnum):
    """What the actor is asked. `actions.py` says which actions answer each decision."""

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
"""The name of each `Decision`, by its number."""
VARIANT_NAMES = tuple(variant.name.lower() for variant in Variant)
MODULE_NAMES = tuple(module.name.lower() for module in Module)
READING_NAMES = tuple(reading.name.lower() for reading in Reading)
POWER_NAMES = tuple(power.name.lower() for power in Power)
TIMING_NAMES = tuple(timing.name.lower() for timing in Timing)
PHASE_NAMES = tuple(phase.name.lower() for phase in Phase)
TILE_NAMES = tuple(f"{column}{row}" for row in "1234" for column in "abcd")
HARVEST = 0
"""The Harvest side of a Harvest die. The other sides are their number of votes, 1 to 4."""

NOT_DRAFTING = -1
NO_CARD = -1
SELECTING = -1
"""`weather` while the spaces to resolve are being selected, and outside the Weather Phase."""


class State(Record):
    """A whole game. Two equal games are equal bytes."""

    rng: Bits = number(np.uint64, "the random stream (splitmix64), the only source of randomness")
    legal: Array = array(np.uint64, LEGAL_WORDS, "the set of actions that answer the decision, one bit for each action")

    edition: Number = number(np.int16, "which of several tables of printed numbers is played with; 0 with one")

    # the switches of this game; a new game keeps them
    players: Number = number(np.int8, "the number of players; 1 is solo")
    owners: Number = number(
        np.int8, "the number of owners of drops and votes: the players, in solo also the neutral player"
    )
    rounds: Number = number(np.int8, "the number of rounds in the game")
    drafting: Number = number(np.int8, "1 with the drafting variant")
    variants: Array = array(
        np.int8, len(Variant), "1 for each solo variant that is played, in the order of `config.VARIANTS`"
    )
    modules: Array = array(np.int8, len(Module), "1 for each module that is played, in the order of `Module`")
    chosen_power: Array = array(
        np.int8, MAX_PLAYERS, "by seat: the Power that the configuration names; all NONE if powers are dealt at random"
    )
    readings: Array = array(np.int8, len(Reading), "1 for each Reading that is played, in their order")

    # progress
    decision: Number = number(np.int8, "the Decision that is asked")
    actor: Number = number(np.int8, "the seat that is asked, or NOBODY when the game is over", NOBODY)
    phase: Number = number(np.int8, "the Phase", Phase.SETUP)
    round: Number = number(np.int8, "the round, from 1", 1)
    first_player: Number = number(np.int8, "the seat with the First Player marker")
    passed: Number = number(np.int8, "the seat that passed first in this round, or NOBODY", NOBODY)
    turns: Number = number(np.int8, "the turns finished in this Action Phase, counted up to the number of players")
    last_turns: Number = number(np.int8, "the turns left after somebody has passed, this one included")
    turn_index: Number = number(np.int8, "the number of players who are done, where players act one after another")
    harvested: Number = number(np.int8, "1 if this round has had a Harvest")
    forfeited: Number = number(np.int16, "the seat that lost by an illegal action, or NOBODY", NOBODY)
    points: Array = array(np.int16, MAX_PLAYERS, "by owner: Victory Points")
    scored: Array = array(
        np.int16, (MAX_PLAYERS, len(Source)), "by owner and Source: the points that each source brought, for reports"
    )

    # the Fields
    crop: Array = array(np.int8, NUM_TILES, "the Crop of each position, FACE_DOWN or NO_TILE", NO_TILE)
    growing: Array = array(np.int8, NUM_TILES, "the Growing token on each tile")
    drops: Array = array(np.int8, (NUM_TILES, MAX_PLAYERS), "by tile and owner: drops on the tile")
    cloud: Array = array(np.int8, NUM_TILES, "the Cloud above each tile")
    cloud_drops: Array = array(np.int8, (NUM_TILES, MAX_PLAYERS), "by tile and owner: drops in the cloud above it")
    fertilizer: Array = array(np.int8, NUM_TILES, "1 for each tile with a Fertilizer token")
    pods: Array = array(np.int8, NUM_TILES, "1 for each tile with one of the Dandelion's pods")
    blooms: Array = array(
        np.int8, NUM_TILES, "bloom tokens on each tile: 1 on an open Snowdrop, 1 to 4 on the Primrose"
    )
    controller: Number = number(np.int8, "the seat that controls the Primrose, or NOBODY", NOBODY)

    # personal supplies and the board
    supply: Array = array(np.int8, MAX_PLAYERS, "by owner: drops in the personal supply")
    votes: Array = array(np.int8, (NUM_KINDS, MAX_PLAYERS), "by weather space and owner: votes")
    vote_supply: Array = array(np.int8, MAX_PLAYERS, "by owner: votes in the personal supply")
    voting_wins: Array = array(np.int8, MAX_PLAYERS, "by owner: Voting Wins")
    wheat_tokens: Array = array(np.int8, MAX_PLAYERS, "by owner: Wheat tokens")
    dice: Array = array(np.int8, 3, "the three Harvest dice in ascending order: HARVEST or 1 to 4 votes")

    # cards, as counts of each kind
    hand: Array = array(np.int8, (MAX_PLAYERS, NUM_KINDS), "by seat and kind: cards in the hand")
    deck: Array = array(np.int8, NUM_KINDS, "by kind: cards in the deck")
    discards: Array = array(np.int8, NUM_KINDS, "by kind: cards in the discard pile")
    pack: Array = array(
        np.int8, (MAX_PLAYERS, NUM_KINDS), "by seat and kind: cards in the pack that the player drafts from"
    )
    draft_step: Number = number(
        np.int8, "how often packs have been passed on in this draft, or NOT_DRAFTING", NOT_DRAFTING
    )

    # player powers and forecast cards
    power: Array = array(np.int8, MAX_PLAYERS, "by seat: the Power")
    forecast_holder: Array = array(
        np.int8, NUM_FORECASTS, "by card number - 1: the seat that holds it, NOBODY (not dealt) or PLAYED", NOBODY
    )

    # the effect being carried out
    card: Number = number(np.int8, "the Weather of the action that is carried out, or NO_CARD", NO_CARD)
    optional: Number = number(np.int8, "1 during the turn's optional second action")
    cards_left: Number = number(
        np.int8, "the cards that the actor still has to name; one of the action's own kind pays for two"
    )
    lowest_card: Number = number(
        np.int8, "the lowest kind that may be named next: cards of one set are named in ascending order"
    )
    target: Number = number(np.int8, "the tile or cloud that was chosen last in this effect, or NO_TILE", NO_TILE)
    target_owner: Number = number(np.int8, "the seat whose drop was chosen last in this effect, or NOBODY", NOBODY)
    target_space: Number = number(np.int8, "the weather space that a moved vote goes to, or NO_SPACE", NO_SPACE)
    choices_left: Number = number(np.int8, "the drops or tiles that are still to be chosen in this effect")
    chosen_drops: Array = array(
        np.int8, MAX_PLAYERS, "by owner: drops of the target that have been chosen so far (forecast card 11)"
    )
    selected: Array = array(np.int8, NUM_KINDS, "1 for each weather space that is selected to be resolved")
    weather: Number = number(np.int8, "the Weather that is resolved, or SELECTING", SELECTING)
    pod_turns: Number = number(np.int8, "the number of players who are done placing pods after the Wind weather")
    timing: Number = number(np.int8, "the Timing: the point that this round's timeline has reached")
    timing_index: Number = number(np.int8, "the number of players who are done at this point of the timeline")
    forecast: Number = number(np.int8, "the number of the forecast card that is carried out, 1 to 16, or 0")
    no_actions: Array = array(
        np.int8, MAX_PLAYERS, "by seat: 1 if the player plays no action cards in this round (FORECASTS_END_ACTIONS)"
    )
    counts_clouds: Array = array(
        np.int8, MAX_PLAYERS, "by seat: 1 if own drops in clouds count in this Harvest (forecast card 3)"
    )
    scored_drops: Array = array(
        np.int8, (NUM_TILES, MAX_PLAYERS), "by tile and owner: drops that this Harvest scored, kept until its end"
    )

    # Southern Winds: the deck, and the cards revealed since the player's last turn
    winds_deck: Array = array(
        np.int8, 9, "1 for each Southern Winds card that is still in the deck, by card number - 1"
    )
    winds_revealed: Number = number(np.int8, "the number of cards revealed since the player's last turn")
    winds_card: Array = array(np.int8, WINDS_LOG, "the number of each revealed card, 1 to 8, or 0")
    winds_roll: Array = array(np.int8, WINDS_LOG, "the numeric die rolled for each of them, or 0 if none was rolled")
    winds_target: Array = array(np.int8, WINDS_LOG, "the tile that each of them took effect on, or NO_TILE", NO_TILE)

    spare: Array = array(np.int8, 5, "nothing: it makes the record's size a multiple of 8 bytes")


STATE = dtype_of(State)
"""The dtype of a record: a whole game."""
BLANK = blank_record(State)
"""(1,) STATE: an empty table, with no switches set."""
