"""Checks for promos, five players and Flowers: their pieces, the timeline of a round, and their pending effects."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from petrichor_env.config import MODULES, POWERS
from petrichor_env.invariants.checks import (
    asked,
    is_asked,
    is_running,
    is_settled,
    owner_name,
    place,
    player,
    target_of,
)
from petrichor_env.invariants.decisions import (
    CARD_TO_COUNT_CLOUDS,
    CARD_TO_MOVE_CLOUD,
    CARD_TO_MOVE_UP,
    CARD_TO_RAIN,
    CARD_TO_VOTE,
    CHOICES_OF,
    FORECAST_WINDOWS,
    FORECASTS_OF,
    MODULE_OF,
    PHASE_OF_TIMING,
    usual_timing,
    usual_timing_index,
)
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.rules.forecasts import DEALT, DROPS_NEEDED, TIMINGS
from petrichor_env.state import (
    BLANK,
    FACE_DOWN,
    HARVEST,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NUM_FORECASTS,
    NUM_TILES,
    PHASE_NAMES,
    PLAYED,
    POWER_NAMES,
    TIMING_NAMES,
    Cloud,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    Power,
    Reading,
    Timing,
)
from petrichor_env.tables import NEVER
from tabletop_engine.described.invariants import Check, among, breaks

_WITHOUT_PODS = (Crop.LAKE, Crop.DANDELION, Crop.PRIMROSE)


def _is_on(s: np.ndarray, module: Module) -> np.ndarray:
    return np.asarray(s["modules"][:, module] == 1)


def _has_scored(s: np.ndarray) -> np.ndarray:
    """Whether the tiles of a Harvest have been scored and cleared, in this round or at the end of the game."""
    after = is_running(s) & (s["timing"] >= Timing.SCORED)
    finished: np.ndarray = ~is_running(s) & (s["forfeited"] == NOBODY)
    return after | finished


def is_face_down(s: np.ndarray) -> np.ndarray:
    """Whether the tiles have not been seen yet, (N,) bool."""
    return np.asarray((s["crop"] == FACE_DOWN).any(axis=1))


def is_closed(s: np.ndarray) -> np.ndarray:
    """Snowdrops without their bloom token, (N, NUM_TILES) bool."""
    return np.asarray((s["crop"] == Crop.SNOWDROP) & (s["blooms"] == 0))


# --- Promos ----------------------------------------------------------------------------------------------------------


def broken_promos(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Fertilizer tokens, and the tiles that lie face down while they are placed; the Lake."""
    face_down, placing = is_face_down(s), is_asked(s, Decision.FERTILIZER_TILE)
    yield breaks(placing & ~face_down, "the tiles lie face up, but Fertilizer tokens are still to be placed")
    bad = face_down & ~placing & (s["forfeited"] == NOBODY)
    yield breaks(bad, lambda i: f"the tiles lie face down, but {asked(s, i)} is asked")
    for field in ("drops", "cloud", "votes", "points", "voting_wins", "wheat_tokens", "dice", "harvested", "passed"):
        there = (s[field] != BLANK[field]).reshape(len(s), -1).any(axis=1)
        yield breaks(face_down & there, f"{field} is set, but the tiles still lie face down")
    yield breaks(face_down & (s["round"] != 1), "the tiles lie face down after the first round")
    on = _is_on(s, Module.FERTILIZER)
    on_tile: np.ndarray = s["fertilizer"] == 1
    tokens, total = on_tile.sum(axis=1), np.where(on, tables["fertilizer_tokens"][0], 0)
    bad = np.where(face_down & on, tokens >= total, tokens != total)
    yield breaks(bad, lambda i: f"{tokens[i]} Fertilizer tokens lie on tiles; there are {total[i]}")
    bad = placing & (s["turn_index"] != tokens)
    yield breaks(bad, lambda i: f"turn_index is {s['turn_index'][i]} with {tokens[i]} Fertilizer tokens placed")
    bad = on_tile & (s["crop"] == NO_TILE)
    yield breaks(bad, lambda i, t: f"a Fertilizer token on {place(s, i, t)}, off the field")
    bad = on_tile & (on_tile[:, NEIGHBOURS] & (NEIGHBOURS != NO_TILE)).any(axis=2)
    yield breaks(bad, lambda i, t: f"the Fertilizer token on {place(s, i, t)} is adjacent to another one")
    bad = (s["crop"] == Crop.LAKE) & s["drops"].any(axis=2)
    yield breaks(bad, "drops on the lake; they go back to their owners")


