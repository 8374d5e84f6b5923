"""One player's view of a game as a flat vector of counts with a named layout.

Seats are counted clockwise from the viewer, who is 0. The blocks of absent players are 0. The viewer sees their own
planet as it is, and those of the others as they were at the end of the last round. While players take their turns, the
observation says nothing of what the others do. The order of the deck and the random stream are not in it.

Blocks whose shape ends with 7, 7 are planes of the planets' grid, with rows from the north:
`observation[LAYOUT["planets"].slice].reshape(4, 5, 7, 7)`. The action `space k` is the k-th place that is a space, row
by row. `tables["place_of"]` has the number of its place, 7 * row + column.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from evergreen_env.rules.card_actions import growable, plants_or_growths
from evergreen_env.rules.cards import ALL_CARDS, biome_of, power_of
from evergreen_env.rules.draft import is_drafting
from evergreen_env.rules.fertility import card_to_flip
from evergreen_env.rules.planet import (
    NO_SPACES,
    largest_forest,
    light_points,
    lit_big_trees,
    lit_small_trees,
)
from evergreen_env.rules.powers import spaces_for_power
from evergreen_env.rules.seasons import fertility_points
from evergreen_env.state import (
    BIOME_NAMES,
    COLUMNS,
    MAX_MARKET,
    MAX_PLAYERS,
    NO_CARD,
    NOBODY,
    NUM_BIOMES,
    NUM_CARDS,
    NUM_PIECES,
    NUM_POWERS,
    NUM_SUNS,
    PLACES,
    ROWS,
    Decision,
    Piece,
    Season,
    State,
)
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule, shared_rule
from tabletop_engine.legal import count_bits
from tabletop_engine.observation import Layout
from tabletop_engine.parts.sets import write_ones

NUM_TYPES = len(BIOME_NAMES)
_FACE = NUM_TYPES + NUM_POWERS
"""Numbers for a card: its type and its power, one-hot each."""
_SLOT = _FACE + 3

_BLOCKS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    (
        "decision",
        (len(Decision),),
        "one-hot",
        "the decision that is asked, as `state.Decision`; all 0 while another player takes a turn",
    ),
    ("actor", (MAX_PLAYERS,), "one-hot", "the seat that is asked; all 0 in the same case, and when the game is over"),
    ("players", (MAX_PLAYERS,), "one-hot", "number of players - 1; 0 is one player"),
    ("season", (len(Season),), "one-hot", "the season, as `state.Season`"),
    ("sun", (NUM_SUNS,), "one-hot", "the side where the sun is, as `state.Sun`"),
    ("round", (1,), "rounds / 14", "the round, from 1"),
    ("rounds_left", (1,), "rounds / 5", "rounds of this season after this one"),
    ("first_player", (MAX_PLAYERS,), "one-hot", "the seat that is first in this round"),
    (
        "next_first",
        (MAX_PLAYERS,),
        "one-hot",
        "the seat that took the marked card in this round; all 0 if nobody has",
    ),
    ("finished", (1,), "0/1", "1 if the viewer has taken the turn of this round"),
    ("points", (MAX_PLAYERS,), "points / 100", "by seat: points; the viewer's with those of this turn"),
    ("levels", (MAX_PLAYERS, NUM_POWERS), "levels / 5", "by seat and power, as `state.Power`: the level"),
    (
        "planets",
        (MAX_PLAYERS, NUM_PIECES, ROWS, COLUMNS),
        "0/1",
        "by seat, piece, as `state.Piece`, row and column: 1 where such a piece stands",
    ),
    ("lit_trees", (ROWS, COLUMNS), "0/1", "the viewer's trees that would collect light now, under this season's sun"),
    ("largest_forest", (ROWS, COLUMNS), "0/1", "the viewer's largest forest"),
    (
        "choices",
        (ROWS, COLUMNS),
        "0/1",
        "spaces that the viewer's action, power or lake can be used on now; all 0 if no space is asked for",
    ),
    (
        "light",
        (MAX_PLAYERS, NUM_SUNS),
        "points / 30",
        "by seat and side of the sun, as `state.Sun`: points for light that the planet would bring now",
    ),
    ("forest", (MAX_PLAYERS,), "points / 30", "by seat: points that the largest forest would bring now"),
    ("big_trees", (MAX_PLAYERS, NUM_BIOMES), "trees / 6", "by seat and biome, as `state.Biome`: number of big trees"),
    (
        "fertility_points",
        (MAX_PLAYERS,),
        "points / 30",
        "by seat: points that the big trees would bring now, were this the end of the game",
    ),
    ("fertility", (NUM_BIOMES,), "flowers / 5", "by biome, as `state.Biome`: the fertility"),
    ("next_flip", (NUM_BIOMES,), "flowers / 3", "by biome: the flowers that its next aridity would take away"),
    (
        "cards",
        (MAX_PLAYERS, _FACE),
        "one-hot",
        "by seat: the card drafted in this round: 7 numbers for its type, as `state.Biome`, and 6 for its power, as "
        "`state.Power`; all 0 without a card",
    ),
    (
        "market",
        (MAX_MARKET, _SLOT),
        "one-hot",
        "by slot: its card's type (7 numbers) and power (6), as in `cards`; then counts: its flowers, its skulls, and "
        "1 if it has the marker; all 0 without a card",
    ),
    ("deck", (NUM_CARDS,), "0/1", "by number of the card, 6 * type + power: cards in the deck"),
    (
        "discards",
        (NUM_CARDS,),
        "0/1",
        "by number of the card: cards in the discard pile, and cards drafted in earlier rounds of this season",
    ),
    ("open", (2,), "0/1", "in the viewer's turn: 1 while the action is open, 1 while the power is open"),
    ("left", (3,), "spaces / 3", "in the viewer's turn: sprouts, growths and uses of the power that are left"),
)


LAYOUT = Layout.of(_BLOCKS, high=20.0)
"""The blocks of the observation."""

OBSERVATION_SIZE = LAYOUT.size
"""The number of values in an observation, in every configuration."""
LOW, HIGH = LAYOUT.low, LAYOUT.high
"""The bounds of every value of a float32 observation."""


def _starts() -> Any:
    return IntEnum("At", {block.name: block.start for block in LAYOUT})


At = _starts()
"""Where each block starts."""


@shared_rule
def observe(s: State, t: Tables, viewer: int, out: np.ndarray) -> None:
    """Write the viewer's observation into `out`, (OBSERVATION_SIZE,) zeros. Counts are not divided."""
    _observe_progress(s, t, viewer, out)
    _observe_cards(s, t, out, viewer)
    for i in range(min(s.players, MAX_PLAYERS)):  # a record changed by hand must not write beyond the view
        _observe_planet(s, t, viewer, i, out)
    if s.actor == viewer and not is_drafting(s):
        _observe_turn(s, t, out)


