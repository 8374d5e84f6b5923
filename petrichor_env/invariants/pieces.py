"""Checks of the pieces: tiles, drops, clouds, votes and cards have the right numbers and places."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from petrichor_env.config import MODULE_OF_READING, MODULES, READINGS, VARIANTS
from petrichor_env.invariants.checks import owner_name, place
from petrichor_env.invariants.modules import is_closed, is_face_down
from petrichor_env.keys import KEYS, PENDING, TILE
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.clouds import GROWS_AT, OVERFLOWS_AT
from petrichor_env.rules.drafting import CARDS_DEALT
from petrichor_env.rules.growing import FIRST_SIDE
from petrichor_env.rules.setup import BASE_GAME, FIELD_POSITIONS, MODULE_OF_CROP
from petrichor_env.rules.weather import RESOLVED_SPACES
from petrichor_env.state import (
    CROP_NAMES,
    FACE_DOWN,
    MAX_PLAYERS,
    NO_TILE,
    NOBODY,
    NUM_KINDS,
    NUM_TILES,
    PLAYED,
    TILE_NAMES,
    WEATHER_NAMES,
    WINDS_LOG,
    Cloud,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    Power,
    Variant,
)
from petrichor_env.tables import RESHUFFLE
from petrichor_env.tiles import no_such_tile, tiles_of_each_crop
from petrichor_env.words import FIELDS, crop_name
from tabletop_engine.described.fields import Key, Table, counts, out_of_range
from tabletop_engine.described.invariants import Check, among, breaks

_NOT_IN_SOLO = (Module.LAKE, Module.FLOWER_TILES)
_MODULES_OF_READINGS = [MODULES.index(MODULE_OF_READING[name]) for name in READINGS]


def broken_switches(s: np.ndarray) -> Iterator[Check]:
    """The switches of the configuration."""
    players = s["players"]
    yield breaks((players < 1) | (players > MAX_PLAYERS), lambda i: f"players is {players[i]}; allowed are 1 to 5")
    solo = players == 1
    bad = s["owners"] != np.where(solo, 2, players)
    yield breaks(bad, lambda i: f"owners is {s['owners'][i]} with {players[i]} players")
    bad = ~among(s["rounds"], (4, 6)) | (solo & (s["rounds"] != 4))
    yield breaks(bad, lambda i: f"rounds is {s['rounds'][i]}; allowed are 4 and 6, in solo 4")
    bad = ~among(s["drafting"], (0, 1)) | (solo & (s["drafting"] != 0))
    yield breaks(bad, lambda i: f"drafting is {s['drafting'][i]}; allowed are 0 and 1, in solo 0")
    variants, modules = s["variants"], s["modules"]
    yield breaks(
        ~among(variants, (0, 1)) | (~solo[:, None] & (variants != 0)),
        lambda i, v: f"the switch {VARIANTS[v]} is {variants[i, v]}; allowed are 0 and 1, with 2 players and more 0",
    )
    bad = ~among(modules, (0, 1))
    yield breaks(bad, lambda i, m: f"the switch {MODULES[m]} is {modules[i, m]}; allowed are 0 and 1")
    readings = s["readings"]
    bad = ~among(readings, (0, 1)) | (readings > modules[:, _MODULES_OF_READINGS])
    yield breaks(
        bad, lambda i, r: f"the switch {READINGS[r]} is {readings[i, r]}; allowed is 1 with its module, else 0"
    )
    bad = solo[:, None] & (modules[:, _NOT_IN_SOLO] != 0)
    yield breaks(bad, lambda i, m: f"the module {MODULES[_NOT_IN_SOLO[m]]} in solo; there it is not used")


_OWN = counts("owners", MAX_PLAYERS)
_SUPPLIES = Table((Key("supply", _OWN), Key("vote_supply", _OWN)))
_CLOUDS = Table((Key("cloud_drops", _OWN),))


def broken_ranges(s: np.ndarray) -> Iterator[Check]:
    """The range of every field, and blank values for seats without a player."""
    players, last_seat = s["players"], s["players"] - 1
    number_of = {"agents": players, "owners": s["owners"]}
    scope = SimpleNamespace(players=players, rounds=s["rounds"], number_of=number_of)
    for table, depth in ((KEYS, 1), (TILE, 2), (_CLOUDS, 2), (PENDING, 1), (_SUPPLIES, 1)):
        yield from table.check(s, scope, depth)
    scored, points = s["scored"].sum(axis=2), s["points"]
    bad = scored > points
    yield breaks(bad, lambda i, seat: f"scored adds up to {scored[i, seat]}, more than the {points[i, seat]} points")
    for field, low, high in (  # fields that no key of a description stands for alone
        *(("pod_turns", 0, players), ("turn_index", 0, 2 * players), ("chosen_power", 0, len(Power) - 1)),
        *(("target_space", -1, NUM_KINDS - 1), ("target", NO_TILE, NUM_TILES - 1)),
        *(("cloud", 0, len(Cloud) - 1), ("dice", 0, 4), ("forecast_holder", PLAYED, last_seat), ("spare", 0, 0)),
        *(("winds_deck", 0, 1), ("winds_revealed", 0, WINDS_LOG), ("winds_card", 0, RESHUFFLE - 1)),
        *(("winds_roll", 0, 6), ("winds_target", NO_TILE, NUM_TILES - 1)),
    ):
        yield out_of_range(s, field, low, high)
    bad = s["dice"][:, :2] > s["dice"][:, 1:]
    yield breaks(bad, lambda i, _: f"the dice {s['dice'][i].tolist()} are not ascending")


def broken_fields(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Setup (the tiles), Growing Crops."""

    def tile(i: int, t: int) -> str:
        return f"{crop_name(s['crop'][i, t])} on {place(s, i, t)}"

    on_field = FIELD_POSITIONS[s["players"]] == 1
    yield breaks(on_field & (s["crop"] == NO_TILE), lambda i, t: f"no tile on {place(s, i, t)}")
    bad = (s["crop"] != NO_TILE) | (s["growing"] != 0) | (s["cloud"] != 0)
    bad |= s["drops"].any(axis=2) | s["cloud_drops"].any(axis=2)
    yield breaks(
        bad & ~on_field,
        lambda i, t: f"{TILE_NAMES[t]} is not in the field of {s['players'][i]} players, but something is there",
    )
    face_down = is_face_down(s)
    bad = face_down[:, None] & on_field & (s["crop"] != FACE_DOWN)
    yield breaks(bad, lambda i, t: f"{tile(i, t)} lies face up, but other tiles lie face down")
    there = (s["crop"][:, :, None] == np.arange(len(Crop))).sum(axis=1)
    copies, modules = np.zeros((MAX_PLAYERS + 1, 2, len(Crop)), np.int64), range(len(Module))
    for players in np.unique(s["players"]):
        copies[players] = [tiles_of_each_crop(players, fewer, modules, tables[0]) for fewer in (False, True)]
    left_out = s["variants"][:, Variant.NO_MORE_TRICKS]
    allowed = copies[s["players"], left_out]
    allowed *= np.where(MODULE_OF_CROP == BASE_GAME, 1, s["modules"][:, MODULE_OF_CROP])

    def too_many(i: int, crop: int) -> str:
        if allowed[i, crop] == 0:
            return no_such_tile(int(s["players"][i]), crop, bool(left_out[i]), np.flatnonzero(s["modules"][i]).tolist())
        return f"{there[i, crop]} {CROP_NAMES[crop]} tiles in the field; there are {allowed[i, crop]}"

    yield breaks(there > allowed, too_many)

    def unordered(i: int) -> str:
        crops = ", ".join(CROP_NAMES[s["crop"][i, t]] for t in FIELDS[1])
        return f"the field {crops} is not in ascending order of priority (Southern Winds, Setup 3)"

    yield breaks((s["players"] == 1) & ~face_down & ~_is_ascending(s, tables), unordered)
    drops = s["drops"].sum(axis=2, dtype=np.int64)
    needed = tables["drops_to_grow"][0][np.maximum(s["crop"], 0)]

    def has(i: int, t: int) -> str:
        return f"{tile(i, t)} has {drops[i, t]} drops"

    closed = is_closed(s)
    enough, token = on_field & (drops >= needed) & ~closed, s["growing"]
    bad = closed & (token != Growing.NONE)
    yield breaks(bad, lambda i, t: f"{tile(i, t)} has a growing token, but it is closed; it grows only in bloom")
    bad = on_field & ~enough & (token != Growing.NONE)
    yield breaks(bad, lambda i, t: f"{has(i, t)} of the {needed[i, t]} it needs, so it has no growing token")
    bad = enough & (token == Growing.NONE)
    yield breaks(bad, lambda i, t: f"{has(i, t)}, and {needed[i, t]} make it grow: it has a growing token")
    yield breaks(
        (token == Growing.SPROUTING) & (FIRST_SIDE[s["crop"]] != Growing.SPROUTING),
        lambda i, t: f"{tile(i, t)} is sprouting; only coffee and rice sprout, others are developed at once",
    )
    cactus, too_wet = s["crop"] == Crop.CACTUS, drops >= tables["drops_to_drown"][0]
    bad = (token == Growing.DROWNED) & ~cactus
    yield breaks(bad, lambda i, t: f"{tile(i, t)} is drowned; only the cactus drowns")
    bad = cactus & too_wet & (token == Growing.DEVELOPED)
    yield breaks(bad, lambda i, t: f"{has(i, t)}, so it is drowned")


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

    def has(i: int, t: int) -> str:
        return f"cloud on {place(s, i, t)} has {drops[i, t]} drops"

    bad = (s["cloud"] == Cloud.NONE) & (drops > 0)
    yield breaks(bad, lambda i, t: f"drops in a cloud on {place(s, i, t)}, but no cloud")
    bad = (s["cloud"] != Cloud.NONE) & (drops == 0)
    yield breaks(bad, lambda i, t: f"the cloud on {place(s, i, t)} is empty; empty clouds are removed")
    bad = (s["cloud"] == Cloud.LIGHT) & (drops >= GROWS_AT)
    yield breaks(bad, lambda i, t: f"the light {has(i, t)}; with {GROWS_AT} it is a thundercloud")
    yield breaks(drops >= OVERFLOWS_AT, lambda i, t: f"the {has(i, t)}; with {OVERFLOWS_AT} it overflows")


