"""The counts of the pieces: tiles, drops, clouds, votes, cards, each as many as the box holds and in their place."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.invariants.checks import Check, breaks, place
from petrichor_env.invariants.decisions import MOST_CHOICES
from petrichor_env.invariants.modules import is_closed, is_face_down
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.clouds import GROWS_AT, OVERFLOWS_AT
from petrichor_env.rules.drafting import CARDS_DEALT
from petrichor_env.rules.growing import FIRST_SIDE
from petrichor_env.rules.setup import BASE_GAME, MODULE_OF_CROP
from petrichor_env.rules.weather import RESOLVED_SPACES
from petrichor_env.state import (
    CROP_NAMES,
    FACE_DOWN,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NOT_DRAFTING,
    NUM_FORECASTS,
    NUM_KINDS,
    NUM_TILES,
    PLAYED,
    STATE,
    TILE_NAMES,
    WEATHER_NAMES,
    Cloud,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    Power,
    Timing,
)
from petrichor_env.tables import RESHUFFLE
from petrichor_env.words import FIELDS, crop_name, owner_names

_WINDS_SHOWN = STATE["winds_card"].shape[0]
_NOT_IN_SOLO = (Module.LAKE, Module.FLOWER_TILES)


def tiles_of_each_crop(players: int, no_more_tricks: bool, modules: Container[int], tables: np.ndarray) -> np.ndarray:
    """How many tiles of each crop the field is drawn from, (number of crops,) int64."""
    copies = tables["copies"][0].astype(np.int64)
    copies[[module != BASE_GAME and module not in modules for module in MODULE_OF_CROP]] = 0
    if players == 2:
        copies[Crop.CORN] = 0
    if players == 1:  # only the copies with a compass
        for crop, priorities in enumerate(tables["solo_priority"][0]):
            copies[crop] = np.count_nonzero(priorities[: copies[crop]])
        if no_more_tricks:
            copies[[Crop.WHEAT, Crop.POTATO]] = 0
    return copies


def no_such_tile(players: int, crop: int, no_more_tricks: bool, modules: Container[int]) -> str:
    """Why a crop cannot be in the field at all."""
    module = MODULE_OF_CROP[crop]
    if module != BASE_GAME and module not in modules:
        return f"a {CROP_NAMES[crop]} tile in the field; it comes with the module {MODULES[module]!r}"
    if players == 2 and crop == Crop.CORN:
        return "a corn tile in the field; both are removed in the 2 player game (Setup)"
    if players == 1 and no_more_tricks and crop in (Crop.WHEAT, Crop.POTATO):
        return f'a {CROP_NAMES[crop]} tile in the field; "No More Tricks" removes wheat and potato'
    if players > 1:
        return f"a {CROP_NAMES[crop]} tile in the field; there is none"
    return f"a {CROP_NAMES[crop]} tile in the field; solo uses only tiles with a compass (Southern Winds, Setup 2)"


def broken_switches(s: np.ndarray) -> Iterator[Check]:
    players = s["players"]
    yield breaks((players < 1) | (players > MAX_PLAYERS), lambda i: f"players is {players[i]}; allowed are 1 to 5")
    solo = players == 1
    bad = s["owners"] != np.where(solo, 2, players)
    yield breaks(bad, lambda i: f"owners is {s['owners'][i]} with {players[i]} players")
    bad = ~np.isin(s["rounds"], (4, 6)) | (solo & (s["rounds"] != 4))
    yield breaks(bad, lambda i: f"rounds is {s['rounds'][i]}; allowed are 4 and 6, in solo 4")
    bad = ~np.isin(s["drafting"], (0, 1)) | (solo & (s["drafting"] != 0))
    yield breaks(bad, lambda i: f"drafting is {s['drafting'][i]}; allowed are 0 and 1, in solo 0")
    yield breaks(
        ~np.isin(s["variants"], (0, 1)) | (~solo[:, None] & (s["variants"] != 0)),
        lambda i, v: (
            f"the switch {VARIANTS[v]} is {s['variants'][i, v]}; allowed are 0 and 1, with 2 players and more 0"
        ),
    )
    bad = ~np.isin(s["modules"], (0, 1))
    yield breaks(bad, lambda i, m: f"the switch {MODULES[m]} is {s['modules'][i, m]}; allowed are 0 and 1")
    bad = solo[:, None] & (s["modules"][:, _NOT_IN_SOLO] != 0)
    yield breaks(bad, lambda i, m: f"the module {MODULES[_NOT_IN_SOLO[m]]} in solo; there it is not used")


_BY_OWNER = (
    *("points", "drops", "cloud_drops", "supply", "votes", "vote_supply", "voting_wins", "wheat_tokens"),
    *("counts_clouds", "chosen_drops", "scored_drops"),
)
_BY_KIND = ("hand", "deck", "discards", "pack")
_COUNTS = (*_BY_OWNER, *_BY_KIND, "scored")


def broken_ranges(s: np.ndarray) -> Iterator[Check]:
    last_seat = s["players"] - 1
    for field in _COUNTS:
        yield breaks(s[field] < 0, lambda i, *at, f=field: f"{f} holds {s[f][(i, *at)]}; counts are not negative")
    scored = s["scored"].sum(axis=2)
    yield breaks(
        scored > s["points"],
        lambda i, seat: f"scored adds up to {scored[i, seat]}, more than the {s['points'][i, seat]} points",
    )
    limits: dict[str, tuple[int, Any]] = {
        "decision": (0, len(Decision) - 1),
        **dict.fromkeys(("actor", "passed", "forfeited", "controller"), (NOBODY, last_seat)),
        **dict.fromkeys(("harvested", "optional", "selected", "fertilizer", "pods"), (0, 1)),
        **dict.fromkeys(("counts_clouds", "winds_deck"), (0, 1)),
        **dict.fromkeys(("turns", "pod_turns"), (0, s["players"])),
        **dict.fromkeys(("turn_index", "timing_index"), (0, 2 * s["players"])),
        **dict.fromkeys(("first_player", "last_turns"), (0, last_seat)),
        **dict.fromkeys(("card", "weather", "target_space"), (-1, NUM_KINDS - 1)),
        **dict.fromkeys(("target", "winds_target"), (NO_TILE, NUM_TILES - 1)),
        **dict.fromkeys(("power", "chosen_power"), (0, len(Power) - 1)),
        "phase": (0, len(Phase) - 1),
        "round": (1, s["rounds"]),
        "crop": (FACE_DOWN, len(Crop) - 1),
        "growing": (0, len(Growing) - 1),
        "cloud": (0, len(Cloud) - 1),
        "dice": (0, 4),
        "draft_step": (NOT_DRAFTING, 2),
        "cards_left": (0, 12),
        "lowest_card": (0, NUM_KINDS - 1),
        "target_owner": (NOBODY, s["owners"] - 1),
        "forecast_holder": (PLAYED, last_seat),
        "blooms": (0, 127),
        "timing": (0, len(Timing) - 1),
        "forecast": (0, NUM_FORECASTS),
        "choices_left": (0, max(MOST_CHOICES.values())),
        "winds_revealed": (0, _WINDS_SHOWN),
        "winds_card": (0, RESHUFFLE - 1),
        "winds_roll": (0, 6),
        "spare": (0, 0),
    }
    for field, (low, high) in limits.items():
        highs = np.broadcast_to(high, len(s))
        bad = (s[field] < low) | (s[field] > highs.reshape(-1, *[1] * (s[field].ndim - 1)))
        yield breaks(
            bad,
            lambda i, *at, f=field, low=low, highs=highs: f"{f} is {s[f][(i, *at)]}; allowed are {low} to {highs[i]}",
        )
    bad = s["dice"][:, :2] > s["dice"][:, 1:]
    yield breaks(bad, lambda i, _: f"the dice {s['dice'][i].tolist()} are not ascending")
    seats = np.arange(MAX_PLAYERS)
    for field in _BY_OWNER:
        absent = (seats >= s["owners"][:, None]).reshape(len(s), *[1] * (s[field].ndim - 2), MAX_PLAYERS)
        bad = (s[field] != 0) & absent
        yield breaks(bad, lambda i, *at, f=field: f"{f} holds something of seat {at[-1]}, who isn't there")
    for field in ("hand", "pack"):
        absent = (seats >= s["players"][:, None])[:, :, None]
        bad = (s[field] != 0) & absent
        yield breaks(bad, lambda i, seat, _, f=field: f"{f} holds cards of seat {seat}, who isn't there")


_ON_FIELD = np.array([[tile in FIELDS.get(players, ()) for tile in range(NUM_TILES)] for players in range(6)])


def _tile_text(s: np.ndarray, i: int, tile: int) -> str:
    return f"{crop_name(s['crop'][i, tile])} on {place(s, i, tile)}"


def broken_fields(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Setup (the tiles), Growing Crops."""
    on_field = _ON_FIELD[s["players"]]
    yield breaks(on_field & (s["crop"] == NO_TILE), lambda i, t: f"no tile on {place(s, i, t)}")
    off_field = (s["crop"] != NO_TILE) | (s["growing"] != 0) | (s["cloud"] != 0)
    off_field |= s["drops"].any(axis=2) | s["cloud_drops"].any(axis=2)
    yield breaks(
        off_field & ~on_field,
        lambda i, t: f"{TILE_NAMES[t]} is not in the field of {s['players'][i]} players, but something is there",
    )
    face_down = is_face_down(s)
    bad = face_down[:, None] & on_field & (s["crop"] != FACE_DOWN)
    yield breaks(bad, lambda i, t: f"{_tile_text(s, i, t)} lies face up, but other tiles lie face down")
    there = (s["crop"][:, :, None] == np.arange(len(Crop))).sum(axis=1)
    copies = np.stack(
        [
            [tiles_of_each_crop(players, tricks, list(Module), tables) for tricks in (False, True)]
            for players in range(MAX_PLAYERS + 1)
        ]
    )
    left_out = s["variants"][:, VARIANTS.index("no_more_tricks")]
    allowed = copies[s["players"], left_out]
    allowed *= np.where(MODULE_OF_CROP == BASE_GAME, 1, s["modules"][:, MODULE_OF_CROP])

    def too_many(i: int, crop: int) -> str:
        if allowed[i, crop] == 0:
            modules = np.flatnonzero(s["modules"][i]).tolist()
            return no_such_tile(int(s["players"][i]), crop, bool(left_out[i]), modules)
        return f"{there[i, crop]} {CROP_NAMES[crop]} tiles in the field; there are {allowed[i, crop]}"

    yield breaks(there > allowed, too_many)
    yield breaks(
        (s["players"] == 1) & ~face_down & ~_is_ascending(s, tables),
        lambda i: (
            f"the field {', '.join(CROP_NAMES[s['crop'][i, tile]] for tile in FIELDS[1])} "
            "is not in ascending order of priority (Southern Winds, Setup 3)"
        ),
    )
    drops = s["drops"].sum(axis=2, dtype=np.int64)
    needed = tables["drops_to_grow"][0][np.maximum(s["crop"], 0)]
    closed = is_closed(s)
    enough, token = on_field & (drops >= needed) & ~closed, s["growing"]
    sprouts = FIRST_SIDE[s["crop"]] == Growing.SPROUTING
    yield breaks(
        closed & (token != Growing.NONE),
        lambda i, t: f"{_tile_text(s, i, t)} has a growing token, but it is closed; it grows only in bloom",
    )
    yield breaks(
        on_field & ~enough & (token != Growing.NONE),
        lambda i, t: (
            f"{_tile_text(s, i, t)} has {drops[i, t]} drops of the {needed[i, t]} it needs, so it has no growing token"
        ),
    )
    yield breaks(
        enough & (token == Growing.NONE),
        lambda i, t: (
            f"{_tile_text(s, i, t)} has {drops[i, t]} drops, and {needed[i, t]} make it grow: it has a growing token"
        ),
    )
    yield breaks(
        (token == Growing.SPROUTING) & ~sprouts,
        lambda i, t: f"{_tile_text(s, i, t)} is sprouting; only coffee and rice sprout, others are developed at once",
    )
    cactus, too_wet = s["crop"] == Crop.CACTUS, drops >= tables["drops_to_drown"][0]
    bad = (token == Growing.DROWNED) & ~cactus
    yield breaks(bad, lambda i, t: f"{_tile_text(s, i, t)} is drowned; only the cactus drowns")
    bad = cactus & too_wet & (token == Growing.DEVELOPED)
    yield breaks(bad, lambda i, t: f"{_tile_text(s, i, t)} has {drops[i, t]} drops, so it is drowned")


