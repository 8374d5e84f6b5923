"""Setup of the base game, the drafting variant and the Southern Winds."""

from __future__ import annotations

import numpy as np

from petrichor_env.actions import TILE
from petrichor_env.rules.action_phase import start_action_phase
from petrichor_env.rules.asking import anticlockwise
from petrichor_env.rules.chance import draw_card, roll_harvest_die, roll_numeric_die
from petrichor_env.rules.clouds import new_cloud
from petrichor_env.rules.drafting import continue_draft, deal
from petrichor_env.rules.fields import has_cloud, is_free, tile_of
from petrichor_env.rules.forecasts import deal_forecasts
from petrichor_env.rules.powers import deal_powers
from petrichor_env.rules.promos import ask_fertilizer_tile, tokens_to_place
from petrichor_env.rules.southern_winds import NEUTRAL, POSITIONS, YOU, shuffle_winds_deck, tile_at
from petrichor_env.rules.voting import sort_dice
from petrichor_env.state import (
    BLANK,
    FACE_DOWN,
    NO_TILE,
    NOT_DRAFTING,
    NUM_KINDS,
    NUM_TILES,
    Crop,
    Decision,
    Module,
    State,
    Variant,
)
from petrichor_env.tables import MAX_COPIES, NUM_CROPS, Tables
from tabletop_engine.chance import draw_from, random_below
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.compiling.overwrite import overwrite
from tabletop_engine.legal import allow, ask, ask_nothing

_CENTRE = 5  # a position of every field
_MOST_ROLLS = 1000  # more than it ever takes, unless a record was changed by hand

FIELD_POSITIONS = np.zeros((6, NUM_TILES), np.int8)
"""Whether a position belongs to the field, by number of players."""
FIELD_POSITIONS[1, [0, 1, 4, 5, 8, 9]] = 1
FIELD_POSITIONS[2, [1, 2, 4, 5, 6, 8, 9]] = 1
FIELD_POSITIONS[3, [0, 1, 2, 4, 5, 6, 8, 9, 10]] = 1
FIELD_POSITIONS[4, :12] = 1
FIELD_POSITIONS[5] = 1

BASE_GAME = -1
MODULE_OF_CROP = np.full(NUM_CROPS, BASE_GAME, np.int8)
"""The module that each crop's tiles come with, or BASE_GAME."""
MODULE_OF_CROP[Crop.CACTUS], MODULE_OF_CROP[Crop.LAKE] = Module.CACTUS, Module.LAKE
MODULE_OF_CROP[[Crop.SNOWDROP, Crop.DANDELION, Crop.PRIMROSE]] = Module.FLOWER_TILES


@rule
def set_up(s: State, t: Tables) -> None:
    """Set the game up to its first decision, from the switches and the random stream alone.

    The rulebook allows any method for the first player; here it is random. Fertilizer tokens are placed on tiles that
    lie face down, so with them the tiles, the cards and the dice come later.
    """
    clear(s)
    for seat in range(s.owners):
        s.supply[seat] = t.drops
        s.vote_supply[seat] = t.votes
    ask_nothing(s)
    if tokens_to_place(s, t) > 0:
        lay_face_down(s)
    else:
        lay_fields(s, t)
    if s.players > 1:
        s.first_player = random_below(s, s.players)
    if s.crop[_CENTRE] != FACE_DOWN:
        deal_and_roll(s, t)


@rule
def clear(s: State) -> None:
    """An empty table: the blank record with this game's switches and random stream."""
    start = BLANK.copy()[0]
    start.rng = s.rng
    start.players = s.players
    start.owners = s.owners
    start.rounds = s.rounds
    start.drafting = s.drafting
    start.variants = s.variants
    start.modules = s.modules
    start.readings = s.readings
    start.chosen_power = s.chosen_power
    start.power = s.chosen_power
    overwrite(s, start)


@rule
def deal_and_roll(s: State, t: Tables) -> None:
    """The cards and the Harvest dice."""
    for kind in range(NUM_KINDS):
        s.deck[kind] = t.cards_of_a_kind_five_players if s.players == 5 else t.cards_of_a_kind
    deal(s)
    if s.drafting == 0:
        deal_extra_card(s)
    for die in range(3):
        s.dice[die] = roll_harvest_die(s, t)
    sort_dice(s)


@rule
def lay_face_down(s: State) -> None:
    """All tiles of the field lie face down."""
    for tile in range(NUM_TILES):
        if FIELD_POSITIONS[s.players, tile] == 1:
            s.crop[tile] = FACE_DOWN


