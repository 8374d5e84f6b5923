"""The four actions. The first three are held to the card's biome, the fourth is not."""

from __future__ import annotations

import numpy as np

from evergreen_env.actions import ANYWHERE, DONE, GROW_TWO, PLANT_THREE, SPACE
from evergreen_env.rules.cards import biome_of, is_wild
from evergreen_env.rules.planet import ALL, NO_SPACES, occupied
from evergreen_env.state import NUM_BIOMES, Decision, Piece, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing, count_bits
from tabletop_engine.parts.sets import first_of, later_than, only, without_first

_PLANTS, _GROWTHS = 3, 2


# --- What can be planted and grown -----------------------------------------------------------------------------------


@rule
def plantable(s: State, t: Tables) -> np.uint64:
    """Spaces where the actor can plant a sprout: empty ones, except ravines."""
    if count_bits(s.sprouts[s.actor]) >= t.supply[Piece.SPROUT]:
        return NO_SPACES
    return t.outline & ~t.ravines & ~occupied(s, s.actor)


@rule
def growing_sprouts(s: State, t: Tables) -> np.uint64:
    """Sprouts of the actor that can become small trees."""
    enough = count_bits(s.small_trees[s.actor]) < t.supply[Piece.SMALL_TREE]
    return s.sprouts[s.actor] & t.outline if enough else NO_SPACES


@rule
def growing_small_trees(s: State, t: Tables) -> np.uint64:
    """Small trees of the actor that can become big trees."""
    enough = count_bits(s.big_trees[s.actor]) < t.supply[Piece.BIG_TREE]
    return s.small_trees[s.actor] & t.outline if enough else NO_SPACES


@rule
def growable(s: State, t: Tables) -> np.uint64:
    """Sprouts and small trees of the actor that can grow."""
    return growing_sprouts(s, t) | growing_small_trees(s, t)


@rule
def spaces_of_card(s: State, t: Tables) -> np.uint64:
    """Spaces where the actor's card allows an action. A wild card allows all until a space decides its biome."""
    card = int(s.card[s.actor])
    return ALL if is_wild(card) else t.biome[biome_of(card)]


@rule
def can_plant_in_biome(s: State, t: Tables) -> bool:
    """Whether the actor can plant a sprout where the card allows it."""
    return (plantable(s, t) & spaces_of_card(s, t)) != NO_SPACES


@rule
def can_grow_in_biome(s: State, t: Tables) -> bool:
    """Whether something of the actor can grow where the card allows it."""
    return (growable(s, t) & spaces_of_card(s, t)) != NO_SPACES


@rule
def can_act_anywhere(s: State, t: Tables) -> bool:
    """Whether the fourth action is possible: to plant or grow in any biome."""
    return (plantable(s, t) | growable(s, t)) != NO_SPACES


@rule
def plant(s: State, place: int) -> None:
    """Plant a sprout."""
    s.sprouts[s.actor] |= only(place)


@rule
def grow(s: State, place: int) -> None:
    """A sprout becomes a small tree, a small tree a big one."""
    here = only(place)
    if s.sprouts[s.actor] & here:
        s.sprouts[s.actor] &= ~here
        s.small_trees[s.actor] |= here
    else:
        s.small_trees[s.actor] &= ~here
        s.big_trees[s.actor] |= here


# --- The actions -----------------------------------------------------------------------------------------------------


@rule
def begin_action(s: State, t: Tables, action: int) -> None:
    """Ask for the first space of the chosen action."""
    s.action_open = 0
    s.begun = 0
    s.open_spaces = spaces_of_card(s, t)
    if action == PLANT_THREE:
        s.plants_left = _PLANTS
        ask(s, Decision.PLANT, s.actor)
    elif action == GROW_TWO:
        s.growths_left = _GROWTHS
        ask(s, Decision.GROW, s.actor)
    elif action == ANYWHERE:
        s.plants_left, s.growths_left = 1, 1
        s.open_spaces = ALL
        ask(s, Decision.ANYWHERE, s.actor)
    else:
        s.plants_left, s.growths_left = 1, 1
        ask(s, Decision.PLANT_AND_GROW, s.actor)


@rule
def allow_action(s: State, t: Tables) -> None:
    """The next space of an action; and to stop, after the first space."""
    spaces = plants_or_growths(s, t)
    allow_spaces(s, t, spaces)
    if spaces == NO_SPACES or (s.begun == 1 and t.partial_actions == 1):
        allow(s, DONE)