def _is_ascending(s: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Whether distinct copies of the solo field's crops have ascending priorities, (N,) bool."""
    priorities = tables["solo_priority"][0].astype(np.int64)
    there = (np.arange(priorities.shape[1]) < tables["copies"][0][:, None]) & (priorities > 0)
    beyond = np.iinfo(np.int64).max
    priorities = np.where(there, priorities, beyond)
    highest = np.zeros(len(s), np.int64)
    for tile in FIELDS[1]:
        of_crop = priorities[np.maximum(s["crop"][:, tile], 0)]
        highest = np.where(of_crop > highest[:, None], of_crop, beyond).min(axis=1)
    return np.asarray(highest < beyond)


def broken_clouds(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Components (the number of clouds), Merging and Overflowing."""
    number = (s["cloud"] != Cloud.NONE).sum(axis=1)
    yield breaks(number > tables["clouds"][0], lambda i: f"{number[i]} clouds; there are {tables['clouds'][0]}")
    drops = s["cloud_drops"].sum(axis=2, dtype=np.int64)

    bad = (s["cloud"] == Cloud.NONE) & (drops > 0)
    yield breaks(bad, lambda i, t: f"drops in a cloud on {place(s, i, t)}, but no cloud")
    bad = (s["cloud"] != Cloud.NONE) & (drops == 0)
    yield breaks(bad, lambda i, t: f"the cloud on {place(s, i, t)} is empty; empty clouds are removed")
    yield breaks(
        (s["cloud"] == Cloud.LIGHT) & (drops >= GROWS_AT),
        lambda i, t: (
            f"the light cloud on {place(s, i, t)} has {drops[i, t]} drops; with {GROWS_AT} it is a thundercloud"
        ),
    )
    yield breaks(
        drops >= OVERFLOWS_AT,
        lambda i, t: f"the cloud on {place(s, i, t)} has {drops[i, t]} drops; with {OVERFLOWS_AT} it overflows",
    )


def broken_belongings(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Drops, votes, Voting Wins and Wheat tokens of each owner."""

    def name(i: int, seat: int) -> str:
        return owner_names(int(s["players"][i]))[seat]

    there = np.arange(MAX_PLAYERS) < s["owners"][:, None]
    drops = (s["drops"].astype(np.int64) + s["cloud_drops"]).sum(axis=1) + s["supply"]
    votes = s["votes"].sum(axis=1, dtype=np.int64) + s["vote_supply"]
    for what, sums, places in (
        ("drops", drops, "tiles, in clouds and in supply"),
        ("votes", votes, "weather spaces and in supply"),
    ):
        total = tables[what][0]
        yield breaks(
            there & (sums != total),
            lambda i, seat, what=what, total=total, places=places, sums=sums: (
                f"{name(i, seat)} has {sums[i, seat]} {what} on {places}; a player has {total}"
            ),
        )
    a_space = np.where(s["players"] == 5, 2, 1)  # a sole leader of five players wins twice
    most = a_space * RESOLVED_SPACES * s["round"].astype(np.int64)
    yield breaks(
        s["voting_wins"] > most[:, None],
        lambda i, seat: (
            f"{name(i, seat)} has {s['voting_wins'][i, seat]} Voting Wins; "
            f"by round {s['round'][i]} there are at most {most[i]}"
        ),
    )
    wheat = s["round"] * (s["crop"] == Crop.WHEAT).sum(axis=1)
    tokens = s["wheat_tokens"].sum(axis=1, dtype=np.int64)
    yield breaks(
        tokens > wheat,
        lambda i: f"{tokens[i]} wheat_tokens; the field's wheat tiles give at most {wheat[i]} by round {s['round'][i]}",
    )


def cards_of_a_kind(players: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Action cards of each kind, by number of players: same shape."""
    return np.asarray(
        np.where(players == 5, tables["cards_of_a_kind_five_players"][0], tables["cards_of_a_kind"][0]).astype(np.int64)
    )


def broken_cards(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Components (the number of cards), Setup, Clean-up Phase, Hand limit."""
    total = np.where(is_face_down(s), 0, cards_of_a_kind(s["players"], tables))
    cards = (s["hand"] + s["pack"].astype(np.int64)).sum(axis=1) + s["deck"] + s["discards"]
    yield breaks(
        cards != total[:, None],
        lambda i, kind: (
            f"{cards[i, kind]} {WEATHER_NAMES[kind]} cards in hands, packs, deck and discards; there are {total[i]}"
        ),
    )
    hands = s["hand"].sum(axis=2, dtype=np.int64)
    dealt = CARDS_DEALT[s["players"]].astype(np.int64)
    most = dealt + np.where(s["round"] > 1, np.where(s["players"] > 1, HAND_LIMIT, 0), s["players"] == 2)
    at_limit = np.isin(s["phase"], (Phase.WEATHER, Phase.HARVEST)) & (s["forfeited"] == NOBODY)
    most = np.where(at_limit, HAND_LIMIT, most)
    bad = hands > most[:, None]
    yield breaks(bad, lambda i, seat: f"player_{seat} holds {hands[i, seat]} cards; a hand has at most {most[i]} here")
    discarding = s["decision"] == Decision.DISCARD
    place = (np.arange(MAX_PLAYERS) - s["first_player"][:, None]) % np.maximum(s["players"], 1)[:, None]
    yield breaks(
        discarding[:, None] & (hands > HAND_LIMIT) & (place < s["turn_index"][:, None]),
        lambda i, seat: f"player_{seat} holds {hands[i, seat]} cards, but has discarded down to {HAND_LIMIT} already",
    )
    in_round = np.isin(s["phase"], (Phase.ACTION, Phase.WEATHER, Phase.HARVEST))
    out = (s["passed"] != NOBODY) & (s["players"] != 2) & in_round
    hand_of_passed = np.take_along_axis(hands, np.maximum(s["passed"], 0)[:, None].astype(np.int64), axis=1)[:, 0]
    yield breaks(
        out & (hand_of_passed > 0),
        lambda i: f"player_{s['passed'][i]} has passed first and holds cards; that player discards the hand (Passing)",
    )


def broken_winds(s: np.ndarray) -> Iterator[Check]:
    """Southern Winds: the deck and what was revealed."""
    solo, deck, revealed = s["players"] == 1, s["winds_deck"] == 1, s["winds_revealed"]
    shown = np.arange(_WINDS_SHOWN) < revealed[:, None]
    card, roll, target = s["winds_card"], s["winds_roll"], s["winds_target"]
    something = deck.any(axis=1) | (revealed != 0)
    yield breaks(~solo & something, lambda i: "Southern Winds cards with 2 players or more")
    face_down = is_face_down(s)
    yield breaks(face_down & something, lambda i: "Southern Winds cards, but the tiles still lie face down")
    blank = (card == 0) & (roll == 0) & (target == NO_TILE)
    yield breaks(~shown & ~blank, lambda i, k: f"Southern Winds card {k + 1} of {revealed[i]} revealed holds something")
    yield breaks(shown & (card == 0), lambda i, k: f"revealed Southern Winds card {k + 1} has no number")
    yield breaks(
        solo & ~deck[:, RESHUFFLE - 1] & ~face_down,
        lambda i: "card 9 is not in the Southern Winds deck; when it comes up, all nine are shuffled to a new deck",
    )
    last = np.take_along_axis(card, np.maximum(revealed - 1, 0)[:, None].astype(np.int64), axis=1)[:, 0].astype(
        np.int64
    )
    back = np.take_along_axis(deck, np.maximum(last - 1, 0)[:, None], axis=1)[:, 0]
    yield breaks(solo & (last > 0) & back, lambda i: f"card {last[i]} was revealed last, but is in the deck")
    double, non_random, _, more = (s["variants"][:, v] == 1 for v in range(len(VARIANTS)))
    # a pass for want of cards shows nobody's turn between: then a round's last neutral turns and the next one's first
    cards, turn, extra = np.where(double, 2, 1), s["decision"] == Decision.TURN, np.where(more, 1, 0)
    most = cards * np.where(np.isin(s["phase"], (Phase.WEATHER, Phase.HARVEST)), 1 + extra, 2 + extra)
    most = np.where(turn & ((s["turns"] > 0) | (s["round"] == 1)), cards, most)
    most = np.where((s["phase"] == Phase.ACTION) & ~turn, 0, most)
    yield breaks(
        solo & (revealed > most),
        lambda i: f"{revealed[i]} Southern Winds cards revealed since the player's last turn; at most {most[i]} can be",
    )
    bad = shown & non_random[:, None] & (roll != 0)
    yield breaks(bad, lambda i, k: "a numeric die, but targets are not random in this variant")
    yield breaks(shown & ~non_random[:, None] & (roll == 0), lambda i, k: "a revealed card without its numeric die")
    off = shown & (target != NO_TILE) & ~np.isin(target, FIELDS[1])
    yield breaks(off, lambda i, k: f"a Southern Winds card took effect on {TILE_NAMES[target[i, k]]}, off the field")
