"""A whole game as one NumPy record, and the numbers that its fields hold.

A planet lies on a grid of 7 x 7 places. A place that belongs to the planet is a space. A set of spaces is one `uint64`
with a bit for each place, by the number of the place, 7 * row + column:

    a1 b1 c1 d1 e1 f1 g1        0  1  2  3  4  5  6
    a2 b2 c2 d2 e2 f2 g2        7  8  9 10 11 12 13
    ...                         ...
    a7 b7 c7 d7 e7 f7 g7       42 43 44 45 46 47 48

The number of a card is 6 * type + power, as in `Biome` and `Power`. A set of cards is one `uint64` too, with a bit for
each card. Seats are numbered clockwise.

Players take their turns at the same time. The program asks them one after another. What a player has done is shown to
the others when all are done: `shown_…` and `points` are what everybody knows.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from tabletop_engine.record import NOBODY as NOBODY
from tabletop_engine.record import Array, Bits, Number, Record, array, blank_record, dtype_of, number

STATE_VERSION = 2
"""The version of the record's layout. Saved states carry it."""
RULES_VERSION = 1
"""The version of the rules and of what chance brings for a seed. Results of one version can be compared."""

MAX_PLAYERS = 4
ROWS, COLUMNS = 7, 7
PLACES = ROWS * COLUMNS
MAX_SPACES = 41
"""The spaces of the largest planet, as many as the shipped one has. Actions number them in reading order."""
NUM_CARDS = 42
MAX_MARKET = MAX_PLAYERS + 1
NO_CARD = -1
NO_SLOT = -1
MAX_ROUNDS = 14


class Biome(IntEnum):
    """The biomes of a planet, and the types of cards. A wild card stands for any biome."""

    MEADOW = 0
    FLOWERS = 1
    GRAIN = 2
    ROCK = 3
    SWAMP = 4
    SNOW = 5
    WILD = 6


NUM_BIOMES = 6
WILD = Biome.WILD
NUM_PILES = 7
"""The piles of the fertility zone: one for each biome, and one for wild cards."""


class Power(IntEnum):
    """The six powers."""

    SPROUT = 0
    SMALL_TREE = 1
    BIG_TREE = 2
    BUSH = 3
    LAKE = 4
    BUDS = 5


class Piece(IntEnum):
    """The pieces that can stand in a space."""

    SPROUT = 0
    SMALL_TREE = 1
    BIG_TREE = 2
    BUSH = 3
    LAKE = 4


class Season(IntEnum):
    """The four seasons of a game."""

    SPRING = 0
    SUMMER = 1
    AUTUMN = 2
    WINTER = 3


class Sun(IntEnum):
    """The side of the planets where the sun is."""

    NORTH = 0
    EAST = 1
    SOUTH = 2
    WEST = 3


class Source(IntEnum):
    """What brings points."""

    START = 0
    """The points that later players start with."""
    BUDS = 1
    LIGHT = 2
    FOREST = 3
    FERTILITY = 4


class Decision(IntEnum):
    """What the actor is asked. `actions.py` says which actions answer each decision."""

    GAME_OVER = 0
    DRAFT = 1
    TURN = 2
    PLANT = 3
    GROW = 4
    PLANT_AND_GROW = 5
    ANYWHERE = 6
    POWER = 7
    LAKE = 8


NUM_POWERS, NUM_PIECES, NUM_SUNS = len(Power), len(Piece), len(Sun)

BIOME_NAMES = tuple(biome.name.lower() for biome in Biome)
POWER_NAMES = tuple(power.name.lower() for power in Power)
PIECE_NAMES = tuple(piece.name.lower() for piece in Piece)
SEASON_NAMES = tuple(season.name.lower() for season in Season)
SUN_NAMES = tuple(sun.name.lower() for sun in Sun)
SOURCE_NAMES = tuple(source.name.lower() for source in Source)
DECISION_NAMES = tuple(decision.name.lower() for decision in Decision)
"""The name of each `Decision`, by its number."""
CARD_NAMES = tuple(f"{biome} {power}" for biome in BIOME_NAMES for power in POWER_NAMES)
PLACE_NAMES = tuple(f"{column}{row}" for row in "1234567" for column in "abcdefg")


