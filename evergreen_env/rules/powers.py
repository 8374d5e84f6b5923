"""The six powers: each is raised by a level, then used up to as many times as its level, in any space."""

from __future__ import annotations

import numpy as np

from evergreen_env.actions import DONE
from evergreen_env.rules.card_actions import (
    allow_spaces,
    grow,
    growable,
    growing_small_trees,
    growing_sprouts,
    keep_reading_order,
    place_of,
    plant,
    plantable,
    with_enough_later,
)
from evergreen_env.rules.cards import power_of
from evergreen_env.rules.planet import ALL, NO_SPACES, PLANET, occupied
from evergreen_env.state import Decision, Piece, Power, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing, count_bits
from tabletop_engine.parts.boards import beside
from tabletop_engine.parts.sets import later_than, only
from tabletop_engine.parts.tracks import advance

_GROWTHS_BESIDE_LAKE = 2


@rule
def use_power(s: State, t: Tables) -> None:
    """Raise the level, even if the power can't be used any more, and ask for its first use. Buds score their level."""
    s.power_open = 0
    power = power_of(s.card[s.actor])
    level = advance(s.level[s.actor], power, 1, int(t.power_cap))
    if power == Power.BUDS:
        s.earned[s.actor] += buds_points(t, level)
        ask_nothing(s)
        return
    s.uses_left = level
    s.open_spaces = ALL
    ask(s, Decision.POWER, s.actor)


@rule
def buds_points(t: Tables, level: int) -> int:
    """The points that the power buds brings at this level: the level, or with a flag the level for each use."""
    return level * level if t.buds_score_each_use == 1 else level


@rule
def spaces_for_power(s: State, t: Tables, power: int) -> np.uint64:
    """Spaces where the actor can use this power."""
    if power == Power.SPROUT:
        return plantable(s, t)
    if power == Power.SMALL_TREE:
        return growing_sprouts(s, t)
    if power == Power.BIG_TREE:
        return growing_small_trees(s, t)
    if power == Power.BUSH:
        return placeable(s, t, s.bushes[s.actor], t.bush_ground, Piece.BUSH)
    return placeable(s, t, s.lakes[s.actor], t.lake_ground, Piece.LAKE)


@rule
def placeable(s: State, t: Tables, there: np.uint64, ground: np.uint64, piece: int) -> np.uint64:
    """Empty spaces where a bush or lake can be placed; `there` are the ones on the planet already."""
    return ground & ~occupied(s, s.actor) if count_bits(there) < t.supply[piece] else NO_SPACES


@rule
def allow_power(s: State, t: Tables) -> None:
    """The spaces for the next use; and to stop."""
    allow_spaces(s, t, spaces_for_power(s, t, power_of(s.card[s.actor])) & s.open_spaces)
    allow(s, DONE)


@rule
def use_on_space(s: State, t: Tables, action: int) -> None:
    """Answers POWER."""
    if action == DONE:
        ask_nothing(s)
        return
    place, power = place_of(t, action), power_of(s.card[s.actor])
    s.uses_left -= 1
    if power == Power.LAKE:
        place_lake(s, t, place)
        return
    if power == Power.SPROUT:
        plant(s, place)
    elif power == Power.BUSH:
        place_bush(s, place)
    else:
        grow(s, place)
    s.open_spaces &= ~only(place)
    if t.canonical_sets == 1:
        s.open_spaces &= later_than(place)
    if s.uses_left == 0:
        ask_nothing(s)


@rule
def place_bush(s: State, place: int) -> None:
    """Place a bush of the actor."""
    s.bushes[s.actor] |= only(place)


# --- Lakes -----------------------------------------------------------------------------------------------------------


@rule
def place_lake(s: State, t: Tables, place: int) -> None:
    """Place a lake. Two sprouts or small trees beside it may grow at once."""
    s.lakes[s.actor] |= only(place)
    s.open_spaces = beside(only(place), PLANET)
    s.growths_left = _GROWTHS_BESIDE_LAKE
    if growable(s, t) & s.open_spaces == NO_SPACES:
        end_lake(s)
    else:
        ask(s, Decision.LAKE, s.actor)


@rule
def allow_lake_growth(s: State, t: Tables) -> None:
    """Sprouts and small trees beside the new lake; and to stop, if growth is optional."""
    spaces = growable(s, t) & s.open_spaces
    if t.lake_growth_mandatory == 1:
        spaces = with_enough_later(t, spaces, s.growths_left)
    else:
        allow(s, DONE)
    allow_spaces(s, t, spaces)


@rule
def grow_beside_lake(s: State, t: Tables, action: int) -> None:
    """Answers LAKE."""
    if action == DONE:
        end_lake(s)
        return
    place, before = place_of(t, action), growable(s, t)
    grow(s, place)
    s.growths_left -= 1
    s.open_spaces &= ~only(place)
    keep_reading_order(s, t, place, before)
    if s.growths_left == 0 or growable(s, t) & s.open_spaces == NO_SPACES:
        end_lake(s)


@rule
def end_lake(s: State) -> None:
    """Go on with the power if it has uses left."""
    s.growths_left = 0
    s.open_spaces = ALL
    if s.uses_left > 0:
        ask(s, Decision.POWER, s.actor)
    else:
        ask_nothing(s)