# --- Flower tiles ----------------------------------------------------------------------------------------------------


def broken_flower_tiles(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Snowdrop, Dandelion and its pods, Primrose and who controls it."""
    crop, blooms, scored = s["crop"], s["blooms"], _has_scored(s)
    snowdrop, primrose = crop == Crop.SNOWDROP, crop == Crop.PRIMROSE
    most_on_primrose = tables["primrose_blooms"][0]
    most = np.where(snowdrop, 1, np.where(primrose, most_on_primrose, 0))
    allowed = f"the snowdrop has at most 1, the primrose 1 to {most_on_primrose}, other tiles have none"
    bad = (blooms > most) | (primrose & (blooms < 1))
    yield breaks(bad, lambda i, t: f"{blooms[i, t]} bloom tokens on {place(s, i, t)}; {allowed}")
    bad = snowdrop & (blooms > 0) & scored[:, None]
    yield breaks(bad, "the snowdrop is in bloom after a Harvest, which takes its bloom token")
    drops = s["drops"].sum(axis=2, dtype=np.int64)
    left = max(1, int(tables["drops_to_grow"][0, Crop.SNOWDROP]) - 1)  # not harvested before it closed, or kept
    bad = is_closed(s) & (drops > left)
    yield breaks(bad, lambda i, t: f"{drops[i, t]} drops on the closed snowdrop; a Harvest leaves at most {left} there")
    pods, dandelion = s["pods"] == 1, (crop == Crop.DANDELION).any(axis=1)
    placed = pods.sum(axis=1)
    yield breaks(placed > tables["pods"][0], lambda i: f"{placed[i]} pods lie on tiles; there are {tables['pods'][0]}")
    yield breaks((placed > 0) & ~dandelion, "pods lie on tiles, but no dandelion is in the field")
    yield breaks(
        pods & (among(crop, (NO_TILE, *_WITHOUT_PODS)) | is_closed(s)),
        lambda i, t: f"a pod on {place(s, i, t)}; none is placed on dandelion, primrose, lake and a closed snowdrop",
    )
    yield breaks(scored & (placed > 0), "pods lie on tiles after a Harvest, which takes them all back")
    # (N, MAX_PLAYERS) drops on the Primrose, of which there is only one
    there = (s["drops"] * primrose[:, :, None]).sum(axis=1, dtype=np.int64)
    controller = s["controller"]
    bad = (controller != NOBODY) & ~primrose.any(axis=1)
    yield breaks(bad, lambda i: f"{player(controller[i])} controls the primrose, which is not in the field")
    own = np.where(controller == NOBODY, 0, there[np.arange(len(s)), controller])

    def out_of_control(i: int, seat: int) -> str:
        controlled = f"its controller {player(controller[i])} has {own[i]}"
        but = "nobody controls it" if controller[i] == NOBODY else controlled
        return f"{player(seat)} has {there[i, seat]} drops on the primrose, but {but}"

    may_lead = (s["readings"][:, Reading.PRIMROSE_PASSES_ONCE] == 1) & (controller != NOBODY)
    yield breaks((there > own[:, None]) & ~may_lead[:, None], out_of_control)


# --- Powers and forecast cards ---------------------------------------------------------------------------------------


def broken_powers(s: np.ndarray) -> Iterator[Check]:
    """Flowers, Poteri dei giocatori: chosen for all or dealt after the setup, a different one for each player."""
    on, chosen, power = _is_on(s, Module.POWERS), s["chosen_power"], s["power"]
    there = np.arange(MAX_PLAYERS) < s["players"][:, None]

    def power_of(i: int, seat: int) -> str:
        return f"{player(seat)} has the power {POWER_NAMES[power[i, seat]]!r}"

    all_chosen = (chosen > 0)[:, 0]
    for field in (chosen, power):
        bad = (field > 0) & ~(on[:, None] & there)
        yield breaks(bad, lambda i, seat: f"a power of seat {seat}; only players have one, with the module 'powers'")
        alike = (field[:, :, None] == field[:, None, :]) & (field > 0)[:, :, None] & ~np.eye(MAX_PLAYERS, dtype=bool)
        yield breaks(alike.any(axis=2), lambda i, seat: f"{player(seat)} has the same power as another player")
    bad = there & ((chosen > 0) != all_chosen[:, None])
    yield breaks(bad, "powers are chosen for some players only; for all, or dealt at random")
    bad = all_chosen[:, None] & (power != chosen)
    yield breaks(bad, lambda i, seat: f"{power_of(i, seat)}; {POWER_NAMES[chosen[i, seat]]!r} was chosen")
    in_setup, forfeited = s["phase"] == Phase.SETUP, s["forfeited"] != NOBODY
    bad = (in_setup & ~all_chosen)[:, None] & (power > 0)
    yield breaks(bad, lambda i, seat: f"{power_of(i, seat)}, but powers are dealt at the end of the setup")
    undealt = forfeited & ~power.any(axis=1)
    bad = (on & ~in_setup & ~undealt)[:, None] & there & (power == 0)
    yield breaks(bad, lambda i, seat: f"{player(seat)} has no power; allowed are {', '.join(POWERS)}")


def broken_forecasts(s: np.ndarray) -> Iterator[Check]:
    """Flowers, Carte previsione: three a player, of which two are played; who holds them."""
    on, holder, players = _is_on(s, Module.FORECASTS), s["forecast_holder"], s["players"].astype(np.int64)
    held = (holder[:, None, :] == np.arange(MAX_PLAYERS)[:, None]).sum(axis=2)
    in_box = (holder == NOBODY).sum(axis=1)
    untouched = in_box == NUM_FORECASTS
    in_setup = s["phase"] == Phase.SETUP
    yield breaks(~on & ~untouched, "forecast cards without the module 'forecasts'")
    yield breaks(in_setup & ~untouched, "forecast cards in players' hands; they are dealt after the setup")
    dealt = on & ~in_setup & ~(untouched & (s["forfeited"] != NOBODY))
    yield breaks(
        dealt & (in_box != NUM_FORECASTS - DEALT * players),
        lambda i: f"{NUM_FORECASTS - in_box[i]} forecast cards were dealt; each of {players[i]} players gets {DEALT}",
    )
    bad = dealt[:, None] & ~among(held, (0, DEALT - 1, DEALT))
    allowed = f"{DEALT}, {DEALT - 1} after the first one played, none after the second"
    yield breaks(bad, lambda i, seat: f"{player(seat)} holds {held[i, seat]} forecast cards; {allowed}")
    barred = s["no_actions"] > s["readings"][:, Reading.FORECASTS_END_ACTIONS, None]
    barred |= (s["no_actions"] == 1) & (held == DEALT)
    yield breaks(barred, lambda i, seat: f"{player(seat)} may play no action cards, but has played no forecast card")
    card, counts, rows = s["forecast"], s["counts_clouds"], np.arange(len(s))
    count_clouds = counts.any(axis=1)

    def not_played(number: np.ndarray) -> Check:
        bad = (number > 0) & (holder[rows, number - 1] != PLAYED)
        return breaks(bad, lambda i: f"forecast card {number[i]} has its effect, but it has not been played")

    def holds_all(seat: np.ndarray) -> Check:
        bad = (seat != NOBODY) & (held[rows, seat] == DEALT)
        return breaks(bad, lambda i: f"{player(seat[i])} has played a forecast card, but still holds all {DEALT}")

    yield not_played(card)
    yield not_played(np.where(count_clouds, CARD_TO_COUNT_CLOUDS, 0))
    yield breaks(counts.sum(axis=1) > 1, "two players count their clouds; there is one such forecast card")
    yield holds_all(np.where(card > 0, s["actor"], NOBODY))
    yield holds_all(np.where(count_clouds, counts.argmax(axis=1), NOBODY))


# --- The timeline ----------------------------------------------------------------------------------------------------


def broken_timing(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """The point of the timeline, the player who is asked there, and values that are kept until a Harvest ends."""
    decision, phase, timing, card = s["decision"], s["phase"], s["timing"], s["forecast"]
    running, settled = is_running(s), is_settled(s)
    fits: np.ndarray = np.where(FORECASTS_OF[decision].any(axis=1), FORECASTS_OF[decision, card], card == 0)
    fits = np.where((phase == Phase.WEATHER) & (decision == Decision.MOVE_VOTE), card == CARD_TO_VOTE, fits)
    bad = settled & ~fits
    yield breaks(bad, lambda i: f"pending.forecast is {card[i]} for {asked(s, i)}")
    carried_out = running & (card > 0)
    on = _is_on(s, Module.FORECASTS)
    free = is_asked(s, Decision.FORECAST)
    bad = np.where(free, ~among(timing, FORECAST_WINDOWS), settled & (timing != usual_timing(s)))
    yield breaks(bad, lambda i: f"pending.timing is {TIMING_NAMES[timing[i]]!r} for {asked(s, i)}")
    yield breaks(
        (free | carried_out) & (phase != PHASE_OF_TIMING[timing]),
        lambda i: f"{asked(s, i)} at {TIMING_NAMES[timing[i]]!r} is not asked in phase {PHASE_NAMES[phase[i]]!r}",
    )
    bad = settled & (s["timing_index"] != usual_timing_index(s))
    yield breaks(bad, lambda i: f"pending.timing_index is {s['timing_index'][i]} for {asked(s, i)}")
    in_harvest = running & (phase == Phase.HARVEST)
    yield breaks(in_harvest & (s["harvested"] == 0), lambda i: f"{asked(s, i)} in a Harvest Phase without a Harvest")
    before = (timing == Timing.BEFORE_HARVEST) & (s["players"] == 1) & (s["supply"][:, 1] == 0)
    later = (timing > Timing.BEFORE_HARVEST) & (s["players"] == 1)  # its supply has come back
    comes = (s["round"] == s["rounds"]) | (s["dice"] == HARVEST).all(axis=1) | before | later
    yield breaks(in_harvest & ~comes, lambda i: f"{asked(s, i)}, but the Harvest dice don't all show Harvest")
    remembers = _is_on(s, Module.POWERS) | on
    scored = s["scored_drops"].any(axis=(1, 2))
    bad = (settled & scored & ~(running & (timing >= Timing.SCORED))) | (scored & ~remembers)
    yield breaks(bad, "pending.scored_drops, but no Harvest has just been scored that anything remembers")
    bad = settled & s["counts_clouds"].any(axis=1) & ~in_harvest
    yield breaks(bad, "pending.counts_clouds, but there is no Harvest")
    drops = s["scored_drops"].sum(axis=2, dtype=np.int64)
    needed = np.where(s["crop"] < 0, NEVER, tables["drops_to_grow"][0][s["crop"]])
    bad = (drops > 0) & (drops < needed)
    yield breaks(bad, lambda i, t: f"pending.scored_drops on {place(s, i, t)}, which can't have been harvested")
    bad = s["scored_drops"].sum(axis=1, dtype=np.int64) > tables["drops"][0]
    yield breaks(bad, lambda i, seat: f"pending.scored_drops hold more drops of {player(seat)} than there are")


# --- Pending effects -------------------------------------------------------------------------------------------------


def broken_module_decisions(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """The fields that each decision of the modules and of five players needs, besides target and owner."""
    decision, card, target = s["decision"], s["forecast"], s["target"]
    settled, rows = is_settled(s), np.arange(len(s))
    actor, at = np.maximum(s["actor"], 0), np.maximum(target, 0)
    power, supply = s["power"][rows, actor], s["supply"][rows, actor]
    crop, cloud = s["crop"][rows, at], s["cloud"][rows, at]
    no_cloud_left = (s["cloud"] != Cloud.NONE).sum(axis=1) >= tables["clouds"][0]
    own_in_cloud, in_cloud = s["cloud_drops"][rows, at, actor], s["cloud_drops"][rows, at].sum(axis=1, dtype=np.int64)

    module = MODULE_OF[decision]
    bad = (module >= 0) & (s["modules"][rows, module] == 0)
    yield breaks(bad, lambda i: f"{asked(s, i)} without the module {MODULES[module[i]]!r}")
    most = np.where((decision == Decision.FORECAST_DROP) & (card != CARD_TO_MOVE_UP), 0, CHOICES_OF[decision])
    left = s["choices_left"]
    bad = settled & ((left < np.minimum(most, 1)) | (left > most))
    yield breaks(bad, lambda i: f"pending.choices_left is {left[i]} for {asked(s, i)}; {most[i]} are chosen in all")
    needed = np.where(decision == Decision.KEEP_DROP, Power.HARVEST, Power.FROST)
    bad = is_asked(s, Decision.FROST_POWER, Decision.KEEP_DROP) & (power != needed)
    yield breaks(bad, lambda i: f"{asked(s, i)} of a player without the power {POWER_NAMES[needed[i]]!r}")
    bad = (decision == Decision.FROST_CLOUD) & ((s["players"] != 5) | ~no_cloud_left)
    yield breaks(bad, lambda i: f"{asked(s, i)}: only five players add to a cloud, and only if no cloud is left")
    fresh = (cloud == Cloud.LIGHT) & (in_cloud == 1) & (own_in_cloud == 1) & (supply > 0)
    yield breaks(
        (decision == Decision.FROST_POWER) & ~fresh,
        lambda i: f"{asked(s, i)}: {target_of(s, i)} has no new cloud with one own drop, or the supply is empty",
    )
    far = (power == Power.WIND) | (crop == Crop.LAKE)
    yield breaks(
        np.where(far, decision == Decision.WIND_DIRECTION, decision == Decision.WIND_TILE),
        lambda i: f"{asked(s, i)}: a cloud goes further than to a neighbour with the Wind power, or from the lake",
    )
    yield from _broken_pods(s, tables)
    yield from _broken_kept_drops(s)
    yield from _broken_forecast_choices(s, no_cloud_left)


def _broken_pods(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    placing, rows = s["decision"] == Decision.POD_TILE, np.arange(len(s))
    grown = (s["crop"] == Crop.DANDELION) & (s["growing"] != Growing.NONE)
    own = s["drops"][rows, :, np.maximum(s["actor"], 0)] > 0
    bad = placing & ~(grown & own).any(axis=1)
    yield breaks(bad, lambda i: f"{player(s['actor'][i])} has no drop on a grown dandelion")
    pods = s["pods"].sum(axis=1, dtype=np.int64) + s["choices_left"]
    bad = placing & (pods > tables["pods"][0])
    yield breaks(bad, "decision 'pod_tile': not enough pods are left to place")
    bad = placing & (s["target"] >= 0) & (s["pods"][rows, np.maximum(s["target"], 0)] == 0)
    yield breaks(bad, lambda i: f"the first pod is not on {target_of(s, i)}")


def _broken_kept_drops(s: np.ndarray) -> Iterator[Check]:
    scored, rows = _has_scored(s), np.arange(len(s))
    keeping, at, actor = s["decision"] == Decision.KEEP_DROP, np.maximum(s["target"], 0), np.maximum(s["actor"], 0)
    kept = (s["drops"][rows, at, actor] > 0) & (s["scored_drops"][rows, at, actor] > 0)
    bad = keeping & (s["target"] >= 0) & ~kept
    yield breaks(bad, lambda i: f"no drop was kept on {target_of(s, i)}")
    harvester: np.ndarray = (s["power"] == Power.HARVEST)[:, None, :]
    harvested = s["scored_drops"].sum(axis=2, dtype=np.int64) > 0
    bad = (scored[:, None] & harvested)[:, :, None] & (s["drops"] > harvester)
    yield breaks(bad, lambda i, t, seat: f"drops of {player(seat)} on {place(s, i, t)}, which has been harvested")
    # only a drop that was kept makes a tile grow again
    grown = (s["growing"] != Growing.NONE) & ~(harvester.any(axis=2) & (s["drops"].sum(axis=2, dtype=np.int64) == 1))
    bad = scored[:, None] & grown
    yield breaks(bad, lambda i, t: f"a growing token on {place(s, i, t)} after a Harvest, which takes it")


def _broken_forecast_choices(s: np.ndarray, no_cloud_left: np.ndarray) -> Iterator[Check]:
    decision, card, target = s["decision"], s["forecast"], s["target"]
    running, rows = is_running(s), np.arange(len(s))
    actor, at, owner = np.maximum(s["actor"], 0), np.maximum(target, 0), s["target_owner"]
    crop, cloud, chosen = s["crop"][rows, at], s["cloud"][rows, at], s["chosen_drops"]

    def effect(i: int) -> str:
        return f"forecast card {card[i]}"

    offered = (s["forecast_holder"] == s["actor"][:, None]) & (TIMINGS[1:] == s["timing"][:, None])
    bad = (decision == Decision.FORECAST) & ~offered.any(axis=1)
    yield breaks(bad, lambda i: f"{player(s['actor'][i])} holds no forecast card for {TIMING_NAMES[s['timing'][i]]!r}")
    asks_tile = running & (decision == Decision.FORECAST_TILE)
    bad = asks_tile & (s["supply"][rows, actor] < DROPS_NEEDED[card])
    yield breaks(bad, lambda i: f"{effect(i)} needs {DROPS_NEEDED[card[i]]} drops in the supply")
    yield breaks(asks_tile & no_cloud_left & among(card, (4, 16)), lambda i: f"{effect(i)}: there is no cloud left")
    unusable = (crop < 0) | (crop == Crop.LAKE) | (among(card, (CARD_TO_MOVE_CLOUD, CARD_TO_MOVE_UP)) & (cloud == 0))
    bad = running & (card > CARD_TO_VOTE) & (target >= 0) & unusable
    yield breaks(bad, lambda i: f"{effect(i)} can't be used on {target_of(s, i)}")
    raining = running & (decision == Decision.FORECAST_DROP) & (card == CARD_TO_RAIN)
    to_rain = (s["cloud"] != Cloud.NONE) & (s["crop"] != Crop.LAKE) & (np.arange(NUM_TILES) > target[:, None])
    yield breaks(raining & ~to_rain.any(axis=1), lambda i: f"{effect(i)}: there is no cloud left for it to rain from")
    moving_up = running & (decision == Decision.FORECAST_DROP) & (card == CARD_TO_MOVE_UP)
    settled = is_settled(s)
    number = np.where(moving_up, CHOICES_OF[decision] - s["choices_left"], 0)
    bad = settled & (chosen.sum(axis=1, dtype=np.int64) != number)
    yield breaks(bad, lambda i: f"pending.chosen_drops are {chosen[i].sum()}; {number[i]} have been chosen")
    owners = s["owners"].astype(np.int64)[:, None]
    order = (np.arange(MAX_PLAYERS) - actor[:, None]) % owners
    last = np.where(chosen > 0, order, -1).max(axis=1)
    of_owner = (owner - actor.astype(np.int64)) % owners[:, 0]
    bad = moving_up & (last >= 0) & (of_owner != last)
    wanted = "it is the last owner, clockwise from the player, whose drops are chosen"
    yield breaks(bad, lambda i: f"pending.target_owner is {owner_name(s, i, owner[i])}; {wanted}")
    bad = moving_up[:, None] & (chosen > s["drops"][rows, at])
    yield breaks(bad, lambda i, seat: f"{chosen[i, seat]} drops of {player(seat)} are chosen; fewer lie on the tile")