@rule
def lay_fields(s: State, t: Tables) -> None:
    """Random tiles on the field, face up; two players play without Corn."""
    if s.players == 1:
        set_up_southern_winds(s, t)
        return
    pile = t.copies.copy()
    for crop in range(NUM_CROPS):
        if not is_in_box(s, crop) or (s.players == 2 and crop == Crop.CORN):
            pile[crop] = 0
    for tile in range(NUM_TILES):
        if FIELD_POSITIONS[s.players, tile] == 1:
            s.crop[tile] = draw_from(s, pile)
    primrose = tile_of(s, Crop.PRIMROSE)
    if primrose != NO_TILE:
        s.blooms[primrose] = 1


@rule
def is_in_box(s: State, crop: int) -> bool:
    """Whether tiles of this crop are used. Those of the promos and of the flowers need their modules."""
    module = int(MODULE_OF_CROP[crop])
    return bool(module == BASE_GAME or s.modules[module] == 1)


@rule
def deal_extra_card(s: State) -> None:
    """Two players only: the second player's eighth card."""
    if s.players == 2:
        kind = draw_card(s)
        if kind >= 0:
            s.hand[1 - s.first_player, kind] += 1


@rule
def continue_setup(s: State, t: Tables) -> bool:
    """Fertilizer tokens, the draft, the clouds; then the first turn.

    Each player places a cloud, the last player first, then anticlockwise. In solo the cloud has been placed already.
    """
    if tokens_to_place(s, t) > 0:
        ask_fertilizer_tile(s)
        return True
    if s.crop[_CENTRE] == FACE_DOWN:
        s.turn_index = 0
        lay_fields(s, t)
        deal_and_roll(s, t)
    if s.draft_step != NOT_DRAFTING:
        if continue_draft(s):
            return True
        deal_extra_card(s)
    if s.players > 1 and s.turn_index < s.players:
        ask(s, Decision.SETUP_CLOUD, anticlockwise(s, s.turn_index))
        return True
    deal_powers(s)
    deal_forecasts(s)
    start_action_phase(s, t)
    return True


@rule
def allow_setup_cloud(s: State) -> None:
    """Tiles without a cloud."""
    for tile in range(NUM_TILES):
        if is_free(s, tile):
            allow(s, TILE + tile)


@rule
def place_setup_cloud(s: State, action: int) -> None:
    """Answers SETUP_CLOUD."""
    new_cloud(s, action - TILE, s.actor, 1)
    s.turn_index += 1
    ask_nothing(s)


# --- Southern Winds --------------------------------------------------------------------------------------------------


@rule
def set_up_southern_winds(s: State, t: Tables) -> None:
    """Six tiles with a compass in ascending priority, two neutral clouds and one of the player's by the die."""
    lay_fields_by_priority(s, t)
    for owner in (NEUTRAL, NEUTRAL, YOU):
        new_cloud(s, roll_free_tile(s), owner, 1)
    shuffle_winds_deck(s)


@rule
def roll_free_tile(s: State) -> int:
    """A tile without a cloud, rolled for."""
    for _ in range(_MOST_ROLLS):
        tile = tile_at(roll_numeric_die(s) - 1)
        if not has_cloud(s, tile):
            return tile
    return tile_at(0)


@rule
def lay_fields_by_priority(s: State, t: Tables) -> None:
    """Six random tiles with a compass, in ascending order of priority."""
    crops = np.empty(NUM_CROPS * MAX_COPIES, np.int64)
    priorities = np.empty(NUM_CROPS * MAX_COPIES, np.int64)
    tiles = 0
    for crop in range(NUM_CROPS):
        if not is_in_box(s, crop) or (s.variants[Variant.NO_MORE_TRICKS] == 1 and crop in (Crop.WHEAT, Crop.POTATO)):
            continue
        for copy in range(t.copies[crop]):
            if t.solo_priority[crop, copy] > 0:
                crops[tiles] = crop
                priorities[tiles] = t.solo_priority[crop, copy]
                tiles += 1
    # draw six into the front places, then sort these by priority
    for i in range(POSITIONS):
        j = i + random_below(s, tiles - i)
        crops[i], crops[j] = crops[j], crops[i]
        priorities[i], priorities[j] = priorities[j], priorities[i]
    for position in range(POSITIONS):
        lowest = position
        for other in range(position + 1, POSITIONS):
            if priorities[other] < priorities[lowest]:
                lowest = other
        s.crop[tile_at(position)] = crops[lowest]
        crops[lowest] = crops[position]
        priorities[lowest] = priorities[position]
