"""The effect being carried out: its fields are blank, or as the pending decision needs them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from petrichor_env.invariants.checks import Check, asked, breaks, is_asked, is_running, is_settled, target_of
from petrichor_env.invariants.decisions import CARD_OF_DECISION, CARD_TO_MOVE_CLOUD, CARD_TO_RAIN, MOST_CHOICES
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
from petrichor_env.words import owner_names
from tabletop.words import name_or_none


def full_price(s: np.ndarray) -> np.ndarray:
    """Other cards that pay for the whole action, (N,)."""
    power = s["power"][np.arange(len(s)), np.maximum(s["actor"], 0)]
    return np.asarray(np.where(s["optional"] == 1, 2, 1) * PRICES[power, s["card"]])


def broken_effect(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """The fields of the effect being carried out: blank, or as the pending decision needs them."""
    decision = s["decision"]
    running, settled = is_running(s), is_settled(s)
    rows = np.arange(len(s))

    in_weather = s["phase"] == Phase.WEATHER
    taking, moving = is_asked(s, Decision.TAKE_DROP), is_asked(s, Decision.MOVE_VOTE)
    voting = is_asked(s, Decision.VOTE, Decision.PAY) | (moving & ~in_weather)  # a forecast card adds a vote there
    wanted = np.full(len(s), -1)
    for asked_for, weather in CARD_OF_DECISION.items():
        wanted[decision == asked_for] = weather
    any_card = voting | (taking & ~in_weather)
    fits = np.where(any_card, s["card"] >= 0, s["card"] == wanted)
    fits &= ~(taking & ~in_weather) | np.isin(s["card"], (Weather.FROST, Weather.SUN))
    yield breaks(
        settled & ~fits,
        lambda i: f"pending.card is {name_or_none(WEATHER_NAMES, int(s['card'][i]))!r} for {asked(s, i)}",
    )
    during_action = (s["card"] >= 0) & running
    optional = s["optional"] == 1
    bad = settled & optional & ~(during_action & (s["passed"] == NOBODY))
    yield breaks(bad, lambda i: "pending.optional, but no action is being carried out, or somebody has passed")
    naming = is_asked(s, Decision.PAY, Decision.DRAFT, Decision.DISCARD)
    bad = settled & ~naming & ((s["cards_left"] != 0) | (s["lowest_card"] != 0))
    yield breaks(bad, lambda i: f"pending.cards_left and lowest_card for {asked(s, i)}, which names no cards")
    paying = decision == Decision.PAY
    actor = np.maximum(s["actor"], 0)
    most = full_price(s)
    bad = paying & ((s["cards_left"] < 1) | (s["cards_left"] > most))
    yield breaks(bad, lambda i: f"pending.cards_left is {s['cards_left'][i]}; 1 to {most[i]} cards pay for this action")
    bad = paying & (s["cards_left"] == most) & (s["lowest_card"] != 0)
    yield breaks(bad, lambda i: "pending.lowest_card, but no card has been named yet")
    hand = s["hand"][rows, actor].sum(axis=1, dtype=np.int64)
    discarding = decision == Decision.DISCARD
    yield breaks(
        discarding & ((s["cards_left"] < 1) | (s["cards_left"] != hand - HAND_LIMIT)),
        lambda i: f"pending.cards_left is {s['cards_left'][i]} with {hand[i]} cards in hand; {HAND_LIMIT} are kept",
    )
    bad = (decision == Decision.OPTIONAL_ACTION) & ((s["passed"] != NOBODY) | (hand < 2))
    yield breaks(bad, lambda i: f"{asked(s, i)} is asked only with 2 cards in hand, and if nobody has passed")

    own_on_tiles = s["drops"][rows, :, actor].sum(axis=1, dtype=np.int64)
    supply = s["supply"][rows, actor].astype(np.int64)
    reach = supply + own_on_tiles
    free_clouds = int(tables["clouds"][0]) - (s["cloud"] != Cloud.NONE).sum(axis=1)
    frost = is_asked(s, Decision.FROST_TILE, Decision.FROST_CLOUD)
    frost |= taking & ~in_weather & (s["card"] == Weather.FROST)
    into_cloud = frost & (s["players"] == MAX_PLAYERS) & (free_clouds < 1) & (decision != Decision.FROST_TILE)
    bad = frost & ~into_cloud & (free_clouds < 1)
    yield breaks(bad, lambda i: f"{asked(s, i)}: there is no cloud left for a Frost action")
    needed = np.where(frost, FROST_DROPS, 0)
    sun = (decision == Decision.SUN_CLOUD) | (taking & ~in_weather & (s["card"] == Weather.SUN))
    needed = np.where(sun, SUN_DROPS, needed)
    target, owner, space = s["target"], s["target_owner"], s["target_space"]
    has_target = taking | is_asked(s, Decision.WIND_DIRECTION, Decision.WIND_TILE, Decision.FROST_POWER)
    has_target |= is_asked(s, Decision.RAIN_SECOND_DROP, Decision.WIND_WEATHER_DIRECTION, Decision.FORECAST_DIRECTION)
    last_of_several = np.zeros(len(s), bool)  # the choice before
    for asked_for, choices in MOST_CHOICES.items():
        last_of_several |= (decision == asked_for) & (s["choices_left"] > 0) & (s["choices_left"] < choices)
    has_target |= last_of_several
    either = (is_asked(s, Decision.FORECAST_TILE) & (s["forecast"] == CARD_TO_MOVE_CLOUD)) | (
        is_asked(s, Decision.FORECAST_DROP) & (s["forecast"] == CARD_TO_RAIN)
    )
    has_target |= either & (target != NO_TILE)
    for there, expected in ((target != NO_TILE, has_target), (space != NO_SPACE, moving)):
        yield breaks(
            settled & (there != expected),
            lambda i, there=there: f"pending.target is {'given' if there[i] else 'missing'} for {asked(s, i)}",
        )
    has_owner = is_asked(s, Decision.RAIN_SECOND_DROP, Decision.WIND_WEATHER_DIRECTION, Decision.FORECAST_DIRECTION)
    has_owner |= last_of_several & is_asked(s, Decision.FORECAST_DROP)
    bad = settled & (has_owner != (owner != NOBODY))
    yield breaks(bad, lambda i: f"pending.target_owner is {'missing' if owner[i] < 0 else 'given'} for {asked(s, i)}")
    at, whose = np.maximum(target, 0), np.maximum(owner, 0)
    own_in_cloud = s["cloud_drops"][rows, at, actor].astype(np.int64)

    own_cloud = is_asked(s, Decision.WIND_DIRECTION, Decision.WIND_TILE, Decision.RAIN_SECOND_DROP) | (taking & ~frost)
    bad = own_cloud & (own_in_cloud == 0)
    yield breaks(bad, lambda i: f"{target_of(s, i)} has no cloud with an own drop")
    free = (s["crop"][rows, at] != NO_TILE) & (s["cloud"][rows, at] == Cloud.NONE)
    yield breaks(
        taking & frost & ~into_cloud & ~free,
        lambda i: f"{target_of(s, i)} is not free for a new cloud",
    )
    foreign = (s["cloud"][rows, at] != Cloud.NONE) & (own_in_cloud == 0)
    yield breaks(
        taking & into_cloud & ~foreign,
        lambda i: f"{target_of(s, i)} has no cloud without an own drop",
    )
    bad = is_asked(s, Decision.RAIN_SECOND_DROP) & is_closed(s)[rows, at]
    yield breaks(bad, lambda i: f"{target_of(s, i)} is a closed snowdrop; no drop of a cloud above it is chosen")
    foreign_drop = is_asked(s, Decision.FORECAST_DIRECTION) & (owner != s["actor"])
    yield breaks(foreign_drop, lambda i: f"{asked(s, i)}: the card moves an own drop")
    chosen = np.where(
        decision == Decision.RAIN_SECOND_DROP, s["cloud_drops"][rows, at, whose], s["drops"][rows, at, whose]
    )
    yield breaks(
        has_owner & (chosen == 0),
        lambda i: f"{target_of(s, i)} has no drop of {owner_names(int(s['players'][i]))[owner[i]]} to be chosen",
    )
    needed = np.where(taking & in_weather, own_in_cloud, needed)
    bad = running & (reach < needed)
    yield breaks(bad, lambda i: f"{asked(s, i)}: {needed[i]} drops are needed, {reach[i]} are in reach")
    yield breaks(
        taking & (supply >= needed),
        lambda i: (
            f"{asked(s, i)}: the supply of {supply[i]} drops is enough; drops are taken from tiles only if it is short"
        ),
    )
    near = (space == s["card"]) | (space == (s["card"] + 1) % NUM_KINDS)
    yield breaks(
        moving & ~in_weather & ~near,
        lambda i: f"{asked(s, i)}: the vote goes to the action's weather or the next one clockwise",
    )
    yield breaks(
        moving & (s["vote_supply"][rows, actor] > 0),
        lambda i: f"{asked(s, i)}: a vote is moved only with an empty supply; it holds {s['vote_supply'][i, actor[i]]}",
    )
    elsewhere = s["votes"][rows, :, actor].sum(axis=1, dtype=np.int64) - s["votes"][rows, np.maximum(space, 0), actor]
    yield breaks(moving & (elsewhere == 0), lambda i: f"{asked(s, i)}: there is no vote on another weather space")
