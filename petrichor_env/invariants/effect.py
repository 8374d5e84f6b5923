"""Checks of the current effect: its fields are blank, or as the pending decision needs them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from petrichor_env.invariants.checks import asked, is_asked, is_running, is_settled, owner_name, target_of
from petrichor_env.invariants.decisions import CARD_OF, CARD_TO_MOVE_CLOUD, CARD_TO_RAIN, CHOICES_OF
from petrichor_env.invariants.modules import is_closed
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.card_actions import FROST_DROPS, SUN_DROPS
from petrichor_env.rules.powers import PRICES
from petrichor_env.state import (
    MAX_PLAYERS,
    NO_SPACE,
    NO_TILE,
    NOBODY,
    NUM_KINDS,
    WEATHER_NAMES,
    Cloud,
    Decision,
    Phase,
    Weather,
)
from tabletop_engine.described.invariants import Check, among, breaks
from tabletop_engine.text.words import name_or_none


def full_price(s: np.ndarray) -> np.ndarray:
    """The number of other cards that pay for the whole action, (N,)."""
    power = s["power"][np.arange(len(s)), np.maximum(s["actor"], 0)]
    return np.asarray(np.where(s["optional"] == 1, 2, 1) * PRICES[power, s["card"]])


def broken_effect(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Checks of the fields of the current effect: blank, or as the pending decision needs them."""
    decision, card, rows = s["decision"], s["card"], np.arange(len(s))
    running, settled = is_running(s), is_settled(s)
    in_weather = s["phase"] == Phase.WEATHER
    taking, moving = is_asked(s, Decision.TAKE_DROP), is_asked(s, Decision.MOVE_VOTE)
    voting = is_asked(s, Decision.VOTE, Decision.PAY) | (moving & ~in_weather)  # a forecast card adds a vote there
    any_card = voting | (taking & ~in_weather)
    fits = np.where(any_card, card >= 0, card == CARD_OF[decision])
    fits &= ~(taking & ~in_weather) | among(card, (Weather.FROST, Weather.SUN))
    bad = settled & ~fits
    yield breaks(bad, lambda i: f"pending.card is {name_or_none(WEATHER_NAMES, int(card[i]))!r} for {asked(s, i)}")
    during_action = running & (card >= 0)
    bad = settled & (s["optional"] == 1) & ~(during_action & (s["passed"] == NOBODY))
    yield breaks(bad, "pending.optional, but no action is being carried out, or somebody has passed")
    naming = is_asked(s, Decision.PAY, Decision.DRAFT, Decision.DISCARD)
    bad = settled & ~naming & ((s["cards_left"] != 0) | (s["lowest_card"] != 0))
    yield breaks(bad, lambda i: f"pending.cards_left and lowest_card for {asked(s, i)}, which names no cards")
    paying, left, most = decision == Decision.PAY, s["cards_left"], full_price(s)
    bad = paying & ((left < 1) | (left > most))
    yield breaks(bad, lambda i: f"pending.cards_left is {left[i]}; 1 to {most[i]} cards pay for this action")
    bad = paying & (left == most) & (s["lowest_card"] != 0)
    yield breaks(bad, "pending.lowest_card, but no card has been named yet")
    actor = np.maximum(s["actor"], 0)
    hand = s["hand"][rows, actor].sum(axis=1, dtype=np.int64)
    bad = (decision == Decision.DISCARD) & ((left < 1) | (left != hand - HAND_LIMIT))
    yield breaks(bad, lambda i: f"pending.cards_left is {left[i]} with {hand[i]} cards in hand; {HAND_LIMIT} are kept")
    bad = (decision == Decision.OPTIONAL_ACTION) & ((s["passed"] != NOBODY) | (hand < 2))
    yield breaks(bad, lambda i: f"{asked(s, i)} is asked only with 2 cards in hand, and if nobody has passed")

    own_on_tiles = s["drops"][rows, :, actor].sum(axis=1, dtype=np.int64)
    supply = s["supply"][rows, actor].astype(np.int64)
    reach = supply + own_on_tiles
    free_clouds = int(tables["clouds"][0]) - (s["cloud"] != Cloud.NONE).sum(axis=1)
    frost = is_asked(s, Decision.FROST_TILE, Decision.FROST_CLOUD)
    frost |= taking & ~in_weather & (card == Weather.FROST)
    into_cloud = frost & (s["players"] == MAX_PLAYERS) & (free_clouds < 1) & (decision != Decision.FROST_TILE)
    bad = frost & ~into_cloud & (free_clouds < 1)
    yield breaks(bad, lambda i: f"{asked(s, i)}: there is no cloud left for a Frost action")
    needed = np.where(frost, FROST_DROPS, 0)
    sun = (decision == Decision.SUN_CLOUD) | (taking & ~in_weather & (card == Weather.SUN))
    needed = np.where(sun, SUN_DROPS, needed)
    target, owner, space = s["target"], s["target_owner"], s["target_space"]
    has_target = taking | is_asked(s, Decision.WIND_DIRECTION, Decision.WIND_TILE, Decision.FROST_POWER)
    has_target |= is_asked(s, Decision.RAIN_SECOND_DROP, Decision.WIND_WEATHER_DIRECTION, Decision.FORECAST_DIRECTION)
    last_of_several = (s["choices_left"] > 0) & (s["choices_left"] < CHOICES_OF[decision])  # the choice before
    has_target |= last_of_several
    moves_cloud = is_asked(s, Decision.FORECAST_TILE) & (s["forecast"] == CARD_TO_MOVE_CLOUD)
    rains = is_asked(s, Decision.FORECAST_DROP) & (s["forecast"] == CARD_TO_RAIN)
    has_target |= (moves_cloud | rains) & (target != NO_TILE)

    def unlike(there: np.ndarray, expected: np.ndarray, field: str) -> Check:
        bad = settled & (there != expected)
        return breaks(bad, lambda i: f"pending.{field} is {'given' if there[i] else 'missing'} for {asked(s, i)}")

    yield unlike(target != NO_TILE, has_target, "target")
    yield unlike(space != NO_SPACE, moving, "target")
    has_owner = is_asked(s, Decision.RAIN_SECOND_DROP, Decision.WIND_WEATHER_DIRECTION, Decision.FORECAST_DIRECTION)
    has_owner |= last_of_several & is_asked(s, Decision.FORECAST_DROP)
    yield unlike(owner != NOBODY, has_owner, "target_owner")
    at, whose = np.maximum(target, 0), np.maximum(owner, 0)
    own_in_cloud = s["cloud_drops"][rows, at, actor].astype(np.int64)

    own_cloud = is_asked(s, Decision.WIND_DIRECTION, Decision.WIND_TILE, Decision.RAIN_SECOND_DROP) | (taking & ~frost)
    bad = own_cloud & (own_in_cloud == 0)
    yield breaks(bad, lambda i: f"{target_of(s, i)} has no cloud with an own drop")
    free = (s["crop"][rows, at] != NO_TILE) & (s["cloud"][rows, at] == Cloud.NONE)
    yield breaks(taking & frost & ~into_cloud & ~free, lambda i: f"{target_of(s, i)} is not free for a new cloud")
    foreign = (s["cloud"][rows, at] != Cloud.NONE) & (own_in_cloud == 0)
    yield breaks(taking & into_cloud & ~foreign, lambda i: f"{target_of(s, i)} has no cloud without an own drop")
    bad = is_asked(s, Decision.RAIN_SECOND_DROP) & is_closed(s)[rows, at]
    yield breaks(bad, lambda i: f"{target_of(s, i)} is a closed snowdrop; no drop of a cloud above it is chosen")
    foreign_drop = is_asked(s, Decision.FORECAST_DIRECTION) & (owner != s["actor"])
    yield breaks(foreign_drop, lambda i: f"{asked(s, i)}: the card moves an own drop")
    falls = decision == Decision.RAIN_SECOND_DROP
    chosen = np.where(falls, s["cloud_drops"][rows, at, whose], s["drops"][rows, at, whose])
    bad = has_owner & (chosen == 0)
    yield breaks(bad, lambda i: f"{target_of(s, i)} has no drop of {owner_name(s, i, owner[i])} to be chosen")
    needed = np.where(taking & in_weather, own_in_cloud, needed)
    bad = running & (reach < needed)
    yield breaks(bad, lambda i: f"{asked(s, i)}: {needed[i]} drops are needed, {reach[i]} are in reach")
    bad = taking & (supply >= needed)
    otherwise = "drops are taken from tiles only if it is short"
    yield breaks(bad, lambda i: f"{asked(s, i)}: the supply of {supply[i]} drops is enough; {otherwise}")
    near = (space == card) | (space == (card + 1) % NUM_KINDS)
    bad = moving & ~in_weather & ~near
    yield breaks(bad, lambda i: f"{asked(s, i)}: the vote goes to the action's weather or the next one clockwise")
    votes = s["vote_supply"][rows, actor]
    bad = moving & (votes > 0)
    yield breaks(bad, lambda i: f"{asked(s, i)}: a vote is moved only with an empty supply; it holds {votes[i]}")
    elsewhere = s["votes"][rows, :, actor].sum(axis=1, dtype=np.int64) - s["votes"][rows, np.maximum(space, 0), actor]
    yield breaks(moving & (elsewhere == 0), lambda i: f"{asked(s, i)}: there is no vote on another weather space")