@rule
def plants_or_growths(s: State, t: Tables) -> np.uint64:
    """Spaces that this action can still plant or grow."""
    if t.partial_actions == 1 or s.decision == Decision.ANYWHERE:
        return plants_open(s, t) | growths_open(s, t)
    whole = NO_SPACES
    if is_wild(s.card[s.actor]) and t.wild_anywhere == 0 and s.begun == 0:
        for biome in range(NUM_BIOMES):
            whole |= parts_of_whole_action(s, t, t.biome[biome])
        return whole
    return parts_of_whole_action(s, t, ALL)


@rule
def plants_open(s: State, t: Tables) -> np.uint64:
    """Spaces where this action can still plant."""
    return plantable(s, t) & s.open_spaces if s.plants_left > 0 else NO_SPACES


@rule
def growths_open(s: State, t: Tables) -> np.uint64:
    """Spaces where this action can still make something grow."""
    return growable(s, t) & s.open_spaces if s.growths_left > 0 else NO_SPACES


@rule
def parts_of_whole_action(s: State, t: Tables, spaces: np.uint64) -> np.uint64:
    """The next spaces of an action that must be done in full: those after which as much as possible can follow."""
    plants, growths = plants_open(s, t) & spaces, growths_open(s, t) & spaces
    if s.decision == Decision.PLANT_AND_GROW:
        return plants if t.canonical_sets == 1 and plants != NO_SPACES else plants | growths
    if s.decision == Decision.PLANT:
        return with_enough_later(t, plants, s.plants_left)
    return with_enough_later(t, growths, s.growths_left)


@rule
def with_enough_later(t: Tables, spaces: np.uint64, number: int) -> np.uint64:
    """If spaces are named in reading order, those after which the rest of `number` spaces can still be named."""
    if t.canonical_sets == 0:
        return spaces
    kept = count_bits(spaces) - min(number, count_bits(spaces)) + 1
    result, left = NO_SPACES, spaces
    for _ in range(kept):
        result |= left & ~without_first(left)
        left = without_first(left)
    return result & spaces


@rule
def act_on_space(s: State, t: Tables, action: int) -> None:
    """Answers PLANT, GROW, PLANT_AND_GROW and ANYWHERE."""
    if action == DONE:
        ask_nothing(s)
        return
    place = place_of(t, action)
    plants, before = plants_open(s, t), growable(s, t)
    is_planted = (only(place) & plants) != NO_SPACES
    if is_planted:
        plant(s, place)
        s.plants_left -= 1
    else:
        grow(s, place)
        s.growths_left -= 1
    s.begun = 1
    hold_to_biome(s, t, place)
    s.open_spaces &= ~only(place)
    if s.decision == Decision.ANYWHERE:
        s.plants_left, s.growths_left = 0, 0
    elif s.decision == Decision.PLANT_AND_GROW:
        if not is_planted and t.canonical_sets == 1 and plants != NO_SPACES:
            s.plants_left = 0
    else:
        keep_reading_order(s, t, place, before)
    if plants_open(s, t) | growths_open(s, t) == NO_SPACES:
        ask_nothing(s)


@rule
def keep_reading_order(s: State, t: Tables, place: int, before: np.uint64) -> None:
    """Close the spaces before this one, unless only this one made them possible: what can't come first may follow.

    That happens with a limited supply alone: a small tree that grows gives back the piece that a sprout needs.

    Arguments:
        before: the spaces that could grow before this one did.
    """
    if t.canonical_sets == 1:
        s.open_spaces &= later_than(place) | (growable(s, t) & ~before)


@rule
def hold_to_biome(s: State, t: Tables, place: int) -> None:
    """Hold the action of a wild card to the biome of its first space."""
    if is_wild(s.card[s.actor]) and t.wild_anywhere == 0:
        for biome in range(NUM_BIOMES):
            if t.biome[biome] & only(place):
                s.open_spaces &= t.biome[biome]


# --- Spaces as answers -----------------------------------------------------------------------------------------------


@rule
def allow_spaces(s: State, t: Tables, spaces: np.uint64) -> None:
    """Allow the answers that name these spaces."""
    while spaces != NO_SPACES:
        allow(s, SPACE + t.number_of[first_of(spaces)])
        spaces = without_first(spaces)


@rule
def place_of(t: Tables, action: int) -> int:
    """The place of the space that an answer names."""
    return int(t.place_of[action - SPACE])