@rule
def _observe_progress(s: State, t: Tables, viewer: int, out: np.ndarray) -> None:
    if s.actor == NOBODY or s.actor == viewer or is_drafting(s):
        out[At.decision + s.decision] = 1
        if s.actor != NOBODY:
            out[At.actor + (s.actor - viewer) % s.players] = 1
    out[At.players + s.players - 1] = 1
    out[At.season + s.season] = 1
    out[At.sun + s.sun] = 1
    out[At.round] = s.round
    rounds = -int(s.round)
    for season in range(s.season + 1):
        rounds += int(t.season_rounds[season])
    out[At.rounds_left] = rounds
    out[At.first_player + (s.first_player - viewer) % s.players] = 1
    if s.next_first != NOBODY:
        out[At.next_first + (s.next_first - viewer) % s.players] = 1
    out[At.finished] = s.finished[viewer]


@rule
def _observe_cards(s: State, t: Tables, out: np.ndarray, viewer: int) -> None:
    for slot in range(min(s.players, MAX_PLAYERS) + 1):
        card = int(s.market[slot])
        if card != NO_CARD:
            at = At.market + slot * _SLOT
            out[at + biome_of(card)] = 1
            out[at + NUM_TYPES + power_of(card)] = 1
            out[at + _FACE] = t.flowers[card]
            out[at + _FACE + 1] = t.skulls[card]
            out[at + _FACE + 2] = s.marker == slot
    for i in range(min(s.players, MAX_PLAYERS)):
        card = int(s.card[(viewer + i) % s.players])
        if card != NO_CARD:
            out[At.cards + i * _FACE + biome_of(card)] = 1
            out[At.cards + i * _FACE + NUM_TYPES + power_of(card)] = 1
    write_ones(s.deck & ALL_CARDS, out, At.deck)
    write_ones((s.discards | s.collected) & ALL_CARDS, out, At.discards)
    for biome in range(NUM_BIOMES):
        out[At.fertility + biome] = s.fertility[biome]
        flipped = card_to_flip(s, t, biome)
        if flipped != NO_CARD:
            out[At.next_flip + biome] = t.flowers[flipped]


