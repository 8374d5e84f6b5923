"""What promos, five players and Flowers add: their pieces, the timeline of a round, and their pending effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from petrichor_env.config import MODULES, POWERS
from petrichor_env.invariants.checks import Check, breaks
from petrichor_env.invariants.decisions import (
    CARD_TO_COUNT_CLOUDS,
    CARD_TO_MOVE_CLOUD,
    CARD_TO_MOVE_UP,
    CARD_TO_RAIN,
    CARD_TO_VOTE,
    FORECAST_WINDOWS,
    FORECASTS_OF_DECISION,
    MOST_CHOICES,
    PHASE_OF_TIMING,
)
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.rules.forecasts import DEALT, DROPS_NEEDED, TIMINGS
from petrichor_env.state import (
    BLANK,
    DECISION_NAMES,
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
    Timing,
)
from petrichor_env.tables import NEVER
from petrichor_env.words import owner_names, tile_name

_MODULE_OF_DECISION = {
    Decision.FERTILIZER_TILE: Module.FERTILIZER,
    Decision.FROST_POWER: Module.POWERS,
    Decision.KEEP_DROP: Module.POWERS,
    Decision.POD_TILE: Module.FLOWER_TILES,
    **dict.fromkeys((Decision.FORECAST, *FORECASTS_OF_DECISION), Module.FORECASTS),
}
_WITHOUT_PODS = (Crop.LAKE, Crop.DANDELION, Crop.PRIMROSE)


def _name(seat: Any) -> str:
    return "nobody" if seat < 0 else f"player_{seat}"


def _is_on(s: np.ndarray, module: Module) -> np.ndarray:
    on: np.ndarray = s["modules"][:, module] == 1
    return on


def _is_running(s: np.ndarray) -> np.ndarray:
    running: np.ndarray = s["decision"] != Decision.GAME_OVER
    return running


def _has_scored(s: np.ndarray) -> np.ndarray:
    """Whether the tiles of a Harvest have been scored and cleared, in this round's or at the end of the game."""
    after = _is_running(s) & (s["timing"] >= Timing.SCORED)
    finished: np.ndarray = ~_is_running(s) & (s["forfeited"] == NOBODY)
    return after | finished


def is_face_down(s: np.ndarray) -> np.ndarray:
    """Whether the tiles have not been seen yet, (N,) bool."""
    face_down: np.ndarray = (s["crop"] == FACE_DOWN).any(axis=1)
    return face_down


def is_closed(s: np.ndarray) -> np.ndarray:
    """Snowdrops without their bloom token, (N, NUM_TILES) bool."""
    closed: np.ndarray = (s["crop"] == Crop.SNOWDROP) & (s["blooms"] == 0)
    return closed


# --- Promos ----------------------------------------------------------------------------------------------------------


