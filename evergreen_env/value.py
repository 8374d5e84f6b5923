"""The evaluation of positions for searches: points, and points to expect from planet, levels and card."""

from __future__ import annotations

from typing import Any

import numpy as np

from evergreen_env.rules.cards import biome_of, is_wild, power_of
from evergreen_env.rules.planet import (
    ALL,
    largest_forest,
    light_points,
    occupied,
    trees_and_bushes,
)
from evergreen_env.rules.powers import buds_points
from evergreen_env.state import NO_CARD, NUM_BIOMES, NUM_POWERS, NUM_SUNS, Decision, Power, Season, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.defaults import margin
from tabletop_engine.legal import count_bits

WEIGHTS: dict[str, float] = {
    "light": 0.91,  # of the light that the trees would collect now, for each season still to be scored
    "forest": 0.8,  # of the largest forest as it is now, for each season still to be scored
    "fertility": 0.9,  # of what the big trees would bring at the end, as fertility is now
    "flower": 0.38,  # flowers that a big tree's biome may still gain or lose, by big tree
    "sprout": 0.7,  # a sprout, for each season still to be scored
    "growth": 0.94,  # a small tree that may still become big, for each season still to be scored
    "free": 0.05,  # an empty space, for each season still to be scored
    "level": 0.36,  # a level of a power, for each season still to be scored
    "action": 4.0,  # the action that is still to be taken, for a choice of card
    "choice": 0.15,  # and a tree or sprout that it could grow, up to four
    "power": 2.0,  # the power that is still to be used, for each use
    "buds": 1.14,  # a point of buds
}
"""The evaluation's weights, in points."""

_MOST_CHOICES = 4


@rule
def position_value(s: State, t: Tables, w: Any, seat: int, memo: np.ndarray) -> float:
    """The expected margin of `seat`: its points minus the mean of the others', with the points that all can expect."""
    total, own = 0.0, 0.0
    for owner in range(s.owners):
        value = float(s.points[owner]) + float(s.earned[owner])
        if s.decision != Decision.GAME_OVER:
            value += promise(s, t, w, owner)
        total += value
        if owner == seat:
            own = value
    return margin(total, own, s.owners)


@rule
def promise(s: State, t: Tables, w: Any, seat: int) -> float:
    """The points that a player can expect from the planet as it is, and from future cards."""
    small, big = s.small_trees[seat], s.big_trees[seat]
    wood = trees_and_bushes(s, seat)
    light, seasons = 0.0, 0
    for season in range(s.season, Season.WINTER + 1):
        light += float(light_points(small, big, (s.sun + season - s.season) % NUM_SUNS))
        seasons += 1
    value = w.light * light
    value += w.forest * float(seasons * count_bits(largest_forest(wood)))
    for biome in range(NUM_BIOMES):
        trees = float(count_bits(big & t.biome[biome]))
        value += trees * (w.fertility * float(s.fertility[biome]) + w.flower)
    growing = float(seasons)
    value += growing * w.sprout * float(count_bits(s.sprouts[seat]))
    value += growing * w.growth * float(count_bits(small))
    value += growing * w.free * float(count_bits(t.outline & ~t.ravines & ~occupied(s, seat)))
    for power in range(NUM_POWERS):
        value += growing * w.level * float(s.level[seat, power])
    value += float(s.rounds - s.round) * any_card_value(s, t, w, seat)  # so that a round that ends changes nothing
    return value + card_value(s, t, w, seat)


@rule
def card_value(s: State, t: Tables, w: Any, seat: int) -> float:
    """The points to expect from the unplayed part of the card in hand; before the draft, from an average card."""
    card = int(s.card[seat])
    if s.decision == Decision.DRAFT and card == NO_CARD:
        return any_card_value(s, t, w, seat)
    if card == NO_CARD or s.finished[seat] == 1:
        return 0.0
    begun = s.actor == seat and s.decision != Decision.DRAFT
    value = 0.0
    if not begun or s.action_open == 1:
        spaces = ALL if is_wild(card) else t.biome[biome_of(card)]
        choices = count_bits((s.sprouts[seat] | s.small_trees[seat]) & spaces)
        value += w.action + w.choice * float(min(choices, _MOST_CHOICES))
    if not begun or s.power_open == 1:
        power = power_of(card)
        uses = min(int(s.level[seat, power]) + 1, int(t.power_cap))
        value += w.buds * float(buds_points(t, uses)) if power == Power.BUDS else w.power * float(uses)
    return value


@rule
def any_card_value(s: State, t: Tables, w: Any, seat: int) -> float:
    """The points to expect from an average card."""
    uses = 0.0
    for power in range(NUM_POWERS):
        uses += float(min(s.level[seat, power] + 1, t.power_cap))
    return w.action + w.choice + w.power * uses / NUM_POWERS


@rule
def is_settled(s: State, seat: int) -> bool:
    """Whether the seat has drafted a card, or finished its action or its power."""
    return bool(s.actor != seat or s.decision == Decision.TURN or s.decision == Decision.DRAFT)