@rule
def _observe_planet(s: State, t: Tables, viewer: int, i: int, out: np.ndarray) -> None:
    """The planet of the i-th player, counted from the viewer, who is 0."""
    seat = (viewer + i) % s.players
    own = i == 0
    sprouts = s.sprouts[seat] if own else s.shown_sprouts[seat]
    small = s.small_trees[seat] if own else s.shown_small_trees[seat]
    big = s.big_trees[seat] if own else s.shown_big_trees[seat]
    bushes = s.bushes[seat] if own else s.shown_bushes[seat]
    lakes = s.lakes[seat] if own else s.shown_lakes[seat]
    at = At.planets + i * NUM_PIECES * PLACES
    write_ones(sprouts, out, at + Piece.SPROUT * PLACES)
    write_ones(small, out, at + Piece.SMALL_TREE * PLACES)
    write_ones(big, out, at + Piece.BIG_TREE * PLACES)
    write_ones(bushes, out, at + Piece.BUSH * PLACES)
    write_ones(lakes, out, at + Piece.LAKE * PLACES)
    forest = largest_forest(small | big | bushes)
    out[At.points + i] = s.points[seat]
    if own:
        out[At.points] += s.earned[seat]
        write_ones(lit_small_trees(small, big, s.sun) | lit_big_trees(big, s.sun), out, At.lit_trees)
        write_ones(forest, out, At.largest_forest)
    for power in range(NUM_POWERS):
        out[At.levels + i * NUM_POWERS + power] = s.level[seat, power] if own else s.shown_level[seat, power]
    for sun in range(NUM_SUNS):
        out[At.light + i * NUM_SUNS + sun] = light_points(small, big, sun)
    out[At.forest + i] = count_bits(forest)
    for biome in range(NUM_BIOMES):
        out[At.big_trees + i * NUM_BIOMES + biome] = count_bits(big & t.biome[biome])
    out[At.fertility_points + i] = fertility_points(s, t, big)


@rule
def _observe_turn(s: State, t: Tables, out: np.ndarray) -> None:
    """The turn of the actor, who is the viewer."""
    out[At.open], out[At.open + 1] = s.action_open, s.power_open
    out[At.left], out[At.left + 1], out[At.left + 2] = s.plants_left, s.growths_left, s.uses_left
    choices = NO_SPACES
    if s.decision == Decision.POWER:
        choices = spaces_for_power(s, t, power_of(s.card[s.actor])) & s.open_spaces
    elif s.decision == Decision.LAKE:
        choices = growable(s, t) & s.open_spaces
    elif s.decision != Decision.TURN:
        choices = plants_or_growths(s, t)
    write_ones(choices, out, At.choices)