def broken_promos(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Fertilizer tokens, and the tiles that lie face down while they are placed; the Lake."""
    face_down, asked = is_face_down(s), s["decision"] == Decision.FERTILIZER_TILE
    yield breaks(asked & ~face_down, lambda i: "the tiles lie face up, but Fertilizer tokens are still to be placed")
    yield breaks(
        face_down & ~asked & (s["forfeited"] == NOBODY),
        lambda i: f"the tiles lie face down, but decision {DECISION_NAMES[s['decision'][i]]!r} is asked",
    )
    for field in ("drops", "cloud", "votes", "points", "voting_wins", "wheat_tokens", "dice", "harvested", "passed"):
        there = (s[field] != BLANK[field]).reshape(len(s), -1).any(axis=1)
        yield breaks(face_down & there, lambda i, field=field: f"{field} is set, but the tiles still lie face down")
    yield breaks(face_down & (s["round"] != 1), lambda i: "the tiles lie face down after the first round")
    on = _is_on(s, Module.FERTILIZER)
    on_tile: np.ndarray = s["fertilizer"] == 1
    tokens, total = on_tile.sum(axis=1), np.where(on, tables["fertilizer_tokens"][0], 0)
    yield breaks(
        np.where(face_down & on, tokens >= total, tokens != total),
        lambda i: f"{tokens[i]} Fertilizer tokens lie on tiles; there are {total[i]}",
    )
    yield breaks(
        asked & (s["turn_index"] != tokens),
        lambda i: f"turn_index is {s['turn_index'][i]} with {tokens[i]} Fertilizer tokens placed",
    )
    yield breaks(
        on_tile & (s["crop"] == NO_TILE),
        lambda i, t: f"a Fertilizer token on {tile_name(int(s['players'][i]), t)}, off the field",
    )
    beside = np.stack([np.isin(NEIGHBOURS, tile).any(axis=1) for tile in range(NUM_TILES)])
    adjacent = on_tile & (on_tile[:, None, :] & beside).any(axis=2)
    yield breaks(
        adjacent,
        lambda i, t: f"the Fertilizer token on {tile_name(int(s['players'][i]), t)} is adjacent to another one",
    )
    yield breaks(
        (s["crop"] == Crop.LAKE) & s["drops"].any(axis=2),
        lambda i, t: "drops on the lake; they go back to their owners",
    )


# --- Flower tiles ----------------------------------------------------------------------------------------------------


def broken_flower_tiles(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Snowdrop, Dandelion and its pods, Primrose and who controls it."""
    crop, blooms, scored = s["crop"], s["blooms"], _has_scored(s)

    def place(i: int, t: int) -> str:
        return tile_name(int(s["players"][i]), t)

    snowdrop, primrose = crop == Crop.SNOWDROP, crop == Crop.PRIMROSE
    most = np.where(snowdrop, 1, np.where(primrose, tables["primrose_blooms"][0], 0))
    yield breaks(
        (blooms > most) | (primrose & (blooms < 1)),
        lambda i, t: (
            f"{blooms[i, t]} bloom tokens on {place(i, t)}; the snowdrop has at most 1, the primrose 1 to "
            f"{tables['primrose_blooms'][0]}, other tiles have none"
        ),
    )
    yield breaks(
        snowdrop & (blooms > 0) & scored[:, None],
        lambda i, t: "the snowdrop is in bloom after a Harvest, which takes its bloom token",
    )
    drops = s["drops"].sum(axis=2, dtype=np.int64)
    left = max(1, int(tables["drops_to_grow"][0, Crop.SNOWDROP]) - 1)  # not harvested before it closed, or kept
    yield breaks(
        is_closed(s) & (drops > left),
        lambda i, t: f"{drops[i, t]} drops on the closed snowdrop; a Harvest leaves at most {left} there",
    )
    pods, dandelion = s["pods"] == 1, (crop == Crop.DANDELION).any(axis=1)
    placed = pods.sum(axis=1)
    yield breaks(placed > tables["pods"][0], lambda i: f"{placed[i]} pods lie on tiles; there are {tables['pods'][0]}")
    yield breaks((placed > 0) & ~dandelion, lambda i: "pods lie on tiles, but no dandelion is in the field")
    yield breaks(
        pods & (np.isin(crop, (NO_TILE, *_WITHOUT_PODS)) | is_closed(s)),
        lambda i, t: f"a pod on {place(i, t)}; none is placed on dandelion, primrose, lake and a closed snowdrop",
    )
    yield breaks(scored & (placed > 0), lambda i: "pods lie on tiles after a Harvest, which takes them all back")
    # (N, MAX_PLAYERS) drops on the Primrose, of which there is only one
    there = (s["drops"] * primrose[:, :, None]).sum(axis=1, dtype=np.int64)
    controller = s["controller"]
    yield breaks(
        (controller != NOBODY) & ~primrose.any(axis=1),
        lambda i: f"{_name(controller[i])} controls the primrose, which is not in the field",
    )
    own = np.where(controller == NOBODY, 0, there[np.arange(len(s)), np.maximum(controller, 0)])
    yield breaks(
        there > own[:, None],
        lambda i, seat: (
            f"{_name(seat)} has {there[i, seat]} drops on the primrose, but "
            + (
                f"its controller {_name(controller[i])} has {own[i]}"
                if controller[i] != NOBODY
                else "nobody controls it"
            )
        ),
    )


# --- Powers and forecast cards ---------------------------------------------------------------------------------------


def broken_powers(s: np.ndarray) -> Iterator[Check]:
    """Flowers, Poteri dei giocatori: chosen for all or dealt after the setup, a different one for each player."""
    on, chosen, power = _is_on(s, Module.POWERS), s["chosen_power"], s["power"]
    there = np.arange(MAX_PLAYERS) < s["players"][:, None]

    def power_of(i: int, seat: int) -> str:
        return f"{_name(seat)} has the power {POWER_NAMES[power[i, seat]]!r}"

    all_chosen = (chosen > 0)[:, 0]
    for field in (chosen, power):
        yield breaks(
            (field > 0) & ~(on[:, None] & there),
            lambda i, seat: f"a power of seat {seat}; only players have one, with the module 'powers'",
        )
        alike = (field[:, :, None] == field[:, None, :]) & (field > 0)[:, :, None] & ~np.eye(MAX_PLAYERS, dtype=bool)
        yield breaks(alike.any(axis=2), lambda i, seat: f"{_name(seat)} has the same power as another player")
    yield breaks(
        there & ((chosen > 0) != all_chosen[:, None]),
        lambda i, seat: "powers are chosen for some players only; for all, or dealt at random",
    )
    yield breaks(
        all_chosen[:, None] & (power != chosen),
        lambda i, seat: f"{power_of(i, seat)}; {POWER_NAMES[chosen[i, seat]]!r} was chosen",
    )
    in_setup, forfeited = s["phase"] == Phase.SETUP, s["forfeited"] != NOBODY
    yield breaks(
        ((in_setup & ~all_chosen)[:, None]) & (power > 0),
        lambda i, seat: f"{power_of(i, seat)}, but powers are dealt at the end of the setup",
    )
    undealt = forfeited & ~power.any(axis=1)
    yield breaks(
        (on & ~in_setup & ~undealt)[:, None] & there & (power == 0),
        lambda i, seat: f"{_name(seat)} has no power; allowed are {', '.join(POWERS)}",
    )


def broken_forecasts(s: np.ndarray) -> Iterator[Check]:
    """Flowers, Carte previsione: three a player, of which two are played; who holds them."""
    on, holder, players = _is_on(s, Module.FORECASTS), s["forecast_holder"], s["players"].astype(np.int64)
    held = (holder[:, None, :] == np.arange(MAX_PLAYERS)[:, None]).sum(axis=2)
    in_box = (holder == NOBODY).sum(axis=1)
    untouched = in_box == NUM_FORECASTS
    in_setup = s["phase"] == Phase.SETUP
    yield breaks(~on & ~untouched, lambda i: "forecast cards without the module 'forecasts'")
    yield breaks(in_setup & ~untouched, lambda i: "forecast cards in players' hands; they are dealt after the setup")
    dealt = on & ~in_setup & ~(untouched & (s["forfeited"] != NOBODY))
    yield breaks(
        dealt & (in_box != NUM_FORECASTS - DEALT * players),
        lambda i: f"{NUM_FORECASTS - in_box[i]} forecast cards were dealt; each of {players[i]} players gets {DEALT}",
    )
    yield breaks(
        dealt[:, None] & ~np.isin(held, (0, DEALT - 1, DEALT)),
        lambda i, seat: (
            f"{_name(seat)} holds {held[i, seat]} forecast cards; {DEALT}, {DEALT - 1} after the first one played, "
            "none after the second"
        ),
    )
    card, counts, rows = s["forecast"], s["counts_clouds"], np.arange(len(s))
    for number, needed in ((card, card > 0), (np.full(len(s), CARD_TO_COUNT_CLOUDS), counts.any(axis=1))):
        yield breaks(
            needed & (holder[rows, np.maximum(number - 1, 0)] != PLAYED),
            lambda i, number=number: f"forecast card {number[i]} has its effect, but it has not been played",
        )
    yield breaks(counts.sum(axis=1) > 1, lambda i: "two players count their clouds; there is one such forecast card")
    counting = np.where(counts.any(axis=1), counts.argmax(axis=1), NOBODY)
    for seat in (np.where(card > 0, s["actor"], NOBODY), counting):
        yield breaks(
            (seat != NOBODY) & (held[rows, np.maximum(seat, 0)] == DEALT),
            lambda i, seat=seat: f"{_name(seat[i])} has played a forecast card, but still holds all {DEALT}",
        )


# --- The timeline ----------------------------------------------------------------------------------------------------


def broken_timing(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """The point of the timeline, who is asked there, and what a Harvest remembers until its end."""
    decision, phase, timing, card = s["decision"], s["phase"], s["timing"], s["forecast"]
    running, forfeited = _is_running(s), s["forfeited"] != NOBODY
    settled = running | ~forfeited  # a forfeited game stops wherever it was
    players, turn_index = s["players"].astype(np.int64), s["turn_index"].astype(np.int64)

    def asked(i: int) -> str:
        return f"decision {DECISION_NAMES[decision[i]]!r}"

    def is_one_of(*decisions: int) -> np.ndarray:
        return np.isin(decision, decisions)

    in_weather = phase == Phase.WEATHER
    wanted_cards = np.zeros((len(s), NUM_FORECASTS + 1), bool)
    wanted_cards[:, 0] = True
    for asked_for, cards in FORECASTS_OF_DECISION.items():
        wanted_cards[decision == asked_for] = np.isin(np.arange(NUM_FORECASTS + 1), cards)
    wanted_cards[in_weather & is_one_of(Decision.MOVE_VOTE)] = np.arange(NUM_FORECASTS + 1) == CARD_TO_VOTE
    yield breaks(
        settled & ~wanted_cards[np.arange(len(s)), card],
        lambda i: f"pending.forecast is {card[i]} for {asked(i)}",
    )
    carried_out = running & (card > 0)
    on = _is_on(s, Module.FORECASTS)
    expected = np.where(carried_out, TIMINGS[card], 0).astype(np.int64)
    sun_turn = in_weather & is_one_of(Decision.SUN_WEATHER_CLOUD, Decision.TAKE_DROP)
    before_wind = is_one_of(Decision.WIND_WEATHER_DROP, Decision.WIND_WEATHER_DIRECTION, Decision.POD_TILE)
    choosing = is_one_of(Decision.CHOOSE_WEATHER)
    expected[on & choosing] = Timing.START_OF_WEATHER
    expected[on & sun_turn] = Timing.SUN_TURN
    expected[on & before_wind] = Timing.BEFORE_WIND
    expected[is_one_of(Decision.KEEP_DROP)] = Timing.SCORED
    free = is_one_of(Decision.FORECAST)
    yield breaks(
        np.where(free, ~np.isin(timing, FORECAST_WINDOWS), settled & (timing != expected)),
        lambda i: f"pending.timing is {TIMING_NAMES[timing[i]]!r} for {asked(i)}",
    )
    yield breaks(
        (free | carried_out) & (phase != PHASE_OF_TIMING[timing]),
        lambda i: f"{asked(i)} at {TIMING_NAMES[timing[i]]!r} is not asked in phase {PHASE_NAMES[phase[i]]!r}",
    )
    window = free | (carried_out & (timing != Timing.ACTION_PHASE))
    index = np.where(on & (choosing | before_wind), players, 0)
    index = np.where(on & sun_turn, turn_index + 1, index)
    index = np.where(free & (timing == Timing.SUN_TURN), turn_index, index)
    offered = window & (timing != Timing.SUN_TURN)
    bad = np.where(offered, s["timing_index"] >= players, settled & (s["timing_index"] != index))
    yield breaks(bad, lambda i: f"pending.timing_index is {s['timing_index'][i]} for {asked(i)}")
    in_harvest = running & (phase == Phase.HARVEST)
    yield breaks(in_harvest & (s["harvested"] == 0), lambda i: f"{asked(i)} in a Harvest Phase without a Harvest")
    before = (timing == Timing.BEFORE_HARVEST) & (s["players"] == 1) & (s["supply"][:, 1] == 0)
    later = (timing > Timing.BEFORE_HARVEST) & (s["players"] == 1)  # its supply has come back
    comes = (s["round"] == s["rounds"]) | (s["dice"] == HARVEST).all(axis=1) | before | later
    yield breaks(in_harvest & ~comes, lambda i: f"{asked(i)}, but the Harvest dice don't all show Harvest")
    remembers = _is_on(s, Module.POWERS) | on
    scored = s["scored_drops"].any(axis=(1, 2))
    yield breaks(
        (settled & scored & ~(running & (timing >= Timing.SCORED))) | (scored & ~remembers),
        lambda i: "pending.scored_drops, but no Harvest has just been scored that anything remembers",
    )
    yield breaks(
        settled & s["counts_clouds"].any(axis=1) & ~in_harvest,
        lambda i: "pending.counts_clouds, but there is no Harvest",
    )
    drops = s["scored_drops"].sum(axis=2, dtype=np.int64)
    needed = np.where(
        np.isin(s["crop"], (NO_TILE, FACE_DOWN)), NEVER, tables["drops_to_grow"][0][np.maximum(s["crop"], 0)]
    )
    yield breaks(
        (drops > 0) & (drops < needed),
        lambda i, t: f"pending.scored_drops on {tile_name(int(s['players'][i]), t)}, which can't have been harvested",
    )
    yield breaks(
        s["scored_drops"].sum(axis=1, dtype=np.int64) > tables["drops"][0],
        lambda i, seat: f"pending.scored_drops hold more drops of {_name(seat)} than there are",
    )


# --- Pending effects -------------------------------------------------------------------------------------------------


def broken_module_decisions(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """What each decision of the modules and of five players needs, besides target and owner."""
    decision, card, target = s["decision"], s["forecast"], s["target"]
    running, rows = _is_running(s), np.arange(len(s))
    settled = running | (s["forfeited"] == NOBODY)
    actor, at = np.maximum(s["actor"], 0), np.maximum(target, 0)
    power, supply = s["power"][rows, actor], s["supply"][rows, actor]
    crop, cloud = s["crop"][rows, at], s["cloud"][rows, at]
    no_cloud_left = (s["cloud"] != Cloud.NONE).sum(axis=1) >= tables["clouds"][0]
    own_in_cloud, in_cloud = s["cloud_drops"][rows, at, actor], s["cloud_drops"][rows, at].sum(axis=1, dtype=np.int64)

    def asked(i: int) -> str:
        return f"decision {DECISION_NAMES[decision[i]]!r}"

    def place(i: int) -> str:
        return tile_name(int(s["players"][i]), int(target[i]))

    for asked_for, module in _MODULE_OF_DECISION.items():
        yield breaks(
            (decision == asked_for) & ~_is_on(s, module),
            lambda i, module=module: f"{asked(i)} without the module {MODULES[module]!r}",
        )
    most = np.zeros(len(s), np.int64)
    for asked_for, choices in MOST_CHOICES.items():
        most[(decision == asked_for) & ((decision != Decision.FORECAST_DROP) | (card == CARD_TO_MOVE_UP))] = choices
    yield breaks(
        settled & ((s["choices_left"] < np.minimum(most, 1)) | (s["choices_left"] > most)),
        lambda i: f"pending.choices_left is {s['choices_left'][i]} for {asked(i)}; {most[i]} are chosen in all",
    )
    for asked_for, needed in ((Decision.FROST_POWER, Power.FROST), (Decision.KEEP_DROP, Power.HARVEST)):
        yield breaks(
            (decision == asked_for) & (power != needed),
            lambda i, needed=needed: f"{asked(i)} of a player without the power {POWER_NAMES[needed]!r}",
        )
    yield breaks(
        (decision == Decision.FROST_CLOUD) & ((s["players"] != 5) | ~no_cloud_left),
        lambda i: f"{asked(i)}: only five players add to a cloud, and only if no cloud is left",
    )
    fresh = (cloud == Cloud.LIGHT) & (in_cloud == 1) & (own_in_cloud == 1) & (supply > 0)
    yield breaks(
        (decision == Decision.FROST_POWER) & ~fresh,
        lambda i: f"{asked(i)}: pending.target {place(i)} has no new cloud with one own drop, or the supply is empty",
    )
    far = (power == Power.WIND) | (crop == Crop.LAKE)
    yield breaks(
        np.where(far, decision == Decision.WIND_DIRECTION, decision == Decision.WIND_TILE),
        lambda i: f"{asked(i)}: a cloud goes further than to a neighbour with the Wind power, or from the lake",
    )
    yield from _broken_pods(s, tables)
    yield from _broken_kept_drops(s)
    yield from _broken_forecast_choices(s, no_cloud_left)


def _broken_pods(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    placing, rows = s["decision"] == Decision.POD_TILE, np.arange(len(s))
    grown = (s["crop"] == Crop.DANDELION) & (s["growing"] != Growing.NONE)
    own = s["drops"][rows, :, np.maximum(s["actor"], 0)] > 0
    yield breaks(
        placing & ~(grown & own).any(axis=1), lambda i: f"{_name(s['actor'][i])} has no drop on a grown dandelion"
    )
    pods = s["pods"].sum(axis=1, dtype=np.int64) + s["choices_left"]
    yield breaks(
        placing & (pods > tables["pods"][0]), lambda i: "decision 'pod_tile': not enough pods are left to place"
    )
    yield breaks(
        placing & (s["target"] >= 0) & (s["pods"][rows, np.maximum(s["target"], 0)] == 0),
        lambda i: f"the first pod is not on pending.target {tile_name(int(s['players'][i]), int(s['target'][i]))}",
    )


def _broken_kept_drops(s: np.ndarray) -> Iterator[Check]:
    scored, rows = _has_scored(s), np.arange(len(s))
    keeping, at, actor = s["decision"] == Decision.KEEP_DROP, np.maximum(s["target"], 0), np.maximum(s["actor"], 0)
    kept = (s["drops"][rows, at, actor] > 0) & (s["scored_drops"][rows, at, actor] > 0)
    yield breaks(
        keeping & (s["target"] >= 0) & ~kept,
        lambda i: f"no drop was kept on pending.target {tile_name(int(s['players'][i]), int(s['target'][i]))}",
    )
    harvester: np.ndarray = (s["power"] == Power.HARVEST)[:, None, :]
    harvested = s["scored_drops"].sum(axis=2, dtype=np.int64) > 0
    yield breaks(
        (scored[:, None] & harvested)[:, :, None] & (s["drops"] > harvester),
        lambda i, t, seat: f"drops of {_name(seat)} on {tile_name(int(s['players'][i]), t)}, which has been harvested",
    )
    # only a drop that was kept makes a tile grow again
    grown = (s["growing"] != Growing.NONE) & ~(harvester.any(axis=2) & (s["drops"].sum(axis=2, dtype=np.int64) == 1))
    yield breaks(
        scored[:, None] & grown,
        lambda i, t: f"a growing token on {tile_name(int(s['players'][i]), t)} after a Harvest, which takes it",
    )


def _broken_forecast_choices(s: np.ndarray, no_cloud_left: np.ndarray) -> Iterator[Check]:
    decision, card, target = s["decision"], s["forecast"], s["target"]
    running, rows = _is_running(s), np.arange(len(s))
    actor, at, owner = np.maximum(s["actor"], 0), np.maximum(target, 0), s["target_owner"]
    crop, cloud, chosen = s["crop"][rows, at], s["cloud"][rows, at], s["chosen_drops"]

    def effect(i: int) -> str:
        return f"forecast card {card[i]}"

    offered = (s["forecast_holder"] == s["actor"][:, None]) & (TIMINGS[1:] == s["timing"][:, None])
    yield breaks(
        (decision == Decision.FORECAST) & ~offered.any(axis=1),
        lambda i: f"{_name(s['actor'][i])} holds no forecast card for {TIMING_NAMES[s['timing'][i]]!r}",
    )
    asks_tile = running & (decision == Decision.FORECAST_TILE)
    yield breaks(
        asks_tile & (s["supply"][rows, actor] < DROPS_NEEDED[card]),
        lambda i: f"{effect(i)} needs {DROPS_NEEDED[card[i]]} drops in the supply",
    )
    yield breaks(asks_tile & no_cloud_left & np.isin(card, (4, 16)), lambda i: f"{effect(i)}: there is no cloud left")
    unusable = (crop < 0) | (crop == Crop.LAKE) | (np.isin(card, (CARD_TO_MOVE_CLOUD, CARD_TO_MOVE_UP)) & (cloud == 0))
    yield breaks(
        running & (card > CARD_TO_VOTE) & (target >= 0) & unusable,
        lambda i: f"{effect(i)} can't be used on pending.target {tile_name(int(s['players'][i]), int(target[i]))}",
    )
    raining = running & (decision == Decision.FORECAST_DROP) & (card == CARD_TO_RAIN)
    to_rain = (s["cloud"] != Cloud.NONE) & (s["crop"] != Crop.LAKE) & (np.arange(NUM_TILES) > target[:, None])
    yield breaks(raining & ~to_rain.any(axis=1), lambda i: f"{effect(i)}: there is no cloud left for it to rain from")
    moving_up = running & (decision == Decision.FORECAST_DROP) & (card == CARD_TO_MOVE_UP)
    settled = running | (s["forfeited"] == NOBODY)
    number = np.where(moving_up, MOST_CHOICES[Decision.FORECAST_DROP] - s["choices_left"], 0)
    yield breaks(
        settled & (chosen.sum(axis=1, dtype=np.int64) != number),
        lambda i: f"pending.chosen_drops are {chosen[i].sum()}; {number[i]} have been chosen",
    )
    owners = s["owners"].astype(np.int64)[:, None]
    order = (np.arange(MAX_PLAYERS) - actor[:, None]) % owners
    last = np.where(chosen > 0, order, -1).max(axis=1)
    of_owner = (owner - actor.astype(np.int64)) % owners[:, 0]
    yield breaks(
        moving_up & (last >= 0) & (of_owner != last),
        lambda i: (
            f"pending.target_owner is {owner_names(int(s['players'][i]))[owner[i]]}; it is the last owner, clockwise "
            "from the player, whose drops are chosen"
        ),
    )
    yield breaks(
        moving_up[:, None] & (chosen > s["drops"][rows, at]),
        lambda i, seat: f"{chosen[i, seat]} drops of {_name(seat)} are chosen; fewer lie on the tile",
    )