def broken_belongings(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Drops, votes, Voting Wins and Wheat tokens of each owner."""

    there = np.arange(MAX_PLAYERS) < s["owners"][:, None]

    def has(i: int, seat: int, counts: np.ndarray, what: str) -> str:
        return f"{owner_name(s, i, seat)} has {counts[i, seat]} {what}"

    def not_all(what: str, counts: np.ndarray, places: str) -> Check:
        total = tables[what][0]
        bad = there & (counts != total)
        return breaks(bad, lambda i, seat: f"{has(i, seat, counts, what)} on {places}; a player has {total}")

    drops = (s["drops"].astype(np.int64) + s["cloud_drops"]).sum(axis=1) + s["supply"]
    yield not_all("drops", drops, "tiles, in clouds and in supply")
    votes = s["votes"].sum(axis=1, dtype=np.int64) + s["vote_supply"]
    yield not_all("votes", votes, "weather spaces and in supply")
    a_space = np.where(s["players"] == 5, 2, 1)  # a sole leader of five players wins twice
    wins, rounds = s["voting_wins"], s["round"].astype(np.int64)
    most = a_space * RESOLVED_SPACES * rounds
    yield breaks(
        wins > most[:, None],
        lambda i, seat: f"{has(i, seat, wins, 'Voting Wins')}; by round {rounds[i]} there are at most {most[i]}",
    )
    wheat = rounds * (s["crop"] == Crop.WHEAT).sum(axis=1)
    tokens = s["wheat_tokens"].sum(axis=1, dtype=np.int64)
    yield breaks(
        tokens > wheat,
        lambda i: f"{tokens[i]} wheat_tokens; the field's wheat tiles give at most {wheat[i]} by round {rounds[i]}",
    )


def cards_of_a_kind(players: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """The number of action cards of each kind, by number of players. The shape is that of `players`."""
    five, fewer = tables["cards_of_a_kind_five_players"][0], tables["cards_of_a_kind"][0]
    return np.asarray(np.where(players == 5, five, fewer).astype(np.int64))


def broken_cards(s: np.ndarray, tables: np.ndarray) -> Iterator[Check]:
    """Components (the number of cards), Setup, Clean-up Phase, Hand limit."""
    total = np.where(is_face_down(s), 0, cards_of_a_kind(s["players"], tables))
    cards = (s["hand"] + s["pack"].astype(np.int64)).sum(axis=1) + s["deck"] + s["discards"]
    yield breaks(
        cards != total[:, None],
        lambda i, k: f"{cards[i, k]} {WEATHER_NAMES[k]} cards in hands, packs, deck and discards; there are {total[i]}",
    )
    hands = s["hand"].sum(axis=2, dtype=np.int64)
    dealt = CARDS_DEALT[s["players"]].astype(np.int64)
    most = dealt + np.where(s["round"] > 1, np.where(s["players"] > 1, HAND_LIMIT, 0), s["players"] == 2)
    at_limit = among(s["phase"], (Phase.WEATHER, Phase.HARVEST)) & (s["forfeited"] == NOBODY)
    most = np.where(at_limit, HAND_LIMIT, most)

    def holds(i: int, seat: int) -> str:
        return f"player_{seat} holds {hands[i, seat]} cards"

    bad = hands > most[:, None]
    yield breaks(bad, lambda i, seat: f"{holds(i, seat)}; a hand has at most {most[i]} here")
    discarding = s["decision"] == Decision.DISCARD
    place = (np.arange(MAX_PLAYERS) - s["first_player"][:, None]) % np.maximum(s["players"], 1)[:, None]
    bad = discarding[:, None] & (hands > HAND_LIMIT) & (place < s["turn_index"][:, None])
    yield breaks(bad, lambda i, seat: f"{holds(i, seat)}, but has discarded down to {HAND_LIMIT} already")
    in_round, passed = among(s["phase"], (Phase.ACTION, Phase.WEATHER, Phase.HARVEST)), s["passed"]
    yield breaks(
        (passed != NOBODY) & (s["players"] != 2) & in_round & (hands[np.arange(len(s)), passed] > 0),
        lambda i: f"player_{passed[i]} has passed first and holds cards; that player discards the hand (Passing)",
    )


def broken_winds(s: np.ndarray) -> Iterator[Check]:
    """Southern Winds: the deck and the revealed cards."""
    solo, deck, revealed = s["players"] == 1, s["winds_deck"] == 1, s["winds_revealed"]
    shown = np.arange(WINDS_LOG) < revealed[:, None]
    card, roll, target = s["winds_card"], s["winds_roll"], s["winds_target"]
    something = deck.any(axis=1) | (revealed != 0)
    yield breaks(~solo & something, "Southern Winds cards with 2 players or more")
    face_down = is_face_down(s)
    yield breaks(face_down & something, "Southern Winds cards, but the tiles still lie face down")
    blank = (card == 0) & (roll == 0) & (target == NO_TILE)
    yield breaks(~shown & ~blank, lambda i, k: f"Southern Winds card {k + 1} of {revealed[i]} revealed holds something")
    yield breaks(shown & (card == 0), lambda i, k: f"revealed Southern Winds card {k + 1} has no number")
    yield breaks(
        solo & ~deck[:, RESHUFFLE - 1] & ~face_down,
        "card 9 is not in the Southern Winds deck; when it comes up, all nine are shuffled to a new deck",
    )
    rows = np.arange(len(s))
    last = card[rows, np.maximum(revealed - 1, 0)]
    bad = solo & (last > 0) & deck[rows, last - 1]
    yield breaks(bad, lambda i: f"card {last[i]} was revealed last, but is in the deck")
    played = s["variants"] == 1
    double, non_random, more = (
        played[:, variant] for variant in (Variant.DOUBLE_CARD, Variant.NON_RANDOM_TARGETS, Variant.ONE_MORE_TURN)
    )
    # after a pass without cards nobody is asked between a round's last neutral turns and the next round's first one
    cards, turn, extra = np.where(double, 2, 1), s["decision"] == Decision.TURN, np.where(more, 1, 0)
    most = cards * np.where(among(s["phase"], (Phase.WEATHER, Phase.HARVEST)), 1 + extra, 2 + extra)
    most = np.where(turn & ((s["turns"] > 0) | (s["round"] == 1)), cards, most)
    most = np.where((s["phase"] == Phase.ACTION) & ~turn, 0, most)
    yield breaks(
        solo & (revealed > most),
        lambda i: f"{revealed[i]} Southern Winds cards revealed since the player's last turn; at most {most[i]} can be",
    )
    bad = shown & non_random[:, None] & (roll != 0)
    yield breaks(bad, "a numeric die, but targets are not random in this variant")
    yield breaks(shown & ~non_random[:, None] & (roll == 0), "a revealed card without its numeric die")
    off = shown & (target != NO_TILE) & ~among(target, FIELDS[1])
    yield breaks(off, lambda i, k: f"a Southern Winds card took effect on {TILE_NAMES[target[i, k]]}, off the field")