class State(Record):
    """A whole game. Two equal games are equal bytes."""

    rng: Bits = number(np.uint64, "the random stream (splitmix64), the only source of randomness")
    legal: Array = array(np.uint64, 1, "the set of actions that answer the decision, one bit for each action")

    edition: Number = number(np.int16, "which of several tables of printed numbers is played with; 0 with one")

    # the switches of this game; a new game keeps them
    players: Number = number(np.int8, "the number of players; 1 plays for points alone")
    owners: Number = number(np.int8, "the number of those who have points: the players")

    # what the board says
    rounds: Number = number(np.int8, "the number of rounds in the game")
    outline: Bits = number(np.uint64, "the set of the spaces of a planet")

    # progress
    decision: Number = number(np.int8, "the Decision that is asked")
    actor: Number = number(np.int8, "the seat that is asked, or NOBODY when the game is over", NOBODY)
    round: Number = number(np.int8, "the round, from 1", 1)
    season: Number = number(np.int8, "the Season of this round")
    sun: Number = number(np.int8, "the side where the Sun is in this season")
    first_player: Number = number(np.int8, "the seat that is first in this round")
    next_first: Number = number(np.int8, "the seat that took the marked card in this round, or NOBODY", NOBODY)
    forfeited: Number = number(np.int8, "the seat that lost by an illegal action, or NOBODY", NOBODY)
    points: Array = array(
        np.int16, MAX_PLAYERS, "by seat: points that everybody knows, without those of turns that are not shown yet"
    )
    scored: Array = array(
        np.int16, (MAX_PLAYERS, len(Source)), "by seat and Source: where these points came from, for reports"
    )
    earned: Array = array(np.int16, MAX_PLAYERS, "by seat: points of a turn that is not shown yet")

    # cards
    market: Array = array(np.int8, MAX_MARKET, "the card in each slot, the leftmost slot first, or NO_CARD", NO_CARD)
    marker: Number = number(np.int8, "the slot whose card has the first player marker, or NO_SLOT", NO_SLOT)
    card: Array = array(
        np.int8, MAX_PLAYERS, "by seat: the card that the player drafted in this round, or NO_CARD", NO_CARD
    )
    deck: Bits = number(np.uint64, "the set of cards in the deck")
    discards: Bits = number(np.uint64, "the set of cards in the discard pile")
    collected: Bits = number(np.uint64, "the set of cards that all players drafted in earlier rounds of this season")
    zone: Array = array(
        np.int8, NUM_CARDS, "the cards of the fertility zone in order of arrival, then NO_CARD", NO_CARD
    )
    zone_size: Number = number(np.int8, "the number of cards in the fertility zone")
    face_down: Bits = number(np.uint64, "the set of those of them that lie face down")
    waiting_flips: Array = array(
        np.int8, NUM_PILES, "by pile: the number of aridities that wait for a flower (flag aridity_empty)"
    )
    fertility: Array = array(np.int8, NUM_BIOMES, "by biome: the fertility")

    # the planets
    sprouts: Array = array(np.uint64, MAX_PLAYERS, "by seat: the set of spaces with a sprout")
    small_trees: Array = array(np.uint64, MAX_PLAYERS, "by seat: the set of spaces with a small tree")
    big_trees: Array = array(np.uint64, MAX_PLAYERS, "by seat: the set of spaces with a big tree")
    bushes: Array = array(np.uint64, MAX_PLAYERS, "by seat: the set of spaces with a bush")
    lakes: Array = array(np.uint64, MAX_PLAYERS, "by seat: the set of spaces with a lake")
    level: Array = array(np.int8, (MAX_PLAYERS, len(Power)), "by seat and Power: the level")
    shown_sprouts: Array = array(np.uint64, MAX_PLAYERS, "`sprouts` at the end of the last round, as the others see it")
    shown_small_trees: Array = array(np.uint64, MAX_PLAYERS, "`small_trees` at the end of the last round")
    shown_big_trees: Array = array(np.uint64, MAX_PLAYERS, "`big_trees` at the end of the last round")
    shown_bushes: Array = array(np.uint64, MAX_PLAYERS, "`bushes` at the end of the last round")
    shown_lakes: Array = array(np.uint64, MAX_PLAYERS, "`lakes` at the end of the last round")
    shown_level: Array = array(np.int8, (MAX_PLAYERS, len(Power)), "`level` at the end of the last round")

    # the turn of the actor
    finished: Array = array(np.int8, MAX_PLAYERS, "by seat: 1 if the player has taken the turn of this round")
    action_open: Number = number(np.int8, "1 while the action can still be taken")
    power_open: Number = number(np.int8, "1 while the power can still be used")
    plants_left: Number = number(np.int8, "the number of sprouts that this action may still plant")
    growths_left: Number = number(np.int8, "the number of growths that this action, or the lake just placed, still has")
    uses_left: Number = number(np.int8, "the number of uses that the power still has")
    begun: Number = number(np.int8, "1 once this action has planted or grown something")
    open_spaces: Bits = number(np.uint64, "the set of spaces that this action, power or lake may still be used on")


STATE = dtype_of(State)
"""The dtype of a record: a whole game."""
BLANK = blank_record(State)
"""(1,) STATE: an empty table, with no switches set."""
