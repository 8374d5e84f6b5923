"""One player's view of a game as a flat vector of counts with a named layout.

Seats are counted clockwise from the viewer, who is 0; absent players are zeros. The viewer sees the own planet as it
is, and those of the others as they were when all had taken their turn. While players take their turns, the view says
nothing of what the others do. The order of the deck and the random stream are not in it.

Blocks whose last two numbers of the shape are 7, 7 are planes of the planets' grid, rows from the north:
`observation[LAYOUT["planets"].slice].reshape(4, 5, 7, 7)`. The action `space k` is the k-th place with a space in them,
row by row; `tables["place_of"]` has its number 7 * row + column.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from evergreen_env.rules.card_actions import growable, plants_or_growths
from evergreen_env.rules.cards import biome_of, power_of
from evergreen_env.rules.draft import is_drafting
from evergreen_env.rules.fertility import card_to_flip
from evergreen_env.rules.planet import (
    NO_SPACES,
    first_place,
    largest_forest,
    light_points,
    lit_big_trees,
    lit_small_trees,
    without_first,
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
from tabletop.compiled import rule, shared_rule
from tabletop.legal import count_bits
from tabletop.observation import Layout

NUM_TYPES = len(BIOME_NAMES)
_FACE = NUM_TYPES + NUM_POWERS
"""A card as type and power, one-hot each."""
_SLOT = _FACE + 3
_CARDS = np.uint64((1 << NUM_CARDS) - 1)

_BLOCKS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    (
        "decision",
        (len(Decision),),
        "one-hot",
        "what is asked, in the order of `state.Decision`; all 0 while others take their turn",
    ),
    ("actor", (MAX_PLAYERS,), "one-hot", "who is asked; all 0 as above"),
    ("players", (MAX_PLAYERS,), "one-hot", "number of players"),
    ("season", (len(Season),), "one-hot", "in the order of `state.Season`"),
    ("sun", (NUM_SUNS,), "one-hot", "in the order of `state.Sun`"),
    ("round", (1,), "rounds / 14", "the present one, from 1"),
    ("rounds_left", (1,), "rounds / 5", "of this season, after the present one"),
    ("first_player", (MAX_PLAYERS,), "one-hot", "of this round"),
    ("next_first", (MAX_PLAYERS,), "one-hot", "who took the marked card in this round"),
    ("finished", (1,), "0/1", "whether the viewer has taken the turn of this round"),
    ("points", (MAX_PLAYERS,), "points / 100", "the viewer's with those of this turn"),
    ("levels", (MAX_PLAYERS, NUM_POWERS), "levels / 5", "of each power"),
    (
        "planets",
        (MAX_PLAYERS, NUM_PIECES, ROWS, COLUMNS),
        "0/1",
        "spaces with a sprout, small tree, big tree, bush, lake",
    ),
    ("lit_trees", (ROWS, COLUMNS), "0/1", "the viewer's trees that collect light under this season's sun"),
    ("largest_forest", (ROWS, COLUMNS), "0/1", "the viewer's"),
    ("choices", (ROWS, COLUMNS), "0/1", "spaces that the viewer can choose now"),
    ("light", (MAX_PLAYERS, NUM_SUNS), "points / 30", "that each planet would bring now under each sun"),
    ("forest", (MAX_PLAYERS,), "points / 30", "that each planet's largest forest would bring now"),
    ("big_trees", (MAX_PLAYERS, NUM_BIOMES), "trees / 6", "by biome"),
    ("fertility_points", (MAX_PLAYERS,), "points / 30", "that the big trees would bring now"),
    ("fertility", (NUM_BIOMES,), "flowers / 5", "of each biome"),
    ("next_flip", (NUM_BIOMES,), "flowers / 3", "that the next aridity would take away"),
    ("cards", (MAX_PLAYERS, _FACE), "one-hot", "drafted in this round: type, then power"),
    (
        "market",
        (MAX_MARKET, _SLOT),
        "one-hot",
        "each slot's card: type, then power; its flowers and skulls, and 1 if it has the marker",
    ),
    ("deck", (NUM_CARDS,), "0/1", "cards in the deck, by 6 * type + power"),
    ("discards", (NUM_CARDS,), "0/1", "cards in the discard pile, and collected in this season"),
    ("open", (2,), "0/1", "whether action and power are still open"),
    ("left", (3,), "spaces / 3", "sprouts, growths and uses of the power that are left"),
)

LAYOUT = Layout.of(_BLOCKS, high=20.0)
"""The blocks of the observation."""
OBSERVATION_SIZE = LAYOUT.size
"""How many numbers an observation has, in every configuration."""
LOW, HIGH = LAYOUT.low, LAYOUT.high


def _starts() -> Any:
    return IntEnum("At", {block.name: block.start for block in LAYOUT})


At = _starts()
"""Where each block starts."""


@shared_rule
def observe(s: State, t: Tables, viewer: int, out: np.ndarray) -> None:
    """Write the viewer's observation into `out`, (OBSERVATION_SIZE,) zeros, in counts."""
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
    _mark(s.deck & _CARDS, out, At.deck)
    _mark((s.discards | s.collected) & _CARDS, out, At.discards)
    for biome in range(NUM_BIOMES):
        out[At.fertility + biome] = s.fertility[biome]
        flipped = card_to_flip(s, t, biome)
        if flipped != NO_CARD:
            out[At.next_flip + biome] = t.flowers[flipped]


@rule
def _mark(spaces: np.uint64, out: np.ndarray, start: int) -> None:
    """A 1 for each space, or card, of a set."""
    while spaces != NO_SPACES:
        out[start + first_place(spaces)] = 1
        spaces = without_first(spaces)


@rule
def _observe_planet(s: State, t: Tables, viewer: int, i: int, out: np.ndarray) -> None:
    """The planet of the i-th player from the viewer on."""
    seat = (viewer + i) % s.players
    own = i == 0
    sprouts = s.sprouts[seat] if own else s.shown_sprouts[seat]
    small = s.small_trees[seat] if own else s.shown_small_trees[seat]
    big = s.big_trees[seat] if own else s.shown_big_trees[seat]
    bushes = s.bushes[seat] if own else s.shown_bushes[seat]
    lakes = s.lakes[seat] if own else s.shown_lakes[seat]
    at = At.planets + i * NUM_PIECES * PLACES
    _mark(sprouts, out, at + Piece.SPROUT * PLACES)
    _mark(small, out, at + Piece.SMALL_TREE * PLACES)
    _mark(big, out, at + Piece.BIG_TREE * PLACES)
    _mark(bushes, out, at + Piece.BUSH * PLACES)
    _mark(lakes, out, at + Piece.LAKE * PLACES)
    forest = largest_forest(small | big | bushes)
    out[At.points + i] = s.points[seat]
    if own:
        out[At.points] += s.earned[seat]
        _mark(lit_small_trees(small, big, s.sun) | lit_big_trees(big, s.sun), out, At.lit_trees)
        _mark(forest, out, At.largest_forest)
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
    """The turn of the actor, who looks on."""
    out[At.open], out[At.open + 1] = s.action_open, s.power_open
    out[At.left], out[At.left + 1], out[At.left + 2] = s.plants_left, s.growths_left, s.uses_left
    choices = NO_SPACES
    if s.decision == Decision.POWER:
        choices = spaces_for_power(s, t, power_of(s.card[s.actor])) & s.open_spaces
    elif s.decision == Decision.LAKE:
        choices = growable(s, t) & s.open_spaces
    elif s.decision != Decision.TURN:
        choices = plants_or_growths(s, t)
    _mark(choices, out, At.choices)
